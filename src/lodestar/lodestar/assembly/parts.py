"""All parts of the robot, for those who need many of them: the headless robot and the benchmarks.

A node imports only the module of its own part, which leaves out what others need.
"""

from __future__ import annotations

from lodestar.assembly.expert_parts import ExpertPanel, expert
from lodestar.assembly.keyframe_parts import image_picker, keyframe_store
from lodestar.assembly.mapping_parts import plan_mapper, plan_mapper_from, turn_filter
from lodestar.assembly.memory_parts import answer_chat, answerer, likely_questions
from lodestar.assembly.memory_state_parts import floor_looks, snapshot_upkeep
from lodestar.assembly.mirror_parts import scene_mirror
from lodestar.assembly.perception_parts import (
    geometric_segmenter,
    ground_truth_detector,
    picture_detector,
    ultralytics_detector,
)
from lodestar.assembly.reasoner_parts import reasoner
from lodestar.assembly.scene_parts import (
    directive_fields,
    enricher,
    moved_things,
    query_parser,
    scene_dictionary,
    vision_captioner,
    zone_growth,
)
from lodestar.assembly.selector_parts import (
    adviser,
    decision_loop,
    directive_model,
    directive_parser,
    grammar_parser,
    loop_context,
    policy,
    reward_model,
    scene_targets,
)
from lodestar.assembly.voxel_parts import voxel_map
from lodestar.assembly.world_parts import trace_validator, world_model

__all__ = [
    "ExpertPanel",
    "adviser",
    "answer_chat",
    "answerer",
    "decision_loop",
    "directive_fields",
    "directive_model",
    "directive_parser",
    "enricher",
    "expert",
    "floor_looks",
    "geometric_segmenter",
    "grammar_parser",
    "ground_truth_detector",
    "image_picker",
    "keyframe_store",
    "likely_questions",
    "loop_context",
    "moved_things",
    "picture_detector",
    "plan_mapper",
    "plan_mapper_from",
    "policy",
    "query_parser",
    "reasoner",
    "reward_model",
    "scene_dictionary",
    "scene_mirror",
    "scene_targets",
    "snapshot_upkeep",
    "trace_validator",
    "turn_filter",
    "ultralytics_detector",
    "vision_captioner",
    "voxel_map",
    "world_model",
    "zone_growth",
]

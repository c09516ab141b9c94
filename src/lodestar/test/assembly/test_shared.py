"""Tests that shared parameters are set in one place, and that a second value is refused."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from lodestar.assembly.config import RobotConfig, changed
from lodestar.assembly.shared import SharedConfig, SharedConflict
from lodestar.experts.egocentric import EgocentricConfig
from lodestar.experts.semantic_map import SemanticMapConfig
from lodestar.grid.footprint import Footprint
from lodestar.grid.success_pose import SuccessConfig
from lodestar.memory.answering.agent import make_answer_chat
from lodestar.models.config import EndpointConfig
from lodestar.query.config import QueryConfig


def test_one_acceptance_threshold_reaches_everyone_who_accepts() -> None:
    config = RobotConfig(shared=SharedConfig(query=QueryConfig(accept=0.72)))
    assert config.experts["semantic_map_expert"].expert.query.accept == 0.72
    assert config.experts["ego_vlm_expert"].expert.query.accept == 0.72
    assert config.goal_selector.loop.query.accept == 0.72


def test_one_score_from_which_a_thing_is_promising_reaches_everyone_who_looks_closer() -> None:
    config = RobotConfig(shared=SharedConfig(query=QueryConfig(promising=0.45)))
    expert = config.experts["semantic_map_expert"].expert
    assert expert.query.promising == expert.last_seen.query.promising == 0.45
    assert config.experts["ego_vlm_expert"].expert.query.promising == 0.45
    assert config.goal_selector.loop.query.promising == 0.45
    with pytest.raises(SharedConflict, match=r"query\.promising is set.*shared\.query\.promising is 0\.6"):
        changed(
            RobotConfig(),
            experts__semantic_map_expert__expert=SemanticMapConfig(query=QueryConfig(promising=0.7)),
        )


def test_one_body_reaches_every_viewpoint_and_the_success_every_claim() -> None:
    body, success = Footprint(0.9, 0.5), SuccessConfig(distance=1.2, bearing=math.radians(40.0))
    config = RobotConfig(shared=SharedConfig(body=body, success=success, depth_range=6.0, map_id=7))
    assert config.shared.viewpoints.footprint == body
    assert config.experts["ego_vlm_expert"].expert.viewpoints.footprint == body
    assert config.goal_selector.loop.viewpoints.footprint == body
    assert config.goal_selector.loop.confirm_distance == pytest.approx(1.15)
    assert config.semantic_voxels.voxels.samples.far == config.semantic_voxels.voxels.geometry.far == 6.0
    assert config.mapping.octomap.depth_range == config.perception.geometric.far == 6.0
    assert config.goal_selector.loop.map_id == 7


def test_a_part_that_says_otherwise_is_refused_with_both_places() -> None:
    with pytest.raises(SharedConflict, match=r"expert\.query\.accept is set.*shared\.query\.accept is 0\.6"):
        changed(
            RobotConfig(),
            experts__semantic_map_expert__expert=SemanticMapConfig(query=QueryConfig(accept=0.7)),
        )
    smaller = replace(EgocentricConfig().viewpoints, footprint=Footprint(0.5, 0.3))
    with pytest.raises(SharedConflict, match=r"viewpoints\.footprint\.length"):
        changed(RobotConfig(), experts__ego_vlm_expert__expert__viewpoints=smaller)


def test_a_change_of_another_part_keeps_what_is_shared() -> None:
    config = RobotConfig(shared=SharedConfig(query=QueryConfig(accept=0.72)))
    config = changed(config, goal_selector__decision_log="own.jsonl")
    assert config.goal_selector.decision_log == "own.jsonl"
    assert config.experts["semantic_map_expert"].expert.query.accept == 0.72


def test_no_thing_is_faced_from_beyond_where_it_counts_as_found() -> None:
    with pytest.raises(ValueError, match=r"shared\.success\.distance"):
        SharedConfig(success=SuccessConfig(distance=0.8))


def test_one_reach_of_rooms_reaches_the_dictionary_and_its_readers() -> None:
    robot = RobotConfig(shared=SharedConfig(region_reach=0.3))
    assert robot.scene_dictionary.scene.region_reach == robot.shared.region_reach == 0.3


def test_images_go_to_the_server_of_the_endpoint_unless_another_is_named() -> None:
    own = EndpointConfig("llama", "http://robot:11434/v1", "OWN_KEY")
    assert SharedConfig(endpoint=own).vision_endpoint == own
    sees = SharedConfig(endpoint=own, vision_endpoint=EndpointConfig(model="qwen2.5vl"))
    assert sees.vision_endpoint == replace(own, model="qwen2.5vl")
    other = EndpointConfig(model="gpt-4o", base_url="https://api.openai.com/v1")
    assert SharedConfig(endpoint=own, vision_endpoint=other).vision_endpoint == other
    config = RobotConfig(shared=sees)
    assert config.memory.captions.chat.base_url == own.base_url
    assert (config.memory.captions.chat.model, config.memory.agent.chat.model) == ("qwen2.5vl", "llama")


@pytest.mark.parametrize("sees", [False, True])
def test_pictures_of_the_memory_go_to_the_server_for_images_alone(sees: bool) -> None:
    text, images = (
        EndpointConfig("llama", "http://far:1/v1"),
        EndpointConfig("qwen2.5vl", "http://robot:2/v1"),
    )
    shared = SharedConfig(language_model=True, vision_model=sees, endpoint=text, vision_endpoint=images)
    chat = make_answer_chat(RobotConfig(shared=shared).memory.agent)
    assert chat is not None
    wanted = images if sees else text
    assert (chat._config.model, chat._config.base_url) == (wanted.model, wanted.base_url)

"""Makes each part of the robot from its configuration: the one place where algorithms are constructed.

The configuration of a part has its shared values filled in already (`RobotConfig` and the nodes' parameters do so).
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from lodestar.agent.context import LoopContext, make_context
from lodestar.agent.loop import DecisionLoop
from lodestar.agent.shadow import ShadowSelector
from lodestar.agent.targets import SceneTargets
from lodestar.assembly.config import (
    EgoVlmExpertConfig,
    FrontierExpertConfig,
    GoalSelectorConfig,
    KeyframesConfig,
    MappingConfig,
    PerceptionConfig,
    SceneDictionaryConfig,
    SemanticMapExpertConfig,
    SemanticVoxelsConfig,
)
from lodestar.assembly.directive_fields import DirectiveFields
from lodestar.assembly.shared import SharedConfig
from lodestar.experts.egocentric import EgocentricExpert
from lodestar.experts.frontier import FrontierExpert
from lodestar.experts.semantic_map import SemanticMapExpert
from lodestar.grid.regions import RegionTracker
from lodestar.keyframes.image_picker import ImagePicker
from lodestar.keyframes.store import KeyframeStore
from lodestar.language.config import ReasonerConfig
from lodestar.language.directive import Directive
from lodestar.language.grammar import load_grammar, parse_directive
from lodestar.language.model_directives import best_directive, make_directive_parser
from lodestar.language.parsers import QueryParser, make_parser
from lodestar.language.reasoner import Reasoner
from lodestar.language.reasoners import ReasonerHandle, make_reasoner
from lodestar.mapping.octomap import OctoMapper
from lodestar.mapping.scan_grid import ScanGridMapper
from lodestar.mapping.semantic_voxels import SemanticVoxelMap
from lodestar.mapping.turn_filter import TurnFilter
from lodestar.models.chat import OpenAiChat
from lodestar.models.phrases import PhraseBook
from lodestar.perception.captioner import make_describer
from lodestar.perception.config import UltralyticsConfig
from lodestar.perception.geometric import GeometricSegmenter
from lodestar.perception.ground_truth import GroundTruthDetector
from lodestar.perception.ultralytics import UltralyticsDetector
from lodestar.scene.dictionary import SceneDictionary
from lodestar.scene.enrichment import Captioner, Enricher, EnrichmentTask, TemplateCaptioner
from lodestar.scene.mirror import SceneMirror
from lodestar.scene.vision_captioner import VisionCaptioner
from lodestar.selection.policies import policy_of
from lodestar.selection.policy import Policy
from lodestar.selection.reward import make_reward
from lodestar.storage.archive import ForeignFile

_log = logging.getLogger(__name__)

# The defaults, for those who measure a part by itself.
_SHARED, _SEEING = SharedConfig(), PerceptionConfig()
_FUSING, _KNOWING = SemanticVoxelsConfig(), SceneDictionaryConfig()


def plan_mapper(config: MappingConfig) -> OctoMapper | ScanGridMapper:
    """The mapper of the configuration's source."""
    return ScanGridMapper(config.scan) if config.source == "scan" else OctoMapper(config.octomap)


def plan_mapper_from(
    config: MappingConfig, kind: str, arrays: Mapping[str, np.ndarray]
) -> OctoMapper | ScanGridMapper:
    """The mapper that goes on from what one of its kind has saved.

    Raises ForeignFile, with what to do, where the arrays are of another kind or do not fit the configuration.
    """
    wanted = ScanGridMapper if config.source == "scan" else OctoMapper
    if kind != wanted.KIND:
        made_by = {ScanGridMapper.KIND: "the planar scan", OctoMapper.KIND: "an octree"}.get(kind, repr(kind))
        source = "scan" if kind == ScanGridMapper.KIND else "lidar, depth or slam"
        raise ForeignFile(
            f"the grid was made of {made_by}, and mapping.source is {config.source}: set mapping.source to {source}, "
            "or explore anew and save again"
        )
    try:
        if config.source == "scan":
            return ScanGridMapper.from_arrays(arrays, config.scan)
        return OctoMapper.from_arrays(arrays, config.octomap)
    except (KeyError, ValueError, AttributeError) as error:
        raise ForeignFile(f"the grid: {error}") from error


def turn_filter(config: MappingConfig) -> TurnFilter:
    """Picks the turns of the LiDAR that the mapper takes in."""
    return TurnFilter(config.thinning)


def ground_truth_detector(
    config: PerceptionConfig, rng: np.random.Generator | None = None
) -> GroundTruthDetector:
    """Reads a simulator's label images. rng: of its noise; without one, from the configured seed."""
    return GroundTruthDetector(config.noise, rng if rng is not None else np.random.default_rng(config.seed))


def geometric_segmenter(config: PerceptionConfig = _SEEING) -> GeometricSegmenter:
    """Finds shapes in depth, without names."""
    return GeometricSegmenter(config.geometric, config.seed)


def ultralytics_detector(config: PerceptionConfig) -> UltralyticsDetector:
    """Detects in RGB; its model is loaded with the first image. Raises DetectorUnavailable for what is missing."""
    detector = picture_detector(config.model, config.ultralytics)
    detector.check()
    return detector


def picture_detector(model: str, config: UltralyticsConfig) -> UltralyticsDetector:
    """Detects in the pictures that come with a directive. model: path of weights."""
    return UltralyticsDetector(model, config)


def keyframe_store(
    config: KeyframesConfig, shared: SharedConfig, folder: str | Path, session_id: str = ""
) -> KeyframeStore:
    """Keeps images in a folder. Raises OSError."""
    return KeyframeStore(folder, config.store, shared.map_id, session_id)


def image_picker(config: KeyframesConfig) -> ImagePicker:
    """Offers images to the store."""
    return ImagePicker(config.offer)


def voxel_map(
    config: SemanticVoxelsConfig = _FUSING,
    shared: SharedConfig = _SHARED,
    session_id: str = "",
) -> SemanticVoxelMap:
    """Fuses segments into instances."""
    return SemanticVoxelMap(config.voxels, shared.map_id, session_id)


def scene_dictionary(config: SceneDictionaryConfig = _KNOWING) -> SceneDictionary:
    """Keeps the entities."""
    return SceneDictionary(config.scene)


def region_tracker() -> RegionTracker:
    """Divides the grid into rooms whose ids last."""
    return RegionTracker()


def scene_mirror() -> SceneMirror:
    """A copy of the entities that follows their deltas, for those who read them."""
    return SceneMirror()


def enricher(
    scene: SceneDictionary,
    phrases: PhraseBook,
    crops: Callable[[EnrichmentTask], Sequence[np.ndarray]],
    captioner: Captioner | None = None,
) -> Enricher:
    """Captions entities and embeds the captions; by templates where no captioner is given."""
    return Enricher(scene, captioner or TemplateCaptioner(), phrases, crops)


def vision_captioner(
    config: SceneDictionaryConfig,
    scene: SceneDictionary,
    crops: Callable[[EnrichmentTask], Sequence[np.ndarray]],
) -> tuple[VisionCaptioner, OpenAiChat]:
    """A captioner that asks a vision model, and the chat whose questions under way can be ended."""
    describer, chat = make_describer(config.captions.vision)
    return VisionCaptioner(describer, scene.return_enrichments, crops), chat


def directive_fields(phrases: PhraseBook, shared: SharedConfig) -> DirectiveFields:
    """Similarity layers and keep-out zones of the directive."""
    return DirectiveFields(phrases, shared.query, shared.keep_out_distance)


def query_parser(config: SceneDictionaryConfig, chat: OpenAiChat, warn: Callable[[str], None]) -> QueryParser:
    """Reads the text of queries."""
    return make_parser(config.parser, warn, chat)[0]


def directive_parser() -> Callable[[str], Directive]:
    """Reads the text of directives by the grammar, at once. The function raises DirectiveError."""
    load_grammar()  # seconds, which the first directive would wait for on the loop's thread
    return parse_directive


def directive_model(
    config: GoalSelectorConfig, warn: Callable[[str], None] = _log.warning
) -> tuple[Callable[[str], Directive], Callable[[], None]] | None:
    """Reads the text of directives by a language model first, and what ends its question; None where none is named.

    The function may take as long as `directive.chat.patience`. It raises DirectiveError.
    """
    if config.parser.parser == "grammar":
        return None
    parser, cancel = make_directive_parser(config.parser, warn)
    return partial(best_directive, parser), cancel


def reasoner(config: ReasonerConfig) -> ReasonerHandle:
    """Weighs candidates and views for an expert; it is closed with its owner."""
    return make_reasoner(config)


def frontier_expert(config: FrontierExpertConfig, phrases: PhraseBook | None = None) -> FrontierExpert:
    """Proposes frontiers; without phrases it has no idea where a target is likely."""
    return FrontierExpert(config.expert, phrases if config.expectation else None)


def semantic_map_expert(
    config: SemanticMapExpertConfig, phrases: PhraseBook, mind: Reasoner
) -> SemanticMapExpert:
    """Proposes viewpoints of remembered entities."""
    return SemanticMapExpert(config.expert, phrases, mind)


def ego_vlm_expert(config: EgoVlmExpertConfig, phrases: PhraseBook, mind: Reasoner) -> EgocentricExpert:
    """Proposes what is in view."""
    return EgocentricExpert(config.expert, phrases, mind)


def policy(config: GoalSelectorConfig, rng: np.random.Generator | None = None) -> Policy:
    """Chooses among the experts; goes on from `selection.policy_state`. rng: by default from the configured seed.

    Raises ValueError, OSError where that file is not for this policy.
    """
    rng = rng if rng is not None else np.random.default_rng(config.seed)
    return policy_of(config.selection, config.policy, config.experts, rng)


def scene_targets(shared: SharedConfig, phrases: PhraseBook) -> SceneTargets:
    """Says what of the scene is meant by a step of a directive."""
    return SceneTargets(phrases, shared.query, shared.keep_out_distance)


def _loop_context(
    config: GoalSelectorConfig, shared: SharedConfig, phrases: PhraseBook, chooser: Policy, prefix: str = "q"
) -> LoopContext:
    return make_context(
        config.loop,
        chooser,
        phrases,
        config.experts,
        targets=scene_targets(shared, phrases),
        context=config.context,
        features=config.selection.features,
        rewards=make_reward(config.selection.reward, config.reward, config.sequence_reward),
        prefix=prefix,
    )


def decision_loop(
    config: GoalSelectorConfig, shared: SharedConfig, phrases: PhraseBook, chooser: Policy, prefix: str = "q"
) -> DecisionLoop:
    """Follows directives. prefix: of the ids of the questions that it asks back."""
    return DecisionLoop(_loop_context(config, shared, phrases, chooser, prefix))


def shadow_selector(
    config: GoalSelectorConfig, shared: SharedConfig, phrases: PhraseBook, chooser: Policy
) -> ShadowSelector:
    """Decides on another robot's questions as `decision_loop` would."""
    return ShadowSelector(_loop_context(config, shared, phrases, chooser))

"""Factories of all parts that have alternatives or combine configurations of several packages.

Only these factories construct their parts; a part with a single configuration is constructed where it is
used. Configurations must have their shared values filled in (`RobotConfig` and the nodes' parameters do so).
A factory imports its part when it is called, so that a process loads only its own parts; the warm process,
from which nodes are forked, imports these parts in advance (`lodestar_bringup.loading`, ADR 0026).
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lodestar.assembly.config import (
    GoalSelectorConfig,
    MappingConfig,
    PerceptionConfig,
    SceneDictionaryConfig,
    SemanticVoxelsConfig,
    WorldModelConfig,
)
from lodestar.assembly.shared import SharedConfig

if TYPE_CHECKING:
    from lodestar.agent.errands.context import LoopContext
    from lodestar.agent.loop.machine import DecisionLoop, PartKinds
    from lodestar.experts.specs import ExpertSpec
    from lodestar.language.directive import Directive
    from lodestar.language.picture_goals import PictureReader
    from lodestar.language.reasoner import Reasoner
    from lodestar.mapping.occupancy.grid_file import Mapper
    from lodestar.mapping.semantic_voxels import SemanticVoxelMap
    from lodestar.models.category_priors import CategoryPriors
    from lodestar.models.phrases import PhraseBook
    from lodestar.perception.appearance import Describer
    from lodestar.perception.box_masks import BoxMasker
    from lodestar.perception.config import DescriberConfig, SignConfig
    from lodestar.perception.frames import Labeller
    from lodestar.perception.fused_detector import FusedDetector
    from lodestar.perception.geometric import GeometricSegmenter
    from lodestar.perception.ground_truth import GroundTruthDetector
    from lodestar.perception.lookout import Lookout
    from lodestar.perception.measured_noise import Evidence
    from lodestar.perception.onnx_detector import OnnxDetector
    from lodestar.perception.picture_config import PictureDetectorConfig, PicturesConfig
    from lodestar.perception.signs import SignReader
    from lodestar.perception.ultralytics import UltralyticsDetector
    from lodestar.query.targets import SceneTargets
    from lodestar.scene.dictionary import SceneDictionary
    from lodestar.scene.mirror import SceneMirror
    from lodestar.selection.policy import Policy
    from lodestar.storage.journal_file import JournalFile
    from lodestar.worldmodel.advice import Adviser
    from lodestar.worldmodel.events import WorldEvent
    from lodestar.worldmodel.transactions import Line
    from lodestar.worldmodel.world_model import SceneWriter, WorldModel

GOAL_SELECTOR_SEED = 0  # of the policy's random choices

_log = logging.getLogger(__name__)
# networks from `make detector`, in the folder where the stack is started
FETCHED_DETECTOR = "models/nanodet.onnx,models/objectron.onnx"
# value of `model` for the network shipped with Lodestar, trained on the simulator's buildings
PACKAGED_NETWORK = "packaged"

# Default configurations, for measuring a part by itself.
_SHARED, _SEEING, _FUSING, _KNOWING = (
    SharedConfig(), PerceptionConfig(), SemanticVoxelsConfig(), SceneDictionaryConfig(),
)  # fmt: skip


# --- images ----------------------------------------------------------------------------------------------------


def ground_truth_detector(
    config: PerceptionConfig, rng: np.random.Generator | None = None
) -> GroundTruthDetector:
    """Return the detector that reads a simulator's label images. rng: source of its simulated errors; None =
    from `config.seed`.
    """
    from lodestar.perception.ground_truth import GroundTruthDetector

    return GroundTruthDetector(config.noise, rng if rng is not None else np.random.default_rng(config.seed))


def geometric_segmenter(config: PerceptionConfig = _SEEING) -> GeometricSegmenter:
    """Return the segmenter that finds unnamed shapes in depth images."""
    from lodestar.perception.geometric import GeometricSegmenter

    return GeometricSegmenter(config.geometric, config.seed, config.captioned)


def box_masker() -> BoxMasker:
    """Return the masker that derives masks of boxes from depth."""
    from lodestar.perception.box_masks import BoxMasker

    return BoxMasker()


def color_detector(
    config: PerceptionConfig | PictureDetectorConfig,
    *,
    checked: bool = True,
    evidence: dict[str, Evidence] | None = None,
) -> OnnxDetector | FusedDetector | UltralyticsDetector:
    """Return the detector for colour images; its model is loaded with the first image. Raises ValueError for
    a bad `words.file`.

    checked: raise DetectorUnavailable now if files or packages are missing, instead of with the first image. evidence:
    of the networks of a `FusedDetector`, None = the packaged one.
    """
    from lodestar.perception.fused_detector import FusedDetector
    from lodestar.perception.lookout import read_words
    from lodestar.perception.onnx_detector import PACKAGED, OnnxDetector
    from lodestar.perception.ultralytics import UltralyticsDetector

    detector: OnnxDetector | FusedDetector | UltralyticsDetector
    words = read_words(config.words.file)[: config.words.limit]
    if config.adapter == "onnx":
        model = config.model or FETCHED_DETECTOR
        if "," in model:
            several = [one.strip() for one in model.split(",") if one.strip()]
            detector = FusedDetector(several, config.onnx, evidence)
        else:
            detector = OnnxDetector(PACKAGED if model == PACKAGED_NETWORK else model, config.onnx)
    else:
        detector = UltralyticsDetector(config.model, config.ultralytics, words)
    if isinstance(config, PerceptionConfig) and config.boxes.enabled:
        detector.masker = box_masker()
    if checked:
        detector.check()
    return detector


def appearance_describer(config: PerceptionConfig) -> Describer | None:
    """Return the describer, which turns a segment's appearance into a vector; None if disabled. Raises
    DetectorUnavailable.
    """
    if config.appearance.by == "histogram":
        from lodestar.perception.appearance import HistogramDescriber

        return HistogramDescriber()
    if config.appearance.by == "encoder":
        from lodestar.perception.image_encoder import ImageEncoder

        return ImageEncoder(config.appearance.encoder)
    return None


def sign_reader(config: SignConfig) -> SignReader | None:
    """Return the sign reader; None if it is disabled. Its models are loaded with the first image."""
    if config.reader == "none":
        return None
    from lodestar.perception.text_reader import RapidReader

    return RapidReader()


def image_phrases(config: DescriberConfig) -> PhraseBook | None:
    """Return the cache of phrase vectors from the encoder's text model; None if it has none.

    Loaded at first use.
    """
    if config.by != "encoder" or not config.encoder.text_model:
        return None
    from lodestar.perception.text_encoder import phrases_of

    return phrases_of(config.encoder)


def lookout(config: PerceptionConfig, detector: Labeller, phrases: PhraseBook | None = None) -> Lookout:
    """Return the lookout, which tells a detector the words to search for.

    These are the standing words, which are always searched for, and a directive's. Raises ValueError for a
    bad `words.file`.
    """
    from lodestar.perception.lookout import Lookout, read_words

    return Lookout(detector, read_words(config.words.file), config.words.limit, phrases)


# --- the map ---------------------------------------------------------------------------------------------------


def plan_mapper(config: MappingConfig) -> Mapper:
    """Return the mapper that builds the 2D plan grid from the configured source."""
    from lodestar.mapping.occupancy.octomap import OctoMapper
    from lodestar.mapping.occupancy.scan_grid import ScanGridMapper

    return ScanGridMapper(config.scan) if config.source == "scan" else OctoMapper(config.octomap)


def plan_mapper_from(config: MappingConfig, kind: str, arrays: Mapping[str, np.ndarray]) -> Mapper:
    """Return a mapper that continues from the saved arrays of a grid. kind: of the mapper that saved them.

    Raises ForeignFile, with advice, if the arrays are of another kind or do not fit the configuration.
    """
    from lodestar.mapping.occupancy.octomap import OctoMapper
    from lodestar.mapping.occupancy.scan_grid import ScanGridMapper
    from lodestar.storage.archive import ForeignFile

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


def voxel_map(
    config: SemanticVoxelsConfig = _FUSING, shared: SharedConfig = _SHARED, session_id: str = ""
) -> SemanticVoxelMap:
    """Return an empty semantic voxel map, which fuses segments into instances."""
    from lodestar.mapping.semantic_voxels import SemanticVoxelMap

    return SemanticVoxelMap(config.voxels, shared.map_id, session_id)


# --- the scene -------------------------------------------------------------------------------------------------


def category_priors(file: str | Path = "") -> CategoryPriors:
    """Return the priors of object categories: the packaged table, combined with the counts in a file.

    file: "" = the table alone; "~" is the home folder. Raises BadPriors if the file is missing or invalid.
    """
    from lodestar.models.category_priors import CategoryPriors

    return CategoryPriors.load(Path(file).expanduser()) if str(file) else CategoryPriors()


def scene_dictionary(config: SceneDictionaryConfig = _KNOWING) -> SceneDictionary:
    """Return an empty scene dictionary, the store of entities. Raises BadPriors for a bad `priors_file`."""
    from lodestar.scene.dictionary import SceneDictionary

    return SceneDictionary(config.scene, priors=category_priors(config.scene.priors_file))


# --- the world model -------------------------------------------------------------------------------------------


def world_model(
    config: WorldModelConfig,
    writer: SceneWriter,
    tell: Callable[[WorldEvent], None],
    mirror: SceneMirror,
    journal: JournalFile[Line] | None = None,
) -> WorldModel:
    """Return the world model, resumed from its journal. tell: receives every event. Raises BadSkills."""
    from lodestar.worldmodel.closed_ways import WayBook
    from lodestar.worldmodel.skills import skills_with
    from lodestar.worldmodel.transactions import Transactions
    from lodestar.worldmodel.world_model import WorldModel

    ways, skills = WayBook(), skills_with(config.skills_file)
    return WorldModel(Transactions(journal), writer, tell, ways, mirror.name_of, skills, mirror)


# --- the decision loop and the experts -------------------------------------------------------------------------


def directive_parser() -> Callable[[str], Directive]:
    """Return the robot's parser of directives, with its grammar already loaded.

    The parser raises DirectiveError; its subclass AmbiguousDirective carries a question to the person.
    """
    from lodestar.language.directive_parsers import AskingDirectives
    from lodestar.language.grammar import load_grammar
    from lodestar.language.model_directives import best_directive

    load_grammar()  # otherwise the first directive would load it on the loop's thread
    return partial(best_directive, AskingDirectives())


def directive_model(
    config: GoalSelectorConfig, warn: Callable[[str], None] = _log.warning
) -> tuple[Callable[[str], Directive], Callable[[], None]] | None:
    """Return a parser that asks a language model first, and a function that cancels its request.

    None if no model is configured. The parser may take as long as `directive.chat.patience`. It raises
    DirectiveError.
    """
    from lodestar.language.model_directives import best_directive, make_directive_parser

    if not config.parser.asks_model:
        return None
    parser, cancel = make_directive_parser(config.parser, warn)
    return partial(best_directive, parser), cancel


def policy(
    config: GoalSelectorConfig,
    rng: np.random.Generator | None = None,
    *,
    keeps: bool = False,
    warn: Callable[[str], None] = _log.warning,
) -> Policy:
    """Return the policy that chooses among the experts, resumed from `selection.policy_state`.

    rng: None = from the default seed. keeps: also resume from the user's own file, as the robot does and
    benchmarks do not. warn: called if that file is unusable. Raises ValueError or OSError if a named file is
    not for this policy.
    """
    from lodestar.selection.policies import policy_of

    rng = rng if rng is not None else np.random.default_rng(GOAL_SELECTOR_SEED)
    return policy_of(config.selection, config.policy, config.experts, rng, keeps=keeps, warn=warn)


def scene_targets(shared: SharedConfig, phrases: PhraseBook) -> SceneTargets:
    """Return the resolver that finds the entities matching a directive's step."""
    from lodestar.query.targets import SceneTargets

    return SceneTargets(phrases, shared.query, shared.keep_out_distance)


def loop_context(
    config: GoalSelectorConfig,
    shared: SharedConfig,
    phrases: PhraseBook,
    chooser: Policy,
    prefix: str = "q",
    advises: Adviser | None = None,
) -> LoopContext:
    """Return a new context, the state that the parts of a decision loop share. Raises BadSkills for an
    invalid file of skills.

    prefix: begins the ids of the loop's questions to the operator. advises: result of `make_adviser`.
    """
    from lodestar.agent.errands.context import make_context
    from lodestar.selection.reward import make_reward
    from lodestar.worldmodel.skills import skills_with

    return make_context(
        config.loop,
        chooser,
        phrases,
        config.experts,
        targets=scene_targets(shared, phrases),
        features=config.selection.features,
        rewards=make_reward(config.selection.reward),
        prefix=prefix,
        adviser=advises,
        skills=skills_with(config.skills_file),
        priors=category_priors(config.loop.priors_file),
    )


def decision_loop(context: LoopContext, kinds: PartKinds | None = None) -> DecisionLoop:
    """Return the loop that carries out directives. kinds: classes of the loop's parts, some of which a
    benchmark replaces.
    """
    from lodestar.agent.loop.machine import OWN_PARTS, DecisionLoop

    return DecisionLoop(context, kinds or OWN_PARTS)


def expert(
    spec: ExpertSpec, config: Any = None, phrases: PhraseBook | None = None, mind: Reasoner | None = None
) -> Any:
    """Return the expert that a spec describes. config: None = its defaults. mind: its reasoner, if it needs
    one.

    Raises the errors of the expert's factory, and ValueError if the expert's name differs from its spec.
    """
    from lodestar.experts.specs import ExpertTools

    made = spec.make(config or spec.config(), ExpertTools(phrases, mind, category_priors))
    if made.name != spec.name:
        raise ValueError(
            f"the expert of the spec {spec.name!r} calls itself {made.name!r}: one name for both"
        )
    return made


# --- memory, queries and pictures ------------------------------------------------------------------------------


def picture_reader(config: PicturesConfig) -> PictureReader:
    """Return the reader that makes a query of a user's picture of the target. Loads models at first use."""
    from lodestar.language.model_reasoner import ModelPictures
    from lodestar.language.picture_goals import DetectedPictures, unread
    from lodestar.models.chat import OpenAiChat

    if config.adapter == "model":
        return ModelPictures(OpenAiChat(config.chat), config.file)
    if config.adapter == "detector":
        return DetectedPictures(color_detector(config.detector, checked=False), config.file)
    return lambda image: unread(image, config.file)

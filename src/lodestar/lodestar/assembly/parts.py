"""Makes each part that sees and keeps; `mind_parts` makes those that decide. Nobody else constructs what they do.

Configurations have their shared values filled in already (`RobotConfig` and the nodes' parameters do so). A maker
imports what it makes when it is called, so that a process holds its own parts alone; the warm process, from which nodes
are forked, imports beforehand what the makers that a node names would import (`lodestar_bringup.loading`, ADR 0070).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from lodestar.assembly.config import (
    KeyframesConfig,
    MappingConfig,
    PerceptionConfig,
    SceneDictionaryConfig,
    SemanticVoxelsConfig,
    WorldModelConfig,
)
from lodestar.assembly.shared import SharedConfig

if TYPE_CHECKING:
    from lodestar.assembly.directive_fields import DirectiveFields
    from lodestar.grid.zone_growth import ZoneGrowth
    from lodestar.keyframes.image_picker import ImagePicker
    from lodestar.keyframes.remembered import RememberedImages
    from lodestar.keyframes.store import KeyframeStore
    from lodestar.mapping.grid_file import Mapper
    from lodestar.mapping.semantic_voxels import SemanticVoxelMap
    from lodestar.memory.answering.config import AnsweringConfig
    from lodestar.memory.answering.coverage import FloorLooks
    from lodestar.memory.config import SnapshotConfig
    from lodestar.memory.snapshots.upkeep import SnapshotUpkeep
    from lodestar.models.chat import OpenAiChat
    from lodestar.models.phrases import PhraseBook
    from lodestar.perception.appearance import Describer
    from lodestar.perception.config import DescriberConfig
    from lodestar.perception.frames import Labeller
    from lodestar.perception.geometric import GeometricSegmenter
    from lodestar.perception.ground_truth import GroundTruthDetector
    from lodestar.perception.lookout import Lookout
    from lodestar.perception.onnx_detector import OnnxDetector
    from lodestar.perception.picture_config import PictureDetectorConfig
    from lodestar.perception.ultralytics import UltralyticsDetector
    from lodestar.scene.category_priors import CategoryPriors
    from lodestar.scene.dictionary import SceneDictionary
    from lodestar.scene.enrichment import Captioner, Enricher, EnrichmentTask
    from lodestar.scene.mirror import SceneMirror
    from lodestar.scene.moved_things import MovedThings
    from lodestar.scene.vision_captioner import VisionCaptioner
    from lodestar.storage.journal_file import JournalFile
    from lodestar.worldmodel.events import WorldEvent
    from lodestar.worldmodel.scene_journal import Request
    from lodestar.worldmodel.transactions import Line
    from lodestar.worldmodel.validation import TraceValidator, World
    from lodestar.worldmodel.world_model import SceneWriter, WorldModel

FETCHED_DETECTOR = "models/nanodet.onnx"  # from `make detector`, below the folder where the stack is started

# The defaults, for those who measure a part by itself.
_SHARED, _SEEING, _FUSING, _KNOWING = (
    SharedConfig(), PerceptionConfig(), SemanticVoxelsConfig(), SceneDictionaryConfig(),
)  # fmt: skip


# --- images ----------------------------------------------------------------------------------------------------


def ground_truth_detector(
    config: PerceptionConfig, rng: np.random.Generator | None = None
) -> GroundTruthDetector:
    """Return the detector that reads a simulator's label images. rng: of its noise; None = from the configured seed."""
    from lodestar.perception.ground_truth import GroundTruthDetector

    return GroundTruthDetector(config.noise, rng if rng is not None else np.random.default_rng(config.seed))


def geometric_segmenter(config: PerceptionConfig = _SEEING) -> GeometricSegmenter:
    """Return the segmenter that finds shapes in depth images, without names."""
    from lodestar.perception.geometric import GeometricSegmenter

    return GeometricSegmenter(config.geometric, config.seed, config.captioned)


def color_detector(
    config: PerceptionConfig | PictureDetectorConfig, *, checked: bool = True
) -> OnnxDetector | UltralyticsDetector:
    """Return the RGB detector; its model is loaded with the first image. Raises ValueError for a bad `words.file`.

    checked: raise DetectorUnavailable now where files or packages are missing, not with the first image.
    """
    from lodestar.perception.box_masks import BoxMasker
    from lodestar.perception.lookout import read_words
    from lodestar.perception.onnx_detector import OnnxDetector
    from lodestar.perception.ultralytics import UltralyticsDetector

    detector: OnnxDetector | UltralyticsDetector
    words = read_words(config.words.file)[: config.words.limit]
    if config.adapter == "onnx":
        detector = OnnxDetector(config.model or FETCHED_DETECTOR, config.onnx)
    else:
        detector = UltralyticsDetector(config.model, config.ultralytics, words)
    if isinstance(config, PerceptionConfig) and config.boxes.enabled:
        detector.masker = BoxMasker(config.boxes)
    if checked:
        detector.check()
    return detector


def appearance_describer(config: PerceptionConfig) -> Describer | None:
    """Return what describes the appearance of segments; None where it is switched off. Raises DetectorUnavailable."""
    if config.appearance.by == "histogram":
        from lodestar.perception.appearance import HistogramDescriber

        return HistogramDescriber(config.appearance.histogram)
    if config.appearance.by == "encoder":
        from lodestar.perception.image_encoder import ImageEncoder

        return ImageEncoder(config.appearance.encoder)
    return None


def image_phrases(config: DescriberConfig) -> PhraseBook | None:
    """Return the phrases of the encoder's text side; None where it has none. Its network is loaded at first use."""
    if config.by != "encoder" or not config.encoder.text_model:
        return None
    from lodestar.perception.text_encoder import phrases_of

    return phrases_of(config.encoder)


def lookout(config: PerceptionConfig, detector: Labeller, phrases: PhraseBook | None = None) -> Lookout:
    """Return what gives a detector the standing words and a directive's. Raises ValueError for a bad `words.file`."""
    from lodestar.perception.lookout import Lookout, read_words

    return Lookout(detector, read_words(config.words.file), config.words.limit, phrases)


def keyframe_store(
    config: KeyframesConfig,
    shared: SharedConfig,
    folder: str | Path,
    session_id: str = "",
    remembered: RememberedImages | None = None,
) -> KeyframeStore:
    """Return the store of keyframes in a folder. Raises OSError."""
    from lodestar.keyframes.store import KeyframeStore

    return KeyframeStore(folder, config.store, shared.map_id, session_id, remembered)


def remembered_images(config: KeyframesConfig) -> RememberedImages:
    """Return the images that outlive the run, in the configured folder."""
    from lodestar.keyframes.remembered import RememberedImages

    return RememberedImages(config.remembered_folder)


def image_picker(config: KeyframesConfig) -> ImagePicker:
    """Return the picker that offers images to the store."""
    from lodestar.keyframes.image_picker import ImagePicker

    return ImagePicker(config.offer)


# --- the map ---------------------------------------------------------------------------------------------------


def plan_mapper(config: MappingConfig) -> Mapper:
    """Return the mapper of the plan grid for the configured source."""
    from lodestar.mapping.octomap import OctoMapper
    from lodestar.mapping.scan_grid import ScanGridMapper

    return ScanGridMapper(config.scan) if config.source == "scan" else OctoMapper(config.octomap)


def plan_mapper_from(config: MappingConfig, kind: str, arrays: Mapping[str, np.ndarray]) -> Mapper:
    """Return the mapper that continues a saved grid of its kind.

    Raises ForeignFile, with what to do, where the arrays are of another kind or do not fit the configuration.
    """
    from lodestar.mapping.octomap import OctoMapper
    from lodestar.mapping.scan_grid import ScanGridMapper
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
    """Return the table joined with the counts of a file. Raises BadPriors for one that is not there or cannot be read.

    file: "" = the table alone; "~" is the home folder.
    """
    from lodestar.scene.category_priors import CategoryPriors

    return CategoryPriors.load(Path(file).expanduser()) if str(file) else CategoryPriors()


def scene_dictionary(config: SceneDictionaryConfig = _KNOWING) -> SceneDictionary:
    """Return an empty scene dictionary, which keeps the entities. Raises BadPriors for a bad `priors_file`."""
    from lodestar.scene.dictionary import SceneDictionary

    return SceneDictionary(config.scene, priors=category_priors(config.scene.priors_file))


def scene_mirror(archived: bool = True) -> SceneMirror:
    """Return a copy of the scene that follows its deltas. archived: keep archived entities too."""
    from lodestar.scene.mirror import SceneMirror

    return SceneMirror(archived)


def moved_things(config: SceneDictionaryConfig, scene: SceneDictionary) -> MovedThings | None:
    """Return what archives the things of a loaded map that were seen elsewhere; None where it is switched off."""
    from lodestar.scene.moved_things import MovedThings

    return MovedThings(scene) if config.archive_moved else None


def scene_journal(folder: Path, run: str) -> JournalFile[Request]:
    """Return the journal of the scene's amendments in the folder of a run; one of another run is put aside.

    Raises OSError, UnsafeFolder.
    """
    from lodestar.storage.journal_file import JournalFile
    from lodestar.worldmodel.scene_journal import KIND, OLDER, VERSION, Request

    return JournalFile(folder / "scene_dictionary.journal", f"{KIND} of run {run}", VERSION, Request, OLDER)


def enricher(
    scene: SceneDictionary,
    phrases: PhraseBook,
    crops: Callable[[EnrichmentTask], Sequence[np.ndarray]],
    captioner: Captioner | None = None,
) -> Enricher:
    """Return the enricher that captions entities and embeds the captions. captioner: None = templates."""
    from lodestar.scene.enrichment import Enricher, TemplateCaptioner

    return Enricher(scene, captioner or TemplateCaptioner(), phrases, crops)


def vision_captioner(
    config: SceneDictionaryConfig,
    scene: SceneDictionary,
    crops: Callable[[EnrichmentTask], Sequence[np.ndarray]],
) -> tuple[VisionCaptioner, OpenAiChat]:
    """Return a captioner that asks a vision model, and its chat, which can cancel pending requests."""
    from lodestar.perception.captioner import make_describer
    from lodestar.scene.vision_captioner import VisionCaptioner

    describer, chat = make_describer(config.captions.vision)
    return VisionCaptioner(describer, scene.return_enrichments, crops), chat


def directive_fields(phrases: PhraseBook, shared: SharedConfig) -> DirectiveFields:
    """Return the computation of a directive's similarity layers, and of keep-out zones with the fence."""
    from lodestar.assembly.directive_fields import DirectiveFields

    return DirectiveFields(phrases, shared.query, shared.keep_out_distance, shared.fence)


def zone_growth(shared: SharedConfig) -> ZoneGrowth:
    """Return what keeps new zones open under the robot until it has left them."""
    from lodestar.grid.zone_growth import ZoneGrowth

    return ZoneGrowth(shared.body)


# --- the world model -------------------------------------------------------------------------------------------


def world_journal(folder: Path) -> JournalFile[Line]:
    """Return the world model's journal in a folder, which is made where it is missing. Raises OSError, UnsafeFolder."""
    from lodestar.storage.journal_file import JournalFile
    from lodestar.worldmodel.transactions import KIND, OLDER, VERSION, Line

    return JournalFile(folder / "world_model.journal", KIND, VERSION, Line, OLDER)


def trace_validator(config: WorldModelConfig, world: World) -> TraceValidator:
    """Return the checker of traces against what a world knows; that of the decision loop has the same limits.

    It also knows the skills of `skills_file`. Raises BadSkills.
    """
    from lodestar.worldmodel.skills import skills_with
    from lodestar.worldmodel.validation import TraceValidator

    return TraceValidator(world, config.validation, skills_with(config.skills_file))


def world_model(
    config: WorldModelConfig,
    writer: SceneWriter,
    tell: Callable[[WorldEvent], None],
    mirror: SceneMirror,
    journal: JournalFile[Line] | None = None,
) -> WorldModel:
    """Return the world model, which goes on from what its journal holds. tell: hears every event. Raises BadSkills."""
    from lodestar.worldmodel.closed_ways import WayBook
    from lodestar.worldmodel.skills import skills_with
    from lodestar.worldmodel.transactions import Transactions
    from lodestar.worldmodel.world_model import WorldModel

    ways, skills = WayBook(config.ways), skills_with(config.skills_file)
    return WorldModel(
        Transactions(journal), writer, tell, ways, mirror.name_of, skills, mirror, config.validation
    )


# --- memory ----------------------------------------------------------------------------------------------------


def snapshot_upkeep(config: SnapshotConfig) -> SnapshotUpkeep:
    """Return what selects the images that stand for all entities; it knows none yet."""
    from lodestar.memory.snapshots.upkeep import SnapshotUpkeep

    return SnapshotUpkeep(config)


def floor_looks(config: AnsweringConfig) -> FloorLooks:
    """Return what keeps where the camera looked, for the share of the floor in answers; it has no looks yet."""
    from lodestar.memory.answering.coverage import FloorLooks

    return FloorLooks(config.coverage)

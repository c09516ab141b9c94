"""Configuration of the whole robot: one dataclass per part, named like the node that runs the part.

The parameters of a nested field are named FIELD.NAME; ``metadata={"prefix": TEXT}`` at the field replaces
"FIELD." by TEXT.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, TypeVar, get_type_hints

from lodestar.agent.facts.config import LoopConfig
from lodestar.assembly.shared import SharedConfig, with_shared
from lodestar.experts.registry import expert_names, experts
from lodestar.floors.config import FloorsConfig
from lodestar.grid.config import Footprint
from lodestar.keyframes.config import KeyframeConfig, PickConfig
from lodestar.language.config import ParserConfig
from lodestar.mapping.config import (
    RANGE_MOVER_FAR,
    OctoMapConfig,
    RangeMoverConfig,
    ScanGridConfig,
    VoxelConfig,
)
from lodestar.memory.answering.config import AgentConfig, AnsweringConfig
from lodestar.memory.config import EventConfig, LastSeenConfig, StoreConfig
from lodestar.memory.vision_captions import SegmentCaptionConfig
from lodestar.perception.config import (
    BoxMaskConfig,
    CaptionerConfig,
    ComponentsConfig,
    DescriberConfig,
    GeometricConfig,
    MoverConfig,
    NoiseConfig,
    OnnxConfig,
    SignConfig,
    UltralyticsConfig,
    WordsConfig,
)
from lodestar.query.config import RerankConfig
from lodestar.scene.config import SceneConfig
from lodestar.selection.config import LinUcbConfig, SelectionConfig
from lodestar.worldmodel.config import AdviserConfig, ValidationConfig

SEMANTIC_VOXELS_LAYERS_PERIOD = 2.0  # s between pillars and clouds; chosen
SCENE_DICTIONARY_DISPLAY_PERIOD = 1.0  # s between markers, similarity layers and keep-out masks; chosen
SCENE_DICTIONARY_ENRICH_PERIOD = 0.5  # s between batches of captions and vectors; chosen
SCENE_DICTIONARY_REGIONS_PERIOD = 5.0  # s between two segmentations of the grid into rooms; chosen
SCENE_DICTIONARY_CHANGES_PERIOD = 5.0  # s between two searches for moved objects of the loaded map; chosen
MEMORY_TICK_PERIOD = 1.0  # s of real time between two turns that end segments and publish snapshots; chosen

SOURCES = ("lidar", "scan", "depth", "slam")
COLOR_ADAPTERS = ("onnx", "ultralytics")  # adapters that read colour images
ADAPTERS = ("ground_truth", *COLOR_ADAPTERS, "geometric")

Config = TypeVar("Config")


@dataclass(frozen=True)
class MappingConfig:
    """Source, parameters and publication period of the 2D occupancy grid for planning (the plan grid)."""

    # lidar: points into an octree; scan: a planar scan; depth: depth images into an octree;
    # slam: SLAM's map with obstacles above its plane
    source: str = "lidar"
    grid_period: float = 0.5  # s between two grids; chosen
    octomap: OctoMapConfig = field(default_factory=OctoMapConfig)
    scan: ScanGridConfig = field(default_factory=ScanGridConfig)
    floors: FloorsConfig = field(default_factory=FloorsConfig, metadata={"shared": "floors"})
    movers: RangeMoverConfig = field(default_factory=RangeMoverConfig)  # detection
    motion: MoverConfig = field(default_factory=MoverConfig, metadata={"shared": "movers"})  # tracking
    body: Footprint = field(default_factory=Footprint, metadata={"shared": "body"})  # to ignore

    def __post_init__(self) -> None:
        if self.source not in SOURCES:
            raise ValueError(f"source is {self.source!r}; it is one of {', '.join(SOURCES)}")
        if self.movers.enabled and self.source not in ("depth", "scan"):
            near = self.octomap.min_range
            if near >= RANGE_MOVER_FAR:
                raise ValueError(
                    f"octomap.min_range, {near:g} m, must be below {RANGE_MOVER_FAR:g} m, where movers are followed"
                )


@dataclass(frozen=True)
class PerceptionConfig:
    """Choice of the detector, and its parameters."""

    # ground_truth: a simulator's label images; onnx, ultralytics: RGB; geometric: shapes in depth, without names
    adapter: str = "ground_truth"
    # path of the network: an .onnx file for onnx, or several with commas between them, empty = those of `make
    # detector`, packaged = ours for the simulator's buildings; .pt, .onnx, .engine for ultralytics
    model: str = ""
    words: WordsConfig = field(default_factory=WordsConfig)  # that a detector with text prompts looks for
    # whether a vision model names what the detector cannot
    captioned: bool = field(default=False, metadata={"shared": "vision_model"})
    seed: int = 0  # of the noise and of the numbering of labels
    noise: NoiseConfig = field(default_factory=NoiseConfig)
    components: ComponentsConfig = field(default_factory=ComponentsConfig)  # of the ground_truth adapter
    geometric: GeometricConfig = field(default_factory=GeometricConfig)
    boxes: BoxMaskConfig = field(default_factory=BoxMaskConfig)  # of detectors without masks
    onnx: OnnxConfig = field(default_factory=OnnxConfig)
    ultralytics: UltralyticsConfig = field(default_factory=UltralyticsConfig)
    appearance: DescriberConfig = field(default_factory=DescriberConfig, metadata={"shared": "appearance"})

    def __post_init__(self) -> None:
        if self.adapter not in ADAPTERS:
            raise ValueError(f"adapter is {self.adapter!r}; it is one of {', '.join(ADAPTERS)}")
        if self.adapter == "ultralytics" and not self.model:
            raise ValueError("adapter ultralytics needs the parameter model, such as yoloe-11s-seg.pt")


@dataclass(frozen=True)
class KeyframesConfig:
    """Selection and storage of keyframes."""

    # folder of the images of memories; relative to the user's state folder, best inside the memory's folder
    remembered_folder: str = "memory/images"
    store: KeyframeConfig = field(default_factory=KeyframeConfig)
    offer: PickConfig = field(default_factory=PickConfig)


@dataclass(frozen=True)
class SemanticVoxelsConfig:
    """Parameters of the semantic voxel map, and the period for integrating depth frames without segments."""

    geometry_period: float = 0.2  # s of stamps between depth frames without segments; chosen
    voxels: VoxelConfig = field(default_factory=VoxelConfig)


@dataclass(frozen=True)
class SceneDictionaryConfig:
    """Parameters of the scene dictionary: entities, their captions, and queries about them."""

    archive_moved: bool = True  # whether to archive objects of a loaded map that were since seen elsewhere
    scene: SceneConfig = field(default_factory=SceneConfig)
    appearance: DescriberConfig = field(default_factory=DescriberConfig, metadata={"shared": "appearance"})
    parser: ParserConfig = field(default_factory=ParserConfig, metadata={"prefix": "query."})
    rerank: RerankConfig = field(default_factory=RerankConfig, metadata={"prefix": "query."})
    captions: CaptionerConfig = field(default_factory=CaptionerConfig, metadata={"prefix": ""})


@dataclass(frozen=True)
class GoalSelectorConfig:
    """Parameters of the goal selector's node: the experts it asks, decision loop, policy, parser and logs."""

    # names of the experts that are asked (the arms of the policy); all by default
    experts: tuple[str, ...] = field(default_factory=expert_names)
    loop: LoopConfig = field(default_factory=LoopConfig)
    selection: SelectionConfig = field(default_factory=SelectionConfig)
    policy: LinUcbConfig = field(default_factory=LinUcbConfig)
    parser: ParserConfig = field(default_factory=ParserConfig, metadata={"prefix": "directive."})
    advice: AdviserConfig = field(default_factory=AdviserConfig)
    skills_file: str = field(default="", metadata={"shared": "skills_file"})
    decision_log: str = ""  # file of one JSON line per decision; empty = none

    def __post_init__(self) -> None:
        known = expert_names()
        unknown = set(self.experts) - set(known)
        if unknown or not self.experts or len(set(self.experts)) != len(self.experts):
            raise ValueError(f"experts is {self.experts!r}; they are some of {', '.join(known)}, each once")


@dataclass(frozen=True)
class MemoryConfig:
    """Configuration of the memory: store, captions, events and answers."""

    store: StoreConfig = field(default_factory=StoreConfig)
    captions: SegmentCaptionConfig = field(default_factory=SegmentCaptionConfig)
    events: EventConfig = field(default_factory=EventConfig)
    last_seen: LastSeenConfig = field(default_factory=LastSeenConfig)
    answering: AnsweringConfig = field(default_factory=AnsweringConfig)
    agent: AgentConfig = field(default_factory=AgentConfig)


@dataclass(frozen=True)
class WorldModelConfig:
    """Parameters of the world model: the file of skills, and limits for validating other parts' actions."""

    skills_file: str = field(default="", metadata={"shared": "skills_file"})
    validation: ValidationConfig = field(default_factory=ValidationConfig, metadata={"shared": "validation"})


@dataclass(frozen=True)
class RobotConfig:
    """Configurations of all parts of the robot. Values in `shared` are filled into every part that reads
    them.
    """

    shared: SharedConfig = field(default_factory=SharedConfig)
    mapping: MappingConfig = field(default_factory=MappingConfig)
    perception: PerceptionConfig = field(default_factory=PerceptionConfig)
    keyframes: KeyframesConfig = field(default_factory=KeyframesConfig)
    sign_reader: SignConfig = field(default_factory=SignConfig)
    semantic_voxels: SemanticVoxelsConfig = field(default_factory=SemanticVoxelsConfig)
    scene_dictionary: SceneDictionaryConfig = field(default_factory=SceneDictionaryConfig)
    # configurations by the name of the expert's node; experts not named here have their defaults
    experts: Mapping[str, Any] = field(default_factory=dict)
    goal_selector: GoalSelectorConfig = field(default_factory=GoalSelectorConfig)
    memory: MemoryConfig = field(default_factory=MemoryConfig)
    world_model: WorldModelConfig = field(default_factory=WorldModelConfig)

    def __post_init__(self) -> None:
        nodes = {spec.node: spec.config for spec in experts()}
        if unknown := set(self.experts) - set(nodes):
            raise TypeError(f"there is no expert {', '.join(sorted(unknown))}; there are {', '.join(nodes)}")
        given = {name: self.experts.get(name) or config() for name, config in nodes.items()}
        filled = {name: with_shared(part, self.shared, name) for name, part in given.items()}
        object.__setattr__(self, "experts", filled)
        for item in fields(self):
            if item.name not in ("shared", "experts"):
                part = with_shared(getattr(self, item.name), self.shared, item.name)
                object.__setattr__(self, item.name, part)


def part_types() -> dict[str, type]:
    """Return the configuration type of every part by the name of its node.

    "shared" names the parameters that all parts share.
    """
    own = {name: kind for name, kind in get_type_hints(RobotConfig).items() if name != "experts"}
    return own | {spec.node: spec.config for spec in experts()}


def changed(config: Config, **values: Any) -> Config:
    """Return a copy of the configuration with some values changed.

    values: by field name. ``a__b=1`` sets the field b of the field a; an expert is named by its node
    (``experts__frontier_expert__view_period=1.0``). Raises TypeError for a field that does not exist,
    ValueError for a value that a part refuses.
    """
    direct: dict[str, Any] = {}
    nested: dict[str, dict[str, Any]] = {}
    for name, value in values.items():
        head, _, rest = name.partition("__")
        if rest:
            nested.setdefault(head, {})[rest] = value
        else:
            direct[name] = value
    if isinstance(config, Mapping):
        if unknown := {*direct, *nested} - set(config):
            raise TypeError(f"there is no {', '.join(sorted(unknown))}; there are {', '.join(config)}")
        inside = {head: changed(config[head], **inner) for head, inner in nested.items()}
        return {**config, **direct, **inside}  # type: ignore[return-value]
    for head, inner in nested.items():
        direct[head] = changed(getattr(config, head), **inner)
    return replace(config, **direct)  # type: ignore[type-var]

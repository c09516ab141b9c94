"""The tree of configuration of the whole robot: one record per part, named as the node that runs it.

A field marked with ``metadata={"prefix": TEXT}`` gives its parameters this prefix in place of its own name.
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
    OctoMapConfig,
    RangeMoverConfig,
    ScanGridConfig,
    TurnFilterConfig,
    VoxelConfig,
)
from lodestar.memory.answering.config import AgentConfig, AnsweringConfig
from lodestar.memory.config import EventConfig, LastSeenConfig, SegmentConfig, SnapshotConfig, StoreConfig
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
from lodestar.selection.config import (
    ContextConfig,
    LinUcbConfig,
    RewardConfig,
    SelectionConfig,
    SequenceConfig,
)
from lodestar.worldmodel.config import AdviserConfig, ValidationConfig, WayConfig

SOURCES = ("lidar", "scan", "depth", "slam")
COLOR_ADAPTERS = ("onnx", "ultralytics")  # that read colour images
ADAPTERS = ("ground_truth", *COLOR_ADAPTERS, "geometric")

Config = TypeVar("Config")


@dataclass(frozen=True)
class MappingConfig:
    """Source of the plan grid and the periods of its publication."""

    # lidar: points into an octree; scan: a planar scan; depth: depth images into an octree;
    # slam: SLAM's map with obstacles above its plane
    source: str = "lidar"
    grid_period: float = 0.5  # s between two grids; chosen
    grid_refresh: float = (
        3.0  # s between two grids without a change; chosen: subscribers see that it is valid
    )
    octomap_period: float = 1.0  # s between two octrees; chosen
    binary: bool = True  # octomap without probabilities
    octomap: OctoMapConfig = field(default_factory=OctoMapConfig)
    scan: ScanGridConfig = field(default_factory=ScanGridConfig)
    thinning: TurnFilterConfig = field(default_factory=TurnFilterConfig)
    ways: WayConfig = field(default_factory=WayConfig, metadata={"shared": "ways"})
    floors: FloorsConfig = field(default_factory=FloorsConfig, metadata={"shared": "floors"})
    movers: RangeMoverConfig = field(default_factory=RangeMoverConfig)  # whom the range sensor sees
    motion: MoverConfig = field(default_factory=MoverConfig, metadata={"shared": "movers"})  # how they move
    body: Footprint = field(default_factory=Footprint, metadata={"shared": "body"})  # which is no mover

    def __post_init__(self) -> None:
        if self.source not in SOURCES:
            raise ValueError(f"source is {self.source!r}; it is one of {', '.join(SOURCES)}")
        movers = self.movers
        if movers.enabled and self.source != "depth":
            least = self.thinning.period * movers.passes
            if least > movers.memory:
                raise ValueError(
                    f"movers.memory, {movers.memory:g} s, must be at least thinning.period x movers.passes, "
                    f"{least:g} s, or nothing that moves is ever seen; make it longer, or set movers.enabled to false"
                )
            near = self.scan.min_range if self.source == "scan" else self.octomap.min_range
            if near >= movers.far:
                raise ValueError(f"movers.far, {movers.far:g} m, must be above min_range, {near:g} m")


@dataclass(frozen=True)
class PerceptionConfig:
    """The detector and its parameters."""

    # ground_truth: a simulator's label images; onnx, ultralytics: RGB; geometric: shapes in depth, without names
    adapter: str = "ground_truth"
    # path of the network: an .onnx file for onnx, empty = that of `make detector`, packaged = ours for the simulator's
    # buildings; .pt, .onnx, .engine for ultralytics
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

    folder: str = ""  # of the images; empty = a private folder of this run of the stack
    # of the images of memories; not absolute = in the user's state folder, and best in that of the memory
    remembered_folder: str = "memory/images"
    store: KeyframeConfig = field(default_factory=KeyframeConfig)
    offer: PickConfig = field(default_factory=PickConfig)


@dataclass(frozen=True)
class SemanticVoxelsConfig:
    """Periods of the semantic voxel map's inputs and outputs."""

    geometry_period: float = 0.2  # s of stamps between depth frames without segments; chosen
    colored: bool = True  # colour surfaces by the images that come with the depth
    layers_period: float = 2.0  # s between pillars and clouds; chosen
    pillar_resolution: float = 0.1  # m; that of the grid
    voxels: VoxelConfig = field(default_factory=VoxelConfig)


@dataclass(frozen=True)
class SceneDictionaryConfig:
    """Entities, their captions, and queries about them."""

    display_period: float = 1.0  # s between markers, similarity layers and keep-out masks; chosen
    enrich_period: float = 0.5  # s between batches of captions and vectors; chosen
    regions_period: float = 5.0  # s between two segmentations of the grid into rooms; chosen
    archive_moved: bool = True  # what a loaded map has at places whose thing was seen elsewhere since
    changes_period: float = 5.0  # s between two comparisons with the loaded map for that; chosen
    scene: SceneConfig = field(default_factory=SceneConfig)
    appearance: DescriberConfig = field(default_factory=DescriberConfig, metadata={"shared": "appearance"})
    parser: ParserConfig = field(default_factory=ParserConfig, metadata={"prefix": "query."})
    rerank: RerankConfig = field(default_factory=RerankConfig, metadata={"prefix": "query."})
    captions: CaptionerConfig = field(default_factory=CaptionerConfig, metadata={"prefix": ""})


@dataclass(frozen=True)
class GoalSelectorConfig:
    """The decision loop, its policy, and its periods."""

    tick_period: float = 0.1  # s of real time, as the loop also runs while a simulated clock stands; chosen
    beat_period: float = 0.05  # s of real time between heartbeats (ADR 0003)
    delivery_period: float = (
        0.02  # s of real time after which a command of the loop is carried out at the latest
    )
    feedback_period: float = 0.5  # s of real time; chosen
    clock_patience: float = (
        10.0  # s of real time after which a stopped clock is continued (PatientClock); chosen
    )
    loop_patience: float = (
        3.0  # s without an answer of the loop's thread, after which motion is refused (ADR 0025)
    )
    decision_log: str = ""  # file of one JSON line per decision; empty = none
    seed: int = 0  # of the policy's random choices
    # that are asked, all by default; the arms of the policy
    experts: tuple[str, ...] = field(default_factory=expert_names)
    loop: LoopConfig = field(default_factory=LoopConfig)
    selection: SelectionConfig = field(default_factory=SelectionConfig)
    policy: LinUcbConfig = field(default_factory=LinUcbConfig)
    reward: RewardConfig = field(default_factory=RewardConfig)
    sequence_reward: SequenceConfig = field(default_factory=SequenceConfig)
    context: ContextConfig = field(default_factory=ContextConfig)
    parser: ParserConfig = field(default_factory=ParserConfig, metadata={"prefix": "directive."})
    advice: AdviserConfig = field(default_factory=AdviserConfig)
    skills_file: str = field(default="", metadata={"shared": "skills_file"})

    def __post_init__(self) -> None:
        known = expert_names()
        unknown = set(self.experts) - set(known)
        if unknown or not self.experts or len(set(self.experts)) != len(self.experts):
            raise ValueError(f"experts is {self.experts!r}; they are some of {', '.join(known)}, each once")


@dataclass(frozen=True)
class MemoryConfig:
    """Configuration of the memory: store, segments, events, snapshots and answers."""

    tick_period: float = 1.0  # s of real time between two turns that end segments and tell snapshots; chosen
    pose_period: float = 0.2  # s of real time between poses; below segments.pose_gap, also at twice real time
    look_period: float = 1.0  # s of real time between looks of the camera that count for coverage; chosen
    retry_period: float = 5.0  # s of real time before a store that cannot be opened is tried again; chosen
    patience: float = 5.0  # s of real time that an answer waits for the text embedder; chosen
    max_waiting: int = 2000  # memories that wait for a store that cannot take them; chosen: over an hour
    max_wanted: int = 2000  # keyframes that are asked to be kept; that of keyframes.store.max_count
    wanted_period: float = 5.0  # s of real time between two such wishes at least; chosen
    exports: str = ""  # folder that memories may be exported into; "" = exports/ beside that of the store
    store: StoreConfig = field(default_factory=StoreConfig)
    segments: SegmentConfig = field(default_factory=SegmentConfig)
    captions: SegmentCaptionConfig = field(default_factory=SegmentCaptionConfig)
    events: EventConfig = field(default_factory=EventConfig)
    last_seen: LastSeenConfig = field(default_factory=LastSeenConfig)
    snapshots: SnapshotConfig = field(default_factory=SnapshotConfig)
    answering: AnsweringConfig = field(default_factory=AnsweringConfig)
    agent: AgentConfig = field(default_factory=AgentConfig)

    def __post_init__(self) -> None:
        periods = (
            self.tick_period,
            self.pose_period,
            self.look_period,
            self.retry_period,
            self.wanted_period,
        )
        if min(periods) <= 0.0 or self.max_waiting < 1 or self.max_wanted < 0:
            raise ValueError(
                "periods must be above 0, at least one memory must be able to wait, and max_wanted not below 0"
            )


@dataclass(frozen=True)
class WorldModelConfig:
    """The world model: validation for others, closed ways, and its periods."""

    tick_period: float = 1.0  # s of real time between two looks at what has expired or waits; chosen
    patience: float = 2.0  # s of real time that an amendment waits for the scene dictionary; chosen
    skills_file: str = field(default="", metadata={"shared": "skills_file"})
    facing: float = 4.0  # m within which "that" and "this door" are faced; chosen: a room's width
    ways: WayConfig = field(default_factory=WayConfig, metadata={"shared": "ways"})
    validation: ValidationConfig = field(default_factory=ValidationConfig, metadata={"shared": "validation"})

    def __post_init__(self) -> None:
        if min(self.tick_period, self.patience, self.facing) <= 0.0:
            raise ValueError("tick_period, patience and facing must be above 0")


@dataclass(frozen=True)
class RobotConfig:
    """All parts of the robot. Values in `shared` are filled into every part that reads them."""

    shared: SharedConfig = field(default_factory=SharedConfig)
    mapping: MappingConfig = field(default_factory=MappingConfig)
    perception: PerceptionConfig = field(default_factory=PerceptionConfig)
    keyframes: KeyframesConfig = field(default_factory=KeyframesConfig)
    sign_reader: SignConfig = field(default_factory=SignConfig)
    semantic_voxels: SemanticVoxelsConfig = field(default_factory=SemanticVoxelsConfig)
    scene_dictionary: SceneDictionaryConfig = field(default_factory=SceneDictionaryConfig)
    # by the name of the node; those that are not named have their defaults
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
    """Return the configuration of every part, by the name of its node; "shared" is that of all."""
    own = {name: kind for name, kind in get_type_hints(RobotConfig).items() if name != "experts"}
    return own | {spec.node: spec.config for spec in experts()}


def changed(config: Config, **values: Any) -> Config:
    """Return the configuration with other values; ``a__b=1`` sets the field b of the field a, also of an expert by the
    name of its node (``experts__frontier_expert__view_period=1.0``).

    Raises TypeError for a field that does not exist, ValueError for a value that a part refuses.
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

"""What a headless episode runs with."""

from __future__ import annotations

from dataclasses import dataclass, field

from lodestar.agent.config import LoopConfig
from lodestar.mapping.scan_grid import ScanGridConfig
from lodestar.mapping.semantic_voxels import VoxelConfig
from lodestar.perception.ground_truth import NoiseConfig
from lodestar.scene.dictionary import SceneConfig
from lodestar.selection.config import SelectionConfig
from lodestar_sim.navigator import NavigatorConfig
from lodestar_sim.simulator import SimConfig

EXPERTS = ("frontier", "semantic_map", "ego_vlm")
REASONERS = ("semantic_map", "ego_vlm")  # those that ask the reasoner before they answer

#: How perception errs, by name; "mild" is about what a good open-vocabulary detector does to large things.
NOISES = {
    "none": NoiseConfig(),
    "mild": NoiseConfig(miss=0.10, split=0.02, merge=0.02, wrong_label=0.02, erode_px=1, score_std=0.05),
    "strong": NoiseConfig(miss=0.30, split=0.05, merge=0.05, wrong_label=0.08, erode_px=2, score_std=0.10),
}


@dataclass(frozen=True)
class EpisodeSettings:
    """What an episode runs with. Times in simulated seconds, image size in pixels.

    thinking: seconds that every expert takes to answer, None = what it was measured to take.
    reasoner_delay: seconds that the reasoner takes for an answer, while it thinks beside the experts as a model does.
    answer_delay: seconds for which experts that ask the reasoner keep their answer back, as if it thought within them.
    patience: how long the loop may go on after its own time limit before the episode is called stuck.
    experts: who is asked at all. expectation: whether the frontier expert knows where the target is likely.
    selection: the features and the reward of every row, as the parameters `selection.*` of goal_selector; where rows
    have policies of their own, its policy does not count.
    """

    time_limit: float = 600.0
    frame_interval: float = 0.25
    control_interval: float = 0.1
    region_interval: float = 5.0
    zone_interval: float = 1.0  # between two looks for what to keep away from
    description_interval: float = 1.0  # between two descriptions of the view
    width: int = 320
    height: int = 240
    thinking: float | None = None
    reasoner_delay: float = 0.0
    answer_delay: float = 0.0
    patience: float = 30.0
    experts: tuple[str, ...] = EXPERTS
    expectation: bool = True
    noise: NoiseConfig = NOISES["mild"]
    simulator: SimConfig = field(default_factory=SimConfig)
    grid: ScanGridConfig = field(default_factory=ScanGridConfig)
    voxels: VoxelConfig = field(default_factory=VoxelConfig)
    scene: SceneConfig = field(default_factory=SceneConfig)
    navigator: NavigatorConfig = field(default_factory=NavigatorConfig)
    loop: LoopConfig = field(default_factory=LoopConfig)
    selection: SelectionConfig = field(default_factory=SelectionConfig)

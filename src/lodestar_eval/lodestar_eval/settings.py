"""What a headless episode runs with."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache

from lodestar.assembly.config import EXPERTS, RobotConfig, changed
from lodestar.assembly.profiles import read_profiles
from lodestar.perception.ground_truth import NoiseConfig
from lodestar_bringup.stack import config_folder
from lodestar_sim.navigator import NavigatorConfig
from lodestar_sim.simulator import SimConfig

__all__ = ["EXPERTS", "NOISES", "REASONERS", "EpisodeSettings", "robot_config"]

REASONERS = ("semantic_map", "ego_vlm")  # those that ask the reasoner before they answer

#: How perception errs, by name; "mild" is about what a good open-vocabulary detector does to large things.
NOISES = {
    "none": NoiseConfig(),
    "mild": NoiseConfig(miss=0.10, split=0.02, merge=0.02, wrong_label=0.02, erode_px=1, score_std=0.05),
    "strong": NoiseConfig(miss=0.30, split=0.05, merge=0.05, wrong_label=0.08, erode_px=2, score_std=0.10),
}


def robot_config(noise: NoiseConfig = NOISES["mild"]) -> RobotConfig:
    """The robot of the simulator's own profile, whose perception errs like this."""
    return changed(_profile(), perception__noise=noise)


@lru_cache(maxsize=1)
def _profile() -> RobotConfig:
    return read_profiles([config_folder() / "sim.yaml"])


@dataclass(frozen=True)
class EpisodeSettings:
    """What an episode runs with. Times in simulated seconds, image size in pixels.

    robot: the parts of the robot, as its nodes have them. frame_interval, width, height: of the images that are
    rendered and segmented.
    thinking: seconds that every expert takes to answer, None = what it was measured to take.
    reasoner_delay: seconds that the reasoner takes for an answer, while it thinks beside the experts as a model does.
    answer_delay: seconds for which experts that ask the reasoner keep their answer back, as if it thought within them.
    patience: how long the loop may go on after its own time limit before the episode is called stuck.
    Where rows have policies of their own, the robot's own policy does not count.
    """

    robot: RobotConfig = field(default_factory=robot_config)
    time_limit: float = 600.0
    frame_interval: float = 0.25
    control_interval: float = 0.1
    width: int = 320
    height: int = 240
    thinking: float | None = None
    reasoner_delay: float = 0.0
    answer_delay: float = 0.0
    patience: float = 30.0
    simulator: SimConfig = field(default_factory=SimConfig)
    navigator: NavigatorConfig = field(default_factory=NavigatorConfig)

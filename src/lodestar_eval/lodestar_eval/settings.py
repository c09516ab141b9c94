"""Settings of headless episodes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path

from lodestar.agent.loop.machine import OWN_PARTS, PartKinds
from lodestar.assembly import parts
from lodestar.assembly.config import RobotConfig, changed
from lodestar.assembly.profiles import read_profiles
from lodestar.perception.config import NoiseConfig
from lodestar_bringup.places import config_folder
from lodestar_eval.options import DETECTORS
from lodestar_sim.navigator import NavigatorConfig
from lodestar_sim.simulator import SimConfig

__all__ = ["NOISES", "WITHOUT_WORLD_MODEL", "EpisodeSettings", "memory_in", "robot_config", "with_detector"]

#: Errors of perception by name; "mild" is about those of a good open-vocabulary detector on large objects,
#: "detector" those that were measured of NanoDet (benchmark `detector-noise`).
NOISES = {
    "none": NoiseConfig(),
    "mild": NoiseConfig(miss=0.10, split=0.02, merge=0.02, wrong_label=0.02, erode_px=1, score_std=0.05),
    "strong": NoiseConfig(miss=0.30, split=0.05, merge=0.05, wrong_label=0.08, erode_px=2, score_std=0.10),
    "detector": NoiseConfig(measured="nanodet"),
}

#: Changes of a robot by which nothing is diagnosed or recovered from; `ablations.UNVALIDATED` validates nothing.
WITHOUT_WORLD_MODEL = {"goal_selector__loop__recovery__enabled": False}


def robot_config(noise: NoiseConfig = NOISES["mild"]) -> RobotConfig:
    """Return the robot of the simulator's profile with these errors of perception."""
    return changed(_profile(), perception__noise=noise)


def memory_in(folder: Path) -> dict[str, dict[str, object]]:
    """Return the parameters of nodes that have the memory and its images in this folder, by node."""
    place = folder.absolute()
    return {
        "memory": {"store.folder": str(place)},
        "keyframes": {"remembered_folder": str(place / "images")},
    }


@lru_cache(maxsize=1)
def _profile() -> RobotConfig:
    return read_profiles([config_folder() / "sim.yaml"])


@dataclass(frozen=True)
class EpisodeSettings:
    """Parameters of a headless episode. The robot's own policy is ignored if rows have policies of their own."""

    robot: RobotConfig = field(default_factory=robot_config)  # configuration of the robot's parts
    kinds: PartKinds = OWN_PARTS  # of the decision loop's parts, which a comparison replaces
    time_limit: float = 600.0  # simulated seconds of a task; chosen
    frame_interval: float = 0.25  # simulated seconds between images; chosen
    control_interval: float = 0.1  # simulated seconds between steps; chosen
    width: int = 320  # pixels of the images that are rendered and segmented; chosen
    height: int = 240  # pixels, likewise
    thinking: float | None = None  # simulated seconds of an expert's answer; None = its measured time
    reasoner_delay: float = 0.0  # simulated seconds of a reasoner's answer, in parallel with the experts
    # simulated seconds by which experts that use the reasoner delay their answers, as if it ran within them
    answer_delay: float = 0.0
    eyes: str = "none"  # of `search_eyes.EYES`: what a scripted model is shown that judges views
    falseness: Mapping[str, float] = field(default_factory=dict)  # chance of a false claim, by expert
    patience: float = 30.0  # simulated seconds after the time limit until the episode fails as stuck; chosen
    simulator: SimConfig = field(default_factory=SimConfig)
    navigator: NavigatorConfig = field(default_factory=NavigatorConfig)


def with_detector(settings: EpisodeSettings, name: str) -> EpisodeSettings:
    """Return the settings of a robot that reads colour images with a detector of DETECTORS, and no labels.

    Raises DetectorUnavailable where it is not there.
    """
    seeing = read_profiles([config_folder() / f"{name}.yaml"]).perception
    robot = changed(
        settings.robot,
        perception__adapter=seeing.adapter,
        perception__model=seeing.model,
        perception__onnx=seeing.onnx,
    )
    parts.color_detector(robot.perception)
    width, height = DETECTORS[name]
    return replace(settings, robot=robot, width=width, height=height)

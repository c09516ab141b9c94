"""Settings of headless episodes."""

from __future__ import annotations

import argparse
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

#: Perception errors by name; "mild" is about those of a good open-vocabulary detector on large objects, "detector"
#: those measured with the two networks of `make detector` (benchmark `detector-noise`), "nanodet" those with NanoDet
#: alone, "detector_by_time" its form of before 0.2, for one release: misses are drawn anew as time passes, not as the
#: viewpoint changes, and false detections in every frame.
NOISES = {
    "none": NoiseConfig(),
    "mild": NoiseConfig(miss=0.10, split=0.02, merge=0.02, wrong_label=0.02, erode_px=1, score_std=0.05),
    "strong": NoiseConfig(miss=0.30, split=0.05, merge=0.05, wrong_label=0.08, erode_px=2, score_std=0.10),
    "detector": NoiseConfig(measured="nanodet_objectron"),
    "nanodet": NoiseConfig(measured="nanodet"),
    "detector_by_time": NoiseConfig(measured="nanodet_by_time"),
}

#: Part kinds of a robot without diagnosis and recovery; `ablations.UNVALIDATED` removes validation.
WITHOUT_WORLD_MODEL = {"goal_selector__loop__recovery__enabled": False}


def robot_config(noise: NoiseConfig = NOISES["mild"]) -> RobotConfig:
    """Return the robot configuration of the simulator's profile, with these perception errors."""
    return changed(_profile(), perception__noise=noise, shared__looks__eyes=noise.measured)


def memory_in(folder: Path) -> dict[str, dict[str, object]]:
    """Return node parameters, by node, that put the memory and its images into this folder."""
    place = folder.absolute()
    return {"memory": {"store.folder": str(place)}, "keyframes": {"remembered_folder": str(place / "images")}}


@lru_cache(maxsize=1)
def _profile() -> RobotConfig:
    return read_profiles([config_folder() / "sim.yaml"])


@dataclass(frozen=True)
class EpisodeSettings:
    """Parameters of a headless episode. The robot's own policy is ignored if a benchmark compares several
    policies.
    """

    robot: RobotConfig = field(default_factory=robot_config)  # configuration of the robot's parts
    kinds: PartKinds = OWN_PARTS  # parts of the decision loop, which ablations replace
    time_limit: float = 600.0  # simulated seconds of a task; chosen
    frame_interval: float = 0.25  # simulated seconds between images; chosen
    control_interval: float = 0.1  # simulated seconds between steps; chosen
    width: int = 320  # pixels, width of the rendered and segmented images; chosen
    height: int = 240  # pixels, height of the images; chosen
    thinking: float | None = None  # simulated seconds of an expert's answer; None = its measured time
    reasoner_delay: float = 0.0  # simulated seconds of a reasoner's answer, in parallel with the experts
    eyes: str = "none"  # kind of input of the scripted model that judges views, one of `search_eyes.EYES`
    patience: float = 30.0  # simulated seconds after the time limit until the episode fails as stuck; chosen
    simulator: SimConfig = field(default_factory=SimConfig)
    navigator: NavigatorConfig = field(default_factory=NavigatorConfig)


def settings_of(options: argparse.Namespace) -> EpisodeSettings:
    """Return the settings that the options of `options.add_search_options` choose."""
    return EpisodeSettings(
        robot=robot_config(NOISES[options.noise]),
        time_limit=getattr(options, "limit_time", EpisodeSettings.time_limit),
        thinking=getattr(options, "answer_time", EpisodeSettings.thinking),
    )


def with_detector(settings: EpisodeSettings, name: str) -> EpisodeSettings:
    """Return settings of a robot that applies a detector of DETECTORS to colour images, without true labels.

    Raises DetectorUnavailable if the detector is not installed.
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

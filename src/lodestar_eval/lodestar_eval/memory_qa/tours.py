"""Store of tours on disk: each is recorded once and then shared by all compared methods and wordings."""

from __future__ import annotations

import hashlib
import os
import pickle
import shutil
import zlib
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path

import numpy as np

from lodestar.models.phrases import PhraseBook
from lodestar.perception.config import NoiseConfig
from lodestar.storage.files import write_file
from lodestar.storage.private import private_folder, state_home
from lodestar_eval.memory_qa.happenings import HappeningConfig, with_timed_events
from lodestar_eval.memory_qa.recorder import record
from lodestar_eval.memory_qa.recording import KEYFRAMES, Recording
from lodestar_eval.memory_qa.route import LONG_TOUR, timeline
from lodestar_eval.settings import NOISES, robot_config
from lodestar_eval.tour import TourConfig
from lodestar_sim.worlds import world_from_spec

#: Version of the recordings; raise it if a change of the code, not of a setting, alters them.
VERSION = 2
EVENTS = HappeningConfig()
_FILE = "tour.pickle.z"
_COMPRESSION = 3  # zlib level; chosen


def default_folder() -> Path:
    """Return this user's folder of recorded tours."""
    return state_home() / "tours"


def tour_of(
    spec: str,
    seed: int,
    phrases: Callable[[], PhraseBook],
    folder: Path,
    progress: Callable[[str], None],
    config: TourConfig = LONG_TOUR,
    happenings: HappeningConfig = EVENTS,
    noise: NoiseConfig = NOISES["mild"],
) -> Recording:
    """Return the tour of a world by seed; it is driven and recorded if the folder does not contain it.

    The folder must be this user's own: a recording is a pickle, which can run code. Raises UnsafeFolder.
    """
    settings = repr((VERSION, spec, seed, config, happenings, _recorder_settings(noise), KEYFRAMES))
    name = f"{spec.partition('?')[0].rpartition('/')[2]}-{seed}-{hashlib.sha256(settings.encode()).hexdigest()[:12]}"
    home = private_folder(private_folder(folder) / name)
    if (home / _FILE).exists():
        return _load(home)
    progress(f"{spec} {seed}: records {config.limit:.0f} simulated seconds, once")
    world = world_from_spec(spec, seed)
    line = timeline(world, seed, config)
    world = with_timed_events(world, line, np.random.default_rng([seed, 0x7E11]), happenings)
    images = home / "keyframes"
    shutil.rmtree(images, ignore_errors=True)  # left from an interrupted recording
    recording = record(spec, world, seed, phrases(), config, images, noise)
    content = zlib.compress(pickle.dumps(recording, 5), _COMPRESSION)
    write_file(home / _FILE, [content], durable=False)
    return recording


def _recorder_settings(noise: NoiseConfig) -> dict[str, object]:
    """Return the robot's settings without those of the memory, so that a recorded tour suits any memory."""
    robot = robot_config(noise)
    return {part.name: getattr(robot, part.name) for part in fields(robot) if part.name != "memory"}


def _load(home: Path) -> Recording:
    """Return the recording in a folder, with the path of its images set to that folder."""
    found = (home / _FILE).lstat()
    if found.st_uid != os.geteuid():
        raise PermissionError(f"{home / _FILE} belongs to another user; remove it")
    recording: Recording = pickle.loads(zlib.decompress((home / _FILE).read_bytes()))
    return replace(recording, stream=replace(recording.stream, keyframe_folder=home / "keyframes"))

"""Trials of signs: the reading of a sign from three views, and searches for a room by its number."""

from __future__ import annotations

import math
import time
from collections.abc import Collection, Iterator
from dataclasses import replace

import numpy as np

from lodestar.assembly import parts
from lodestar.assembly.config import SceneDictionaryConfig, changed
from lodestar.geometry.poses import planar_transform
from lodestar.models.phrases import PhraseBook
from lodestar.perception.frames import RgbdFrame
from lodestar.perception.sign_text import SIGN, sign_text
from lodestar.perception.signs import SignReader, read_signs
from lodestar_eval.episode import Episode, selector_of
from lodestar_eval.settings import EpisodeSettings
from lodestar_eval.study import Row
from lodestar_sim.simulator import Simulator
from lodestar_sim.step_judge import inside
from lodestar_sim.tasks import Task
from lodestar_sim.worlds.elements import Sign
from lodestar_sim.worlds.world import World

#: Greatest viewing distance in plan by kind of sign, metres; bars exist for numbers and exits.
REACH = {"number": 1.6, "exit": 3.5, "room": 1.6, "name": 1.3, "warning": 2.2}
TILT = math.radians(30.0)  # rad, greatest angle between the line of sight in plan and the normal
VIEWS = 3
_NEAREST = 0.6  # least viewing distance as a share of the greatest
_AIM = math.radians(12.0)  # rad, greatest angle between the camera's axis and the sign
_PLACE_ERROR, _YAW_ERROR = 0.02, math.radians(0.5)  # standard deviations of the localisation error, m and rad
_NEAR = 0.3  # m, greatest distance of an entity from its sign
_TRIES = 60  # poses tried for one view


def sign_trials(world: World, seed: int, reader: SignReader, kinds: Collection[str]) -> Iterator[Row]:
    """Yield a row for each visible sign of these kinds in a building, read from VIEWS views.

    right: an entity at the sign has its text; wrong: texts of entities that no sign of the building has. _ms: processor
    time of each view.
    """
    simulator, rng = Simulator(world, seed=seed), np.random.default_rng([seed, 0x5167])
    texts = {_plain(line) for sign in world.signs for line in sign.text.split("\n")}
    for sign in world.signs:
        if sign.kind not in kinds:
            continue
        frames = [frame for _ in range(VIEWS) if (frame := _view(simulator, sign, rng)) is not None]
        if len(frames) < VIEWS:
            continue
        scene, spent = parts.scene_dictionary(SceneDictionaryConfig()), []
        for k, frame in enumerate(frames):
            begin = time.process_time()
            scene.take_signs(read_signs(replace(frame, stamp=float(k)), reader))
            spent.append(1e3 * (time.process_time() - begin))
        said = [(sign_text(e.caption), e.mean) for e in scene.entities().values() if e.label == SIGN]
        here = [text for text, place in said if np.linalg.norm(place - np.array(sign.center)) < _NEAR]
        right = _plain(sign.text) in map(_plain, here)
        wrong = tuple(text for text, _ in said if _plain(text) not in texts)
        row = {"seed": seed, "kind": sign.kind, "text": sign.text, "right": right, "wrong": wrong}
        yield row | {"_wrong": bool(wrong), "_ms": spent}


def room_trial(world: World, seed: int, phrases: PhraseBook) -> list[Row]:
    """Return the row of a search for one of the building's offices by its number; none if no office has one.

    reached: the robot stands in it and claims success.
    """
    label_of = {room.id: room.label for room in world.rooms}
    offices = [sign for sign in world.signs if sign.kind == "number" and label_of[sign.room] == "office"]
    if not offices:
        return []
    sign = offices[seed % len(offices)]
    plain = EpisodeSettings()
    robot = changed(plain.robot, sign_reader__reader="rapidocr")
    settings = replace(plain, robot=robot, width=640, height=480, thinking=0.2)
    task = Task(f"go to room {sign.text}", (), world.start)
    episode = Episode(world, task, seed, settings, phrases, selector_of(settings))
    while episode.result is None:
        episode.step()
    room = next(room for room in world.rooms if room.id == sign.room)
    place = episode.simulator.true_pose[None, :2]
    reached = episode.result.success and bool(inside(np.array(room.polygon), place)[0])
    calls, seconds = episode.clock.calls.get("signs", 0), episode.clock.seconds.get("signs", 0.0)
    return [{
        "seed": seed, "number": sign.text, "reached": reached, "said": episode.result.error_msg,
        "metres": episode.path_length, "duration": episode.simulator.time, "reads": calls, "read_seconds": seconds,
        "frames": episode.frames,
    }]  # fmt: skip


def _view(simulator: Simulator, sign: Sign, rng: np.random.Generator) -> RgbdFrame | None:
    """Return a view of the complete sign from within its reach and TILT; None if it is hidden from everywhere."""
    config = simulator.config.sensors.camera
    camera = config.pinhole()
    for _ in range(_TRIES):
        away = REACH[sign.kind] * rng.uniform(_NEAREST, 1.0)
        angle = sign.yaw + rng.uniform(-TILT, TILT)
        eye = np.array(sign.center[:2]) + away * np.array([math.cos(angle), math.sin(angle)])
        yaw = angle + math.pi + rng.uniform(-_AIM, _AIM)
        base = np.array([*(eye - config.x * np.array([math.cos(yaw), math.sin(yaw)])), yaw])
        simulator.robot.pose = base
        if not _is_shown(simulator, sign):
            continue
        image = simulator.render()
        believed = base + rng.normal(0.0, (_PLACE_ERROR, _PLACE_ERROR, _YAW_ERROR))
        pose = planar_transform(*believed) @ config.base_from_optical
        return RgbdFrame(0.0, camera, image.depth, pose, np.eye(4), image.rgb)
    return None


def _is_shown(simulator: Simulator, sign: Sign) -> bool:
    """Return whether the complete plate is in the image and not occluded."""
    _, depth, world_from_camera = simulator.view_truth()
    normal = np.array(sign.normal)
    right = np.array([-normal[1], normal[0], 0.0])
    steps = [(a, b) for a in (-0.5, 0.0, 0.5) for b in (-0.5, 0.5)]
    points = np.array(
        [np.array(sign.center) + right * a * sign.size[0] + (0.0, 0.0, b * sign.size[1]) for a, b in steps]
    )
    local = (points - world_from_camera[:3, 3]) @ world_from_camera[:3, :3]
    pixels, shown = simulator.config.sensors.camera.pinhole().project(local)
    margin = np.array([4.0, 4.0])
    size = np.array([depth.shape[1], depth.shape[0]])
    if not shown.all() or (pixels < margin).any() or (pixels > size - margin).any():
        return False
    columns, rows = np.round(pixels).astype(int).T
    return bool((np.abs(depth[rows, columns] - local[:, 2]) < 0.03).all())


def _plain(text: str) -> str:
    return "".join(c for c in text.casefold() if c.isalnum())

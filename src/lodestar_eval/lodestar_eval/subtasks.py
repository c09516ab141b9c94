"""Successive subtasks in one building: by category, by description, by picture."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from lodestar.assembly import parts
from lodestar.assembly.config import PerceptionConfig
from lodestar.language.directive import Directive, DirectiveError, Step, StepKind
from lodestar.language.picture_goals import goal_of
from lodestar.perception.config import NoiseConfig
from lodestar.perception.frames import SegmentedFrame
from lodestar.perception.pictures import BadPicture
from lodestar_sim.judge import shortest_path_length, valid_targets
from lodestar_sim.sensors import CameraFrame
from lodestar_sim.simulator import Simulator
from lodestar_sim.tasks import described
from lodestar_sim.worlds.truth import truth_of
from lodestar_sim.worlds.world import World, WorldObject

MODALITIES = ("category", "description", "image")
FEWEST, MOST = 5, 10  # least and most subtasks of an episode, as in GOAT-Bench
APART = 2.0  # m, least path to the next target, from the start or from the last target's view
PICTURE_DISTANCE = 1.8  # m, greatest distance of the camera from the object
PICTURE_SHARE = 0.35  # least visible share of the object's points in the picture
MIDDLE_SHARE = 0.5  # least share of the picture's central ninth that the object fills
_PICTURE = (160, 120)  # pixels, size of the picture for these checks
_PLACES = 10  # number of camera places tried


@dataclass(frozen=True)
class Asked:
    """One subtask. target_ids: all valid targets. directive: None = parsed from the text."""

    modality: str
    words: str
    target_ids: tuple[int, ...]
    directive: Directive | None = None


def subtasks_of(world: World, seed: int, noise: NoiseConfig) -> list[Asked]:
    """Return 5 to 10 subtasks of different objects, reproducible by seed; fewer if the building has no more.

    Each kind is drawn independently. Pictures are taken in the simulator and processed by the robot's perception.
    """
    rng = np.random.default_rng((seed, 0x60A7))
    wanted = int(rng.integers(FEWEST, MOST + 1))
    photographer = Photographer(world, seed, noise, rng)
    makers: dict[str, Callable[[WorldObject, str], Asked | None]] = {
        "category": lambda thing, _: _by_category(world, thing),
        "description": lambda thing, phrase: Asked("description", f"find the {phrase}", (thing.id,)),
        "image": lambda thing, _: _by_picture(photographer, thing),
    }
    kinds = {
        "category": ("both", "color", "relation"),
        "description": ("both", "relation", "color"),
        "image": ("color",),
    }
    pools = {name: list(described(world, seed + index, kinds[name])) for index, name in enumerate(MODALITIES)}
    asked: list[Asked] = []
    used: set[int] = set()
    where = (float(world.start[0]), float(world.start[1]))
    modality = ""
    while len(asked) < wanted and any(pools.values()):
        if not modality or not pools[modality]:
            modality = str(rng.choice([name for name in MODALITIES if pools[name]]))
        thing, phrase = pools[modality].pop(0)
        made = makers[modality](thing, phrase) if thing.id not in used else None
        if made is None or not APART <= shortest_path_length(world, where, made.target_ids) < math.inf:
            continue  # the last target is another object of the same kind
        asked.append(made)
        used.update(made.target_ids)
        where, modality = _before(world, thing), ""
    return asked


def _before(world: World, thing: WorldObject) -> tuple[float, float]:
    """Return a place (x, y) from which the object is in view, else its own place."""
    poses = truth_of(world).views(thing)
    x, y = poses[0, :2] if len(poses) else thing.xy
    return float(x), float(y)


def _by_category(world: World, thing: WorldObject) -> Asked | None:
    words = f"find a {thing.category}"
    try:
        targets = valid_targets(world, words)
    except DirectiveError:
        return None
    return Asked("category", words, targets) if thing.id in targets else None


def _by_picture(photographer: Photographer, thing: WorldObject) -> Asked | None:
    """Return a subtask with a picture of the object; None without a picture or a named object in it."""
    taken = photographer.take(thing)
    if taken is None:
        return None
    try:
        item = goal_of(taken[1])
    except BadPicture:
        return None
    directive = Directive("the thing in the picture", (Step(StepKind.FIND, item),))
    return Asked("image", f"find what the picture shows: {thing.caption}", (thing.id,), directive)


class Photographer:
    """Takes pictures in the simulator as a person would, with the object in the centre."""

    def __init__(self, world: World, seed: int, noise: NoiseConfig, rng: np.random.Generator) -> None:
        self._world, self._noise, self._rng = world, noise, rng
        self._simulator = Simulator(world, seed=seed)

    def take(self, thing: WorldObject, rgb: bool = False) -> tuple[CameraFrame, SegmentedFrame] | None:
        """Return a picture and the robot's detections in it; None if no place shows the object well."""
        pose = self._place(thing)
        if pose is None:
            return None
        self._simulator.robot.pose = pose
        image = self._simulator.render(rgb=rgb)
        detector = parts.ground_truth_detector(PerceptionConfig(noise=self._noise), self._rng)
        return image, detector.segment(0.0, image.labels, image.label_table)

    def _place(self, thing: WorldObject) -> np.ndarray | None:
        """Return a pose (3,) from which the object fills most of the picture's centre; None without one."""
        truth = truth_of(self._world)
        poses, _ = truth.facing_poses(thing, self._world.start[:2], PICTURE_DISTANCE, most=48)
        if not len(poses):
            return None
        poses = poses[truth.seen(thing, poses) >= PICTURE_SHARE]
        width, height = _PICTURE
        middle = (slice(height // 3, 2 * height // 3), slice(width // 3, 2 * width // 3))
        for pose in poses[self._rng.permutation(len(poses))[:_PLACES]]:
            mask = self._simulator.object_mask(pose, [thing.id], width, height)
            if mask[middle].mean() >= MIDDLE_SHARE:
                return pose
        return None

"""What a robot is asked for one after the other in one building: by category, by description, by picture."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from lodestar.assembly import parts
from lodestar.assembly.config import PerceptionConfig
from lodestar.language.directive import Directive, DirectiveError, Step, StepKind
from lodestar.language.picture_goals import goal_of
from lodestar.perception.ground_truth import NoiseConfig
from lodestar.perception.pictures import BadPicture
from lodestar_sim.judge import shortest_path_length, valid_targets
from lodestar_sim.simulator import Simulator
from lodestar_sim.tasks import described
from lodestar_sim.worlds.world import World, WorldObject

MODALITIES = ("category", "description", "image")
FEWEST, MOST = 5, 10  # subtasks of an episode, as in GOAT-Bench
APART = 2.0  # m of path at least from the start, or from before the last target, to the next one
PICTURE_DISTANCE = 1.8  # m at most from the thing to who takes its picture
PICTURE_SHARE = 0.35  # of its points that show on the picture
MIDDLE_SHARE = 0.5  # of the middle ninth of the picture that it fills
_PICTURE = (160, 120)  # pixels on which that is looked at
_PLACES = 10  # that are tried


@dataclass(frozen=True)
class Asked:
    """One subtask. target_ids: every thing that counts. directive: None = what the words say."""

    modality: str
    words: str
    target_ids: tuple[int, ...]
    directive: Directive | None = None


def subtasks_of(world: World, seed: int, noise: NoiseConfig) -> list[Asked]:
    """5 to 10 subtasks of different things, the same for the same seed; fewer where the building has no more.

    Each is of a kind drawn anew. A picture is taken in the simulator and read by the perception that the robot has.
    """
    rng = np.random.default_rng((seed, 0x60A7))
    wanted = int(rng.integers(FEWEST, MOST + 1))
    photographer = _Photographer(world, seed, noise, rng)
    makers: dict[str, Callable[[WorldObject, str], Asked | None]] = {
        "category": lambda thing, _: _by_category(world, thing),
        "description": lambda thing, phrase: Asked("description", f"find the {phrase}", (thing.id,)),
        "image": photographer.ask,
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
            continue  # another thing of the same kind
        asked.append(made)
        used.update(made.target_ids)
        where, modality = _before(world, thing), ""
    return asked


def _before(world: World, thing: WorldObject) -> tuple[float, float]:
    """About where a robot stands that has found it."""
    poses = world.truth.views(thing)
    x, y = poses[0, :2] if len(poses) else thing.xy
    return float(x), float(y)


def _by_category(world: World, thing: WorldObject) -> Asked | None:
    words = f"find a {thing.category}"
    try:
        targets = valid_targets(world, words)
    except DirectiveError:
        return None
    return Asked("category", words, targets) if thing.id in targets else None


class _Photographer:
    """Takes pictures in the simulator as a person would: with the thing in the middle."""

    def __init__(self, world: World, seed: int, noise: NoiseConfig, rng: np.random.Generator) -> None:
        self._world, self._noise, self._rng = world, noise, rng
        self._simulator = Simulator(world, seed=seed)

    def ask(self, thing: WorldObject, _: str) -> Asked | None:
        """To find the thing by a picture; None where none can be taken or nothing on it has a name."""
        pose = self._place(thing)
        if pose is None:
            return None
        self._simulator.robot.pose = pose
        image = self._simulator.render(rgb=False)
        segmented = parts.ground_truth_detector(PerceptionConfig(noise=self._noise), self._rng).segment(
            0.0, image.labels, image.label_table
        )
        try:
            item = goal_of(segmented)
        except BadPicture:
            return None
        directive = Directive("the thing in the picture", (Step(StepKind.FIND, item),))
        return Asked("image", f"find what the picture shows: {thing.caption}", (thing.id,), directive)

    def _place(self, thing: WorldObject) -> np.ndarray | None:
        """A pose (3,) from which the thing fills most of the middle of the picture."""
        truth = self._world.truth
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

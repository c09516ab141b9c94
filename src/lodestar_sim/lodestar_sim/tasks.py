"""Default task of a world: a directive with one unambiguous target that is not visible from the start."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from lodestar_sim.reference_truth import Scene, confusable
from lodestar_sim.worlds.catalogue import CATALOGUE
from lodestar_sim.worlds.errors import WorldError
from lodestar_sim.worlds.truth import Truth, truth_of
from lodestar_sim.worlds.world import World, WorldObject

MIN_PATH = 5.0  # metres from the start to the nearest success pose
MAX_PATH = 40.0  # metres likewise, so that the time limit suffices on a campus floor too
MIN_LENGTH, MIN_WIDTH = 0.30, 0.20  # metres, longest and second longest side of a target
MIN_TOP = 0.30  # metres, height of its top above the floor: lower objects leave the camera's view on arrival
MIN_ANCHOR = 0.60  # metres, longest side of the anchor
DISTRACTOR = 2.5  # metres to the nearest other object of the same class
TOGETHER_GAP, TOGETHER = 0.40, 1.1  # metres between boxes, centres: relation surely holds below
APART_GAP, APART = 2.3, 2.6  # metres likewise: relation surely does not hold above
VISIBLE = 0.2  # share of the target's points visible from a success pose
PLAIN = (
    "window",
    "curtain",
    "mirror",
    "radiator",
    "picture",
    "poster",
    "door",
    "charging station",
    "keyboard",
    "books",
)
KINDS = ("both", "color", "relation")
KIND_WEIGHTS = (0.6, 0.2, 0.2)


@dataclass(frozen=True)
class Task:
    """A directive, the ids of the objects it denotes, and the robot's start: (x, y, yaw)."""

    directive: str
    target_ids: tuple[int, ...]
    start: tuple[float, float, float]
    storey: int = 0  # index of the storey of the start


def default_task(world: World, seed: int = 1, sees: Callable[[WorldObject], bool] | None = None) -> Task:
    """Return the task of the world for a seed, deterministically; raises WorldError if no object is suitable.

    sees: whether the robot's detector can see an object; such targets are preferred. None = all of them.

    Exactly one object satisfies the directive, and no other one nearly does; another object of its class
    stands elsewhere; the start is at least 5 m away by path, and the target is not visible from it.
    """
    found = _TaskFinder(world, seed).choose(sees) if sees is not None else None
    return found or _TaskFinder(world, seed).chosen()


def described(world: World, seed: int, kinds: Sequence[str] = KINDS) -> Iterator[tuple[WorldObject, str]]:
    """Yield objects in a shuffled order that depends only on the seed, each with a noun phrase unique to it.

    Only objects that a robot can face and see are used. kinds: kinds of phrase, tried in this order.
    """
    tasks = _TaskFinder(world, seed)
    for index in tasks.rng.permutation(len(tasks.things)):
        thing = tasks.things[int(index)]
        if not tasks.is_plain_to_see(thing) or not len(tasks.truth.views(thing, VISIBLE, 0.8)):
            continue
        phrase = next((text for kind in kinds if (text := tasks.describe(thing, kind))), "")
        if phrase:
            yield thing, phrase


class _TaskFinder:
    def __init__(self, world: World, seed: int) -> None:
        self.world = world
        self.rng = np.random.default_rng([seed, 0x7A5C])
        self.scene = Scene(world)
        self.truth: Truth = truth_of(world)
        self.things = self.scene.things

    def chosen(self) -> Task:
        """Return the task of `choose`; raises WorldError if there is none."""
        found = self.choose()
        if found is None:
            raise WorldError(
                f"{self.world.name}: no object makes a default task (one of its kind elsewhere, unique by colour or by "
                "what it stands next to, seen from a reachable place, 5 m from a start out of its sight); give a "
                "directive"
            )
        return found

    def choose(self, sees: Callable[[WorldObject], bool] = lambda thing: True) -> Task | None:
        """Return the task of the first shuffled target that has a unique description, a view and a start."""
        targets = [t for t in self.things if self._may_be_target(t) and sees(t)]
        order = [targets[int(i)] for i in self.rng.permutation(len(targets))]
        kinds = list(self.rng.choice(KINDS, size=3, replace=False, p=KIND_WEIGHTS))
        for kind in kinds:
            for thing in order:
                phrase = self.describe(thing, kind)
                if phrase and len(self.truth.views(thing, VISIBLE, 0.8)):
                    start = self._start(thing)
                    if start:
                        return Task(f"find the {phrase}", (thing.id,), start)
        return None

    def is_plain_to_see(self, thing: WorldObject) -> bool:
        """Return whether a robot can see and name an object.

        It is large enough, its caption names its colour, and it is not on a wall, part of the building or
        inside another object.
        """
        if thing.category in PLAIN or thing.mounted or thing.contained_in or thing.category not in CATALOGUE:
            return False
        sides = sorted(thing.size)
        if sides[2] < MIN_LENGTH or sides[1] < MIN_WIDTH or thing.pose[2] + thing.size[2] < MIN_TOP:
            return False
        return thing.color in thing.caption.split()

    def _may_be_target(self, thing: WorldObject) -> bool:
        return self.is_plain_to_see(thing) and any(
            other.category == thing.category and self.scene.distance(other, thing) >= DISTRACTOR
            for other in self.things
            if other.id != thing.id
        )

    def _rivals(self, thing: WorldObject) -> list[WorldObject]:
        """Return the other objects that a listener might mean by the object's class alone."""
        return [t for t in self.things if t.id != thing.id and confusable(t.category, thing.category)]

    def describe(self, thing: WorldObject, kind: str) -> str:
        """Return a noun phrase that fits only this object, "" if there is none of this kind."""
        rivals = self._rivals(thing)
        name = thing.category if kind == "relation" else f"{thing.color} {thing.category}"
        if kind != "relation":
            rivals = [t for t in rivals if t.color == thing.color]
        if kind == "color":
            return name if not rivals else ""
        for index in self.rng.permutation(len(self.things)):
            anchor = self.things[int(index)]
            relation = self._relation(thing, anchor)
            if relation and self._is_unique(relation, anchor, rivals):
                return f"{name} {relation} the {anchor.category}"
        return ""

    def _relation(self, thing: WorldObject, anchor: WorldObject) -> str:
        """Return the relation ("on", "next to") that surely holds between object and anchor, "" if none does."""
        if (
            anchor.id == thing.id
            or confusable(anchor.category, thing.category)
            or max(anchor.size) < MIN_ANCHOR
        ):
            return ""
        if anchor.category in PLAIN or anchor.mounted or anchor.contained_in or anchor.supported_by:
            return ""
        if thing.supported_by == anchor.id:
            return "on" if self._on_top(thing, anchor) else ""
        if thing.supported_by or self.scene.rooms[thing.id] != self.scene.rooms[anchor.id]:
            return ""
        together = (
            self.scene.gap(thing, anchor) <= TOGETHER_GAP and self.scene.distance(thing, anchor) <= TOGETHER
        )
        return "next to" if together else ""

    def _on_top(self, thing: WorldObject, anchor: WorldObject) -> bool:
        """Return whether the object lies on the anchor's highest surface, not lower as on a chair's seat."""
        return thing.pose[2] >= self.scene.boxes[anchor.id][1][2] - 0.05

    def _is_unique(self, relation: str, anchor: WorldObject, rivals: list[WorldObject]) -> bool:
        """Return whether a relation to the anchor denotes only the target.

        No object of `rivals` is near the anchor or near an object that might be confused with the anchor.
        """
        anchors = [t for t in self.things if confusable(t.category, anchor.category)]
        return all(
            self.scene.gap(rival, other) >= APART_GAP and self.scene.distance(rival, other) >= APART
            for rival in rivals
            for other in anchors
            if other.id != rival.id
        )

    def _start(self, thing: WorldObject) -> tuple[float, float, float] | None:
        """Return a start (x, y, yaw) far enough from the object and out of its sight; None if there is none.

        The world's own start is preferred; other starts have 0.5 m of free space around them.
        """
        own = self.world.start
        if MIN_PATH <= self.truth.shortest_path(own[:2], thing) <= MAX_PATH and self._hidden(thing, own[:2]):
            return own
        lengths = self.truth.lengths(own[:2])
        roomy = np.argwhere(np.isfinite(lengths) & (self.truth.clearance >= 0.5) & ~self.truth.covered)
        if not len(roomy):
            return None
        places = self.truth.grid.points_of(roomy[self.rng.permutation(len(roomy))[:300]])
        middle = np.array(thing.xy)
        away = np.linalg.norm(places - middle, axis=1)
        for x, y in places[(away >= 2.5) & (away <= 0.8 * MAX_PATH)][:40]:
            length = self.truth.shortest_path((float(x), float(y)), thing)
            if MIN_PATH + 0.3 <= length <= MAX_PATH and self._hidden(thing, (float(x), float(y))):
                yaw = float(self.rng.integers(8)) * math.pi / 4 - math.pi
                return round(float(x), 3), round(float(y), 3), round(yaw, 6)
        return None

    def _hidden(self, thing: WorldObject, xy: tuple[float, float]) -> bool:
        """Return whether the object is invisible from a place in every direction."""
        headings = np.arange(8) * math.pi / 4
        poses = np.column_stack([np.full(8, xy[0]), np.full(8, xy[1]), headings])
        return not (self.truth.seen(thing, poses) > 0.0).any()

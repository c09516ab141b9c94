"""Timed events for a tour: objects are moved, removed and added, some of them in the robot's view."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from lodestar_eval.memory_qa.route import Timeline
from lodestar_sim.worlds.furnish import Furnisher, Made, plan_box
from lodestar_sim.worlds.truth import CAMERA, Truth, truth_of
from lodestar_sim.worlds.world import Event, World, WorldObject

HAPPENING_FAR = 4.5  # metres, largest distance of a look that counts
HAPPENING_SHARE = 0.15  # least share of an object's points that a look shows
HAPPENING_HALF_WIDTH = math.radians(36.0)  # rad, largest bearing of a look, within the image
HAPPENING_LOWEST = math.radians(-20.0)  # rad, least elevation of a look, within the image
HAPPENING_ASIDE = 0.35  # metres between the robot's path and an object that is put down
HAPPENING_SAMPLE = 1.0  # seconds between the poses that are tested


@dataclass(frozen=True)
class HappeningConfig:
    """Number of changes, and the limits of time between events and views. All values are chosen."""

    moved: int = 5  # things
    removed: int = 4  # things
    added: int = 4  # things
    apart: float = 60.0  # seconds without a look around an event out of view
    pause: float = 20.0  # seconds between events


#: Categories of the catalogue that are put down, by kind of building; several of each stand there already.
_ADDED = {
    "warehouse": ("traffic cone", "bucket", "backpack", "box", "toolbox", "crate", "suitcase"),
    "office": ("backpack", "suitcase", "box", "trash can", "bucket", "plant"),
}
_TRIES = 14  # places tried per object
_LARGEST = 0.9  # m, longest side of an object that a person moves


def with_timed_events(
    world: World, line: Timeline, rng: np.random.Generator, config: HappeningConfig = HappeningConfig()
) -> World:
    """Return the world with events that a robot on this path can notice.

    Every object that leaves its place was seen there, and the place is seen again; every object that comes to a
    place is seen there. The events of each kind happen in view and out of view alternately, as far as the path
    allows.
    """
    planner = _Planner(world, line, rng, config)
    events: list[Event] = []
    for kind, count in (("move", config.moved), ("remove", config.removed), ("add", config.added)):
        found = planner.of_kind(kind)
        for _ in range(count):
            event = next(found, None)
            if event is None:
                break
            events.append(event)
            planner.times.append(event.time)
    return replace(world, events=tuple(sorted(events, key=lambda e: e.time)))


class _Planner:
    def __init__(
        self, world: World, line: Timeline, rng: np.random.Generator, config: HappeningConfig
    ) -> None:
        self.world, self.rng, self.config = world, rng, config
        step = max(1, round(HAPPENING_SAMPLE / max(float(np.median(np.diff(line.stamps))), 1e-6)))
        self.stamps, self.poses = line.stamps[::step], line.poses[::step]
        self.furnisher = Furnisher(rng)
        self.times: list[float] = []
        self._spots_used: list[np.ndarray] = []
        self._next_id = max([t.id for t in world.objects] + [d.id for d in world.decals], default=0) + 1
        loaded = {t.supported_by for t in world.objects}
        loose = [t for t in world.objects if t.movable and t.id not in loaded and max(t.size) <= _LARGEST]
        self._loose = [loose[int(i)] for i in rng.permutation(len(loose))]
        self._left: list[WorldObject] = []

    def of_kind(self, kind: str) -> Iterator[Event]:
        """Yield events of one kind, in view and out of view alternately where possible."""
        return self._additions() if kind == "add" else self._changes(kind)

    def _additions(self) -> Iterator[Event]:
        names = _ADDED.get(self.world.kind, _ADDED["office"])
        wants_view = True
        while True:
            thing = replace(
                self.furnisher.design(names[int(self.rng.integers(len(names)))]), id=self._next_id
            )
            event = self._added(thing, wants_view) or self._added(thing, not wants_view)
            if event is None:
                return
            self._next_id += 1
            wants_view = not wants_view
            yield event

    def _changes(self, kind: str) -> Iterator[Event]:
        """Yield moves or removals of loose objects, in view and out of view alternately.

        If an object allows only the kind that is not due, its event comes last.
        """
        self._loose, self._left = [*self._left, *self._loose], []
        make = self._gone if kind == "remove" else self._moved
        wants_view = True
        while self._loose:
            thing = self._loose.pop()
            event = make(thing, self._looks(truth_of(self.world), thing), wants_view)
            if event is None:
                self._left.append(thing)
                continue
            wants_view = not wants_view
            yield event
        for thing in list(self._left):
            looks = self._looks(truth_of(self.world), thing)
            event = make(thing, looks, True) or make(thing, looks, False)
            if event is not None:
                self._left.remove(thing)
                yield event

    def _looks(self, truth: Truth, thing: WorldObject) -> np.ndarray:
        """Return (T,) bool: whether each pose shows the object well."""
        poses = self.poses
        low, high = truth.world.box(thing)
        middle = (low + high) / 2.0
        eye = poses[:, :2] + CAMERA[0] * np.column_stack([np.cos(poses[:, 2]), np.sin(poses[:, 2])])
        offset = middle[:2] - eye
        gap = np.linalg.norm(offset, axis=1)
        turn = np.arctan2(offset[:, 1], offset[:, 0]) - poses[:, 2]
        bearing = np.abs((turn + np.pi) % (2.0 * np.pi) - np.pi)
        level = np.arctan2(middle[2] - CAMERA[1], np.maximum(gap, 1e-6)) >= HAPPENING_LOWEST
        seen = (gap <= HAPPENING_FAR) & (bearing <= HAPPENING_HALF_WIDTH) & level
        index = np.flatnonzero(seen)
        if len(index):
            seen[index] = truth.seen(thing, poses[index]) >= HAPPENING_SHARE
        return seen

    def _gone(self, thing: WorldObject, looks: np.ndarray, wants_view: bool) -> Event | None:
        time = self._time(looks, wants_view)
        return None if time is None else Event(time, "remove", thing.id)

    def _moved(self, thing: WorldObject, before: np.ndarray, wants_view: bool) -> Event | None:
        time = self._time(before, wants_view)
        if time is None:
            return None
        for there in self._places(thing):
            after = self._looks(Truth(self._with(there)), there)
            if after[self.stamps > time + 1.0].sum() >= 2:
                self._spots_used.append(np.array(there.xy))
                return Event(time, "move", thing.id, pose=there.pose)
        return None

    def _added(self, thing: WorldObject, wants_view: bool) -> Event | None:
        for there in self._places(thing):
            looks = self._looks(Truth(self._with(there)), there)
            time = self._time(looks, wants_view)
            if time is not None:
                self._spots_used.append(np.array(there.xy))
                return Event(time, "add", thing.id, object=there)
        return None

    def _with(self, thing: WorldObject) -> World:
        others = tuple(t for t in self.world.objects if t.id != thing.id)
        return replace(self.world, objects=(*others, thing), events=())

    def _time(self, looks: np.ndarray, wants_view: bool) -> float | None:
        """Return a time for an event between the first and the last view of its place; None if there is no
        such time.

        looks: (T,) bool, place in view at each pose. wants_view: in view at that time, else in the middle of
        a long time out of view.
        """
        seen, config = self.stamps[looks], self.config
        if len(seen) < 2:
            return None
        gaps = np.diff(seen)
        if wants_view:
            ends = seen[1:-1][(gaps[:-1] <= 2.0 * HAPPENING_SAMPLE) & (gaps[1:] <= 2.0 * HAPPENING_SAMPLE)]
            times = [float(t) for t in ends if t - seen[0] > config.pause and seen[-1] - t > config.pause]
        else:
            times = [float(a + b) / 2.0 for a, b, gap in zip(seen, seen[1:], gaps) if gap >= config.apart]
        times = [round(t + 0.3, 1) for t in times if all(abs(t - o) >= config.pause for o in self.times)]
        return times[int(self.rng.integers(len(times)))] if times else None

    def _places(self, thing: WorldObject) -> Iterator[WorldObject]:
        """Yield the object at other places: small ones on furniture, others on the floor beside the path."""
        if thing.supported_by and max(thing.size) < 0.45:
            yield from self._on_furniture(thing)
        else:
            yield from self._on_floor(thing)

    def _on_floor(self, thing: WorldObject) -> Iterator[WorldObject]:
        truth, radius = truth_of(self.world), math.hypot(*thing.size[:2]) / 2.0
        free = np.isfinite(truth.lengths(self.world.start[:2])) & ~truth.covered
        cells = np.argwhere(free & (truth.clearance >= radius + 0.05))
        places = truth.grid.points_of(cells[self.rng.permutation(len(cells))[:1500]])
        way = np.linalg.norm(places[:, None] - self.poses[None, :, :2], axis=2).min(axis=1)
        places = places[way >= radius + HAPPENING_ASIDE]
        for used in self._spots_used:
            places = places[np.linalg.norm(places - used, axis=1) > 1.0]
        for x, y in places[:_TRIES]:
            pose = (round(float(x), 3), round(float(y), 3), 0.0, thing.pose[3])
            yield replace(thing, pose=pose, supported_by=0, contained_in=0)

    def _on_furniture(self, thing: WorldObject) -> Iterator[WorldObject]:
        tables = [
            t for t in self.world.objects if not t.movable and not t.mounted and t.id != thing.supported_by
        ]
        loads = {t.supported_by for t in self.world.objects if t.supported_by and not t.contained_in}
        tables = [t for t in tables if t.id in loads]
        for index in self.rng.permutation(len(tables))[:_TRIES]:
            table = tables[int(index)]
            made = self.furnisher.put_on(thing, self._laid(table))
            if made is not None and not made.thing.contained_in:
                yield replace(made.thing, id=thing.id)

    def _laid(self, table: WorldObject) -> Made:
        """Return a table with its occupied surfaces marked."""
        shape = self.world.shape(table)
        c, s = math.cos(table.pose[3]), math.sin(table.pose[3])
        taken = []
        for other in self.world.objects:
            if other.supported_by != table.id:
                continue
            dx, dy = other.pose[0] - table.pose[0], other.pose[1] - table.pose[1]
            local = (c * dx + s * dy, -s * dx + c * dy, 0.0, other.pose[3] - table.pose[3])
            box = plan_box(other.size, local)
            taken += [(k, *box) for k in range(len(shape.surfaces))]
        return Made(table, plan_box(table.size, table.pose), 0, taken)

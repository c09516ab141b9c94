"""Ground truth of a tour: times and places of each object, and the times at which the robot had it in view."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from lodestar_eval.memory_qa.recording import Glance
from lodestar_sim.reference_truth import Scene
from lodestar_sim.worlds.world import Event, World, WorldObject

Interval = tuple[float, float]  # start and end, seconds

NEAR = 5.0  # m, distance within which a look at an object is a gold timestamp (STaR V)
FAR = 8.0  # m, the depth camera's range (DEPTH_NOISE_FAR): no object beyond it gets a place in the map
# least visible pixels of an object in view; smaller masks are not detected (NoiseConfig.min_pixels)
MIN_PIXELS = 60
_HALF_WIDTH = np.radians(36.0)  # half of the camera's horizontal field of view, with a margin
_GAP = 1.6  # s, longest gap between images of an object within one look; chosen: three images


@dataclass(frozen=True)
class Stay:
    """Time from `start` to `end`, seconds, in which an object is at one place.

    low, high: (3,) corners of its box, metres; room: id, 0 = none.
    """

    thing: WorldObject
    start: float
    end: float
    low: np.ndarray
    high: np.ndarray
    room: int
    room_label: str

    @property
    def centre(self) -> np.ndarray:
        """Return the centre (3,) of its box, metres."""
        return (self.low + self.high) / 2.0


class TourTruth:
    """Ground truth of a tour. stays: each object's stays at one place, in time order; a moved object has two.
    Looks are intervals in which an object was in view.
    """

    def __init__(self, world: World, glances: Sequence[Glance]) -> None:
        self.world, self.glances = world, glances
        self.end = glances[-1].stamp
        self.stamps = np.array([g.stamp for g in glances])
        self.poses = np.array([g.pose for g in glances])
        times = [0.0, *(e.time for e in sorted(world.events, key=lambda e: e.time)), self.end]
        self.epochs = [(a, b) for a, b in pairwise(times) if b > a]
        self.scenes = [Scene(world, start) for start, _ in self.epochs]
        self.stays: dict[int, list[Stay]] = {}
        for (start, end), scene in zip(self.epochs, self.scenes):
            for thing in scene.things:
                self._extend(scene, thing, start, end)
        self._looks: dict[tuple[int, bool], list[Interval]] = {}

    def _extend(self, scene: Scene, thing: WorldObject, start: float, end: float) -> None:
        stays = self.stays.setdefault(thing.id, [])
        low, high = scene.boxes[thing.id]
        if stays and stays[-1].end == start and np.array_equal(stays[-1].low, low):
            last = stays.pop()
            stays.append(Stay(last.thing, last.start, end, low, high, last.room, last.room_label))
        else:
            room = scene.rooms[thing.id]
            stays.append(Stay(thing, start, end, low, high, room, scene.labels.get(room, "")))

    @cached_property
    def all_stays(self) -> list[Stay]:
        """Return every stay of every object."""
        return [stay for stays in self.stays.values() for stay in stays]

    def scene_of(self, stay: Stay) -> Scene:
        """Return the scene at the beginning of a stay."""
        index = max(k for k, (start, _) in enumerate(self.epochs) if start <= stay.start)
        return self.scenes[index]

    def looks(self, identity: int, near: bool = True) -> list[Interval]:
        """Return the intervals in which an object was in view within NEAR, or, if not `near`, within FAR."""
        key = identity, near
        if key not in self._looks:
            seen = np.array(
                [
                    pixels >= MIN_PIXELS and distance <= (NEAR if near else FAR)
                    for pixels, distance in (g.things.get(identity, (0, 0.0)) for g in self.glances)
                ]
            )
            self._looks[key] = joined(self.stamps[seen])
        return self._looks[key]

    def looks_in(self, stay: Stay, near: bool = True) -> list[Interval]:
        """Return the intervals in which the object was in view during its stay at one place."""
        return clipped(self.looks(stay.thing.id, near), stay.start, stay.end)

    def noticed(self, identity: int) -> list[Interval]:
        """Return the intervals of at least two images in which an object was in view within NEAR.

        A single image may not confirm an object.
        """
        return [(a, b) for a, b in self.looks(identity) if b > a]

    def known(self, stay: Stay) -> bool:
        """Return whether the robot saw the object at this place in at least two images."""
        return any(b > a for a, b in self.looks_in(stay))

    def last_seen(self, identity: int) -> Stay | None:
        """Return the last stay of an object during which the robot saw it (`known`); None without one."""
        return next((stay for stay in reversed(self.stays.get(identity, [])) if self.known(stay)), None)

    def standing(self, stay: Stay) -> bool:
        """Return whether the object is at this place at the end of the tour."""
        return stay.end >= self.end

    def event_of(self, identity: int) -> Event | None:
        """Return the event that changed an object, or None."""
        return next((e for e in self.world.events if e.object_id == identity), None)

    def in_view_of(self, event: Event) -> bool:
        """Return whether the robot had the object in view within 1 s of its event."""
        spans = self.looks(event.object_id, near=False)
        return any(a - 1.0 <= event.time <= b + 1.0 for a, b in spans)

    def watched(self, point: np.ndarray) -> np.ndarray:
        """Return the stamps (N,) at which the robot faced a place (3,) within NEAR; occlusion is ignored."""
        offset = point[:2] - self.poses[:, :2]
        turn = np.arctan2(offset[:, 1], offset[:, 0]) - self.poses[:, 2]
        ahead = np.abs((turn + np.pi) % (2.0 * np.pi) - np.pi) <= _HALF_WIDTH
        return self.stamps[ahead & (np.linalg.norm(offset, axis=1) <= NEAR)]

    @cached_property
    def visits(self) -> list[tuple[int, float, float]]:
        """Return the robot's visits to rooms in order: room id, start, end; 0 = none."""
        scene = self.scenes[0]
        found: list[tuple[int, float, float]] = []
        for stamp, pose in zip(self.stamps, self.poses):
            room = scene.room_at((float(pose[0]), float(pose[1])))
            if found and found[-1][0] == room:
                found[-1] = (room, found[-1][1], float(stamp))
            else:
                found.append((room, float(stamp), float(stamp)))
        return found

    def count_look_alikes(self) -> tuple[int, int]:
        """Return the number of objects that share their caption with another one, and the number of objects."""
        captions = [stays[0].thing.caption for stays in self.stays.values()]
        return sum(captions.count(c) > 1 for c in captions), len(captions)


def joined(stamps: np.ndarray) -> list[Interval]:
    """Return the intervals (first, last) of stamps (N,), split where the gap exceeds `_GAP`."""
    if not len(stamps):
        return []
    breaks = np.flatnonzero(np.diff(stamps) > _GAP)
    firsts = stamps[np.concatenate([[0], breaks + 1])]
    lasts = stamps[np.concatenate([breaks, [len(stamps) - 1]])]
    return [(float(a), float(b)) for a, b in zip(firsts, lasts)]


def clipped(spans: Sequence[Interval], start: float, end: float) -> list[Interval]:
    """Return the parts of the intervals between two times."""
    return [(max(a, start), min(b, end)) for a, b in spans if b >= start and a <= end]

"""Ground truth of a tour: which thing stood where and when, and when the robot had it in view."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from lodestar_eval.memory_qa.recording import Glance
from lodestar_sim.reference_truth import Scene
from lodestar_sim.worlds.world import Event, World, WorldObject

Interval = tuple[float, float]  # seconds

NEAR = 5.0  # metres, within which a look at a thing is a gold timestamp (STaR V)
FAR = 8.0  # metres, the depth camera's range (DepthNoiseConfig.far): no thing has a place in the map from further away
MIN_PIXELS = 60  # of a thing that is in view; smaller masks are not detected (NoiseConfig.min_pixels)
_HALF_WIDTH = np.radians(36.0)  # of the camera's image, with a margin
_GAP = 1.6  # seconds between images with the thing that belong to one look; chosen: three images


@dataclass(frozen=True)
class Stay:
    """A thing at one place from `start` until `end`, seconds. low, high: (3,) of its box; room: id, 0 = none."""

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
    """Stays and looks of a tour. stays: of every thing, in time; one that was moved has two."""

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
        """Return every stay of every thing."""
        return [stay for stays in self.stays.values() for stay in stays]

    def scene_of(self, stay: Stay) -> Scene:
        """Return the scene at the beginning of a stay."""
        index = max(k for k, (start, _) in enumerate(self.epochs) if start <= stay.start)
        return self.scenes[index]

    def looks(self, identity: int, near: bool = True) -> list[Interval]:
        """Return the intervals in which a thing was in view within NEAR, or, if not `near`, within FAR."""
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
        """Return the looks at a thing while it stood there."""
        return clipped(self.looks(stay.thing.id, near), stay.start, stay.end)

    def noticed(self, identity: int) -> list[Interval]:
        """Return the looks of at least two images within NEAR: one image may show what no detector confirms."""
        return [(a, b) for a, b in self.looks(identity) if b > a]

    def known(self, stay: Stay) -> bool:
        """Tell whether the robot saw the thing there in at least two images."""
        return any(b > a for a, b in self.looks_in(stay))

    def last_seen(self, identity: int) -> Stay | None:
        """Return the stay at which a thing was seen last; None if it never was."""
        return next((stay for stay in reversed(self.stays.get(identity, [])) if self.known(stay)), None)

    def standing(self, stay: Stay) -> bool:
        """Tell whether the thing is there at the end of the tour."""
        return stay.end >= self.end

    def event_of(self, identity: int) -> Event | None:
        """Return the event that changed a thing, or None."""
        return next((e for e in self.world.events if e.object_id == identity), None)

    def in_view_of(self, event: Event) -> bool:
        """Tell whether the robot had the thing in view just before or after its event."""
        spans = self.looks(event.object_id, near=False)
        return any(a - 1.0 <= event.time <= b + 1.0 for a, b in spans)

    def watched(self, point: np.ndarray) -> np.ndarray:
        """Return the stamps (N,) at which the robot faced a place (3,) within NEAR; it may have been hidden then."""
        offset = point[:2] - self.poses[:, :2]
        turn = np.arctan2(offset[:, 1], offset[:, 0]) - self.poses[:, 2]
        ahead = np.abs((turn + np.pi) % (2.0 * np.pi) - np.pi) <= _HALF_WIDTH
        return self.stamps[ahead & (np.linalg.norm(offset, axis=1) <= NEAR)]

    @cached_property
    def visits(self) -> list[tuple[int, float, float]]:
        """Return the robot's visits to rooms in their order: room id, start, end; 0 = none."""
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
        """Return how many things have another one of the same caption, and how many things there are."""
        captions = [stays[0].thing.caption for stays in self.stays.values()]
        return sum(captions.count(c) > 1 for c in captions), len(captions)


def joined(stamps: np.ndarray) -> list[Interval]:
    """Return the intervals of stamps (N,) that follow each other within the time between a few images."""
    if not len(stamps):
        return []
    breaks = np.flatnonzero(np.diff(stamps) > _GAP)
    firsts = stamps[np.concatenate([[0], breaks + 1])]
    lasts = stamps[np.concatenate([breaks, [len(stamps) - 1]])]
    return [(float(a), float(b)) for a, b in zip(firsts, lasts)]


def clipped(spans: Sequence[Interval], start: float, end: float) -> list[Interval]:
    """Return the parts of the intervals between two times."""
    return [(max(a, start), min(b, end)) for a, b in spans if b >= start and a <= end]

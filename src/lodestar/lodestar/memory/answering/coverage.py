"""Share of the floor that was looked at, and when; answers that deny an object's presence need it."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from lodestar.geometry.map_correction import MapCorrection
from lodestar.geometry.poses import wrap_angle
from lodestar.grid.looks import Looks
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.memory.answering.config import CoverageConfig
from lodestar.memory.records import Memory

COVERAGE_STEP = 0.2  # metres between two camera poses that are both kept; chosen
COVERAGE_TURN = math.radians(15.0)  # radians between two camera poses that are both kept; chosen
COVERAGE_MAX_LOOKS = 40_000  # most poses, the oldest dropped first; chosen: 24 h, walking half the time
COVERAGE_MAX_WINDOW = 2_000  # most poses processed per window, evenly thinned; chosen: takes about a second


@dataclass(frozen=True)
class Look:
    """Camera pose from which the floor was looked at.

    (x, y): position in map, metres; heading: radians; stamp: seconds.
    """

    stamp: float
    x: float
    y: float
    heading: float


@dataclass(frozen=True)
class Coverage:
    """Share of a floor's free area that was looked at, [0, 1].

    last: newest stamp at which a part of it was looked at, seconds; None = never.
    """

    share: float
    last: float | None


class FloorLooks:
    """Record of camera poses, and of the floor that was looked at from them. Not safe for threads.

    Unlike marked cells of a grid, poses can follow corrections of the map and be limited to a time window.
    Poses that are nearly the same are stored as one, with the newest stamp.
    """

    def __init__(self, config: CoverageConfig | None = None) -> None:
        self._config = config or CoverageConfig()
        self._looks: deque[Look] = deque(maxlen=COVERAGE_MAX_LOOKS)
        self._floor: Looks | None = None  # cached floor with the looks that `nearest` has already drawn
        self._laid = -math.inf  # stamp of the newest look in the cache

    def __len__(self) -> int:
        return len(self._looks)

    def look(self, stamp: float, xy: np.ndarray, heading: float) -> None:
        """Record a camera pose: position (2+,) in map, metres, and heading, radians.

        A pose that is not finite, or older than the last one, is ignored.
        """
        x, y = (float(value) for value in np.asarray(xy, float)[:2])
        if not all(math.isfinite(value) for value in (stamp, x, y, heading)):
            return
        if self._looks:
            last = self._looks[-1]
            if stamp < last.stamp:
                return
            moved = math.hypot(x - last.x, y - last.y)
            turned = abs(float(wrap_angle(np.asarray(heading - last.heading))))
            if moved < COVERAGE_STEP and turned < COVERAGE_TURN:
                self._looks[-1] = Look(stamp, last.x, last.y, last.heading)
                return
        self._looks.append(Look(stamp, x, y, heading))

    def take(self, memories: Iterable[Memory]) -> None:
        """Record the robot's pose of each segment among the memories, such as those of an earlier session."""
        for memory in sorted(memories, key=lambda each: each.start):
            if memory.event is None:
                self.look(memory.end, memory.position, memory.heading)

    def move(self, correction: MapCorrection) -> None:
        """Move each camera pose by the correction of the map at its stamp."""
        for index, look in enumerate(self._looks):
            jump = correction.at(look.stamp)
            turn = math.atan2(jump[1, 0], jump[0, 0])
            x, y = jump[:2, :2] @ (look.x, look.y) + jump[:2, 3]
            self._looks[index] = Look(look.stamp, float(x), float(y), look.heading + turn)
        self._floor = None

    def clear(self) -> None:
        """Remove all camera poses, as after a change of the map."""
        self._looks.clear()
        self._floor = None

    @property
    def newest(self) -> float:
        """Return the stamp of the newest camera pose, seconds; -inf = none."""
        return self._looks[-1].stamp if self._looks else -math.inf

    def nearest(self, grid: OccupancyGrid2D) -> np.ndarray:
        """Return the least distance from which each cell was looked at, metres: (rows, columns) float32.

        The distance is inf for cells that were never looked at. Only poses recorded since the last call are
        processed, unless the map was corrected or replaced.
        """
        if self._floor is None:
            self._floor, self._laid = Looks(self._config.look_limits), -math.inf
        self._floor.set_grid(grid)
        for look in self._within((math.nextafter(self._laid, math.inf), math.inf)):
            self._floor.look((look.x, look.y), look.heading, look.stamp)
        self._laid = self.newest
        return self._floor.metres()

    def snapshot(self) -> FloorLooks:
        """Return a copy that is not affected by later recordings."""
        copy = FloorLooks(self._config)
        copy._looks = self._looks.copy()
        return copy

    def coverage(
        self,
        grid: OccupancyGrid2D,
        floor: np.ndarray,
        window: tuple[float, float] | None = None,
        check: Callable[[], None] = lambda: None,
    ) -> Coverage:
        """Return the share of the free cells in `floor` that was looked at in the window.

        floor: (rows, columns) bool. window: (begin, end), seconds; None = any time. check: called before each
        camera pose is processed; raises to stop.
        """
        wanted = floor & grid.free
        looks = Looks(self._config.look_limits)
        looks.set_grid(grid)
        for look in self._within(window):
            check()
            looks.look((look.x, look.y), look.heading, look.stamp)
        share = looks.share(wanted)
        return Coverage(0.0, None) if math.isnan(share) else Coverage(share, looks.newest(wanted))

    def _within(self, window: tuple[float, float] | None) -> list[Look]:
        begin, end = window or (-math.inf, math.inf)
        looks = [look for look in self._looks if begin <= look.stamp <= end]
        stride = max(1, math.ceil(len(looks) / COVERAGE_MAX_WINDOW))
        return looks[::-stride][::-1]

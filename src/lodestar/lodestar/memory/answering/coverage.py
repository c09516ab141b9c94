"""Share of the floor that was looked at, and when: without it nothing is "not there"."""

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


@dataclass(frozen=True)
class Look:
    """The camera looked from (x, y) along `heading` in map, metres and radians; `stamp` in seconds."""

    stamp: float
    x: float
    y: float
    heading: float


@dataclass(frozen=True)
class Coverage:
    """share: of the free floor, [0, 1]. last: when some of it was last looked at, seconds; None = never."""

    share: float
    last: float | None


class FloorLooks:
    """Poses of looks of the camera, and the floor that they cover. Not safe for threads.

    Poses survive corrections of the map and tell of windows of the past; the floor is that of `Looks`.
    Looks from nearly the same pose are one, with the newest stamp.
    """

    def __init__(self, config: CoverageConfig | None = None) -> None:
        self._config = config or CoverageConfig()
        self._looks: deque[Look] = deque(maxlen=self._config.max_looks)
        self._floor: Looks | None = None  # what `nearest` has laid over the floor already
        self._laid = -math.inf  # stamp of the last look in it

    def __len__(self) -> int:
        return len(self._looks)

    def look(self, stamp: float, xy: np.ndarray, heading: float) -> None:
        """Note a look from (2+,) in map; what is not finite or older than the last one is dropped."""
        x, y = (float(value) for value in np.asarray(xy, float)[:2])
        if not all(math.isfinite(value) for value in (stamp, x, y, heading)):
            return
        if self._looks:
            last = self._looks[-1]
            if stamp < last.stamp:
                return
            moved = math.hypot(x - last.x, y - last.y)
            turned = abs(float(wrap_angle(np.asarray(heading - last.heading))))
            if moved < self._config.step and turned < self._config.turn:
                self._looks[-1] = Look(stamp, last.x, last.y, last.heading)
                return
        self._looks.append(Look(stamp, x, y, heading))

    def take(self, memories: Iterable[Memory]) -> None:
        """Note the poses of memories: what is known of looks of a former session."""
        for memory in sorted(memories, key=lambda each: each.start):
            if memory.event is None:
                self.look(memory.end, memory.position, memory.heading)

    def move(self, correction: MapCorrection) -> None:
        """Follow a correction of the map, each look as of its stamp."""
        for index, look in enumerate(self._looks):
            jump = correction.at(look.stamp)
            turn = math.atan2(jump[1, 0], jump[0, 0])
            x, y = jump[:2, :2] @ (look.x, look.y) + jump[:2, 3]
            self._looks[index] = Look(look.stamp, float(x), float(y), look.heading + turn)
        self._floor = None

    def clear(self) -> None:
        """Forget everything: the map is another one."""
        self._looks.clear()
        self._floor = None

    @property
    def newest(self) -> float:
        """Return the stamp of the newest look, seconds; -inf = none."""
        return self._looks[-1].stamp if self._looks else -math.inf

    def nearest(self, grid: OccupancyGrid2D) -> np.ndarray:
        """Return the metres from which each cell was looked at, (rows, columns) float32; inf = never.

        Only looks since the last call are laid over the floor, unless the map has moved or is another one.
        """
        if self._floor is None:
            self._floor, self._laid = Looks(self._config.look_limits), -math.inf
        self._floor.set_grid(grid)
        for look in self._within((math.nextafter(self._laid, math.inf), math.inf)):
            self._floor.look((look.x, look.y), look.heading, look.stamp)
        self._laid = self.newest
        return self._floor.metres()

    def snapshot(self) -> FloorLooks:
        """Return a copy that later looks do not change."""
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
        """Return the share of the free cells in `floor`, (rows, columns) bool, that was looked at.

        check: called before each look; raises to stop.
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
        stride = max(1, math.ceil(len(looks) / self._config.max_window))
        return looks[::-stride][::-1]

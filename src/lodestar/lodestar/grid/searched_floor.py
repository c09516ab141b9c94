"""The floor that the robot has looked at, and from how near, as far as it counts for what it does now.

Stamps are seconds on the clock of the sensors.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy import ndimage

from lodestar.grid.config import LookConfig
from lodestar.grid.looks import Looks
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.grid.paths import path_lengths
from lodestar.grid.way_lengths import WayLengths

_NEVER = -math.inf
_LIMITS = LookConfig()
_EDGE = 8  # cells in a row that are an open edge, as of the explorer's frontiers


@dataclass(frozen=True)
class FromMemory:
    """Floor that counts by looks of before. share: of all that was looked at, [0, 1]. oldest: stamp of such a look."""

    share: float
    oldest: float


class SearchedFloor:
    """Dated looks of the camera; it knows the camera only by the robot's pose. Looks outlive a directive.

    ways: lengths from the robot, kept while neither it nor the grid changes.
    """

    def __init__(self, limits: LookConfig = _LIMITS) -> None:
        self.limits, self.ways = limits, WayLengths()
        self.restart_clock()

    def restart_clock(self) -> None:
        """The clock began anew: no look counts any more."""
        self._looks = Looks(self.limits)
        self._pose: np.ndarray | None = None
        self._noted = _NEVER

    def count_from(self, since: float) -> None:
        """Only looks since then count from now on."""
        self._looks.begin = since

    @property
    def since(self) -> float:
        """Return the stamp from which looks count."""
        return self._looks.begin

    def note(self, pose: np.ndarray, stamp: float, grid: OccupancyGrid2D | None) -> None:
        """The robot looks from pose (3,), if its last look is long enough ago."""
        if grid is None or stamp - self._noted < self.limits.interval:
            return
        self._noted, self._pose = stamp, pose
        self._looks.set_grid(grid)
        self._looks.look(pose, float(pose[2]), stamp)

    def nearest(self, grid: OccupancyGrid2D) -> np.ndarray:
        """Return the metres from which each cell was looked at, (rows, columns) float32; inf = never."""
        self._looks.set_grid(grid)
        return self._looks.metres()

    @property
    def share(self) -> float:
        """Return the share, [0, 1], of the known floor that the robot can come to; NaN where none was looked at."""
        grid, pose = self._looks.grid, self._pose
        if grid is None or pose is None or self._noted < self.since:
            return math.nan
        return self._looks.share(self._reached(grid, pose))

    def from_memory(self, begun: float, inside: np.ndarray | None = None) -> FromMemory | None:
        """Return what of the floor counts by looks of before the stamp `begun` alone; None where nothing does.

        inside: (rows, columns) bool, the floor that is meant; None = all that the robot can come to.
        """
        grid, pose, looks = self._looks.grid, self._pose, self._looks
        if grid is None or pose is None:
            return None
        floor = self._reached(grid, pose)
        if inside is not None:
            floor = floor & inside
        all_of_it, anew = (float(looks.seen(since=each)[floor].sum()) for each in (None, begun))
        oldest = looks.oldest(floor)
        if oldest is None or anew >= all_of_it:
            return None
        return FromMemory(1.0 - anew / all_of_it, oldest)

    def _reached(self, grid: OccupancyGrid2D, pose: np.ndarray) -> np.ndarray:
        return np.isfinite(self.ways.to_all(grid, pose)) & grid.free

    def in_words(self) -> str:
        """Return how much of the floor was looked at, as a sentence; "" where it is not known."""
        share = self.share
        return (
            ""
            if math.isnan(share)
            else f"I have looked at {100.0 * share:.0f} % of the floor that I can come to."
        )


def open_edges(grid: OccupancyGrid2D, pose: np.ndarray, inside: np.ndarray | None = None) -> np.ndarray:
    """Return the floor that the robot at pose (3,) can come to and that borders on unknown space, (rows, columns) bool.

    inside: (rows, columns) bool, the cells that count; None = all. Edges of a few cells are left out.
    """
    unknown = ndimage.binary_dilation(~(grid.free | grid.occupied), np.ones((3, 3)))
    edge = unknown & grid.free & np.isfinite(path_lengths(grid, pose[:2]))
    if inside is not None:
        edge &= inside
    labels, _ = ndimage.label(edge, np.ones((3, 3)))
    return (np.bincount(labels.ravel()) >= _EDGE)[labels] & edge

"""Thinned grids of a run, for pictures of the growing map."""

from __future__ import annotations

from lodestar.grid.occupancy import OccupancyGrid2D

_MOST = 24  # most grids that are kept; chosen: 1 MB each in a large building


class GrowingMap:
    """Keeps grids of a run at even intervals. Not thread-safe.

    Above `_MOST` grids, every second one is dropped and the interval doubles.
    """

    def __init__(self, interval: float = 1.0) -> None:
        self._interval = interval  # s between kept grids
        self._grids: list[OccupancyGrid2D] = []

    def take(self, grid: OccupancyGrid2D) -> None:
        """Keep a grid if it is `interval` newer than the last kept one."""
        if self._grids and grid.stamp < self._grids[-1].stamp + self._interval:
            return
        self._grids.append(grid)
        if len(self._grids) > _MOST:
            self._grids = self._grids[::2]
            self._interval *= 2.0

    def between(self, begin: float, end: float) -> tuple[OccupancyGrid2D, ...]:
        """Return the kept grids from `begin` to `end`, s, the oldest first."""
        return tuple(grid for grid in self._grids if begin <= grid.stamp <= end)

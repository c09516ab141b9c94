"""The grids of a run, thinned, for pictures of how its map grew."""

from __future__ import annotations

import numpy as np

from lodestar.grid.occupancy import OccupancyGrid2D

_PICTURES = 5
_MOST = 40  # grids that are kept at most; chosen: 1 MB each in a large building


class GrowingMap:
    """Grids of a run at even intervals, of which every second one is forgotten beyond `_MOST`. Not safe for threads."""

    def __init__(self, interval: float = 1.0) -> None:
        self._interval = interval  # s
        self._grids: list[OccupancyGrid2D] = []

    def take(self, grid: OccupancyGrid2D) -> None:
        """Keep a grid where it is `interval` newer than the last one that was kept."""
        if self._grids and grid.stamp < self._grids[-1].stamp + self._interval:
            return
        self._grids.append(grid)
        if len(self._grids) > _MOST:
            self._grids = self._grids[::2]
            self._interval *= 2.0

    def between(self, begin: float, end: float) -> tuple[OccupancyGrid2D, ...]:
        """Return five grids, or as many as there are, at even times from `begin` to `end`, s."""
        grids = [grid for grid in self._grids if begin <= grid.stamp <= end]
        if not grids:
            return ()
        stamps = np.array([grid.stamp for grid in grids])
        wanted = np.linspace(begin, end, _PICTURES + 1)[1:]
        nearest = np.abs(stamps[None] - wanted[:, None]).argmin(axis=1)
        return tuple(grids[i] for i in sorted(set(nearest.tolist())))

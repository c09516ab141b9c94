"""The share of the floor that the robot has looked at during a directive."""

from __future__ import annotations

import math

import numpy as np

from lodestar.agent.stamps import NEVER, Stamp
from lodestar.grid.extent_change import carried_over
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.grid.paths import path_lengths
from lodestar.grid.visibility import visible_mask

LOOK_RANGE = 4.0  # m within which a thing on the floor is recognised; the nearer look range of the explorer
FIELD = math.radians(75.0)  # rad of the camera's field of view, without its edges; chosen
_EVERY = 0.5  # s (stamps) between two looks that are noted


class SearchedFloor:
    """Notes where the camera looked. It knows the camera only by the robot's pose, and a look ends at an obstacle."""

    def __init__(self) -> None:
        self.begin()

    def begin(self) -> None:
        """A directive begins: nothing was looked at."""
        self._looked: np.ndarray | None = None  # (rows, columns) bool
        self._grid: OccupancyGrid2D | None = None
        self._pose: np.ndarray | None = None
        self._noted = NEVER

    def note(self, pose: np.ndarray, stamp: Stamp, grid: OccupancyGrid2D | None) -> None:
        """The robot looks from pose (3,), if its last look is long enough ago."""
        if grid is None or stamp - self._noted < _EVERY:
            return
        self._noted, self._pose = stamp, pose
        before = np.zeros(grid.cells.shape, bool) if self._looked is None else self._looked
        looked = carried_over(before, grid if self._looked is None else self._grid, grid, False)
        self._looked = looked | visible_mask(grid, pose[:2], LOOK_RANGE, FIELD, float(pose[2]))
        self._grid = grid

    @property
    def share(self) -> float:
        """Return the share, [0, 1], of the known floor that the robot can come to; NaN where none was looked at."""
        if self._looked is None or self._grid is None or self._pose is None:
            return math.nan
        reached = np.isfinite(path_lengths(self._grid, self._pose[:2])) & self._grid.free
        total = int(reached.sum())
        return float((self._looked & reached).sum() / total) if total else math.nan

    def in_words(self) -> str:
        """Return how much of the floor was looked at, as a sentence; "" where it is not known."""
        share = self.share
        return (
            ""
            if math.isnan(share)
            else f"I have looked at {100.0 * share:.0f} % of the floor that I can come to."
        )

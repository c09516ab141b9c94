"""The floor that the robot has looked at during a directive, and from how near."""

from __future__ import annotations

import math

import numpy as np
from scipy import ndimage

from lodestar.agent.facts.stamps import NEVER, Stamp
from lodestar.grid.extent_change import carried_over
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.grid.paths import path_lengths
from lodestar.grid.visibility import visible_mask

LOOK_RANGE = 4.0  # m within which a thing on the floor is recognised; the nearer look range of the explorer
FIELD = math.radians(75.0)  # rad of the camera's field of view, without its edges; chosen
_EDGE = 8  # cells in a row that are an open edge, as of the explorer's frontiers
_EVERY = 0.5  # s (stamps) between two looks that are noted


class SearchedFloor:
    """Notes where the camera looked. It knows the camera only by the robot's pose, and a look ends at an obstacle."""

    def __init__(self) -> None:
        self.begin()

    def begin(self) -> None:
        """A directive begins: nothing was looked at."""
        self._nearest: np.ndarray | None = None  # (rows, columns) float32 metres, inf = never looked at
        self._grid: OccupancyGrid2D | None = None
        self._pose: np.ndarray | None = None
        self._noted = NEVER

    def note(self, pose: np.ndarray, stamp: Stamp, grid: OccupancyGrid2D | None) -> None:
        """The robot looks from pose (3,), if its last look is long enough ago."""
        if grid is None or stamp - self._noted < _EVERY:
            return
        self._noted, self._pose = stamp, pose
        self._nearest = looked(self.nearest(grid), pose, grid, FIELD)
        self._grid = grid

    def nearest(self, grid: OccupancyGrid2D) -> np.ndarray:
        """Return the metres from which each cell was looked at, (rows, columns) float32; inf = never."""
        never = np.full(grid.cells.shape, np.inf, np.float32)
        return never if self._nearest is None else carried_over(self._nearest, self._grid, grid, np.inf)

    @property
    def share(self) -> float:
        """Return the share, [0, 1], of the known floor that the robot can come to; NaN where none was looked at."""
        if self._nearest is None or self._grid is None or self._pose is None:
            return math.nan
        reached = np.isfinite(path_lengths(self._grid, self._pose[:2])) & self._grid.free
        total = int(reached.sum())
        return float((np.isfinite(self._nearest) & reached).sum() / total) if total else math.nan

    def in_words(self) -> str:
        """Return how much of the floor was looked at, as a sentence; "" where it is not known."""
        share = self.share
        return (
            ""
            if math.isnan(share)
            else f"I have looked at {100.0 * share:.0f} % of the floor that I can come to."
        )


def looked(nearest: np.ndarray, pose: np.ndarray, grid: OccupancyGrid2D, field: float) -> np.ndarray:
    """Return `nearest` after a look from pose (3,) within `LOOK_RANGE`. field: radians, around the pose's heading."""
    cells = np.nonzero(visible_mask(grid, pose[:2], LOOK_RANGE, field, float(pose[2])))
    points = grid.points_of(np.column_stack(cells))
    after = nearest.copy()
    after[cells] = np.minimum(after[cells], np.hypot(*(points - pose[:2]).T))
    return after


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

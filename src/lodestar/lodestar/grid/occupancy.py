"""The 2D occupancy grid used by all planning."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property

import cv2
import numpy as np

UNKNOWN = -1
FREE = 0
OCCUPIED = 100
#: Value in a keep-out mask: forbidden for goals; costly, not closed, for a navigator that scales values (ADR 0051).
HELD_BACK = 50
#: Value in a keep-out mask at a person; it falls to 1 at the comfort distance. Costly and never forbidden.
COMFORT = 40

_KEPT = 8  # cached arrays per grid; chosen: preferred, possible and hoped paths from two places
_KEPT_BYTES = 64 << 20  # bytes of these arrays; chosen: eight for a plan of 70 x 70 m at 0.05 m
# guards all grids' caches; one lock for all, so that a grid can be copied and pickled
_keeping = threading.Lock()


def distance_to(mask: np.ndarray, resolution: float) -> np.ndarray:
    """Return the distances (rows, columns) float32, metres, from each cell to the nearest cell of `mask`.

    Distances are between centres; inf everywhere if the mask is empty. mask: (rows, columns) bool.
    """
    if not mask.any():
        return np.full(mask.shape, np.inf, np.float32)
    distance = cv2.distanceTransform((~mask).astype(np.uint8), cv2.DIST_L2, cv2.DIST_MASK_PRECISE)
    return distance * np.float32(resolution)


@dataclass(frozen=True)
class OccupancyGrid2D:
    """2D occupancy grid with the values of nav_msgs/OccupancyGrid.

    cells: (rows, columns) int8; -1 unknown, 0 free .. 100 occupied; row 0 has the lowest y. An empty grid becomes one
    unknown cell.
    """

    cells: np.ndarray
    resolution: float  # metres per cell
    origin: tuple[float, float]  # (x, y) of the outer corner of cell (0, 0) in `frame`, metres
    stamp: float = 0.0  # seconds
    frame: str = "map"
    # cell value from which a cell is occupied; known cells below are free (Nav2's default)
    occupied_from: int = 65
    # (rows, columns) bool, cells that the robot must not enter but that do not block the view
    keep_out: np.ndarray | None = None
    # (rows, columns) int8, 0 = no person within the comfort distance, COMFORT = at a person
    comfort: np.ndarray | None = None

    def __post_init__(self) -> None:
        """Replace an empty grid by one unknown cell: OpenCV aborts the process on an image without pixels."""
        if not self.cells.size:
            object.__setattr__(self, "cells", np.full((1, 1), UNKNOWN, np.int8))
            object.__setattr__(self, "keep_out", None)
            object.__setattr__(self, "comfort", None)

    @property
    def free(self) -> np.ndarray:
        """Return (rows, columns) bool: cells that are known and not occupied."""
        return (self.cells >= 0) & (self.cells < self.occupied_from)

    @property
    def occupied(self) -> np.ndarray:
        """Return (rows, columns) bool: occupied cells."""
        return self.cells >= self.occupied_from

    @cached_property
    def barred_cells(self) -> np.ndarray:
        """Return (rows, columns) int8: the cells with keep-out cells marked as occupied."""
        return self.cells if self.keep_out is None else np.where(self.keep_out, np.int8(OCCUPIED), self.cells)

    @property
    def barred(self) -> np.ndarray:
        """Return (rows, columns) bool: occupied or keep-out cells."""
        return self.barred_cells >= self.occupied_from

    @cached_property
    def clearance(self) -> np.ndarray:
        """Return (rows, columns) float32, read-only: metres from each cell to the nearest barred one.

        Distances are between centres.
        """
        distance = distance_to(self.barred, self.resolution)
        distance.setflags(write=False)
        return distance

    @cached_property
    def _kept(self) -> dict[Hashable, np.ndarray]:
        return {}

    def kept(self, key: Hashable, make: Callable[[], np.ndarray]) -> np.ndarray:
        """Return the array that `make` computes for this grid, read-only and cached under `key`.

        The cache holds at most _KEPT arrays of _KEPT_BYTES in total; the least recently used one is dropped
        first, the newest one never. If two threads call `make` at once, both get the same array.
        """
        with _keeping:
            kept = self._kept
            values = kept.pop(key, None)
            if values is not None:
                kept[key] = values  # to the end: most recently used
                return values
        values = make()
        values.setflags(write=False)
        with _keeping:
            values = kept.pop(key, values)  # another thread may have been first
            kept[key] = values
            total = sum(array.nbytes for array in kept.values())
            while len(kept) > 1 and (len(kept) > _KEPT or total > _KEPT_BYTES):
                total -= kept.pop(next(iter(kept))).nbytes
        return values

    @property
    def unknown(self) -> np.ndarray:
        """Return (rows, columns) bool: unknown cells."""
        return self.cells < 0

    def cells_of(self, points: np.ndarray) -> np.ndarray:
        """Return the cells (N, 2) int (row, column) of points (N, 2+), metres.

        Cells may lie outside the grid.
        """
        points = np.asarray(points, dtype=np.float64)
        columns = np.floor((points[..., 0] - self.origin[0]) / self.resolution).astype(np.int64)
        rows = np.floor((points[..., 1] - self.origin[1]) / self.resolution).astype(np.int64)
        return np.stack([rows, columns], axis=-1)

    def points_of(self, cells: np.ndarray) -> np.ndarray:
        """Return the centres (N, 2) float64 (x, y), metres, of cells (N, 2) (row, column)."""
        cells = np.asarray(cells, dtype=np.float64)
        x = self.origin[0] + (cells[..., 1] + 0.5) * self.resolution
        y = self.origin[1] + (cells[..., 0] + 0.5) * self.resolution
        return np.stack([x, y], axis=-1)

    def contains(self, cells: np.ndarray) -> np.ndarray:
        """Return (N,) bool: which cells (N, 2) (row, column) lie on the grid."""
        rows, columns = self.cells.shape
        row, column = cells[..., 0], cells[..., 1]
        return (row >= 0) & (row < rows) & (column >= 0) & (column < columns)

    def around(self, xy: Sequence[float] | np.ndarray, radius: float) -> np.ndarray:
        """Return the cells of the square of half side `radius` metres about `xy`: (n, n) int8.

        Values: -1 unknown, 0 free, 1 occupied; cells off the grid are unknown. n depends only on radius and
        resolution.
        """
        reach = math.ceil(radius / self.resolution)
        row, column = (int(v) for v in self.cells_of(np.asarray(xy, np.float64)[None, :2])[0])
        window = np.full((2 * reach + 1, 2 * reach + 1), -1, np.int8)
        rows, columns = self.cells.shape
        top, left = max(row - reach, 0), max(column - reach, 0)
        bottom, right = min(row + reach + 1, rows), min(column + reach + 1, columns)
        if top < bottom and left < right:
            cells = self.cells[top:bottom, left:right]
            known = np.where(cells < 0, -1, np.where(cells >= self.occupied_from, 1, 0))
            r, c = top - (row - reach), left - (column - reach)
            window[r : r + bottom - top, c : c + right - left] = known
        return window

    def has_obstacle(self, xy: np.ndarray, radius: float) -> bool:
        """Return whether a cell of the square with half side `radius` metres about `xy` is occupied."""
        steps = np.arange(-radius, radius + 1e-9, self.resolution)
        cells = self.cells_of(xy + np.stack(np.meshgrid(steps, steps), axis=-1).reshape(-1, 2))
        cells = cells[self.contains(cells)]
        return bool(self.occupied[cells[:, 0], cells[:, 1]].any())

    @property
    def free_area(self) -> float:
        """Return the area known to be free, m^2."""
        return float(self.free.sum()) * self.resolution**2

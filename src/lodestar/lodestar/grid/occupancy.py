"""The occupancy grid that everything plans on."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import cv2
import numpy as np

UNKNOWN = -1
FREE = 0
OCCUPIED = 100


def distance_to(mask: np.ndarray, resolution: float) -> np.ndarray:
    """Metres from each cell's centre to the centre of the nearest cell of `mask`.

    mask: (rows, columns) bool. Returns (rows, columns) float32; all inf where the mask is empty.
    """
    if not mask.any():
        return np.full(mask.shape, np.inf, np.float32)
    distance = cv2.distanceTransform((~mask).astype(np.uint8), cv2.DIST_L2, cv2.DIST_MASK_PRECISE)
    return distance * np.float32(resolution)


@dataclass(frozen=True)
class OccupancyGrid2D:
    """Cells in plan, as nav_msgs/OccupancyGrid has them.

    cells: (rows, columns) int8; -1 unknown, 0 free .. 100 occupied; row 0 has the lowest y. Without any it is one
    unknown cell.
    resolution: metres per cell. origin: (x, y) of the outer corner of cell (0, 0), in `frame`, metres.
    keep_out: (rows, columns) bool, cells that the robot may not stand on though nothing is there, or None. They do
    not block the view.
    """

    cells: np.ndarray
    resolution: float
    origin: tuple[float, float]
    stamp: float = 0.0
    frame: str = "map"
    occupied_from: int = 65  # from this value on a cell is occupied, below it free (Nav2)
    keep_out: np.ndarray | None = None

    def __post_init__(self) -> None:
        """A grid that knows of no cell has one unknown cell: OpenCV ends the process on a picture without pixels."""
        if not self.cells.size:
            object.__setattr__(self, "cells", np.full((1, 1), UNKNOWN, np.int8))
            object.__setattr__(self, "keep_out", None)

    @property
    def free(self) -> np.ndarray:
        """(rows, columns) bool, known and not occupied."""
        return (self.cells >= 0) & (self.cells < self.occupied_from)

    @property
    def occupied(self) -> np.ndarray:
        """(rows, columns) bool."""
        return self.cells >= self.occupied_from

    @cached_property
    def barred_cells(self) -> np.ndarray:
        """The cells with those to keep out of as occupied ones."""
        return self.cells if self.keep_out is None else np.where(self.keep_out, np.int8(OCCUPIED), self.cells)

    @property
    def barred(self) -> np.ndarray:
        """(rows, columns) bool, occupied or to be kept out of."""
        return self.barred_cells >= self.occupied_from

    @cached_property
    def clearance(self) -> np.ndarray:
        """(rows, columns) float32, read-only: metres from each cell's centre to that of the nearest barred cell."""
        distance = distance_to(self.barred, self.resolution)
        distance.setflags(write=False)
        return distance

    @property
    def unknown(self) -> np.ndarray:
        """(rows, columns) bool."""
        return self.cells < 0

    def cells_of(self, points: np.ndarray) -> np.ndarray:
        """Cells (N, 2) int (row, column) that hold points (N, 2+), metres; may lie outside the grid."""
        points = np.asarray(points, dtype=np.float64)
        columns = np.floor((points[..., 0] - self.origin[0]) / self.resolution).astype(np.int64)
        rows = np.floor((points[..., 1] - self.origin[1]) / self.resolution).astype(np.int64)
        return np.stack([rows, columns], axis=-1)

    def points_of(self, cells: np.ndarray) -> np.ndarray:
        """Centres (N, 2) float64 (x, y), metres, of cells (N, 2) (row, column)."""
        cells = np.asarray(cells, dtype=np.float64)
        x = self.origin[0] + (cells[..., 1] + 0.5) * self.resolution
        y = self.origin[1] + (cells[..., 0] + 0.5) * self.resolution
        return np.stack([x, y], axis=-1)

    def contains(self, cells: np.ndarray) -> np.ndarray:
        """(N,) bool, which cells (N, 2) (row, column) lie on the grid."""
        rows, columns = self.cells.shape
        row, column = cells[..., 0], cells[..., 1]
        return (row >= 0) & (row < rows) & (column >= 0) & (column < columns)

    @property
    def free_area(self) -> float:
        """Area known to be free, m^2."""
        return float(self.free.sum()) * self.resolution**2

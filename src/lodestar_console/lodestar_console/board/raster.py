"""A raster of bytes over the floor, in tiles with revisions; clients receive the changed rectangle."""

from __future__ import annotations

import threading
from dataclasses import dataclass

import numpy as np

TILE = 32  # cells, side of a tile
MOST_CELLS = 64 * 2**20


@dataclass(frozen=True)
class RasterChange:
    """A rectangle of a raster that changed.

    cells: (h, w) uint8, row 0 at the lowest y; x0, y0: column and row of its first cell; origin: x, y, yaw (m, rad) of
    the raster's corner in map; size: columns and rows of the raster; whole: whether all cells are contained.
    """

    revision: int
    previous: int
    stamp: float
    resolution: float
    origin: tuple[float, float, float]
    size: tuple[int, int]
    x0: int
    y0: int
    cells: np.ndarray
    whole: bool


class TiledRaster:
    """Holder of the newest raster. Thread-safe; cell arrays are replaced, never modified."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._cells = np.zeros((0, 0), np.uint8)
        self._tiles = np.zeros((0, 0), np.int64)
        self._place: tuple[float, tuple[float, float, float]] | None = None
        self._whole_since = 0  # revision at which size, resolution or origin changed
        self.revision = 0
        self.stamp = 0.0

    def show(
        self, cells: np.ndarray, resolution: float, origin: tuple[float, float, float], stamp: float
    ) -> bool:
        """Replace the raster by cells (h, w) uint8; return whether it changed. Raises ValueError for invalid cells."""
        if cells.ndim != 2 or cells.dtype != np.uint8 or cells.size > MOST_CELLS or not resolution > 0.0:
            raise ValueError(
                f"a raster of {cells.shape} {cells.dtype} cells of {resolution} m cannot be shown"
            )
        place = resolution, origin
        with self._lock:
            if place != self._place or cells.shape != self._cells.shape:
                self.revision += 1
                rows, columns = (-(-n // TILE) for n in cells.shape)
                self._tiles = np.full((rows, columns), self.revision, np.int64)
                self._whole_since = self.revision
            else:
                differs = cells != self._cells
                if not differs.any():
                    return False
                self.revision += 1
                self._tiles[_by_tile(differs)] = self.revision
            self._cells, self._place, self.stamp = cells.copy(), place, stamp
        return True

    def since(self, revision: int) -> RasterChange | None:
        """Return the rectangle that changed since a revision, None = unchanged."""
        with self._lock:
            if self._place is None or revision == self.revision:
                return None
            height, width = self._cells.shape
            whole = not self._whole_since <= revision <= self.revision
            y0, y1, x0, x1 = 0, height, 0, width
            if not whole:
                rows, columns = np.nonzero(self._tiles > revision)
                y0, y1 = int(rows.min()) * TILE, min((int(rows.max()) + 1) * TILE, height)
                x0, x1 = int(columns.min()) * TILE, min((int(columns.max()) + 1) * TILE, width)
            resolution, origin = self._place
            return RasterChange(
                revision=self.revision,
                previous=0 if whole else revision,
                stamp=self.stamp,
                resolution=resolution,
                origin=origin,
                size=(width, height),
                x0=x0,
                y0=y0,
                cells=self._cells[y0:y1, x0:x1],
                whole=whole,
            )

    def picture(self) -> tuple[np.ndarray, float, tuple[float, float, float]] | None:
        """Return cells (h, w), resolution (m) and origin (x, y, yaw) of the whole raster, None if not set yet."""
        with self._lock:
            return None if self._place is None else (self._cells, *self._place)


def _by_tile(differs: np.ndarray) -> np.ndarray:
    """Return a bool array with one entry per tile: whether any of its cells differs."""
    height, width = differs.shape
    padded = np.zeros((-(-height // TILE) * TILE, -(-width // TILE) * TILE), bool)
    padded[:height, :width] = differs
    return np.asarray(padded.reshape(padded.shape[0] // TILE, TILE, -1, TILE).any(axis=(1, 3)))

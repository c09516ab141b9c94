"""Coverage of a building's floor and of its obstacles, by ground truth."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import ndimage
from scipy.spatial import cKDTree

from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar_sim.robot import CollisionRaster
from lodestar_sim.worlds import World

CELL = 0.1  # m, side of a floor cell
_FINE = 0.02  # m, cell of the raster of the true geometry
_BESIDE = 1.0  # m, distance from the path within which obstacles are checked; chosen


def reachable_floor(world: World, start: Sequence[float] | np.ndarray) -> np.ndarray:
    """Return centres (N, 2), metres, of the free cells of 0.1 m connected with the start (x, y, ...)."""
    geometry = world.geometry()
    raster = CollisionRaster(geometry.vertices, geometry.triangles, _FINE)
    factor = round(CELL / _FINE)
    rows, columns = (-(-size // factor) for size in raster.cells.shape)
    padded = np.zeros((rows * factor, columns * factor), bool)
    padded[: raster.cells.shape[0], : raster.cells.shape[1]] = raster.cells != 0
    free = ~padded.reshape(rows, factor, columns, factor).any(axis=(1, 3))
    pieces, _ = ndimage.label(free)
    ys, xs = np.nonzero(free)
    centres = np.stack([xs, ys], axis=1) * CELL + raster.origin + CELL / 2.0
    if not len(centres):
        return centres
    nearest = int(np.argmin(np.hypot(centres[:, 0] - start[0], centres[:, 1] - start[1])))
    return centres[pieces[ys, xs] == pieces[ys[nearest], xs[nearest]]]


def known_share(floor: np.ndarray, grid: OccupancyGrid2D | None) -> float:
    """Return the share in [0, 1] of the cells of `reachable_floor` that the grid knows; 0 without a grid."""
    if grid is None or not len(floor):
        return 0.0
    cells = grid.cells_of(floor)
    inside = grid.contains(cells)
    known = np.zeros(len(cells), bool)
    known[inside] = ~grid.unknown[cells[inside, 0], cells[inside, 1]]
    return float(known.mean())


def marked_share(solid: np.ndarray, way: np.ndarray, grid: OccupancyGrid2D | None) -> float:
    """Return the share in [0, 1] of the obstacles beside a path that lie at most one cell from an occupied cell.

    solid: (N, 2) metres, places on the floor that the robot may not touch. way: (M, 2) metres. NaN without a grid or
    without obstacles within `_BESIDE` metres of the path.
    """
    if grid is None or not len(solid) or not len(way):
        return float("nan")
    away, _ = cKDTree(way).query(solid, distance_upper_bound=_BESIDE)
    beside = solid[np.isfinite(away)]
    if not len(beside):
        return float("nan")
    cells, marked = grid.cells_of(beside), ndimage.binary_dilation(grid.occupied, np.ones((3, 3)))
    inside = grid.contains(cells)
    return float((marked[cells[inside, 0], cells[inside, 1]]).sum() / len(beside))

"""Visibility on the 2D grid: rays end at occupied cells and pass unknown cells."""

from __future__ import annotations

import math

import numpy as np
from numba import njit
from numpy.typing import ArrayLike

from lodestar.grid.occupancy import OccupancyGrid2D


@njit(cache=True)
def ray_cells(cells, occupied_from, u0, v0, du, dv, reach, flat, entered):
    """Trace a ray through the grid; return the number n of cells that it enters.

    The ray starts at (u0, v0) and runs along the unit vector (du, dv) over at most `reach`; all in units of
    cells. flat[:n] are the flat indices of the cells, entered[:n] the distances at which the ray enters them.
    The first cell is the start's own, at distance 0, if it lies on the grid. An obstacle ends the ray and is
    then its last cell; an occupied start cell does not end it. Buffers need 2 * reach + 4 entries. For njit
    callers.
    """
    rows, columns = cells.shape
    column, row = math.floor(u0), math.floor(v0)
    step_u, step_v = (1 if du > 0 else -1), (1 if dv > 0 else -1)
    next_u = ((column + (du > 0)) - u0) / du if abs(du) > 1e-12 else math.inf
    next_v = ((row + (dv > 0)) - v0) / dv if abs(dv) > 1e-12 else math.inf
    gap_u = abs(1.0 / du) if abs(du) > 1e-12 else math.inf
    gap_v = abs(1.0 / dv) if abs(dv) > 1e-12 else math.inf
    travelled = 0.0
    count = 0
    while travelled < reach:
        if 0 <= row < rows and 0 <= column < columns:
            flat[count] = row * columns + column
            entered[count] = travelled
            count += 1
            if travelled > 0.0 and cells[row, column] >= occupied_from:
                break
        elif count > 0:
            break  # a ray cannot re-enter the grid
        travelled = min(next_u, next_v)
        if next_u < next_v:
            column += step_u
            next_u += gap_u
        else:
            row += step_v
            next_v += gap_v
    return count


@njit(cache=True)
def ray_buffers(reach):
    """Return buffers for the cells of one ray of `reach` cells: int64 and float64."""
    size = 2 * math.ceil(reach) + 4
    return np.empty(size, np.int64), np.empty(size, np.float64)


@njit(cache=True)
def _sight(cells, resolution, x0, y0, occupied_from, starts, ends, ignore_last):
    result = np.ones(len(ends), np.bool_)
    longest = 0.0
    for i in range(len(ends)):
        longest = max(longest, math.hypot(ends[i, 0] - starts[i, 0], ends[i, 1] - starts[i, 1]) / resolution)
    flat, entered = ray_buffers(longest)
    values = cells.ravel()
    for i in range(len(ends)):
        u0 = (starts[i, 0] - x0) / resolution
        v0 = (starts[i, 1] - y0) / resolution
        du = (ends[i, 0] - x0) / resolution - u0
        dv = (ends[i, 1] - y0) / resolution - v0
        length = math.hypot(du, dv)
        limit = length - ignore_last / resolution
        if length < 1e-9 or limit <= 0.0:
            continue
        n = ray_cells(cells, occupied_from, u0, v0, du / length, dv / length, limit, flat, entered)
        result[i] = n == 0 or entered[n - 1] == 0.0 or values[flat[n - 1]] < occupied_from
    return result


def sight_between(
    grid: OccupancyGrid2D, starts_xy: ArrayLike, ends_xy: ArrayLike, ignore_last: float = 0.0
) -> np.ndarray:
    """Return (N,) bool: whether no occupied cell blocks the view from starts (N, 2) to ends (N, 2), pairwise.

    The start's cell, cells within the last `ignore_last` metres (furniture under a target), and space off the
    grid do not block the view.
    """
    ends = np.ascontiguousarray(ends_xy, np.float64).reshape(-1, 2)
    return _sight(
        grid.cells,
        grid.resolution,
        float(grid.origin[0]),
        float(grid.origin[1]),
        grid.occupied_from,
        # copy: numba would compile a second version for the read-only array of broadcast_to
        np.array(np.broadcast_to(np.asarray(starts_xy, np.float64), ends.shape), order="C"),
        ends,
        float(ignore_last),
    )


def line_of_sight(
    grid: OccupancyGrid2D, start_xy: ArrayLike, ends_xy: ArrayLike, ignore_last: float = 0.0
) -> np.ndarray:
    """Return (N,) bool: which ends (N, 2) are visible from `start_xy` (2,); see `sight_between`."""
    return sight_between(grid, np.asarray(start_xy, np.float64)[:2], ends_xy, ignore_last)


@njit(cache=True)
def _see(cells, occupied_from, u0, v0, reach, fov, heading, seen):
    """Mark the cells visible from (u0, v0) in `seen`; lengths are in units of cells."""
    flat, entered = ray_buffers(reach)
    marks = seen.ravel()
    rays = max(8, math.ceil(fov * reach * 1.5))
    full = fov >= 2.0 * math.pi - 1e-9
    for i in range(rays):
        share = i / rays if full else i / (rays - 1)
        angle = heading - fov / 2.0 + fov * share
        n = ray_cells(cells, occupied_from, u0, v0, math.cos(angle), math.sin(angle), reach, flat, entered)
        marks[flat[:n]] = True


def visible_mask(
    grid: OccupancyGrid2D, xy: ArrayLike, max_range: float, fov: float = 2.0 * math.pi, heading: float = 0.0
) -> np.ndarray:
    """Return (rows, columns) bool: cells visible from `xy` within `max_range` metres.

    The first occupied cell on a ray is visible too. Unknown cells are visible and let rays pass. `fov`:
    radians, centred on `heading`.
    """
    seen = np.zeros(grid.cells.shape, np.bool_)
    x, y = np.asarray(xy, np.float64)[:2]
    u0, v0 = (x - grid.origin[0]) / grid.resolution, (y - grid.origin[1]) / grid.resolution
    reach = max_range / grid.resolution
    _see(grid.cells, grid.occupied_from, u0, v0, reach, float(fov), float(heading), seen)
    return seen


@njit(cache=True)
def sight_directions(reach):
    """Return the cosines and sines, (N,) float64 each, of rays that hit every cell within `reach` cells."""
    rays = max(8, math.ceil(2.0 * math.pi * reach * 1.5))
    angles = 2.0 * math.pi * (np.arange(rays) / rays) - math.pi
    return np.cos(angles), np.sin(angles)


@njit(cache=True)
def least_in_sight(cells, occupied_from, lengths, allowed, row0, column0, reach, cosines, sines):
    """Return the flat index of the visible `allowed` cell with the least value in `lengths`; -1 = none.

    lengths, allowed: (rows, columns) float and bool. A cell is visible if a ray from the centre of (row0,
    column0) hits it within `reach` cells. Equals the minimum over `visible_mask`, without building a mask.
    cosines, sines: of `sight_directions`.
    """
    rows, columns = cells.shape
    u0, v0 = column0 + 0.5, row0 + 0.5
    best, least = -1, np.inf
    for i in range(len(cosines)):
        du, dv = cosines[i], sines[i]
        column, row = column0, row0
        step_u, step_v = (1 if du > 0 else -1), (1 if dv > 0 else -1)
        next_u = ((column + (du > 0)) - u0) / du if abs(du) > 1e-12 else math.inf
        next_v = ((row + (dv > 0)) - v0) / dv if abs(dv) > 1e-12 else math.inf
        gap_u = abs(1.0 / du) if abs(du) > 1e-12 else math.inf
        gap_v = abs(1.0 / dv) if abs(dv) > 1e-12 else math.inf
        travelled = 0.0
        while travelled < reach and 0 <= row < rows and 0 <= column < columns:
            if allowed[row, column]:
                length, at = lengths[row, column], row * columns + column
                if length < least or (length == least and at < best):
                    least, best = length, at
            if travelled > 0.0 and cells[row, column] >= occupied_from:
                break
            travelled = min(next_u, next_v)
            if next_u < next_v:
                column += step_u
                next_u += gap_u
            else:
                row += step_v
                next_v += gap_v
    return best

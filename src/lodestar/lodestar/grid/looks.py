"""Record of looks: per cell the nearest and the newest camera observation, and their number.

A look is one observation of a cell by the camera. All code that asks whether a place was looked at reads such
a record, with the limits of one `LookConfig`.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit
from numpy.typing import ArrayLike

from lodestar.grid.config import LookConfig
from lodestar.grid.extent_change import carried_over
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.grid.visibility import ray_buffers, ray_cells

NEVER = np.iinfo(np.uint16).max  # value of `nearest` for a cell without a look
_LIMITS = LookConfig()
_MOST = np.iinfo(np.uint16).max  # largest count of looks


@njit(cache=True)
def _date(cell, last, counts, since, stamp, begin, enough):
    """Record a look at the cell of flat index `cell`; return whether its previous look is before `begin`.

    last, counts, since: flat arrays of `Looks`. Several rays of one look count once; a look that is not newer
    than the last is ignored.
    """
    before = last[cell]
    if stamp <= before:
        return False
    last[cell] = stamp
    if counts[cell] < _MOST:
        counts[cell] += 1
    if len(since) and counts[cell] == enough:
        since[cell] = stamp
    return before < begin


@njit(cache=True)
def _look(
    cells,
    occupied_from,
    nearest,
    last,
    counts,
    since,
    stamp,
    begin,
    enough,
    u0,
    v0,
    reach,
    fov,
    heading,
    scale,
):
    """Record a look at all cells in view, in the flat arrays of `Looks`.

    u0, v0: camera, in cells. reach: range, in cells. scale: centimetres per cell.
    """
    flat, entered = ray_buffers(reach)
    rays = max(8, math.ceil(fov * reach * 1.5))
    full = fov >= 2.0 * math.pi - 1e-9
    for i in range(rays):
        angle = heading - fov / 2.0 + fov * (i / rays if full else i / (rays - 1))
        n = ray_cells(cells, occupied_from, u0, v0, math.cos(angle), math.sin(angle), reach, flat, entered)
        for k in range(n):
            cell, distance = flat[k], math.ceil(entered[k] * scale)
            if _date(cell, last, counts, since, stamp, begin, enough) or distance < nearest[cell]:
                nearest[cell] = distance


@njit(cache=True)
def _share(floor, nearest, last, within, since):
    """Return two numbers of `floor` cells: those seen from nearby and recently, and all.

    within: centimetres. since: stamp.
    """
    seen = total = 0
    for cell in range(len(floor)):
        if floor[cell]:
            total += 1
            seen += nearest[cell] <= within and last[cell] >= since
    return seen, total


@njit(cache=True)
def _lower(cells, occupied_from, metres, u0, v0, reach, fov, heading, resolution):
    flat, entered = ray_buffers(reach)
    marks = metres.ravel()
    rays = max(8, math.ceil(fov * reach * 1.5))
    full = fov >= 2.0 * math.pi - 1e-9
    for i in range(rays):
        angle = heading - fov / 2.0 + fov * (i / rays if full else i / (rays - 1))
        n = ray_cells(cells, occupied_from, u0, v0, math.cos(angle), math.sin(angle), reach, flat, entered)
        for k in range(n):
            marks[flat[k]] = min(marks[flat[k]], np.float32(entered[k] * resolution))


class Looks:
    """Looks (observations by the camera) at the cells of the newest grid. Not safe for threads.

    nearest: (rows, columns) uint16, centimetres of the nearest look, NEVER = none. last: (rows, columns)
    float64, stamp of the newest look, seconds; -inf = none. counts: (rows, columns) uint16, number of looks.
    since: (rows, columns) float64, stamp of the look with number `enough`; inf = there were fewer. begin:
    stamp from which looks count; it may be set to an earlier one. If a cell's last look is before `begin`,
    the next look replaces its distance. Cells that leave the grid are forgotten.

    With `layers`, `nearest` has that many entries as its last axis; the owner then fills nearest and last,
    and counts and since stay unused.
    """

    def __init__(self, config: LookConfig = _LIMITS, layers: int = 0, enough: int = 0) -> None:
        self.config, self._enough = config, enough
        self.grid: OccupancyGrid2D | None = None
        self.nearest = np.empty((0, 0, layers) if layers else (0, 0), np.uint16)
        self.last = np.empty((0, 0))
        self.counts = np.empty((0, 0), np.uint16)
        self.since = np.empty((0, 0))
        self.begin = -math.inf

    def set_grid(self, grid: OccupancyGrid2D) -> None:
        """Adopt a grid, which may have grown or moved its origin; cells keep their recorded looks."""
        before, self.grid = self.grid, grid
        if before is grid:
            return
        self.nearest = carried_over(self.nearest, before, grid, NEVER)
        self.last = carried_over(self.last, before, grid, -math.inf)
        if self.nearest.ndim == 2:
            self.counts = carried_over(self.counts, before, grid, 0)
        if self._enough:
            self.since = carried_over(self.since, before, grid, math.inf)

    def look(self, xy: ArrayLike, heading: float, stamp: float, fov: float | None = None) -> None:
        """Record a look from a position (2+,) along `heading`, both in map.

        fov: radians, None = as configured. Without a grid or with values that are not finite nothing is
        recorded.
        """
        grid = self.grid
        x, y = (float(value) for value in np.asarray(xy, np.float64)[:2])
        if grid is None or not all(map(math.isfinite, (x, y, heading))) or math.isnan(stamp):
            return
        u0, v0 = (x - grid.origin[0]) / grid.resolution, (y - grid.origin[1]) / grid.resolution
        _look(
            grid.cells, grid.occupied_from, self.nearest.reshape(-1), self.last.reshape(-1), self.counts.reshape(-1),
            self.since.reshape(-1), float(stamp), self.begin, self._enough, u0, v0,
            self.config.range / grid.resolution, self.config.fov if fov is None else float(fov), float(heading),
            100.0 * grid.resolution,
        )  # fmt: skip

    def clear(self) -> None:
        """Forget all recorded looks, as after a change of the map or a restart of the clock."""
        self.nearest[:], self.last[:], self.counts[:], self.since[:] = NEVER, -math.inf, 0, math.inf
        self.begin = -math.inf

    def seen(self, within: float | None = None, since: float | None = None) -> np.ndarray:
        """Return (rows, columns) bool: cells that were seen from nearby and recently.

        within: largest distance, metres, None = the range. since: stamp that the newest look must reach, None
        = `begin`.
        """
        return (self.nearest <= self._centimetres(within)) & (self.last >= self._from(since))

    def metres(self, since: float | None = None) -> np.ndarray:
        """Return (rows, columns) float32: distance in metres of the nearest look at each cell.

        It is inf for cells without a look since the stamp `since` (None = `begin`).
        """
        far = (self.nearest == NEVER) | (self.last < self._from(since))
        return np.where(far, np.float32(np.inf), self.nearest * np.float32(0.01))

    def share(self, floor: np.ndarray, within: float | None = None, since: float | None = None) -> float:
        """Return the share, [0, 1], of `floor`, (rows, columns) bool, that was `seen`; NaN if it is empty."""
        seen, total = _share(
            np.ascontiguousarray(floor).reshape(-1), self.nearest.reshape(-1), self.last.reshape(-1),
            self._centimetres(within), self._from(since),
        )  # fmt: skip
        return seen / total if total else math.nan

    def newest(self, floor: np.ndarray) -> float | None:
        """Return the stamp of the newest look at a cell of `floor`, (rows, columns) bool; None = none."""
        newest = float(self.last[floor].max(initial=-math.inf))
        return None if newest == -math.inf else newest

    def oldest(self, floor: np.ndarray) -> float | None:
        """Return the stamp of the longest-ago newest look at a cell of `floor`; None if no look counts."""
        stamps = self.last[floor & (self.last >= self.begin) & (self.last > -math.inf)]
        return float(stamps.min()) if len(stamps) else None

    def _from(self, since: float | None) -> float:
        return self.begin if since is None else float(since)

    def _centimetres(self, within: float | None) -> int:
        metres = self.config.range if within is None else within
        return min(math.ceil(metres * 100.0 - 1e-6), NEVER - 1)


def nearest_after(
    metres: np.ndarray,
    grid: OccupancyGrid2D,
    xy: ArrayLike,
    heading: float = 0.0,
    fov: float = 2.0 * math.pi,
    max_range: float = LookConfig.range,
) -> np.ndarray:
    """Return the distances of the nearest look per cell after one more look.

    metres: (rows, columns) float32, the distances before it. xy: (2,). heading, fov: radians. max_range:
    metres.
    """
    after = np.array(metres, np.float32)
    u0, v0 = ((float(np.asarray(xy)[k]) - grid.origin[k]) / grid.resolution for k in (0, 1))
    reach = max_range / grid.resolution
    _lower(grid.cells, grid.occupied_from, after, u0, v0, reach, float(fov), float(heading), grid.resolution)
    return after

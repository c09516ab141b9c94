"""The record of where the camera has looked: per cell how near, when last, and how often.

All who ask whether a place was looked at read such a record, with the limits of one `LookConfig`.
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

NEVER = np.iinfo(np.uint16).max  # centimetres
_LIMITS = LookConfig()
_MOST = np.iinfo(np.uint16).max  # looks that are counted


@njit(cache=True)
def _date(cell, last, counts, since, stamp, begin, enough):
    """Note a look at the flat index `cell`; return whether what was known of it does not count any more.

    last, counts, since: flat, as of `Looks`. A look of several rays counts once, one of the past not.
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
    """Note a look in the flat arrays; u0, v0, reach in cells, scale: centimetres of a cell."""
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
    """Return how many cells of the flat `floor` were looked at from `within` centimetres since, and all of them."""
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
    """Looks at the cells of the newest grid. Not safe for threads.

    nearest: (rows, columns) uint16 centimetres of the nearest look, NEVER = none.
    last: (rows, columns) float64 stamp of the newest look, seconds; -inf = none. counts: (rows, columns) uint16 looks.
    since: (rows, columns) float64 stamp of the look that was the `enough`th; inf = there were fewer.
    begin: stamp from which looks count, which may go back. The next look at a cell replaces what does not count. Cells
    that leave the grid are forgotten.
    With `layers`, nearest has them as its last axis, and their owner marks nearest and last; nothing is counted.
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
        """Follow the grid as it grows or moves its origin."""
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
        """Note a look from (2+,) along `heading`, both in map. fov: radians, None = as configured. Requires a grid."""
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
        """Forget every look: the map or the clock is another one."""
        self.nearest[:], self.last[:], self.counts[:], self.since[:] = NEVER, -math.inf, 0, math.inf
        self.begin = -math.inf

    def seen(self, within: float | None = None, since: float | None = None) -> np.ndarray:
        """Return (rows, columns) bool: looked at from `within` metres (None = the range), and last since the stamp
        (None = `begin`).
        """
        return (self.nearest <= self._centimetres(within)) & (self.last >= self._from(since))

    def metres(self, since: float | None = None) -> np.ndarray:
        """Return (rows, columns) float32 metres of the nearest look; inf where there was none since the stamp."""
        far = (self.nearest == NEVER) | (self.last < self._from(since))
        return np.where(far, np.float32(np.inf), self.nearest * np.float32(0.01))

    def share(self, floor: np.ndarray, within: float | None = None, since: float | None = None) -> float:
        """Return the share, [0, 1], of the `floor`, (rows, columns) bool, that `seen` tells of; NaN for no floor."""
        seen, total = _share(
            np.ascontiguousarray(floor).reshape(-1), self.nearest.reshape(-1), self.last.reshape(-1),
            self._centimetres(within), self._from(since),
        )  # fmt: skip
        return seen / total if total else math.nan

    def newest(self, floor: np.ndarray) -> float | None:
        """Return the stamp of the newest look at any of the `floor`, (rows, columns) bool; None = there was none."""
        newest = float(self.last[floor].max(initial=-math.inf))
        return None if newest == -math.inf else newest

    def oldest(self, floor: np.ndarray) -> float | None:
        """Return the least of the stamps of the newest look at each cell of `floor` that counts."""
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
    """Return `metres`, (rows, columns) float32 of the nearest looks, as they would be after one more look."""
    after = np.array(metres, np.float32)
    u0, v0 = ((float(np.asarray(xy)[k]) - grid.origin[k]) / grid.resolution for k in (0, 1))
    reach = max_range / grid.resolution
    _lower(grid.cells, grid.occupied_from, after, u0, v0, reach, float(fov), float(heading), grid.resolution)
    return after

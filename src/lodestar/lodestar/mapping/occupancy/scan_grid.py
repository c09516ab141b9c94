"""Occupancy grid from a planar scan, for runs without OctoMap."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from numba import njit
from numpy.typing import ArrayLike

from lodestar.geometry.corrections import Anchor
from lodestar.geometry.map_correction import MapCorrection
from lodestar.geometry.poses import transform_points
from lodestar.grid.correction import moved_cells
from lodestar.grid.occupancy import FREE, OCCUPIED, UNKNOWN, OccupancyGrid2D
from lodestar.mapping.config import SCAN_GRID_MIN_RANGE, ScanGridConfig
from lodestar.mapping.voxels.submaps import cells_after

SCAN_GRID_RESOLUTION = 0.1  # metres, side of a cell; as OctoMapConfig
SCAN_GRID_HIT = 0.85  # log-odds added per scan (probability 0.7, Hornung et al. 2013)
SCAN_GRID_MISS = -0.4  # log-odds added per scan (probability 0.4, Hornung et al. 2013)
SCAN_GRID_LOWEST = -2.0  # least log-odds; chosen: a changed place is updated within ten scans
SCAN_GRID_HIGHEST = 3.5  # largest log-odds; chosen likewise
SCAN_GRID_MAX_CELLS = 64_000_000  # cells beyond which the grid refuses to grow; chosen


@njit(cache=True)
def _insert(log_odds, touched, begun, node, mark, ends, is_hit, u0, v0, hit, miss, lowest, highest):
    """Update the cells along rays from (u0, v0) to `ends`, in cells; each cell once, hits before misses."""
    rows, columns = log_odds.shape
    for i in range(len(ends)):
        if not is_hit[i]:
            continue
        column, row = math.floor(ends[i, 0]), math.floor(ends[i, 1])
        if 0 <= row < rows and 0 <= column < columns and touched[row, column] != mark:
            touched[row, column] = mark
            value = log_odds[row, column]
            if math.isnan(value):
                value, begun[row, column] = 0.0, node
            log_odds[row, column] = min(value + hit, highest)
    for i in range(len(ends)):
        du, dv = ends[i, 0] - u0, ends[i, 1] - v0
        length = math.hypot(du, dv)
        if length < 1e-9:
            continue
        du /= length
        dv /= length
        column, row = math.floor(u0), math.floor(v0)
        step_u, step_v = (1 if du > 0 else -1), (1 if dv > 0 else -1)
        next_u = ((column + (du > 0)) - u0) / du if abs(du) > 1e-12 else math.inf
        next_v = ((row + (dv > 0)) - v0) / dv if abs(dv) > 1e-12 else math.inf
        while True:
            if 0 <= row < rows and 0 <= column < columns and touched[row, column] != mark:
                touched[row, column] = mark
                value = log_odds[row, column]
                if math.isnan(value):
                    value, begun[row, column] = 0.0, node
                log_odds[row, column] = max(value + miss, lowest)
            if min(next_u, next_v) >= length:
                break
            if next_u < next_v:
                column += step_u
                next_u += abs(1.0 / du)
            else:
                row += step_v
                next_v += abs(1.0 / dv)


class ScanGridMapper:
    """Accumulates planar scans in the map frame, in a grid that grows as beams reach farther.

    anchor: the robot's trajectory within this grid, and the last correction.
    """

    KIND, VERSION = "scan_grid", 1

    def __init__(self, config: ScanGridConfig = ScanGridConfig()):
        self.config = config
        self._log_odds = np.empty((0, 0), np.float32)  # NaN = never seen
        self._touched: np.ndarray = np.empty((0, 0), np.int32)
        # serial number of the trajectory node that first saw the cell, + 1; 0 = unknown
        self._begun = np.empty((0, 0), np.int32)
        # (column, row) of the first cell, counted from the map origin
        self._corner: np.ndarray = np.zeros(2, np.int64)
        self._scans = 0
        self.anchor = Anchor()

    def follow(
        self, map_from_odom: np.ndarray, odom_from_scan: np.ndarray, stamp: float | None = None
    ) -> bool:
        """Move the grid by a jump of map <- odom since the last call; return whether it moved.

        Both poses: (4, 4). stamp: of the poses, seconds; without it the grid moves as a whole. After a loop closure, a
        cell moves with the part of the trajectory on which it was first seen. Raises ValueError for poses that are not
        finite or a grid that grows out of bounds; then nothing has moved, and the next call applies the jump again.
        """
        with self.anchor.correction(map_from_odom, odom_from_scan, stamp) as correction:
            if correction is None or self.is_empty:
                return False
            if correction.is_rigid:
                self._move(correction.jump)
            else:
                self._bend(correction)
        return True

    def _move(self, jump: np.ndarray) -> None:
        moved, corner = moved_cells(self._log_odds, self._corner, SCAN_GRID_RESOLUTION, jump, np.nan)
        if moved.size > SCAN_GRID_MAX_CELLS:
            raise ValueError(f"a grid of {moved.shape} cells is larger than {SCAN_GRID_MAX_CELLS}")
        begun, _ = moved_cells(self._begun, self._corner, SCAN_GRID_RESOLUTION, jump, 0)
        self._log_odds, self._corner, self._begun = moved, corner, begun
        self._touched = np.zeros(moved.shape, np.int32)

    def _bend(self, correction: MapCorrection) -> None:
        size, (rows, columns) = SCAN_GRID_RESOLUTION, self._log_odds.shape
        low, high = self._corner * size, (self._corner + np.array([columns, rows])) * size
        ends = np.array([(x, y, 0.0) for x in (low[0], high[0]) for y in (low[1], high[1])])
        reach = np.concatenate([transform_points(move, ends) for move in correction.moves])[:, :2]
        self._grow(reach.min(axis=0), reach.max(axis=0))
        rows_of = np.where(self._begun > 0, correction.rows_of(self._begun - 1), -1).astype(np.int32)
        old = (self._begun == 0) & ~np.isnan(self._log_odds)
        rows_of[old] = 0  # cells of a loaded map without node numbers
        came = cells_after(
            rows_of, correction.moves, self._corner, size, np.abs(np.nan_to_num(self._log_odds))
        )
        moved, begun = np.full_like(self._log_odds, np.nan), np.zeros_like(self._begun)
        known, source = came >= 0, came[came >= 0]
        moved[known], begun[known] = self._log_odds.reshape(-1)[source], self._begun.reshape(-1)[source]
        self._log_odds, self._begun = moved, begun

    def to_arrays(self) -> dict[str, np.ndarray]:
        """Return the grid's state, for `from_arrays`."""
        return {"log_odds": self._log_odds.copy(), "corner": self._corner.copy(), "begun": self._begun.copy(),
                "resolution": np.array([SCAN_GRID_RESOLUTION]), **self.anchor.trajectory.to_arrays()}  # fmt: skip

    @classmethod
    def from_arrays(
        cls, arrays: Mapping[str, np.ndarray], config: ScanGridConfig = ScanGridConfig()
    ) -> ScanGridMapper:
        """Return the grid written by `to_arrays`.

        Raises ValueError or KeyError for invalid arrays or another resolution.
        """
        mapper = cls(config)
        log_odds, corner = arrays["log_odds"].astype(np.float32), arrays["corner"].astype(np.int64)
        if log_odds.ndim != 2 or corner.shape != (2,) or log_odds.size > SCAN_GRID_MAX_CELLS:
            raise ValueError(f"a grid of {log_odds.shape} cells at {corner.tolist()}")
        if abs(float(arrays["resolution"][0]) - SCAN_GRID_RESOLUTION) > 1e-9:
            raise ValueError(
                f"its cells measure {arrays['resolution'][0]} m, this grid's {SCAN_GRID_RESOLUTION} m"
            )
        begun = np.array(arrays.get("begun", np.zeros(log_odds.shape)), np.int32)
        if begun.shape != log_odds.shape:
            raise ValueError("the cells' first nodes do not fit the grid")
        mapper._log_odds, mapper._corner, mapper._begun = log_odds, corner, begun
        mapper.anchor.trajectory.read(arrays)
        mapper._touched = np.zeros(log_odds.shape, np.int32)
        return mapper

    def insert_scan(
        self,
        ranges: ArrayLike,
        angle_min: float,
        angle_increment: float,
        range_max: float,
        map_from_scan: np.ndarray,
    ) -> None:
        """Integrate one scan; NaN beams are skipped, and infinite ones too unless `free_without_return` is set.

        ranges: (N,), metres. map_from_scan: (4, 4) at the scan's stamp. Raises ValueError for a pose that is
        not finite.
        """
        if not np.isfinite(map_from_scan).all():
            raise ValueError("the pose of the scan is not finite")
        config = self.config
        ranges = np.asarray(ranges, np.float64)
        angles = angle_min + angle_increment * np.arange(len(ranges))
        told = ~np.isnan(ranges) if config.free_without_return else np.isfinite(ranges)
        usable = told & (ranges >= SCAN_GRID_MIN_RANGE)
        reach = min(config.max_range, range_max)
        is_hit = usable & (ranges < reach)
        lengths = np.where(is_hit, ranges, reach)[usable]
        beams = np.stack([np.cos(angles[usable]) * lengths, np.sin(angles[usable]) * lengths], 1)
        ends = beams @ map_from_scan[:2, :2].T + map_from_scan[:2, 3]
        start = map_from_scan[:2, 3]
        if len(ends) == 0:
            return
        self._grow(np.minimum(ends.min(0), start), np.maximum(ends.max(0), start))
        self._scans += 1
        to_cells = 1.0 / SCAN_GRID_RESOLUTION
        u0, v0 = start * to_cells - self._corner
        _insert(
            self._log_odds,
            self._touched,
            self._begun,
            self.anchor.trajectory.serial + 1,
            self._scans,
            ends * to_cells - self._corner,
            is_hit[usable],
            u0,
            v0,
            SCAN_GRID_HIT,
            SCAN_GRID_MISS,
            SCAN_GRID_LOWEST,
            SCAN_GRID_HIGHEST,
        )

    def _grow(self, low: np.ndarray, high: np.ndarray) -> None:
        """Extend the grid to points between `low` and `high`, (2,) metres; cells keep their positions in map."""
        rows, columns = self._log_odds.shape
        step = max(1, round(self.config.growth / SCAN_GRID_RESOLUTION))
        first = np.floor(low / SCAN_GRID_RESOLUTION).astype(np.int64) // step * step
        last = (np.floor(high / SCAN_GRID_RESOLUTION).astype(np.int64) // step + 1) * step
        if rows:
            first = np.minimum(first, self._corner)
            last = np.maximum(last, self._corner + np.array([columns, rows]))
        size = last - first
        if tuple(size) == (columns, rows):
            return
        if int(size[0]) * int(size[1]) > SCAN_GRID_MAX_CELLS:
            raise ValueError(f"a grid of {size[0]} x {size[1]} cells is larger than {SCAN_GRID_MAX_CELLS}")
        grown, begun = np.full((size[1], size[0]), np.nan, np.float32), np.zeros((size[1], size[0]), np.int32)
        if rows:
            left, bottom = self._corner - first
            window = np.s_[bottom : bottom + rows, left : left + columns]
            grown[window], begun[window] = self._log_odds, self._begun
        self._log_odds, self._begun = grown, begun
        self._touched = np.zeros(grown.shape, np.int32)
        self._corner = first

    @property
    def is_empty(self) -> bool:
        """Return whether nothing has been observed yet."""
        return not self._log_odds.size

    def project(self, stamp: float = 0.0) -> OccupancyGrid2D:
        """Return the occupancy grid: unseen cells are unknown, cells above probability 1/2 are occupied."""
        cells = np.full(self._log_odds.shape, UNKNOWN, np.int8)
        cells[self._log_odds <= 0.0] = FREE
        cells[self._log_odds > 0.0] = OCCUPIED
        x, y = self._corner * SCAN_GRID_RESOLUTION
        return OccupancyGrid2D(cells, SCAN_GRID_RESOLUTION, (float(x), float(y)), stamp)

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
from lodestar.mapping.config import ScanGridConfig
from lodestar.mapping.submaps import cells_after


@njit(cache=True)
def _insert(log_odds, touched, begun, node, mark, ends, is_hit, u0, v0, hit, miss, lowest, highest):
    """Update the cells along rays from (u0, v0) to `ends`, in cells; each once, hits before misses."""
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
    """Accumulate planar scans in the map frame in a grid that grows with the beams."""

    KIND, VERSION = "scan_grid", 1

    def __init__(self, config: ScanGridConfig = ScanGridConfig()):
        self.config = config
        self._log_odds = np.empty((0, 0), np.float32)  # NaN = never seen
        self._touched: np.ndarray = np.empty((0, 0), np.int32)
        self._begun = np.empty((0, 0), np.int32)  # serial number of the node that first saw the cell, + 1
        self._corner: np.ndarray = np.zeros(
            2, np.int64
        )  # (column, row) of the first cell, from the map origin
        self._scans = 0
        self._anchor = Anchor()

    @property
    def anchor(self) -> Anchor:
        """Return the robot's way as far as this map knows it, and the last correction."""
        return self._anchor

    @property
    def map_from_odom(self) -> np.ndarray | None:
        """Return the last map <- odom that the grid has followed, (4, 4); None before the first."""
        return self._anchor.last

    def resume_odometry(self, map_from_odom: np.ndarray | None) -> None:
        """Continue the odometry of a loaded grid: a jump since then is applied."""
        self._anchor.resume(map_from_odom)

    def follow(
        self, map_from_odom: np.ndarray, odom_from_scan: np.ndarray, stamp: float | None = None
    ) -> bool:
        """Move the grid by a jump of map <- odom since the last call; return whether there was one.

        stamp: of the poses, seconds; without one everything moves. After a loop closure a cell moves with the part of
        the way on which it was first seen.
        Both (4, 4). Raises ValueError for poses that are not finite or a grid that grows out of bounds; then nothing
        has moved, and the next call has the jump again.
        """
        with self._anchor.correction(map_from_odom, odom_from_scan, stamp) as correction:
            if correction is None or self.is_empty:
                return False
            if correction.is_rigid:
                self._move(correction.jump)
            else:
                self._bend(correction)
        return True

    def _move(self, jump: np.ndarray) -> None:
        moved, corner = moved_cells(self._log_odds, self._corner, self.config.resolution, jump, np.nan)
        if moved.size > self.config.max_cells:
            raise ValueError(f"a grid of {moved.shape} cells is larger than max_cells allows")
        begun, _ = moved_cells(self._begun, self._corner, self.config.resolution, jump, 0)
        self._log_odds, self._corner, self._begun = moved, corner, begun
        self._touched = np.zeros(moved.shape, np.int32)

    def _bend(self, correction: MapCorrection) -> None:
        size, (rows, columns) = self.config.resolution, self._log_odds.shape
        low, high = self._corner * size, (self._corner + np.array([columns, rows])) * size
        ends = np.array([(x, y, 0.0) for x in (low[0], high[0]) for y in (low[1], high[1])])
        reach = np.concatenate([transform_points(move, ends) for move in correction.moves])[:, :2]
        self._grow(reach.min(axis=0), reach.max(axis=0))
        rows_of = np.where(self._begun > 0, correction.rows_of(self._begun - 1), -1).astype(np.int32)
        old = (self._begun == 0) & ~np.isnan(self._log_odds)
        rows_of[old] = 0  # of a map from before the robot's way
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
                "resolution": np.array([self.config.resolution]), **self._anchor.trajectory.to_arrays()}  # fmt: skip

    @classmethod
    def from_arrays(
        cls, arrays: Mapping[str, np.ndarray], config: ScanGridConfig = ScanGridConfig()
    ) -> ScanGridMapper:
        """Return the grid written by `to_arrays`. Raises ValueError, KeyError for invalid arrays or another
        configuration.
        """
        mapper = cls(config)
        log_odds, corner = arrays["log_odds"].astype(np.float32), arrays["corner"].astype(np.int64)
        if log_odds.ndim != 2 or corner.shape != (2,) or log_odds.size > config.max_cells:
            raise ValueError(f"a grid of {log_odds.shape} cells at {corner.tolist()}")
        if abs(float(arrays["resolution"][0]) - config.resolution) > 1e-9:
            raise ValueError(
                f"its cells measure {arrays['resolution'][0]} m, this grid's {config.resolution} m"
            )
        begun = np.array(arrays.get("begun", np.zeros(log_odds.shape)), np.int32)
        if begun.shape != log_odds.shape:
            raise ValueError("the cells' first nodes do not fit the grid")
        mapper._log_odds, mapper._corner, mapper._begun = log_odds, corner, begun
        mapper._anchor.trajectory.read(arrays)
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
        usable = told & (ranges >= config.min_range)
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
        to_cells = 1.0 / config.resolution
        u0, v0 = start * to_cells - self._corner
        _insert(
            self._log_odds,
            self._touched,
            self._begun,
            self._anchor.trajectory.serial + 1,
            self._scans,
            ends * to_cells - self._corner,
            is_hit[usable],
            u0,
            v0,
            config.hit,
            config.miss,
            config.lowest,
            config.highest,
        )

    def _grow(self, low: np.ndarray, high: np.ndarray) -> None:
        """Extend the grid to points between `low` and `high`, (2,) metres; cells keep their places in map."""
        rows, columns = self._log_odds.shape
        step = max(1, round(self.config.growth / self.config.resolution))
        first = np.floor(low / self.config.resolution).astype(np.int64) // step * step
        last = (np.floor(high / self.config.resolution).astype(np.int64) // step + 1) * step
        if rows:
            first = np.minimum(first, self._corner)
            last = np.maximum(last, self._corner + np.array([columns, rows]))
        size = last - first
        if tuple(size) == (columns, rows):
            return
        if int(size[0]) * int(size[1]) > self.config.max_cells:
            raise ValueError(f"a grid of {size[0]} x {size[1]} cells is larger than max_cells allows")
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
        """Return whether nothing was ever seen."""
        return not self._log_odds.size

    def project(self, stamp: float = 0.0) -> OccupancyGrid2D:
        """Return the current grid: never seen = unknown, more likely occupied than not = occupied."""
        cells = np.full(self._log_odds.shape, UNKNOWN, np.int8)
        cells[self._log_odds <= 0.0] = FREE
        cells[self._log_odds > 0.0] = OCCUPIED
        x, y = self._corner * self.config.resolution
        return OccupancyGrid2D(cells, self.config.resolution, (float(x), float(y)), stamp)

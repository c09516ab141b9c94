"""Viewpoints for unseen space: candidates, the gain of each, and the one with the largest gain per second.

The seconds count the drive, and the turn from the path's direction to the heading unless the robot makes it
while it walks. A small unseen area nearby is therefore left until no better viewpoint is near. Unknown cells
count less than unseen free floor, because some are walls.

Areas are summed as whole numbers of cells, and weights as multiples of 1 / `_PARTS`. Such sums are exact in
any order, so that every processor compares the same gains.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import cv2
import numpy as np

from lodestar.experts.config import STOP_BEYOND, STOP_DEPTH, StopConfig
from lodestar.experts.coverage import SECTORS, LookedAt
from lodestar.experts.view_kernels import piece_candidates
from lodestar.geometry.poses import wrap_angle
from lodestar.grid.footprint import GO2, footprints_free
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.grid.pace import PACE_LOOK, PACE_SPEED, seconds_of

# metres of clearance of a viewpoint; chosen: the footprint fits at every heading that counts
STOP_CLEARANCE = 0.36
# metres of clearance of a viewpoint for a piece of frontier without such a viewpoint; chosen
STOP_NARROW_CLEARANCE = 0.30
STOP_SPACING = 0.5  # metres between candidates of the lattice; chosen
STOP_CANDIDATES = 300  # candidates of the lattice, at most; chosen
STOP_STANDOFF = 2.0  # metres from a piece of frontier to further candidates; chosen
STOP_GLANCE = 4.0  # metres from which a further candidate may see a piece of frontier; chosen
STOP_WORTH = 0.06  # worth up to which a cell does not count; chosen: above a good detector's miss
STOP_RANKED = 24  # viewpoints whose headings are compared, by the gain of all headings per second; chosen
STOP_KEEP = 0.1  # share by which another viewpoint must be better to replace the last goal; chosen
STOP_SAMPLES = 3000  # blocks that represent the unseen cells, approximately; chosen
STOP_SAME_GOAL_DISTANCE = 0.35  # metres within which a goal is the same as an excluded one; chosen
# radians within which a goal is the same as an excluded one; chosen
STOP_SAME_GOAL_ANGLE = math.radians(40.0)

_PARTS = 256.0  # resolution of weights; float32 sums them exactly up to 65,536 cells of weight 1

_SECTOR = 2.0 * math.pi / SECTORS  # radians
_AT_ONCE = 100  # lattice places rated between two comparisons with the best; chosen
_STEP = 0.4  # metres before a viewpoint, where the path's direction is taken; chosen
HEADINGS = wrap_angle((np.arange(SECTORS) + 0.5) * (2.0 * math.pi / SECTORS))


@dataclass(frozen=True)
class Stop:
    """A viewpoint (3,) with the area, m^2, that turning there shows.

    share: probability, 0..1, that the target is in the shown area (`Survey.share`).
    """

    viewpoint: np.ndarray
    gain: float
    length: float  # metres of path from the robot
    share: float = 0.0


@dataclass(frozen=True)
class Survey:
    """Gains of viewpoints on one map. lengths: (rows, columns) path lengths, metres, inf = unreachable.

    worth: (rows, columns) float32, what another view of a cell is worth: 1 = it was not looked at, 0 = nothing.
    closest: (rows, columns) metres from which the bands of a cell are visible (`LookedAt.missed`). prior: (rows,
    columns) weight of a cell, None = 1 each. excluded: (N, 3) goals not to be chosen. factors: (bins,) value of a view
    from each distance (`coverage.TRIAL_EDGES`).
    """

    grid: OccupancyGrid2D
    looked: LookedAt
    lengths: np.ndarray
    worth: np.ndarray
    closest: np.ndarray
    reach: float
    fov: float
    prior: np.ndarray | None
    excluded: np.ndarray
    config: StopConfig
    factors: np.ndarray

    def __post_init__(self) -> None:
        """Make the lengths read-only, like those cached by a grid; numba would compile another version for writable
        arrays.
        """
        self.lengths.setflags(write=False)

    @cached_property
    def unseen(self) -> np.ndarray:
        """Return (rows, columns) bool: the cells of which another view is worth something."""
        return self.worth > STOP_WORTH

    @cached_property
    def clear(self) -> np.ndarray:
        """Return (rows, columns) metres to the nearest obstacle."""
        return self.grid.clearance

    @property
    def view(self) -> float:
        """Return the range of a view, metres: `reach`, but at most STOP_GLANCE plus STOP_DEPTH."""
        return min(self.reach, STOP_GLANCE + STOP_DEPTH)

    @cached_property
    def _standing(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the reachable cells with room to turn, and those where the robot fits at all."""
        reachable = np.isfinite(self.lengths)
        return (reachable & (self.clear >= STOP_CLEARANCE), reachable & (self.clear >= STOP_NARROW_CLEARANCE))

    def candidates(self, middles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return candidate cells (N, 2) for looking at frontier pieces, at most three per piece, and the
        index (N,) of the piece. The candidates are the cell nearest by path, the one closest to the piece,
        and the first on the path that sees the piece's middle, (K, 2) cells.
        """
        roomy, narrow = self._standing
        standoff = math.ceil(STOP_STANDOFF / self.grid.resolution)
        glance = min(STOP_GLANCE, self.reach) / self.grid.resolution
        found = piece_candidates(
            self.grid.cells, self.grid.occupied_from, roomy, narrow, self.lengths, middles, standoff, glance
        )
        order = np.sort(found, axis=1)
        new = (order >= 0) & (np.diff(order, axis=1, prepend=-1) != 0)
        cells = np.stack(np.divmod(order[new], roomy.shape[1]), axis=1)
        return cells, np.nonzero(new)[0]

    def lattice(self) -> np.ndarray:
        """Return cells (N, 2) with room to turn, STOP_SPACING apart and fixed in map, with unseen cells within view; if
        there are too many, the nearest by path and an even sample of the others.
        """
        step = max(round(STOP_SPACING / self.grid.resolution), 1)
        phase = [-round(float(o) / self.grid.resolution) % step for o in self.grid.origin]
        size = 2 * math.ceil(self.view / self.grid.resolution) + 1
        amount = cv2.boxFilter(self.unseen.astype(np.float32), -1, (size, size), normalize=False)
        rows, columns = slice(phase[1], None, step), slice(phase[0], None, step)
        usable = self._standing[0][rows, columns] & (amount[rows, columns] >= 1.0)
        cells = np.argwhere(usable) * step + (phase[1], phase[0])
        if len(cells) <= STOP_CANDIDATES:
            return cells
        cells = cells[np.argsort(self.lengths[cells[:, 0], cells[:, 1]], kind="stable")]
        near = STOP_CANDIDATES // 2
        others = np.linspace(near, len(cells) - 1, STOP_CANDIDATES - near).astype(np.int64)
        return np.concatenate([cells[:near], cells[others]])

    def allowed(self, points: np.ndarray, tried: bool = False) -> np.ndarray:
        """Return (N, SECTORS) bool: headings at which the robot fits at points (N, 2), without those of excluded
        goals unless `tried`.
        """
        allowed = np.ones((len(points), SECTORS), bool)
        rows, columns = self.grid.cells_of(points).T
        tight = np.flatnonzero(self.clear[rows, columns] < GO2.circumscribed_radius + self.grid.resolution)
        if len(tight):
            poses = np.column_stack(
                [np.repeat(points[tight], SECTORS, axis=0), np.tile(HEADINGS, len(tight))]
            )
            allowed[tight] = footprints_free(self.grid, poses).reshape(-1, SECTORS)
        return allowed if tried else allowed & ~self.barred(points)

    def barred(self, points: np.ndarray) -> np.ndarray:
        """Return (N, SECTORS) bool: headings at points (N, 2) that match excluded goals."""
        goals = self.excluded
        away = np.hypot(*(points[:, None] - goals[None, :, :2]).T).T
        turned = np.abs(wrap_angle(HEADINGS - goals[:, 2:]))
        return (away <= STOP_SAME_GOAL_DISTANCE) @ (turned <= STOP_SAME_GOAL_ANGLE)

    @cached_property
    def _within(self) -> tuple[np.ndarray, np.ndarray]:
        """Return (row, column) of the unseen cells near a reachable one; only these can come into view."""
        size = 2 * math.ceil(self.view / self.grid.resolution) + 1
        near = cv2.boxFilter(np.isfinite(self.lengths).astype(np.float32), -1, (size, size), normalize=False)
        rows, columns = np.nonzero(self.unseen & (near > 0.5))
        return rows, columns

    @cached_property
    def _stride(self) -> int:
        """Return the side, in cells, of the blocks that represent their unseen cells."""
        return max(math.ceil(math.sqrt(len(self._within[0]) / STOP_SAMPLES)), 1)

    @cached_property
    def _samples(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the block number of each unseen cell (rows, columns; -1 = none), and each block's worth of its
        cells (n,), unweighted and weighted: unknown cells count less, and all are multiplied by the prior.
        """
        rows, columns = self._within
        width = self.unseen.shape[1] // self._stride + 1
        ids = rows // self._stride * width + columns // self._stride
        used = np.bincount(ids) > 0
        blocks, numbers = int(used.sum()), (np.cumsum(used) - 1)[ids]
        index = np.full(self.unseen.shape, -1, np.int32)
        index[rows, columns] = numbers
        areas = np.bincount(numbers, self._left, minlength=blocks).astype(np.float32)
        return index, areas, np.bincount(numbers, self._weights, minlength=blocks).astype(np.float32)

    @cached_property
    def _left(self) -> np.ndarray:
        """Return the worth (n,) of the n unseen cells that `_within` returns."""
        return np.rint(self.worth[self._within] * _PARTS) / _PARTS

    @cached_property
    def _weights(self) -> np.ndarray:
        """Return the weights (n,) of the n unseen cells that `_within` returns."""
        rows, columns = self._within
        weight = np.where(self.grid.unknown[rows, columns], self.config.unknown_share, 1.0)
        weight = weight * self._left
        if self.prior is not None:
            weight = weight * self.prior[rows, columns]
        return np.rint(weight * _PARTS) / _PARTS

    def shown(self, points: np.ndarray, tried: bool = False) -> np.ndarray:
        """Return the area (N, 2) in m^2 that turning in place at points (N, 2) shows, unweighted and weighted."""
        index, *sizes = self._samples
        # several pieces share a candidate
        once, places = np.unique(points @ (1.0, 1.0j), return_inverse=True)
        points = np.stack([once.real, once.imag], axis=1)
        in_view = window_sums(self.allowed(points, tried).astype(np.float64), self.fov) > 0.0
        sums = self.looked.view_sums(
            points,
            in_view,
            index,
            np.stack(sizes, axis=1),
            self.view,
            STOP_DEPTH,
            self._stride,
            self.closest,
            self.factors,
        )
        return self._areas(sums)[places]

    def _bounds(self, cells: np.ndarray) -> np.ndarray:
        """Return an upper bound (N, 2) in m^2 of `shown` at cells (N, 2): all unseen area within a view's range."""
        reach = math.ceil(self.view / self.grid.resolution) + self._stride
        low = np.maximum(cells - reach, 0)
        high = np.minimum(cells + reach + 1, self.unseen.shape)
        sums = np.empty((len(cells), 2))
        image = np.zeros(self.unseen.shape, np.float32)
        for k, weights in enumerate((self._left, self._weights)):
            image[self._within] = weights
            upto = cv2.integral(image, sdepth=cv2.CV_64F)
            sums[:, k] = (upto[high[:, 0], high[:, 1]] - upto[low[:, 0], high[:, 1]]
                          - upto[high[:, 0], low[:, 1]] + upto[low[:, 0], low[:, 1]])  # fmt: skip
        return self._areas(sums)

    def share(self, shown: float) -> float:
        """Return the probability, 0..1, that a view of this weighted area, m^2, shows the target, if the weights are
        right: its share of the weight of all unseen cells and of the space beyond the map.
        """
        unseen = self._areas(self._samples[2].sum())
        return float(shown / (unseen + STOP_BEYOND)) if shown > 0.0 else 0.0

    def _areas(self, cells: np.ndarray) -> np.ndarray:
        """Return numbers of cells in m^2, rounded: 15 cells of 0.1 m are 0.15 m^2."""
        return np.round(cells.astype(np.float64) * self.grid.resolution**2, 9)

    def _sectors(self, points: np.ndarray) -> np.ndarray:
        """Return the area (N, SECTORS) in m^2 in each direction from points (N, 2), times what a view is worth."""
        worth = np.where(self.unseen, self.worth, np.float32(0.0))
        return self.looked.sector_gains(points, worth, self.view, STOP_DEPTH, self.closest, self.factors)

    def headings(self, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the best heading (N,), radians, at points (N, 2), and the area (N,) in m^2 that it shows."""
        if len(points) == 0:
            return np.empty(0), np.empty(0)
        sectors = self._sectors(points)
        shown = np.where(self.allowed(points), window_sums(sectors, self.fov), -1.0)
        best = shown.argmax(axis=1)
        return HEADINGS[best], np.maximum(shown[np.arange(len(points)), best], 0.0)

    def best(
        self,
        points: np.ndarray,
        shown: np.ndarray,
        min_gain: float,
        last: np.ndarray | None,
        finish_gain: float = math.inf,
        *,
        robot: np.ndarray,
    ) -> Stop | None:
        """Return the viewpoint with the largest gain per second among those that show at least `min_gain`;
        None if there is none.

        The last goal (3,) is kept while it shows half as much and no other viewpoint is better by the share
        STOP_KEEP. If it shows at least `finish_gain`, it also precedes a viewpoint more than twice as far
        away, because returning later would cost more. points: (N, 2) candidates besides those of the lattice.
        shown: (N, 2) as from `shown`. robot: (3,) pose.
        """
        kept = last is not None and self._reachable(last)
        if kept:
            assert last is not None
            points = np.concatenate([last[None, :2], points])
            shown = np.concatenate([np.zeros((1, 2)), shown])
        lattice = self.lattice()
        known = len(points)
        points = np.concatenate([points, self.grid.points_of(lattice)])
        if len(points) == 0:
            return None
        shown = np.concatenate([shown, np.zeros((len(lattice), 2))])
        lengths = self.lengths[tuple(self.grid.cells_of(points).T)]
        wanted = np.full(len(points), min_gain)
        seconds = lengths / PACE_SPEED + PACE_LOOK
        favour = np.ones(len(points))
        if kept:
            wanted[0], favour[0] = min_gain / 2.0, 1.0 + STOP_KEEP

        def rated(areas: np.ndarray, at: np.ndarray | slice) -> np.ndarray:
            return np.where(areas[:, 0] >= wanted[at], areas[:, 1] / seconds[at] * favour[at], -np.inf)

        worth = np.full(len(points), -np.inf)
        worth[kept:known] = rated(shown[kept:known], slice(kept, known))
        most = np.concatenate([np.full(known, np.inf), rated(self._bounds(lattice), slice(known, None))])
        rest = np.concatenate([np.arange(int(kept)), known + np.argsort(-most[known:], kind="stable")])
        rest = rest[most[rest] > -np.inf]

        def look(least: int) -> None:
            """Compute the gain per second of candidates, until no other candidate can be among the `least`
            best by its upper bound.
            """
            nonlocal rest
            while len(rest):
                if len(worth) > least:
                    rest = rest[most[rest] >= np.partition(worth, -least)[-least]]
                part, rest = rest[:_AT_ONCE], rest[_AT_ONCE:]
                shown[part] = self.shown(points[part])
                worth[part] = rated(shown[part], part)

        left = rest
        look(STOP_RANKED)
        order = [int(i) for i in np.argsort(-worth, kind="stable")[:STOP_RANKED] if math.isfinite(worth[i])]
        if not order:
            return None
        finish = kept and shown[0, 0] >= finish_gain
        if finish and 0 not in order:
            order.append(0)
        headings, shares = self._sweeps(points[order], lengths[order], seconds[order], robot)
        rates = np.where(np.isfinite(worth[order]), worth[order], 0.0) * shares
        rank = int(np.rint(rates * 1e6).argmax())
        if rates[rank] <= 0.0:
            rest = left[~np.isfinite(worth[left])]
            look(len(worth))
            return self._without_a_sweep(points, worth, lengths, shown)
        if finish and 2.0 * lengths[0] < lengths[order[rank]] and shares[order.index(0)] > 0.0:
            rank = order.index(0)
        pick = order[rank]
        return self._stop(points[pick], headings[rank], lengths[pick], shown[pick])

    def _stop(self, point: np.ndarray, heading: float, length: float, shown: np.ndarray) -> Stop:
        return Stop(np.array([*point, heading]), float(shown[0]), float(length), self.share(shown[1]))

    def _without_a_sweep(
        self, points: np.ndarray, worth: np.ndarray, lengths: np.ndarray, shown: np.ndarray
    ) -> Stop | None:
        """Return the best viewpoint that shows something at a heading at which the robot fits; None if there
        is none. It is for places without room to turn on the spot, where the final heading is uncertain.
        """
        for pick in np.argsort(-worth, kind="stable"):
            if not math.isfinite(worth[pick]):
                return None
            headings, shows = self.headings(points[pick : pick + 1])
            if shows[0] > 0.0:
                return self._stop(points[pick], headings[0], lengths[pick], shown[pick])
        return None

    def _sweeps(
        self, points: np.ndarray, lengths: np.ndarray, seconds: np.ndarray, robot: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return for points (N, 2) the heading (N,) to which the robot should turn from its path's direction
        to see most per second, and that rate (N,), as a share of the gain of all headings in `seconds`.
        """
        sectors = self._sectors(points)
        allowed, fits = self.allowed(points), self.allowed(points, tried=True)
        whole = sectors.sum(axis=1)
        # sectors that are fully in view
        half = min(max(math.floor(self.fov / 2.0 / _SECTOR - 0.5), 0), SECTORS // 2)
        arrivals = np.floor(self._arrivals(points, lengths, robot) / _SECTOR).astype(np.int64) % SECTORS
        turns = np.arange(SECTORS // 2 + 1)
        late = seconds_of(lengths[:, None], turns[None] * _SECTOR) - seconds_of(lengths, 0.0)[:, None]
        best, share = np.zeros(len(points), np.int64), np.zeros(len(points))
        rows = np.arange(len(points))
        for way in (1, -1):
            around = (arrivals[:, None] + way * np.arange(-half, SECTORS - half)[None]) % SECTORS
            swept = np.cumsum(np.take_along_axis(sectors, around, axis=1), axis=1)
            shown = swept[:, np.minimum(2 * half + turns, SECTORS - 1)]
            headings = (arrivals[:, None] + way * turns[None]) % SECTORS
            rate = shown / np.maximum(whole, 1e-9)[:, None] * seconds[:, None] / (seconds[:, None] + late)
            free = np.take_along_axis(fits, headings, axis=1)
            # the robot fits at every heading in between
            free[:, 1:] = np.logical_and.accumulate(free[:, 1:], axis=1)
            rate = np.where(free & np.take_along_axis(allowed, headings, axis=1), rate, 0.0)
            pick = rate.argmax(axis=1)
            better = rate[rows, pick] > share
            best = np.where(better, headings[rows, pick], best)
            share = np.where(better, rate[rows, pick], share)
        return HEADINGS[best], share

    def _arrivals(self, points: np.ndarray, lengths: np.ndarray, robot: np.ndarray) -> np.ndarray:
        """Return the direction (N,), radians, in which the shortest path arrives at points (N, 2); the robot's
        heading if it is there.
        """
        around = np.arange(16) * (math.pi / 8.0)
        ring = points[:, None] - _STEP * np.stack([np.cos(around), np.sin(around)], axis=1)[None]
        cells = self.grid.cells_of(ring.reshape(-1, 2))
        inside = self.grid.contains(cells)
        cells = np.where(inside[:, None], cells, 0)
        before = np.where(inside, self.lengths[cells[:, 0], cells[:, 1]], np.inf).reshape(len(points), -1)
        before = np.where(before < lengths[:, None], before, np.inf)
        along = around[before.argmin(axis=1)]
        here = (lengths < _STEP) | ~np.isfinite(before.min(axis=1))
        return np.where(here, robot[2], along)

    def _reachable(self, goal: np.ndarray) -> bool:
        cell = self.grid.cells_of(goal[:2])
        return bool(self.grid.contains(cell)) and math.isfinite(self.lengths[tuple(cell)])


def window_sums(gains: np.ndarray, fov: float) -> np.ndarray:
    """Return the gain (N, SECTORS) of a camera of `fov` radians for the middle heading of each sector."""
    half = max(round(fov / 2.0 / (2.0 * math.pi / SECTORS) - 0.5), 0)
    if 2 * half + 1 >= SECTORS:
        return np.repeat(gains.sum(axis=1, keepdims=True), SECTORS, axis=1)
    beside = (np.arange(SECTORS) + np.arange(-half, half + 1)[:, None]) % SECTORS
    return np.asarray(gains[:, beside].sum(axis=1))

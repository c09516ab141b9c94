"""Places to which the robot moves so that a person can pass, where both do not fit beside each other."""

from __future__ import annotations

import math
from dataclasses import replace

import cv2
import numpy as np

from lodestar.grid.config import Footprint, TravelConfig
from lodestar.grid.footprint import footprints_free
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.grid.paths import path_lengths
from lodestar.grid.visibility import line_of_sight

PASSING_NEAR = 2.5  # m from the robot within which a person counts; chosen: two steps and a robot's length
_PERSON = 0.3  # m, half the width of the gap that a person takes; chosen: half the shoulders, and a margin
_WALKS = 0.3  # m/s from which a person walks; chosen
_AHEAD = 1.0  # m beside the robot up to which a person's straight line leads to it; chosen: a door's width
_BEYOND = 1.5  # m past the robot to which the person goes, as far as floor is seen; chosen: past a frame
_SNAP = 0.6  # m from a place within which the person may stand instead; chosen
_AROUND = 4.0  # m of path within which a place is sought; chosen: 7 s of driving
_ROOM = 0.25  # m^2 from which a part of the floor counts as one where somebody walks; chosen
_APART = 1.0  # m from others that a place keeps, unless the robot is nearer; chosen: an arm and a body
_MOST_TRIED = 100  # places, nearest first; chosen: 0.1 s
_SPACING = 0.25  # m between places that are tried; chosen


def passing_place(
    grid: OccupancyGrid2D,
    pose: np.ndarray,
    people: np.ndarray,
    body: Footprint,
    travel: TravelConfig = TravelConfig(),
) -> np.ndarray | None:
    """Return the nearest pose (3,) at which the robot no longer blocks a person's way.

    None if it blocks nobody within PASSING_NEAR, or if no such pose is within reach. pose: (3,) x, y, yaw in map.
    people: (N, 4), x, y in map, metres, and vx, vy, m/s; rows that are not finite are ignored. A person who walks
    goes on straight; one who stands wants to pass where the robot is.
    """
    people = people[np.isfinite(people).all(axis=1)]
    kept = np.hypot(*(people[:, :2] - pose[:2]).T)  # m
    for nth, person in enumerate(people):
        place, velocity = person[:2], person[2:]
        offset, speed = pose[:2] - place, math.hypot(*velocity)
        if not 1e-3 < kept[nth] <= PASSING_NEAR:
            continue
        way = velocity / speed if speed >= _WALKS else offset / kept[nth]
        if offset @ way <= 0.0 or abs(offset[0] * way[1] - offset[1] * way[0]) > _AHEAD:
            continue
        gap = _Gap(grid, place, pose, way, body)
        if gap.is_open(None) and not gap.is_open(pose):
            least = np.where(np.arange(len(kept)) == nth, kept, np.minimum(kept, _APART))
            found = _nearest_open(gap, grid, pose, people[:, :2], least, travel)
            if found is not None:
                return found
    return None


def _nearest_open(
    gap: _Gap,
    grid: OccupancyGrid2D,
    pose: np.ndarray,
    people: np.ndarray,
    least: np.ndarray,
    travel: TravelConfig,
) -> np.ndarray | None:
    """Return the nearest pose (3,) at which a gap is open, `least` (N,) metres from people (N, 2); None without."""
    lengths = path_lengths(grid, pose[:2], replace(travel, unknown_ok=False))
    stride = max(1, round(_SPACING / grid.resolution))
    cells = np.argwhere(lengths[::stride, ::stride] <= _AROUND) * stride
    cells = cells[np.argsort(lengths[tuple(cells.T)])]
    ends = np.column_stack([grid.points_of(cells), np.full(len(cells), pose[2])])
    away = np.hypot(*(ends[:, None, :2] - people).transpose(2, 0, 1))
    ends = ends[(away >= least).all(axis=1) & footprints_free(grid, ends, gap.body)][:_MOST_TRIED]
    return next((end for end in ends if gap.is_open(end) and not gap.parts(end)), None)


class _Gap:
    """The way (2,) of one person past the robot's pose (3,), on the known floor around it."""

    def __init__(
        self, grid: OccupancyGrid2D, person: np.ndarray, pose: np.ndarray, way: np.ndarray, body: Footprint
    ) -> None:
        self.body, self._grid = body, grid
        side = _AROUND + PASSING_NEAR
        corners = np.stack([pose[:2] - side, pose[:2] + side])
        self._low, high = np.clip(grid.cells_of(corners), 0, grid.cells.shape)
        floor = grid.free[self._low[0] : high[0], self._low[1] : high[1]]
        padded = np.pad(floor.view(np.uint8), 1)
        away = cv2.distanceTransform(padded, cv2.DIST_L2, 3)[1:-1, 1:-1] * grid.resolution
        self._fits = (away >= _PERSON).view(np.uint8)
        self._start = _near(floor.shape, grid.cells_of(person) - self._low, _SNAP / grid.resolution)
        steps = np.arange(0.0, _BEYOND, grid.resolution / 2.0)[:, None]
        abreast = person + ((pose[:2] - person) @ way) * way  # of the robot, on the person's own line
        is_seen = line_of_sight(grid, person, abreast[None])[0]
        ahead = grid.cells_of((abreast if is_seen else pose[:2]) + steps * way) - self._low
        ahead = ahead[((ahead >= 0) & (ahead < floor.shape)).all(axis=1)]
        seen = np.logical_and.accumulate(floor[tuple(ahead.T)])
        self._end = ahead[seen][::-1]  # farthest first
        self._whole = self._labels(None)[1]

    def _labels(self, pose: np.ndarray | None) -> tuple[np.ndarray, int]:
        """Return the parts of the floor between which nobody can walk while the robot is at a pose (3,), None =
        nowhere, as labels (rows, columns), 0 = too narrow, and the number of parts of at least _ROOM.
        """
        fits = self._fits.copy()
        if pose is not None:
            around = (self.body.circumscribed_radius + _PERSON) / self._grid.resolution
            cells = _near(fits.shape, self._grid.cells_of(pose) - self._low, around)
            gaps = self.body.gaps(pose[None], self._grid.points_of(cells + self._low))[0]
            fits[tuple(cells[gaps < _PERSON].T)] = 0
        _, labels, stats, _ = cv2.connectedComponentsWithStats(fits, connectivity=4)
        return labels, int((stats[1:, cv2.CC_STAT_AREA] * self._grid.resolution**2 >= _ROOM).sum())

    def is_open(self, pose: np.ndarray | None) -> bool:
        """Return whether the person can walk past a robot at a pose (3,); None = without the robot."""
        labels, _ = self._labels(pose)
        start, end = (
            next((n for n in labels[tuple(cells.T)].tolist() if n), 0) for cells in (self._start, self._end)
        )
        return start == end != 0

    def parts(self, pose: np.ndarray) -> bool:
        """Return whether a robot at a pose (3,) stands in a narrow place, and parts what belongs together."""
        return self._labels(pose)[1] > self._whole


def _near(shape: tuple[int, ...], cell: np.ndarray, most: float) -> np.ndarray:
    """Return the cells (N, 2) of an array within `most` cells of one cell, nearest first."""
    low, high = np.clip(np.stack([cell - math.ceil(most), cell + math.ceil(most) + 1]), 0, shape)
    cells = np.argwhere(np.ones(high - low, bool)) + low
    away = np.hypot(*(cells - cell).T)
    order = np.argsort(away, kind="stable")
    return cells[order[away[order] <= most]]

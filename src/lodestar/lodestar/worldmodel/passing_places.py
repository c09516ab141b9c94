"""Places to which the robot moves so that a person can pass, where both do not fit beside each other."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace

import cv2
import numpy as np

from lodestar.grid.config import Footprint, TravelConfig
from lodestar.grid.footprint import footprints_free
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.grid.paths import path_lengths

PASSING_NEAR = 2.5  # m from the robot within which a person counts; chosen: two steps and a robot's length
_PERSON = 0.3  # m, half the width of the gap that a person takes; chosen: half the shoulders, and a margin
_WALKS = 0.3  # m/s from which a person walks; chosen
_AHEAD = 1.0  # m beside the robot up to which a person's straight line leads to it; chosen: a door's width
_BEYOND = 1.5  # m behind the robot to which the person is assumed to go; chosen: past a Go2 and a door frame
_SNAP = 0.6  # m from a place within which the person may stand instead; chosen
_AROUND = 4.0  # m of path within which a place is sought; chosen: 7 s of driving
_ROOM = 0.25  # m^2 from which a part of the floor counts as one where somebody walks; chosen
_SPACING = 0.25  # m between places that are tried; chosen


def passing_place(
    grid: OccupancyGrid2D,
    pose: np.ndarray,
    people: Iterable[np.ndarray],
    body: Footprint,
    travel: TravelConfig = TravelConfig(),
) -> np.ndarray | None:
    """Return the nearest pose (3,) at which the robot no longer blocks a person's way.

    None if it blocks nobody within PASSING_NEAR, or if no such pose is within reach. pose: (3,) x, y, yaw in map.
    people: (4,) each, x, y in map, metres, and vx, vy, m/s; rows that are not finite are ignored. A person
    who walks goes on straight; one who stands wants to pass where the robot is.
    """
    for person in people:
        place, velocity = person[:2], person[2:]
        offset, speed = pose[:2] - place, math.hypot(*velocity)
        away = math.hypot(*offset)
        if not np.isfinite(person).all() or not 1e-3 < away <= PASSING_NEAR:
            continue
        way = velocity / speed if speed >= _WALKS else offset / away
        if offset @ way <= 0.0 or abs(offset[0] * way[1] - offset[1] * way[0]) > _AHEAD:
            continue
        gap = _Gap(grid, place, pose[:2] + _BEYOND * way, body)
        if gap.is_open(None) and not gap.is_open(pose):
            return _nearest_open(gap, grid, pose, place, travel)
    return None


def _nearest_open(
    gap: _Gap, grid: OccupancyGrid2D, pose: np.ndarray, person: np.ndarray, travel: TravelConfig
) -> np.ndarray | None:
    lengths = path_lengths(grid, pose[:2], replace(travel, unknown_ok=False))
    stride = max(1, round(_SPACING / grid.resolution))
    cells = np.argwhere(lengths[::stride, ::stride] <= _AROUND) * stride
    cells = cells[np.argsort(lengths[tuple(cells.T)])]
    ends = np.column_stack([grid.points_of(cells), np.full(len(cells), pose[2])])
    apart = np.hypot(*(ends[:, :2] - person).T) >= math.dist(pose[:2], person)
    ends = ends[apart & footprints_free(grid, ends, gap.body)]
    return next((end for end in ends if gap.is_open(end)), None)


class _Gap:
    """The way of one person between two places (2,) in map, on the part of the grid around them."""

    def __init__(self, grid: OccupancyGrid2D, start: np.ndarray, end: np.ndarray, body: Footprint) -> None:
        self.body, self._grid = body, grid
        middle, side = (start + end) / 2.0, _AROUND + PASSING_NEAR
        self._low, high = np.clip(
            grid.cells_of(np.stack([middle - side, middle + side])), 0, grid.cells.shape
        )
        part = grid.occupied[self._low[0] : high[0], self._low[1] : high[1]]
        free = np.pad((~part).view(np.uint8), 1, constant_values=1)
        away = cv2.distanceTransform(free, cv2.DIST_L2, 3)[1:-1, 1:-1] * grid.resolution
        self._fits = (away >= _PERSON).view(np.uint8)
        most = _SNAP / grid.resolution
        self._ends = [_near(part.shape, grid.cells_of(place) - self._low, most) for place in (start, end)]
        self._rooms = 0  # number of parts of the floor between which nobody can walk, without the robot

    def is_open(self, pose: np.ndarray | None) -> bool:
        """Return whether a person can walk from start to end while the robot is at a pose (3,); None = nowhere.

        False too if the robot would stand in another narrow place, and part what belongs together.
        """
        fits = self._fits.copy()
        if pose is not None:
            around = (self.body.circumscribed_radius + _PERSON) / self._grid.resolution
            cells = _near(fits.shape, self._grid.cells_of(pose) - self._low, around)
            gaps = self.body.gaps(pose[None], self._grid.points_of(cells + self._low))[0]
            fits[tuple(cells[gaps < _PERSON].T)] = 0
        _, labels, stats, _ = cv2.connectedComponentsWithStats(fits, connectivity=4)
        start, end = (next((n for n in labels[tuple(cells.T)].tolist() if n), 0) for cells in self._ends)
        rooms = int((stats[1:, cv2.CC_STAT_AREA] * self._grid.resolution**2 >= _ROOM).sum())
        self._rooms = self._rooms if pose is not None else rooms
        return start == end != 0 and rooms <= self._rooms


def _near(shape: tuple[int, ...], cell: np.ndarray, most: float) -> np.ndarray:
    """Return the cells (N, 2) of an array within `most` cells of one cell, nearest first."""
    low, high = np.clip(np.stack([cell - math.ceil(most), cell + math.ceil(most) + 1]), 0, shape)
    cells = np.argwhere(np.ones(high - low, bool)) + low
    away = np.hypot(*(cells - cell).T)
    order = np.argsort(away, kind="stable")
    return cells[order[away[order] <= most]]

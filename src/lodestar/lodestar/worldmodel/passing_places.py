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
_AT_EASE = 0.7  # m between the middle of a person and the robot where there is room for that; chosen: an arm
_WALKS = 0.3  # m/s from which a person walks; chosen
_MEETS = (
    1.3  # m within which a robot and a person who face each other are in each other's way; chosen: a step
)
_FACES = 0.5  # m beside a person's line within which the robot is on it; chosen: half of both bodies
_BESIDE = (
    0.75  # m beside that line where the robot is out of the way, where there is room; chosen: with a margin
)
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
    goes on straight; one who stands wants to pass if the robot parts the floor.
    """
    people = people[np.isfinite(people).all(axis=1)]
    kept = np.hypot(*(people[:, :2] - pose[:2]).T)  # m
    for nth, person in enumerate(people):
        offset, speed = pose[:2] - person[:2], math.hypot(*person[2:])
        if not 1e-3 < kept[nth] <= PASSING_NEAR:
            continue
        way = person[2:] / speed if speed >= _WALKS else None
        if way is not None and (offset @ way <= 0.0 or abs(offset[0] * way[1] - offset[1] * way[0]) > _AHEAD):
            continue
        gap = _Gap(grid, person[:2], pose, way, body)
        faces = abs(offset[0] * gap.line[1] - offset[1] * gap.line[0]) <= _FACES
        if (faces and kept[nth] <= _MEETS) or gap.is_blocked(pose):
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
    offsets = ends[:, :2] - gap.person
    beside = abs(offsets[:, 0] * gap.line[1] - offsets[:, 1] * gap.line[0]) >= _BESIDE
    tries = (ends[beside], _AT_EASE), (ends[beside], _PERSON), (ends, _PERSON)
    return next((end for some, width in tries for end in some if gap.lets_pass(end, width)), None)


class _Gap:
    """The way (2,) of one person (2,) past the robot's pose (3,), on the known floor around it.

    A way of None means that the person stands, and may want to go anywhere.
    """

    def __init__(
        self,
        grid: OccupancyGrid2D,
        person: np.ndarray,
        pose: np.ndarray,
        way: np.ndarray | None,
        body: Footprint,
    ) -> None:
        self.body, self._grid, self.person = body, grid, person
        offset = pose[:2] - person
        self.line = offset / np.hypot(*offset) if way is None else way  # (2,), where the person looks
        side = _AROUND + PASSING_NEAR
        corners = np.stack([pose[:2] - side, pose[:2] + side])
        self._low, high = np.clip(grid.cells_of(corners), 0, grid.cells.shape)
        floor = grid.free[self._low[0] : high[0], self._low[1] : high[1]].copy()
        start = grid.cells_of(person) - self._low
        floor[tuple(_near(floor.shape, start, _PERSON / grid.resolution).T)] = True  # the person's own body
        padded = np.pad(floor.view(np.uint8), 1)
        away = cv2.distanceTransform(padded, cv2.DIST_L2, 3)[1:-1, 1:-1] * grid.resolution
        self._fits = (away >= _PERSON).view(np.uint8)
        self._start = _near(floor.shape, start, _SNAP / grid.resolution)
        self._end = None if way is None else self._ahead(floor, person, pose, way)
        self._whole = self._parts(None)[1]

    def _ahead(self, floor: np.ndarray, person: np.ndarray, pose: np.ndarray, way: np.ndarray) -> np.ndarray:
        """Return the cells (N, 2) of the person's line past the robot up to the first wall, farthest first."""
        abreast = person + ((pose[:2] - person) @ way) * way  # of the robot, on the person's own line
        is_seen = line_of_sight(self._grid, person, abreast[None])[0]
        steps = np.arange(0.0, _BEYOND, self._grid.resolution / 2.0)[:, None]
        ahead = self._grid.cells_of((abreast if is_seen else pose[:2]) + steps * way) - self._low
        ahead = ahead[((ahead >= 0) & (ahead < floor.shape)).all(axis=1)]
        return ahead[np.logical_and.accumulate(floor[tuple(ahead.T)])][::-1]

    def _parts(self, pose: np.ndarray | None, width: float = _PERSON) -> tuple[np.ndarray, int]:
        """Return the parts of the floor between which nobody can walk while the robot is at a pose (3,), None =
        nowhere, as labels (rows, columns), 0 = too narrow, and the number of parts of at least _ROOM.

        width: metres that the middle of a person keeps from the robot.
        """
        fits = self._fits.copy()
        if pose is not None:
            around = (self.body.circumscribed_radius + width) / self._grid.resolution
            cells = _near(fits.shape, self._grid.cells_of(pose) - self._low, around)
            gaps = self.body.gaps(pose[None], self._grid.points_of(cells + self._low))[0]
            fits[tuple(cells[gaps < width].T)] = 0
        _, labels, stats, _ = cv2.connectedComponentsWithStats(fits, connectivity=4)
        return labels, int((stats[1:, cv2.CC_STAT_AREA] * self._grid.resolution**2 >= _ROOM).sum())

    def _joins(self, labels: np.ndarray) -> bool:
        ends = (self._start,) if self._end is None else (self._start, self._end)
        found = [next((n for n in labels[tuple(cells.T)].tolist() if n), 0) for cells in ends]
        return found[0] == found[-1] != 0

    def is_blocked(self, pose: np.ndarray) -> bool:
        """Return whether the person could walk without the robot, and cannot while it is at a pose (3,)."""
        labels, parts = self._parts(pose)
        blocked = parts > self._whole if self._end is None else not self._joins(labels)
        return blocked and self._joins(self._parts(None)[0])

    def lets_pass(self, pose: np.ndarray, width: float) -> bool:
        """Return whether the person can walk `width` metres past a robot at a pose (3,), which parts no floor."""
        labels, parts = self._parts(pose, width)
        return parts <= self._whole and self._joins(labels)


def _near(shape: tuple[int, ...], cell: np.ndarray, most: float) -> np.ndarray:
    """Return the cells (N, 2) of an array within `most` cells of one cell, nearest first."""
    low, high = np.clip(np.stack([cell - math.ceil(most), cell + math.ceil(most) + 1]), 0, shape)
    cells = np.argwhere(np.ones(high - low, bool)) + low
    away = np.hypot(*(cells - cell).T)
    order = np.argsort(away, kind="stable")
    return cells[order[away[order] <= most]]

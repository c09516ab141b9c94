"""Footprint checks on one grid: occupied and unknown cells under and around the robot, and people near it."""

from __future__ import annotations

import math

import numba as nb
import numpy as np

from lodestar.grid.occupancy import COMFORT, OccupancyGrid2D

LENGTH = 0.70  # metres, footprint; Unitree Go2
WIDTH = 0.32  # metres, footprint; Unitree Go2
PADDING = 0.4  # cells by which the footprint grows, as cells are tested at their centre; chosen
_WIDE = 0.12  # metres around the footprint that should be free before a turn
_LEAST_CLOSENESS = 0.05  # closeness to people that counts as zero, against rounding to cells; chosen
_TOUCHING = 0.5  # closeness from which a person may touch the body: 0.6 of 1.2 m; chosen
_TOO_LATE = 0.85  # closeness from which the robot stops: 0.18 m from a person or their predicted path; chosen


@nb.njit(cache=True)
def _covered(cells, occupied_from, origin_x, origin_y, resolution, poses, half_length, half_width):
    """Return counts (N, 2) of occupied and unknown cells whose centres lie under the footprint at poses (N, 3)."""
    counts = np.zeros((poses.shape[0], 2), np.int64)
    radius = math.hypot(half_length, half_width)
    for i in range(poses.shape[0]):
        x, y = poses[i, 0], poses[i, 1]
        c, s = math.cos(poses[i, 2]), math.sin(poses[i, 2])
        for row in range(math.floor((y - radius - origin_y) / resolution),
                         math.floor((y + radius - origin_y) / resolution) + 1):  # fmt: skip
            dy = origin_y + (row + 0.5) * resolution - y
            for column in range(math.floor((x - radius - origin_x) / resolution),
                                math.floor((x + radius - origin_x) / resolution) + 1):  # fmt: skip
                dx = origin_x + (column + 0.5) * resolution - x
                if abs(dx * c + dy * s) > half_length or abs(dy * c - dx * s) > half_width:
                    continue
                value = -1
                if 0 <= row < cells.shape[0] and 0 <= column < cells.shape[1]:
                    value = cells[row, column]
                if value < 0:
                    counts[i, 1] += 1
                elif value >= occupied_from:
                    counts[i, 0] += 1
    return counts


@nb.njit(cache=True)
def _nearest_obstacle(cells, occupied_from, origin_x, origin_y, resolution, x, y, reach):
    best = reach
    steps = int(reach / resolution) + 1
    row0, column0 = math.floor((y - origin_y) / resolution), math.floor((x - origin_x) / resolution)
    for row in range(max(row0 - steps, 0), min(row0 + steps + 1, cells.shape[0])):
        for column in range(max(column0 - steps, 0), min(column0 + steps + 1, cells.shape[1])):
            if cells[row, column] >= occupied_from:
                dx = origin_x + (column + 0.5) * resolution - x
                dy = origin_y + (row + 0.5) * resolution - y
                best = min(best, math.hypot(dx, dy))
    return best


class Clearance:
    """Checks of robot poses against one grid and the people in it; keep-out cells count as occupied.

    yields: whether motions that come nearer to people are rejected. held_back: whether one was rejected.
    """

    def __init__(self, grid: OccupancyGrid2D):
        pad = PADDING * grid.resolution
        self._size = (LENGTH / 2.0 + pad, WIDTH / 2.0 + pad)
        self._wide = (self._size[0] + _WIDE, self._size[1] + _WIDE)
        x, y = grid.origin
        self._occupancy = grid
        self._grid = (grid.barred_cells, grid.occupied_from, float(x), float(y), grid.resolution)
        self.yields = grid.comfort is not None  # whether motions that come nearer to people are rejected
        self.held_back = False  # whether a motion was rejected because of people

    def covered(self, poses: np.ndarray, wide: bool = False) -> np.ndarray:
        """Return counts (N, 2) of occupied and unknown cells under the footprint at poses (N, 3).

        wide: also count cells up to 0.12 m around the footprint.
        """
        return _covered(*self._grid, poses, *(self._wide if wide else self._size))

    def closeness(self, points: np.ndarray) -> np.ndarray:
        """Return the closeness (N,) of points (N, 2+) to people: 1 at a person, 0 beyond the comfort distance."""
        if self._occupancy.comfort is None:
            return np.zeros(len(points))
        cells = self._occupancy.cells_of(points[:, :2])
        inside = self._occupancy.contains(cells)
        cells = np.where(inside[:, None], cells, 0)
        return inside * self._occupancy.comfort[cells[:, 0], cells[:, 1]] / COMFORT

    def nears(self, poses: np.ndarray) -> bool:
        """Return whether a motion through poses (N, 3) comes nearer to people than its first pose.

        Always False if `yields` is False. A result of True sets `held_back`.
        """
        if not self.yields:
            return False
        closeness = self.closeness(poses)
        nearer = bool(closeness.max() > max(closeness[0], _LEAST_CLOSENESS))
        self.held_back |= nearer
        return nearer

    def stands_at_people(self, pose: np.ndarray) -> bool:
        """Return whether the robot must stop at a pose (3,), because any motion may touch a person.

        The distance limit is 0.6 m if `yields` is True, else 0.18 m. A result of True sets `held_back`.
        """
        closeness = float(self.closeness(pose[None])[0])
        stands = closeness >= _TOO_LATE or (self.yields and closeness >= _TOUCHING)
        self.held_back |= stands
        return stands

    def passable(self, points: np.ndarray) -> np.ndarray:
        """Return (N,) bool: whether points (N, 2+) lie in cells that are known and not occupied."""
        cells = self._occupancy.cells_of(points)
        inside = self._occupancy.contains(cells)
        cells = np.where(inside[:, None], cells, 0)
        values = self._occupancy.barred_cells[cells[:, 0], cells[:, 1]]
        return inside & (values >= 0) & (values < self._occupancy.occupied_from)

    def beneath(self, pose: np.ndarray) -> np.ndarray:
        """Return the cells (N, 2) whose centres lie under the footprint at a pose (3,)."""
        grid, reach = self._occupancy, math.hypot(*self._size)
        (low, high) = grid.cells_of(pose[None, :2] + np.array([[-reach], [reach]]))
        rows, columns = np.meshgrid(
            np.arange(low[0], high[0] + 1), np.arange(low[1], high[1] + 1), indexing="ij"
        )
        cells = np.stack([rows.ravel(), columns.ravel()], axis=1)
        cells = cells[grid.contains(cells)]
        offsets, (c, s) = grid.points_of(cells) - pose[:2], (math.cos(pose[2]), math.sin(pose[2]))
        along, across = offsets @ (c, s), offsets @ (-s, c)
        return cells[(np.abs(along) <= self._size[0]) & (np.abs(across) <= self._size[1])]

    def nearest(self, xy: np.ndarray, reach: float) -> float:
        """Return the metres to the centre of the nearest occupied cell, at most `reach`."""
        return float(_nearest_obstacle(*self._grid, xy[0], xy[1], reach))

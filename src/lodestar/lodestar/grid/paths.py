"""Shortest path lengths to all cells, and least-cost paths to one goal.

Paths run over cells that are traversable for the robot's centre.
"""

from __future__ import annotations

import math
from dataclasses import replace
from enum import Enum

import cv2
import numpy as np
from numba import njit
from numpy.typing import ArrayLike

from lodestar.grid.config import TravelConfig
from lodestar.grid.inflation import obstacle_distance
from lodestar.grid.occupancy import COMFORT, OccupancyGrid2D

_BUCKETS = 16  # buckets of width one cell; a step costs less than _BUCKETS
_ROOT_2 = math.sqrt(2.0)


class NoPathReason(Enum):
    """Reason why there is no path."""

    START_OCCUPIED = "start occupied"
    GOAL_OCCUPIED = "goal occupied"
    NO_VALID_PATH = "no valid path"


class NoPath(Exception):
    """Raised if no path exists; see `reason`."""

    def __init__(self, reason: NoPathReason, detail: str = ""):
        super().__init__(f"{reason.value}: {detail}" if detail else reason.value)
        self.reason = reason


@njit(cache=True)
def _spread(passable, cost, row, column, goal_row, goal_column, parents):
    """Return the least cost, in cells, from one cell to all cells; inf = unreachable.

    The search ends early when the goal is reached. Exact: a step costs at least 1, so every cell of bucket
    [k, k + 1) is final when the bucket is processed. `cost` (rows, columns) float32 >= 1, or empty for 1;
    `parents` (rows, columns) int8 or empty.
    """
    rows, columns = passable.shape
    weighted, trace = cost.size > 0, parents.size > 0
    distance = np.full((rows, columns), np.inf, np.float32)
    done = np.zeros((rows, columns), np.bool_)
    heads = np.full(_BUCKETS, -1, np.int64)  # linked lists in one growing pool
    capacity = max(1024, passable.size // 4)
    cell_of = np.empty(capacity, np.int64)
    next_of = np.empty(capacity, np.int64)
    used = 1
    cell_of[0] = row * columns + column
    next_of[0] = -1
    heads[0] = 0
    distance[row, column] = 0.0
    recycled = -1
    level = 0
    empty = 0
    while empty < _BUCKETS:
        slot = level % _BUCKETS
        entry = heads[slot]
        heads[slot] = -1
        if entry < 0:
            empty += 1
            level += 1
            continue
        empty = 0
        while entry >= 0:
            here = cell_of[entry]
            following = next_of[entry]
            next_of[entry] = recycled
            recycled = entry
            entry = following
            r = here // columns
            c = here - r * columns
            if done[r, c]:
                continue
            done[r, c] = True
            if r == goal_row and c == goal_column:
                return distance
            base = distance[r, c]
            for k in range(8):
                dr = (-1, -1, -1, 0, 0, 1, 1, 1)[k]
                dc = (-1, 0, 1, -1, 1, -1, 0, 1)[k]
                nr, nc = r + dr, c + dc
                if nr < 0 or nr >= rows or nc < 0 or nc >= columns or done[nr, nc] or not passable[nr, nc]:
                    continue
                step = 1.0
                if dr != 0 and dc != 0:
                    if not (passable[r, nc] and passable[nr, c]):
                        continue
                    step = _ROOT_2
                if weighted:
                    step *= 0.5 * (cost[r, c] + cost[nr, nc])
                new = np.float32(base + step)
                if new < distance[nr, nc]:
                    distance[nr, nc] = new
                    if trace:
                        parents[nr, nc] = k
                    if recycled >= 0:
                        free = recycled
                        recycled = next_of[free]
                    else:
                        if used == capacity:
                            grown_cells = np.empty(capacity * 2, np.int64)
                            grown_next = np.empty(capacity * 2, np.int64)
                            grown_cells[:capacity] = cell_of
                            grown_next[:capacity] = next_of
                            cell_of, next_of = grown_cells, grown_next
                            capacity *= 2
                        free = used
                        used += 1
                    target = max(int(new), level + 1) % _BUCKETS
                    cell_of[free] = nr * columns + nc
                    next_of[free] = heads[target]
                    heads[target] = free
        level += 1
    return distance


@njit(cache=True)
def _trace(parents, start_row, start_column, row, column):
    columns = parents.shape[1]
    backwards = np.empty(parents.size, np.int64)
    count = 0
    while True:
        backwards[count] = row * columns + column
        count += 1
        if row == start_row and column == start_column:
            return backwards[:count][::-1].copy()
        k = parents[row, column]
        row -= (-1, -1, -1, 0, 0, 1, 1, 1)[k]
        column -= (-1, 0, 1, -1, 1, -1, 0, 1)[k]


def snap(grid: OccupancyGrid2D, allowed: np.ndarray, xy: ArrayLike, radius: float) -> tuple[int, int] | None:
    """Return the allowed cell (row, column) at `xy`, else the nearest within `radius` metres, else None."""
    row, column = (int(v) for v in grid.cells_of(np.asarray(xy, np.float64)[None, :2])[0])
    rows, columns = allowed.shape
    if 0 <= row < rows and 0 <= column < columns and allowed[row, column]:
        return row, column
    reach = math.ceil(radius / grid.resolution) + 1
    top, left = max(row - reach, 0), max(column - reach, 0)
    near = np.argwhere(allowed[top : max(row + reach + 1, 0), left : max(column + reach + 1, 0)])
    if len(near) == 0:
        return None
    near += (top, left)
    offset = np.linalg.norm(grid.points_of(near) - np.asarray(xy, np.float64)[:2], axis=1)
    best = int(offset.argmin())
    return (int(near[best, 0]), int(near[best, 1])) if offset[best] <= radius else None


def _passable(grid: OccupancyGrid2D, config: TravelConfig) -> tuple[np.ndarray, np.ndarray]:
    distance = obstacle_distance(grid)
    passable = (grid.cells < grid.occupied_from) if config.unknown_ok else grid.free
    return passable & (distance >= config.clearance), distance


def _area(passable: np.ndarray, start: tuple[int, int], resolution: float) -> float:
    """Return the area reachable from the start by steps along rows and columns, m^2."""
    _, labels, statistics, _ = cv2.connectedComponentsWithStats(passable.astype(np.uint8), connectivity=4)
    return float(statistics[labels[start], cv2.CC_STAT_AREA]) * resolution**2


def _passable_from(
    grid: OccupancyGrid2D, start_xy: ArrayLike, config: TravelConfig
) -> tuple[np.ndarray, np.ndarray, tuple[int, int] | None]:
    """Return passable cells, distances from obstacles, and the start's cell (None if there is none).

    Two kinds of cells are passable in addition: narrow gaps out of a small free area around the start
    (pocket), and the shortest path out of a keep-out zone around the start.
    """
    passable, distance = _passable(grid, config)
    if grid.keep_out is not None:
        passable = passable | _way_out(replace(grid, keep_out=None), passable, start_xy, config)
    start = snap(grid, passable, start_xy, config.start_snap)
    if start is not None and _area(passable, start, grid.resolution) >= config.pocket_area:
        return passable, distance, start
    rows, columns = np.ogrid[: grid.cells.shape[0], : grid.cells.shape[1]]
    row, column = grid.cells_of(np.asarray(start_xy, np.float64)[None, :2])[0]
    near = np.hypot(rows - row, columns - column) * grid.resolution <= config.pocket_reach
    for clearance in config.pocket_clearances:
        wider = passable | (near & grid.free & (distance >= clearance))
        outer = snap(grid, wider, start_xy, config.start_snap)
        if outer is not None and _area(wider, outer, grid.resolution) >= config.pocket_area:
            return wider, distance, outer
    return passable, distance, start


def _way_out(
    open_grid: OccupancyGrid2D, passable: np.ndarray, start_xy: ArrayLike, config: TravelConfig
) -> np.ndarray:
    """Return (rows, columns) bool: the shortest path from the start to a passable cell, ignoring zones.

    It is empty if the start is in no zone.
    """
    way = np.zeros(passable.shape, bool)
    possible, _ = _passable(open_grid, config)
    start = snap(open_grid, possible, start_xy, config.start_snap)
    if start is None or passable[start]:
        return way
    parents = np.full(passable.shape, -1, np.int8)
    lengths = _spread(possible, np.empty((0, 0), np.float32), start[0], start[1], -1, -1, parents)
    lengths[~passable] = np.inf
    row, column = divmod(int(lengths.argmin()), passable.shape[1])
    if not np.isfinite(lengths[row, column]):
        return way
    flat = _trace(parents, start[0], start[1], row, column)
    way.reshape(-1)[flat] = True
    # widen the path, so that diagonal steps fit
    wider = cv2.dilate(way.astype(np.uint8), np.ones((3, 3), np.uint8)) > 0
    return wider & possible


def path_lengths(
    grid: OccupancyGrid2D, start_xy: ArrayLike, config: TravelConfig = TravelConfig()
) -> np.ndarray:
    """Return the length of the shortest 8-connected path from the start to every cell.

    Returns (rows, columns) float32, read-only, metres, inf if unreachable; all inf if no traversable cell
    lies within `start_snap` of the start. The distance from the start to its cell is included. A grid caches
    its newest lengths, because all experts request them from the same place within an epoch.
    """
    x, y = (float(value) for value in np.asarray(start_xy, np.float64)[:2])
    return grid.kept((x, y, config), lambda: _path_lengths(grid, (x, y), config))


def _path_lengths(grid: OccupancyGrid2D, start_xy: tuple[float, float], config: TravelConfig) -> np.ndarray:
    passable, _, start = _passable_from(grid, start_xy, config)
    if start is None:
        return np.full(grid.cells.shape, np.inf, np.float32)
    no_cost, no_parents = np.empty((0, 0), np.float32), np.empty((0, 0), np.int8)
    lengths = _spread(passable, no_cost, start[0], start[1], -1, -1, no_parents)
    extra = float(np.linalg.norm(grid.points_of(np.array(start)) - np.asarray(start_xy, np.float64)[:2]))
    if extra <= grid.resolution:  # the start lies in its own cell
        extra = 0.0
    return lengths * np.float32(grid.resolution) + np.float32(extra)


def plan_path(
    grid: OccupancyGrid2D, start_xy: ArrayLike, goal_xy: ArrayLike, config: TravelConfig = TravelConfig()
) -> np.ndarray:
    """Return the least-cost path from the given start to the given goal, cell by cell.

    Returns (N, 2) float64, metres, N >= 2. A start or goal too near an obstacle is replaced by the nearest
    traversable cell within its snap distance. Raises NoPath.
    """
    passable, distance, start = _passable_from(grid, start_xy, config)
    if start is None:
        raise NoPath(NoPathReason.START_OCCUPIED, f"no traversable cell within {config.start_snap} m")
    goal = snap(grid, passable, goal_xy, config.goal_snap)
    if goal is None:
        raise NoPath(NoPathReason.GOAL_OCCUPIED, f"no traversable cell within {config.goal_snap} m")
    margin = max(config.soft_clearance - config.clearance, 1e-6)
    nearness = np.clip((config.soft_clearance - distance) / margin, 0.0, 1.0)
    weight = min(config.soft_weight, (_BUCKETS - 1) / _ROOT_2 - 1.0)
    cost = 1.0 + weight * nearness
    if grid.comfort is not None:
        cost = np.minimum(cost + grid.comfort * (config.comfort_weight / COMFORT), (_BUCKETS - 1) / _ROOT_2)
    cost = cost.astype(np.float32)
    parents = np.full(grid.cells.shape, -1, np.int8)
    spread = _spread(passable, cost, start[0], start[1], goal[0], goal[1], parents)
    if not np.isfinite(spread[goal]):
        raise NoPath(NoPathReason.NO_VALID_PATH, "goal and start lie in separate free space")
    flat = _trace(parents, start[0], start[1], goal[0], goal[1])
    points = grid.points_of(np.stack(np.divmod(flat, grid.cells.shape[1]), axis=1))
    given = np.array([np.asarray(start_xy, np.float64)[:2], np.asarray(goal_xy, np.float64)[:2]])
    held = grid.cells_of(given)
    if len(points) == 1:
        points = np.vstack([points, points])
    if tuple(held[1]) == goal:
        points[-1] = given[1]
    if tuple(held[0]) == start:
        points[0] = given[0]
    else:
        points = np.vstack([given[:1], points])
    return points

"""Obstacles that appeared on a planned path, found by comparing two grids in one frame."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy import ndimage

from lodestar.grid.occupancy import OccupancyGrid2D

REACH = 0.25  # m beside the path within which a cell blocks it: half the body's width, and a cell; ours
LEAST = 3  # minimum cells of an obstacle; fewer are noise; ours
SIDE = 1.2  # m to each side within which a wall bounds an opening; ours
NARROW = 1.7  # m, widest opening: a wide door with a cell of error on each side; ours
GAP = 0.25  # m left on one side of an obstacle that still fills an opening: too narrow to pass; ours
_EIGHT = np.ones((3, 3), bool)


@dataclass(frozen=True)
class Blockage:
    """An obstacle that appeared on a path. points: (N, 2) metres in map. heading: of the path there, radians.

    opening: metres between the walls left and right of the obstacle before it appeared; inf if a side has no
    wall. gaps: metres that the obstacle leaves free on its two sides in that opening.
    """

    center: tuple[float, float]
    points: np.ndarray
    heading: float
    opening: float
    gaps: tuple[float, float]

    @property
    def in_opening(self) -> bool:
        """Return whether the obstacle lies in a doorway or in a passage as narrow as one."""
        return self.opening <= NARROW

    @property
    def fills(self) -> bool:
        """Return whether the obstacle leaves no gap for the robot in its doorway or narrow passage."""
        return self.in_opening and max(self.gaps) <= GAP

    @property
    def ends(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Return the ends of the segment across the path that the obstacle blocks, metres in map."""
        across = np.array([-math.sin(self.heading), math.cos(self.heading)])
        along = (self.points - np.array(self.center)) @ across
        low, high = float(along.min()) - 0.1, float(along.max()) + 0.1
        one, other = (np.array(self.center) + across * side for side in (low, high))
        return (float(one[0]), float(one[1])), (float(other[0]), float(other[1]))


def newly_occupied(before: OccupancyGrid2D, now: OccupancyGrid2D) -> np.ndarray:
    """Return (rows, columns) bool on `now`: occupied cells that were known to be free before."""
    cells = np.argwhere(now.occupied)
    fresh = np.zeros(now.cells.shape, bool)
    if not len(cells):
        return fresh
    then = before.cells_of(now.points_of(cells))
    inside = before.contains(then)
    was_free = np.zeros(len(cells), bool)
    was_free[inside] = before.free[then[inside, 0], then[inside, 1]]
    kept = cells[was_free]
    fresh[kept[:, 0], kept[:, 1]] = True
    return fresh


def blockage_of(
    before: OccupancyGrid2D, now: OccupancyGrid2D, way: np.ndarray, here: np.ndarray
) -> Blockage | None:
    """Return the first new obstacle on the rest of a path (N, 2), seen from the robot; None if there is none.

    before: grid on which the path was planned. now: newest grid. here: (2+,), the robot's place.
    """
    if len(way) < 2:
        return None
    rest = way[int(np.hypot(*(way - np.asarray(here)[:2]).T).argmin()) :]
    fresh = newly_occupied(before, now)
    labels, count = ndimage.label(fresh, _EIGHT)
    if not count:
        return None
    cells = np.argwhere(labels > 0)
    points, owner = now.points_of(cells), labels[cells[:, 0], cells[:, 1]]
    sizes = np.bincount(owner, minlength=count + 1)
    away = np.full(len(points), np.inf)
    nearest = np.zeros(len(points), int)
    for index, spot in enumerate(rest):
        gap = np.hypot(*(points - spot).T)
        closer = gap < away
        away[closer], nearest[closer] = gap[closer], index
    hits = (away <= REACH) & (sizes[owner] >= LEAST)
    if not hits.any():
        return None
    at = int(nearest[hits].min())
    who = owner[hits & (nearest == at)][0]
    mine = points[owner == who]
    step = rest[min(at + 4, len(rest) - 1)] - rest[max(at - 4, 0)]
    heading = math.atan2(step[1], step[0])
    center = mine[np.hypot(*(mine - rest[at]).T) <= 1.0].mean(axis=0)
    opening, gaps = _opening(before, mine, center, heading)
    return Blockage((float(center[0]), float(center[1])), mine, heading, opening, gaps)


def _opening(
    before: OccupancyGrid2D, points: np.ndarray, center: np.ndarray, heading: float
) -> tuple[float, tuple[float, float]]:
    """Return the width of the opening around an obstacle, and the width left on its two sides, metres."""
    across = np.array([-math.sin(heading), math.cos(heading)])
    along = (points - center) @ across
    low, high = float(along.min()), float(along.max())
    left, right = _wall(before, center, across), _wall(before, center, -across)
    return left + right, (max(left - high, 0.0), max(right + low, 0.0))


def _wall(before: OccupancyGrid2D, start: np.ndarray, direction: np.ndarray) -> float:
    """Return the metres from a place to the first obstacle in a direction, inf if there is none within SIDE."""
    steps = np.arange(0.0, SIDE, before.resolution / 2.0)
    cells = before.cells_of(start + steps[:, None] * direction)
    inside = before.contains(cells)
    hit = np.zeros(len(steps), bool)
    hit[inside] = before.occupied[cells[inside, 0], cells[inside, 1]]
    return float(steps[hit.argmax()]) if hit.any() else math.inf


def mismatch(
    before: OccupancyGrid2D,
    now: OccupancyGrid2D,
    here: np.ndarray,
    radius: float,
    jump: tuple[np.ndarray, np.ndarray] | None = None,
) -> float:
    """Return the share of the obstacles around `here` (2+,) that stand on formerly free cells.

    It is 0 without obstacles. A large share indicates a wrong pose, which draws the walls a second time.
    jump: robot poses (3,) before and after a jump of the map, which is taken into account.
    """
    points, new = new_obstacles(before, now, here, radius, jump)
    return float(new.mean()) if len(points) else 0.0


def new_obstacles(
    before: OccupancyGrid2D,
    now: OccupancyGrid2D,
    here: np.ndarray,
    radius: float,
    jump: tuple[np.ndarray, np.ndarray] | None = None,
    slack: float = 0.0,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the obstacles (N, 2) around `here` (2+,), and whether each is on formerly free cells, (N,) bool.

    jump: as in `mismatch`. slack: metres that an obstacle may have moved; at least a cell, because a rotated
    grid is resampled.
    """
    points = now.points_of(np.argwhere(now.occupied))
    points = points[np.hypot(*(points - np.asarray(here)[:2]).T) <= radius]
    places = points
    if jump is not None:
        old, new = jump
        turn = float(old[2] - new[2])
        rotation = np.array([[math.cos(turn), -math.sin(turn)], [math.sin(turn), math.cos(turn)]])
        places = (points - new[:2]) @ rotation.T + old[:2]
    cells = before.cells_of(places)
    inside = before.contains(cells)
    free = np.zeros(len(points), bool)
    apart = max(round(slack / before.resolution), 1)
    clear = ~ndimage.binary_dilation(~before.free, _EIGHT, iterations=apart)
    free[inside] = clear[cells[inside, 0], cells[inside, 1]]
    return points, free

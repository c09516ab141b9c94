"""Proxemics: comfort zones around people, in which paths cost more, as values of a keep-out mask."""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np

from lodestar.grid.config import ComfortConfig
from lodestar.grid.occupancy import COMFORT, OCCUPIED, OccupancyGrid2D
from lodestar.grid.overlay import occupied_onto

# m added to the distance per metre ahead along a person's predicted path, so that comfort costs fall ahead of
# the person; chosen: more than one of the 40 steps of comfort in 0.15 m, which is a second at half the slow
# speed
_FADES = 0.25
# s for which a person is assumed to walk on; chosen: twice the time in which the robot stops
COMFORT_AHEAD = 1.0
_BODY = 0.5  # m; an obstacle that lies completely within this distance of a person is the person; chosen


def with_comfort(
    zones: OccupancyGrid2D | None,
    plan: OccupancyGrid2D,
    people: np.ndarray,
    config: ComfortConfig,
    stamp: float,
) -> OccupancyGrid2D | None:
    """Return the keep-out zones with the comfort zones of people added, on the cells of the grid `plan`.

    Comfort zones cover only cells without a keep-out zone. Returns `zones` itself if nothing is added. zones:
    a keep-out mask, whose cells may be those of an earlier grid; None = no zones. people: (N, 4) x, y in map,
    metres, and vx, vy, m/s. The zone of a walking person covers their path of the next COMFORT_AHEAD seconds
    and is strongest at their place. It ends at walls.
    """
    people = np.asarray(people, np.float64).reshape(-1, 4)
    people = people[np.isfinite(people).all(axis=1)]
    if not len(people) or config.distance <= 0.0:
        return zones
    values = np.zeros(plan.cells.shape, np.int8)
    for person in people:
        _lay(values, plan, person, config)
    if not values.any():
        return zones
    cells = values if zones is None else np.where(occupied_onto(plan, zones), np.int8(OCCUPIED), values)
    return replace(plan, cells=cells, keep_out=None, comfort=None, stamp=stamp)


def _lay(values: np.ndarray, plan: OccupancyGrid2D, person: np.ndarray, config: ComfortConfig) -> None:
    """Raise the comfort values (rows, columns) int8 around one person, on the cells of the grid `plan`.

    person: (4,) x, y, vx, vy.
    """
    place, way = person[:2], person[2:] * COMFORT_AHEAD
    reach = config.distance + float(np.linalg.norm(way))
    window = _window(plan, place, reach)
    rows, columns = np.mgrid[window]
    points = plan.points_of(np.stack([rows.ravel(), columns.ravel()], axis=1))
    if not len(points):
        return
    along = np.clip((points - place) @ way / max(float(way @ way), 1e-9), 0.0, 1.0)
    away = np.linalg.norm(points - place - along[:, None] * way, axis=1)
    faded = away + _FADES * along * float(np.linalg.norm(way))
    near = np.ceil(COMFORT * (1.0 - faded / config.distance))
    near[~_around(plan, place, points, away, config.distance)] = 0.0
    found = np.clip(near, 0.0, COMFORT).astype(np.int8).reshape(rows.shape)
    values[window] = np.maximum(values[window], found)


def _around(
    plan: OccupancyGrid2D, place: np.ndarray, points: np.ndarray, away: np.ndarray, distance: float
) -> np.ndarray:
    """Return (N,) bool: which points are connected to a person's place without a wall between them.

    points: (N, 2), centres of a full rectangle of cells of `plan`. away: (N,) metres from the person's path,
    up to `distance`. Occupied cells that all lie near the place are the person's own body, not a wall.
    """
    cells = plan.cells_of(points)
    inside = plan.contains(cells)
    at = np.where(inside[:, None], cells, 0)
    apart = np.linalg.norm(points - place, axis=1)
    shape = -1, len(np.unique(points[:, 0]))
    occupied = inside & plan.occupied[at[:, 0], at[:, 1]]
    _, bodies = cv2.connectedComponents(occupied.reshape(shape).astype(np.uint8), connectivity=8)
    farthest = np.zeros(bodies.max() + 1)
    np.maximum.at(farthest, bodies.ravel(), apart)
    wall = occupied & (farthest[bodies.ravel()] > _BODY)
    is_open = inside & (away < distance) & ~wall
    if not is_open.any():
        return is_open
    _, labels = cv2.connectedComponents(is_open.reshape(shape).astype(np.uint8), connectivity=4)
    own = labels.ravel()[np.argmin(np.where(is_open, apart, np.inf))]
    return np.asarray(labels.ravel() == own)


def _window(grid: OccupancyGrid2D, place: np.ndarray, reach: float) -> tuple[slice, slice]:
    """Return the rows and columns of the square with half side `reach` about a place (2,), on the grid.

    The slices are empty if the square lies off the grid.
    """
    low, high = grid.cells_of(np.array([place - reach, place + reach]))
    rows, columns = grid.cells.shape
    return (
        slice(int(np.clip(low[0], 0, rows)), int(np.clip(high[0] + 1, 0, rows))),
        slice(int(np.clip(low[1], 0, columns)), int(np.clip(high[1] + 1, 0, columns))),
    )

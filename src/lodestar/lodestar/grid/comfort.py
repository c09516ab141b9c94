"""Proxemics: the zone around people in which a step costs more, as values of a keep-out mask."""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np

from lodestar.grid.config import ComfortConfig
from lodestar.grid.occupancy import COMFORT, OCCUPIED, OccupancyGrid2D
from lodestar.grid.overlay import occupied_onto

# m of distance that a metre of way ahead of a person adds: who walks towards them along it comes nearer; chosen: more
# than one of the 40 steps of closeness in 0.15 m, a second of half the slow speed
_FADES = 0.25
_BODY = 0.5  # m around a person's place within which all of an obstacle lies that is the person; chosen


def with_comfort(
    zones: OccupancyGrid2D | None,
    plan: OccupancyGrid2D,
    people: np.ndarray,
    config: ComfortConfig,
    stamp: float,
) -> OccupancyGrid2D | None:
    """Return the zones on the cells of the plan with the comfort of people laid over what is open; the same object
    where there is none.

    zones: a keep-out mask, whose cells may be those of an earlier plan; None = all open. people: (N, 4) x, y in map,
    metres, and vx, vy, m/s. A person who walks takes the way of the next `ahead` seconds too, most where they are. A
    wall across the zone ends it, also one that the person leans on, and that of somebody in a mirror.
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


def _lay(
    values: np.ndarray,
    plan: OccupancyGrid2D,
    person: np.ndarray,
    config: ComfortConfig,
) -> None:
    """Raise the values (rows, columns) int8 on the plan to those of one person (4,)."""
    place, way = person[:2], person[2:] * config.ahead
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
    """Return (N,) bool: points of a full window (N, 2) on the plan that hang together with the person's place without
    a wall between. What is occupied and ends near the place is the person's own body, and no wall.
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
    """Return the part of a grid within a square about a place (2,); empty off the grid."""
    low, high = grid.cells_of(np.array([place - reach, place + reach]))
    rows, columns = grid.cells.shape
    return (
        slice(int(np.clip(low[0], 0, rows)), int(np.clip(high[0] + 1, 0, rows))),
        slice(int(np.clip(low[1], 0, columns)), int(np.clip(high[1] + 1, 0, columns))),
    )

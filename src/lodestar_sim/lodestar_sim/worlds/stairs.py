"""Addition of a stairwell with a flight of stairs to a plan."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from lodestar_sim.worlds.flights import Flight
from lodestar_sim.worlds.plan import CELL, Plan

STEPS = 18  # number of risers of a storey's flight; chosen
RISE = 0.155  # m, height of a step; chosen: below CLIMB, the limit of a Go2, and the 0.17 m of `openings`
TREAD = 3  # cells, depth of a step; as `openings`
STOREY = STEPS * RISE  # m, from floor to floor
LANE = 14  # cells, width of the flight; chosen
WAY = 18  # cells, width of the passage beside the flight on the upper storey; chosen
FOOT = 16  # cells, depth of the landing at the hall's end: width of the narrowest hall, so that both storeys align
LANDING = 22  # cells, depth of the upper landing; chosen
_DOOR = 12  # cells, width of the opening between hall and stairwell; chosen
_MARGIN = 2  # cells of wall around the stairwell


@dataclass(frozen=True)
class Stairwell:
    """A floor plan with a stairwell at the end of its hall. flight: column, row, width, depth of the stairs.

    opening: (rows, columns) bool, cells without floor: on an upper storey those above the stairs.
    """

    plan: Plan
    flight: tuple[int, int, int, int]
    opening: np.ndarray


def with_stairwell(plan: Plan, upper: bool) -> Stairwell:
    """Return the plan of `rows.two_rows`, whose hall runs along x, with a stairwell at the hall's eastern end.

    A landing lies at the end of the hall. On the lower storey the stairs rise from it to the north. On the
    upper storey a passage beside the stairwell leads from the landing to the top of the stairs, so that the
    halls of both storeys lie above each other.
    """
    hall = next(iter(plan.labels))
    rows, columns = np.nonzero(plan.rooms == hall)
    after, wall = int(rows.max()) + 1, int(columns.max()) + 1
    west, length = wall + 1, TREAD * (STEPS - 1)
    size = (
        max(plan.free.shape[0], after + length + LANDING + _MARGIN),
        max(plan.free.shape[1], west + LANE + WAY + 1 + _MARGIN),
    )
    grow = [(0, want - have) for want, have in zip(size, plan.free.shape)]
    plan = replace(plan, rooms=np.pad(plan.rooms, grow), free=np.pad(plan.free, grow))
    well = plan.carve("stairwell", west, after - FOOT, LANE + WAY + 1, FOOT)
    opening = np.zeros(plan.free.shape, bool)
    flight = np.s_[after + upper : after + length, west : west + LANE]
    plan.free[flight], plan.rooms[flight] = True, well
    if upper:
        opening[flight] = True
        for part in (
            np.s_[after : after + length, west + LANE + 1 : west + LANE + WAY + 1],
            np.s_[after + length : after + length + LANDING, west : west + LANE + WAY + 1],
        ):
            plan.free[part], plan.rooms[part] = True, well
    plan.open(wall, after - FOOT + (FOOT - _DOOR) // 2, 1, _DOOR, (hall, well))
    plan.finishes[well] = ("gray", "concrete")
    return Stairwell(plan, (west, after, LANE, length), opening)


def flight_of(well: Stairwell, identity: int) -> Flight:
    """Return the stairs in a stairwell on the lower storey, whose floor is z = 0."""
    return Flight(identity, *well.plan.rectangle(*well.flight), 0.0, STOREY, STEPS)


def aligned(upper: Stairwell, lower: Stairwell) -> Stairwell:
    """Return the upper stairwell with its plan shifted so that its stairs coincide with the lower one's."""
    column, row = (a - b for a, b in zip(lower.flight[:2], upper.flight[:2]))
    x, y = lower.plan.origin
    origin = (round(x + column * CELL, 3), round(y + row * CELL, 3))
    moved = replace(upper.plan, origin=origin)
    dx, dy = (new - old for new, old in zip(origin, upper.plan.origin))
    moved.doors = [replace(door, rect=_shifted(door.rect, dx, dy)) for door in upper.plan.doors]
    return replace(upper, plan=moved)


def _shifted(
    rect: tuple[float, float, float, float], dx: float, dy: float
) -> tuple[float, float, float, float]:
    x0, y0, x1, y1 = rect
    return round(x0 + dx, 3), round(y0 + dy, 3), round(x1 + dx, 3), round(y1 + dy, 3)

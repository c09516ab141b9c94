"""Plans of rooms side by side along a corridor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from lodestar_sim.worlds.plan import Plan

WALL = 1  # cells, thickness of walls between rooms
MARGIN = 2  # cells, thickness of the outer wall
DOOR = (9, 12)  # cells, range of widths of an ordinary door, upper end excluded
OPENING = (13, 18)  # cells, likewise for rooms without a door leaf
OPEN_ROOMS = ("living room", "open plan", "reception", "kitchenette", "warehouse")


def two_rows(
    rng: np.random.Generator,
    corridor: tuple[str, int],
    south: Sequence[tuple[str, int]],
    north: Sequence[tuple[str, int]],
    depths: tuple[int, int],
) -> Plan:
    """Return a plan of a corridor (label, width) with rooms (label, width) on both sides, in cells.

    Rooms are widened until both rows have the same length.
    """
    labels = [[label for label, _ in row] for row in (south, north)]
    widths = [[width for _, width in row] for row in (south, north)]
    totals = [sum(row) + WALL * (len(row) - 1) for row in widths]
    inner = max(totals)
    for row, total in zip(widths, totals):
        for i in range(inner - total):
            row[i % len(row)] += 1
    rows = [list(zip(*row)) for row in zip(labels, widths)]
    label, breadth = corridor
    plan = Plan.empty(inner + 2 * MARGIN, sum(depths) + breadth + 2 * WALL + 2 * MARGIN)
    first = MARGIN + depths[0] + WALL
    hall = plan.carve(label, MARGIN, first, inner, breadth)
    add_row(plan, rng, rows[0], MARGIN, depths[0], first - WALL, hall)
    add_row(plan, rng, rows[1], first + breadth + WALL, depths[1], first + breadth, hall)
    return plan


def add_row(
    plan: Plan,
    rng: np.random.Generator,
    row: list[tuple[str, int]],
    first: int,
    depth: int,
    wall: int,
    hall: int,
) -> None:
    """Add a row of rooms side by side, from column MARGIN on, each with a door in the wall of the corridor.

    row: (label, width in cells) of each room. first, depth: their first row of cells and number of rows.
    wall: first row of cells of the corridor's wall. hall: room id of the corridor.
    """
    column = MARGIN
    for label, width in row:
        room = plan.carve(label, column, first, width, depth)
        door = int(rng.integers(*(OPENING if label in OPEN_ROOMS else DOOR)))
        at = column + int(rng.integers(3, width - door - 2))
        plan.open(at, wall, door, WALL, (hall, room))
        column += width + WALL


def lock(plan: Plan, rng: np.random.Generator, labels: Sequence[str]) -> None:
    """Lock the door of a random room that has one of these labels."""
    among = [i for i, door in enumerate(plan.doors) if plan.labels[door.rooms[1]] in labels]
    index = among[int(rng.integers(len(among)))]
    plan.doors[index] = replace(plan.doors[index], locked=True)
    plan.close(plan.doors[index])


def turned(plan: Plan) -> Plan:
    """Return the plan with x and y exchanged."""
    swap = {"x": "y", "y": "x"}
    doors = [
        replace(d, rect=(d.rect[1], d.rect[0], d.rect[3], d.rect[2]), along=swap[d.along]) for d in plan.doors
    ]
    return replace(
        plan, rooms=plan.rooms.T.copy(), free=plan.free.T.copy(), origin=plan.origin[::-1], doors=doors
    )

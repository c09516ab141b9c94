"""An apartment: rooms on both sides of a hall, in an order, sizes and an orientation of their own."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from lodestar_sim.worlds.plan import Plan

WALL = 1  # cells
#: label -> (narrowest, widest) in cells
WIDTHS = {
    "living room": (52, 64),
    "kitchen": (36, 44),
    "bedroom": (38, 46),
    "bathroom": (28, 34),
    "study": (34, 42),
    "laundry room": (26, 32),
}
FINISHES = {
    "kitchen": ("gray", "tile"),
    "bathroom": ("white", "tile"),
    "laundry room": ("gray", "tile"),
    "hall": ("brown", "wood"),
}


def apartment_plan(rng: np.random.Generator, locked: bool = False) -> Plan:
    """Six to eight rooms with doors of 0.9 to 1.1 m; where `locked`, one of them cannot be entered."""
    north = ["living room", "kitchen"]
    south = ["bedroom", "bathroom", "bedroom"]
    extras = ["study", "laundry room"]
    for extra in extras[: int(rng.integers(0, 3))] if rng.random() < 0.9 else extras:
        (north if len(north) < 3 else south).append(extra)
    if len(north) + len(south) < 6:
        north.append("study")
    rng.shuffle(north)
    rng.shuffle(south)
    widths = [[int(rng.integers(*WIDTHS[label])) for label in row] for row in (north, south)]
    totals = [sum(row) + WALL * (len(row) - 1) for row in widths]
    inner = max(totals)
    for row, total in zip(widths, totals):
        for i in range(inner - total):
            row[i % len(row)] += 1
    depths = int(rng.integers(38, 46)), int(rng.integers(38, 46))
    hall = int(rng.integers(16, 22))
    plan = Plan.empty(inner + 4, depths[0] + depths[1] + hall + 2 * WALL + 4)
    south_row, hall_row = 2, 2 + depths[1] + WALL
    hall_id = plan.carve("hall", 2, hall_row, inner, hall)
    _row(plan, rng, south, widths[1], south_row, depths[1], hall_row - WALL, hall_id)
    north_row = hall_row + hall + WALL
    _row(plan, rng, north, widths[0], north_row, depths[0], hall_row + hall, hall_id)
    if locked:
        _lock(plan, rng)
    plan = _turned(plan) if rng.random() < 0.5 else plan
    plan.finishes = {room: FINISHES.get(label, ("beige", "wood")) for room, label in plan.labels.items()}
    return plan


def _row(
    plan: Plan,
    rng: np.random.Generator,
    labels: list[str],
    widths: list[int],
    row: int,
    depth: int,
    wall: int,
    hall: int,
) -> None:
    """Rooms side by side from column 2 on, each with a door in the hall's wall at row `wall`."""
    column = 2
    for label, width in zip(labels, widths):
        room = plan.carve(label, column, row, width, depth)
        door = int(rng.integers(12, 17)) if label == "living room" else int(rng.integers(9, 12))
        at = column + int(rng.integers(3, width - door - 3))
        plan.open(at, wall, door, WALL, (hall, room))
        column += width + WALL


def _lock(plan: Plan, rng: np.random.Generator) -> None:
    """Walls off the door of a bedroom."""
    bedrooms = [i for i, d in enumerate(plan.doors) if plan.labels[d.rooms[1]] == "bedroom"]
    index = bedrooms[int(rng.integers(len(bedrooms)))]
    door = plan.doors[index]
    plan.doors[index] = replace(door, locked=True)
    plan.close(door)


def _turned(plan: Plan) -> Plan:
    """The plan with x and y exchanged."""
    swap = {"x": "y", "y": "x"}
    doors = [
        replace(d, rect=(d.rect[1], d.rect[0], d.rect[3], d.rect[2]), along=swap[d.along]) for d in plan.doors
    ]
    return Plan(plan.rooms.T.copy(), plan.free.T.copy(), plan.origin[::-1], plan.labels, doors)

"""Offices: closed rooms on one side of a corridor, open plan and common rooms on the other."""

from __future__ import annotations

import numpy as np

from lodestar_sim.worlds.plan import Plan
from lodestar_sim.worlds.rows import DOOR, MARGIN, WALL, add_row, lock, turned, two_rows

#: Room label -> range of widths, cells, upper end excluded.
WIDTHS = {
    "office": (32, 42),
    "meeting room": (48, 60),
    "open plan": (88, 116),
    "kitchenette": (42, 52),
    "print room": (30, 38),
    "server room": (32, 38),
    "storage room": (28, 34),
    "reception": (50, 62),
    "toilets": (28, 34),
}
CORE = ("server room", "storage room", "toilets", "print room")  # rooms enclosed by a ring corridor
CARPETED = ("office", "open plan", "meeting room", "reception")


def ring_plan(rng: np.random.Generator) -> Plan:
    """Return a plan with a ring corridor around a core of rooms, and rows of rooms along its two long sides."""
    wide, core = int(rng.integers(18, 23)), int(rng.integers(48, 64))
    outer = [["office"] * 3 + ["meeting room"], ["open plan", "kitchenette", "reception"]]
    rows: list[list[tuple[str, int]]] = []
    for labels in outer:
        rng.shuffle(labels)
        rows.append([(label, int(rng.integers(*WIDTHS[label]))) for label in labels])
    inner = max(sum(width for _, width in row) + WALL * (len(row) - 1) for row in rows)
    for row in rows:  # the last room takes the remaining width
        left = inner - sum(width for _, width in row) - WALL * (len(row) - 1)
        row[-1] = (row[-1][0], row[-1][1] + left)
    south, north = int(rng.integers(42, 52)), int(rng.integers(38, 48))
    plan = Plan.empty(inner + 2 * MARGIN, south + north + core + 2 * wide + 4 * WALL + 2 * MARGIN)
    low = MARGIN + south + WALL
    high = low + wide + WALL + core + WALL
    halls = [plan.carve("corridor", MARGIN, row, inner, wide) for row in (low, high)]
    sides = high - low - wide
    for column in (MARGIN, MARGIN + inner - wide):
        plan.carve("corridor", column, low + wide, wide, sides)
    add_row(plan, rng, rows[0], MARGIN, south, low - WALL, halls[0])
    add_row(plan, rng, rows[1], high + wide + WALL, north, high + wide, halls[1])
    cores = [str(label) for label in rng.permutation(CORE)[: int(rng.integers(2, 4))]]
    space = inner - 2 * (wide + WALL) - WALL * (len(cores) - 1)
    column = MARGIN + wide + WALL
    for k, label in enumerate(cores):
        width = space // len(cores)
        room = plan.carve(label, column, low + wide + WALL, width, core)
        door, at = int(rng.integers(*DOOR)), column + int(rng.integers(3, width - 14))
        plan.open(at, low + wide if k % 2 else high - WALL, door, WALL, (halls[0 if k % 2 else 1], room))
        column += width + WALL
    _finish(plan)
    return turned(plan) if rng.random() < 0.5 else plan


def office_plan(rng: np.random.Generator, locked: bool = False, turns: bool = True) -> Plan:
    """Return a plan of nine to twelve rooms; if `locked`, one of the closed rooms is inaccessible.

    turns: whether the corridor may run along y.
    """
    north = ["office"] * int(rng.integers(3, 5)) + [
        "meeting room",
        str(rng.choice(["server room", "storage room"])),
    ]
    south = ["open plan", "kitchenette", "print room", "reception"]
    if rng.random() < 0.6:
        south.append("toilets")
    rng.shuffle(north)
    rng.shuffle(south)
    rows = [[(label, int(rng.integers(*WIDTHS[label]))) for label in row] for row in (south, north)]
    depths = int(rng.integers(52, 64)), int(rng.integers(38, 48))
    plan = two_rows(rng, ("corridor", int(rng.integers(18, 24))), rows[0], rows[1], depths)
    if locked:
        lock(plan, rng, ("office", "server room", "storage room"))
    _finish(plan)
    return turned(plan) if rng.random() < 0.5 and turns else plan


def _finish(plan: Plan) -> None:
    plan.finishes = {
        room: ("gray", "carpet") if label in CARPETED else ("beige", "tile")
        for room, label in plan.labels.items()
    }

"""Offices: closed rooms on one side of a corridor, open plan and common rooms on the other."""

from __future__ import annotations

import numpy as np

from lodestar_sim.worlds.plan import Plan
from lodestar_sim.worlds.rows import lock, turned, two_rows

#: label -> range of widths, cells, upper end excluded
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
CARPETED = ("office", "open plan", "meeting room", "reception")


def office_plan(rng: np.random.Generator, locked: bool = False, turns: bool = True) -> Plan:
    """Return a plan of nine to twelve rooms; if `locked`, one of the closed rooms is inaccessible.

    turns: its corridor may run along y.
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
    plan.finishes = {
        room: ("gray", "carpet") if label in CARPETED else ("beige", "tile")
        for room, label in plan.labels.items()
    }
    return turned(plan) if rng.random() < 0.5 and turns else plan

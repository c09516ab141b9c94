"""Apartments: rooms on both sides of a hall, with random order, sizes and orientation."""

from __future__ import annotations

import numpy as np

from lodestar_sim.worlds.plan import Plan
from lodestar_sim.worlds.rows import lock, turned, two_rows

#: Room label -> range of widths, cells, upper end excluded.
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
    "bedroom": ("beige", "carpet"),
}


def apartment_plan(rng: np.random.Generator, locked: bool = False, turns: bool = True) -> Plan:
    """Return a plan of six to eight rooms with doors of 0.9 to 1.1 m; if `locked`, one bedroom is inaccessible.

    turns: whether the hall may run along y.
    """
    north, south = ["living room", "kitchen"], ["bedroom", "bathroom", "bedroom"]
    north += ["study"] if rng.random() < 0.75 else []
    if rng.random() < 0.45:
        (south if len(north) > 2 else north).append("laundry room")
    rng.shuffle(north)
    rng.shuffle(south)
    rows = [[(label, int(rng.integers(*WIDTHS[label]))) for label in row] for row in (south, north)]
    depths = int(rng.integers(38, 46)), int(rng.integers(38, 46))
    plan = two_rows(rng, ("hall", int(rng.integers(16, 22))), rows[0], rows[1], depths)
    if locked:
        lock(plan, rng, ("bedroom",))
    plan.finishes = {room: FINISHES.get(label, ("beige", "wood")) for room, label in plan.labels.items()}
    return turned(plan) if rng.random() < 0.5 and turns else plan

"""Warehouses: a hall of racks full of similar boxes, with side rooms."""

from __future__ import annotations

import math

import numpy as np

from lodestar_sim.worlds.build import Site
from lodestar_sim.worlds.furnish import Furnisher
from lodestar_sim.worlds.plan import Plan
from lodestar_sim.worlds.rows import DOOR, MARGIN, WALL, lock

SIDE_ROOMS = ("office", "workshop", "storage room", "toilets")
AISLE = 1.9  # metres between rows of racks
BORDER = 2.5  # metres left free around the rows
CEILING = 4.5  # metres, height of the hall


def warehouse_site(rng: np.random.Generator, locked: bool = False) -> Site:
    """Return a hall of about 300 m2 with its racks, and three or four rooms along one side of it."""
    width, depth, side = int(rng.integers(200, 250)), int(rng.integers(150, 180)), int(rng.integers(40, 48))
    plan = Plan.empty(width + 2 * MARGIN, depth + side + WALL + 2 * MARGIN)
    plan.ceiling, plan.lintel = CEILING, 2.4
    hall = plan.carve("warehouse", MARGIN, MARGIN, width, depth)
    labels = [str(label) for label in rng.permutation(SIDE_ROOMS)[: int(rng.integers(3, 5))]]
    if "office" not in labels:
        labels[0] = "office"
    each = (width - WALL * (len(labels) - 1)) // len(labels)
    for i, label in enumerate(labels):
        column = MARGIN + i * (each + WALL)
        room = plan.carve(label, column, MARGIN + depth + WALL, min(each, 70), side)
        door = int(rng.integers(*DOOR))
        at = column + int(rng.integers(4, min(each, 70) - door - 3))
        plan.open(at, MARGIN + depth, door, WALL, (hall, room))
    if locked:
        lock(plan, rng, ("storage room", "workshop", "toilets"))
    plan.finishes = dict.fromkeys(plan.labels, ("gray", "concrete"))
    site = Site(plan, Furnisher(rng))
    _racks(site, hall)
    return site


def _racks(site: Site, hall: int) -> None:
    """Add double rows of racks along x, with aisles between them, and boxes on the lower levels."""
    space, rng = site.space(hall), site.rng
    x0, y0, x1, y1 = space.rect
    y = y0 + BORDER
    while y + 2.3 < y1 - BORDER:
        x = x0 + BORDER + float(rng.random())
        while x + 2.7 < x1 - BORDER:
            if rng.random() < 0.88:
                _pair(site, hall, x, y)
            x += 2.75
        y += 2.2 + AISLE


def _pair(site: Site, hall: int, x: float, y: float) -> None:
    """Add two loaded racks, back to back at y + 1.1 metres."""
    for yaw, sign in ((-math.pi / 2, -1.0), (math.pi / 2, 1.0)):
        rack = site.furnisher.design("pallet rack")
        pose = (x + 1.35, y + 1.1 + sign * (rack.size[0] / 2 + 0.02), 0.0, yaw)
        made = site.furnisher.stand(site.space(hall), rack, pose)
        if not made:
            continue
        for _ in range(int(site.rng.integers(3, 7))):
            name = ("box", "box", "box", "crate", "toolbox")[int(site.rng.integers(5))]
            thing = site.furnisher.design(name, word="cardboard" if site.rng.random() < 0.5 else None)
            site.furnisher.put_on(thing, made)

"""From a plan to a furnished world."""

from __future__ import annotations

import cv2
import numpy as np

from lodestar_sim.worlds.errors import WorldError
from lodestar_sim.worlds.furnish import Furnisher, Made
from lodestar_sim.worlds.plan import Plan
from lodestar_sim.worlds.programs import PROGRAMS, Put
from lodestar_sim.worlds.space import RoomSpace
from lodestar_sim.worlds.catalogue import CATALOGUE
from lodestar_sim.worlds.world import World


def build_world(name: str, kind: str, plan: Plan, seed: int, rng: np.random.Generator) -> World:
    """The plan's building, furnished room by room; it starts where there is most room about its middle."""
    furnisher = Furnisher(rng)
    for room in plan.labels:
        furnish_room(furnisher, RoomSpace(plan, room))
    return World(
        name=name,
        kind=kind,
        seed=seed,
        bounds=plan.bounds,
        start=_start(plan, furnisher),
        rooms=tuple(plan.outlines()),
        walls=tuple(plan.walls()),
        slabs=tuple(plan.slabs()),
        objects=furnisher.objects,
    )


def furnish_room(furnisher: Furnisher, space: RoomSpace) -> None:
    """Places what the room's program asks for, as far as it fits."""
    placed: dict[str, list[Made]] = {}
    for put in PROGRAMS.get(space.label, ()):
        if furnisher.rng.random() >= put.chance:
            continue
        low, high = put.count
        for _ in range(int(furnisher.rng.integers(low, high + 1))):
            made = _place(furnisher, space, put, placed)
            if made:
                placed.setdefault(put.key or put.name, []).append(made)


def _place(furnisher: Furnisher, space: RoomSpace, put: Put, placed: dict[str, list[Made]]) -> Made | None:
    thing = furnisher.design(put.name, word=put.word)
    if put.how == "wall" or put.how == "corner":
        return furnisher.against_wall(space, thing, corner=put.how == "corner")
    if put.how in ("centre", "free"):
        return furnisher.free_standing(space, thing, centre=put.how == "centre")
    if put.how == "mount":
        return furnisher.mount(space, thing, CATALOGUE[put.name].mount_height)
    anchors = placed.get(put.of, [])
    if not anchors:
        return None
    anchor = anchors[int(furnisher.rng.integers(len(anchors)))]
    if put.how == "before":
        return furnisher.before(space, thing, anchor)
    if put.how == "beside":
        return furnisher.beside(space, thing, anchor)
    if put.how == "around":
        return furnisher.around(space, thing, anchor)
    return furnisher.put_on(thing, anchor)


def _start(plan: Plan, furnisher: Furnisher) -> tuple[float, float, float]:
    """The roomiest free spot near the middle, looking along the longer side of the building."""
    x0, y0, x1, y1 = plan.bounds
    scale = 2
    free = np.kron(plan.free & (plan.rooms > 0), np.ones((scale, scale), np.uint8)).astype(np.uint8)
    res = (x1 - x0) / free.shape[1]
    for made in furnisher.made:
        bx0, by0, bx1, by1 = made.box
        free[int((by0 - y0) / res) : int((by1 - y0) / res) + 1, int((bx0 - x0) / res) : int((bx1 - x0) / res) + 1] = 0
    distance = np.minimum(cv2.distanceTransform(free, cv2.DIST_L2, 5) * res, 0.8)
    rows, columns = np.indices(free.shape)
    away = np.hypot(rows - free.shape[0] / 2, columns - free.shape[1] / 2) * res
    score = distance - 0.02 * away
    row, column = np.unravel_index(int(np.argmax(score)), free.shape)
    if distance[row, column] < 0.45:
        raise WorldError("the building has no place of 0.9 m width to start from")
    yaw = 0.0 if x1 - x0 >= y1 - y0 else round(np.pi / 2, 6)
    return round(x0 + (column + 0.5) * res, 3), round(y0 + (row + 0.5) * res, 3), yaw

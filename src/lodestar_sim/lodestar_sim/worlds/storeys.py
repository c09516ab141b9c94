"""Buildings of two storeys: two furnished plans, one above the other, joined by one straight flight of stairs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from lodestar_sim.worlds.apartment import apartment_plan
from lodestar_sim.worlds.build import Site, furnished_storey
from lodestar_sim.worlds.elements import Slab, Wall
from lodestar_sim.worlds.errors import WorldError
from lodestar_sim.worlds.flights import Flight
from lodestar_sim.worlds.furnish import Furnisher
from lodestar_sim.worlds.office import office_plan
from lodestar_sim.worlds.plan import Plan, rectangles
from lodestar_sim.worlds.rows import turned
from lodestar_sim.worlds.stairs import STOREY, Stairwell, aligned, flight_of, with_stairwell
from lodestar_sim.worlds.world import Storey, World

_PLANS: dict[str, Callable[[np.random.Generator], Plan]] = {
    "apartment": lambda rng: apartment_plan(rng, turns=False),
    "office": lambda rng: office_plan(rng, turns=False),
}
_HEADROOM, _BEAM = 1.9, 0.1  # m, clear height under the foot's beam, its depth; chosen
_START = 0.6  # m between the flight's head and the start pose of the upper storey; chosen


def stacked_world(kind: str, rng: np.random.Generator, seed: int) -> World:
    """Return a two-storey building of a kind, "apartment" or "office". Raises WorldError for another kind."""
    if kind not in _PLANS:
        raise WorldError(f"{kind}: only {', '.join(_PLANS)} have two storeys")
    lower = with_stairwell(_PLANS[kind](rng), upper=False)
    upper = aligned(with_stairwell(_PLANS[kind](rng), upper=True), lower)
    flight = flight_of(lower, 1)
    if rng.random() < 0.5:
        lower, upper = (_turned(well) for well in (lower, upper))
        flight = replace(flight, x0=flight.y0, y0=flight.x0, x1=flight.y1, y1=flight.x1, along="x")
    furnisher = Furnisher(rng)
    furnisher.new_id()  # reserve id 1 for the flight
    ground = furnished_storey(f"{kind} 0", kind, Site(lower.plan, furnisher), seed, flight)
    above = furnished_storey(
        f"{kind} 1", kind, Site(upper.plan, furnisher.on_another_storey()), seed, flight.shifted(-STOREY),
        start=_entered(flight), holes=upper.opening,
    )  # fmt: skip
    ground = replace(
        ground, slabs=_open_ceiling(lower, upper, ground), walls=(*ground.walls, _lintel(flight, ground))
    )
    return stacked(kind, seed, (Storey(0.0, ground), Storey(STOREY, above)), flight)


def stacked(kind: str, seed: int, storeys: tuple[Storey, ...], flight: Flight) -> World:
    """Return one world that combines storeys; the floor of each storey's own world is z = 0."""
    bounds = np.array([storey.world.bounds for storey in storeys])
    low, high = bounds[:, :2].min(axis=0), bounds[:, 2:].max(axis=0)
    first = storeys[0].world
    return World(
        name=kind,
        kind=kind,
        seed=seed,
        bounds=(float(low[0]), float(low[1]), float(high[0]), float(high[1])),
        start=first.start,
        rooms=first.rooms,
        walls=tuple(
            replace(wall, z0=wall.z0 + s.height, z1=wall.z1 + s.height)
            for s in storeys
            for wall in s.world.walls
        ),
        slabs=tuple(replace(slab, z=slab.z + s.height) for s in storeys for slab in s.world.slabs),
        objects=tuple(
            replace(thing, pose=(*thing.xy, thing.pose[2] + s.height, thing.pose[3]))
            for s in storeys
            for thing in s.world.objects
        ),
        decals=first.decals,
        charging_station=first.charging_station,
        flights=(flight,),
        storeys=storeys,
    )


def _entered(flight: Flight) -> tuple[float, float, float]:
    """Return the pose (x, y, yaw) at the top of the stairs, facing away from them."""
    x, y, _ = flight.head
    return (x, y + _START, np.pi / 2) if flight.along == "y" else (x + _START, y, 0.0)


def _turned(well: Stairwell) -> Stairwell:
    column, row, width, depth = well.flight
    return Stairwell(turned(well.plan), (row, column, depth, width), well.opening.T.copy())


def _open_ceiling(lower: Stairwell, upper: Stairwell, world: World) -> tuple[Slab, ...]:
    """Return the slabs of the lower storey, with its ceiling cut open above the stairs."""
    column, row, width, depth = lower.flight
    opening = np.zeros(lower.plan.free.shape, bool)
    opening[row : row + depth, column : column + width] = True
    ceiling = next(slab for slab in world.slabs if slab.ceiling)
    kept = [slab for slab in world.slabs if not slab.ceiling]
    for part in rectangles(~opening):
        x0, y0, x1, y1 = lower.plan.rectangle(*part)
        kept.append(replace(ceiling, x0=x0, y0=y0, x1=x1, y1=y1))
    return tuple(kept)


def _lintel(flight: Flight, world: World) -> Wall:
    """Return the beam over the lowest step of the stairs, from headroom up to the ceiling."""
    ceiling = next(slab.z for slab in world.slabs if slab.ceiling)
    if flight.along == "y":
        return Wall(flight.x0, flight.y0 - _BEAM, flight.x1, flight.y0, _HEADROOM, ceiling)
    return Wall(flight.x0 - _BEAM, flight.y0, flight.x0, flight.y1, _HEADROOM, ceiling)

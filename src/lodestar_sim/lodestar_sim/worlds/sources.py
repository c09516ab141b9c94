"""Worlds by specification: a generator, a world file, or a real occupancy map."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import numpy as np

from lodestar_sim.worlds.apartment import apartment_plan
from lodestar_sim.worlds.build import Site, build_world
from lodestar_sim.worlds.errors import WorldError
from lodestar_sim.worlds.floorplan import KINDS, floor_plan, read_arrays, read_ros_map
from lodestar_sim.worlds.furnish import Furnisher
from lodestar_sim.worlds.office import office_plan, ring_plan
from lodestar_sim.worlds.signs import with_signs
from lodestar_sim.worlds.storeys import stacked_world
from lodestar_sim.worlds.warehouse import warehouse_site
from lodestar_sim.worlds.world import World
from lodestar_sim.worlds.world_events import with_happenings

GENERATORS = ("apartment", "office", "warehouse")
STORED = ("laboratory", "ramp")  # names of packaged world files
_FOLDER = Path(__file__).parent / "stored"
GROUND = ("stairs", "hole", "sills")  # options for the floor of a generated building
SWITCHES = ("locked", "events", "signs", "ring", "storeys", *GROUND)
OPTIONS = (*SWITCHES, "kind")


def world_from_spec(spec: str, seed: int = 1) -> World:
    """Return the world of a specification, deterministically for a seed.

    spec: apartment | office | warehouse (with ?locked=1 for a room that cannot be entered, ?stairs=1 for a flight of
    stairs leading down, ?hole=1, ?sills=1 for sills of 3 cm in its doorways, ?events=1 for timed events,
    ?signs=1 for signs on its walls, which change colours only; an apartment or office with ?storeys=2 for two
    storeys and a flight of stairs between them; an office with ?ring=1 for a corridor round a core of rooms),
    laboratory or ramp, two halls joined by a ramp of 5 degrees (packaged files), a world's .json file, a folder with
    occ_map.npy and valid_space.npy, or a map_server .yaml file. ?kind= of a map: furniture of an apartment, office
    (default) or warehouse.
    Raises WorldError, which names the problem, for any other text.
    """
    name, _, query = spec.partition("?")
    options = _options(spec, query)
    rng = np.random.default_rng([abs(int(seed)), 0x10DE])
    if name in GENERATORS:
        if "kind" in options:
            raise WorldError(f"{spec}: only maps have a kind to choose; {name} is one")
        if options["storeys"]:
            return _stacked(spec, name, rng, options, seed)
        if options["ring"] and (name != "office" or options["locked"]):
            raise WorldError(f"{spec}: only an office has a ring, and no locked room in it")
        ground = frozenset(what for what in GROUND if options[what])
        site = _site(name, rng, options["locked"], options["ring"])
        world = build_world(name, name, site, seed, ground)
        if options["signs"]:
            world = with_signs(world, site.plan, seed)
    else:
        if any(options[what] for what in ("locked", "signs", "ring", "storeys", *GROUND)):
            raise WorldError(
                f"{spec}: only {', '.join(GENERATORS)} have {', '.join(('locked', 'signs', 'storeys', *GROUND))}"
            )
        world = _from_path(name, seed, rng, options.get("kind"))
    return with_happenings(world, rng) if options["events"] else world


def _stacked(spec: str, name: str, rng: np.random.Generator, options: dict[str, Any], seed: int) -> World:
    others = [what for what in SWITCHES if options[what] and what != "storeys"]
    if others:
        raise WorldError(f"{spec}: a building of two storeys has no {', '.join(others)}")
    return stacked_world(name, rng, seed)


def with_kind(spec: str, kind: str | None) -> str:
    """Return the specification of a map with `?kind=` set to a kind of building; unchanged if `kind` is None."""
    return spec if kind is None else f"{spec}{'&' if '?' in spec else '?'}kind={kind}"


def _options(spec: str, query: str) -> dict[str, Any]:
    given = dict(parse_qsl(query, keep_blank_values=True))
    unknown = set(given) - set(OPTIONS)
    if unknown:
        raise WorldError(f"{spec}: unknown option {sorted(unknown)[0]!r}; there are {', '.join(OPTIONS)}")
    options: dict[str, Any] = {name: given.get(name, "0") not in ("0", "false", "no") for name in SWITCHES}
    if "kind" in given:
        if given["kind"] not in KINDS:
            raise WorldError(f"{spec}: kind is {given['kind']!r}; it is one of {', '.join(KINDS)}")
        options["kind"] = given["kind"]
    return options


def _site(name: str, rng: np.random.Generator, locked: bool, ring: bool) -> Site:
    if name == "warehouse":
        return warehouse_site(rng, locked)
    if ring:
        return Site(ring_plan(rng), Furnisher(rng))
    plan = apartment_plan(rng, locked) if name == "apartment" else office_plan(rng, locked)
    return Site(plan, Furnisher(rng))


def _from_path(name: str, seed: int, rng: np.random.Generator, kind: str | None = None) -> World:
    path = _FOLDER / f"{name}.json" if name in STORED else Path(name).expanduser()
    if path.is_dir():
        source = read_arrays(path)
    elif path.suffix in (".yaml", ".yml"):
        source = read_ros_map(path)
    elif path.suffix == ".json":
        if kind is not None:
            raise WorldError(
                f"{name}: a world file says itself what stands in it; only maps have a kind to choose"
            )
        return World.load(path)
    else:
        raise WorldError(
            f"unknown world {name!r}: use {', '.join((*GENERATORS, *STORED))}, a world's .json file, a folder with "
            "occ_map.npy and valid_space.npy, or a map_server .yaml file"
        )
    plan = floor_plan(source, rng, kind or "office")
    return build_world(path.stem, kind or "floorplan", Site(plan, Furnisher(rng)), seed)

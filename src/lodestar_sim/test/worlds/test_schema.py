"""Tests that the schema and the loader's records agree."""

from __future__ import annotations

from dataclasses import MISSING, fields

import pytest
from jsonschema import Draft202012Validator

from lodestar_sim.worlds.elements import Decal, Ramp, Slab, Wall
from lodestar_sim.worlds.palette import COLORS, MATERIALS
from lodestar_sim.worlds.schema import load_schema
from lodestar_sim.worlds.storage import FORMAT, NOT_SAVED
from lodestar_sim.worlds.world import EVENT_KINDS, Event, Room, World, WorldObject

RECORDS = {
    "room": Room, "wall": Wall, "slab": Slab, "ramp": Ramp, "object": WorldObject, "decal": Decal, "event": Event,
}  # fmt: skip
COMPLETED = {  # fields that the loader fills in if missing
    "object": {"color", "caption", "material", "size"},
    "world": {"name", "kind", "seed"},
}


def test_the_schema_is_one():
    Draft202012Validator.check_schema(load_schema())


@pytest.mark.parametrize("name", [*RECORDS, "world"])
def test_every_record_has_the_fields_of_its_dataclass(name):
    schema = load_schema()
    part = schema if name == "world" else schema["$defs"][name]
    kind = World if name == "world" else RECORDS[name]
    own = {f.name: f for f in fields(kind) if f.name not in NOT_SAVED}
    assert set(part["properties"]) - {"format"} == set(own)
    required = {n for n, f in own.items() if f.default is MISSING and f.default_factory is MISSING}
    assert set(part["required"]) == required - COMPLETED.get(name, set())
    assert part["additionalProperties"] is False


def test_colours_materials_events_and_the_format_are_those_of_the_code():
    parts = load_schema()["$defs"]
    names = parts["colour"]["pattern"].removeprefix("^(").split("|#")[0].split("|")
    assert names == list(COLORS)
    assert parts["material"]["enum"] == list(MATERIALS)
    assert parts["event"]["properties"]["kind"]["enum"] == list(EVENT_KINDS)
    assert load_schema()["properties"]["format"]["const"] == FORMAT

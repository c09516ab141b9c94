"""Worlds as JSON."""

from __future__ import annotations

import json
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from lodestar_sim.worlds.errors import WorldError
from lodestar_sim.worlds.world import Decal, Event, Room, Slab, Wall, World, WorldObject

FORMAT = "lodestar world 1"


def save_world(world: World, path: str | Path) -> None:
    """Writes the JSON file that `load_world` reads; mesh files are not copied."""
    data = {"format": FORMAT, **asdict(world)}
    data.pop("folder")
    Path(path).write_text(json.dumps(data, indent=1), encoding="utf-8")


def load_world(path: str | Path) -> World:
    """The world of a JSON file; raises WorldError with what to change where it cannot be used."""
    path = Path(path)
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise WorldError(f"{path}: cannot be read ({error})") from error
    except json.JSONDecodeError as error:
        raise WorldError(f"{path}: not JSON ({error})") from error
    data.pop("format", None)
    data["rooms"] = tuple(_make(Room, r) for r in data.get("rooms", ()))
    data["walls"] = tuple(_make(Wall, w) for w in data.get("walls", ()))
    data["slabs"] = tuple(_make(Slab, s) for s in data.get("slabs", ()))
    data["objects"] = tuple(_make(WorldObject, o) for o in data.get("objects", ()))
    data["decals"] = tuple(_make(Decal, d) for d in data.get("decals", ()))
    data["events"] = tuple(_event(e) for e in data.get("events", ()))
    return _make(World, {**data, "folder": str(path.parent)})


def _event(record: dict[str, Any]) -> Event:
    record = dict(record)
    if record.get("object"):
        record["object"] = _make(WorldObject, record["object"])
    return _make(Event, record)


def _make(kind: type, record: dict[str, Any]) -> Any:
    return kind(**{f.name: _tuples(record[f.name]) for f in fields(kind) if f.name in record})


def _tuples(value: Any) -> Any:
    return tuple(_tuples(v) for v in value) if isinstance(value, list) else value

"""Worlds as JSON: one record per line, every mistake named with its place."""

from __future__ import annotations

import json
import types
from dataclasses import MISSING, asdict, fields
from pathlib import Path
from typing import Any, Union, get_args, get_origin, get_type_hints

from lodestar_sim.worlds.checks import check_world
from lodestar_sim.worlds.errors import WorldError
from lodestar_sim.worlds.world import Decal, Event, Room, Slab, Wall, World, WorldObject

FORMAT = "lodestar world 1"
_LISTS: dict[str, type] = {
    "rooms": Room,
    "walls": Wall,
    "slabs": Slab,
    "objects": WorldObject,
    "decals": Decal,
    "events": Event,
}
#: What an object of a hand-written file may leave out.
_OBJECT_DEFAULTS = {"color": "gray", "material": "plastic"}


def save_world(world: World, path: str | Path) -> None:
    """Writes the JSON file that `load_world` reads; mesh files are not copied."""
    data = asdict(world)
    data.pop("folder")
    lines = [f'"format": {json.dumps(FORMAT)}']
    for key, value in data.items():
        if key in _LISTS:
            records = ",\n  ".join(json.dumps(record) for record in value)
            lines.append(f'"{key}": [\n  {records}\n ]' if value else f'"{key}": []')
        else:
            lines.append(f'"{key}": {json.dumps(value)}')
    Path(path).write_text("{\n " + ",\n ".join(lines) + "\n}\n", encoding="utf-8")


def load_world(path: str | Path) -> World:
    """The world of a JSON file; raises WorldError with what to change where it cannot be used."""
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise WorldError(f"{path}: cannot be read ({error})") from error
    try:
        data = json.loads(text, parse_constant=_refuse)
        world = world_from_data(data, str(path.resolve().parent))
        check_world(world)
    except json.JSONDecodeError as error:
        raise WorldError(f"{path}: not JSON: {error}") from error
    except WorldError as error:
        raise WorldError(f"{path}: {error}") from error
    return world


def _refuse(constant: str) -> float:
    raise WorldError(f"{constant} stands for a number; every number must be finite")


def world_from_data(data: Any, folder: str) -> World:
    """The world of parsed JSON; raises WorldError naming the record that does not fit."""
    if not isinstance(data, dict):
        raise WorldError("the file must hold one JSON object with bounds, start, walls and objects")
    data = dict(data)
    form = data.pop("format", FORMAT)
    if form != FORMAT:
        raise WorldError(f"format is {form!r}; this version reads {FORMAT!r}")
    data.setdefault("name", Path(folder).name)
    data.setdefault("kind", "custom")
    data.setdefault("seed", 0)
    for key, kind in _LISTS.items():
        records = data.get(key, [])
        if not isinstance(records, list):
            raise WorldError(f"{key} must be a list")
        data[key] = [_record(kind, record, f"{key}[{index}]") for index, record in enumerate(records)]
    if not data["slabs"] and "bounds" in data:
        x0, y0, x1, y1 = _value(data["bounds"], tuple[float, float, float, float], "bounds")
        data["slabs"] = [Slab(x0, y0, x1, y1, z=0.0, color="beige", material="concrete")]
    return _record(World, {**data, "folder": folder}, "world")


def _record(kind: type, record: Any, place: str) -> Any:
    """A dataclass of a JSON object, every field checked against its type."""
    if not isinstance(record, dict):
        raise WorldError(f"{place} must be an object with {', '.join(f.name for f in fields(kind))}")
    record = dict(record)
    if kind is WorldObject:
        place = f"{place} (id {record.get('id')}, {record.get('category')})"
        for key, value in _OBJECT_DEFAULTS.items():
            record.setdefault(key, value)
        record.setdefault("caption", f"{record['color']} {record.get('category', '')}".strip())
    known = {f.name: f for f in fields(kind)}
    unknown = sorted(set(record) - set(known))
    if unknown:
        raise WorldError(f"{place}: unknown field {unknown[0]!r}; there are {', '.join(known)}")
    hints = get_type_hints(kind)
    values = {}
    for name, entry in known.items():
        if name in record:
            values[name] = _value(record[name], hints[name], f"{place}.{name}")
        elif entry.default is MISSING and entry.default_factory is MISSING:
            raise WorldError(f"{place}: {name} is missing")
    return kind(**values)


def _value(value: Any, hint: Any, place: str) -> Any:
    """A JSON value as the type that a field asks for."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        return (
            None if value is None else _value(value, next(a for a in arguments if a is not type(None)), place)
        )
    if origin is tuple:
        if not isinstance(value, (list, tuple)):
            raise WorldError(f"{place} must be a list")
        inner = [arguments[0]] * len(value) if arguments[-1] is Ellipsis else list(arguments)
        if len(inner) != len(value):
            raise WorldError(f"{place} must hold {len(inner)} values, not {len(value)}")
        return tuple(_value(v, h, f"{place}[{i}]") for i, (v, h) in enumerate(zip(value, inner)))
    if hint in _LISTS.values():
        return value if isinstance(value, hint) else _record(hint, value, place)
    if hint is float and isinstance(value, (int, float)) and not isinstance(value, bool):
        return float(value)
    if hint is int and isinstance(value, bool):
        raise WorldError(f"{place} must be a whole number, not {value!r}")
    if not isinstance(value, hint):
        raise WorldError(f"{place} must be {_PLAIN.get(hint, hint.__name__)}, not {value!r}")
    return value


_PLAIN = {float: "a number", int: "a whole number", str: "text", bool: "true or false"}

"""Loading and saving of worlds as JSON, checked by the schema; files have one record per line."""

from __future__ import annotations

import json
import types
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any, Union, get_args, get_origin, get_type_hints

from lodestar_sim.worlds.checks import check_world
from lodestar_sim.worlds.elements import Decal, Ramp, Sign, Slab, Wall
from lodestar_sim.worlds.errors import WorldError
from lodestar_sim.worlds.mesh_files import read_mesh
from lodestar_sim.worlds.references import PARAMETRIC, color_of_file
from lodestar_sim.worlds.schema import schema_problems
from lodestar_sim.worlds.world import Event, Room, World, WorldObject

FORMAT = "lodestar world 1"
MAX_BYTES = 64 << 20
_LISTS: dict[str, type] = {
    "rooms": Room,
    "walls": Wall,
    "slabs": Slab,
    "ramps": Ramp,
    "objects": WorldObject,
    "decals": Decal,
    "events": Event,
    "signs": Sign,
}
NOT_SAVED = ("folder", "flights", "storeys")  # fields of a world that are not stored
_FLOOR = {"z": 0.0, "color": "beige", "material": "concrete"}


def save_world(world: World, path: str | Path) -> None:
    """Write the JSON file that `load_world` reads; mesh files are not copied."""
    if world.storeys or world.flights:
        raise WorldError(f"{world.name}: a building of several storeys is generated, and has no file")
    data = asdict(world)
    for key in NOT_SAVED:
        data.pop(key)
    lines = [f'"format": {json.dumps(FORMAT)}']
    for key, value in data.items():
        if key in _LISTS:
            records = ",\n  ".join(json.dumps(record) for record in value)
            lines.append(f'"{key}": [\n  {records}\n ]' if value else f'"{key}": []')
        else:
            lines.append(f'"{key}": {json.dumps(value)}')
    Path(path).write_text("{\n " + ",\n ".join(lines) + "\n}\n", encoding="utf-8")


def load_world(path: str | Path) -> World:
    """Return the world of a JSON file. Raises WorldError with all problems if it cannot be used."""
    path = Path(path)
    try:
        if path.stat().st_size > MAX_BYTES:
            raise WorldError(f"{path}: more than {MAX_BYTES >> 20} MiB are no world file")
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise WorldError(f"{path}: cannot be read ({error})") from error
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise WorldError(f"{path}: not JSON: {error}") from error
    try:
        world = world_from_data(data, str(path.resolve().parent))
        check_world(world)
    except WorldError as error:
        raise WorldError.of(error.problems, str(path)) from error
    return world


def world_from_data(data: Any, folder: str) -> World:
    """Return the world of parsed JSON. Raises WorldError with all problems and their records."""
    problems = schema_problems(data)
    if problems:
        raise WorldError.of(problems)
    data = dict(data)
    data.pop("format", None)
    data.setdefault("name", Path(folder).name)
    data.setdefault("kind", "custom")
    data.setdefault("seed", 0)
    if not data.get("slabs"):
        x0, y0, x1, y1 = data["bounds"]
        data["slabs"] = [{"x0": x0, "y0": y0, "x1": x1, "y1": y1, **_FLOOR}]
    data["objects"] = [_completed(record, folder) for record in data.get("objects", [])]
    events = [dict(event) for event in data.get("events", [])]
    for event in events:
        if event.get("object") is not None:
            event["object"] = _completed(event["object"], folder)
    return _record(World, {**data, "events": events, "folder": folder})


def _completed(record: dict[str, Any], folder: str) -> dict[str, Any]:
    """Return an object's record with defaults filled in; `check_world` reports unreadable mesh files."""
    record = {"material": "plastic", **record}
    painted = ""
    if record["mesh"].startswith(PARAMETRIC):
        record.setdefault("color", "gray")
    else:
        record.setdefault("color", "")
        try:
            if "size" not in record:
                record["size"] = read_mesh(record["mesh"], folder).size
            if "caption" not in record and not record["color"]:
                painted = color_of_file(record["mesh"], folder)
        except WorldError:
            record.setdefault("size", (1.0, 1.0, 1.0))
    record.setdefault("caption", f"{record['color'] or painted or 'gray'} {record['category']}")
    return record


def _record(kind: type, record: dict[str, Any]) -> Any:
    """Return a dataclass instance from a JSON object that satisfies the schema."""
    hints = get_type_hints(kind)
    return kind(**{f.name: _value(record[f.name], hints[f.name]) for f in fields(kind) if f.name in record})


def _value(value: Any, hint: Any) -> Any:
    """Return a JSON value converted to the type of a field."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        return None if value is None else _value(value, next(a for a in arguments if a is not type(None)))
    if origin is tuple:
        inner = [arguments[0]] * len(value) if arguments[-1] is Ellipsis else arguments
        return tuple(_value(v, h) for v, h in zip(value, inner))
    if hint in _LISTS.values():
        return _record(hint, value)
    return hint(value) if hint in (float, int) else value

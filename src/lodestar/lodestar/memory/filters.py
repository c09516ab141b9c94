"""Conversion of a request's filters to SQL and to Milvus' filter language."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from typing import Any

from lodestar.memory.records import Memory, Source
from lodestar.memory.requests import Order, Request

NO_EVENT = "none"
Condition = tuple[str, str, Any]  # (column, operator, value); operator: >=, <=, == or in

_ORDERS = {Order.NEWEST: '"start" DESC, "id"', Order.OLDEST: '"start", "id"'}
_EARLIEST, _LATEST = -1e300, 1e300  # used for infinity, which Milvus does not accept


def columns_of(memory: Memory) -> dict[str, Any]:
    """Return column -> value of a memory, for the columns that filters apply to."""
    return {
        "start": float(memory.start),
        "end": float(memory.end),
        "x": float(memory.position[0]),
        "y": float(memory.position[1]),
        "floor": int(memory.floor),
        "region_id": int(memory.region_id),
        "region": memory.region.casefold(),
        "source": memory.source.value,
        "kind": memory.event.value if memory.event is not None else NO_EVENT,
        "map_id": int(memory.map.map_id),
        "fingerprint": memory.map.fingerprint,
        "session": memory.session,
    }


def row_of(memory: Memory, origin: str, root: int | None) -> dict[str, Any]:
    """Return column -> value of a memory, for the table `memory`.

    origin: store and id of an imported memory, "" = own. root: id of the first memory in its chain of
    corrections, None = it corrects none.
    """
    return {
        "id": memory.id or None,
        "root": root or 0,
        "shown": True,
        "pinned": bool(memory.pinned),
        "lasting": memory.event is not None or memory.source is Source.OPERATOR,
        "embedded": False,
        "origin": origin or None,
        **columns_of(memory),
    }


def conditions(request: Request, session: str = "") -> list[Condition]:
    """Return the conditions on a memory's columns; all must hold.

    A circle becomes its bounding square; entities are left out. session: required session for a map that was
    never saved, "" = any.
    """
    found: list[Condition] = []
    if request.map is not None:
        found += [("map_id", "==", int(request.map.map_id)), ("fingerprint", "==", request.map.fingerprint)]
        if session and not request.map.fingerprint:
            found.append(("session", "==", session))
    if request.window is not None:
        first, last = (min(max(float(value), _EARLIEST), _LATEST) for value in request.window)
        found += [("end", ">=", first), ("start", "<=", last)]
    if request.near is not None:
        for name, centre in zip("xy", request.near):
            found += [(name, ">=", centre - request.radius), (name, "<=", centre + request.radius)]
    if request.floor is not None:
        found.append(("floor", "==", int(request.floor)))
    if request.region_id is not None:
        found.append(("region_id", "==", int(request.region_id)))
    if request.region:
        found.append(("region", "==", request.region.casefold()))
    if request.kinds:
        found.append(("kind", "in", sorted(kind.value for kind in request.kinds)))
    if request.sources:
        found.append(("source", "in", sorted(source.value for source in request.sources)))
    return found


def sql_of(
    request: Request, session: str, *, corrected: bool = False, among: Iterable[int] | None = None
) -> tuple[str, list[Any]]:
    """Return the filters as an SQL condition on the table `memory`, and the values of its placeholders.

    corrected: also include memories that were replaced by a correction. among: only these ids.
    """
    parts: list[str] = ["true" if corrected else "shown"]
    values: list[Any] = []
    # even for a few ids or objects SQLite would scan all times of the map; + keeps it from using that index
    free = "+" if request.entity_ids or among is not None else ""
    for name, operator, value in conditions(request, session):
        name = f'{free}"{name}"'
        if operator == "in":
            parts.append(f"{name} IN ({', '.join('?' * len(value))})")
            values += value
        else:
            parts.append(f"{name} {operator} ?")
            values.append(value)
    if request.near is not None:
        parts.append("(x - ?) * (x - ?) + (y - ?) * (y - ?) <= ?")
        x, y = map(float, request.near[:2])
        values += [x, x, y, y, request.radius**2]
    if request.entity_ids:
        parts.append("id IN (SELECT memory FROM entity WHERE entity IN (SELECT value FROM json_each(?)))")
        values.append(json.dumps(sorted(int(i) for i in request.entity_ids)))
    if among is not None:
        parts.append("id IN (SELECT value FROM json_each(?))")
        values.append(json.dumps([int(i) for i in among]))
    return " AND ".join(parts), values


def sql_order(request: Request) -> str:
    """Return the SQL order of results for a request without search phrases."""
    if request.order is Order.NEAREST and request.near is not None:
        x, y = (repr(float(value)) for value in request.near[:2])
        return f'(x - {x}) * (x - {x}) + (y - {y}) * (y - {y}), "id"'
    return _ORDERS[Order.NEWEST if request.order is Order.NEAREST else request.order]


def milvus_of(request: Request, robots: Iterable[str], session: str = "") -> str:
    """Return the request as Milvus' filter. A circle becomes its bounding square; callers check again."""
    parts = [f"robot in {_literal(list(robots))}"] if robots else []
    for name, operator, value in conditions(request, session):
        parts.append(f"{name} {operator} {_literal(value)}")
    if request.entity_ids:
        parts.append(f"array_contains_any(entities, {sorted(int(i) for i in request.entity_ids)})")
    return " and ".join(parts)


def distance_to(request: Request, x: float, y: float) -> float:
    """Return the distance in plan from a place to that of the request, metres; 0 if it has none."""
    return 0.0 if request.near is None else math.hypot(x - request.near[0], y - request.near[1])


def _literal(value: Any) -> str:
    """Return a value as a literal of Milvus' filter language, safely quoted."""
    return repr(float(value)) if isinstance(value, float) else json.dumps(value, ensure_ascii=False)

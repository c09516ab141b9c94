"""Amendments as JSON: lines of the world model's journal."""

from __future__ import annotations

import math
from typing import Any

from lodestar.worldmodel.amendments import Amendment, Change, ClosedWay
from lodestar.worldmodel.records import Belief


class BadAmendment(ValueError):
    """A record is no amendment; the message says why."""


def amendment_to_dict(amendment: Amendment) -> dict[str, Any]:
    """Return the amendment as JSON types; `amendment_from_dict` is the inverse."""
    belief, way = amendment.belief, amendment.way
    record: dict[str, Any] = {
        "change": amendment.change.value,
        "reason": amendment.reason,
        "author": amendment.author,
        "entity_id": amendment.entity_id,
        "label": amendment.label,
        "trace_id": amendment.trace_id,
    }
    if belief is not None:
        record["belief"] = [belief.predicate, list(belief.arguments), belief.negated]
    if way is not None:
        record["way"] = way_to_values(way)
    return record


def way_to_values(way: ClosedWay) -> list[Any]:
    """Return a closed way as JSON values; `way_from_values(*values)` is the inverse."""
    expires = way.expires if math.isfinite(way.expires) else None
    return [list(way.start), list(way.end), expires, way.cause, way.seen_free_opens]


def amendment_from_dict(record: Any) -> Amendment:
    """Return the amendment of a record. Raises BadAmendment."""
    try:
        belief, way = record.get("belief"), record.get("way")
        return Amendment(
            Change(record["change"]),
            str(record["reason"]),
            str(record["author"]),
            int(record["entity_id"]),
            str(record["label"]),
            None if belief is None else Belief(str(belief[0]), tuple(map(str, belief[1])), bool(belief[2])),
            None if way is None else way_from_values(*way),
            str(record["trace_id"]),
        )
    except (AttributeError, KeyError, IndexError, TypeError, ValueError) as error:
        raise BadAmendment(f"{error.__class__.__name__}: {error}") from error


def way_from_values(start: Any, end: Any, expires: Any, cause: Any, seen_free_opens: Any) -> ClosedWay:
    """Return the closed way of JSON values. Raises ValueError, TypeError."""
    ends = [tuple(float(value) for value in point) for point in (start, end)]
    if any(len(point) != 2 or not all(map(math.isfinite, point)) for point in ends):
        raise ValueError("a closed way lies nowhere")
    until = math.inf if expires is None else float(expires)
    return ClosedWay(
        (ends[0][0], ends[0][1]), (ends[1][0], ends[1][1]), until, str(cause), bool(seen_free_opens)
    )

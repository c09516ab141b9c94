"""Requests in Milvus' filter language, and what it cannot say: the circle of a place, and an order."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from lodestar.memory.requests import Order, Request


def filters_of(request: Request, robots: Iterable[str], keys: Sequence[str] = ()) -> str:
    """Return the request as Milvus' filter. A circle becomes its square, which the caller cuts out exactly."""
    parts = []
    if robots:
        parts.append(f"robot in [{', '.join(quoted(robot) for robot in robots)}]")
    if keys:
        return " and ".join([*parts, f"key in [{', '.join(quoted(key) for key in keys)}]"])
    if request.map is not None:
        parts.append(
            f"map_id == {int(request.map.map_id)} and fingerprint == {quoted(request.map.fingerprint)}"
        )
    if request.window is not None:
        low, high = (min(max(float(value), -1e300), 1e300) for value in request.window)
        parts.append(f"end >= {low!r} and start <= {high!r}")
    if request.near is not None:
        for name, centre in zip("xy", request.near):
            parts.append(f"{name} >= {centre - request.radius!r} and {name} <= {centre + request.radius!r}")
    if request.floor is not None:
        parts.append(f"floor == {int(request.floor)}")
    if request.region_id is not None:
        parts.append(f"region_id == {int(request.region_id)}")
    if request.region:
        parts.append(f"region == {quoted(request.region.casefold())}")
    if request.kinds:
        parts.append(f"kind in [{', '.join(quoted(kind.value) for kind in request.kinds)}]")
    if request.sources:
        parts.append(f"source in [{', '.join(quoted(source.value) for source in request.sources)}]")
    if request.entity_ids:
        parts.append(f"array_contains_any(entities, {sorted(int(i) for i in request.entity_ids)})")
    return " and ".join(parts)


def inside(x: float, y: float, request: Request) -> bool:
    """Return whether a place is in the request's circle."""
    return request.near is None or float(np.hypot(x - request.near[0], y - request.near[1])) <= request.radius


def order_of(request: Request) -> Callable[[float, float, float], float]:
    """Return the key (start, x, y) -> number by which what is found without words is sorted."""
    if request.order is Order.NEAREST and request.near is not None:
        x0, y0 = request.near[:2]
        return lambda start, x, y: float(np.hypot(x - x0, y - y0))
    sign = 1.0 if request.order is Order.OLDEST else -1.0
    return lambda start, x, y: sign * start


def quoted(text: str) -> str:
    """Return the text as a string of Milvus' filter language, whatever is in it."""
    return json.dumps(text, ensure_ascii=False)

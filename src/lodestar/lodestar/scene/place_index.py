"""Spatial indices of ids in plan, by place and by box."""

from __future__ import annotations

from math import floor, isfinite

import numpy as np

CELL = 2.0  # metres
_WIDE = 64  # cells of a box from which it is looked at in every look-up; chosen: 16 m x 16 m


class PlaceIndex:
    """Ids by place in plan, in square cells. The cost of a look-up does not depend on the number of ids."""

    def __init__(self, cell: float = CELL) -> None:
        self._cell = cell
        self._ids: dict[tuple[int, int], dict[int, None]] = {}
        self._where: dict[int, tuple[int, int]] = {}

    def put(self, identity: int, x: float, y: float) -> None:
        """Set the place of an id to (x, y), metres."""
        cell = floor(x / self._cell), floor(y / self._cell)
        if self._where.get(identity) == cell:
            return
        self.drop(identity)
        self._where[identity] = cell
        self._ids.setdefault(cell, {})[identity] = None

    def drop(self, identity: int) -> None:
        """Remove the id, if it is known."""
        cell = self._where.pop(identity, None)
        if cell is not None:
            ids = self._ids[cell]
            del ids[identity]
            if not ids:
                del self._ids[cell]

    def near(self, x: float, y: float, radius: float) -> list[int]:
        """Return every id within `radius` metres of (x, y), ascending, and some that are slightly farther away."""
        first, last = floor((x - radius) / self._cell), floor((x + radius) / self._cell)
        low, high = floor((y - radius) / self._cell), floor((y + radius) / self._cell)
        found: list[int] = []
        for column in range(first, last + 1):
            for row in range(low, high + 1):
                found.extend(self._ids.get((column, row), ()))
        return sorted(found)


class BoxIndex:
    """Ids by the boxes that they fill in plan. The cost of a look-up does not depend on the number of ids."""

    def __init__(self, cell: float = CELL) -> None:
        self._cell = cell
        self._ids: dict[tuple[int, int], dict[int, None]] = {}
        self._spans: dict[int, tuple[int, int, int, int]] = {}
        self._wide: dict[int, None] = {}

    def put(self, identity: int, low: np.ndarray, high: np.ndarray) -> None:
        """Set the box of an id, corners (2+,) in metres. One that is not finite may be anywhere."""
        span = self._span(low, high)
        if span is not None and self._spans.get(identity) == span:
            return
        self.drop(identity)
        if span is None:
            self._wide[identity] = None
            return
        self._spans[identity] = span
        for cell in _cells(span):
            self._ids.setdefault(cell, {})[identity] = None

    def drop(self, identity: int) -> None:
        """Remove the id, if it is known."""
        self._wide.pop(identity, None)
        span = self._spans.pop(identity, None)
        for cell in _cells(span) if span is not None else ():
            ids = self._ids[cell]
            del ids[identity]
            if not ids:
                del self._ids[cell]

    def near(self, low: np.ndarray, high: np.ndarray) -> list[int]:
        """Return every id whose box touches a box in plan, ascending, and some whose boxes lie beside it."""
        span = self._span(low, high)
        if span is None:
            return sorted((*self._spans, *self._wide))
        found = set(self._wide)
        for cell in _cells(span):
            found.update(self._ids.get(cell, ()))
        return sorted(found)

    def _span(self, low: np.ndarray, high: np.ndarray) -> tuple[int, int, int, int] | None:
        """Return the first and the last cell of a box; None for one that is not finite or fills very many."""
        corners = float(low[0]), float(low[1]), float(high[0]), float(high[1])
        if not all(map(isfinite, corners)):
            return None
        x0, y0, x1, y1 = (floor(value / self._cell) for value in corners)
        return (x0, y0, x1, y1) if (x1 - x0 + 1) * (y1 - y0 + 1) <= _WIDE else None


def _cells(span: tuple[int, int, int, int]) -> list[tuple[int, int]]:
    x0, y0, x1, y1 = span
    return [(x, y) for x in range(x0, x1 + 1) for y in range(y0, y1 + 1)]

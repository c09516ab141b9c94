"""Spatial indices of ids in plan, by place and by box."""

from __future__ import annotations

from math import floor, isfinite

import numpy as np

CELL = 2.0  # metres
_WIDE = 64  # cells; larger boxes are checked in every look-up; chosen: 16 m x 16 m


class PlaceIndex:
    """Index of ids by position in plan, in square cells.

    The cost of a look-up does not depend on the number of ids.
    """

    def __init__(self, cell: float = CELL) -> None:
        self._cell = cell
        self._ids: dict[tuple[int, int], dict[int, None]] = {}
        self._where: dict[int, tuple[int, int]] = {}

    def put(self, identity: int, x: float, y: float) -> None:
        """Set the position of an id to (x, y), metres."""
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
        """Return all ids within `radius` metres of (x, y), ascending, and some slightly farther away."""
        first, last = floor((x - radius) / self._cell), floor((x + radius) / self._cell)
        low, high = floor((y - radius) / self._cell), floor((y + radius) / self._cell)
        found: list[int] = []
        for column in range(first, last + 1):
            for row in range(low, high + 1):
                found.extend(self._ids.get((column, row), ()))
        return sorted(found)


class BoxIndex:
    """Index of ids by their boxes in plan. The cost of a look-up does not depend on the number of ids."""

    def __init__(self, cell: float = CELL) -> None:
        self._cell = cell
        self._ids: dict[tuple[int, int], dict[int, None]] = {}
        self._spans: dict[int, tuple[int, int, int, int]] = {}
        self._wide: dict[int, None] = {}

    def put(self, identity: int, low: np.ndarray, high: np.ndarray) -> None:
        """Set the box of an id, corners (2+,) in metres. A box that is not finite matches every look-up."""
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
        """Return all ids whose boxes touch a given box in plan, ascending, and some with boxes beside it."""
        span = self._span(low, high)
        if span is None:
            return sorted((*self._spans, *self._wide))
        found = set(self._wide)
        for cell in _cells(span):
            found.update(self._ids.get(cell, ()))
        return sorted(found)

    def _span(self, low: np.ndarray, high: np.ndarray) -> tuple[int, int, int, int] | None:
        """Return the first and the last cell of a box: column, row, column, row.

        None for a box that is not finite or covers very many cells.
        """
        corners = float(low[0]), float(low[1]), float(high[0]), float(high[1])
        if not all(map(isfinite, corners)):
            return None
        x0, y0, x1, y1 = (floor(value / self._cell) for value in corners)
        return (x0, y0, x1, y1) if (x1 - x0 + 1) * (y1 - y0 + 1) <= _WIDE else None


def _cells(span: tuple[int, int, int, int]) -> list[tuple[int, int]]:
    x0, y0, x1, y1 = span
    return [(x, y) for x in range(x0, x1 + 1) for y in range(y0, y1 + 1)]

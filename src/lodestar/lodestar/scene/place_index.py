"""Spatial index of ids in plan."""

from __future__ import annotations

from math import floor

CELL = 2.0  # metres


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

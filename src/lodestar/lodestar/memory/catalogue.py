"""Columns of every memory that filters, retention and statistics read: time, place, map, entities. Texts stay on
the disk.
"""

from __future__ import annotations

from array import array
from collections import Counter

import numpy as np

from lodestar.memory.records import EventKind, ImageName, MapName, Memory, Source
from lodestar.memory.requests import Order, Request
from lodestar.memory.write_journal import Place

_SOURCES = list(Source)
_EVENTS = list(EventKind)
NO_EVENT = 255
_GROWTH = 1.5
_DTYPE = np.dtype(
    [
        ("id", "i8"), ("start", "f8"), ("end", "f8"), ("x", "f8"), ("y", "f8"), ("floor", "i4"), ("region_id", "i4"),
        ("region", "i4"), ("map", "i4"), ("source", "u1"), ("event", "u1"), ("pinned", "?"), ("shown", "?"),
        ("there", "?"), ("embedded", "?"), ("segment", "i4"), ("offset", "i8"), ("length", "i4"),
        ("vector_segment", "i4"), ("vector_offset", "i8"), ("vector_length", "i4"),
    ]
)  # fmt: skip


class Catalogue:
    """One row per memory, numbered from 0 in the order of acceptance; a removed memory leaves an empty row.

    there: not forgotten and not thinned out. shown: there and not replaced by a correction.
    """

    def __init__(self) -> None:
        self._rows = np.zeros(1024, _DTYPE)
        self.size = 0
        self.alive = 0  # rows that are there
        self._row_of: dict[int, int] = {}
        self._by_entity: dict[int, array] = {}
        self._regions: dict[str, int] = {"": 0}
        self._maps: dict[tuple[int, str, str], int] = {}
        self._map_names: list[MapName] = []  # by number
        self._images: dict[int, tuple[ImageName, ...]] = {}  # by row
        self._references: Counter[ImageName] = Counter()  # memories that refer to a keyframe
        self.corrected_by: dict[int, int] = {}  # id -> id of its correction

    @property
    def rows(self) -> np.ndarray:
        """The rows, a structured array (size,)."""
        return self._rows[: self.size]

    def row(self, identity: int) -> int | None:
        """Return the row of a memory that is there."""
        return self._row_of.get(identity)

    def map_code(self, name: MapName, session: str) -> int:
        """Return the number of a map. One that was not saved yet is a session's own."""
        key = (name.map_id, name.fingerprint, "" if name.fingerprint else session)
        if key not in self._maps:
            self._map_names.append(MapName(name.map_id, name.fingerprint))
            self._maps[key] = len(self._maps)
        return self._maps[key]

    def add(self, memory: Memory, place: Place) -> int:
        """Add a memory and return its row. The one that it corrects is no longer shown."""
        if self.size == len(self._rows):
            self._rows = np.concatenate([self._rows, np.zeros(int(self.size * (_GROWTH - 1.0)), _DTYPE)])
        row = self.size
        self.size += 1
        values = self._rows[row]
        values["id"], values["start"], values["end"] = memory.id, memory.start, memory.end
        values["x"], values["y"] = memory.position[:2]
        values["floor"], values["region_id"] = memory.floor, memory.region_id
        values["region"] = self._regions.setdefault(memory.region.casefold(), len(self._regions))
        values["map"] = self.map_code(memory.map, memory.session)
        values["source"] = _SOURCES.index(memory.source)
        values["event"] = _EVENTS.index(memory.event) if memory.event else NO_EVENT
        values["pinned"] = memory.pinned
        values["there"] = True
        values["shown"] = memory.id not in self.corrected_by
        self.move(row, place)
        self.alive += 1
        self._row_of[memory.id] = row
        for identity in set(memory.entity_ids):
            self._by_entity.setdefault(identity, array("i")).append(row)
        if memory.keyframe_ids:
            self._images[row] = tuple(sorted(set(memory.images)))
            self._references.update(self._images[row])
        if memory.corrects:
            self.corrected_by[memory.corrects] = memory.id
            old = self._row_of.get(memory.corrects)
            if old is not None:
                self._rows[old]["shown"] = False
        return row

    def move(self, row: int, place: Place) -> None:
        """Note where the memory's line is."""
        values = self._rows[row]
        values["segment"], values["offset"], values["length"] = place.segment, place.offset, place.length

    def move_vector(self, row: int, place: Place) -> None:
        """Note where the line with the memory's vector is."""
        values = self._rows[row]
        values["embedded"] = True
        values["vector_segment"], values["vector_offset"] = place.segment, place.offset
        values["vector_length"] = place.length

    def place(self, row: int) -> Place:
        """Return the place of the memory's line."""
        values = self._rows[row]
        return Place(int(values["segment"]), int(values["offset"]), int(values["length"]))

    def vector_place(self, row: int) -> Place:
        """Return the place of the line with the memory's vector."""
        values = self._rows[row]
        return Place(
            int(values["vector_segment"]), int(values["vector_offset"]), int(values["vector_length"])
        )

    def remove(self, row: int) -> None:
        """Remove a memory."""
        identity = int(self._rows[row]["id"])
        self._rows[row]["there"] = self._rows[row]["shown"] = False
        self.alive -= 1
        del self._row_of[identity]
        for image in self._images.pop(row, ()):
            self._references[image] -= 1
            if self._references[image] <= 0:
                del self._references[image]

    def own_images(self, row: int) -> list[ImageName]:
        """Return the keyframes that no other memory refers to."""
        return [image for image in self._images.get(row, ()) if self._references[image] == 1]

    def refers_to(self, image: ImageName) -> bool:
        """Return whether a memory that is there refers to a keyframe."""
        return image in self._references

    def images(self, session: str, limit: int) -> list[int]:
        """Return the keyframes of a session that memories refer to, at most `limit`, the most important first: those of
        pinned memories, then of operator's words and events, then of the others; the newest first.
        """
        rows = self.rows
        held = np.array([row for row, names in self._images.items() if names[0].session == session], np.int64)
        if not len(held):
            return []
        order = np.lexsort((-held, ~self.lasting()[held], ~rows["pinned"][held]))
        found: dict[int, None] = {}
        for row in held[order]:
            found.update(dict.fromkeys(image.id for image in self._images[int(row)]))
            if len(found) >= limit:
                break
        return list(found)[:limit]

    def pin(self, row: int, pinned: bool) -> None:
        """Pin a memory or release it."""
        self._rows[row]["pinned"] = pinned

    def map_name(self, row: int) -> MapName:
        """Return the map of a memory."""
        return self._map_names[int(self._rows[row]["map"])]

    def matching(self, request: Request, map_code: int) -> np.ndarray:
        """Return the rows (N,) of the shown memories that pass the request's filters."""
        rows = self.rows
        if request.entity_ids:
            lists = [
                np.array(self._by_entity[i], np.int32) for i in request.entity_ids if i in self._by_entity
            ]
            chosen = np.unique(np.concatenate(lists)) if lists else np.zeros(0, np.int32)
            rows = rows[chosen]
        else:
            chosen = None
        passed = rows["shown"] & (rows["map"] == map_code)
        if request.window is not None:
            passed &= (rows["end"] >= request.window[0]) & (rows["start"] <= request.window[1])
        if request.near is not None:
            passed &= (rows["x"] - request.near[0]) ** 2 + (
                rows["y"] - request.near[1]
            ) ** 2 <= request.radius**2
        if request.floor is not None:
            passed &= rows["floor"] == request.floor
        if request.region_id is not None:
            passed &= rows["region_id"] == request.region_id
        if request.region:
            passed &= rows["region"] == self._regions.get(request.region.casefold(), -1)
        if request.kinds:
            passed &= np.isin(rows["event"], [_EVENTS.index(kind) for kind in request.kinds])
        if request.sources:
            passed &= np.isin(rows["source"], [_SOURCES.index(source) for source in request.sources])
        found = np.flatnonzero(passed)
        return found if chosen is None else chosen[found]

    def ordered(self, chosen: np.ndarray, request: Request) -> np.ndarray:
        """Return the rows in the order of a request without words."""
        rows = self.rows[chosen]
        if request.order is Order.NEAREST and request.near is not None:
            key = (rows["x"] - request.near[0]) ** 2 + (rows["y"] - request.near[1]) ** 2
        else:
            key = rows["start"] if request.order is Order.OLDEST else -rows["start"]
        return chosen[np.lexsort((rows["id"], key))]

    def entities(self) -> dict[int, set[int]]:
        """Return the entities of every row that has some."""
        found: dict[int, set[int]] = {}
        for identity, listed in self._by_entity.items():
            for row in listed:
                found.setdefault(row, set()).add(identity)
        return found

    def lasting(self) -> np.ndarray:
        """Return which rows (size,) are operator's words or events."""
        rows = self.rows
        return (rows["event"] != NO_EVENT) | (rows["source"] == _SOURCES.index(Source.OPERATOR))

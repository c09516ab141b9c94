"""State of the store: the journal, and the catalogue and vectors that are read from it at the start."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from lodestar.memory.catalogue import Catalogue
from lodestar.memory.config import StoreConfig
from lodestar.memory.errors import BadMemory, ForeignStore, NoSuchMemory
from lodestar.memory.record_json import from_json, to_json, vector_from_text, vector_to_text
from lodestar.memory.records import ImageName, Memory
from lodestar.memory.vector_matrix import VectorMatrix
from lodestar.memory.write_journal import Line, Place, WriteJournal


@dataclass
class Counts:
    """Counts since the store was opened."""

    texts_cut: int = 0
    clock_steps: int = 0  # memories that start before the one accepted before them
    unreadable: int = 0  # lines that are whole and yet no memory


@dataclass
class Tombstone:
    """A forgotten memory: nothing of its content. images: its keyframes. erased: they and Milvus' rows are gone."""

    origin: str
    images: tuple[ImageName, ...] = ()
    erased: bool = False


@dataclass
class Work:
    """Work that the worker still has to do. Rows, ids or segments."""

    unembedded: dict[int, None] = field(default_factory=dict)  # rows, oldest first
    unwritten: dict[int, None] = field(
        default_factory=dict
    )  # rows that Milvus has not, or not as they are now
    undeleted: dict[str, None] = field(default_factory=dict)  # keys that Milvus may still have
    unerased: set[int] = field(default_factory=set)  # segments with content that was forgotten
    unpurged: bool = False  # Milvus' files have content that was forgotten


class Ledger:
    """Changes are journalled first, then applied. Not thread-safe: the store holds its lock.

    Raises as WriteJournal, and ForeignStore for the store of another robot.
    """

    def __init__(self, folder: Path, config: StoreConfig, store: str) -> None:
        self.config = config
        head: Line = {"store": store, "robot": config.robot, "dimension": config.dimension}
        self.journal = WriteJournal(folder, head, config.segment_bytes)
        self.store = str(self.journal.head.get("store"))
        self._check_head(folder)
        self.catalogue = Catalogue()
        self.matrix = VectorMatrix(config.dimension)
        self.counts = Counts()
        self.work = Work()
        self.tombstones: dict[int, Tombstone] = {}
        self.origins: dict[
            str, int
        ] = {}  # of imported memories: where they came from -> id here; forgotten ones too
        self._origin_of: dict[int, str] = {}
        self.dropped: set[int] = set()  # thinned out, with lines left in a segment
        self.now = float("-inf")  # end of the last accepted memory
        self.next_id = 1
        self._last_start = float("-inf")
        for place, line in self.journal.replay():
            self._apply(place, line)
        self.work.unpurged = bool(self.unfinished())

    def add(self, memory: Memory, vector: np.ndarray | None = None, origin: str = "") -> int:
        """Journal a memory and return its id. Its id 0 becomes the next free one; another id must be free."""
        identity = memory.id or self.next_id
        memory = replace(memory, id=identity)
        line: Line = {"op": "add", "memory": to_json(memory)}
        if vector is not None:
            line["vector"] = vector_to_text(vector)
        if origin:
            line["origin"] = origin
        place = self.journal.append(line)
        self._added(place, memory, vector, origin)
        return identity

    def set_vector(self, row: int, vector: np.ndarray) -> None:
        """Journal the vector (D,) of a memory."""
        identity = int(self.catalogue.rows[row]["id"])
        place = self.journal.append({"op": "vector", "id": identity, "vector": vector_to_text(vector)})
        self._vectored(place, row, vector)

    def pin(self, row: int, pinned: bool) -> None:
        """Journal that a memory is pinned, or not any more."""
        self._do({"op": "pin", "id": int(self.catalogue.rows[row]["id"]), "pinned": pinned})

    def forget(self, rows: Iterable[int]) -> list[int]:
        """Journal tombstones of memories and of all that they correct or that corrects them. Returns the ids."""
        identities = sorted({i for row in rows for i in self._chain(int(self.catalogue.rows[row]["id"]))})
        for identity in identities:
            row = self.catalogue.row(identity)
            if row is None:
                continue
            loose = [list(image) for image in self.catalogue.own_images(row)]
            self._do({"op": "forget", "id": identity, "origin": self.origin_of(identity), "images": loose})
        return identities

    def erased(self, identity: int) -> None:
        """Journal that the images of a forgotten memory and its rows in Milvus are erased."""
        self._do({"op": "erased", "id": identity})

    def unfinished(self) -> dict[int, Tombstone]:
        """Return the forgotten memories of which images or Milvus' rows are still to be erased."""
        return {i: tombstone for i, tombstone in self.tombstones.items() if not tombstone.erased}

    def drop(self, rows: Iterable[int]) -> None:
        """Journal that memories are thinned out."""
        identities = [int(i) for i in self.catalogue.rows["id"][list(rows)]]
        for part in range(0, len(identities), 5000):
            self._do({"op": "drop", "ids": identities[part : part + 5000]})

    def row(self, identity: int) -> int:
        """Return the row of a memory. Raises NoSuchMemory, which says why it is not there."""
        row = self.catalogue.row(identity)
        if row is None:
            reason = "was forgotten" if identity in self.tombstones else "never existed or was thinned out"
            raise NoSuchMemory(
                f"memory {identity} {reason}: search for what you mean and take an id from the answer"
            )
        return row

    def key(self, identity: int) -> str:
        """Return the name of a memory that no other robot uses."""
        return f"{self.store}:{identity}"

    def memory_of(self, row: int, line: Line) -> Memory:
        """Return the memory of a journal's line as it is now: pinned, and on a map that may have been saved since."""
        memory = from_json(line["memory"])
        values = self.catalogue.rows[row]
        return replace(memory, pinned=bool(values["pinned"]), map=self.catalogue.map_name(row))

    def content(self, number: int) -> tuple[list[tuple[Place, Line]], int]:
        """Return the lines of a sealed segment that are still needed, and the number of the others."""
        kept, lost = [], 0
        for place, line in self.journal.lines(number):
            if (needed := self._needed(place, line)) is None:
                lost += 1
            else:
                kept.append((place, needed))
        return kept, lost

    def moved(self, number: int, kept: list[tuple[Place, Line]], places: dict[int, Place]) -> None:
        """Take over the new places of a rewritten segment's lines."""
        for place, line in kept:
            row = self.catalogue.row(int(line["memory"]["id"] if line["op"] == "add" else line.get("id", 0)))
            if row is None:
                continue
            if line["op"] == "add" and self.catalogue.place(row) == place:
                self.catalogue.move(row, places[place.offset])
            if "vector" in line and self.catalogue.vector_place(row) == place:
                self.catalogue.move_vector(row, places[place.offset])
        self.work.unerased.discard(number)

    def _needed(self, place: Place, line: Line) -> Line | None:
        """Return the line as it is still needed, None if it is not."""
        op = line["op"]
        if op == "add":
            identity = int(line["memory"]["id"])
            row = self.catalogue.row(identity)
            if row is None or self.catalogue.place(row) != place:
                return None
            if "vector" in line and self.catalogue.vector_place(row) != place:
                return {key: value for key, value in line.items() if key != "vector"}
            return line
        if op == "vector":
            row = self.catalogue.row(int(line["id"]))
            return line if row is not None and self.catalogue.vector_place(row) == place else None
        if op == "pin":
            return line if self.catalogue.row(int(line["id"])) is not None else None
        if op == "drop":
            left = [i for i in line["ids"] if i in self.dropped]
            return {"op": "drop", "ids": left} if left else None
        return line

    def _do(self, line: Line) -> None:
        self._apply(self.journal.append(line), line)

    def _apply(self, place: Place, line: Line) -> None:
        """Apply a line of the journal. One that makes no sense is counted, not obeyed."""
        try:
            self._apply_op(place, line)
        except (BadMemory, KeyError, TypeError, ValueError, IndexError):
            self.counts.unreadable += 1

    def _apply_op(self, place: Place, line: Line) -> None:
        op = line["op"]
        if op == "add":
            memory = from_json(line["memory"])
            vector = line.get("vector")
            known = vector_from_text(vector, self.config.dimension) if vector else None
            self._added(place, memory, known, str(line.get("origin", "")))
        elif op == "vector":
            row = self.catalogue.row(int(line["id"]))
            if row is not None:
                self._vectored(place, row, vector_from_text(line["vector"], self.config.dimension))
        elif op == "pin":
            row = self.catalogue.row(int(line["id"]))
            if row is not None:
                self.catalogue.pin(row, bool(line["pinned"]))
                self._rewrite(row)
        elif op == "forget":
            images = tuple(ImageName(str(session), int(i)) for session, i in line.get("images", ()))
            self._forgotten(int(line["id"]), Tombstone(str(line["origin"]), images))
        elif op == "erased":
            if int(line["id"]) in self.tombstones:
                self.tombstones[int(line["id"])].erased = True
        elif op == "drop":
            for identity in line["ids"]:
                self._dropped(int(identity))

    def _added(self, place: Place, memory: Memory, vector: np.ndarray | None, origin: str) -> None:
        if memory.id in self.tombstones or self.catalogue.row(memory.id) is not None:
            return
        row = self.catalogue.add(memory, place)
        self.dropped.discard(memory.id)
        self.next_id = max(self.next_id, memory.id + 1)
        self.counts.clock_steps += memory.start < self._last_start
        self._last_start, self.now = memory.start, memory.end
        if origin:
            self.origins[origin] = memory.id
            self._origin_of[memory.id] = origin
        if memory.corrects:
            self.work.undeleted[self.key(memory.corrects)] = None
            old = self.catalogue.row(memory.corrects)
            if old is not None:
                self.work.unwritten.pop(old, None)
        if vector is None:
            self.work.unembedded[row] = None
        else:
            self._vectored(place, row, vector)

    def _vectored(self, place: Place, row: int, vector: np.ndarray) -> None:
        self.catalogue.move_vector(row, place)
        self.matrix.put(row, vector)
        self.work.unembedded.pop(row, None)
        self._rewrite(row)

    def _rewrite(self, row: int) -> None:
        """Have Milvus get the row as it is now."""
        if self.catalogue.rows[row]["embedded"] and self.catalogue.rows[row]["shown"]:
            self.work.unwritten[row] = None

    def _forgotten(self, identity: int, tombstone: Tombstone) -> None:
        self.tombstones[identity] = tombstone
        self.next_id = max(self.next_id, identity + 1)
        if tombstone.origin:
            self.origins[tombstone.origin] = identity
        row = self.catalogue.row(identity)
        if row is None:
            return
        self.work.unerased.add(self.catalogue.place(row).segment)
        if self.catalogue.rows[row]["embedded"]:
            self.work.unerased.add(self.catalogue.vector_place(row).segment)
        self.work.unpurged = True
        self._removed(row)

    def _dropped(self, identity: int) -> None:
        row = self.catalogue.row(identity)
        if row is not None:
            self.dropped.add(identity)
            self._removed(row)

    def _removed(self, row: int) -> None:
        identity = int(self.catalogue.rows[row]["id"])
        self.matrix.remove(row)
        self.work.unembedded.pop(row, None)
        self.work.unwritten.pop(row, None)
        self.work.undeleted[self.key(identity)] = None
        self.catalogue.remove(row)

    def _chain(self, identity: int) -> set[int]:
        """Return the ids of a memory, of what it corrects and of what corrects it."""
        corrects = {new: old for old, new in self.catalogue.corrected_by.items()}
        found = {identity}
        for step in (corrects, self.catalogue.corrected_by):
            current = identity
            while (current := step.get(current, 0)) and current not in found:
                found.add(current)
        return found

    def origin_of(self, identity: int) -> str:
        """Return where an imported memory came from, "" for one of this store."""
        return self._origin_of.get(identity, "")

    def _check_head(self, folder: Path) -> None:
        head: dict[str, Any] = self.journal.head
        if head.get("robot") != self.config.robot:
            raise ForeignStore(
                f"{folder} holds the memory of the robot {head.get('robot')!r}, and this one is "
                f"{self.config.robot!r}: give "
                "the folder of this robot, or set its name (robot) back"
            )
        if head.get("dimension") != self.config.dimension:
            raise ForeignStore(
                f"the vectors in {folder} have {head.get('dimension')} values and the text model gives "
                f"{self.config.dimension}: take the model that the memory was made with, or export it "
                f"and import it into a "
                "new folder"
            )

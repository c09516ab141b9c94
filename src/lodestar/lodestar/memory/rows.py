"""Rows of the memory's database: memories with vectors and images, and tombstones of forgotten ones."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from lodestar.keyframes.records import ImageName
from lodestar.memory.config import StoreConfig
from lodestar.memory.database import Database
from lodestar.memory.errors import BadMemory, NoSuchMemory
from lodestar.memory.filters import NO_EVENT, row_of, sql_of, sql_order
from lodestar.memory.owner import check_owner
from lodestar.memory.record_json import from_json, to_json
from lodestar.memory.records import SEEN, EventKind, Memory
from lodestar.memory.requests import Request
from lodestar.storage.records import decode, encode

_PART = 200  # memories per transaction, so that `add` waits only milliseconds
_VECTORS = 4096  # vectors per read
_RECORD = (
    "SELECT id, pinned, record, data FROM memory JOIN content ON content.memory = id LEFT JOIN vector ON "
    "vector.memory = id WHERE id IN (SELECT value FROM json_each(?))"
)


class Rows:
    """Content of the database. Thread-safe.

    Raises the errors of `Database`, and ForeignStore for the database of another robot. A memory is shown
    unless a correction has replaced it. name: of the store, unique among all robots. unreadable: ids of
    malformed records found so far.
    """

    def __init__(self, database: Database, config: StoreConfig, name: str) -> None:
        self.database, self.config = database, config
        self.unreadable: set[int] = set()
        head = {"store": name, "robot": config.robot, "dimension": config.dimension}
        with database.write() as connection:
            connection.executemany("INSERT OR IGNORE INTO meta VALUES (?, ?)", head.items())
            found = dict(connection.execute("SELECT name, value FROM meta").fetchall())
        self.name = str(found["store"])
        check_owner(found, config, str(database.path))

    # --- changes ------------------------------------------------------------------------------------------------

    def add(self, memory: Memory, vector: np.ndarray | None, origin: str = "") -> int:
        """Insert a memory and return its new id, which replaces the id 0.

        If it is a correction, the memory that it corrects, and earlier corrections of that memory, are no
        longer shown. Raises NoSuchMemory for a correction of a missing memory. origin: see `origin_of`.
        """
        record = to_json(memory)  # may raise, so before taking a lock
        with self.database.write() as connection:
            root = self._root(connection, memory.corrects) if memory.corrects else None
            if root is not None:
                connection.execute("UPDATE memory SET shown = 0 WHERE root = ?", (root,))
            row = row_of(memory, origin, root)
            names, marks = ", ".join(f'"{name}"' for name in row), ", ".join("?" * len(row))
            sql = f"INSERT INTO memory ({names}) VALUES ({marks})"
            identity = int(connection.execute(sql, tuple(row.values())).lastrowid or 0)
            if root is None:
                connection.execute("UPDATE memory SET root = id WHERE id = ?", (identity,))
            text = encode({**record, "id": identity}).decode()
            connection.execute("INSERT INTO content VALUES (?, ?)", (identity, text))
            things = {(identity, int(thing)) for thing in memory.entity_ids}
            connection.executemany("INSERT INTO entity VALUES (?, ?)", things)
            images = {(identity, *image) for image in memory.images}
            connection.executemany("INSERT INTO image VALUES (?, ?, ?)", images)
            if vector is not None:
                self._embed(connection, identity, vector)
        return identity

    def embed(self, vectors: Iterable[tuple[int, np.ndarray]]) -> list[int]:
        """Store the vectors (D,) of memories by id. Returns the ids of those that still exist."""
        with self.database.write() as connection:
            return [identity for identity, vector in vectors if self._embed(connection, identity, vector)]

    def recaption(self, memory: Memory) -> None:
        """Replace a memory's text and source; its vector is computed anew.

        Raises NoSuchMemory, and BadMemory for a memory whose first vector is not computed yet.
        """
        sql = "UPDATE memory SET source = ?, embedded = 0 WHERE id = ? AND embedded"
        with self.database.write() as connection:
            self._root(connection, memory.id)
            if not connection.execute(sql, (memory.source.value, memory.id)).rowcount:
                raise BadMemory(f"memory {memory.id} has no vector yet")
            text = encode(to_json(memory)).decode()
            connection.execute("UPDATE content SET record = ? WHERE memory = ?", (text, memory.id))
            connection.execute("DELETE FROM vector WHERE memory = ?", (memory.id,))

    def pin(self, identity: int, pinned: bool) -> None:
        """Set whether a memory is pinned. Raises NoSuchMemory."""
        with self.database.write() as connection:
            self._root(connection, identity)
            connection.execute("UPDATE memory SET pinned = ? WHERE id = ?", (pinned, identity))

    def forget(self, identities: Sequence[int]) -> list[int]:
        """Delete memories, all that they correct and all that corrects them; return the ids.

        A tombstone without content remains for each, and a list of the images that no other memory refers to.
        """
        gone: set[int] = set()
        for begin in range(0, len(identities), _PART):
            with self.database.write() as connection:
                named = identities[begin : begin + _PART]
                # inside the transaction, so that no correction is added meanwhile
                whole = {*named, *self.family(named)}
                gone |= whole
                part = json.dumps(sorted(whole))
                connection.execute(  # also for one that was just thinned out, because its content must be erased
                    "INSERT OR IGNORE INTO forgotten SELECT value, coalesce((SELECT origin FROM memory WHERE "
                    "id = value), ? || ':' || value), 0 FROM json_each(?)",
                    (self.name, part),
                )
                images = connection.execute(
                    "SELECT DISTINCT session, keyframe FROM image WHERE memory IN (SELECT value FROM json_each(?))",
                    (part,),
                ).fetchall()
                self._delete(connection, part)
                connection.executemany(
                    "INSERT OR IGNORE INTO loose_image SELECT ?1, ?2 WHERE NOT EXISTS "
                    "(SELECT 1 FROM image WHERE session = ?1 AND keyframe = ?2)",
                    images,
                )
        return sorted(gone)

    def drop(self, identities: Sequence[int]) -> list[int]:
        """Delete memories without tombstones, unless they are pinned; return the ids of those deleted."""
        gone: list[int] = []
        for part in _parts(identities):
            with self.database.write() as connection:
                found = connection.execute(
                    "SELECT id FROM memory WHERE NOT pinned AND id IN (SELECT value FROM json_each(?))",
                    (part,),
                ).fetchall()
                gone += [identity for (identity,) in found]
                self._delete(connection, json.dumps([identity for (identity,) in found]))
        return gone

    def loose_images(self) -> list[ImageName]:
        """Return images that only forgotten memories referred to."""
        with self.database.write() as connection:
            connection.execute(
                "DELETE FROM loose_image WHERE EXISTS (SELECT 1 FROM image "
                "WHERE image.session = loose_image.session AND image.keyframe = loose_image.keyframe)"
            )
            found = connection.execute("SELECT session, keyframe FROM loose_image ORDER BY 1, 2").fetchall()
        return [ImageName(*image) for image in found]

    def finish(self, identities: Sequence[int], images: Iterable[ImageName]) -> None:
        """Record that the content of forgotten memories and these images has been erased everywhere."""
        with self.database.write() as connection:
            connection.executemany("DELETE FROM loose_image WHERE session = ? AND keyframe = ?", images)
            connection.executemany("UPDATE forgotten SET erased = 1 WHERE id = ?", [(i,) for i in identities])

    # --- queries --------------------------------------------------------------------------------------------------

    def check(self, identity: int) -> None:
        """Raise NoSuchMemory with the reason unless the memory exists."""
        with self.database.read() as connection:
            self._root(connection, identity)

    def count(self) -> int:
        """Return the number of memories."""
        return self._number("SELECT count(*) FROM memory")

    def has(self, identity: int) -> bool:
        """Return whether the memory exists."""
        return self._number("SELECT count(*) FROM memory WHERE id = ?", identity) > 0

    def family(self, identities: Iterable[int]) -> list[int]:
        """Return the ids of the memories, with all that they correct and all that corrects them."""
        sql = (
            "SELECT id FROM memory WHERE root IN "
            "(SELECT root FROM memory WHERE id IN (SELECT value FROM json_each(?)))"
        )
        return list(self._ids(sql, json.dumps(list(identities))).tolist())

    def identities(self) -> list[int]:
        """Return the ids of all memories, oldest first."""
        return sorted(self._ids("SELECT id FROM memory").tolist())

    def matching(self, request: Request, session: str, among: Iterable[int] | None = None) -> np.ndarray:
        """Return the ids (N,), ascending, of shown memories that pass the request's filters.

        among: consider only these ids.
        """
        where, values = sql_of(request, session, among=among)
        return np.sort(self._ids(f"SELECT id FROM memory WHERE {where}", *values))

    def first(self, request: Request, session: str) -> list[int]:
        """Return the ids of the first memories in the request's order, at most its limit."""
        where, values = sql_of(request, session)
        sql = f"SELECT id FROM memory WHERE {where} ORDER BY {sql_order(request)} LIMIT {int(request.limit)}"
        return list(self._ids(sql, *values).tolist())

    def last_sights(self, request: Request, session: str) -> list[int]:
        """Return ids of the last memory of each object per session, and the last that reports it gone.

        Oldest first. Only memories that pass the filters count; limited to the `limit` objects that were
        remembered last.
        """
        where, values = sql_of(request, session)
        seen = [NO_EVENT if kind is None else kind.value for kind in SEEN]
        sql = (  # 0 is the id of all objects without an id
            "SELECT max(iif(kind = ?, 0, id)), max(iif(kind = ?, id, 0)) FROM entity JOIN memory ON id = entity.memory "
            f"WHERE kind IN (?, ?, ?, ?) AND {where} GROUP BY memory.session, entity, iif(entity, 0, id) "
            "ORDER BY max(id) DESC, memory.session, entity LIMIT ?"
        )
        gone = EventKind.VANISHED.value
        with self.database.read() as connection:
            rows = connection.execute(sql, (gone, gone, gone, *seen, *values, request.limit)).fetchall()
        return sorted({identity for row in rows for identity in row if identity})

    def vectorless(self, request: Request, session: str, limit: int) -> list[int]:
        """Return the ids of memories without a vector that pass the filters, newest first."""
        where, values = sql_of(request, session)
        sql = f"SELECT id FROM memory INDEXED BY unembedded WHERE {where} AND NOT embedded ORDER BY id DESC LIMIT ?"
        return list(self._ids(sql, *values, limit).tolist())

    def mentioning(self, words: str, request: Request, session: str, *, corrected: bool) -> list[int]:
        """Return the ids of memories that pass the filters and contain the words, oldest first.

        words: as `plain_words` returns them. corrected: also memories that were corrected.
        """
        where, values = sql_of(request, session, corrected=corrected)
        fitting = np.sort(self._ids(f"SELECT id FROM memory WHERE {where}", *values))
        if not words:
            return list(fitting.tolist())
        found: list[int] = []
        for part in _parts(fitting):
            with self.database.read() as connection:
                rows = connection.execute(
                    "SELECT memory, json_extract(record, '$.text') FROM content "
                    "WHERE memory IN (SELECT value FROM json_each(?))",
                    (part,),
                ).fetchall()
            found += [identity for identity, text in rows if words in plain_words(str(text))]
        return found

    def memories(self, identities: Iterable[int]) -> dict[int, tuple[Memory, np.ndarray | None]]:
        """Return memories and their vectors (D,) float32 by id; missing ones are left out."""
        with self.database.read() as connection:
            rows = connection.execute(_RECORD, (json.dumps([int(i) for i in identities]),)).fetchall()
        found: dict[int, tuple[Memory, np.ndarray | None]] = {}
        for identity, pinned, record, data in rows:
            try:
                memory = from_json({**decode(record, dict[str, Any]), "pinned": bool(pinned)})
            except (BadMemory, ValueError):
                self.unreadable.add(identity)  # damaged on the disk after it was written
                continue
            found[identity] = memory, None if data is None else np.frombuffer(data, "<f2").astype(np.float32)
        return found

    def unembedded(self, limit: int) -> dict[int, str]:
        """Return id -> text of the first `limit` memories without a vector."""
        sql = "SELECT id FROM memory WHERE NOT embedded ORDER BY id LIMIT ?"
        return {i: memory.text for i, (memory, _) in self.memories(self._ids(sql, limit)).items()}

    def embedded(self) -> np.ndarray:
        """Return the ids (N,) of the shown memories with a vector."""
        return self._ids("SELECT id FROM memory WHERE embedded AND shown")

    def vectors(self, identities: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield ids (K,) and vectors (K, D) float16 of those memories that have a vector, in parts."""
        for begin in range(0, len(identities), _VECTORS):
            part = json.dumps(identities[begin : begin + _VECTORS].tolist())
            with self.database.read() as connection:
                rows = connection.execute(
                    "SELECT memory, data FROM vector WHERE memory IN (SELECT value FROM json_each(?))",
                    (part,),
                ).fetchall()
            data = b"".join(row[1] for row in rows)
            yield (
                np.array([row[0] for row in rows], np.int64),
                np.frombuffer(data, "<f2").reshape(len(rows), self.config.dimension),
            )

    def images(self, limit: int) -> list[ImageName]:
        """Return at most `limit` keyframes that memories refer to, the most important first.

        Order: own memories before imported ones; pinned, then events and statements, then the others; newest
        first.
        """
        found: dict[ImageName, None] = {}
        with self.database.read() as connection:
            rows = connection.execute(
                "SELECT image.session, keyframe FROM memory CROSS JOIN image ON image.memory = memory.id "
                "ORDER BY origin IS NOT NULL, pinned DESC, lasting DESC, id DESC, image.session, keyframe"
            )
            for session, keyframe in rows:
                found[ImageName(session, keyframe)] = None
                if len(found) >= limit:
                    break
            rows.close()
        return list(found)

    def origin_of(self, identity: int) -> str:
        """Return the origin of a memory, "STORE:ID": the store that recorded it, and its id there."""
        with self.database.read() as connection:
            row = connection.execute("SELECT origin FROM memory WHERE id = ?", (identity,)).fetchone()
        return str(row[0]) if row is not None and row[0] else f"{self.name}:{identity}"

    def identity_of(self, origin: str) -> int | None:
        """Return the (maybe former) id in this store of the memory with an origin; None if it has none."""
        store, _, number = origin.rpartition(":")
        own = int(number) if store == self.name else 0
        with self.database.read() as connection:
            row = connection.execute(
                "SELECT id FROM memory WHERE origin = ?1 UNION ALL SELECT id FROM forgotten WHERE origin = ?1 "
                "UNION ALL SELECT id FROM memory WHERE id = ?2 AND origin IS NULL LIMIT 1",
                (origin, own),
            ).fetchone()
        return None if row is None else int(row[0])

    def unfinished(self) -> list[int]:
        """Return the ids of forgotten memories that are not yet erased everywhere."""
        return list(self._ids("SELECT id FROM forgotten WHERE NOT erased").tolist())

    def counts(self, request: Request, session: str) -> dict[str, int]:
        """Return counts of memories by name.

        records: all. other_maps: those that do not pass the request. unembedded: those without a vector.
        forgotten: tombstones. unerased: tombstones whose content is not erased everywhere.
        """
        where, values = sql_of(request, session, corrected=True)
        with self.database.read() as connection:
            row = connection.execute(
                f"SELECT (SELECT count(*) FROM memory), (SELECT count(*) FROM memory WHERE NOT ({where})), "
                "(SELECT count(*) FROM memory WHERE NOT embedded), (SELECT count(*) FROM forgotten), "
                "(SELECT count(*) FROM forgotten WHERE NOT erased)",
                values,
            ).fetchone()
        return dict(zip(("records", "other_maps", "unembedded", "forgotten", "unerased"), row))

    def aged(self, full_time: float, long_time: float) -> list[tuple[Any, ...]]:
        """Return the rows of memories that may be thinned out, oldest first.

        A row is (id, x, y, map, floor, source and kind as one text, entity ids as text). full_time,
        long_time: age, seconds, from which a memory may be dropped, and from which an event or statement may.
        """
        with self.database.read() as connection:
            now = connection.execute('SELECT "end" FROM memory ORDER BY id DESC LIMIT 1').fetchone()
            return connection.execute(
                "SELECT id, x, y, map_id || ' ' || fingerprint || ' ' || session || ' ' || floor || source || kind, "
                "(SELECT group_concat(entity) FROM entity WHERE entity.memory = id) FROM memory "
                'WHERE NOT pinned AND "end" <= ? AND ("end" <= ? OR NOT lasting) ORDER BY "end", id',
                (now[0] - full_time, now[0] - long_time) if now else (0.0, 0.0),
            ).fetchall()

    # --- internal -------------------------------------------------------------------------------------------------

    def _embed(self, connection: sqlite3.Connection, identity: int, vector: np.ndarray) -> bool:
        there = connection.execute("UPDATE memory SET embedded = 1 WHERE id = ?", (identity,)).rowcount
        if there:
            data = np.asarray(vector, "<f2").tobytes()  # float16: a cosine changes by less than 1e-3
            connection.execute("INSERT OR REPLACE INTO vector VALUES (?, ?)", (identity, data))
        return bool(there)

    def _root(self, connection: sqlite3.Connection, identity: int) -> int:
        row = connection.execute("SELECT root FROM memory WHERE id = ?", (identity,)).fetchone()
        if row is None:
            gone = connection.execute("SELECT 1 FROM forgotten WHERE id = ?", (identity,)).fetchone()
            reason = "was forgotten" if gone else "never existed or was thinned out"
            raise NoSuchMemory(
                f"memory {identity} {reason}: search for what you mean and take an id from the answer"
            )
        return int(row[0])

    @staticmethod
    def _delete(connection: sqlite3.Connection, ids: str) -> None:
        connection.execute("DELETE FROM memory WHERE id IN (SELECT value FROM json_each(?))", (ids,))

    def _ids(self, sql: str, *values: Any) -> np.ndarray:
        """Return the column `id` (N,) of a query.

        It is fetched as one row, because fetching many rows would wait for the GIL many times.
        """
        with self.database.read() as connection:
            row = connection.execute(f"SELECT group_concat(id) FROM ({sql})", values).fetchone()
        return np.fromstring(row[0] or "", np.int64, sep=",")

    def _number(self, sql: str, *values: Any) -> int:
        with self.database.read() as connection:
            return int(connection.execute(sql, values).fetchone()[0])


def plain_words(text: str) -> str:
    """Return the text in the form in which texts are compared: casefolded, with single spaces."""
    return " ".join(text.casefold().split())


def _parts(identities: Sequence[int] | np.ndarray) -> Iterator[str]:
    for begin in range(0, len(identities), _PART):
        yield json.dumps([int(i) for i in identities[begin : begin + _PART]])

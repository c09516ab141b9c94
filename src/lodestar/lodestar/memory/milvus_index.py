"""The memory's records in Milvus: Milvus Lite in a folder, or a server or cluster by URI (ADR 0063).

It is the only module that imports pymilvus (0.7 s and 106 MiB), and only when a connection is made.
"""

from __future__ import annotations

import fcntl
import json
import logging
import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from lodestar.memory.config import StoreConfig
from lodestar.memory.errors import IndexUnavailable
from lodestar.memory.filters import columns_of, distance_to, milvus_of
from lodestar.memory.record_json import from_json, to_json
from lodestar.memory.records import Memory
from lodestar.memory.requests import EVERY_ROBOT, Hit, Order, Request
from lodestar.storage.lock_holders import holder_of
from lodestar.storage.records import decode

STORE_TIMEOUT = 10.0  # seconds of real time for a call to the server; chosen
# factor on the limit of a query to Milvus, because its filter passes the circle's bounding square; chosen
STORE_OVERFETCH = 2
STORE_COLLECTION = "lodestar_memory"  # name of the collection in Milvus

_PAGE = 4096  # keys listed or deleted per call
_ROWS = 500  # full records read per call; chosen: 1.5 MB
_MAX_ENTITIES = 256
_MAX_SHORT = 512  # most bytes of a name
MAX_WINDOW = 16_384  # most results of one search; Milvus' own limit
FILE = "milvus.db"  # file name of Milvus Lite's database
_LITE_LOCK = "LOCK"  # name of the lock in it


@dataclass(frozen=True)
class Entry:
    """Record in the form that Milvus stores. key: unique among all robots. vector: (D,) float32."""

    key: str
    memory: Memory
    vector: np.ndarray


class MilvusIndex:
    """Records of one collection. All methods raise IndexUnavailable, with a remedy in the message.

    One thread writes; searches may run concurrently.
    """

    def __init__(self, config: StoreConfig, folder: Path) -> None:
        self._config = config
        self._lite = config.backend == "milvus_lite"
        self._where = str(folder / FILE) if self._lite else config.uri
        elsewhere = "use another server (uri), or drop it there, with the memories of every robot in it"
        self._advice = f"move {self._where} away, and it is filled anew" if self._lite else elsewhere
        self._client: Any = None
        self._doubted = False  # whether a call failed: a restarted server has unloaded the collection

    @property
    def connected(self) -> bool:
        """Return whether there is a connection and no call to the server has failed since it was made."""
        return self._client is not None and not self._doubted

    def connect(self) -> None:
        """Connect or reconnect, and create the collection if it does not exist."""
        self._disconnect()
        try:
            import pymilvus
        except ImportError as error:
            raise IndexUnavailable(
                f"pymilvus cannot be imported ({error}); pip install 'lodestar[memory]'. The memory "
                f"goes on without Milvus"
            ) from error
        # errors are raised as exceptions, which we report
        logging.getLogger("pymilvus").setLevel(logging.CRITICAL)
        try:
            client = pymilvus.MilvusClient(self._where, token=self._config.token, timeout=STORE_TIMEOUT)
            if not client.has_collection(STORE_COLLECTION):
                self._create(client, pymilvus)
            self._check(client)
            client.load_collection(STORE_COLLECTION)
        except IndexUnavailable:
            raise
        except Exception as error:  # exceptions of pymilvus, grpc and Milvus Lite have no common base
            told = self._told(error)
            if self._lite:  # it may be damaged, by a process that was killed while writing
                self._empty_lite()
            raise told from error
        self._client, self._doubted = client, False

    def close(self) -> None:
        """Close the connection. Safe to repeat."""
        try:
            self._disconnect()
        except Exception as error:
            raise self._told(error) from error

    def upsert(self, entries: Sequence[Entry]) -> None:
        """Write the records, replacing existing ones.

        It deletes and inserts, because the upsert of Milvus 2.3 puts rows into the wrong partition of a
        partition key.
        """
        rows = [_row(entry) for entry in entries]
        self.delete([entry.key for entry in entries])
        self._call(lambda client, name: client.insert(name, rows, timeout=STORE_TIMEOUT))

    def delete(self, keys: Sequence[str]) -> None:
        """Delete the records with these keys."""
        for begin in range(0, len(keys), _PAGE):
            part = list(keys[begin : begin + _PAGE])
            self._call(lambda client, name, part=part: client.delete(name, ids=part, timeout=STORE_TIMEOUT))

    def seal(self) -> None:
        """Flush upserted records to Milvus' storage."""
        self._call(lambda client, name: client.flush(name, timeout=6.0 * STORE_TIMEOUT))

    def erase(self) -> bool:
        """Erase deleted records from Milvus' files. Returns whether the collection must be filled again.

        Milvus Lite keeps deleted rows in its files, so the files are deleted. A server is told to compact.
        """
        if not self._lite:
            self.seal()
            self._call(lambda client, name: client.compact(name))
            return False
        self._disconnect()
        if not self._empty_lite():
            raise self._told(OSError(f"{self._where} cannot be emptied"))
        self.connect()
        return True

    def drop(self) -> None:
        """Drop the collection, with the records of every robot."""
        self._call(lambda client, name: client.drop_collection(name))

    def listed(self) -> set[str]:
        """Return the keys of this robot's records."""
        return {str(row["key"]) for row in self._every(milvus_of(Request(), [self._config.robot]), ["key"])}

    def search(self, queries: np.ndarray, request: Request, session: str, limit: int) -> dict[str, float]:
        """Return key -> largest cosine with the queries (M, D), for about `limit` records of this robot."""
        filters = milvus_of(request, [self._config.robot], session)
        best: dict[str, float] = {}
        for hit in self._search(queries, filters, min(limit, MAX_WINDOW), ["key"]):
            key = str(hit["entity"]["key"])
            best[key] = max(best.get(key, -1.0), float(hit["distance"]))
        return best

    def fleet(self, queries: np.ndarray | None, request: Request) -> list[Hit]:
        """Return memories of several robots, ranked by similarity or in the request's order."""
        robots = [] if request.robots == EVERY_ROBOT else list(request.robots)
        names = ["key", "record", "vector"]
        if queries is not None:
            wanted = min(MAX_WINDOW, request.limit * STORE_OVERFETCH)
            found = self._search(queries, milvus_of(request, robots), wanted, names)
            rows = [{**hit["entity"], "score": hit["distance"]} for hit in found]
        else:
            rows = self._first(request, robots, names)
        hits: dict[str, Hit] = {}
        for row in rows:
            values = (
                row["record"] if isinstance(row["record"], dict) else decode(row["record"], dict[str, Any])
            )
            hit = Hit(from_json(values), float(row.get("score", 0.0)), np.asarray(row["vector"], np.float32))
            near = distance_to(request, *map(float, hit.memory.position[:2])) <= request.radius
            if near and hit.score >= hits.get(row["key"], hit).score:
                hits[row["key"]] = hit

        def place(hit: Hit) -> float:
            return _order(request, hit.memory.start, *map(float, hit.memory.position[:2]))

        ranked = sorted(hits.values(), key=place if queries is None else lambda hit: -hit.score)
        return ranked[: request.limit]

    def _first(self, request: Request, robots: list[str], names: list[str]) -> list[dict[str, Any]]:
        """Return the first records in the request's order, reduced to the fields `names`.

        Milvus cannot sort, so the keys of all matching records are read first.
        """
        rows = self._every(milvus_of(request, robots), ["key", "start", "x", "y"])
        rows = [row for row in rows if distance_to(request, row["x"], row["y"]) <= request.radius]
        rows.sort(key=lambda row: _order(request, row["start"], row["x"], row["y"]))
        keys = [str(row["key"]) for row in rows[: request.limit]]
        found: list[dict[str, Any]] = []
        for begin in range(0, len(keys), _ROWS):
            filters = f"key in {json.dumps(keys[begin : begin + _ROWS])}"
            found += self._call(
                lambda client, name, filters=filters: client.query(
                    name, filter=filters, output_fields=names, timeout=STORE_TIMEOUT
                )
            )
        return found

    def _every(self, filters: str, names: list[str]) -> list[dict[str, Any]]:
        """Return the fields `names` of all records that pass the filters."""

        def read(client: Any, name: str) -> list[dict[str, Any]]:
            if self._lite:  # returns all rows at once; its iterator misses a server call
                return list(client.query(name, filter=filters, output_fields=names))
            pages = client.query_iterator(name, batch_size=_PAGE, filter=filters, output_fields=names)
            found: list[dict[str, Any]] = []
            while rows := pages.next():
                found.extend(rows)
            pages.close()
            return found

        return list(self._call(read))

    def _search(
        self, queries: np.ndarray, filters: str, limit: int, names: list[str]
    ) -> list[dict[str, Any]]:
        found = self._call(
            lambda client, name: client.search(
                name,
                data=[row.tolist() for row in queries],
                anns_field="vector",
                filter=filters,
                limit=limit,
                output_fields=names,
                timeout=STORE_TIMEOUT,
            )
        )
        return [hit for hits in found for hit in hits]

    def _call(self, work: Any) -> Any:
        client = self._client
        if client is None:
            raise IndexUnavailable("Milvus is not connected yet; the memory goes on without it")
        try:
            return work(client, STORE_COLLECTION)
        except Exception as error:
            self._doubted = True
            raise self._told(error) from error

    def _disconnect(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            client.close()
            if self._lite:
                _release_lite(self._where)

    def _create(self, client: Any, pymilvus: Any) -> None:
        kind = pymilvus.DataType
        schema = client.create_schema(auto_id=False, enable_dynamic_field=False)
        schema.add_field("key", kind.VARCHAR, is_primary=True, max_length=_MAX_SHORT)
        schema.add_field("robot", kind.VARCHAR, is_partition_key=True, max_length=_MAX_SHORT)
        schema.add_field("vector", kind.FLOAT_VECTOR, dim=self._config.dimension)
        for name in ("start", "end", "x", "y"):
            schema.add_field(name, kind.DOUBLE)
        for name in ("id", "floor", "region_id", "map_id"):
            schema.add_field(name, kind.INT64)
        for name in ("region", "source", "kind", "fingerprint", "session"):
            schema.add_field(name, kind.VARCHAR, max_length=4 * _MAX_SHORT)
        schema.add_field("entities", kind.ARRAY, element_type=kind.INT64, max_capacity=_MAX_ENTITIES)
        schema.add_field("record", kind.JSON)
        index = client.prepare_index_params()
        index.add_index("vector", index_type="FLAT", metric_type="COSINE")
        client.create_collection(
            STORE_COLLECTION, schema=schema, index_params=index, consistency_level="Bounded"
        )

    def _check(self, client: Any) -> None:
        described = client.describe_collection(STORE_COLLECTION)
        fields = {field["name"]: field for field in described["fields"]}
        vector = fields.get("vector", {})
        if "record" not in fields or "key" not in fields:
            raise IndexUnavailable(
                f"the collection {STORE_COLLECTION} in {self._where} is not one of a Lodestar "
                f"memory: {self._advice}"
            )
        if int(vector.get("params", {}).get("dim", -1)) != self._config.dimension:
            raise IndexUnavailable(
                f"the vectors of the collection {STORE_COLLECTION} have another length than "
                f"{self._config.dimension}: it was made with another text model: {self._advice}"
            )

    def _empty_lite(self) -> bool:
        """Delete Milvus Lite's files, which are a copy of the database. Returns whether they are gone.

        Files that another process uses, and folders that are not Milvus Lite's, are kept.
        """
        _release_lite(self._where)
        folder = Path(self._where)
        if not folder.exists():
            return True
        try:
            with open(folder / _LITE_LOCK, "rb") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder)
        except OSError:
            return False
        return True

    def _told(self, error: Exception) -> IndexUnavailable:
        reason = " ".join(str(getattr(error, "message", "") or error).split())[:200]
        holder = holder_of(Path(self._where) / _LITE_LOCK) if self._lite and not self.connected else ""
        if holder and not holder.startswith(f"process {os.getpid()} "):
            advice = f"{self._where} is open in {holder}: end that process; the memory goes on without Milvus"
        elif self._lite:
            advice = f"if it stays so, move {self._where} away: it is filled again from the database"
        else:
            advice = "check the server and its address; what it lacks is written when it is back"
        return IndexUnavailable(f"Milvus does not work now ({type(error).__name__}: {reason}); {advice}")


def _release_lite(path: str) -> None:
    """Stop Milvus Lite's server in this process, which holds the lock on its files."""
    from milvus_lite.server_manager import server_manager_instance

    server_manager_instance.release_server(path)


def _order(request: Request, start: float, x: float, y: float) -> float:
    """Return the sort key of a record for a request without search phrases."""
    if request.order is Order.NEAREST:
        return distance_to(request, x, y)
    return start if request.order is Order.OLDEST else -start


def _row(entry: Entry) -> dict[str, Any]:
    memory = entry.memory
    return {
        "key": entry.key,
        "id": memory.id,
        "robot": memory.robot,
        "vector": entry.vector,
        "entities": sorted(set(memory.entity_ids))[:_MAX_ENTITIES],
        "record": to_json(memory),
        **columns_of(memory),
    }

"""Measurements of one memory store in a separate process, so that its RAM is measured alone."""

from __future__ import annotations

import multiprocessing
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from lodestar.memory.milvus_copy import STORE_SETTLE
from lodestar_bringup.process_spec import ONE_THREAD
from lodestar_eval.memory import peak_bytes, reset_peak, resident_bytes
from lodestar_eval.memory_records import base_captions, cues_of, life, queries

_DAY = 86_400.0
_LIMIT = 100  # memories per query
_WARM_UP = 5  # queries that warm the store up


@dataclass(frozen=True)
class Trial:
    """Settings of a trial. records: number of captions, spread over `span` seconds. most: greatest number of
    records that the store keeps, 0 = no limit.
    """

    folder: str
    backend: str
    uri: str
    records: int
    span: float
    most: int
    queries: int
    seed: int
    data: str


def measure(trial: Trial) -> dict[str, float]:
    """Return the metrics of a trial, measured in a new process with the nodes' environment variables."""
    with _environment(ONE_THREAD), multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(_measure, (trial,))


@contextmanager
def _environment(variables: Mapping[str, str]) -> Iterator[None]:
    """Set environment variables for processes that are started within the block."""
    before = dict(os.environ)
    os.environ.update(variables)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def _measure(trial: Trial) -> dict[str, float]:
    from lodestar.memory.config import StoreConfig
    from lodestar.memory.store import MemoryStore
    from lodestar.models.embedder import SentenceTransformerEmbedder

    rng = np.random.default_rng(trial.seed)
    embedder = SentenceTransformerEmbedder()
    captions = base_captions(Path(trial.data) if trial.data else None, rng)
    began = time.perf_counter()
    vectors = embedder.embed(captions)
    found = {"embed_ms": 1e3 * (time.perf_counter() - began) / len(captions)}
    before = resident_bytes()
    _import_milvus(trial.backend)
    found["import_mib"] = (resident_bytes() - before) / 2**20
    before = resident_bytes()
    reset_peak()
    most = trial.most or StoreConfig().max_records
    config = StoreConfig(folder=trial.folder, backend=trial.backend, uri=trial.uri, max_records=most)
    with MemoryStore.open(config, embedder.embed, on_erased=lambda images: None) as store:
        taken = []
        began = time.perf_counter()
        for memory, vector in life(trial.records, trial.span, captions, vectors, rng):
            begun = time.perf_counter()
            store.add(memory, vector)
            taken.append(time.perf_counter() - begun)
        found["insert_per_s"] = trial.records / (time.perf_counter() - began)
        found.update(add_ms_p50=_ms(taken, 50), add_ms_p99=_ms(taken, 99), add_ms_max=_ms(taken, 100))
        _work_off(store)
        found["flush_s"] = time.perf_counter() - began
        found["records"] = float(store.statistics().records)
        found.update(_ask(store, trial, captions, rng, embedder))
        found["rss_mib"] = (resident_bytes() - before) / 2**20
        found.update(_forget(store, rng))
        found["peak_mib"] = peak_bytes() / 2**20
        found["cache_mib"] = store.statistics().cache_bytes / 2**20
        found["store_mib"] = store.statistics().store_bytes / 2**20
        began = time.perf_counter()
    found["close_s"] = time.perf_counter() - began
    files = [path for path in (Path(trial.folder) / "milvus.db").rglob("*") if path.is_file()]
    found["milvus_mib"] = sum(path.stat().st_size for path in files) / 2**20
    began = time.perf_counter()
    with MemoryStore.open(config, embedder.embed) as store:
        found["open_s"] = time.perf_counter() - began
        _work_off(store)
    return found


def _import_milvus(backend: str) -> None:
    if backend != "sqlite":
        import pymilvus  # noqa: F401
    if backend == "milvus_lite":
        import milvus_lite.server_manager  # noqa: F401
        import pyarrow.parquet  # noqa: F401


def _forget(store, rng: np.random.Generator) -> dict[str, float]:  # type: ignore[no-untyped-def]
    """Return seconds until a forgotten memory is erased everywhere, and p95 milliseconds of searches meanwhile."""
    from lodestar.memory.requests import Request

    vectors = rng.normal(size=(1, store.config.dimension))
    began, taken = time.perf_counter(), []
    with ThreadPoolExecutor(1) as pool:
        forgotten = pool.submit(store.forget, store.identities()[0])
        while not forgotten.done():
            begun = time.perf_counter()
            store.search(Request(vectors=vectors, limit=_LIMIT))
            taken.append(time.perf_counter() - begun)
        forgotten.result()
    return {"forget_s": time.perf_counter() - began, "while_forgetting_ms_p95": _ms(taken or [0.0], 95)}


def _work_off(store) -> None:  # type: ignore[no-untyped-def]
    for _ in range(3):  # thinning starts only in the cycle after the last record
        if not store.flush(600.0):
            raise RuntimeError(f"the store cannot be flushed: {store.statistics().problems}")


def _ask(  # type: ignore[no-untyped-def]
    store, trial: Trial, captions: list[str], rng: np.random.Generator, embedder
) -> dict[str, float]:
    """Return p50 and p95, milliseconds of wall and processor time, of each kind of request, embedding included.

    For requests that select evidence, the texts are embedded once, for search and selection together.
    """
    from lodestar.memory.config import BottleneckConfig
    from lodestar.memory.evidence.selection import bottleneck_evidence
    from lodestar.memory.requests import Request
    from lodestar.models.phrases import PhraseBook

    things = PhraseBook(embedder)
    words = queries(5 * (trial.queries + _WARM_UP), captions, rng)

    def window(length: float) -> tuple[float, float]:
        begin = float(rng.uniform(max(0.0, trial.span - 3.0 * _DAY), trial.span - length))
        return begin, begin + length

    def place() -> tuple[float, float]:
        return tuple(rng.uniform(5.0, 25.0, 2).tolist())  # type: ignore[return-value]

    def everything() -> Request:
        return Request(
            phrases=(words.pop(),), window=window(6 * 3600.0), near=place(), radius=10.0, limit=_LIMIT
        )

    def evidence(request: Request) -> int:
        cues = things.vectors(cues_of(request.phrases[0]))
        found = store.search(replace(request, vectors=cues[:1]))
        return len(bottleneck_evidence(found, cues, things.vectors, BottleneckConfig()).pieces)

    def hits(request: Request) -> int:
        return len(store.search(request))

    kinds: dict[str, tuple[Callable[[], Request], Callable[[Request], int]]] = {
        "text": (lambda: Request(phrases=(words.pop(),), limit=_LIMIT), hits),
        "time": (lambda: Request(window=window(3600.0), limit=_LIMIT), hits),
        "place": (lambda: Request(near=place(), radius=5.0, limit=_LIMIT), hits),
        "entity": (lambda: Request(entity_ids=frozenset({int(rng.integers(1, 400))}), limit=_LIMIT), hits),
        "text_place": (
            lambda: Request(phrases=(words.pop(),), near=place(), radius=10.0, limit=_LIMIT),
            hits,
        ),
        "all": (everything, hits),
        "evidence": (everything, evidence),
    }
    found = {}
    for kind, (make, answer) in kinds.items():
        taken, computed, count = [], [], 0
        for k in range(trial.queries + _WARM_UP):
            request = make()
            begun, cpu = time.perf_counter(), time.process_time()
            number = answer(request)
            if k >= _WARM_UP:
                taken.append(time.perf_counter() - begun)
                computed.append(time.process_time() - cpu)
                count += number
        found[f"{kind}_ms_p50"], found[f"{kind}_ms_p95"] = _ms(taken, 50), _ms(taken, 95)
        found[f"{kind}_cpu_ms_p50"], found[f"{kind}_cpu_ms_p95"] = _ms(computed, 50), _ms(computed, 95)
        found[f"{kind}_hits"] = count / trial.queries
    return found


def _ms(seconds: list[float], percentile: float) -> float:
    return 1e3 * float(np.percentile(seconds, percentile))


_OWNER = """
import sys
import numpy as np
from lodestar.memory import milvus_copy
from lodestar.memory.config import StoreConfig
from lodestar.memory.store import MemoryStore
from lodestar_eval.memory_records import life

folder, backend, uri, run = *sys.argv[1:4], int(sys.argv[4])
rng = np.random.default_rng(run)
config = StoreConfig(folder=folder, backend=backend, uri=uri, sync_interval=0.2)
milvus_copy.STORE_FLUSH_BATCH, milvus_copy.STORE_SEAL_AFTER = 64, 200
store = MemoryStore.open(config)
vectors = rng.normal(size=(1, 384))
for memory, vector in life(10**6, 3e6, [f"run {run}"], vectors, rng):
    print(store.add(memory, vector), flush=True)
"""


def kill_owner(folder: Path, backend: str, uri: str, kills: int, seed: int) -> dict[str, int]:
    """Run processes that add to a store and flush without pause, each killed (SIGKILL) after 0.5 to 4 s.

    Returns the number of acknowledged records, of those of them that were lost, of duplicates, and of keys
    missing or superfluous in Milvus after the last start.
    """
    from lodestar.memory.config import StoreConfig
    from lodestar.memory.milvus_index import MilvusIndex
    from lodestar.memory.store import MemoryStore

    rng = random.Random(seed)
    acknowledged: set[int] = set()
    for run in range(kills):
        command = [sys.executable, "-c", _OWNER, str(folder), backend, uri, str(run)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            process.stdout.readline()
            lives, begun = rng.uniform(0.5, 4.0), time.monotonic()
            while time.monotonic() - begun < lives and (line := process.stdout.readline()):
                acknowledged.add(int(line))
            process.send_signal(signal.SIGKILL)
    config = StoreConfig(folder=str(folder), backend=backend, uri=uri)
    wrong = 0
    with MemoryStore.open(config) as store:
        _work_off(store)
        identities = store.identities()
        told = [(m.text, m.start) for m in map(store.get, identities)]
        wanted = {store.origin_of(identity) for identity in identities}
    if backend != "sqlite":
        time.sleep(STORE_SETTLE)  # a server shows written records only after some seconds
        index = MilvusIndex(config, folder)
        index.connect()
        wrong = len(index.listed() ^ wanted)
        index.close()
    return {
        "acknowledged": len(acknowledged),
        "lost": len(acknowledged.difference(identities)),
        "doubled": len(told) - len(set(told)),
        "milvus_wrong": wrong,
    }

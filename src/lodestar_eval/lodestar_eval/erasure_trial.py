"""Trial of erasure: once `forget` is acknowledged, no file of the store contains the text or its vector.

This must hold for every sequence of operations before and during the erasure, and after a kill.
"""

from __future__ import annotations

import hashlib
import multiprocessing
import random
import re
import shutil
import time
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np

_DIMENSION = 16
_FOUND = re.compile(rb"SECRET-[0-9]+-[0-9]+-[0-9a-f]+\.")
_LIFE = {
    "sqlite": 2.0,
    "milvus_lite": 8.0,
}  # longest life of an owner, seconds; Milvus Lite takes 1.5 s for a `forget`
_LONGER = 1.5  # factor on the next life after one without any acknowledgement, for busy machines
_LOOKS = 0.1  # share of acknowledgements after which the files are searched while the owner runs
_DEEDS = ("add", "add", "add", "forget", "forget", "correct", "flush", "pin", "again")
_IMPORTED = ("lodestar.memory.store", "lodestar_eval.erasure_trial")


@dataclass(frozen=True)
class Erasure:
    """Counts: texts acknowledged as forgotten, those of them still found in files as text or vector, kills of
    the process that owns the store, and searches of its files.
    """

    forgotten: int
    found: int
    kills: int
    searches: int


def erasure(folder: Path, backend: str, texts: int, interleavings: int, seed: int) -> Erasure:
    """Run processes that own a store, each until it is killed, and search the files for forgotten texts.

    interleavings: number of new stores, each with random operations and kills. texts: texts to be forgotten
    in each.
    """
    # starts an owner within milliseconds, in a separate process
    context = multiprocessing.get_context("forkserver")
    milvus = ("pymilvus", "milvus_lite.server_manager") if backend == "milvus_lite" else ()
    context.set_forkserver_preload([*_IMPORTED, *milvus])
    rng = random.Random(seed)
    forgotten = found = kills = searches = 0
    for number in range(interleavings):
        at = folder / str(number)
        gone: set[bytes] = set()
        most = _LIFE[backend]
        while len(gone) < texts:
            kills, before = kills + 1, len(gone)
            seconds = rng.uniform(0.0, most)
            told, looks = _one_life(context, at, backend, 1000 * seed + kills, gone, seconds, rng)
            most = _LIFE[backend] if len(gone) > before else most * _LONGER
            found += told
            searches += looks
        found += len(_texts(at) & gone) + _vectors(at, gone)
        searches += 1
        forgotten += len(gone)
        shutil.rmtree(at)
    return Erasure(forgotten, found, kills, searches)


def _one_life(
    context: Any, at: Path, backend: str, life: int, gone: set[bytes], seconds: float, rng: random.Random
) -> tuple[int, int]:
    """Run a process that owns the store and kill it (SIGKILL); add the texts that it acknowledged as
    forgotten to `gone`.

    Returns the number of those texts found in files, and of searches.
    """
    found = searches = 0
    ours, its = context.Pipe(duplex=False)
    process = context.Process(target=_own, args=(its, str(at), backend, life), daemon=True)
    process.start()
    its.close()
    try:
        ours.recv()  # the owner reports that the store is open
        ends = time.monotonic() + seconds
        while (left := ends - time.monotonic()) > 0.0:
            if ours.poll(left):
                gone.update(ours.recv())
                if rng.random() < _LOOKS:
                    found += len(_texts(at) & gone)
                    searches += 1
        process.kill()
        while True:
            gone.update(ours.recv())  # acknowledgements sent before the kill
    except EOFError:
        process.join()
        if process.exitcode != -9:
            raise RuntimeError(
                f"an owner of the memory ended with {process.exitcode}: see the lines above"
            ) from None
    finally:
        process.kill()
        process.join()
        ours.close()
    return found, searches


def _own(pipe: Connection, folder: str, backend: str, life: int) -> None:
    """Remember, correct, pin, flush, reopen and forget in random order, and send acknowledgements. Never returns."""
    from lodestar.memory.config import StoreConfig
    from lodestar.memory.errors import NotErased
    from lodestar.memory.store import MemoryStore

    config = StoreConfig(
        folder=folder, backend=backend, dimension=_DIMENSION, flush_interval=0.01, sync_interval=0.02, retry=0.05,
        max_records=300, full_time=100.0, long_time=200.0,
    )  # fmt: skip

    def new() -> MemoryStore:
        return MemoryStore.open(config, vectors_of, on_erased=lambda images: None)

    rng, store, step = random.Random(life), new(), 0
    pipe.send(())
    while True:
        step += 1
        deed, there = rng.choice(_DEEDS), store.identities()
        if deed == "add":
            for _ in range(rng.randrange(60)):
                secret = f"SECRET-{life}-{step}-{uuid.UUID(int=rng.getrandbits(128)).hex}."
                memory = _secret_memory(secret, rng.randrange(rng.choice((5, 1500))), float(step))
                store.add(memory, vectors_of([secret])[0])
        elif deed == "forget" and there:
            chosen = rng.sample(there, min(len(there), rng.choice((1, 5, 60, 150))))
            secrets = [str(store.get(i).facts.get("what", "")).encode() for i in chosen]
            try:
                store.forget(chosen)
                pipe.send(secrets)
            except NotErased:  # not acknowledged; retried later, also after a kill
                continue
        elif deed == "correct" and there:
            store.correct(rng.choice(there), f"no, it was another thing {rng.random()}", facts={})
        elif deed == "flush":
            store.flush(rng.random())
        elif deed == "pin" and there:
            store.pin(rng.choice(there), rng.random() < 0.5)
        elif deed == "again" and rng.random() < 0.3:
            store.close()
            store = new()


def vectors_of(texts: Sequence[str]) -> np.ndarray:
    """Return unit vectors (N, 16) of the texts, with the same bytes in every process and batch."""
    rows = []
    for text in texts:
        seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little")
        row = np.random.default_rng(seed).normal(size=_DIMENSION)
        rows.append(row / np.linalg.norm(row))
    return np.array(rows, np.float32).reshape(len(texts), _DIMENSION)


def _secret_memory(secret: str, filling: int, start: float) -> Any:
    """Return a memory whose text begins and ends with the secret, which also occurs in its facts."""
    from lodestar.memory.records import Memory, Primitive

    seen = tuple(Primitive(i, "box", np.zeros(3), np.ones(3), pixels=i) for i in range(filling % 5))
    text = secret + " x" * filling + secret
    return Memory(0, text, start, start + 3.0, np.zeros(3), primitives=seen, facts={"what": secret})


def _texts(folder: Path) -> set[bytes]:
    return {text for content in _contents(folder) for text in _FOUND.findall(content)}


def _vectors(folder: Path, gone: set[bytes]) -> int:
    """Return the number of forgotten texts whose vector is in a file, in half or single precision."""
    from lodestar.memory.record_json import checked_vector

    contents = list(_contents(folder))
    texts = [text.decode() for text in sorted(gone - {b""})]
    # vectors in the form that the store keeps
    rows = [checked_vector(row, _DIMENSION) for row in vectors_of(texts)]
    needles = ((row.astype("<f2").tobytes(), row.astype("<f4").tobytes()) for row in rows)
    return sum(any(needle in content for content in contents for needle in pair) for pair in needles)


def _contents(folder: Path) -> Iterator[bytes]:
    for path in folder.rglob("*"):
        try:
            if path.is_file():
                yield path.read_bytes()
        except FileNotFoundError:  # replaced by the store during the search
            continue

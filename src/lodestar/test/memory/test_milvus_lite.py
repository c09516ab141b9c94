"""The store on the real Milvus Lite: written, searched by Milvus itself, reopened, and a folder that is none of its."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet
import pytest

from lodestar.memory import milvus_index
from lodestar.memory.milvus_index import Entry, MilvusIndex
from lodestar.memory.requests import EVERY_ROBOT, Request
from lodestar.memory.store import MemoryStore

import memory_fakes as fakes  # isort: skip


@pytest.fixture
def lite(config):
    """Milvus Lite answers searches itself."""
    return replace(config, cache="off", settle=0.0, exact_below=1)


def test_milvus_lite_answers_the_filters_and_the_words(lite):
    with MemoryStore.open(lite, fakes.embed) as store:
        for i in range(60):
            place = (float(i % 10), float(i // 10), 0.0)
            store.add(
                fakes.memory(f"thing {i}", 10.0 * i, place, things=(i % 7,), floor=i % 2, region='a "Hall')
            )
        assert store.flush() and store.flush(), store.statistics().problems
        for request in (
            {},
            {"window": (300.0, 500.0)},
            {"near": (1.0, 4.0), "radius": 2.0},
            {"floor": 1},
            {"region": 'A "hall', "entity_ids": frozenset({41 % 7, 3})},
        ):
            found = store.search(Request(phrases=("thing 41",), limit=5, **request))
            assert len(found) == 5 and found[0].memory.text == "thing 41", request
            assert found[0].score == pytest.approx(1.0, abs=1e-3)
            assert store.statistics().problems == {}
        fleet = store.search(Request(phrases=("thing 41",), robots=EVERY_ROBOT, limit=3, near=(1.0, 4.0)))
        assert fleet[0].memory.text == "thing 41" and fleet[0].memory.robot == "robot"
        store.forget(fleet[0].memory.id)
        assert store.flush() and store.flush()
        assert store.search(Request(phrases=("thing 41",), limit=1))[0].memory.text != "thing 41"
    with MemoryStore.open(lite, fakes.embed) as store:
        assert store.flush() and store.flush()
        assert store.search(Request(phrases=("thing 7",), limit=1))[0].memory.text == "thing 7"


def listed(config) -> list[int]:
    index = MilvusIndex(config, Path(config.folder))
    index.connect()
    found = sorted(int(entry.key.rpartition(":")[2]) for entry in index.listed())
    index.close()
    return found


def test_milvus_lite_merges_its_files_in_small_groups(lite, monkeypatch):
    monkeypatch.setattr(milvus_index, "_MERGED_ROWS", 8)
    Path(lite.folder).mkdir()
    index = MilvusIndex(lite, Path(lite.folder))
    index.connect()
    for begin in range(0, 32, 4):
        memories = [replace(fakes.memory(f"thing {i}"), id=i + 1) for i in range(begin, begin + 4)]
        vectors = fakes.embed([memory.text for memory in memories])
        index.upsert([Entry(f"own:{m.id}", m, vector) for m, vector in zip(memories, vectors)])
        index.seal()
    assert len(index.listed()) == 32
    index.close()  # waits for the merges
    files = Path(lite.folder).rglob("data_*.parquet")
    rows = [pyarrow.parquet.ParquetFile(file).metadata.num_rows for file in files]
    assert sum(rows) == 32 and 4 < max(rows) <= 8, "merged, and in groups of twice 8 rows at most"
    assert listed(lite) == list(range(1, 33))


def test_milvus_lite_is_open_only_while_it_is_written_to(config):
    index = MilvusIndex(config, Path(config.folder))
    with MemoryStore.open(replace(config, seal_after=20), fakes.embed, index=index) as store:
        for i in range(15):
            store.add(fakes.memory(f"thing {i}", 3.0 * i))
        while store.statistics().unembedded:
            time.sleep(0.01)
        assert not index.exists and store.statistics().pending == 15  # the journal has them
        for i in range(15, 25):
            store.add(fakes.memory(f"thing {i}", 3.0 * i))
        ends = time.monotonic() + 60.0
        while (store.statistics().pending or index.connected) and time.monotonic() < ends:
            time.sleep(0.05)
        assert store.statistics().pending == 0 and not index.connected
        found = store.search(Request(phrases=("thing 3",), robots=EVERY_ROBOT, limit=1))
        assert found[0].memory.text == "thing 3" and store.search(Request(robots=("spot",))) == []
    assert listed(config) == list(range(1, 26))


def test_what_milvus_lite_lacks_at_the_end_is_written_later(config):
    with MemoryStore.open(config, fakes.embed) as store:
        store.add(fakes.memory("first"))
        assert store.flush(), store.statistics().problems
        second = store.add(fakes.memory("second"))
        store.forget(store.add(fakes.memory("third")))
        store.correct(second, "not the second")
    with MemoryStore.open(config, fakes.embed) as store:
        store.add(fakes.memory("fourth"))
        assert store.flush(), store.statistics().problems
        assert store.statistics().pending == 0
    assert listed(config) == [1, 4, 5]


def test_a_milvus_lite_file_that_was_moved_away_is_filled_again(config):
    with MemoryStore.open(config, fakes.embed) as store:
        store.add(fakes.memory("first"))
        assert store.flush(), store.statistics().problems
    shutil.move(Path(config.folder) / "milvus.db", Path(config.folder) / "elsewhere")
    with MemoryStore.open(config, fakes.embed) as store:
        store.add(fakes.memory("second"))
        assert store.flush(), store.statistics().problems
    assert listed(config) == [1, 2]


def test_a_milvus_folder_that_is_none_is_told_and_the_memory_goes_on(config):
    Path(config.folder).mkdir(mode=0o700)
    broken = Path(config.folder) / "milvus.db"
    broken.write_text("not a database")
    with MemoryStore.open(config, fakes.embed) as store:
        store.add(fakes.memory("a mug"))
        assert not store.flush(30.0)
        assert "move" in store.statistics().problems["milvus"]
        assert store.search(Request(phrases=("a mug",)))[0].memory.text == "a mug"
        assert broken.read_text() == "not a database"
        broken.unlink()
        assert store.flush(60.0), store.statistics().problems


def test_another_process_that_has_the_file_of_milvus_is_named_and_the_memory_goes_on(config):
    file = Path(config.folder) / "milvus.db" / "LOCK"
    file.parent.parent.mkdir(mode=0o700)
    file.parent.mkdir()
    code = f"import fcntl; f = open({str(file)!r}, 'w'); fcntl.flock(f, fcntl.LOCK_EX); print(1, flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout.readline()
        with MemoryStore.open(config, fakes.embed) as store:
            store.add(fakes.memory("a mug"))
            assert not store.flush(30.0)
            told = store.statistics().problems["milvus"]
            assert f"is open in process {process.pid} (python" in told and "end that process" in told
            assert store.search(Request(phrases=("a mug",)))[0].memory.text == "a mug"
            process.kill()
            process.wait()
            assert store.flush(60.0), store.statistics().problems

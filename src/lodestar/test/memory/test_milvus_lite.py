"""Tests of the store on the real Milvus Lite: writing, searching, reopening, and a foreign folder."""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from lodestar.memory import milvus_copy
from lodestar.memory.milvus_index import STORE_COLLECTION, MilvusIndex
from lodestar.memory.requests import EVERY_ROBOT, Request
from lodestar.memory.store import MemoryStore

import memory_fakes as fakes  # isort: skip


@pytest.fixture
def lite(config, monkeypatch):
    monkeypatch.setattr("lodestar.memory.milvus_copy.STORE_SETTLE", 0.0)
    return replace(config, backend="milvus_lite")


def listed(config) -> list[int]:
    index = MilvusIndex(config, Path(config.folder))
    index.connect()
    found = sorted(int(key.rpartition(":")[2]) for key in index.listed())
    index.close()
    return found


def test_milvus_lite_answers_the_filters_and_the_words(lite, monkeypatch):
    real = milvus_copy.exact
    with MemoryStore.open(lite, fakes.embed) as store:
        for i in range(60):
            place = (float(i % 10), float(i // 10), 0.0)
            store.add(
                fakes.memory(f"thing {i}", 10.0 * i, place, things=(i % 7,), floor=i % 2, region='a "Hall')
            )
        assert store.flush() and store.flush(), store.statistics().problems
        found_by_database: list[int] = []

        def watched(rows, ids, queries, limit):
            found_by_database.extend(ids.tolist())
            return real(rows, ids, queries, limit)

        monkeypatch.setattr(milvus_copy, "exact", watched)
        for request in (
            {},
            {"window": (300.0, 500.0)},
            {"near": (1.0, 4.0), "radius": 2.0},
            {
                "near": tuple(np.array([1.0, 4.0])),
                "radius": np.float64(2.0),
                "window": tuple(np.array([0.0, 500.0])),
            },
            {"floor": 1},
            {"region": 'A "hall', "entity_ids": frozenset({41 % 7, 3})},
        ):
            found = store.search(Request(phrases=("thing 41",), limit=5, **request))
            assert len(found) == 5 and found[0].memory.text == "thing 41", request
            assert found[0].score == pytest.approx(1.0, abs=1e-3)
            assert store.statistics().problems == {}
        assert found_by_database == [], "Milvus answers alone"
        fleet = store.search(Request(phrases=("thing 41",), robots=EVERY_ROBOT, limit=3, near=(1.0, 4.0)))
        assert (
            fleet[0].memory.text == "thing 41" and fleet[0].memory.robot == "robot"
        )  # the file holds this robot's rows only
        assert store.search(Request(robots=("spot",))) == []
        store.forget(fleet[0].memory.id)
        assert store.flush() and store.flush()
        assert store.search(Request(phrases=("thing 41",), limit=1))[0].memory.text != "thing 41"
    with MemoryStore.open(lite, fakes.embed) as store:
        assert store.flush() and store.flush()
        assert store.search(Request(phrases=("thing 7",), limit=1))[0].memory.text == "thing 7"


def test_what_milvus_lite_lacks_at_the_end_is_written_later(lite):
    with MemoryStore.open(lite, fakes.embed) as store:
        store.add(fakes.memory("first"))
        assert store.flush(), store.statistics().problems
        second = store.add(fakes.memory("second"))
        store.forget(store.add(fakes.memory("third")))
        store.correct(second, "not the second")
    with MemoryStore.open(lite, fakes.embed) as store:
        store.add(fakes.memory("fourth"))
        assert store.flush(), store.statistics().problems
        assert store.statistics().pending == 0
    assert listed(lite) == [1, 4, 5]


def test_a_milvus_lite_file_that_was_moved_away_is_filled_again(lite):
    with MemoryStore.open(lite, fakes.embed) as store:
        store.add(fakes.memory("first"))
        assert store.flush(), store.statistics().problems
    shutil.move(Path(lite.folder) / "milvus.db", Path(lite.folder) / "elsewhere")
    with MemoryStore.open(lite, fakes.embed) as store:
        store.add(fakes.memory("second"))
        assert store.flush(), store.statistics().problems
    assert listed(lite) == [1, 2]


def test_a_milvus_folder_that_is_none_is_told_and_the_memory_goes_on(lite):
    Path(lite.folder).mkdir(mode=0o700)
    broken = Path(lite.folder) / "milvus.db"
    broken.write_text("not a database")
    with MemoryStore.open(lite, fakes.embed) as store:
        store.add(fakes.memory("a mug"))
        assert not store.flush(30.0)
        assert "move" in store.statistics().problems["milvus"]
        assert store.search(Request(phrases=("a mug",)))[0].memory.text == "a mug"
        assert broken.read_text() == "not a database"
        broken.unlink()
        assert store.flush(60.0), store.statistics().problems


def test_another_process_that_has_the_file_of_milvus_is_named_and_the_memory_goes_on(lite):
    file = Path(lite.folder) / "milvus.db" / "LOCK"
    file.parent.parent.mkdir(mode=0o700)
    file.parent.mkdir()
    code = f"import fcntl; f = open({str(file)!r}, 'w'); fcntl.flock(f, fcntl.LOCK_EX); print(1, flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout.readline()
        with MemoryStore.open(lite, fakes.embed) as store:
            store.add(fakes.memory("a mug"))
            assert not store.flush(30.0)
            told = store.statistics().problems["milvus"]
            assert f"is open in process {process.pid} (python" in told and "end that process" in told
            assert store.search(Request(phrases=("a mug",)))[0].memory.text == "a mug"
            process.kill()
            process.wait()
            assert store.flush(60.0), store.statistics().problems


@pytest.mark.parametrize("damage", ["folder", "missing", "cut"])
def test_what_a_kill_left_of_milvus_lite_is_filled_anew_and_no_old_row_stays(lite, damage):
    """The index is rebuilt from the database, because Milvus Lite does not always reopen after a kill."""
    where = Path(lite.folder) / "milvus.db"
    with MemoryStore.open(lite, fakes.embed) as store:
        kept = store.add(fakes.memory("a mug"))
        assert store.flush()
    collection = where / "collections" / STORE_COLLECTION
    if damage == "folder":  # a collection that is not listed
        shutil.rmtree(collection)
        (collection / "_pk_0").mkdir(parents=True)
        (collection / "_pk_0" / "rows.parquet").write_bytes(b"SECRET")
    else:
        for path in collection.rglob("*.parquet" if damage == "missing" else "*.json"):
            path.unlink() if damage == "missing" else path.write_bytes(path.read_bytes()[:20])
    with MemoryStore.open(lite, fakes.embed) as store:
        while not store.flush(5.0):
            assert store.search(Request(phrases=("a mug",)))[0].memory.text == "a mug"
        assert store.search(Request(phrases=("a mug",)))[0].memory.text == "a mug"
        assert not store.statistics().problems
    assert listed(lite) == [kept]
    assert not any(b"SECRET" in path.read_bytes() for path in where.rglob("*") if path.is_file())

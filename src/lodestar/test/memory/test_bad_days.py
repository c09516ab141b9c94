"""Tests of faults of the store: each gives an error with advice, and loses nothing that was acknowledged."""

from __future__ import annotations

import errno
import os
import signal
import sqlite3
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from permissions import permissions_enforced

from lodestar.memory.config import StoreConfig
from lodestar.memory.errors import (
    BadMemory,
    DamagedStore,
    ForeignStore,
    NoSuchMemory,
    OtherStoreVersion,
    StoreError,
    StoreFull,
    StoreLocked,
    StoreUnwritable,
)
from lodestar.memory.requests import Request
from lodestar.memory.store import MemoryStore

import memory_fakes as fakes  # isort: skip

WRITER = """
import sys
sys.path.insert(0, sys.argv[2])
import memory_fakes as fakes
from lodestar.memory.config import StoreConfig
from lodestar.memory.store import MemoryStore

config = StoreConfig(folder=sys.argv[1], dimension=fakes.DIMENSION, flush_interval=0.01, sync_interval=0.02)
store = MemoryStore.open(config, fakes.embed)
print("open", flush=True)
for i in range(100_000):
    print(store.add(fakes.memory(f"from {sys.argv[3]} thing {i}", float(i))), flush=True)
"""


def database(config: StoreConfig) -> Path:
    return Path(config.folder) / "memory.db"


def filled(config: StoreConfig, count: int = 5) -> list[int]:
    with MemoryStore.open(config, fakes.embed) as store:
        return [store.add(fakes.memory(f"thing {i}", float(i))) for i in range(count)]


def test_the_owner_killed_in_mid_write_loses_and_doubles_nothing(config):
    acknowledged: dict[int, str] = {}
    for run in range(4):
        command = [sys.executable, "-c", WRITER, config.folder, str(Path(__file__).parent), str(run)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == "open\n"
            for number in range(50 + 37 * run):
                acknowledged[int(process.stdout.readline())] = f"from {run} thing {number}"
            process.send_signal(signal.SIGKILL)
    with MemoryStore.open(config, fakes.embed) as store:
        assert store.flush()
        found = [hit.memory for hit in store.search(Request(limit=10_000))]
        assert len({memory.text for memory in found}) == len({memory.id for memory in found}) == len(found)
        there = {memory.id: memory.text for memory in found}
        assert {identity: there.get(identity) for identity in acknowledged} == acknowledged


@pytest.mark.parametrize("length", [0, 1, 100, 5000, -4096, -1])
def test_a_truncated_database_is_told_and_left_as_it_is(config, length):
    """SQLite takes an empty file for a new database; every other one is refused, or has lost nothing."""
    filled(config)
    path = database(config)
    whole = path.read_bytes()
    path.write_bytes(cut := whole[:length])
    if length == 0:
        with MemoryStore.open(config) as store:
            assert store.identities() == []
        return
    with pytest.raises(DamagedStore, match="move it away") as caught:
        MemoryStore.open(config)
    assert str(path) in str(caught.value) and path.read_bytes() == cut
    path.write_bytes(whole)
    with MemoryStore.open(config) as store:
        assert len(store.identities()) == 5


def test_a_log_that_a_power_cut_has_torn_loses_its_end_alone(config):
    with MemoryStore.open(replace(config, sync_interval=60.0), fakes.embed) as store:
        for i in range(20):
            store.add(fakes.memory(f"thing {i}", float(i)))
        files = {path.name: path.read_bytes() for path in Path(config.folder).glob("memory.db*")}
    for share in (0.3, 0.6, 0.95):
        for name, content in files.items():
            if name.endswith("-wal"):
                content = content[: int(share * len(content))]
            (Path(config.folder) / name).write_bytes(b"" if name.endswith("-shm") else content)
        with MemoryStore.open(config) as store:
            there = store.identities()
            assert there == list(range(1, len(there) + 1)) and len(there) < 20
            assert [store.get(i).text for i in there] == [f"thing {i - 1}" for i in there]


def test_a_record_that_the_disk_has_damaged_is_counted_and_the_others_stay(config):
    filled(config)
    with sqlite3.connect(database(config)) as connection:
        connection.execute('UPDATE content SET record = replace(record, \'"start":2.0\', \'"start":"x"\')')
    connection.close()
    with MemoryStore.open(config) as store:
        assert [hit.memory.text[-1] for hit in store.search(Request())] == ["4", "3", "1", "0"]
        assert store.statistics().unreadable == 1
        with pytest.raises(NoSuchMemory, match="damaged on the disk"):
            store.get(3)


def test_a_second_owner_hears_who_has_the_store(config, store):
    with pytest.raises(StoreLocked, match=rf"process {os.getpid()} .*choose another folder"):
        MemoryStore.open(config)
    assert store.add(fakes.memory("still works"))


def test_a_folder_that_any_program_has_locked_names_file_and_holder_and_can_be_opened_later(config):
    """`flock FOLDER/LOCK COMMAND` is such a program; it writes nothing into the file."""
    MemoryStore.open(config).close()
    file = Path(config.folder) / "LOCK"
    code = (
        f"import fcntl; f = open({str(file)!r}, 'w'); fcntl.flock(f, 2); print('held', flush=True); input()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout.readline() == "held\n"
        with pytest.raises(StoreLocked) as caught:
            MemoryStore.open(config)
        process.kill()
    said = str(caught.value)
    assert f"is open in process {process.pid} (python" in said and f"which holds {file}" in said
    assert "end that process, or choose another folder" in said
    with MemoryStore.open(config) as store:
        assert store.add(fakes.memory("free again"))


def test_a_holder_that_cannot_be_seen_is_told_by_its_own_words(config, store, monkeypatch):
    monkeypatch.setattr("lodestar.memory.owner.holder_of", lambda path: "")
    with pytest.raises(StoreLocked, match=rf"process {os.getpid()} \(.*since .*\) elsewhere, which holds"):
        MemoryStore.open(config)


def test_a_full_disk_refuses_the_memory_and_keeps_the_others(config):
    """SQLite refuses pages beyond a set number, as on a full disk."""
    with MemoryStore.open(config) as store:
        store.add(fakes.memory("before"))
        writer = store._rows.database._writer
        pages = writer.execute("PRAGMA page_count").fetchone()[0]
        writer.execute(f"PRAGMA max_page_count = {pages}")
        with pytest.raises(StoreFull, match="free some space"):
            for i in range(200):
                store.add(fakes.memory("does not fit " * 300, float(i), things=range(i, i + 50)))
        count = len(store.identities())
        writer.execute("PRAGMA max_page_count = 1000000")
        store.add(fakes.memory("after", 900.0))
        assert store.forget(1) == [1]
    with MemoryStore.open(config) as store:
        assert store.search(Request())[0].memory.text == "after" and len(store.identities()) == count
        assert len(store.search(Request(limit=1000))) == count


def test_a_read_only_folder_is_told(config):
    filled(config)
    Path(config.folder).chmod(0o500)
    try:
        with permissions_enforced(), pytest.raises(StoreUnwritable, match="mount it writable"):
            MemoryStore.open(config)
    finally:
        Path(config.folder).chmod(0o700)


@pytest.mark.parametrize("code", [errno.EROFS, errno.EACCES])
def test_a_read_only_disk_is_told(config, monkeypatch, code):
    filled(config)

    def refused(*args, **kwargs):
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr("lodestar.memory.database.os.open", refused)
    with pytest.raises(StoreUnwritable, match="writable"):
        MemoryStore.open(config)


def test_a_database_that_cannot_be_written_is_told_and_can_be_read(config):
    with MemoryStore.open(config) as store:
        store.add(fakes.memory("before"))
        store._rows.database._writer.execute("PRAGMA query_only = ON")
        with pytest.raises(StoreUnwritable, match="mount it writable"):
            store.add(fakes.memory("after"))
        assert [hit.memory.text for hit in store.search(Request())] == ["before"]


def test_keyframes_of_impossible_numbers_go_with_the_version_that_took_them(config):
    """Version 1 stored them, and no message could name their images."""
    with MemoryStore.open(config) as store:
        kept = store.add(fakes.memory("a mug", keyframe_ids=(7, 8), keyframe_session="one"))
    with sqlite3.connect(database(config)) as connection:
        connection.execute("DROP INDEX worth")
        connection.execute("CREATE INDEX worth ON memory (pinned DESC, lasting DESC, id DESC)")
        connection.execute("UPDATE content SET record = replace(record, '[7,8]', '[7,4294967296,8,-3]')")
        for identity in (4294967296, -3):
            connection.execute("INSERT INTO image VALUES (?, 'one', ?)", (kept, identity))
        connection.execute("INSERT INTO loose_image VALUES ('one', 5000000000)")
        connection.execute("INSERT INTO forgotten VALUES (99, 'x:99', 0)")
        connection.execute("PRAGMA user_version = 1")
    connection.close()
    erased = []
    with MemoryStore.open(config, on_erased=erased.extend) as store:
        assert store.images(9) == [("one", 7), ("one", 8)]
        assert store.get(kept).keyframe_ids == (7, 8)
        store.flush(5.0)
        assert store.statistics().unerased == 0
        store.forget(kept)
    assert erased == [("one", 7), ("one", 8)]


def test_another_version_and_another_file_are_left_alone(config):
    filled(config)
    path = database(config)
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    newer = path.read_bytes()
    other = Path(config.folder) / "other.db"
    with sqlite3.connect(other) as connection:
        connection.execute("CREATE TABLE shopping (what TEXT)")
    connection.close()
    for content, error, advice in (
        (newer, OtherStoreVersion, "version 99.*take the version"),
        (other.read_bytes(), ForeignStore, "move it away"),
        (b"a shopping list\nmilk\n" * 100, DamagedStore, "move it away"),
        (b"\x01" * 5000, DamagedStore, "move it away"),
    ):
        path.write_bytes(content)
        with pytest.raises(error, match=advice):
            MemoryStore.open(config)
        assert path.read_bytes() == content


def test_a_database_that_another_program_holds_is_told_with_its_holder(config, monkeypatch):
    filled(config)
    path = database(config)
    monkeypatch.setattr("lodestar.memory.database._BUSY", 0.2)
    code = (
        f"import sqlite3; c = sqlite3.connect({str(path)!r}, isolation_level=None); c.execute('BEGIN EXCLUSIVE'); "
        "c.execute('DELETE FROM meta'); print('held', flush=True); input()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout.readline() == "held\n"
        with pytest.raises(
            StoreLocked, match=rf"{path} is locked by process {process.pid} \(python.*end that"
        ):
            MemoryStore.open(config)
        process.kill()
    with MemoryStore.open(config) as store:
        assert len(store.identities()) == 5


def test_the_journal_of_an_older_version_is_refused_and_left(config):
    folder = Path(config.folder)
    folder.mkdir(mode=0o700)
    (folder / "journal-00000001.log").write_bytes(b"old")
    for _ in range(2):
        with pytest.raises(OtherStoreVersion, match="export it with that version"):
            MemoryStore.open(config)
    assert (folder / "journal-00000001.log").read_bytes() == b"old"


def test_a_path_that_is_a_file_is_told(config):
    Path(config.folder).write_text("mine")
    with pytest.raises(ForeignStore, match="choose another"):
        MemoryStore.open(config)
    assert Path(config.folder).read_text() == "mine"


def test_the_store_of_another_robot_or_text_model_is_told(config):
    filled(config)
    with pytest.raises(ForeignStore, match="memory of the robot 'robot'"):
        MemoryStore.open(replace(config, robot="spot"))
    with pytest.raises(ForeignStore, match="text model"):
        MemoryStore.open(replace(config, dimension=8))


def test_a_server_that_goes_away_in_mid_write_and_comes_back_misses_nothing(on_server, milvus):
    milvus.fail_after = 7
    with MemoryStore.open(on_server, fakes.embed, milvus=milvus) as store:
        for i in range(20):
            store.add(fakes.memory(f"thing {i}", float(i)))
        assert not store.flush(10.0)
        assert "check the server" in store.statistics().problems["milvus"]
        assert store.search(Request(phrases=("thing 15",), limit=1))[0].memory.text == "thing 15"
        store.add(fakes.memory("while it is away", 30.0))
        milvus.fail_after, milvus.down = None, False
        assert store.flush()
        assert len(milvus.texts()) == 21 and store.statistics().problems == {}


def test_a_collection_of_another_store_under_this_robots_name_is_not_touched(config, on_server, milvus):
    filled(config, 2)
    with MemoryStore.open(
        replace(on_server, folder=config.folder + "2"), fakes.embed, milvus=milvus
    ) as other:
        other.add(fakes.memory("theirs"))
        assert other.flush()
    with MemoryStore.open(on_server, fakes.embed, milvus=milvus) as store:
        assert not store.flush(5.0)
        assert "give each robot a name" in store.statistics().problems["milvus"]
        assert len(store.search(Request())) == 2
    assert milvus.texts() == ["theirs"]


def test_a_clock_that_jumps_is_accepted_and_counted(store):
    for start in (100.0, 103.0, 5.0, 8.0):
        store.add(fakes.memory(f"at {start}", start))
    assert store.statistics().clock_steps == 1
    assert [hit.memory.start for hit in store.search(Request())] == [103.0, 100.0, 8.0, 5.0]


@pytest.mark.parametrize(
    "broken",
    [
        {"heading": float("nan")},
        {"position": np.array([1.0, 2.0])},
        {"id": 7},
        {"floor": 3_000_000_000},
        {"region_id": -(2**40)},
        {"start": -1e300},
        {"end": 1e300},
        {"position": np.array([0.0, 1e300, 0.0])},
        {"keyframe_ids": (2**70,)},
        {"primitives": (fakes.Primitive(2**64, "box", np.zeros(3), np.ones(3)),)},
        {"primitives": (fakes.Primitive(1, "box", np.array([0.0, np.nan, 0.0]), np.ones(3)),)},
    ],
)
def test_numbers_that_are_none_are_refused_and_the_store_goes_on(store, broken):
    with pytest.raises(BadMemory):
        store.add(replace(fakes.memory("a mug"), **broken))
    assert store.add(fakes.memory("a mug")) == 1


def test_long_texts_are_cut_and_say_so_and_control_characters_go(store):
    identity = store.add(
        fakes.memory("mug\x00 on\x1b[31m a\u2028table\r\nline two \ud800", region="hall\n\x07")
    )
    kept = store.get(identity)
    assert kept.text == "mug  on [31m a table \nline two ?" and kept.region == "hall"
    long = store.get(store.add(fakes.memory("x" * 20_000, 4.0, facts={"a": "y" * 9000})))
    assert len(long.text) == 4000 and long.text.endswith("… (cut)") and len(long.facts["a"]) == 500
    assert store.statistics().texts_cut == 1
    with pytest.raises(BadMemory, match="control characters"):
        store.add(fakes.memory("\x00\x01"))


def test_words_that_look_like_orders_or_filters_are_only_words(store):
    nasty = 'forget everything" or robot != "x'
    store.add(fakes.memory(nasty, region=nasty))
    store.flush()
    assert [hit.memory.text for hit in store.search(Request(region=nasty))] == [nasty]
    assert store.search(Request(region='x" or "1" == "1')) == []


@pytest.mark.parametrize(
    "wrong",
    [
        {"window": (5.0, 1.0)},
        {"window": (float("nan"), 1.0)},
        {"near": (float("inf"), 0.0)},
        {"near": (0.0, 0.0), "radius": float("nan")},
        {"limit": 0},
        {"limit": 10**9},
    ],
)
def test_a_request_that_makes_no_sense_is_refused(wrong):
    with pytest.raises(ValueError):
        Request(**wrong)


def test_a_closed_store_says_so(config, milvus):
    store = MemoryStore.open(config)
    store.close()
    store.close()
    with pytest.raises(StoreError, match="closed"):
        store.add(fakes.memory("late"))


def test_only_the_owner_of_the_files_can_read_them(config):
    filled(config)
    assert Path(config.folder).stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in Path(config.folder).iterdir()} == {0o600}


def test_a_server_that_comes_back_empty_is_filled_again(on_server, milvus):
    with MemoryStore.open(on_server, fakes.embed, milvus=milvus) as store:
        for i in range(20):
            store.add(fakes.memory(f"thing {i}"))
        assert store.flush()
        milvus.down = True
        store.add(fakes.memory("thing 20"))
        assert not store.flush(1.0)
        milvus.rows.clear()
        milvus.down = False
        assert store.flush() and store.flush()
        assert len(milvus.texts()) == 21
        assert store.statistics().problems == {}


def test_a_server_that_restarted_between_two_searches_is_asked_again(on_server, milvus):
    with MemoryStore.open(on_server, fakes.embed, milvus=milvus) as store:
        for i in range(20):
            store.add(fakes.memory(f"thing {i}"))
        assert store.flush() and store.flush()
        milvus.down = True  # nothing is written, so only a search notices
        assert store.search(Request(phrases=("thing 7",), limit=1))[0].memory.text == "thing 7"
        assert not milvus.connected and "search" in store.statistics().problems
        milvus.down = False
        assert store.flush() and milvus.connected
        assert store.statistics().problems == {}


def test_records_that_got_vectors_in_a_later_session_reach_milvus(on_server, milvus):
    with MemoryStore.open(on_server, milvus=milvus) as store:
        store.add(fakes.memory("a mug"))
        assert store.flush() and milvus.texts() == []
    with MemoryStore.open(on_server, fakes.embed, milvus=milvus) as store:
        assert store.flush() and milvus.texts() == ["a mug"]

"""Bad days of the store: each ends with a sentence that says what to do, and nothing acknowledged is lost."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import zlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from lodestar.memory import write_journal
from lodestar.memory.config import StoreConfig
from lodestar.memory.errors import (
    BadMemory,
    ForeignStore,
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

config = StoreConfig(folder=sys.argv[1], dimension=fakes.DIMENSION, flush_interval=0.01, segment_bytes=20_000)
store = MemoryStore.open(config, fakes.embed, index=fakes.FakeMilvus())
print("open", flush=True)
for i in range(100_000):
    print(store.add(fakes.memory(f"from {sys.argv[3]} thing {i}", float(i))), flush=True)
"""


def journals(config: StoreConfig) -> list[Path]:
    return sorted(Path(config.folder).glob("journal-*.log"))


def filled(config: StoreConfig, count: int = 5) -> list[int]:
    with MemoryStore.open(config, fakes.embed, index=fakes.FakeMilvus()) as store:
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
    with MemoryStore.open(config, fakes.embed, index=fakes.FakeMilvus()) as store:
        assert store.flush()
        found = [hit.memory for hit in store.search(Request(limit=10_000))]
        assert len({memory.text for memory in found}) == len({memory.id for memory in found}) == len(found)
        there = {memory.id: memory.text for memory in found}
        assert {identity: there.get(identity) for identity in acknowledged} == acknowledged


def test_every_cut_of_the_tail_is_recognised_and_dropped(config):
    filled(config)
    (path,) = journals(config)
    whole = path.read_bytes()
    last = whole.rstrip(b"\n").rfind(b"\n") + 1
    for length in (last + 1, last + 9, last + 40, len(whole) - 1):
        path.write_bytes(whole[:length])
        with MemoryStore.open(config, index=fakes.FakeMilvus()) as store:
            assert store.statistics().cut_tail == length - last
            assert (
                len(store.identities()) == 5
            )  # the last line is the last vector or memory, written twice below
            store.add(fakes.memory("after the cut"))
        with MemoryStore.open(config, index=fakes.FakeMilvus()) as store:
            assert store.statistics().cut_tail == store.statistics().damaged_lines == 0
            assert len(store.identities()) == 6


def test_a_damaged_line_is_counted_and_the_others_stay(config):
    filled(config)
    (path,) = journals(config)
    lines = path.read_bytes().split(b"\n")
    hit = next(i for i, line in enumerate(lines) if b'"thing 2"' in line)
    lines[hit] = lines[hit].replace(b'"thing 2"', b'"thing 9"')
    path.write_bytes(b"\n".join(lines))
    with MemoryStore.open(config, index=fakes.FakeMilvus()) as store:
        assert [hit.memory.text for hit in store.search(Request())] == [
            "thing 4",
            "thing 3",
            "thing 1",
            "thing 0",
        ]
        assert store.statistics().damaged_lines == 1


def test_a_second_owner_hears_who_has_the_store(config, store):
    with pytest.raises(StoreLocked, match=rf"process {os.getpid()} .*choose another folder"):
        MemoryStore.open(config, index=fakes.FakeMilvus())
    assert store.add(fakes.memory("still works"))


def test_a_folder_that_any_program_has_locked_names_file_and_holder_and_can_be_opened_later(config):
    """As with `flock FOLDER/LOCK COMMAND`: it writes into the file nothing of itself."""
    MemoryStore.open(config, index=fakes.FakeMilvus()).close()
    file = Path(config.folder) / "LOCK"
    code = (
        f"import fcntl; f = open({str(file)!r}, 'w'); fcntl.flock(f, 2); print('held', flush=True); input()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout.readline() == "held\n"
        with pytest.raises(StoreLocked) as caught:
            MemoryStore.open(config, index=fakes.FakeMilvus())
        process.kill()
    said = str(caught.value)
    assert f"is open in process {process.pid} (python" in said and f"which holds {file}" in said
    assert "end that process, or choose another folder" in said
    with MemoryStore.open(config, index=fakes.FakeMilvus()) as store:
        assert store.add(fakes.memory("free again"))


def test_a_holder_that_cannot_be_seen_is_told_by_its_own_words(config, store, monkeypatch):
    monkeypatch.setattr("lodestar.memory.owner.holder_of", lambda path: "")
    with pytest.raises(StoreLocked, match=rf"process {os.getpid()} \(.*since .*\) elsewhere, which holds"):
        MemoryStore.open(config, index=fakes.FakeMilvus())


def test_a_full_disk_refuses_the_memory_and_keeps_the_others(config, milvus, monkeypatch):
    real = os.write
    with MemoryStore.open(config, index=milvus) as store:
        store.add(fakes.memory("before"))

        def half(handle: int, data: bytes) -> int:
            if len(data) < 20:
                raise OSError(errno.ENOSPC, "No space left on device")
            return real(handle, data[: max(19, len(data) // 2)])

        monkeypatch.setattr(write_journal.os, "write", half)
        with pytest.raises(StoreFull, match="free some space"):
            store.add(fakes.memory("does not fit"))
        monkeypatch.setattr(write_journal.os, "write", real)
        store.add(fakes.memory("after", 9.0))
    with MemoryStore.open(config, index=milvus) as store:
        assert [hit.memory.text for hit in store.search(Request())] == ["after", "before"]
        assert store.statistics().cut_tail == store.statistics().damaged_lines == 0


@pytest.mark.parametrize("code", [errno.EROFS, errno.EACCES])
def test_a_read_only_folder_is_told(config, monkeypatch, code):
    filled(config)

    def refused(*args, **kwargs):
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(write_journal.os, "open", refused)
    with pytest.raises(StoreUnwritable, match="mount it writable"):
        MemoryStore.open(config, index=fakes.FakeMilvus())


def test_another_version_and_another_file_are_left_alone(config):
    filled(config)
    (path,) = journals(config)
    whole = path.read_bytes()
    first, rest = whole.split(b"\n", 1)
    values = first[9:].replace(b'"version":1', b'"version":2')
    newer = b"%08x %s\n%s" % (zlib.crc32(values), values, rest)
    for content, error, advice in (
        (newer, OtherStoreVersion, "export the memory"),
        (b"a shopping list\nmilk\n", ForeignStore, "move .* away"),
        (b"\x00" * 5000, ForeignStore, "move .* away"),
    ):
        path.write_bytes(content)
        with pytest.raises(error, match=advice):
            MemoryStore.open(config, index=fakes.FakeMilvus())
        assert path.read_bytes() == content


def test_a_path_that_is_a_file_is_told(config):
    Path(config.folder).write_text("mine")
    with pytest.raises(ForeignStore, match="choose another"):
        MemoryStore.open(config, index=fakes.FakeMilvus())
    assert Path(config.folder).read_text() == "mine"


def test_the_store_of_another_robot_or_text_model_is_told(config):
    filled(config)
    with pytest.raises(ForeignStore, match="memory of the robot 'robot'"):
        MemoryStore.open(replace(config, robot="spot"), index=fakes.FakeMilvus())
    with pytest.raises(ForeignStore, match="text model"):
        MemoryStore.open(replace(config, dimension=8), index=fakes.FakeMilvus())


def test_a_server_that_goes_away_in_mid_write_and_comes_back_misses_nothing(config, milvus):
    milvus.fail_after = 7
    with MemoryStore.open(config, fakes.embed, index=milvus) as store:
        for i in range(20):
            store.add(fakes.memory(f"thing {i}", float(i)))
        assert not store.flush(10.0)
        assert "check the server" in store.statistics().problems["milvus"]
        assert store.search(Request(phrases=("thing 15",), limit=1))[0].memory.text == "thing 15"
        store.add(fakes.memory("while it is away", 30.0))
        milvus.fail_after, milvus.down = None, False
        assert store.flush()
        assert len(milvus.texts()) == 21 and store.statistics().problems == {}


def test_a_collection_of_another_store_under_this_robots_name_is_not_touched(config, milvus):
    filled(config, 2)
    (Path(config.folder) / "index.json").unlink(missing_ok=True)
    with MemoryStore.open(replace(config, folder=config.folder + "2"), fakes.embed, index=milvus) as other:
        other.add(fakes.memory("theirs"))
        assert other.flush()
    with MemoryStore.open(config, fakes.embed, index=milvus) as store:
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
    store = MemoryStore.open(config, index=milvus)
    store.close()
    store.close()
    with pytest.raises(StoreError, match="closed"):
        store.add(fakes.memory("late"))


def test_only_the_owner_of_the_files_can_read_them(config):
    filled(config)
    assert Path(config.folder).stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in Path(config.folder).iterdir()} == {0o600}


def test_a_server_that_comes_back_empty_is_filled_again(config, milvus):
    with MemoryStore.open(config, fakes.embed, index=milvus) as store:
        for i in range(20):
            store.add(fakes.memory(f"thing {i}"))
        assert store.flush()
        milvus.down = True
        store.add(fakes.memory("thing 20"))
        assert not store.flush(1.0)
        milvus.rows.clear()
        milvus.down = milvus.made = False
        assert store.flush() and store.flush()
        assert len(milvus.texts()) == 21
        assert store.statistics().problems == {}


def test_a_server_that_restarted_between_two_searches_is_asked_again(config, milvus):
    config = replace(config, cache="off", settle=0.0, exact_below=5)
    with MemoryStore.open(config, fakes.embed, index=milvus) as store:
        for i in range(20):
            store.add(fakes.memory(f"thing {i}"))
        assert store.flush() and store.flush()
        milvus.down = True  # nothing is written, so only the search finds out
        assert store.search(Request(phrases=("thing 7",), limit=1))[0].memory.text == "thing 7"
        assert not milvus.connected and "search" in store.statistics().problems
        milvus.down = False
        assert store.flush() and milvus.connected
        assert store.statistics().problems == {}


def test_records_that_got_vectors_in_a_later_session_reach_milvus(config, milvus):
    with MemoryStore.open(config, index=milvus) as store:
        store.add(fakes.memory("a mug"))
        assert store.flush() and milvus.texts() == []
    with MemoryStore.open(config, fakes.embed, index=milvus) as store:
        assert store.flush() and milvus.texts() == ["a mug"]

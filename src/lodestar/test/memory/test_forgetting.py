"""Tests of forgetting, which erases text, vector, images and journal and leaves a tombstone, and of thinning."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from lodestar.memory.errors import NoSuchMemory, NotErased
from lodestar.memory.records import EventKind, Source
from lodestar.memory.requests import MAX_LIMIT, Request
from lodestar.memory.store import MemoryStore
from lodestar.memory.transfer import export_jsonl, import_jsonl

import memory_fakes as fakes  # isort: skip


def on_disk(config, needle: str | bytes) -> list[str]:
    wanted = needle.encode() if isinstance(needle, str) else needle
    files = (path for path in Path(config.folder).rglob("*") if path.is_file())
    return [path.name for path in files if wanted in path.read_bytes()]


@pytest.mark.parametrize("backend", ["sqlite", "milvus_lite"])
def test_forgotten_content_is_gone_from_every_file_when_forget_returns(config, backend):
    """The same holds with the real Milvus Lite, which by itself keeps deleted rows in its files."""
    config, erased = replace(config, backend=backend), []
    secret = "XSECRETX the code is 4711"
    with MemoryStore.open(config, fakes.embed, on_erased=erased.extend) as store:
        for i in range(30):
            store.add(fakes.memory(f"thing {i}", float(i), keyframe_ids=(i, 100)))
        identity = store.add(fakes.memory(secret, 50.0, things=(9,), keyframe_ids=(7, 41, 42, 100)))
        assert store.flush()
        vector = fakes.embed([secret])[0].astype("<f2").tobytes()
        assert on_disk(config, "XSECRETX") and on_disk(config, vector)
        assert store.forget(identity) == [identity]
        assert on_disk(config, "XSECRETX") == on_disk(config, vector) == []
        assert erased == [("", 41), ("", 42)]  # the other images still belong to memories
        assert store.search(Request(entity_ids=frozenset({9}))) == []
        with pytest.raises(NoSuchMemory, match="was forgotten"):
            store.get(identity)
        assert store.statistics().forgotten == 1 and store.statistics().unerased == 0
    with MemoryStore.open(config, fakes.embed, on_erased=erased.extend) as store:
        assert store.flush()
        assert len(store.search(Request(phrases=("thing 3",)))) == 30
        assert erased == [("", 41), ("", 42)]
        assert store.add(fakes.memory("next")) == identity + 1  # ids are not reused


def test_a_copy_in_milvus_lite_goes_with_another_backend(config):
    with MemoryStore.open(replace(config, backend="milvus_lite"), fakes.embed) as store:
        store.add(fakes.memory("XSECRETX"))
        assert store.flush()
    MemoryStore.open(config).close()
    assert set(on_disk(config, "XSECRETX")) <= {"memory.db", "memory.db-wal"}


def test_without_pymilvus_the_images_of_what_is_forgotten_are_erased(config, on_server, monkeypatch):
    monkeypatch.setitem(sys.modules, "pymilvus", None)  # as on a robot without lodestar[memory]
    for chosen in (config, replace(on_server, folder=f"{config.folder}2", retry=60.0)):
        erased: list[tuple[str, int]] = []
        with MemoryStore.open(chosen, on_erased=erased.extend) as store:
            identity = store.add(fakes.memory("XSECRETX asleep", keyframe_ids=(7,)))
            if chosen is config:
                store.forget(identity)
            else:  # Milvus may still hold the text
                with pytest.raises(NotErased, match="pymilvus cannot be imported") as caught:
                    store.forget(identity)
                assert caught.value.ids == (identity,)
            assert erased == [("", 7)] and on_disk(chosen, "XSECRETX") == []


def test_an_import_brings_nothing_back(on_server, milvus, tmp_path):
    with MemoryStore.open(on_server, fakes.embed, milvus=milvus) as store:
        gone = store.add(fakes.memory("gone"))
        store.add(fakes.memory("stays", 4.0))
        export_jsonl(store, tmp_path / "before.jsonl")
        store.flush()
        store.forget(gone)
    with MemoryStore.open(on_server, fakes.embed, milvus=milvus) as store:
        done = import_jsonl(store, tmp_path / "before.jsonl")
        assert (len(done.ids), done.known, done.forgotten, done.bad_lines) == (0, 1, 1, 0)
        assert [hit.memory.text for hit in store.search(Request())] == ["stays"]
        assert store.flush() and milvus.texts() == ["stays"] and on_disk(on_server, '"gone"') == []


def test_what_cannot_be_erased_now_is_erased_later_and_not_acknowledged(on_server, milvus):
    """The server is away, also when the owner ends; then the image store fails once."""
    calls: list[list[tuple[str, int]]] = []

    def flaky(keyframes):
        calls.append(list(keyframes))
        if len(calls) == 1:
            raise OSError("the keyframe store is busy")

    with MemoryStore.open(on_server, fakes.embed, on_erased=flaky, milvus=milvus) as store:
        identity = store.add(fakes.memory("XSECRETX", keyframe_ids=(3,)))
        store.add(fakes.memory("stays", 4.0))
        assert store.flush() and "XSECRETX" in milvus.texts()
        milvus.down = True
        with pytest.raises(NotErased, match="check the server"):
            store.forget(identity)
        assert on_disk(on_server, "XSECRETX") == [], "the database erases whoever is away"
    milvus.down = False
    with MemoryStore.open(on_server, fakes.embed, on_erased=flaky, milvus=milvus) as store:
        while not store.flush(5.0):
            pass
        assert store.statistics().unerased == 0
    assert calls == [[("", 3)], [("", 3)]] and milvus.purges == 1 and milvus.texts() == ["stays"]


def test_an_owner_that_erases_no_images_leaves_them_to_the_next_one(config):
    """An owner without nodes is, for example, a tool that queries the memory of a robot that is switched off."""
    erased: list[tuple[str, int]] = []

    def away(images):
        raise OSError("the keyframes node does not answer")

    with MemoryStore.open(config, fakes.embed, on_erased=away) as store, pytest.raises(NotErased):
        store.forget(store.add(fakes.memory("XSECRETX", keyframe_ids=(3,))))
    with MemoryStore.open(config, fakes.embed) as store:
        store.flush(5.0)
        assert store.statistics().unerased == 1
        other = store.add(fakes.memory("a plain wall", keyframe_ids=(4,)))
        with pytest.raises(NotErased, match="nobody here erases images"):
            store.forget(other)
        assert on_disk(config, "XSECRETX") == on_disk(config, "plain wall") == []
    with MemoryStore.open(config, fakes.embed, on_erased=erased.extend) as store:
        while not store.flush(5.0):
            pass
        assert store.statistics().unerased == 0
    assert erased == [("", 3), ("", 4)]


def test_images_of_another_run_with_the_same_numbers_stay(config):
    erased: list[tuple[str, int]] = []
    with MemoryStore.open(config, fakes.embed, on_erased=erased.extend) as store:
        old = store.add(fakes.memory("secret", keyframe_ids=(1, 2), keyframe_session="before"))
        store.add(fakes.memory("now", 5.0, keyframe_ids=(1, 3), keyframe_session="now"))
        assert store.get(old).images == (("before", 1), ("before", 2))
        store.forget(old)
        assert store.flush()
        assert store.statistics().unerased == 0
        assert store.images(9) == [("now", 1), ("now", 3)]
    assert erased == [("before", 1), ("before", 2)]


def test_an_image_that_a_new_memory_refers_to_before_it_is_erased_stays(config):
    erased: list[tuple[str, int]] = []
    kept: list[int] = []

    def late(images):
        if not kept:
            kept.append(store.add(fakes.memory("a decision", 9.0, keyframe_ids=(4,))))
            raise OSError("busy")
        erased.extend(images)

    with MemoryStore.open(config, fakes.embed, on_erased=late) as store:
        with pytest.raises(NotErased, match="busy"):
            store.forget(store.add(fakes.memory("secret", keyframe_ids=(3, 4))))
        while not store.flush(5.0):
            pass
    assert erased == [("", 3)]


def test_images_that_are_worth_most_come_first(config):
    with MemoryStore.open(config, fakes.embed) as store:
        pinned = store.add(fakes.memory("old", 0.0, keyframe_ids=(1,)))
        store.add(fakes.memory("told", 5.0, keyframe_ids=(2,), source=Source.OPERATOR))
        store.add(fakes.memory("event", 9.0, keyframe_ids=(3,), event=EventKind.DECISION))
        for i in range(4, 9):
            store.add(fakes.memory(f"seen {i}", 10.0 * i, keyframe_ids=(i, 3)))
        store.pin(pinned)
        store.add(fakes.memory("another run", 90.0, keyframe_ids=(3,), keyframe_session="before"))
        assert [image.id for image in store.images(99) if not image.session] == [1, 3, 2, 8, 7, 6, 5, 4]
        assert store.images(4) == [("", 1), ("", 3), ("", 2), ("before", 3)]


def test_a_correction_is_forgotten_with_what_it_corrects(store):
    first = store.add(fakes.memory("a gun"))
    second = store.correct(first, "a toy")
    third = store.correct(second, "a hairdryer")
    assert store.forget(second) == [first, second, third]
    assert store.search(Request()) == []


def test_a_correction_that_comes_while_its_memory_is_forgotten_is_forgotten_or_refused(store):
    def correct(identity):
        try:
            for number in range(1000):
                store.correct(identity, f"a toy {number}")
        except NoSuchMemory:
            return

    for _ in range(10):
        first = store.add(fakes.memory("a gun"))
        with ThreadPoolExecutor() as pool:
            done = pool.submit(correct, first)
            while len(store.identities()) < 3 and not done.done():
                pass
            store.forget(first)
            done.result()
        assert store.identities() == []


@pytest.mark.parametrize("words", ["Red  MUG", ""])
def test_words_and_times_find_all_to_forget_also_beyond_the_longest_answer_and_corrected(config, words):
    many = MAX_LIMIT + 1
    with MemoryStore.open(replace(config, max_records=2 * many)) as store:
        with store._rows.database.write():  # a single transaction is faster
            for i in range(many):
                store.add(fakes.memory(f"{i} a red mug", float(i)))
            store.add(fakes.memory("a lamp", many + 100.0))
        hidden = store.correct(store.correct(1, "a blue mug"), "a cup")
        assert len(store.search(Request(limit=MAX_LIMIT))) == MAX_LIMIT
        found = store.mentioning(words, (0.0, many + 50.0))
        listed = store.mentioning("", corrected=False)
        assert hidden in listed and 1 not in listed and {*listed} < {*store.mentioning("")}
        assert found[:many] == list(range(1, many + 1))
        gone = store.forget(found)
        assert {1, hidden - 1, hidden, many} <= set(gone) and many + 1 not in gone
        assert store.mentioning("") == [many + 1]
        assert on_disk(config, "red mug") == []


def aged(config, **more):
    return replace(config, full_time=100.0, long_time=1000.0, **more)


def test_thinning_keeps_the_young_the_pinned_the_told_and_one_of_the_alike(on_server, milvus, monkeypatch):
    config = aged(on_server)
    with MemoryStore.open(config, fakes.embed, milvus=milvus) as store:
        pinned = store.add(fakes.memory("a wall", 0.0, things=(1,)))
        store.pin(pinned)
        event = fakes.memory("the box moved", 1.0, event=EventKind.MOVED, source=Source.EVENT)
        told = fakes.memory("the key is under the mat", 2.0, source=Source.OPERATOR)
        kept = {pinned, store.add(event), store.add(told)}
        walls = [store.add(fakes.memory("a wall", 10.0 + i, things=(1,))) for i in range(30)]
        rare = store.add(fakes.memory("a unicorn", 15.0, (40.0, 0.0, 0.0)))
        other = store.add(
            fakes.memory("a wall", 16.0, (0.5, 0.0, 0.0), things=(2,))
        )  # similar words about another object
        young = [store.add(fakes.memory("a wall", 500.0 + i, things=(1,))) for i in range(10)]
        assert store.flush() and len(store.identities()) == 45
    monkeypatch.setattr("lodestar.memory.upkeep.STORE_THIN_TO", 0.5)
    config = replace(config, max_records=40)
    with MemoryStore.open(config, fakes.embed, milvus=milvus) as store:
        assert store.flush() and store.flush()
        there = set(store.identities())
        assert there == kept | {walls[-1], rare, other} | set(young)
        assert len(milvus.rows) == len(there)
        assert store.statistics().forgotten == 0
    with MemoryStore.open(config, fakes.embed, milvus=milvus) as store:
        assert set(store.identities()) == there


def test_thinning_ends_at_the_configured_size_where_nothing_is_alike(config, monkeypatch):
    monkeypatch.setattr("lodestar.memory.upkeep.STORE_THIN_TO", 0.8)
    config = aged(config, max_records=50)
    rng = np.random.default_rng(1)
    with MemoryStore.open(config) as store:
        for i in range(200):
            place = (*rng.uniform(-500.0, 500.0, 2), 0.0)
            store.add(
                fakes.memory(f"thing {i}", float(i), place, things=(i,)), rng.normal(size=fakes.DIMENSION)
            )
        store.add(fakes.memory("now", 5000.0), rng.normal(size=fakes.DIMENSION))
        store.flush()
        store.flush()
        there = store.identities()
    assert len(there) == 40 and there == list(range(162, 202))  # the oldest were dropped

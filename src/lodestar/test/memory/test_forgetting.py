"""Forgetting erases text, vector, images and journal content; a tombstone stays. Thinning keeps what must stay."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from lodestar.memory.errors import BadMemory, NoSuchMemory
from lodestar.memory.milvus_index import MilvusIndex
from lodestar.memory.record_json import vector_to_text
from lodestar.memory.records import EventKind, Source
from lodestar.memory.requests import Request
from lodestar.memory.store import MemoryStore
from lodestar.memory.transfer import export_jsonl, import_jsonl

import memory_fakes as fakes  # isort: skip


def on_disk(config, needle: str) -> list[str]:
    files = (path for path in Path(config.folder).rglob("*") if path.is_file())
    return [path.name for path in files if needle.encode() in path.read_bytes()]


def test_forgotten_content_is_gone_from_every_file(config):
    """With the real Milvus Lite, which keeps deleted rows in its files by itself."""
    secret, erased = "XSECRETX the code is 4711", []
    index = MilvusIndex(config, Path(config.folder))
    with MemoryStore.open(config, fakes.embed, on_erased=erased.extend, index=index) as store:
        for i in range(30):
            store.add(fakes.memory(f"thing {i}", float(i), keyframe_ids=(i, 100)))
        identity = store.add(fakes.memory(secret, 50.0, things=(9,), keyframe_ids=(7, 41, 42, 100)))
        assert store.flush()
        vector = vector_to_text(fakes.embed([secret])[0])
        assert on_disk(config, "XSECRETX") and on_disk(config, vector)
        assert store.forget(identity) == [identity]
        assert store.search(Request(entity_ids=frozenset({9}))) == []
        with pytest.raises(NoSuchMemory, match="was forgotten"):
            store.get(identity)
        assert store.flush()
        assert on_disk(config, "XSECRETX") == on_disk(config, vector) == []
        assert erased == [("", 41), ("", 42)]  # the others are still referred to
        assert store.statistics().forgotten == 1
    with MemoryStore.open(config, fakes.embed, on_erased=erased.extend) as store:
        assert store.flush()
        assert len(store.search(Request(phrases=("thing 3",)))) == 30
        assert erased == [("", 41), ("", 42)]
        assert store.add(fakes.memory("next")) == identity + 1  # the id is not used again


def test_a_replay_of_the_journal_and_an_import_bring_nothing_back(config, milvus, tmp_path):
    with MemoryStore.open(config, fakes.embed, index=milvus) as store:
        gone = store.add(fakes.memory("gone"))
        store.add(fakes.memory("stays", 4.0))
        export_jsonl(store, tmp_path / "before.jsonl")
        store.flush()
        store.forget(gone)
    with MemoryStore.open(config, fakes.embed, index=milvus) as store:
        done = import_jsonl(store, tmp_path / "before.jsonl")
        assert (done.added, done.known, done.forgotten, done.bad_lines) == (0, 1, 1, 0)
        assert [hit.memory.text for hit in store.search(Request())] == ["stays"]
        assert store.flush() and milvus.texts() == ["stays"] and on_disk(config, '"gone"') == []


def test_the_owner_that_dies_before_it_erased_erases_later(config, milvus):
    milvus.down = True
    erased: list[tuple[str, int]] = []
    with MemoryStore.open(config, fakes.embed, on_erased=erased.extend, index=milvus) as store:
        identity = store.add(fakes.memory("secret", keyframe_ids=(3,)))
        store.forget(identity)
        assert not store.flush(5.0)
        assert erased == []
    milvus.down = False
    with MemoryStore.open(config, fakes.embed, on_erased=erased.extend, index=milvus) as store:
        assert store.flush()
    assert erased == [("", 3)] and milvus.purges == 1


def test_a_callback_that_fails_is_called_again(config, milvus):
    calls: list[list[tuple[str, int]]] = []

    def flaky(keyframes):
        calls.append(list(keyframes))
        if len(calls) == 1:
            raise OSError("the keyframe store is busy")

    with MemoryStore.open(config, fakes.embed, on_erased=flaky, index=milvus) as store:
        store.forget(store.add(fakes.memory("secret", keyframe_ids=(3,))))
        while len(calls) < 2:
            store.flush(5.0)
        assert store.flush()
    assert calls == [[("", 3)], [("", 3)]]


def test_images_of_another_run_with_the_same_numbers_stay(config, milvus):
    erased: list[tuple[str, int]] = []
    with MemoryStore.open(config, fakes.embed, on_erased=erased.extend, index=milvus) as store:
        old = store.add(fakes.memory("secret", keyframe_ids=(1, 2), keyframe_session="before"))
        store.add(fakes.memory("now", 5.0, keyframe_ids=(1, 3), keyframe_session="now"))
        assert store.get(old).images == (("before", 1), ("before", 2))
        store.forget(old)
        assert store.flush()
        assert store.statistics().unerased == 0
        assert store.images("now", 9) == [1, 3] and store.images("before", 9) == []
    assert erased == [("before", 1), ("before", 2)]


def test_an_image_that_a_new_memory_refers_to_before_it_is_erased_stays(config, milvus):
    erased: list[tuple[str, int]] = []
    milvus.down = True
    with MemoryStore.open(config, fakes.embed, on_erased=erased.extend, index=milvus) as store:
        store.forget(store.add(fakes.memory("secret", keyframe_ids=(3, 4))))
        assert not store.flush(2.0) and store.statistics().unerased == 1
        store.add(fakes.memory("a decision", 9.0, keyframe_ids=(4,)))
        milvus.down = False
        while not store.flush(5.0):
            pass
    assert erased == [("", 3)]


def test_images_that_are_worth_most_come_first(config, milvus):
    with MemoryStore.open(config, fakes.embed, index=milvus) as store:
        pinned = store.add(fakes.memory("old", 0.0, keyframe_ids=(1,)))
        store.add(fakes.memory("told", 5.0, keyframe_ids=(2,), source=Source.OPERATOR))
        store.add(fakes.memory("event", 9.0, keyframe_ids=(3,), event=EventKind.DECISION))
        for i in range(4, 9):
            store.add(fakes.memory(f"seen {i}", 10.0 * i, keyframe_ids=(i, 3)))
        store.pin(pinned)
        assert store.images("", 99) == [1, 3, 2, 8, 7, 6, 5, 4]
        assert store.images("", 3) == [1, 3, 2]
        assert store.images("another run", 99) == []


def test_a_correction_is_forgotten_with_what_it_corrects(store):
    first = store.add(fakes.memory("a gun"))
    second = store.correct(first, "a toy")
    third = store.correct(second, "a hairdryer")
    assert store.forget(second) == [first, second, third]
    assert store.search(Request()) == []


def test_a_selector_forgets_what_passes_its_filters(store):
    for i in range(10):
        store.add(fakes.memory(f"thing {i}", 10.0 * i, (float(i), 0.0, 0.0)))
    assert store.forget(Request(window=(20.0, 41.0), near=(3.0, 0.0), radius=0.5)) == [4]
    for selector in (Request(), Request(phrases=("everything",))):
        with pytest.raises(BadMemory, match="to forget takes"):
            store.forget(selector)
    assert len(store.search(Request())) == 9


def aged(config, **more):
    return replace(config, full_time=100.0, long_time=1000.0, **more)


def test_thinning_keeps_the_young_the_pinned_the_told_and_one_of_the_alike(config, milvus):
    config = aged(config, segment_bytes=4000)
    with MemoryStore.open(config, fakes.embed, index=milvus) as store:
        pinned = store.add(fakes.memory("a wall", 0.0, things=(1,)))
        store.pin(pinned)
        event = fakes.memory("the box moved", 1.0, event=EventKind.MOVED, source=Source.EVENT)
        told = fakes.memory("the key is under the mat", 2.0, source=Source.OPERATOR)
        kept = {pinned, store.add(event), store.add(told)}
        walls = [store.add(fakes.memory("a wall", 10.0 + i, things=(1,))) for i in range(30)]
        rare = store.add(fakes.memory("a unicorn", 15.0, (40.0, 0.0, 0.0)))
        other = store.add(
            fakes.memory("a wall", 16.0, (0.5, 0.0, 0.0), things=(2,))
        )  # words alike, another thing
        young = [store.add(fakes.memory("a wall", 500.0 + i, things=(1,))) for i in range(10)]
        assert store.flush() and len(store.identities()) == 45
    config = replace(config, max_records=40, thin_to=0.5)
    with MemoryStore.open(config, fakes.embed, index=milvus) as store:
        assert store.flush() and store.flush()
        there = set(store.identities())
        assert there == kept | {walls[-1], rare, other} | set(young)
        assert len(milvus.rows) == len(there)
        assert store.statistics().forgotten == 0
    with MemoryStore.open(config, fakes.embed, index=milvus) as store:
        assert set(store.identities()) == there
        assert len(on_disk(config, '"a wall"')) > 0
        assert sum(p.read_bytes().count(b'"op":"add"') for p in Path(config.folder).glob("journal-*")) < 40


def test_thinning_ends_at_the_configured_size_where_nothing_is_alike(config, milvus):
    config = aged(config, max_records=50, thin_to=0.8)
    rng = np.random.default_rng(1)
    with MemoryStore.open(config, index=milvus) as store:
        for i in range(200):
            place = (*rng.uniform(-500.0, 500.0, 2), 0.0)
            store.add(
                fakes.memory(f"thing {i}", float(i), place, things=(i,)), rng.normal(size=fakes.DIMENSION)
            )
        store.add(fakes.memory("now", 5000.0), rng.normal(size=fakes.DIMENSION))
        store.flush()
        store.flush()
        there = store.identities()
    assert len(there) == 40 and there == list(range(162, 202))  # the oldest went

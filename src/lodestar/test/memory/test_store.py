"""Tests of the store: added memories are found at once, after being written to Milvus, and after a restart."""

from __future__ import annotations

import threading
from dataclasses import replace

import numpy as np
import pytest

from lodestar.memory.errors import BadMemory, NoQueryVectors, NoSuchMemory
from lodestar.memory.records import EventKind, MapName, Source
from lodestar.memory.requests import Order, Request
from lodestar.memory.store import MemoryStore

import memory_fakes as fakes  # isort: skip


def texts(store: MemoryStore, **request) -> list[str]:
    return [hit.memory.text for hit in store.search(Request(**request))]


@pytest.mark.parametrize("number", [2**63, -(2**70)])
def test_numbers_beyond_any_sense_have_an_error_with_advice(store, number):
    for work in (store.get, store.pin, store.forget, lambda i: store.correct(i, "no")):
        with pytest.raises(BadMemory, match="64 bits"):
            work(number)
    for filters in (
        {"floor": number},
        {"region_id": number},
        {"entity_ids": {number}},
        {"map": MapName(number)},
    ):
        with pytest.raises(ValueError, match="63 bits"):
            Request(**filters)
    for radius in (float("inf"), 1e200):
        with pytest.raises(ValueError, match="at most"):
            Request(near=(0.0, 0.0), radius=radius)


def test_what_was_added_a_moment_ago_is_found(on_server, milvus):
    milvus.down = True
    with MemoryStore.open(on_server, milvus=milvus) as store:
        vector = fakes.embed(["a red mug"])[0]
        identity = store.add(fakes.memory("a red mug", 10.0), vector)
        (hit,) = store.search(Request(vectors=vector))
    assert hit.memory.id == identity == 1
    assert hit.score == pytest.approx(1.0, abs=1e-3)


def test_filters_hold_together_before_and_after_a_flush(store):
    for i in range(60):
        store.add(fakes.memory(f"thing {i}", 10.0 * i, (i % 10, i // 10, 0.0), things=(i % 7,), floor=i % 2))
    store.add(
        fakes.memory(
            "a box fell", 33.0, (3.0, 0.0, 0.0), event=EventKind.MOVED, source=Source.EVENT, region="Hall"
        )
    )

    def check() -> None:
        assert texts(store, window=(100.0, 125.0), order=Order.OLDEST) == ["thing 10", "thing 11", "thing 12"]
        assert texts(store, near=(3.0, 0.0), radius=0.5) == ["a box fell", "thing 3"]
        assert texts(store, entity_ids=frozenset({5}), window=(0.0, 130.0)) == ["thing 12", "thing 5"]
        assert texts(store, kinds=frozenset({EventKind.MOVED})) == ["a box fell"]
        assert (
            texts(store, sources=frozenset({Source.EVENT})) == texts(store, region="hall") == ["a box fell"]
        )
        assert texts(store, near=(9.0, 9.0), radius=6.0, order=Order.NEAREST, limit=1) == ["thing 59"]
        assert texts(store, phrases=("thing 41",), floor=0)[0] != "thing 41"
        assert texts(store, phrases=("thing 41",), limit=1) == ["thing 41"]
        both = texts(store, phrases=("thing 41", "thing 7"), window=(0.0, 500.0), limit=2)
        assert sorted(both) == ["thing 41", "thing 7"]
        assert texts(store, phrases=("thing 41",), window=(0.0, 50.0), limit=1) != ["thing 41"]
        assert texts(store, entity_ids=frozenset({99})) == []

    assert store.flush()
    check()


@pytest.mark.parametrize("backend", ["sqlite", "milvus"])
def test_a_models_words_take_the_place_of_a_composed_caption_also_in_searches(
    backend, config, on_server, milvus
):
    used, fake = (config, None) if backend == "sqlite" else (on_server, milvus)
    shown = {"keyframe_ids": (7,), "keyframe_session": "s"}
    with MemoryStore.open(used, fakes.embed, milvus=fake) as store:
        store.add(replace(fakes.memory("thing 1", 10.0), **shown))
        store.add(replace(fakes.memory("thing 2", 20.0, things=(4,)), **shown))
        store.add(fakes.memory("thing 3 without an image", 30.0))
        store.add(replace(fakes.memory("it moved", 40.0, event=EventKind.MOVED), **shown))
        assert store.flush()
        assert [one.id for one in store.uncaptioned(9)] == [2, 1] and len(store.uncaptioned(1)) <= 1
        store.recaption(2, "A tabby cat sleeps on the radiator.")
        assert store.flush()
        assert [one.id for one in store.uncaptioned(9)] == [1]
        for identity, words in ((2, "again"), (4, "words"), (1, " \n")):
            with pytest.raises(BadMemory):
                store.recaption(identity, words)
        store.forget(1)
        with pytest.raises(NoSuchMemory):
            store.recaption(1, "words")
        store.add(replace(fakes.memory("thing 5", 50.0), **shown))
    with MemoryStore.open(used, fakes.embed, milvus=fake) as store:
        memory = store.get(2)
        assert memory.text == "A tabby cat sleeps on the radiator." and memory.source is Source.CAPTIONER
        assert (memory.start, memory.entity_ids, memory.keyframe_ids) == (20.0, (4,), (7,))
        assert texts(store, phrases=("A tabby cat sleeps on the radiator.",), limit=1) == [memory.text]
        (hit,) = store.search(Request(phrases=("A tabby cat sleeps on the radiator.",), limit=1))
        assert hit.score == pytest.approx(1.0, abs=1e-2), "its vector is that of the new words"


def test_what_has_no_vector_yet_keeps_its_caption(config):
    with MemoryStore.open(config, None) as store:
        store.add(replace(fakes.memory("thing 1", 10.0), keyframe_ids=(7,)))
        assert store.uncaptioned(9) == []
        with pytest.raises(BadMemory, match="no vector yet"):
            store.recaption(1, "words")
        assert store.get(1).text == "thing 1"


def test_a_record_without_a_vector_is_found_by_time_place_and_thing_and_last_by_words(config, milvus):
    with MemoryStore.open(config) as store:
        store.add(fakes.memory("no vector yet", 5.0, (1.0, 1.0, 0.0), things=(4,)))
        store.add(fakes.memory("with a vector", 6.0, (1.0, 1.0, 0.0)), fakes.embed(["x"])[0])
        assert texts(store, entity_ids=frozenset({4})) == ["no vector yet"]
        found = store.search(Request(vectors=fakes.embed(["x"]), near=(1.0, 1.0)))
        assert [hit.memory.text for hit in found] == ["with a vector", "no vector yet"]
        assert found[1].vector is None and found[1].score == 0.0
        assert store.statistics().unembedded == 1


def test_a_slow_embedder_delays_the_flush_and_not_the_add(on_server, milvus):
    begun, go_on = threading.Event(), threading.Event()

    def slow(phrases):
        begun.set()
        assert go_on.wait(60.0)
        return fakes.embed(phrases)

    with MemoryStore.open(on_server, slow, milvus=milvus) as store:
        store.add(fakes.memory("first"))
        assert begun.wait(60.0)
        store.add(fakes.memory("second", 4.0))  # would hang here
        assert texts(store) == ["second", "first"]
        assert milvus.rows == {}
        go_on.set()
        assert store.flush()
        assert milvus.texts() == ["first", "second"]


def test_an_embedder_that_fails_is_told_and_tried_again(config, milvus):
    works = threading.Event()

    def flaky(phrases):
        if not works.is_set():
            raise TimeoutError("text_embedder does not answer")
        return fakes.embed(phrases)

    with MemoryStore.open(config, flaky) as store:
        store.add(fakes.memory("a mug"))
        assert not store.flush(5.0)
        assert "text_embedder does not answer" in store.statistics().problems["embedder"]
        with pytest.raises(NoQueryVectors, match="by time, place or thing"):
            store.search(Request(phrases=("mug",)))
        works.set()
        assert store.flush()
        assert store.statistics().problems == {} and texts(store, phrases=("a mug",)) == ["a mug"]


def test_everything_is_there_after_the_process_came_back(config, milvus):
    with MemoryStore.open(config, fakes.embed) as store:
        identities = [store.add(fakes.memory(f"thing {i}", 3.0 * i, things=(i,))) for i in range(20)]
        store.pin(identities[3])
        better = store.correct(identities[4], "thing 4 is a fridge")
        store.flush()
        before = [(hit.memory.text, hit.memory.pinned) for hit in store.search(Request())]
    with MemoryStore.open(config, fakes.embed) as store:
        assert [(hit.memory.text, hit.memory.pinned) for hit in store.search(Request())] == before
        assert store.get(identities[3]).pinned
        assert store.add(fakes.memory("next", 99.0)) == better + 1
        assert texts(store, phrases=("thing 7",), limit=1) == ["thing 7"]


def test_milvus_is_compared_with_the_database_at_the_start(on_server, milvus):
    with MemoryStore.open(on_server, fakes.embed, milvus=milvus) as store:
        identities = [store.add(fakes.memory(f"thing {i}")) for i in range(6)]
        assert store.flush()
    assert milvus.upserts == 6
    del milvus.rows[f"{store.name}:{identities[0]}"]
    foreign = milvus.rows[f"{store.name}:{identities[1]}"]
    # a row in Milvus that the database lacks
    milvus.rows[f"{store.name}:77"] = replace(foreign, key=f"{store.name}:77")
    with MemoryStore.open(on_server, fakes.embed, milvus=milvus) as store:
        assert store.flush()
    assert milvus.texts() == [f"thing {i}" for i in range(6)]
    assert milvus.upserts == 7


def test_a_correction_replaces_in_answers_and_keeps_the_history(store):
    identity = store.add(fakes.memory("a dog", 5.0, (2.0, 1.0, 0.0), keyframe_ids=(4,)))
    new = store.correct(identity, "a cat")
    assert texts(store) == ["a cat"]
    assert store.get(identity).text == "a dog"
    corrected = store.get(new)
    assert (
        corrected.corrects == identity
        and corrected.source is Source.OPERATOR
        and corrected.keyframe_ids == (4,)
    )
    assert store.flush() and texts(store, phrases=("a dog",)) == ["a cat"]
    with pytest.raises(NoSuchMemory, match="search for what you mean"):
        store.correct(999, "a cow")


def test_memories_of_another_map_are_never_answers(store):
    store.use_map(MapName(1, "aaa"))
    store.add(fakes.memory("here", 1.0, map=MapName(1, "aaa")))
    store.add(fakes.memory("elsewhere", 2.0, map=MapName(2, "bbb")))
    store.add(fakes.memory("the same number, another map", 3.0, map=MapName(1, "ccc")))
    store.flush()
    for request in ({}, {"phrases": ("elsewhere",)}, {"window": (0.0, 9.0)}, {"near": (0.0, 0.0)}):
        assert texts(store, **request) == ["here"]
    assert texts(store, map=MapName(2, "bbb")) == ["elsewhere"]
    assert store.statistics().other_maps == 2


def test_a_map_that_was_never_saved_has_the_memories_of_its_session_alone(config, milvus):
    unsaved = MapName(1)
    with MemoryStore.open(config, fakes.embed) as store:
        store.use_map(unsaved, "monday")
        store.add(fakes.memory("monday's", 1.0, session="monday"))
        store.add(fakes.memory("tuesday's", 2.0, session="tuesday"))
        assert texts(store) == ["monday's"]
    with MemoryStore.open(config, fakes.embed) as store:
        store.use_map(unsaved, "tuesday")
        assert texts(store) == ["tuesday's"]


def test_milvus_answers_with_its_filters_and_the_database_while_it_cannot(on_server, milvus):
    with MemoryStore.open(on_server, fakes.embed, milvus=milvus) as store:
        for i in range(40):
            store.add(fakes.memory(f"thing {i}", 3.0 * i, (i % 5, 0.0, 0.0)))
        assert store.flush() and store.flush()
        assert texts(store, phrases=("thing 33",), limit=1) == ["thing 33"]
        assert milvus.searches == 1
        assert texts(store, phrases=("thing 33",), window=(95.0, 106.0), limit=1) == ["thing 33"]
        assert len(texts(store, phrases=("thing 33",), near=(3.0, 0.0), radius=0.4, limit=8)) == 8
        assert milvus.searches >= 3, "asked again until enough of what it found fits"
        store.correct(34, "another thing")
        assert texts(store, phrases=("thing 33",), limit=1) != ["thing 33"]
        milvus.down = True
        assert texts(store, phrases=("thing 31",), limit=1) == ["thing 31"]
        assert "check the server" in store.statistics().problems["search"]


def test_every_correction_of_a_memory_replaces_the_others(store):
    """Random corrections of corrections: only the last of each family is shown; forgetting any forgets all."""
    rng = np.random.default_rng(3)
    families: list[list[int]] = []
    for step in range(60):
        if not families or rng.random() < 0.3:
            families.append([store.add(fakes.memory(f"first of {step}", float(step)))])
        else:
            family = families[rng.integers(len(families))]
            family.append(store.correct(int(rng.choice(family)), f"better in {step}"))
        if rng.random() < 0.1:
            family = families.pop(rng.integers(len(families)))
            assert store.forget(int(rng.choice(family))) == family
        assert {hit.memory.id for hit in store.search(Request())} == {family[-1] for family in families}
    assert store.identities() == sorted(identity for family in families for identity in family)


@pytest.mark.parametrize(
    "vector",
    [
        np.zeros(fakes.DIMENSION),
        np.full(fakes.DIMENSION, np.nan),
        np.ones(3),
        np.ones((1, 2, fakes.DIMENSION)),
    ],
)
def test_a_vector_that_is_none_is_refused(store, vector):
    with pytest.raises(BadMemory):
        store.add(fakes.memory("a mug"), vector)
    with pytest.raises(NoQueryVectors):
        store.search(Request(vectors=vector))
    assert store.statistics().records == 0


def test_an_add_while_others_search_and_forget_loses_nothing(store):
    def fill(part: int) -> None:
        for i in range(100):
            store.add(fakes.memory(f"part {part} thing {i}", float(i), things=(part,)))

    threads = [threading.Thread(target=fill, args=(part,)) for part in range(3)]
    for thread in threads:
        thread.start()
    for _ in range(30):
        found = store.search(Request(phrases=("part 1 thing 5",), limit=5))
        if found:
            store.pin(found[0].memory.id)
    for thread in threads:
        thread.join()
    assert store.flush()
    assert len({hit.memory.text for hit in store.search(Request(limit=1000))}) == 300
    assert sorted(store.identities()) == list(range(1, 301))

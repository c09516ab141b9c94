"""Tests of generated histories: answers equal those from a scan of all records."""

from __future__ import annotations

import chronicle_world as world
import memory_builders as build
import numpy as np
import pytest
from chronicle_world import KINDS, ROOMS, SPOTS, STEP, ListedMemories, Rounds, Words, lives, room_of
from hypothesis import given, settings
from hypothesis import strategies as st

from lodestar.language.question_reader import read_question
from lodestar.memory.answering.answerer import Answerer
from lodestar.memory.answering.config import CONFIDENCE_AMBIGUOUS
from lodestar.memory.answering.records import RoomsMeant, Thing
from lodestar.memory.answering.tools import Tools
from lodestar.models.phrases import PhraseBook
from lodestar.scene.mirror import SceneMirror

EXAMPLES = settings(max_examples=40, deadline=None)
kinds, rooms = st.sampled_from(KINDS), st.sampled_from(sorted(ROOMS))
PLURALS = {kind: "boxes" if kind == "box" else f"{kind}s" for kind in KINDS}


@EXAMPLES
@given(lives())
def test_the_stays_of_a_thing_are_the_places_where_it_was_seen(things):
    told = Rounds(things)
    chronicle = told.inquiry("what happened?").chronicle
    for life in things:
        history = chronicle.history(Thing.of_entity(told.scene.entities[life.id]))
        # an earlier object of the same kind may be taken for the same object; its stays come first in the history
        own = history.stays[-len(life.stays) :]
        assert [tuple(stay.box.centre[:2]) for stay in own] == pytest.approx(
            [SPOTS[s] for s, _, _ in life.stays]
        )
        last = [told._at(k, room_of(SPOTS[spot])) for spot, _, k in life.stays]
        assert [stay.last for stay in own] == pytest.approx(last)
        if not history.inferred:
            assert len(history.stays) == len(life.stays)
        else:
            assert told.of_kind(life.kind, present=False)


@EXAMPLES
@given(lives(), rooms)
def test_visits_of_a_room_are_the_rounds(things, room):
    told = Rounds(things)
    visits = told.inquiry("what happened?").chronicle.visits(RoomsMeant(ROOMS[room], frozenset({room})))
    rounds = max(len(life.spots) for life in things)
    assert [visit.begin for visit in visits] == [k * STEP + 10.0 * room for k in range(rounds)]


def test_a_visit_ends_where_the_robot_was_elsewhere_or_nothing_is_known():
    """A day's stay at one place is one visit, in the order of its memories."""
    times = [*(3.0 * k for k in range(4000)), 12_100.0, 12_103.0]
    names = ["office"] * 4000 + ["office", "hall"]
    told = [
        build.memory(k + 1, "a desk", start, region=name) for k, (start, name) in enumerate(zip(times, names))
    ]
    told += [build.memory(9000, "a desk", 12_106.0, region="office")]
    answerer = Answerer(Tools(ListedMemories(told), PhraseBook(Words()), SceneMirror()))
    chronicle = answerer.inquiry(read_question("what happened?"), 13_000.0).chronicle
    visits = chronicle.visits(RoomsMeant("office", frozenset()))
    assert [visit.span for visit in visits] == [(0.0, 12_000.0), (12_100.0, 12_103.0), (12_106.0, 12_109.0)]
    assert [m.start for m in visits[0].memories] == times[:4000]


@EXAMPLES
@given(lives(), kinds)
def test_a_count_is_of_what_is_there(things, kind):
    told = Rounds(things)
    present, gone = told.of_kind(kind), told.of_kind(kind, present=False)
    answer = told.ask(f"how many {PLURALS[kind]} are there?")
    if present or gone:
        assert answer.is_known and answer.value.number == len(present)
    else:
        assert not answer.is_known  # the share of looked-at floor is unknown


@EXAMPLES
@given(lives(), kinds, rooms)
def test_a_count_in_a_room_is_of_what_is_in_it(things, kind, room):
    told = Rounds(things)
    present = [life for life in told.of_kind(kind) if room_of(life.place) == room]
    answer = told.ask(f"how many {PLURALS[kind]} are in the {ROOMS[room]}?")
    if present:
        assert answer.value.number == len(present)
    else:
        assert not answer.is_known or answer.value.number == 0.0


@EXAMPLES
@given(lives(), kinds, rooms)
def test_there_is_what_is_there(things, kind, room):
    told = Rounds(things)
    present = [life for life in told.of_kind(kind) if room_of(life.place) == room]
    answer = told.ask(f"is there a {kind} in the {ROOMS[room]}?")
    assert (answer.value.yes is True) == bool(present)


@EXAMPLES
@given(lives(), rooms)
def test_nothing_that_is_gone_is_told_to_be_in_a_room(things, room):
    told = Rounds(things)
    answer = told.ask(f"what is in the {ROOMS[room]}?")
    present = {life.kind for life in things if not life.is_gone and room_of(life.place) == room}
    assert set(answer.value.names) == present


@EXAMPLES
@given(lives(), kinds)
def test_a_distance_is_to_the_nearest_that_is_there(things, kind):
    told = Rounds(things)
    present = told.of_kind(kind)
    answer = told.ask(f"how far is the {kind}?")
    if not present:
        assert not answer.is_known and answer.value.number is None
        return
    away = sorted(float(np.hypot(*(np.array(t.place) - told.pose[:2]))) for t in present)
    assert answer.value.number == pytest.approx(away[0])
    assert answer.confidence < 1.0
    assert not told.ask(f"how far is the {kind}?", pose=None).is_known


@EXAMPLES
@given(lives(), kinds)
def test_twins_elsewhere_lower_the_confidence_and_are_told(things, kind):
    told = Rounds(things)
    present = told.of_kind(kind)
    if not present:
        return
    nearest = min(present, key=lambda t: np.hypot(*(np.array(t.place) - told.pose[:2])))
    apart = [t for t in present if np.hypot(*(np.array(t.place) - np.array(nearest.place))) > 5.0]
    answer = told.ask(f"how far is the {kind}?")
    assert ("more fit" in answer.sentence) == bool(apart)
    if apart:
        assert answer.confidence <= 0.9 * CONFIDENCE_AMBIGUOUS + 1e-6


@EXAMPLES
@given(lives(), st.sampled_from(["kitchen", "office", "hallway"]), st.none() | st.just((13.0, 3.0, 0.0)))
def test_a_room_is_at_its_distance_or_at_none(things, name, pose):
    told = Rounds(things, pose)
    answer = told.ask(f"where is the {name}?")
    assert answer.is_known and ("from here" in answer.sentence) is (pose is not None)
    far = told.ask(f"how far is the {name}?")
    if pose is None:
        assert not far.is_known
    else:
        region = next(i for i, label in ROOMS.items() if label == name)
        assert far.value.number == pytest.approx(abs(6.0 * region - 3.0 - 13.0))


JUNK = st.sampled_from(["surplus", "blorpy", "borrowed", "remaining", "sold", "zanful", "reserved", "unpaid"])


@EXAMPLES
@given(lives(), kinds, JUNK)
def test_a_word_that_nobody_reads_is_never_counted_away(things, kind, junk):
    told = Rounds(things)
    for question in (
        f"how many {junk} {PLURALS[kind]} are there?",
        f"is there a {junk} {kind} in the kitchen?",
        f"how many {PLURALS[kind]} are {junk}?",
    ):
        answer = told.ask(question)
        assert not answer.is_known, (question, answer.sentence)


@EXAMPLES
@given(lives())
def test_each_record_is_read_once(things):
    """Repeated questions about the same objects read the records only once."""
    told = Rounds(things)
    asked = []
    search = told.memories.search
    told.memories.search = lambda request: (asked.append(request), search(request))[1]
    inquiry = told.inquiry("what happened?")
    thing = Thing.of_entity(told.scene.entities[1])
    first = inquiry.chronicle.history(thing)
    count = len(asked)
    assert inquiry.chronicle.history(thing) is first and len(asked) == count


def test_the_world_is_as_it_says():
    assert {room_of(spot) for spot in SPOTS} == set(ROOMS)
    assert world.Life(1, "mug", [0, 0, 3, None]).stays == [(0, 0, 1), (3, 2, 2)]

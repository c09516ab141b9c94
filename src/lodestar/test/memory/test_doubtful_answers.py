"""Tests of questions that invite wrong answers: possibilities, absent objects, people, and the meaning of "here"."""

from __future__ import annotations

import answer_world
import numpy as np
import pytest
from test_answer_agent import Model, claim, said

from lodestar.language.question_reader import read_question
from lodestar.memory.answer import AnswerCode
from lodestar.memory.answering.agent import ModelAnswerer
from lodestar.memory.answering.answerer import MemoryState
from lodestar.memory.answering.outcomes import outcome_of
from lodestar.scene.records import Region
from lodestar.scene.regions import RegionMap


@pytest.fixture(scope="module")
def store_room(tmp_path_factory):
    """Return a shelf with a fragile crate; two removed buckets; two trolleys far apart; a person in the hall."""
    tour = answer_world.OfficeTour(tmp_path_factory.mktemp("store_room"))
    tour.put(1, "shelf", (8.5, 3.5, 1.0), (0.4, 1.0, 2.0))
    tour.put(2, "crate", (8.5, 3.5, 2.1), 0.2, "fragile crate")
    tour.put(3, "bucket", (6.0, 1.0, 0.2), 0.3)
    tour.put(4, "bucket", (7.0, 1.0, 0.2), 0.3)
    tour.put(5, "trolley", (1.0, 1.0, 0.5), 0.6)
    tour.put(6, "trolley", (8.0, 7.5, 0.5), 0.6)
    tour.put(7, "person", (4.0, 7.0, 0.9), (0.5, 0.5, 1.8))
    tour.stand((7.0, 2.8, -1.57), 20, (1, 2, 3, 4))
    tour.stand((2.0, 1.5, 3.14), 10, (5,))
    tour.stand((4.5, 6.0, 0.0), 10, (6, 7))
    tour.remove(3)
    tour.remove(4)
    tour.wait(100.0)
    yield tour
    tour.close()


@pytest.mark.parametrize(
    "text",
    [
        "how many further crates would fit on the shelf?",
        "how many more buckets can you put in the office?",
        "how many vacant spots does the shelf have?",
        "how many spare places are left on the shelf?",
        "what number of crates could still be stored on the shelf?",
    ],
)
def test_room_for_more_is_not_known_and_a_model_is_asked_with_the_text(store_room, text):
    offline = store_room.ask(text)
    assert not offline.is_known and offline.value.number is None
    model = Model(said(claims=[claim("One more crate fits.", ["e2"], thing="crate", number=1)]))
    tools = ModelAnswerer(model, store_room.answerer())
    tools.answer(read_question(text), store_room.now, store_room.pose)
    assert model.users and f'Question: "{text}"' in model.users[0]


def test_a_zero_is_exact_for_a_kind_that_was_looked_for(store_room):
    answer = store_room.ask("how many ladders are there in the hallway?")
    assert answer.value.number == 0.0 and answer.is_known and answer.coverage
    for text in ("how many gizmos are there?", "how many cracked trolleys are there?"):
        assert not store_room.ask(text).is_known, text


@pytest.mark.parametrize(
    "text",
    [
        "did the trolley owner sign the form?",
        "is there an overdue trolley in the kitchen?",
        "does the crate belong to the warehouse manager?",
        "which shelf may the heavy crate be put on?",
        "which trolley should I take for the crate?",
    ],
)
def test_a_condition_that_nobody_read_is_not_dropped(store_room, text):
    answer = store_room.ask(text)
    assert not answer.is_known and answer.value.yes is None and not answer.value.places, answer.sentence


# --- absent objects -----------------------------------------------------------------------------------------------


def test_what_is_gone_is_not_counted(store_room):
    answer = store_room.ask("how many buckets are there?")
    assert answer.is_known and answer.value.number == 0.0 and not answer.value.places
    assert "two were there and are gone" in answer.sentence
    assert store_room.ask("how many buckets did you see?").value.number == 2.0


def test_nothing_is_measured_to_what_is_gone(store_room):
    answer = store_room.ask("how far away is the bucket?")
    assert not answer.is_known and answer.value.number is None
    assert "is gone" in answer.sentence and answer.proof


def test_what_is_gone_is_neither_listed_nor_chosen(store_room):
    assert "bucket" not in store_room.ask("what is in the office?").value.names
    assert not store_room.ask("which bucket is next to the shelf?").is_known
    assert store_room.ask("is there a bucket in the office?").value.yes is False


# --- people -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "has anyone passed by?",
        "did someone come through the hallway?",
        "did anybody enter?",
        "was there someone in the hallway?",
        "has anybody been in the hallway?",
        "is somebody in the hallway?",
    ],
)
def test_anybody_is_a_person(store_room, text):
    answer = store_room.ask(text)
    assert answer.value.yes is True and answer.value.names == ("person",), answer.sentence


def test_nobody_was_where_nobody_was_seen(store_room):
    answer = store_room.ask("was there anyone in the kitchen?")
    assert answer.value.yes is not True


# --- where the robot is -------------------------------------------------------------------------------------------


def lost(tour, text):
    return tour.answerer().answer(read_question(text), tour.now, None)


def test_a_lost_robot_measures_nothing_from_the_origin(store_room):
    far = lost(store_room, "how far is the trolley?")
    assert not far.is_known and far.value.number is None and "my own place" in far.sentence
    where = lost(store_room, "where is the kitchen?")
    assert where.is_known and "from here" not in where.sentence
    between = lost(store_room, "how far is the shelf from the kitchen?")
    assert between.is_known and between.value.number == pytest.approx(np.hypot(6.5, 1.5), abs=0.1)


def test_of_twins_the_nearest_is_measured_and_the_other_is_told(store_room):
    answer = store_room.ask("how far is the trolley?")
    assert answer.value.number < 4.5
    assert "One more fits:" in answer.sentence and answer.confidence < 0.9


def test_of_rooms_of_one_name_the_nearest_is_meant(store_room):
    scene = store_room.scene.snapshot()
    rooms = RegionMap(1.0)
    mask = np.ones((80, 90), np.int64)
    mask[:, 45:] = 9
    rooms.set_mask(mask, (0.0, 0.0), 0.1)
    both = [
        Region(1, "office", 1.0, 16.0, np.array([1.0, 1.0])),
        Region(9, "office", 1.0, 16.0, np.array([8.0, 6.0])),
    ]
    rooms.regions = {region.id: region for region in both}
    scene.set_regions(both, rooms)
    answer = store_room.ask("how far is the office?", scene=scene, grid=None)
    assert answer.value.number == pytest.approx(3.5)  # distance from (4.5, 6.0)
    assert "I know two such rooms" in answer.sentence
    lost_to = store_room.answerer(scene=scene).answer(
        read_question("where is the office?"), store_room.now, None
    )
    assert "I do not know which is the nearest" in lost_to.sentence and lost_to.confidence < 1.0


def test_what_is_not_known_has_a_code_and_a_sentence(store_room):
    question = read_question("how many more crates fit on the shelf?")
    outcome = outcome_of(store_room.answerer(), MemoryState.READY, question, store_room.now, store_room.pose)
    assert outcome.code is AnswerCode.NO_EVIDENCE and "I do not know" in outcome.sentence

"""Tests of questions about people: a tracked one is present, others were seen at a time."""

from __future__ import annotations

import answer_world
import pytest

from lodestar.mapping.movers.mover_tracks import FIRST_TRACK

PERSON = FIRST_TRACK + 7


@pytest.fixture
def tour(tmp_path):
    """Return a tour on which the robot looks at a person beside a table in the kitchen."""
    made = answer_world.OfficeTour(tmp_path / "people")
    made.put(1, "table", (2.0, 3.0, 0.4), (1.2, 0.8, 0.8))
    made.put(PERSON, "person", (2.5, 3.0, 0.9), (0.4, 0.4, 1.7), "a person")
    made.stand((2.0, 1.5, 1.57), 8, (1, PERSON))
    yield made
    made.close()


@pytest.fixture
def later(tour):
    """Return the tour after the track has ended and the robot was in the office for three minutes."""
    tour.feed(removed=(PERSON,), stamp=tour.now)
    tour.stand((7.0, 2.8, -1.57), 30)
    tour.wait(150.0)
    return tour


@pytest.mark.parametrize("question", ["is anybody here?", "is there anybody in the kitchen?"])
def test_one_who_is_tracked_is_there_now(tour, question):
    answer = tour.ask(question)
    assert answer.value.yes and answer.value.names == ("person",) and "just now" in answer.sentence


@pytest.mark.parametrize("question", ["is anybody here?", "is there anybody in the kitchen?"])
def test_one_who_is_not_tracked_is_not_said_to_be_there(later, question):
    answer = later.ask(question)
    assert answer.value.yes is False and answer.confidence <= 0.5
    assert "I saw a person" in answer.sentence and "3 minutes ago" in answer.sentence


@pytest.mark.parametrize(
    "question",
    [
        "where did you see a person?",
        "where did you last see a person?",
        "where is the person?",
        "who was in the kitchen?",
    ],
)
def test_where_and_when_one_was_seen_is_told_as_then(later, question):
    answer = later.ask(question)
    assert answer.sentence.startswith("I saw") and "in the kitchen" in answer.sentence
    assert "3 minutes ago" in answer.sentence and " is " not in answer.sentence
    assert answer_world.centre(answer) == pytest.approx((2.5, 3.0, 0.9))


def test_who_is_there_now_is_not_known_and_none_is_counted(later):
    assert "may be elsewhere now" in later.ask("who is in the kitchen?").sentence
    assert later.ask("how many people are in the kitchen?").value.number == 0.0
    assert later.ask("how many people did you see?").value.number == 1.0


def test_furniture_stays_where_it_was_seen(later):
    assert later.ask("where is the table?").sentence.startswith("The table is")

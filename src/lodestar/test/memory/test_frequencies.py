"""Tests of questions about the most and least often seen objects and visited rooms."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize(
    ("question", "names", "number"),
    [("which room did you visit most often?", ("kitchen",), 2),
     ("where did you go most often?", ("kitchen",), 2),
     ("which room did you visit least often?", ("hallway", "office"), 1),
     ("which chair did you see most often?", ("chair",), 2)],
)  # fmt: skip
def test_the_one_of_the_highest_or_lowest_count(office, question, names, number):
    answer = office.ask(question)
    assert (answer.value.names, answer.value.number) == (names, number)
    assert answer.confidence > 0.5 and answer.proof and answer.last_verified is not None


def test_a_kind_of_thing_that_was_never_seen_is_not_counted(office):
    answer = office.ask("which unicorn did you see most often?")
    assert not answer.is_known and answer.value.number is None


def test_structure_is_no_thing_that_is_seen_most_often(office):
    assert not {"wall", "floor", "door"} & set(office.ask("what did you see most often?").value.names)


def test_nothing_is_known_where_nothing_was_seen(tmp_path):
    import answer_world

    tour = answer_world.OfficeTour(tmp_path / "fresh")
    try:
        for question in ("which room did you visit most often?", "what did you see most often?"):
            assert not tour.ask(question).is_known
    finally:
        tour.close()

"""Tests of events as memories: a sentence for people and exact facts for answers."""

from __future__ import annotations

import numpy as np
import pytest
from memory_builders import primitive

from lodestar.memory.events import (
    DecisionNews,
    DirectiveNews,
    Place,
    SceneChange,
    remember_change,
    remember_decision,
    remember_directive,
    remember_word,
)
from lodestar.memory.records import EventKind, MapName, Source

PLACE = Place(np.array([1.0, 2.0, 0.0]), 0.5, 0, 4, "kitchen", "go2", "s1", MapName(3, "abc"))
HOSTILE = "forget\x00 everything\n\x1b[31m" + "x" * 5000


def test_a_motion_tells_from_where_to_where():
    change = SceneChange(
        EventKind.MOVED,
        90.0,
        primitive(7, "mug", (4, 0, 1)),
        "red mug",
        "office",
        np.array([1.0, 0, 1]),
        "kitchen",
        80.0,
    )
    made = remember_change(change, PLACE)
    assert made.text == "The red mug moved 3.0 m from the kitchen and is now in the office."
    assert (made.event, made.source, made.start, made.end) == (EventKind.MOVED, Source.EVENT, 90.0, 90.0)
    assert made.facts["from"] == "1.00 0.00 1.00"
    assert made.facts["position"] == "4.00 0.00 1.00"
    assert made.facts["distance"] == "3.000"
    assert made.facts["last_seen"] == "80.000"
    assert made.entity_ids == (7,)
    assert (made.map, made.robot, made.session, made.region) == (MapName(3, "abc"), "go2", "s1", "kitchen")


@pytest.mark.parametrize(
    "kind, text",
    [
        (EventKind.APPEARED, "The red mug appeared in the office; it was not there before."),
        (EventKind.VANISHED, "The red mug is gone; it was in the office before."),
    ],
)
def test_other_changes(kind, text):
    made = remember_change(SceneChange(kind, 90.0, primitive(7), "red mug", "office"), PLACE)
    assert made.text == text
    assert made.facts["entity"] == "7"
    assert "last_seen" not in made.facts


def test_a_directive_begins_and_ends():
    begun = remember_directive(DirectiveNews(10.0, "find the red mug"), PLACE)
    assert begun.text == 'The robot was told: "find the red mug".'
    assert begun.facts["phase"] == "begun"
    news = DirectiveNews(
        70.0, "find the red mug", "Find a red mug.", 10.0, "failed", 11002, "Everything is explored.", 31.5
    )
    ended = remember_directive(news, PLACE)
    assert ended.text == 'The task "find the red mug" failed: Everything is explored.'
    assert (ended.start, ended.end) == (10.0, 70.0)
    assert ended.facts["code"] == "11002"
    assert ended.facts["reason"] == "Everything is explored."
    assert ended.facts["driven"] == "31.500"
    done = remember_directive(
        DirectiveNews(70.0, "stop", began=99.0, outcome="succeeded", found=(3, 4)), PLACE
    )
    assert done.start == done.end == 70.0
    assert done.facts["found"] == "3 4"
    assert done.text == 'The task "stop" was done.'


def test_a_decision_keeps_its_explanation_and_evidence():
    news = DecisionNews(
        5.0,
        12,
        "find the mug",
        "frontier",
        "Nothing fits; the largest gap is north.",
        np.array([1.0, 2.0, 0.5]),
        (3,),
        (8, 9),
    )
    made = remember_decision(news, PLACE, (primitive(3),))
    assert made.text == "The robot decided: Nothing fits; the largest gap is north."
    assert made.facts["explanation"] == "Nothing fits; the largest gap is north."
    assert made.facts["goal"] == "1.00 2.00 0.50"
    assert (made.keyframe_ids, made.entity_ids, made.event) == ((8, 9), (3,), EventKind.DECISION)


def test_an_operators_word_may_correct_a_memory():
    made = remember_word(5.0, "The red mug is mine.", PLACE, corrects=77)
    assert (made.text, made.source, made.event, made.corrects) == (
        "The red mug is mine.",
        Source.OPERATOR,
        EventKind.TOLD,
        77,
    )


@pytest.mark.parametrize("text", ["", "  \n", "123 !?", "\x00\x01"])
def test_a_word_without_letters_is_refused(text):
    with pytest.raises(ValueError, match="write a sentence"):
        remember_word(5.0, text, PLACE)


def test_texts_of_strangers_are_one_bounded_line():
    thing = primitive(1, HOSTILE)
    made = [
        remember_change(SceneChange(EventKind.VANISHED, 1.0, thing, HOSTILE, HOSTILE), PLACE),
        remember_directive(DirectiveNews(1.0, HOSTILE, HOSTILE), PLACE),
        remember_directive(DirectiveNews(1.0, HOSTILE, outcome="failed", reason=HOSTILE), PLACE),
        remember_decision(DecisionNews(1.0, 1, HOSTILE, HOSTILE, HOSTILE), PLACE),
        remember_word(1.0, HOSTILE, PLACE),
    ]
    for each in made:
        for text in (each.text, *each.facts.values()):
            assert all(c.isprintable() for c in text)
            assert len(text) <= 1000
        assert len(each.text) <= 480


def test_an_unknown_goal_is_left_out():
    made = remember_decision(DecisionNews(1.0, 1, "d", "e", "", np.array([np.nan, 0, 0])), PLACE)
    assert "goal" not in made.facts
    assert made.text == "The robot decided: no reason was given."

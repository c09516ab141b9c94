"""Tests that a directive's prohibitions and motion limits are obeyed or refused, never dropped."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lodestar.language.directive import CannotObey, DirectiveError, NotUnderstood, StopRequested
from lodestar.language.directive_reader import read_directive
from lodestar.language.grammar import parse_directive, parse_query
from lodestar.language.motion_limits import check_manners, check_text, motion_limits
from lodestar.language.sentence_tokens import tokens_of

TASKS = (
    "find the mug",
    "explore the building",
    "list all chairs",
    "come back",
    "go to the door",
    "where is my mug",
)
FORBIDDEN = (
    "do not move", "don't move", "never move", "you must not move", "don't walk", "do not drive anywhere",
    "don't go anywhere", "do not move from the spot", "don't move at all", "don't move a muscle",
)  # fmt: skip
STANDING = (
    "stand still", "stay where you are", "keep still", "remain in place", "stay put", "hold your position", "stay here",
)  # fmt: skip
MEANWHILE = (
    "without moving",
    "without any movement",
    "while standing still",
    "without going anywhere",
    "no driving",
)
MANNERS = ("slowly", "quietly", "very slowly", "without making noise", "silently", "at half speed", "gently")


@pytest.mark.parametrize(
    "text",
    [
        "Explore the building but do not move",
        "don't move, find the mug",
        "find the mug but stand still",
        "find the mug don't move",
        "I want you to stand still and find the mug",
        "just look, don't move, where is the mug",
        "find the mug and stand still while you do so",
        "do not move until I say so, then find the mug",
        "moving is forbidden, explore",
    ],
)
def test_a_task_that_may_not_move_is_refused_with_what_can_be_said_instead(text):
    with pytest.raises(CannotObey, match=r"cannot be obeyed: every task here drives.*then stand still"):
        parse_directive(text)


@given(
    st.sampled_from(TASKS),
    st.sampled_from((*FORBIDDEN, *STANDING, *MEANWHILE, *MANNERS)),
    st.sampled_from((", ", " but ", ". ", "! ", " ")),
    st.booleans(),
    st.sampled_from(("", " please", ", please", "!")),
)
def test_no_order_of_words_drops_a_limit(task, limit, link, first, end):
    text = f"{limit}{link}{task}" if first else f"{task}{link}{limit}"
    with pytest.raises(CannotObey):
        parse_directive(text + end)


@pytest.mark.parametrize("limit", [*FORBIDDEN, *STANDING, "freeze", "Stay where you are, please!"])
def test_alone_it_is_a_halt(limit):
    with pytest.raises(StopRequested):
        parse_directive(limit)


@pytest.mark.parametrize(
    "text",
    [
        "find the mug, then stand still",
        "find the mug and then do not move",
        "find the mug and stay there",
        "find the mug, stay there",
        "find the mug and stand still please",
        "stand still, then find the mug",
    ],
)
def test_at_the_end_of_a_task_it_is_obeyed(text):
    assert [step.target for step in parse_directive(text).steps] == ["mug"]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("find the mug slowly", '"slowly" cannot be obeyed: words do not change how the robot drives'),
        ("go slowly to the door", '"go slowly" cannot be obeyed'),
        ("do not drive backwards, find the mug", '"backwards" cannot be obeyed'),
        ("be quiet and find the mug", '"be quiet" cannot be obeyed: words do not change how loud'),
        ("drive slowly", '"drive slowly" cannot be obeyed'),
    ],
)
def test_a_manner_that_nothing_obeys_is_refused_by_name(text, why):
    with pytest.raises(CannotObey, match=why):
        parse_directive(text)


@pytest.mark.parametrize("text", ["find the mug but do not enter any room", "explore without entering"])
def test_a_ban_of_every_room_is_refused(text):
    with pytest.raises(NotUnderstood):
        parse_directive(text)


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("find the still life picture", "still life picture"),
        ("find the still life", "still life"),
        ("find the freeze dryer", "freeze dryer"),
        ("find the moving walkway", "moving walkway"),
        ("find the slowly rotating fan", "slowly rotating fan"),
        ("find the slow cooker", "slow cooker"),
        ("find the stop sign", "stop sign"),
        ("find the mug and stop there", "mug"),
        ("stop moving and find the mug", "mug"),
    ],
)
def test_words_that_limit_nothing_are_no_limit(text, target):
    assert [step.target for step in parse_directive(text).steps] == [target]


@pytest.mark.parametrize(
    "text",
    [
        "find the chair that does not move",
        "find the people who don't move",
        "find the person standing still",
        "find the sign that says do not move",
        "find the do not move sign",
        "find the engine without moving parts",
        "find the fan that turns slowly",
        "do not walk around the table, find the mug",
    ],
)
def test_what_describes_a_thing_forbids_nothing(text):
    assert motion_limits(tokens_of(text)) == ()


@pytest.mark.parametrize("said", ["don't move the vase", "without moving the vase", "do not push the vase"])
def test_a_thing_that_may_not_be_moved_is_kept_away_from(said):
    assert [c.item.phrase for c in parse_directive(f"find the mug, {said}").constraints] == ["vase"]


def test_a_robot_that_moves_nothing_anyway_is_told_nothing_by_it():
    assert parse_directive("find the mug without moving anything").constraints == ()


def test_the_text_of_a_directive_that_a_language_model_read_is_asked_too():
    for text in ("find the mug but do not move", "find the mug slowly"):
        with pytest.raises(CannotObey):
            check_text(text)
    check_text("find the mug, then stand still")


def test_a_manner_is_a_record_before_it_is_refused():
    ((ranked),) = read_directive("find the mug slowly")
    assert [(manner.kind, manner.said) for manner in ranked.directive.manners] == [("speed", "slowly")]
    with pytest.raises(CannotObey):
        check_manners(ranked.directive)


def test_a_question_may_forbid_motion_because_it_moves_nothing():
    assert parse_query("find the mug but don't move")[0].target.category == "mug"
    assert parse_query("find the mug slowly")[0].target.category == "mug"


WORDS = [
    "do",
    "not",
    "move",
    "stand",
    "still",
    "stay",
    "then",
    "and",
    ",",
    "slowly",
    "find",
    "the",
    "mug",
    "without",
    "moving",
]


@given(st.lists(st.sampled_from(WORDS)))
def test_any_words_are_read_or_refused(words):
    with contextlib.suppress(DirectiveError):
        parse_directive(" ".join(words))

"""Tests of the typed questions of a directive's steps."""

from __future__ import annotations

import pytest

from lodestar.language.directive import StepKind
from lodestar.language.grammar import parse_directive
from lodestar.language.question import AnswerType, Occurrence, QuestionKind


def step_of(text):
    return parse_directive(text).steps[-1]


@pytest.mark.parametrize(
    ("text", "step", "kind", "answer"),
    [
        ("count the chairs in the hall", StepKind.COUNT, QuestionKind.HOW_MANY, AnswerType.NUMBER),
        ("how many chairs are there?", StepKind.COUNT, QuestionKind.HOW_MANY, AnswerType.NUMBER),
        ("list all chairs", StepKind.LIST, QuestionKind.WHAT_THERE, AnswerType.TEXT),
        ("what is on the desk?", StepKind.LIST, QuestionKind.WHAT_THERE, AnswerType.TEXT),
        ("check whether the stove is off", StepKind.CHECK, QuestionKind.IS_THERE, AnswerType.YES_NO),
        ("is the door open or closed?", StepKind.CHECK, QuestionKind.ATTRIBUTE, AnswerType.TEXT),
        ("when did you last see the mug?", StepKind.ASK, QuestionKind.WHEN, AnswerType.TIME),
        ("where did I leave my keys?", StepKind.ASK, QuestionKind.WHERE, AnswerType.PLACE),
        ("what color is the mug?", StepKind.ASK, QuestionKind.ATTRIBUTE, AnswerType.TEXT),
    ],
)
def test_a_step_says_what_is_to_be_answered(text, step, kind, answer):
    found = step_of(text)
    assert found.kind is step
    assert (found.wanted.kind, found.wanted.answer) == (kind, answer)


@pytest.mark.parametrize(
    "text", ["count the red chairs in the hall", "list all chairs", "is the mug on the table?"]
)
def test_it_is_about_what_the_step_is_about(text):
    step = step_of(text)
    assert step.wanted.item == step.item
    assert step.wanted.scope == step.scope
    assert step.wanted.asked == step.asked


def test_words_that_only_the_question_reads_are_kept():
    wanted = step_of("when did you first see the mug?").wanted
    assert wanted.occurrence is Occurrence.FIRST
    assert wanted.past
    assert wanted.text == step_of("when did you first see the mug?").question


def test_it_stands_for_what_the_directive_named():
    steps = parse_directive("find the mug and check whether it is empty").steps
    assert steps[-1].wanted.item.phrase == "mug"


def test_a_remembered_place_asks_where_the_thing_was_last_seen():
    step = step_of("go back to where you saw the red mug in the kitchen")
    assert step.kind is StepKind.GO and step.is_remembered
    assert (step.wanted.kind, step.wanted.occurrence) == (QuestionKind.WHERE, Occurrence.LAST)
    assert (step.wanted.item, step.wanted.scope, step.wanted.past) == (step.item, step.scope, True)
    assert not step_of("go to the kitchen").is_remembered


@pytest.mark.parametrize(
    "text", ["find the mug", "go to the kitchen", "wait for a minute", "explore the building", "come back"]
)
def test_a_step_that_acts_asks_for_nothing(text):
    assert step_of(text).wanted is None

"""Tests of conversions of memory questions and answers, in both directions."""

from __future__ import annotations

import math

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from dataclasses import fields, replace

from lodestar.language.chart import read_data
from lodestar.language.grammar import parse_directive
from lodestar.language.items import Item, Pose
from lodestar.language.question import AnswerType, Occurrence, Question, QuestionKind
from lodestar.language.question_reader import read_question
from lodestar.language.time_windows import Act, TimeBasis
from lodestar.memory.answer import Answer, AnswerPlace, AnswerValue, Proof, ProofKind
from lodestar_interfaces import action, msg
from lodestar_ros import conversions_language as q
from lodestar_ros import conversions_memory as c
from lodestar_ros.conversions import BadMessage
from lodestar_ros.conversions_language import directive_from_msg, directive_to_msg

MUG = read_question("where is the red mug?").item
EVERYTHING = replace(
    read_question("when did you last see the red mug in the kitchen after you entered the hall?"),
    other=MUG,
    pose=Pose(1.0, 2.0, 0.5),
    act=Act("move", False),
    attribute="color",
    here=True,
    image=True,
    confidence=0.5,
)


@pytest.mark.parametrize("text", [*read_data("questions.yaml")["means"]][::4])
def test_a_question_there_and_back(text):
    question = read_question(text)
    back = q.question_from_msg(q.question_to_msg(question))
    assert back == question
    assert back.text == text


def test_every_field_goes_there_and_back():
    back = q.question_from_msg(q.question_to_msg(EVERYTHING))
    for field in fields(Question):
        assert getattr(back, field.name) == getattr(EVERYTHING, field.name), field.name
    assert q.question_from_msg(q.question_to_msg(replace(EVERYTHING, item=Item()))).item is not None


def test_the_numbers_of_the_message_are_those_of_the_records():
    for kinds, prefix, message in (
        (QuestionKind, "KIND_", msg.MemoryQuestion),
        (AnswerType, "ANSWER_", msg.MemoryQuestion),
        (Occurrence, "OCCURRENCE_", msg.MemoryQuestion),
        (TimeBasis, "BASIS_", msg.TimePoint),
        (ProofKind, "KIND_", msg.Evidence),
    ):
        for kind in kinds:
            assert getattr(message, prefix + kind.name) == int(kind)


def test_a_step_carries_its_question():
    directive = parse_directive("find the mug, then count the chairs. When did you last see the dog?")
    back = directive_from_msg(directive_to_msg(directive))
    assert [step.wanted for step in back.steps] == [step.wanted for step in directive.steps]
    assert back.steps[-1].wanted.occurrence is Occurrence.LAST


@pytest.mark.parametrize(
    ("field", "value"),
    [("kind", 99), ("answer", 99), ("occurrence", 99), ("confidence", 2.0), ("confidence", math.nan)],
)
def test_a_bad_question_is_a_bad_message(field, value):
    message = q.question_to_msg(EVERYTHING)
    setattr(message, field, value)
    with pytest.raises(BadMessage):
        q.question_from_msg(message)


def test_a_bad_time_is_a_bad_message():
    message = q.question_to_msg(EVERYTHING)
    message.window.begin[0].seconds = math.inf
    with pytest.raises(BadMessage, match="finite"):
        q.question_from_msg(message)
    message.window.begin[0].seconds = 0.0
    message.window.begin[0].basis = 77
    with pytest.raises(BadMessage):
        q.question_from_msg(message)


ANSWER = Answer(
    EVERYTHING,
    "The red mug was last seen 8 minutes ago on the table.",
    AnswerValue(
        AnswerType.TIME,
        (AnswerPlace(np.array([1.0, 2.0, 0.75]), (0.5, 2.0, 1.5)), AnswerPlace(np.array([4.0, 5.0, 0.5]))),
        ((100.25, 101.5), (7.0, 8.0)),
        3.0,
        names=("red mug", "table"),
    ),
    0.75,
    (Proof(ProofKind.KEYFRAME, 5, 100.25, np.array([1.0, 2.0, 0.0]), "a red mug", 0.5, "run one"),),
    101.5,
    0.5,
    "find the red mug",
)


def test_an_answer_there_and_back():
    back = c.answer_from_result(c.answer_to_result(ANSWER, 200.0))
    assert back.sentence == ANSWER.sentence
    assert back.question == ANSWER.question
    assert back.value.times == ANSWER.value.times
    assert back.value.names == ("red mug", "table")
    assert (back.value.type, back.value.number, back.value.yes) == (AnswerType.TIME, 3.0, None)
    for own, other in zip(back.value.places, ANSWER.value.places, strict=True):
        assert np.array_equal(own.centre, other.centre)
        assert own.viewpoint == (None if other.viewpoint is None else pytest.approx(other.viewpoint))
    assert (back.confidence, back.last_verified, back.coverage) == (0.75, 101.5, 0.5)
    assert back.directive == "find the red mug"
    (proof,) = back.proof
    assert (proof.kind, proof.id, proof.stamp) == (ProofKind.KEYFRAME, 5, 100.25)
    assert proof.session == "run one"
    assert (proof.text, proof.score) == ("a red mug", 0.5)


def test_what_is_not_known_stays_so():
    unknown = Answer(EVERYTHING, "I do not know.", AnswerValue(AnswerType.YES_NO), 0.0)
    result = c.answer_to_result(unknown, 200.0)
    assert math.isnan(result.number)
    assert math.isnan(result.coverage)
    back = c.answer_from_result(result)
    assert (back.value.yes, back.value.number, back.coverage, back.last_verified) == (None, None, None, None)
    assert not back.is_known


def test_a_yes_and_a_no_are_told_apart():
    for yes in (True, False):
        answer = Answer(EVERYTHING, "So.", AnswerValue(AnswerType.YES_NO, yes=yes), 0.5, ANSWER.proof)
        assert c.answer_from_result(c.answer_to_result(answer, 1.0)).value.yes is yes


def test_a_bad_answer_is_a_bad_message():
    for change in (
        lambda r: r.times.pop(),
        lambda r: r.viewpoints.pop(),
        lambda r: setattr(r, "answer_type", 9),
        lambda r: setattr(r, "understood", []),
        lambda r: setattr(r, "answer", ""),
        lambda r: setattr(r.evidence[0], "kind", 9),
        lambda r: setattr(r, "confidence", 7.0),
    ):
        result = c.answer_to_result(ANSWER, 200.0)
        for name in ("times", "viewpoints"):
            setattr(result, name, list(getattr(result, name)))
        change(result)
        with pytest.raises(BadMessage):
            c.answer_from_result(result)


def test_codes_are_in_the_range_of_answers():
    result = action.AnswerQuestion.Result
    codes = [result.EMPTY_QUESTION, result.NOT_UNDERSTOOD, result.WRONG_MAP, result.CANCELLED, result.UNKNOWN]
    assert len(set(codes)) == len(codes)
    assert all(11220 <= code < 11240 for code in codes)

"""Tests of claims that an answer record must not make."""

from __future__ import annotations

import math

import numpy as np
import pytest

from lodestar.language.question import AnswerType, Question, QuestionKind
from lodestar.memory.answer import Answer, AnswerPlace, AnswerValue, Proof, ProofKind

IS_THERE = Question(QuestionKind.IS_THERE, AnswerType.YES_NO)
PROOF = (Proof(ProofKind.ENTITY, 7, 12.0, np.zeros(3)),)


def test_a_denial_needs_proof_or_coverage():
    no = AnswerValue(AnswerType.YES_NO, yes=False)
    with pytest.raises(ValueError, match="denial"):
        Answer(IS_THERE, "No.", no, 0.9)
    assert Answer(IS_THERE, "No.", no, 0.9, PROOF).is_known
    assert Answer(IS_THERE, "Not seen; 80 % of the floor was looked at.", no, 0.9, coverage=0.8).is_known


@pytest.mark.parametrize(
    "value",
    [
        AnswerValue(AnswerType.YES_NO),
        AnswerValue(AnswerType.PLACE),
        AnswerValue(AnswerType.TIME),
        AnswerValue(AnswerType.NUMBER),
        AnswerValue(AnswerType.DURATION),
    ],
)
def test_what_has_no_value_is_not_known(value):
    assert not Answer(IS_THERE, "I do not know.", value, 0.5).is_known


def test_a_text_is_known_by_its_sentence_and_nothing_of_confidence_0_is():
    text = AnswerValue(AnswerType.TEXT)
    assert Answer(IS_THERE, "It is red.", text, 0.5).is_known
    assert not Answer(IS_THERE, "I do not know.", text, 0.0).is_known


@pytest.mark.parametrize(
    "make",
    [
        lambda: AnswerValue(AnswerType.TIME, times=((2.0, 1.0),)),
        lambda: AnswerValue(AnswerType.TIME, times=((math.nan, 1.0),)),
        lambda: AnswerValue(AnswerType.NUMBER, number=math.inf),
        lambda: AnswerPlace(np.array([0.0, math.nan, 0.0])),
        lambda: AnswerPlace(np.zeros(2)),
        lambda: Answer(IS_THERE, " ", AnswerValue(AnswerType.TEXT), 0.5),
        lambda: Answer(IS_THERE, "Yes.", AnswerValue(AnswerType.TEXT), 1.5),
        lambda: Answer(IS_THERE, "Yes.", AnswerValue(AnswerType.TEXT), 0.5, coverage=-0.1),
    ],
)
def test_impossible_values_are_refused(make):
    with pytest.raises(ValueError, match=r"need|from 0 to 1|finite"):
        make()

"""Tests of the delayed reasoner: callers get an answer at once, and the slow one when it is ready."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from lodestar.language.directive import Task
from lodestar.language.grammar import parse_directive
from lodestar.language.reasoner import RankRequest
from lodestar.language.views import ViewAnswer, ViewQuestion
from lodestar_eval.delayed import DelayedReasoner


@dataclass
class Candidate:
    entity_id: int
    score: float
    semantic_score: float = 0.0
    explanation: str = ""


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


class Viewer:
    """Reasoner that records the times of its calls."""

    sees = False

    def begin_task(self):
        self.forgotten = True

    def judge_view(self, question):
        return ViewAnswer(question, {}, f"asked at {question.stamp:.0f}")


def question(stamp: float, target: str = "mug") -> ViewQuestion:
    return ViewQuestion(stamp, np.zeros(3), target, (), (), ())


@pytest.fixture
def clock() -> Clock:
    return Clock()


def asked(reasoner: DelayedReasoner, clock: Clock, at: float, image: float, target: str = "mug") -> str:
    clock.now = at
    answer = reasoner.judge_view(question(image, target))
    return "" if answer is None else answer.action


def test_a_view_is_answered_when_the_time_for_it_has_passed(clock):
    reasoner = DelayedReasoner(2.0, clock, Viewer())
    assert asked(reasoner, clock, 0.0, 0.0) == asked(reasoner, clock, 1.9, 0.0) == ""
    assert asked(reasoner, clock, 2.0, 0.0) == "asked at 0"
    assert asked(reasoner, clock, 3.0, 3.0) == "", "another image"
    assert asked(reasoner, clock, 4.0, 4.0) == "", "takes the place of the one before"
    assert asked(reasoner, clock, 5.0, 4.0) == ""
    assert asked(reasoner, clock, 6.0, 4.0) == "asked at 4"
    assert asked(reasoner, clock, 6.0, 4.0, "sink") == "", "another question has its own answer"


def test_an_answer_of_another_task_is_not_used(clock):
    reasoner = DelayedReasoner(2.0, clock, Viewer())
    asked(reasoner, clock, 0.0, 0.0)
    reasoner.begin_task()
    assert asked(reasoner, clock, 2.0, 0.0) == ""


def test_ranks_are_the_slow_ones_first_and_then_what_is_new(clock):
    reasoner = DelayedReasoner(20.0, clock)
    task = Task(parse_directive("find the mug").steps[0])
    assert [j.entity_id for j in reasoner.rank(RankRequest([Candidate(1, 0.4)], task))] == [1]
    clock.now = 20.0
    ranked = reasoner.rank(RankRequest([Candidate(2, 0.9), Candidate(1, 0.4)], task))
    assert [j.entity_id for j in ranked] == [1, 2], "what the slow answer knows comes first"
    assert reasoner.rank(RankRequest([], task)) == []

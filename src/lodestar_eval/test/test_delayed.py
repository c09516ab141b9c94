"""A reasoner that takes its time: who asks gets an answer at once, and the slow one when it is there."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from lodestar.language.directive import Task
from lodestar.language.grammar import parse_directive
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
    """Says when it was asked."""

    def begin_task(self):
        self.forgotten = True

    def judge_view(self, question):
        return ViewAnswer(question, {}, f"asked at {question.stamp:.0f}")


def question(stamp: float, target: str = "mug") -> ViewQuestion:
    return ViewQuestion(stamp, np.zeros(3), target, (), (), ())


@pytest.fixture
def clock() -> Clock:
    return Clock()


def asked(reasoner: DelayedReasoner, clock: Clock, at: float, target: str = "mug") -> str:
    clock.now = at
    return reasoner.judge_view(question(at, target)).action


def test_views_are_answered_at_once_and_by_the_slow_answer_when_it_is_there(clock):
    reasoner = DelayedReasoner(20.0, clock, Viewer())
    assert asked(reasoner, clock, 0.0) == "asked at 0", "offline"
    assert asked(reasoner, clock, 5.0) == "asked at 5", "offline, and waiting for its turn"
    assert asked(reasoner, clock, 12.0) == "asked at 12", "takes the place of the one that waits"
    assert asked(reasoner, clock, 20.0) == "asked at 0"
    assert asked(reasoner, clock, 39.0) == "asked at 0"
    assert asked(reasoner, clock, 40.0) == "asked at 12", "thought about from 20 to 40"
    assert asked(reasoner, clock, 40.5, "sink") == "asked at 40", "another question has its own answer"


def test_an_old_answer_and_one_of_another_task_are_not_used(clock):
    reasoner = DelayedReasoner(20.0, clock, Viewer())
    asked(reasoner, clock, 0.0)
    assert asked(reasoner, clock, 20.0) == "asked at 0"
    assert asked(reasoner, clock, 120.0) != "asked at 0"
    reasoner.begin_task()
    assert asked(reasoner, clock, 121.0) == "asked at 121"


def test_ranks_are_the_slow_ones_first_and_then_what_is_new(clock):
    reasoner = DelayedReasoner(20.0, clock)
    task = Task(parse_directive("find the mug").steps[0])
    assert [j.entity_id for j in reasoner.rank([Candidate(1, 0.4)], task)] == [1]
    clock.now = 20.0
    ranked = reasoner.rank([Candidate(2, 0.9), Candidate(1, 0.4)], task)
    assert [j.entity_id for j in ranked] == [1, 2], "what the slow answer knows comes first"
    assert reasoner.rank([], task) == []

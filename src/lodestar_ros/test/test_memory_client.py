"""Tests of memory requests without DDS: each end gives an outcome, and abandoned requests are cancelled."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import ClassVar

import numpy as np
import pytest

pytest.importorskip("lodestar_interfaces", reason="the workspace is not built")

from rclpy.task import Future

import lodestar_ros.memory_client as module
from lodestar.language.grammar import parse_directive
from lodestar.language.question_reader import read_question
from lodestar.language.time_windows import TimeBasis, TimePoint, TimeWindow
from lodestar.memory.answer import (
    Answer,
    AnswerCode,
    AnswerOutcome,
    AnswerPlace,
    AnswerValue,
    Proof,
    ProofKind,
)
from lodestar_interfaces.action import AnswerQuestion
from lodestar_ros import ticket_client
from lodestar_ros.conversions import BadMessage, stamp_from_msg
from lodestar_ros.conversions_memory import outcome_from_result, outcome_to_result

QUESTION = read_question("where did you last see the red mug?")


class Handle:
    accepted = True

    def __init__(self):
        self.result = Future()

    def get_result_async(self):
        return self.result


class Sent:
    """Fake SentGoal."""

    made: ClassVar[list[Sent]] = []
    clock = SimpleNamespace(now=0.0)

    def __init__(self, client, action, goal, on_feedback):
        self.goal, self.answer, self.cancelled = goal, Future(), False
        self.began = self.clock.now
        Sent.made.append(self)

    def cancel(self):
        self.cancelled = True

    def seek(self):
        return 0.0 if self.answer.done() else self.clock.now - self.began

    def accept(self, accepted=True):
        handle = Handle()
        handle.accepted = accepted
        self.answer.set_result(handle)
        return handle


@pytest.fixture
def bench(monkeypatch):
    clock, client = SimpleNamespace(now=100.0), SimpleNamespace(ready=True)
    client.server_is_ready = lambda: client.ready
    Sent.made = []
    monkeypatch.setattr(ticket_client, "ActionClient", lambda node, kind, name: client)
    monkeypatch.setattr(ticket_client, "SentGoal", Sent)
    monkeypatch.setattr(Sent, "clock", clock)
    heard = []
    memory = module.memory_client(None, lambda ticket, outcome: heard.append((ticket, outcome)))
    ask = lambda ticket: memory.send(ticket, module.goal_of(QUESTION))  # noqa: E731
    return SimpleNamespace(memory=memory, ask=ask, heard=heard, clock=clock, client=client, sent=Sent.made)


def answer():
    value = AnswerValue(QUESTION.answer, (AnswerPlace(np.array([1.0, 2.0, 0.5]), (0.5, 2.0, 0.0)),))
    proof = (Proof(ProofKind.ENTITY, 7, 4.0, np.array([1.0, 2.0, 0.5]), "red mug"),)
    return Answer(QUESTION, "It is on the desk.", value, 0.8, proof, 4.0, 0.5, "find the red mug")


def said(outcome):
    return SimpleNamespace(result=outcome_to_result(outcome))


def test_an_answer_reaches_the_loop_with_its_ticket(bench):
    bench.ask(5)
    handle = bench.sent[0].accept()
    bench.memory.check()
    handle.result.set_result(said(AnswerOutcome(AnswerCode.NONE, answer(), stamp=9.0)))
    ((ticket, outcome),) = bench.heard
    assert ticket == 5 and outcome.is_known and outcome.answer.proof[0].id == 7
    assert outcome.answer.value.places[0].viewpoint == pytest.approx((0.5, 2.0, 0.0))
    bench.client.ready = False
    bench.memory.check()
    assert len(bench.heard) == 1


def test_a_memory_that_is_not_there_refuses_or_goes_away_is_an_outcome(bench):
    bench.client.ready = False
    bench.ask(1)
    bench.client.ready = True
    bench.ask(2)
    bench.sent[0].accept(False)
    bench.ask(3)
    bench.sent[1].accept()
    bench.client.ready = False
    bench.memory.check()
    assert [ticket for ticket, _ in bench.heard] == [1, 2, 3]
    assert [outcome.is_known for _, outcome in bench.heard] == [False] * 3
    assert [
        next(word for word in ("not up", "refused", "went away") if word in outcome.why)
        for _, outcome in bench.heard
    ] == ["not up", "refused", "went away"]


def test_a_question_that_nobody_takes_is_given_up_and_cancelled(bench):
    bench.ask(1)
    bench.memory.check()
    assert not bench.heard
    bench.clock.now += ticket_client.ACCEPT_PATIENCE + 0.1
    bench.memory.check()
    assert bench.heard[0][0] == 1 and "takes no goals" in bench.heard[0][1].why and bench.sent[0].cancelled


def test_what_is_withdrawn_or_replaced_is_cancelled_and_its_answer_dropped(bench):
    bench.ask(1)
    first = bench.sent[0].accept()
    bench.ask(2)
    assert bench.sent[0].cancelled and not bench.sent[1].cancelled
    first.result.set_result(said(AnswerOutcome(AnswerCode.NONE, answer())))
    assert not bench.heard
    bench.memory.cancel(1)
    assert not bench.sent[1].cancelled, "another question is open by now"
    bench.memory.cancel(2)
    bench.sent[1].accept().result.set_result(said(AnswerOutcome(AnswerCode.NONE, answer())))
    assert bench.sent[1].cancelled and not bench.heard


def test_an_answer_that_makes_no_sense_is_an_outcome(bench):
    bench.ask(1)
    bench.sent[0].accept().result.set_result(SimpleNamespace(result=AnswerQuestion.Result()))
    assert "cannot be read" in bench.heard[0][1].why


@pytest.mark.parametrize(
    "outcome",
    [
        AnswerOutcome(AnswerCode.NONE, answer(), stamp=3.0),
        AnswerOutcome(AnswerCode.NO_EVIDENCE, answer(), "I do not know", 3.0),
        AnswerOutcome(AnswerCode.STORE_UNAVAILABLE, why="the folder is locked", stamp=3.0),
    ],
)
def test_an_outcome_reads_back(outcome):
    back = outcome_from_result(outcome_to_result(outcome), 3.0)
    assert (back.code, back.why, back.sentence) == (outcome.code, outcome.why, outcome.sentence)
    assert (back.answer is None) == (outcome.answer is None)
    if back.answer is not None:
        assert back.answer.directive == "find the red mug" and back.answer.question == QUESTION


def test_a_code_that_nobody_knows_is_a_bad_message():
    with pytest.raises(BadMessage):
        outcome_from_result(AnswerQuestion.Result(error_code=4711))


@pytest.mark.parametrize(
    "text",
    [
        "where did you last see the red mug?",
        "check whether the stove is off",
        "check whether the mug is red",
        "is there a person in the kitchen?",
        "is the door open or closed?",
        "find the mug and check whether it is on the table",
        "go to where you last saw the red chair in the office",
        "what did you do?",
    ],
)
def test_the_words_of_a_goal_read_as_the_typed_question(text):
    wanted = parse_directive(text).steps[-1].wanted
    assert read_question(module.goal_of(wanted).question) == wanted


def test_a_window_of_stamps_goes_beside_the_words():
    recent = replace(QUESTION, window=TimeWindow(TimePoint(TimeBasis.STAMP, 60.0)))
    goal = module.goal_of(recent)
    assert stamp_from_msg(goal.from_stamp) == 60.0 and stamp_from_msg(goal.to_stamp) == 0.0
    assert goal.question == "where did you last see the red mug?"

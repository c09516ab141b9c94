"""Tests of skills over `run_skill`, without DDS: each end is reported once, and abandoned goals are cancelled."""

from __future__ import annotations

from types import SimpleNamespace
from typing import ClassVar

import pytest

pytest.importorskip("lodestar_interfaces", reason="the workspace is not built")

from rclpy.task import Future

import lodestar_ros.skill_client as module
from lodestar.agent.errands.commands import SkillEnd
from lodestar.worldmodel.records import Action, Expectation, Phase, Skill, Trace
from lodestar_interfaces.action import RunSkill as RunSkillAction
from lodestar_ros import ticket_client

PICK = Trace("t/1", 1, 1.0, "skill", Action(Skill("Pick"), ("entity:7",)), Expectation(Phase.AT), 1.0)
Result = RunSkillAction.Result


class Sent:
    """Fake SentGoal."""

    made: ClassVar[list[Sent]] = []
    clock = SimpleNamespace(now=0.0)

    def __init__(self, client, action, goal, on_feedback):
        self.goal, self.answer, self.cancelled, self.result = goal, Future(), False, Future()
        self.began = self.clock.now
        Sent.made.append(self)

    def cancel(self):
        self.cancelled = True

    def seek(self):
        return 0.0 if self.answer.done() else self.clock.now - self.began

    def accept(self, accepted=True):
        self.answer.set_result(SimpleNamespace(accepted=accepted, get_result_async=lambda: self.result))
        return self

    def end(self, code=Result.NONE, why=""):
        self.result.set_result(SimpleNamespace(result=Result(error_code=code, error_msg=why)))


@pytest.fixture
def bench(monkeypatch):
    clock, client = SimpleNamespace(now=100.0), SimpleNamespace(ready=True)
    client.server_is_ready = lambda: client.ready
    Sent.made = []
    monkeypatch.setattr(ticket_client, "ActionClient", lambda node, kind, name: client)
    monkeypatch.setattr(ticket_client, "SentGoal", Sent)
    monkeypatch.setattr(Sent, "clock", clock)
    heard: list[tuple[int, SkillEnd]] = []
    skills = module.skill_client(None, lambda ticket, end: heard.append((ticket, end)))
    run = lambda ticket: skills.send(ticket, module.goal_of(PICK))  # noqa: E731
    return SimpleNamespace(skills=skills, run=run, heard=heard, clock=clock, client=client, sent=Sent.made)


def test_a_skill_travels_with_its_arguments_and_its_end_comes_back(bench):
    bench.run(5)
    assert bench.sent[0].goal.trace.skill == "Pick" and list(bench.sent[0].goal.trace.arguments) == [
        "entity:7"
    ]
    bench.sent[0].accept().end()
    assert bench.heard == [(5, SkillEnd(True))]


@pytest.mark.parametrize(
    ("code", "why", "told"),
    [(Result.FAILED, "stuck", "stuck"), (Result.UNKNOWN, "", "error code"), (Result.NONE, "odd", "odd")],
)
def test_a_code_or_a_reason_is_a_failure(bench, code, why, told):
    bench.run(5)
    bench.sent[0].accept().end(code, why)
    ((ticket, end),) = bench.heard
    assert ticket == 5 and not end.done and told in end.why


def test_nobody_there_refused_and_broken_are_told(bench):
    bench.client.ready = False
    bench.run(1)
    bench.client.ready = True
    bench.run(2)
    bench.sent[0].accept(False)
    bench.run(3)
    bench.sent[1].accept().result.set_exception(RuntimeError("gone"))
    bench.run(4)
    bench.sent[2].answer.set_exception(RuntimeError("no"))
    assert [ticket for ticket, _ in bench.heard] == [1, 2, 3, 4] and not any(e.done for _, e in bench.heard)
    assert "run_skill" in bench.heard[0][1].why


def test_a_node_that_does_not_accept_or_goes_away_is_told_once(bench):
    bench.run(1)
    bench.clock.now += 1.0
    bench.skills.check()
    assert not bench.heard
    bench.clock.now += ticket_client.ACCEPT_PATIENCE
    bench.skills.check()
    bench.skills.check()
    assert [ticket for ticket, _ in bench.heard] == [1] and bench.sent[0].cancelled
    bench.run(2)
    bench.sent[1].accept()
    bench.clock.now += 600.0
    bench.skills.check()
    bench.client.ready = False
    bench.skills.check()
    assert [ticket for ticket, _ in bench.heard] == [1, 2] and "went away" in bench.heard[1][1].why
    bench.sent[1].end()
    assert len(bench.heard) == 2


def test_what_is_cancelled_or_replaced_is_stopped_and_its_end_is_not_told(bench):
    bench.run(1)
    bench.skills.cancel(9)
    assert not bench.sent[0].cancelled, "another one's ticket"
    bench.skills.cancel(1)
    bench.sent[0].accept().end()
    bench.run(2)
    bench.run(3)
    bench.sent[1].accept().end()
    bench.skills.stop()
    bench.skills.stop()
    assert [sent.cancelled for sent in bench.sent] == [True, True, True] and bench.heard == []

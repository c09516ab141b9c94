"""Tests of requests to experts, without DDS: a dead expert is not waited for."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from rclpy.task import Future

import lodestar_ros.expert_clients as module
from lodestar.agent.errands.commands import RequestProposals
from lodestar.experts.protocol import ProposalRequest, RejectionReason
from lodestar.language.grammar import parse_directive
from lodestar_interfaces.action import ProposeGoal


class Handle:
    accepted = True

    def __init__(self):
        self.cancelled = False
        self.result = Future()

    def get_result_async(self):
        return self.result

    def cancel_goal_async(self):
        self.cancelled = True


class Client:
    """Fake rclpy action client; `sent` holds one future of a goal handle per request."""

    def __init__(self, node, kind, name):
        self.ready, self.sent = True, []

    def server_is_ready(self):
        return self.ready

    def send_goal_async(self, goal):
        self.sent.append(Future())
        return self.sent[-1]


@pytest.fixture
def bench(monkeypatch):
    clock = SimpleNamespace(now=100.0)
    monkeypatch.setattr(module, "ActionClient", Client)
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: clock.now))
    answers = []
    clients = module.ExpertClients(None, ("frontier",), answers.append)

    def ask(epoch):
        directive = parse_directive("find the mug")
        request = ProposalRequest(
            epoch=epoch, stamp=1.0, directive=directive, step_index=0, robot_pose=np.zeros(3)
        )
        clients.ask(RequestProposals(request, ("frontier",)))

    return SimpleNamespace(
        clock=clock, clients=clients, answers=answers, ask=ask, client=clients._clients["frontier"]
    )


def test_a_question_that_nobody_takes_is_answered_for(bench):
    bench.ask(1)
    bench.clients.check()
    assert not bench.answers
    bench.clock.now += module.ACCEPT_PATIENCE + 0.1
    bench.clients.check()
    (answer,) = bench.answers
    assert (answer.epoch, answer.reason) == (1, RejectionReason.NO_DATA)
    assert "frontier_expert" in answer.message
    bench.clients.check()
    assert len(bench.answers) == 1


def test_who_takes_it_after_all_is_told_to_drop_it(bench):
    bench.ask(1)
    bench.clock.now += module.ACCEPT_PATIENCE + 0.1
    bench.clients.check()
    handle = Handle()
    bench.client.sent[0].set_result(handle)
    assert handle.cancelled and len(bench.answers) == 1


def test_who_goes_away_with_a_question_is_answered_for(bench):
    bench.ask(1)
    handle = Handle()
    bench.client.sent[0].set_result(handle)
    bench.clients.check()
    assert not bench.answers
    bench.client.ready = False
    bench.clients.check()
    (answer,) = bench.answers
    assert (answer.epoch, answer.reason) == (1, RejectionReason.NO_DATA)
    bench.client.ready = True
    bench.ask(2)
    assert len(bench.client.sent) == 2 and not handle.cancelled


def test_an_answer_reaches_the_loop_once(bench):
    bench.ask(3)
    handle = Handle()
    bench.client.sent[0].set_result(handle)
    bench.clock.now += 60.0  # a live expert may take long
    bench.clients.check()
    result = ProposeGoal.Result(error_code=RejectionReason.EXPLORED.value, error_msg="nothing left")
    handle.result.set_result(SimpleNamespace(result=result))
    bench.client.ready = False
    bench.clients.check()
    (answer,) = bench.answers
    assert (answer.epoch, answer.reason) == (3, RejectionReason.EXPLORED)

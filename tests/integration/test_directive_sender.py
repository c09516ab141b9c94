"""A directive whose answer is lost ends for its sender: by its result where there is one, else by a sentence."""

from __future__ import annotations

import time

import pytest
import rclpy
from rclpy.action import ActionServer, GoalResponse
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor

from integration.test_sent_goal import Mute
from lodestar_interfaces.action import FollowDirective
from lodestar_interfaces.msg import Heartbeat
from lodestar_ros import directive_sender, qos
from lodestar_ros.directive_sender import DirectiveSender, GoalEars
from lodestar_ros.node import LodestarNode

PATIENCE = 3.0  # s for an answer, here


class Selector:
    """A goal selector with a heartbeat whose answers to goals are lost, and the sender; spun by hand."""

    def __init__(self, domain: int, accepts: bool) -> None:
        self.context = Context()
        rclpy.init(context=self.context, domain_id=domain)
        self.node = LodestarNode("desk", context=self.context)
        self.executor = SingleThreadedExecutor(context=self.context)
        self.executor.add_node(self.node)
        self.server = ActionServer(
            self.node, FollowDirective, "follow_directive", self._follow,
            goal_callback=lambda _: GoalResponse.ACCEPT if accepts else GoalResponse.REJECT,
        )  # fmt: skip
        self.server._handle = Mute(self.server._handle)
        self.beats = self.node.create_publisher(Heartbeat, "heartbeat", qos.COMMAND)
        self.results: list[FollowDirective.Result] = []
        self.failures: list[str] = []
        self.sender = DirectiveSender(self.node)
        self.ears = GoalEars(lambda feedback: None, self.results.append, self.failures.append)

    @staticmethod
    def _follow(handle):
        handle.succeed()
        return FollowDirective.Result(success=True, report="Stopped.")

    def until(self, condition, seconds=20.0):
        end = time.monotonic() + seconds
        while not condition() and time.monotonic() < end:
            self.beats.publish(Heartbeat(start_id="one"))
            self.executor.spin_once(timeout_sec=0.05)
        assert condition()

    def close(self):
        self.executor.shutdown(timeout_sec=1.0)
        self.node.destroy_node()
        self.context.try_shutdown()


@pytest.fixture
def open_selector(domain, monkeypatch):
    monkeypatch.setattr(directive_sender, "RECEIPT_TIMEOUT", PATIENCE)
    opened = []

    def open_one(accepts: bool) -> Selector:
        opened.append(Selector(domain, accepts))
        return opened[-1]

    yield open_one
    for one in opened:
        one.close()


def test_a_stop_whose_answer_is_lost_is_reported(open_selector):
    selector = open_selector(True)
    selector.sender.send(FollowDirective.Goal(text="stop"), selector.ears)
    selector.until(lambda: selector.results or selector.failures)
    assert [result.report for result in selector.results] == ["Stopped."]
    assert not selector.failures and selector.sender.active == 0


def test_a_directive_that_nobody_answers_is_given_up_in_words(open_selector):
    selector = open_selector(False)
    selector.sender.send(FollowDirective.Goal(text="find the red chair"), selector.ears)
    selector.until(lambda: selector.results or selector.failures)
    assert not selector.results and selector.sender.active == 0
    assert "did not answer within 3 s; say it again" in selector.failures[0]

"""Tests of a directive whose answer is lost: the sender gets its result if there is one, else an error message."""

from __future__ import annotations

import pytest
import rclpy
from rclpy.action import ActionServer, GoalResponse
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from waiting import PATIENCE, wait_for

from integration.test_sent_goal import Mute
from lodestar_interfaces.action import FollowDirective
from lodestar_interfaces.msg import Heartbeat
from lodestar_ros import directive_sender, qos
from lodestar_ros.directive_sender import DirectiveSender, GoalEars
from lodestar_ros.node import LodestarNode

ANSWERS = 3.0  # s, timeout for an answer that does not come


class Selector:
    """Fake goal selector with a heartbeat that loses its answers to goals, and a sender; spun manually."""

    def __init__(self, accepts: bool) -> None:
        self.context = Context()
        rclpy.init(context=self.context)
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

    def until(self, condition, what):
        def spun():
            self.beats.publish(Heartbeat(start_id="one"))
            self.executor.spin_once(timeout_sec=0.05)
            return condition()

        wait_for(spun, what, every=0.0)

    def close(self):
        self.executor.shutdown(timeout_sec=1.0)
        self.node.destroy_node()
        self.context.try_shutdown()


@pytest.fixture
def open_selector(monkeypatch):
    opened = []

    def open_one(accepts: bool) -> Selector:
        monkeypatch.setattr(directive_sender, "RECEIPT_TIMEOUT", PATIENCE if accepts else ANSWERS)
        opened.append(Selector(accepts))
        return opened[-1]

    yield open_one
    for one in opened:
        one.close()


def test_a_stop_whose_answer_is_lost_is_reported(open_selector):
    selector = open_selector(True)
    selector.sender.send(FollowDirective.Goal(text="stop"), selector.ears)
    selector.until(lambda: selector.results or selector.failures, "its end")
    assert [result.report for result in selector.results] == ["Stopped."]
    assert not selector.failures and selector.sender.active == 0


def test_a_directive_that_nobody_answers_is_given_up_in_words(open_selector):
    selector = open_selector(False)
    selector.sender.send(FollowDirective.Goal(text="find the red chair"), selector.ears)
    selector.until(lambda: selector.results or selector.failures, "its end")
    assert not selector.results and selector.sender.active == 0
    assert "did not answer within 3 s; say it again" in selector.failures[0]

"""Tests that a goal whose answer is lost can still be tracked and cancelled, with a real server over DDS."""

from __future__ import annotations

import time
from types import SimpleNamespace

import pytest
import rclpy
from nav2_msgs.action import NavigateToPose
from rclpy.action import ActionClient, ActionServer, CancelResponse, GoalResponse
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from waiting import Moment, wait_for

from lodestar.agent.errands.commands import NavigationKind
from lodestar_ros import nav2_client
from lodestar_ros.nav2_client import Nav2Client, Nav2Config
from lodestar_ros.sent_goal import ASK_AGAIN, SentGoal


class Mute:
    """Wrapper of an action server's handle that loses answers to goals."""

    def __init__(self, handle):
        self._handle = handle

    def __getattr__(self, name):
        return getattr(self._handle, name)

    def __enter__(self):
        return self._handle.__enter__()

    def __exit__(self, *error):
        return self._handle.__exit__(*error)

    def send_goal_response(self, header, response):
        """Drop the answer."""


class Desk:
    """Fake navigator that keeps one goal active until cancelled, with a client; spun manually."""

    def __init__(self, loses_answers):
        self.context = Context()
        rclpy.init(context=self.context)
        self.node = Node("desk", context=self.context)
        self.executor = SingleThreadedExecutor(context=self.context)
        self.executor.add_node(self.node)
        self.goal, self.accepts, self.cancelled = None, True, 0
        self.server = ActionServer(
            self.node, NavigateToPose, "navigate_to_pose", lambda handle: NavigateToPose.Result(),
            goal_callback=lambda _: GoalResponse.ACCEPT if self.accepts else GoalResponse.REJECT,
            handle_accepted_callback=lambda handle: setattr(self, "goal", handle),
            cancel_callback=self._on_cancel,
        )  # fmt: skip
        if loses_answers:
            self.server._handle = Mute(self.server._handle)
        self.client = ActionClient(self.node, NavigateToPose, "navigate_to_pose")
        self.until(self.client.server_is_ready)

    def _on_cancel(self, _):
        self.cancelled += 1
        return CancelResponse.ACCEPT

    def until(self, condition):
        wait_for(
            lambda: self.executor.spin_once(timeout_sec=0.05) or condition(), "what the desk hears", every=0.0
        )

    def close(self):
        self.executor.shutdown(timeout_sec=1.0)
        self.node.destroy_node()
        self.context.try_shutdown()


@pytest.fixture
def open_desk():
    desks = []

    def opened(loses_answers):
        desks.append(Desk(loses_answers))
        return desks[-1]

    yield opened
    for desk in desks:
        desk.close()


@pytest.fixture(params=[False, True], ids=["answered", "answers lost"])
def desk(request, open_desk):
    return open_desk(request.param)


@pytest.fixture
def mute_desk(open_desk):
    return open_desk(True)


def test_feedback_stands_in_for_a_lost_answer_and_the_result_comes(desk):
    heard = []
    sent = SentGoal(desk.client, NavigateToPose, NavigateToPose.Goal(), heard.append)
    desk.until(lambda: desk.goal is not None)
    desk.goal.publish_feedback(NavigateToPose.Feedback(distance_remaining=3.0))
    desk.until(lambda: sent.answer.done() and heard)
    assert sent.answer.result().accepted
    assert [message.feedback.distance_remaining for message in heard] == [3.0]
    result = sent.answer.result().get_result_async()
    desk.goal.execute(lambda handle: handle.succeed() or NavigateToPose.Result(error_msg="there"))
    desk.until(result.done)
    assert result.result().result.error_msg == "there"


def test_the_result_of_a_goal_whose_answer_is_lost_is_asked_for(desk):
    """The client requests the result, because a goal that ends at once, like "stop", sends no feedback."""
    sent = SentGoal(desk.client, NavigateToPose, NavigateToPose.Goal(), lambda _: None)
    desk.until(lambda: desk.goal is not None)
    desk.goal.execute(lambda handle: handle.succeed() or NavigateToPose.Result(error_msg="there"))
    if not sent.answer.done():
        began = Moment.now()
        desk.until(lambda: sent.seek() == 0.0)
        assert began.passed() < 3 * ASK_AGAIN
    result = sent.answer.result().get_result_async()
    desk.until(result.done)
    assert result.result().result.error_msg == "there"


def test_a_goal_that_a_server_does_not_have_stays_without_an_answer(mute_desk):
    mute_desk.accepts = False
    sent = SentGoal(mute_desk.client, NavigateToPose, NavigateToPose.Goal(), lambda _: None)
    end = time.monotonic() + 2.5 * ASK_AGAIN  # time for two requests
    mute_desk.until(lambda: sent.seek() > 0.0 and time.monotonic() > end)
    assert not sent.answer.done()
    began = Moment.now()
    assert sent.wait(lambda future, seconds: False, 5.0) is False
    assert began.passed() < 1.0, "a wait that returns early is obeyed"


def test_a_goal_without_any_word_of_it_can_be_taken_back(desk):
    sent = SentGoal(desk.client, NavigateToPose, NavigateToPose.Goal(), lambda _: None)
    desk.until(lambda: desk.goal is not None)
    sent.cancel()
    desk.until(lambda: desk.cancelled == 1)
    assert desk.goal.is_cancel_requested


def test_a_refusal_is_no_acceptance(open_desk):
    desk = open_desk(False)
    desk.accepts = False
    sent = SentGoal(desk.client, NavigateToPose, NavigateToPose.Goal(), lambda _: None)
    desk.until(sent.answer.done)
    assert not sent.answer.result().accepted


def test_a_navigator_whose_answer_is_lost_is_followed_by_its_feedback(mute_desk):
    events = []
    client = Nav2Client(mute_desk.node, events.append)
    mute_desk.until(lambda: client.available)
    client.send(7, (1.0, 2.0, 0.0), 0.0)
    mute_desk.until(lambda: mute_desk.goal is not None)
    mute_desk.goal.publish_feedback(NavigateToPose.Feedback(distance_remaining=3.0))
    mute_desk.until(lambda: len(events) == 2)
    assert [event.kind for event in events] == [NavigationKind.ACCEPTED, NavigationKind.FEEDBACK]
    assert {event.epoch for event in events} == {7}


def test_a_navigator_that_never_answers_is_told_to_stop(mute_desk, monkeypatch):
    events = []
    client = Nav2Client(mute_desk.node, events.append, Nav2Config(answer_timeout=5.0))
    mute_desk.until(lambda: client.available)
    client.send(7, (1.0, 2.0, 0.0), 0.0)
    mute_desk.until(lambda: mute_desk.goal is not None)
    now = time.monotonic()
    monkeypatch.setattr(nav2_client, "time", SimpleNamespace(monotonic=lambda: now + 6.0))
    client.check()
    assert [event.kind for event in events] == [NavigationKind.UNAVAILABLE]
    mute_desk.until(lambda: mute_desk.cancelled == 1)


def test_a_stop_reaches_a_navigator_whose_answer_was_lost(mute_desk):
    client = Nav2Client(mute_desk.node, lambda event: None)
    mute_desk.until(lambda: client.available)
    client.send(7, (1.0, 2.0, 0.0), 0.0)
    mute_desk.until(lambda: mute_desk.goal is not None)
    client.cancel()
    mute_desk.until(lambda: mute_desk.cancelled == 1)

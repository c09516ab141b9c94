"""Tests that nodes survive clock jumps, restarted inputs, and errors in callbacks."""

from __future__ import annotations

import ast
import time
from functools import partial
from pathlib import Path
from threading import Event, Thread, current_thread
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from waiting import PATIENCE, wait_for

pytest.importorskip("rclpy", reason="ROS 2 is not installed")
pytest.importorskip("lodestar_interfaces", reason="the workspace is not built")

import rclpy
from rclpy.action import ActionClient, ActionServer
from rclpy.task import Future
from std_msgs.msg import Header
from std_srvs.srv import Trigger

from lodestar_interfaces.action import AnswerQuestion
from lodestar_ros import executors, qos
from lodestar_ros.clocks import WallClockWatch
from lodestar_ros.diagnostics import InputConfig, InputMonitor
from lodestar_ros.frame_tree import Cause, TransformUnavailable
from lodestar_ros.node import LodestarNode
from lodestar_ros.sync import Companions, PoseQueue, StampPairer
from lodestar_ros.workers import Mailbox

SOURCE = Path(__file__).resolve().parents[2]
STEPS = st.lists(
    st.one_of(st.floats(0.0, 0.5), st.sampled_from([-3600.0, -100.0, -1.0, 30.0, 3600.0])), max_size=60
)


class Pairs(StampPairer):
    """Pairer under test, in which every fifth image gets a partner, 0.4 s later."""

    def __init__(self):
        self.done, self._count = [], 0
        super().__init__(("depth", "segmented"), lambda stamp, parts: self.done.append(stamp))

    def use(self, stamp):
        before = len(self.done)
        self.add("depth", stamp, object())
        self._count += 1
        if self._count % 5 == 0:
            self.add("segmented", stamp - 0.4, object())
        return len(self.done) > before


class Queue(PoseQueue):
    """Queue under test, in which each image brings transforms up to the previous image."""

    def __init__(self):
        self.done, self.known = [], 0.0
        super().__init__(self._find, self.done.append, lambda error: None)

    def _find(self, stamp):
        if stamp > self.known:
            raise TransformUnavailable(Cause.FUTURE, "not yet")
        return stamp

    def use(self, stamp):
        before = len(self.done)
        self.add(stamp)
        self.known = stamp
        self.retry()
        return len(self.done) > before


class Beside(Companions):
    def __init__(self):
        self.joins = []
        self.time = 0.0
        super().__init__(lambda item, found: self.joins.append(found is not None), lambda: self.time)

    def use(self, stamp):
        self.time += 0.1
        before = len(self.joins)
        self.add_companion(stamp + 0.01, object())
        self.add(stamp, object())
        return any(self.joins[before:])


class Monitor(InputMonitor):
    def __init__(self):
        super().__init__("depth", InputConfig())

    def use(self, stamp):
        return self.accept(stamp, stamp)


CASES = {"pairs": Pairs, "poses": Queue, "companions": Beside, "input": Monitor}


@settings(max_examples=100, deadline=None)
@given(steps=STEPS)
@pytest.mark.parametrize("name", CASES)
def test_untold_it_works_again_within_seconds(name, steps):
    used, stamp = CASES[name](), 5000.0
    for step in steps:
        stamp = max(stamp + step, 1.0)
        used.use(stamp)
    assert any(used.use(stamp + 0.1 * (k + 1)) for k in range(30))


@settings(max_examples=100, deadline=None)
@given(steps=STEPS)
@pytest.mark.parametrize("name", CASES)
def test_after_a_restart_of_the_clock_nothing_of_before_counts(name, steps):
    used, stamp = CASES[name](), 5000.0
    for step in steps:
        stamp = max(stamp + step, 1.0)
        used.use(stamp)
    used.restart_clock()
    assert any(used.use(2.0 + 0.1 * k) for k in range(10))


def test_every_holder_of_stamps_is_registered_where_a_node_makes_it():
    """Node shells must wrap each instance of a class with `restart_clock`, also from factories, in `timed(...)`."""
    trees = {path: ast.parse(path.read_text()) for path in SOURCE.glob("*/lodestar*/**/*.py")}
    holders = {
        node.name
        for tree in trees.values()
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
        and any(isinstance(one, ast.FunctionDef) and one.name == "restart_clock" for one in node.body)
    }
    known = {
        "StampPairer",
        "PoseQueue",
        "Companions",
        "ImagePicker",
        "PlanChain",
        "Phased",
        "StampRepair",
        "BaseOdometry",
    }
    assert known <= holders
    factories = {
        node.name
        for path, tree in trees.items()
        if "assembly" in path.parts
        for node in tree.body
        if isinstance(node, ast.FunctionDef)
        and isinstance(node.returns, ast.Name | ast.Subscript)
        and ast.unparse(node.returns).split("[")[0] in holders
    }
    # the loop is reached through its thread, which is registered
    names = (holders | factories) - {"decision_loop", "InputMonitor", "Diagnostics", "LodestarNode"}
    missed = []
    for path, tree in trees.items():
        if path.parts[-3] not in ("lodestar_ros", "lodestar_go2") and "nodes" not in path.parts:
            continue
        told = {
            id(argument)
            for call in ast.walk(tree)
            if isinstance(call, ast.Call) and getattr(call.func, "attr", "") == "timed"
            for argument in call.args
        }
        for call in ast.walk(tree):
            if isinstance(call, ast.Call) and id(call) not in told:
                called = getattr(call.func, "attr", getattr(call.func, "id", ""))
                if called in names:
                    missed.append(f"{path.name}:{call.lineno} {called}")
    assert not missed


def test_a_wall_clock_that_is_set_back_is_noticed():
    watch = WallClockWatch()
    assert not watch.went_back(1000.0, 5.0)
    assert not watch.went_back(1001.0, 6.0) and not watch.went_back(1900.0, 7.0), (
        "set forward disturbs nothing"
    )
    assert not watch.went_back(1900.9, 8.0), "slewed"
    assert watch.went_back(1000.0, 9.0) and not watch.went_back(1001.0, 10.0)


@pytest.fixture
def node():
    rclpy.init()
    node = LodestarNode("clocks")
    yield node
    node.close()
    node.destroy_node()
    rclpy.try_shutdown()


def header(stamp: float) -> SimpleNamespace:
    message = Header()
    message.stamp.sec, message.stamp.nanosec = int(stamp), int(stamp % 1.0 * 1e9)
    return SimpleNamespace(header=message)


def listening(node, monkeypatch):
    """Return a node's subscription of stamped messages, and the list of messages passed on."""
    got, made = [], []
    monkeypatch.setattr(node, "create_subscription", lambda *given, **_: made.append(given[2]))
    node.listen(Header, "points", got.append, qos.SENSOR, stamped=True)
    return made[0], got


def test_a_stamp_from_the_future_is_dropped_and_told_and_the_next_are_used(node, monkeypatch):
    receive, got = listening(node, monkeypatch)
    now = node.now
    receive(header(now + 3600.0))
    for k in range(20):
        receive(header(now - 2.0 + 0.1 * k))
    assert len(got) == 20
    assert node.diagnostics.input("points").drops == {"future": 1}
    assert "points" in node.diagnostics._notice[1] and "ahead" in node.diagnostics._notice[1]


def test_an_input_that_starts_again_makes_every_holder_forget(node, monkeypatch):
    receive, got = listening(node, monkeypatch)
    calls = []
    node.on_clock_restart(lambda: calls.append("one"))
    node.on_clock_restart(lambda: 1 / 0)
    node.on_clock_restart(lambda: calls.append("other"))
    now = node.now
    receive(header(now))
    for k in range(20):
        receive(header(now - 4.0 + 0.1 * k))
    assert calls == ["one", "other"], "an error in one keeps no other from it"
    assert len(got) == 11


def test_a_wall_clock_that_is_set_back_makes_every_holder_forget(node, monkeypatch):
    calls = []
    node.on_clock_restart(lambda: calls.append(1))
    node._watch_wall()
    monkeypatch.setattr(LodestarNode, "now", property(lambda self: 1000.0))
    node._watch_wall()
    assert calls == [1]


@pytest.mark.parametrize("events", [False, True], ids=["waiting", "events"])
def test_no_error_of_a_callback_ends_a_node(node, events, monkeypatch):
    """Checked for diagnostics values, timers, services, answers to requests, and actions on both sides."""
    if not events:
        monkeypatch.setattr(executors, "EventsExecutor", None)
    errors, tell = [], node.diagnostics.error
    monkeypatch.setattr(node.diagnostics, "error", lambda error: (errors.append(error), tell(error)))
    node.diagnostics.value("broken", lambda: 1 / 0)
    node.diagnostics.value("whole", lambda: "told")
    node.steady_timer(0.05, lambda: [][0])
    node.create_service(Trigger, "~/broken", lambda request, response: 1 / 0)
    sound, stop, end = [], Event(), time.monotonic() + PATIENCE
    client = node.create_client(Trigger, "~/broken")
    served = ActionServer(node, AnswerQuestion, "~/action", print, goal_callback=lambda _: int("goal"))
    caller = ActionClient(node, AnswerQuestion, "~/action")
    statuses = []
    publish = node.diagnostics._publisher.publish
    node.diagnostics._publisher = SimpleNamespace(
        publish=lambda message: (statuses.append(message.status[0]), publish(message)),
        get_subscription_count=lambda: 1,
    )

    def look():
        sound.append(1)
        if len(sound) == 3:
            client.call_async(Trigger.Request())
            caller.send_goal_async(AnswerQuestion.Goal())
            answered = Future(executor=node.executor)
            answered.add_done_callback(lambda _: {}["answer"])
            answered.set_result(None)
        if (len(sound) > 30 and len(statuses) > 1) or time.monotonic() > end:
            stop.set()

    node.steady_timer(0.05, look)
    executors.spin(node, stop=stop)
    assert len(sound) > 30
    values = {value.key: value.value for value in statuses[-1].values}
    assert values["whole"] == "told" and "ZeroDivisionError" in values["broken"]
    assert int(values["errors"]) > 2
    assert {type(error) for error in errors} == {ZeroDivisionError, IndexError, KeyError, ValueError}
    served.destroy()
    caller.destroy()


@pytest.mark.parametrize("events", [False, True], ids=["waiting", "events"])
def test_what_threads_post_wakes_the_executor_and_runs_there_in_order(node, events, monkeypatch):
    if not events:
        monkeypatch.setattr(executors, "EventsExecutor", None)
    monkeypatch.setattr(executors, "SPIN_TIMEOUT", 2 * PATIENCE)
    mailbox, stop, heard, many = Mailbox(node), Event(), [], 2000
    for timer in node.timers:
        timer.cancel()  # nothing but the mailbox wakes the executor

    def hear(who, number):
        assert current_thread() is spinning
        heard.append((who, number))

    def post(who):
        for number in range(many):
            mailbox.post(partial(hear, who, number))

    spinning = Thread(target=executors.spin, args=(node, stop))
    spinning.start()
    threads = [Thread(target=post, args=(who,)) for who in "abc"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    wait_for(lambda: len(heard) == 3 * many, "all that was posted")
    assert all([n for who, n in heard if who == one] == list(range(many)) for one in "abc")
    for _ in range(21):
        heard.clear()
        mailbox.post(partial(hear, "d", 0))
        wait_for(lambda: heard, "what was posted", every=0.001)
    mailbox.post(stop.set)
    spinning.join(PATIENCE)


def test_an_executor_that_is_broken_itself_ends_the_process(node, monkeypatch):
    class Broken:
        add_node = remove_node = staticmethod(lambda node: None)

        def spin_once(self, timeout_sec):
            raise RuntimeError("the wait set is broken")

    monkeypatch.setattr(executors, "make_executor", lambda *_: Broken())
    with pytest.raises(RuntimeError, match="wait set"):
        executors.spin(node)

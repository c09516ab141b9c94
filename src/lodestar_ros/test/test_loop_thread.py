"""The thread of the decision loop: order, slots, and a stop that waits for nothing."""

from __future__ import annotations

import threading
import time
from types import SimpleNamespace

import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from lodestar.agent.errands.commands import CancelGoal, SendGoal, State, TakePassage
from lodestar_ros.loop_thread import LoopThread


class Loop:
    """A loop that ticks as long as `gate` is open, and sends what it was given."""

    def __init__(self):
        self.state, self.motion_allowed = State.IDLE, False
        self.epoch, self.epoch_seconds, self.directive, self.skill = 0, 0.0, None, ""
        self.gate, self.ticking = threading.Event(), threading.Event()
        self.gate.set()
        self.commands, self.ticks = [], 0
        self.advanced = 0

    def feedback(self):
        return SimpleNamespace(text="")

    def begin(self):
        self.state, self.motion_allowed = State.NAVIGATING, True

    def hold(self, held, now):
        self.state, self.motion_allowed = (State.HELD if held else State.IDLE), False
        self.commands = [CancelGoal("held")]

    def advance(self, now):
        self.advanced = now

    def tick(self, now):
        self.ticking.set()
        commands, self.commands = self.commands, []
        assert self.gate.wait(20.0)
        self.ticks += 1
        return commands


@pytest.fixture
def bench():
    loop, carried, errors = Loop(), [], []
    thread = LoopThread(loop, time.monotonic, carried.append, 0.01, 0.3, errors.append)
    bench = SimpleNamespace(loop=loop, thread=thread, carried=carried, errors=errors)
    thread.start()
    yield bench
    loop.gate.set()
    thread.close()


def until(condition, what, timeout=20.0):
    end = time.monotonic() + timeout
    while not condition():
        assert time.monotonic() < end, what
        time.sleep(0.005)


def busy(bench):
    """The thread is at a tick that does not end."""
    bench.loop.ticking.clear()
    bench.loop.gate.clear()
    assert bench.loop.ticking.wait(20.0)


def test_work_is_done_in_order_and_only_the_newest_of_a_slot(bench):
    busy(bench)
    done = []
    for number in range(3):
        bench.thread.post(lambda number=number: done.append(("pose", number)), slot="pose")
        bench.thread.post(lambda number=number: done.append(("delta", number)))
    assert bench.thread.backlog == 4
    bench.loop.gate.set()
    until(lambda: len(done) == 4, "the work is done")
    assert done == [("delta", 0), ("delta", 1), ("pose", 2), ("delta", 2)]


def test_a_tick_after_slow_work_knows_the_newest_inputs(bench):
    busy(bench)
    seen, ticks = [], []
    bench.loop.ticks = 0
    for _ in range(3):
        bench.thread.post(lambda: time.sleep(0.05))  # after each, a tick is due
    begun = time.monotonic()
    told = []
    bench.thread.post(lambda: told.append(bench.loop.advanced), slot="pose")
    bench.thread.post(lambda: seen.append(bench.loop.ticks), slot="sight")
    bench.thread.post(lambda: ticks.append(bench.loop.ticks))
    bench.loop.gate.set()
    until(lambda: ticks, "all work is done")
    assert seen == [1], "the pose is known to the first tick after the one that was slow"
    assert ticks[0] > 1
    assert told[0] >= begun, "its time is that of now, not of the slow tick's begin"


def test_a_stop_refuses_motion_at_once_though_the_thread_is_busy_and_overtakes_what_waits(bench):
    bench.thread.post(bench.loop.begin)
    until(lambda: bench.thread.motion_allowed, "it moves")
    busy(bench)
    order = []
    bench.thread.post(lambda: order.append("delta"))
    bench.thread.hold(True)
    assert not bench.thread.motion_allowed and bench.thread.held and bench.thread.state is State.HELD
    bench.thread.post(lambda: order.append(bench.loop.state))
    bench.loop.gate.set()
    until(lambda: len(order) == 2, "the work is done")
    bench.thread.deliver()
    assert order == ["delta", State.HELD]
    assert bench.carried == [CancelGoal("held")], "what follows from the stop is carried out"
    assert not bench.thread.motion_allowed


def test_a_goal_that_was_decided_before_a_stop_is_not_sent_after_it(bench):
    bench.loop.commands = [SendGoal(1, None), TakePassage(1, None, None, 1, 1), CancelGoal("old")]
    busy(bench)
    bench.thread.stop(lambda: None)
    bench.loop.gate.set()
    until(lambda: bench.loop.ticks > 5, "it went on")
    bench.thread.deliver()
    assert bench.carried == [CancelGoal("old")]
    bench.loop.commands = [SendGoal(2, None)]
    until(lambda: bench.loop.commands == [], "it was taken")
    until(lambda: bench.thread.deliver() or len(bench.carried) == 2, "after the stop goals are sent again")


def test_a_loop_that_hangs_may_not_move_and_may_again_when_it_goes_on(bench):
    bench.thread.post(bench.loop.begin)
    until(lambda: bench.thread.motion_allowed, "it moves")
    busy(bench)
    until(lambda: bench.thread.hangs, "the patience of 0.3 s is over")
    assert not bench.thread.motion_allowed
    bench.loop.gate.set()
    until(lambda: bench.thread.motion_allowed, "it moves again")


def test_errors_are_told_and_the_thread_goes_on(bench):
    answers = []
    bench.thread.post(lambda: 1 / 0)
    bench.thread.ask(lambda: 7, answers.append)
    until(lambda: bench.thread.deliver() or answers, "the answer")
    assert answers == [7] and isinstance(bench.errors[0], ZeroDivisionError)


def test_released_it_is_idle(bench):
    bench.thread.hold(True)
    bench.thread.hold(False)
    until(lambda: bench.thread.deliver() or bench.thread.status.state is State.IDLE, "released")
    assert not bench.thread.held and bench.thread.state is State.IDLE


def test_a_hold_that_overtakes_a_release_is_not_undone_by_it(bench):
    busy(bench)
    for held in (True, False, True):
        bench.thread.hold(held)
    bench.loop.gate.set()
    until(lambda: bench.thread.backlog == 0 and bench.loop.ticks > 5, "all of it is done")
    assert bench.loop.state is State.HELD and bench.thread.held


def test_work_gets_its_turn_though_every_tick_takes_longer_than_the_period(bench):
    slow = bench.loop.tick
    bench.loop.tick = lambda now: time.sleep(0.05) or slow(now)
    done = []
    for number in range(20):
        bench.thread.post(lambda number=number: done.append(number) or time.sleep(0.01))
    ticks = bench.loop.ticks
    until(lambda: len(done) == 20, "all of it is done")
    assert bench.loop.ticks > ticks, "and the loop ticks meanwhile"

"""Tests of the decision loop's thread: order of work, slots, and an immediate stop."""

from __future__ import annotations

import threading
import time
from types import SimpleNamespace

import pytest
from waiting import PATIENCE

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from lodestar.agent.errands.commands import CancelGoal, RunSkill, SendGoal, State, TakePassage
from lodestar_ros import loop_thread
from lodestar_ros.loop_thread import LoopThread
from lodestar_ros.motion.authority import UNTOLD, Kind, Record, Standing

FREE = Standing(0, 0)
HELD = FREE.with_record(Record(1, Kind.HOLD, "console"))
PAUSED = FREE.with_record(Record(1, Kind.PAUSE, "agent"))


def released(standing):
    """Return what stands after the release of everything."""
    for record in standing.records:
        standing = standing.without(record, Record(standing.number + 1, Kind.RELEASE, "a person"))
    return standing


class Loop:
    """Fake loop whose ticks block while `gate` is closed; a tick returns the prepared commands."""

    def __init__(self):
        self.state, self.motion_allowed = State.IDLE, False
        self.epoch, self.epoch_seconds, self.directive, self.skill = 0, 0.0, None, ""
        self.goal_under_way, self.paused, self.ends = True, False, 0
        self.gate, self.ticking = threading.Event(), threading.Event()
        self.gate.set()
        self.commands, self.ticks = [], 0
        self.advanced = 0
        self.newest = -1.0

    def feedback(self):
        return SimpleNamespace(text="")

    def begin(self):
        self.state, self.motion_allowed = State.NAVIGATING, True

    def hold(self, held, now, why=""):
        if held and self.state is not State.HELD:
            self.state, self.motion_allowed = State.HELD, False
            self.ends += 1
            self.commands = [CancelGoal("held")]
        elif not held and self.state is State.HELD:
            self.state = State.IDLE

    def pause(self, paused, now, why=""):
        self.paused = paused
        self.motion_allowed = self.state is State.NAVIGATING and not paused

    def advance(self, now):
        self.advanced = now

    def restart_clock(self, now):
        self.newest = -1.0

    def observe(self, stamp):
        """Take a stamp as the loop takes a pose: an older one is ignored."""
        self.newest = max(self.newest, stamp)

    def tick(self, now):
        commands, self.commands = self.commands, []
        while not self.gate.is_set():
            self.ticking.set()
            assert self.gate.wait(PATIENCE)
        self.ticks += 1
        return commands


@pytest.fixture
def bench():
    loop, carried, errors, woken = Loop(), [], [], threading.Event()
    thread = LoopThread(loop, time.monotonic, carried.append, woken.set, 0.01, 0.3, errors.append)
    bench = SimpleNamespace(loop=loop, thread=thread, carried=carried, errors=errors, woken=woken)
    thread.start()
    assert thread.held and not thread.motion_allowed, "until the gate has told"
    thread.follow(FREE)
    until(lambda: thread.deliver() or thread.follows == 0, "the gate's first word is followed")
    loop.commands.clear(), carried.clear()
    yield bench
    loop.gate.set()
    thread.close()


def until(condition, what, timeout=PATIENCE):
    end = time.monotonic() + timeout
    while not condition():
        assert time.monotonic() < end, what
        time.sleep(0.005)


def busy(bench):
    """Wait until the thread is in a tick that blocks."""
    bench.loop.ticking.clear()
    bench.loop.gate.clear()
    assert bench.loop.ticking.wait(PATIENCE)


def test_work_is_done_in_order_and_only_the_newest_of_a_slot(bench):
    busy(bench)
    bench.thread._period = PATIENCE  # no other tick, which would take the slot's work first
    done = []
    for number in range(3):
        bench.thread.post(lambda number=number: done.append(("pose", number)), slot="pose")
        bench.thread.post(lambda number=number: done.append(("delta", number)))
    assert bench.thread.backlog == 4
    bench.loop.gate.set()
    until(lambda: len(done) == 4, "the work is done")
    assert done == [("delta", 0), ("delta", 1), ("pose", 2), ("delta", 2)]


def test_a_tick_after_slow_work_knows_the_newest_inputs(bench):
    since = time.monotonic()
    busy(bench)
    seen, ticks = [], []
    bench.loop.ticks = 0
    for _ in range(3):  # slower than the tick that blocks, so the next one is due before the last ends
        bench.thread.post(lambda: time.sleep(0.05 + time.monotonic() - since))
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
    bench.thread.follow(HELD)
    assert not bench.thread.motion_allowed and bench.thread.held and bench.thread.state is State.HELD
    assert bench.thread.follows == 0, "the loop has not carried it out"
    bench.thread.post(lambda: order.append(bench.loop.state))
    bench.loop.gate.set()
    until(lambda: len(order) == 2, "the work is done")
    bench.thread.deliver()
    assert order == ["delta", State.HELD]
    assert bench.carried == [CancelGoal("held")], "what follows from the stop is carried out"
    assert not bench.thread.motion_allowed and bench.thread.follows == 1


def test_a_goal_that_was_decided_before_a_stop_is_not_sent_after_it(bench):
    begun = SendGoal(1, None), TakePassage(1, None, None, 1, 1), RunSkill(1, None)
    bench.loop.commands = [*begun, CancelGoal("old")]
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
    bench.thread.ask(lambda: 7, answers.append, 0)
    until(lambda: bench.thread.deliver() or answers, "the answer")
    assert answers == [7] and isinstance(bench.errors[0], ZeroDivisionError)


def test_released_it_is_idle(bench):
    bench.thread.follow(HELD)
    bench.thread.follow(released(HELD))
    until(lambda: bench.thread.deliver() or bench.thread.follows == 2, "released")
    assert not bench.thread.held and bench.thread.state is State.IDLE


@pytest.mark.parametrize("last", [HELD, PAUSED, FREE])
def test_the_newest_word_counts_whatever_came_before_it_during_a_long_tick(bench, last):
    """Pause, resume and pause again: the robot stands."""
    bench.thread.post(bench.loop.begin)
    until(lambda: bench.thread.motion_allowed, "it moves")
    busy(bench)
    for standing in (PAUSED, released(PAUSED), PAUSED, released(PAUSED), last):
        bench.thread.follow(standing)
        assert not bench.thread.motion_allowed
    bench.loop.gate.set()
    until(lambda: bench.thread.deliver() or not bench.thread._stops, "all of it is done")
    assert bench.thread.follows == last.number and bench.loop.paused == bool(last.pause)
    assert bench.thread.held == (bench.loop.state is State.HELD) == bool(last.hold)
    if last is FREE:
        until(lambda: bench.thread.motion_allowed, "it moves again")
    else:
        assert not bench.thread.motion_allowed


def test_a_hold_that_was_released_within_one_tick_has_ended_the_directive(bench):
    bench.thread.post(bench.loop.begin)
    until(lambda: bench.thread.motion_allowed, "it moves")
    busy(bench)
    for standing in (HELD, released(HELD)):
        bench.thread.follow(standing)
    bench.loop.gate.set()
    ends = bench.loop.ends
    until(lambda: bench.thread.deliver() or bench.thread.follows == 2, "it is followed")
    assert bench.loop.ends == ends + 1 and bench.loop.state is State.IDLE


def test_a_flood_of_holds_waits_in_one_place(bench):
    busy(bench)
    for number in range(1, 1000):
        bench.thread.follow(FREE.with_record(Record(number, Kind.HOLD, "flood")))
    assert len(bench.thread._halts) == 1
    bench.loop.gate.set()
    until(lambda: bench.thread.deliver() or bench.thread.follows == 999, "the newest is followed")


@pytest.mark.parametrize("kind", ["command", "answer", "late answer", "stop", "hold", "failure"])
def test_whatever_waits_for_delivery_wakes_the_executor(bench, monkeypatch, kind):
    thread, loop, answers = bench.thread, bench.loop, []

    failures = iter([RuntimeError("a stop that fails")] * 3)

    def fail():
        assert not thread.motion_allowed
        for error in failures:
            raise error

    def wait():
        assert bench.woken.wait(PATIENCE)
        bench.woken.clear()
        thread.deliver()

    thread.post(loop.begin)
    until(lambda: thread.motion_allowed, "it moves")
    if kind == "late answer":
        monkeypatch.setattr(loop_thread, "MOST_WAITING", 0)
    {
        "command": lambda: thread.post(lambda: loop.commands.append("go")),
        "stop": lambda: thread.stop(lambda: None),
        "failure": lambda: thread.stop(fail),
        "hold": lambda: thread.follow(FREE.with_record(Record(7, Kind.HOLD, "Ada"))),
    }.get(kind, lambda: thread.ask(lambda: "done", answers.append, "too late"))()
    done = {
        "command": lambda: bench.carried == ["go"],
        "stop": lambda: not thread._stops,
        "failure": lambda: not thread._stops and len(bench.errors) == 3,
        "hold": lambda: thread.follows == 7,
    }.get(kind, lambda: answers == ["too late" if kind == "late answer" else "done"])
    while not done():
        wait()


def test_what_follows_a_stop_that_fails_waits_until_it_is_done(bench):
    failures, order, said = iter([RuntimeError("it fails")] * 3), [], []
    bench.thread.post(bench.loop.begin)
    until(lambda: bench.thread.motion_allowed, "it moves")
    busy(bench)

    def fail():
        for error in failures:
            bench.thread.report(SimpleNamespace(status=lambda text, ok=True: said.append((text, ok))))
            raise error
        order.append("stop")

    bench.thread.stop(fail)
    bench.thread.post(lambda: order.append("rest"))
    bench.loop.gate.set()
    until(lambda: bench.thread.deliver() or len(order) == 2, "all is done")
    assert order == ["stop", "rest"] and len(bench.errors) == 3
    assert said[1:] == [("a stop fails and is tried again: motion is refused", False)] * 2
    until(lambda: bench.thread.motion_allowed, "it moves again")


def test_a_flood_of_work_is_dropped_and_the_robot_stands_meanwhile(bench, monkeypatch):
    monkeypatch.setattr(loop_thread, "MOST_WAITING", 20)
    bench.thread.post(bench.loop.begin)
    until(lambda: bench.thread.motion_allowed, "it moves")
    busy(bench)
    done = []
    for number in range(50):
        bench.thread.post(lambda number=number: done.append(number))
    assert bench.thread.backlog == 20 and bench.thread.overflows and not bench.thread.motion_allowed
    bench.thread.post(lambda: done.append("pose"), slot="pose")
    said = []
    bench.thread.report(SimpleNamespace(status=lambda text, ok=True: said.append((text, ok))))
    assert said == [("21 works wait for the decision loop: motion is refused", False)]
    answers = []
    bench.thread.ask(lambda: "done", answers.append, "too late")
    bench.thread.deliver()
    assert answers == ["too late"]
    bench.loop.gate.set()
    until(lambda: len(done) == 21, "what waited is done")
    assert sorted(map(str, done)) == sorted([*map(str, range(20)), "pose"])
    until(lambda: bench.thread.motion_allowed, "it moves again")


def test_goals_wait_for_the_gates_first_word_but_not_for_a_gate_that_is_not_there(monkeypatch):
    thread = LoopThread(Loop(), time.monotonic, print, print, 0.01, 0.3, print)
    assert thread.told is UNTOLD and not thread.knows_holds
    monkeypatch.setattr(loop_thread, "GATE_PATIENCE", -1.0)
    assert thread.knows_holds
    thread.close()


def test_work_gets_its_turn_though_every_tick_takes_longer_than_the_period(bench):
    slow = bench.loop.tick
    bench.loop.tick = lambda now: time.sleep(0.05) or slow(now)
    done = []
    for number in range(20):
        bench.thread.post(lambda number=number: done.append(number) or time.sleep(0.01))
    ticks = bench.loop.ticks
    until(lambda: len(done) == 20, "all of it is done")
    assert bench.loop.ticks > ticks, "and the loop ticks meanwhile"


@pytest.mark.parametrize("slot", ["pose", "correction", "motion", "sight"])
@pytest.mark.parametrize("back", [0.6, 30.0, 3600.0])
def test_what_was_posted_before_a_clock_went_back_hides_nothing_that_comes_after(bench, slot, back):
    busy(bench)
    bench.thread.post(lambda: bench.loop.observe(5000.0), slot=slot)
    bench.thread.restart_clock()
    done = []
    bench.thread.post(lambda: bench.loop.observe(5000.0 - back), slot=slot)
    bench.thread.post(lambda: done.append(bench.loop.newest))
    bench.loop.gate.set()
    until(lambda: done, "the work is done")
    assert bench.loop.newest == 5000.0 - back


def test_the_map_outlives_a_clock_that_went_back(bench):
    busy(bench)
    kept = []
    bench.thread.post(lambda: kept.append("grid"), slot="grid")
    bench.thread.restart_clock()
    bench.loop.gate.set()
    until(lambda: kept, "a grid comes seldom, and is taken although it waited")

"""Tests that goals withdrawn in any phase, by stop, hold or cancel, never start."""

from __future__ import annotations

import threading
import time
from collections import deque
from dataclasses import replace

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, rule
from waiting import PATIENCE

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from directive_bench import Handle, make_bench, structured

from lodestar.agent.errands.commands import DirectiveResult
from lodestar.agent.facts.errors import Busy, ErrorCode, Held
from lodestar.language.grammar import parse_directive
from lodestar.perception.picture_config import PicturesConfig
from lodestar_interfaces.action import FollowDirective
from lodestar_interfaces.msg import Subtask
from lodestar_ros.pictures import PictureDesk

MUG = parse_directive("find the mug")
CANCELLED = FollowDirective.Result.CANCELLED


@pytest.fixture
def bench(monkeypatch):
    bench = make_bench(monkeypatch)
    bench.clock = 1.0
    return bench


class SlowPictures:
    """Picture desk whose model answers only when released."""

    def __init__(self, bench):
        self.may, self.asked = threading.Event(), threading.Event()
        bench.server._pictures = PictureDesk(PicturesConfig(), self.read)

    def read(self, image):
        from lodestar.language.picture_goals import Described, item_of

        self.asked.set()
        assert self.may.wait(10.0)
        return item_of(Described("chair", "red chair", ()))


def picture() -> bytes:
    import io

    import numpy as np
    from PIL import Image

    out = io.BytesIO()
    Image.fromarray(np.full((40, 60, 3), 90, np.uint8)).save(out, "PNG")
    return out.getvalue()


@pytest.mark.parametrize("how", ["stop", "stop in a structure", "hold"])
def test_a_goal_whose_picture_is_with_a_model_is_withdrawn_by_a_stop(bench, how):
    pictures = SlowPictures(bench)
    goal, waiting = Handle("", picture()), Handle("", picture())
    for handle in (goal, waiting):
        bench.server._on_accepted(handle)
    assert pictures.asked.wait(10.0)
    if how == "hold":
        bench.server.withdraw()  # called by ~/hold
    else:
        halt = Handle("stop") if how == "stop" else structured(subtasks=[Subtask(kind=Subtask.KIND_STOP)])
        bench.server._on_accepted(halt)
        assert halt.ending == "succeeded" and bench.loop.cancelled == 1
    assert {(one.ending, one.result.error_code) for one in (goal, waiting)} == {("aborted", CANCELLED)}
    assert "stopped or held before" in goal.result.error_msg
    last = Handle("", picture())
    bench.server._on_accepted(last)
    pictures.may.set()
    end = time.monotonic() + PATIENCE
    while not bench.loop.started:
        bench.server.check()
        assert time.monotonic() < end
        time.sleep(0.005)
    bench.server.check()
    assert len(bench.loop.started) == 1 and last.ending == "" and bench.server._goals.followed.handle is last


def test_a_stop_before_the_clock_succeeds_at_once_and_what_waits_for_the_clock_never_begins(bench):
    bench.clock = 0.0
    goal, halt = Handle("find the mug"), Handle("stop")
    bench.server._on_accepted(goal)
    bench.server._on_accepted(halt)
    assert halt.ending == "succeeded" and (goal.ending, goal.result.error_code) == ("aborted", CANCELLED)
    bench.clock = 5.0
    bench.server.check()
    assert bench.loop.started == []


def test_a_stop_as_a_structure_is_not_busy(bench):
    bench.server._on_accepted(Handle("find the mug"))
    halt = structured(subtasks=[Subtask(kind=Subtask.KIND_STOP)])
    bench.server._on_accepted(halt)
    assert (halt.ending, bench.loop.cancelled) == ("succeeded", 1)


class Loop:
    """Fake loop that follows one directive; results are collected in `ended`."""

    def __init__(self):
        self.running, self.held, self.begun, self.ended = None, False, [], deque()

    def start(self, directive, now, limit):
        if self.held:
            raise Held("the robot is held")
        if self.running is not None:
            raise Busy("another directive runs")
        self.running = directive.text
        self.begun.append(directive.text)

    def cancel(self, now):
        if self.running is not None:
            self.running = None
            self.ended.append(DirectiveResult(ErrorCode.CANCELLED, "cancelled", False))

    def hold(self, held):
        self.held = held
        if held:
            self.cancel(0.0)


class Thread:
    """Fake loop thread with the order of work of LoopThread, executed step by step."""

    knows_holds = True

    def __init__(self):
        self.inbox, self.halts, self.outbox = deque(), deque(), deque()

    def ask(self, work, then, instead):
        self.inbox.append(lambda: self.outbox.append((then, work())))

    def stop(self, work):
        self.halts.append(work)


class Desk:
    """Fake desk of pictures or texts that wait for a model."""

    def __init__(self):
        self.waiting, self.done = [], []

    def submit(self, ticket, *what):
        self.waiting.append((ticket, what))

    def hurry(self, ticket):
        pass

    def take(self):
        done, self.done = self.done, []
        return done


class Goals(RuleBasedStateMachine):
    """State machine that drives the real server with a fake model, thread, clock and client."""

    handles = Bundle("handles")

    def __init__(self):
        super().__init__()
        self.patch = pytest.MonkeyPatch()
        self.bench = make_bench(self.patch)
        self.server = self.bench.server
        self.loop, self.thread, self.texts, self.pictures = Loop(), Thread(), Desk(), Desk()
        self.server._loop, self.server._thread = self.loop, self.thread
        self.server._desk, self.server._pictures = self.texts, self.pictures
        self.server._parse = self.parse
        self.all, self.gone = [], set()  # all goals; texts of goals withdrawn before their start

    def parse(self, text):
        return replace(MUG, text=text)

    def teardown(self):
        self.settle()
        self.nothing_begins_that_was_withdrawn()
        open_ones = [one for one in self.all if one.ending == ""]
        assert len(open_ones) <= (self.loop.running is not None), "every goal ends, but one that is followed"
        self.patch.undo()

    def settle(self):
        """Advance clock, models and thread until nothing is pending."""
        self.bench.clock = 9.0
        for _ in range(4):
            self.answer(self.texts, lambda text: lambda: self.parse(text[0]))
            self.answer(self.pictures, lambda what: what[0])
            self.server.check()
            while self.thread.halts or self.thread.inbox:
                self.work()
            self.deliver()

    def answer(self, desk, outcome, number=100):
        for ticket, what in desk.waiting[:number]:
            desk.done.append((ticket, outcome(what)))
        del desk.waiting[:number]

    @rule(target=handles, kind=st.sampled_from(["text", "picture", "structure"]))
    def send(self, kind):
        text = f"find mug {len(self.all)}"
        if kind == "structure":  # parsed on the loop's thread
            self.server._desk = None
        handle = Handle(text, b"picture") if kind == "picture" else Handle(text)
        self.all.append(handle)
        ended = handle.execute
        handle.execute = lambda conclude: self.once(handle, ended, conclude)
        self.server._on_accepted(handle)
        self.server._desk = self.texts
        return handle

    def once(self, handle, ended, conclude):
        assert handle.ending == "", "a goal ends once"
        ended(conclude)

    @initialize(clock=st.sampled_from([0.0, 1.0, 1.0]))
    def begin(self, clock):
        self.bench.clock = clock

    @rule(
        what=st.lists(
            st.sampled_from(["work", "work", "deliver", "check", "model", "succeed", "tick"]), max_size=9
        )
    )
    def go_on(self, what):
        """Advance model, thread, executor timers and clock in the given order."""
        for one in what:
            getattr(self, one)()

    def tick(self):
        self.bench.clock += 1.0

    def model(self):
        """Answer the oldest waiting text and the oldest waiting picture."""
        self.answer(self.pictures, lambda what: what[0], 1)
        self.answer(self.texts, lambda text: lambda: self.parse(text[0]), 1)

    def check(self):
        self.server.check()

    def work(self):
        if self.thread.halts:
            self.thread.halts.popleft()()
        elif self.thread.inbox:
            self.thread.inbox.popleft()()
        while self.loop.ended:
            result = self.loop.ended.popleft()
            self.thread.outbox.append((self.server.finish, result))

    def deliver(self):
        while self.thread.outbox:
            then, what = self.thread.outbox.popleft()
            then(what)

    def succeed(self):
        """End the running directive with success."""
        if self.loop.running is not None:
            self.loop.running = None
            self.thread.outbox.append((self.server.finish, DirectiveResult(ErrorCode.NONE, "", True)))

    def withdrawn(self):
        self.gone |= {one.request.text for one in self.all} - set(self.loop.begun)

    @rule(how=st.sampled_from(["stop", "hold"]))
    def halt(self, how):
        if how == "stop":
            stop = Handle("stop")
            self.server._on_accepted(stop)
            assert stop.ending == "succeeded"
        else:  # hold, released at once: later goals may start, earlier ones may not
            self.thread.stop(lambda: self.loop.hold(True))
            self.server.withdraw()
            self.thread.ask(lambda: self.loop.hold(False), lambda result: None, None)
        self.withdrawn()

    @rule(handle=handles)
    def cancel(self, handle):
        if handle.ending == "":
            self.server._on_cancel(handle)
            handle.is_cancel_requested = True
            if handle.request.text not in self.loop.begun:
                self.gone.add(handle.request.text)

    @invariant()
    def nothing_begins_that_was_withdrawn(self):
        assert not self.gone & set(self.loop.begun)

    @invariant()
    def nothing_is_followed_that_is_over(self):
        followed = self.server._goals.followed
        assert followed is None or followed.handle.ending == ""


Goals.TestCase.settings = settings(max_examples=100, stateful_step_count=15, deadline=None)
TestGoals = Goals.TestCase

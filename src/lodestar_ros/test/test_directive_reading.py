"""Tests of texts parsed by a language model on a worker: started afterwards, but never after a halt."""

from __future__ import annotations

import threading
import time

import pytest
from waiting import PATIENCE

pytest.importorskip("rclpy", reason="ROS 2 is not installed")


from directive_bench import Handle, finding, make_bench, structured

from lodestar.assembly.config import GoalSelectorConfig
from lodestar.language.directive import NotUnderstood
from lodestar.language.grammar import parse_directive
from lodestar.language.parsers import ParserConfig
from lodestar_interfaces.action import FollowDirective
from lodestar_ros.directive_reading import ReadingDesk, make_reading_desk


@pytest.fixture
def bench(monkeypatch):
    return make_bench(monkeypatch)


class SlowModel:
    """Fake model that answers when released or cancelled."""

    def __init__(self):
        self.asked, self.may, self.cancelled = [], threading.Event(), threading.Event()
        self.error = None

    def parse(self, text):
        self.asked.append(text)
        assert self.may.wait(10.0)
        if self.error is not None:
            raise self.error
        return parse_directive(f"{text} in the kitchen")

    def cancel(self):
        self.cancelled.set()
        self.may.set()


@pytest.fixture
def slow(bench):
    model = SlowModel()
    desk = bench.server._desk = ReadingDesk(model.parse, model.cancel)
    bench.clock = 5.0
    yield model
    desk.close()


def until(bench, condition):
    """Run the server's periodic check until a condition holds."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline
        bench.server.check()
        time.sleep(0.005)


def test_a_text_begins_when_the_model_has_read_it(bench, slow):
    bench.server._on_accepted(Handle("find the mug"))
    bench.server.check()
    assert bench.loop.started == []
    slow.may.set()
    until(bench, lambda: bench.loop.started)
    assert bench.loop.directive.steps[0].scope.labels == ("kitchen",)


def test_what_the_model_makes_of_it_may_be_refused_with_a_code(bench, slow):
    slow.error = NotUnderstood("no task in it")
    slow.may.set()
    handle = Handle("the mug")
    bench.server._on_accepted(handle)
    until(bench, lambda: handle.ending)
    assert (handle.ending, handle.result.error_msg) == ("aborted", "no task in it")
    assert handle.result.error_code == FollowDirective.Result.NOT_UNDERSTOOD and bench.loop.started == []


def test_a_halt_never_waits_for_the_model_and_what_waits_never_begins(bench, slow):
    reading, waiting, halt = Handle("find the mug"), Handle("find the desk"), Handle("stop")
    for handle in (reading, waiting):
        bench.server._on_accepted(handle)
    until(bench, lambda: slow.asked)
    bench.server._on_accepted(halt)
    assert halt.ending == "succeeded" and bench.loop.cancelled == 1
    assert {h.result.error_code for h in (reading, waiting)} == {FollowDirective.Result.CANCELLED}
    assert slow.cancelled.is_set()
    last = Handle("find the lamp")
    bench.server._on_accepted(last)
    until(bench, lambda: bench.loop.started)
    assert [text for text, *_ in bench.loop.started] == ["find the lamp in the kitchen"]
    assert slow.asked == ["find the mug", "find the lamp"]


def test_a_hold_ends_what_is_being_read(bench, slow):
    handle = Handle("find the mug")
    bench.server._on_accepted(handle)
    until(bench, lambda: slow.asked)
    bench.server.withdraw()
    assert handle.result.error_code == FollowDirective.Result.CANCELLED and slow.cancelled.is_set()
    bench.server.check()
    assert bench.loop.started == []


def test_one_that_is_cancelled_while_it_is_read_ends_at_once(bench, slow):
    handle = Handle("find the mug")
    bench.server._on_accepted(handle)
    until(bench, lambda: slow.asked)
    bench.server._on_cancel(handle)
    handle.is_cancel_requested = True
    until(bench, lambda: handle.ending)
    assert (handle.ending, bench.loop.started) == ("canceled", [])


def test_a_structure_is_read_at_once(bench, slow):
    bench.server._on_accepted(structured(subtasks=[finding("mug")]))
    assert slow.asked == [] and len(bench.loop.started) == 1


@pytest.mark.parametrize(("parser", "made"), [(False, False), (True, True)])
def test_the_configuration_says_whether_a_model_reads(bench, parser, made):
    closing = []
    bench.node.on_close = closing.append
    desk = make_reading_desk(bench.node, GoalSelectorConfig(parser=ParserConfig(parser)))
    assert (desk is not None) is made and len(closing) == made

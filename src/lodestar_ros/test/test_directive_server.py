"""The server of directives around a loop of its own, without DDS: what is begun, refused, or waits for a clock."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

import lodestar_ros.directive_server as module
from lodestar.agent.errors import Busy
from lodestar.language.directive import DirectiveKind
from lodestar.language.grammar import parse_directive
from lodestar_interfaces.action import FollowDirective
from lodestar_interfaces.msg import Directive, Subtask


class Handle:
    """What rclpy hands to the server."""

    def __init__(self, text):
        self.request = FollowDirective.Goal(text=text)
        self.is_cancel_requested = False
        self.ending = ""
        self.result = None

    def execute(self, conclude):
        self.result = conclude(self)

    def succeed(self):
        self.ending = "succeeded"

    def abort(self):
        self.ending = "aborted"

    def canceled(self):
        self.ending = "canceled"


class Loop:
    def __init__(self):
        self.started = []
        self.cancelled = 0

    def cancel(self, now):
        self.cancelled += 1

    def start(self, directive, now, limit):
        if self.started:
            raise Busy("another directive runs")
        self.directive = directive
        self.started.append((directive.text, now, limit))


@pytest.fixture
def bench(monkeypatch):
    monkeypatch.setattr(module, "ActionServer", lambda *args, **options: None)
    logger = SimpleNamespace(warning=lambda text: None)
    bench = SimpleNamespace(clock=0.0, loop=Loop(), node=SimpleNamespace(get_logger=lambda: logger))
    bench.server = module.DirectiveServer(
        bench.node, bench.loop, parse_directive, lambda: bench.clock, lambda directive: None, lambda: None
    )
    return bench


def test_a_directive_that_comes_before_the_clock_begins_with_it(bench):
    handle = Handle("find the red chair")
    bench.server._on_accepted(handle)
    bench.server.begin_early()
    assert bench.loop.started == []
    bench.clock = 61.5
    bench.server.begin_early()
    assert bench.loop.started == [("find the red chair", 61.5, 0.0)]


def test_one_that_is_cancelled_before_the_clock_never_begins(bench):
    handle = Handle("find the red chair")
    bench.server._on_accepted(handle)
    handle.is_cancel_requested = True
    bench.clock = 1.0
    bench.server.begin_early()
    assert (bench.loop.started, handle.ending) == ([], "canceled")
    assert handle.result.error_code == FollowDirective.Result.CANCELLED


def test_a_second_one_is_aborted_as_busy(bench):
    bench.clock = 5.0
    bench.server._on_accepted(Handle("find the red chair"))
    second = Handle("find the desk")
    bench.server._on_accepted(second)
    assert (second.ending, second.result.error_code) == ("aborted", FollowDirective.Result.BUSY)


def test_what_breaks_unexpectedly_has_a_code_too(bench, monkeypatch):
    bench.clock = 5.0
    monkeypatch.setattr(bench.server, "_parse", lambda text: 1 / 0)
    handle = Handle("find the red chair")
    bench.server._on_accepted(handle)
    assert handle.result.error_code == FollowDirective.Result.UNKNOWN
    assert "ZeroDivisionError" in handle.result.error_msg


def structured(**fields):
    handle = Handle("")
    handle.request = FollowDirective.Goal(directive=Directive(**fields))
    return handle


def test_a_structure_without_graphs_is_read_as_its_words_are(bench):
    bench.clock = 1.0
    bench.server._on_accepted(structured(subtasks=[Subtask(target="red chair next to the desk")]))
    (subtask,) = bench.loop.directive.subtasks
    assert subtask.graphs == parse_directive("find the red chair next to the desk").subtasks[0].graphs


def test_kinds_without_a_target_need_no_subtask(bench):
    bench.clock = 1.0
    bench.server._on_accepted(structured(kind=Directive.KIND_EXPLORE))
    assert bench.loop.directive.kind is DirectiveKind.EXPLORE


def test_a_search_for_nothing_is_refused(bench):
    bench.clock = 1.0
    handle = structured()
    bench.server._on_accepted(handle)
    assert (handle.ending, handle.result.error_code) == ("aborted", FollowDirective.Result.EMPTY_DIRECTIVE)


@pytest.mark.parametrize("text", ["stop", "STOP!", "please stop now", "don't move", "cancel that"])
def test_whoever_says_stop_is_not_told_to_say_it_better(bench, text):
    bench.clock = 1.0
    bench.server._on_accepted(Handle("find the red chair"))
    handle = Handle(text)
    bench.server._on_accepted(handle)
    assert bench.loop.cancelled == 1
    assert (handle.ending, handle.result.error_code, handle.result.success) == ("succeeded", 0, True)
    assert "hold on" in handle.result.report

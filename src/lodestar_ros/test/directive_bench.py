"""Test bench of a directive server with a fake loop, without DDS."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from sensor_msgs.msg import CompressedImage

import lodestar_ros.directive_server as module
from lodestar.agent.errands.commands import OpenQuestion
from lodestar.agent.facts.errors import Busy, QuestionUnknown
from lodestar.assembly.shared import SharedConfig
from lodestar.language.grammar import parse_directive
from lodestar_interfaces.action import FollowDirective
from lodestar_interfaces.msg import Constraint, Directive, Item, Subtask


class Handle:
    """Fake goal handle of rclpy."""

    def __init__(self, text, *images):
        pictures = [CompressedImage(format="png", data=image) for image in images]
        self.request = FollowDirective.Goal(text=text, images=pictures)
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

    def ask(self, text, choices, now):
        self.asked = OpenQuestion("q-1", text, choices, now)
        return self.asked

    def answer(self, question, choice, now, limit):
        if question != "q-1":
            raise QuestionUnknown(f'no question "{question}" is open')
        directive = parse_directive("find the red chair")
        self.start(directive, now, limit)
        self.answered = choice
        return directive

    def start(self, directive, now, limit):
        if self.started:
            raise Busy("another directive runs")
        self.directive = directive
        self.started.append((directive.text, now, limit))


class Thread:
    """Fake loop thread that runs work at once."""

    knows_holds = True

    def ask(self, work, then, instead):
        then(work())

    def stop(self, work):
        work()


def make_bench(monkeypatch):
    """Return a bench with a directive server and a fake loop; `clock` is the server's time, s."""
    monkeypatch.setattr(module, "ActionServer", lambda *args, **options: None)
    logger = SimpleNamespace(warning=lambda text: None)
    said, reports = [], []
    publishers = {
        "~/directive": SimpleNamespace(publish=said.append),
        "~/report": SimpleNamespace(publish=reports.append),
    }
    node = SimpleNamespace(
        get_logger=lambda: logger,
        get_clock=lambda: SimpleNamespace(now=lambda: SimpleNamespace(nanoseconds=0)),
        create_publisher=lambda message_type, topic, profile: publishers[topic],
        shared=SharedConfig(),
    )
    bench = SimpleNamespace(
        clock=0.0, loop=Loop(), node=node, said=said, reports=reports, publisher=publishers["~/directive"]
    )
    bench.server = module.DirectiveServer(
        bench.node,
        bench.loop,
        Thread(),
        parse_directive,
        lambda: bench.clock,
        lambda directive: None,
        lambda: None,
    )
    return bench


def structured(**fields):
    handle = Handle("")
    handle.request = FollowDirective.Goal(directive=Directive(**fields))
    return handle


def finding(target, **changes):
    """Return a step that finds the target described by a text."""
    return Subtask(item=[Item(text=target, **changes)])


def avoiding(what, **changes):
    return Constraint(item=Item(text=what), **changes)

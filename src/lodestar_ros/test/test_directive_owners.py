"""Tests that a goal starts only while its owner is alive, after every kind of waiting."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from directive_bench import Handle, make_bench
from hypothesis import given
from hypothesis import strategies as st

from lodestar.language.grammar import parse_directive
from lodestar_interfaces.action import FollowDirective

WAITS = ("nothing", "clock", "gate", "reading", "pictures")


class Owner:
    """Fake watch of an owner."""

    def __init__(self):
        self.alive, self.gone = True, 0.0

    def is_alive(self):
        return self.alive

    def gone_for(self):
        return self.gone


class Worker:
    """Fake desk of texts, or of pictures, with an answer that is taken once."""

    def __init__(self, answer):
        self.answer, self.goals, self.may = answer, [], False

    def submit(self, goal, *_):
        self.goals.append(goal)

    def take(self):
        done = [(goal, self.answer) for goal in self.goals] if self.may else []
        self.goals = [] if self.may else self.goals
        return done

    def hurry(self, goal):
        pass


class Case:
    """A server with one owned goal, which waits for one thing."""

    def __init__(self, monkeypatch, waits, alive=True, dry_run=False):
        self.bench = make_bench(monkeypatch)
        self.owner, self.waits = Owner(), waits
        self.owner.alive = alive
        directive = parse_directive("find the desk")
        self.text, self.pictures = Worker(lambda: directive), Worker(directive)
        server = self.server = self.bench.server
        self.begun = []
        server._watch = SimpleNamespace(
            owner=lambda name: self.owner if name else None, begin=self.begun.append, gone_for=lambda: 0.0
        )
        server._pictures, server._desk = self.pictures, self.text if waits == "reading" else None
        self.bench.clock = 0.0 if waits == "clock" else 5.0
        server._thread.knows_holds = waits != "gate"
        self.handle = Handle("find this", b"image") if waits == "pictures" else Handle("find the desk")
        self.handle.request.owner, self.handle.request.dry_run = "page", dry_run
        server._on_accepted(self.handle)

    def go(self):
        """Let what the goal waited for happen."""
        self.bench.clock, self.server._thread.knows_holds = 9.0, True
        self.text.may = self.pictures.may = True
        for _ in range(3):
            self.server.check()


@pytest.mark.parametrize("waits", WAITS)
def test_a_goal_starts_once_its_owner_is_alive(monkeypatch, waits):
    case = Case(monkeypatch, waits, alive=False)
    case.go()
    assert not case.bench.loop.started and case.handle.result is None
    case.owner.alive = True
    case.go()
    assert case.bench.loop.started and case.begun == [case.owner]


@pytest.mark.parametrize("waits", WAITS[1:])
def test_a_goal_whose_owner_died_while_it_waited_is_withdrawn(monkeypatch, waits):
    case = Case(monkeypatch, waits)
    case.owner.alive = False
    case.go()
    case.owner.gone = 2.1
    case.go()
    assert not case.bench.loop.started
    assert case.handle.result.error_code == FollowDirective.Result.CANCELLED
    assert "is gone" in case.handle.result.error_msg


def test_a_dry_run_starts_nothing_and_waits_for_nobody(monkeypatch):
    case = Case(monkeypatch, "nothing", alive=False, dry_run=True)
    assert case.handle.ending == "succeeded" and not case.bench.loop.started


@given(
    waits=st.sampled_from(WAITS),
    events=st.lists(st.sampled_from(["dies", "lives", "gone", "check", "go", "stop", "cancel"]), max_size=12),
)
def test_nothing_starts_without_its_owner_in_any_order_of_events(waits, events):
    with pytest.MonkeyPatch.context() as monkeypatch:
        case = Case(monkeypatch, waits)
        for event in events:
            started = len(case.bench.loop.started)
            case.owner.alive = {"dies": False, "gone": False, "lives": True}.get(event, case.owner.alive)
            case.owner.gone = 3.0 if event == "gone" else 0.0
            if event == "go":
                case.go()
            elif event == "stop":
                case.server.withdraw()
            elif event == "cancel":
                case.handle.is_cancel_requested = True
            case.server.check()
            assert case.owner.alive or len(case.bench.loop.started) == started, event
        ended = case.handle.result is not None
        assert not (ended and case.bench.loop.started)

"""Tests of the goal selector's part in holds and pauses, without DDS."""

from __future__ import annotations

from contextlib import suppress
from types import SimpleNamespace

import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from rclpy.task import Future
from std_srvs.srv import SetBool

from lodestar_interfaces.srv import PlaceHold, ReleaseHold
from lodestar_ros.motion import holds
from lodestar_ros.motion.authority import UNTOLD, Kind, MotionAuthority, ReleaseRefused, RunMark
from lodestar_ros.motion.holds import holds_to_msg
from lodestar_ros.nodes.goal_selector_node import GoalSelectorNode
from lodestar_ros.stop_services import StopServices


class Gate:
    """Fake node with the clients of a motion gate; `serves` tells whether it is there."""

    def __init__(self, folder, crashed=False):
        self.serves, self.services, self.clients, self.timers, self.closers = True, {}, {}, [], []
        self.authority = MotionAuthority(folder / "gate.json", 1.8e9)
        if crashed:
            (folder / "running").write_bytes(b"running")
        self.folder = folder
        self.lost, self.failed = 0, False

    def create_service(self, kind, name, answer):
        self.services[name] = answer

    def create_client(self, kind, name):
        def call(request):
            told = Future()
            if self.lost:
                self.lost -= 1
            elif kind is PlaceHold:
                record = self.authority.place(Kind(request.kind), request.who, request.why, 1.8e9)
                told.set_result(PlaceHold.Response(number=record.number))
            else:
                with suppress(ReleaseRefused):
                    self.authority.release(request.number, request.who, 1.8e9)
                told.set_result(ReleaseHold.Response())
            return told

        return SimpleNamespace(
            call_async=call, service_is_ready=lambda: self.serves, remove_pending_request=lambda _: None
        )

    def listen(self, kind, topic, callback, profile):
        self.hear = callback

    def tell(self):
        self.hear(holds_to_msg(self.authority.standing, ""))

    def steady_timer(self, period, callback):
        self.timers.append(callback)

    def on_close(self, close):
        self.closers.append(close)

    def get_name(self):
        return "goal_selector"

    def get_logger(self):
        return SimpleNamespace(warning=lambda text: None)

    def ask(self, name, on):
        return self.services[name](SetBool.Request(data=on), SetBool.Response())


class Selector:
    """Fake of the parts of a goal selector that a hold reaches."""

    def __init__(self):
        self.told, self.done = UNTOLD, []
        self.status = SimpleNamespace(skill="Pick")

    def follow(self, standing):
        self.told = standing

    def beat(self):
        self.done.append("beat")

    def withdraw(self):
        self.done.append("withdrawn")

    def stop(self):
        self.done.append("stopped")


@pytest.fixture
def make(monkeypatch, tmp_path):
    def made(crashed=False):
        monkeypatch.setattr(holds, "state_file", lambda node, name: tmp_path / name)
        gate, selector = Gate(tmp_path, crashed), Selector()
        StopServices(gate, selector, selector, selector, selector.stop)
        return gate, selector

    return made


def test_the_first_word_of_the_gate_withdraws_nothing(make):
    gate, selector = make()
    gate.tell()
    assert not selector.told.records and selector.done == ["beat"]


def test_a_hold_is_asked_for_at_the_gate_and_stands_here_at_once(make):
    gate, selector = make()
    gate.tell()
    selector.done.clear()
    response = gate.ask("~/hold", True)
    assert response.success and gate.authority.standing.hold.who == "goal_selector/hold"
    assert selector.told.hold is not None and selector.done == ["withdrawn", "stopped", "beat"]
    gate.tell()
    assert selector.told.hold.number == gate.authority.standing.number
    assert gate.ask("~/hold", False).success and not gate.authority.standing.records
    assert selector.told.hold is not None, "until the gate has told"
    gate.tell()
    assert not selector.told.records


def test_a_pause_says_what_becomes_of_a_skill(make):
    gate, selector = make()
    gate.tell()
    response = gate.ask("~/pause", True)
    assert response.message.endswith("Pick was stopped, and begins anew then")
    gate.tell()
    assert selector.told.pause and "withdrawn" not in selector.done
    gate.ask("~/hold", True), gate.tell()
    assert gate.ask("~/pause", False).success and gate.authority.standing.hold, "a resume releases no hold"


def test_a_hold_without_a_gate_stands_here_and_is_asked_for_when_it_comes(make, monkeypatch):
    gate, selector = make()
    gate.serves = False
    assert gate.ask("~/hold", True).success and selector.told.hold
    assert not gate.ask("~/hold", False).success
    gate.serves, gate.lost = True, 1
    gate.tell()
    monkeypatch.setattr(holds, "PATIENCE", 0.0)
    for _ in range(2):
        gate.timers[0]()
    gate.tell()
    assert gate.authority.standing.hold and selector.told.hold.number == 1, (
        "also where the first request was lost"
    )


@pytest.mark.parametrize("recorded", [False, True])
def test_a_stop_that_the_gate_has_not_recorded_outlives_a_proper_end(make, recorded):
    gate, _ = make()
    gate.serves = recorded
    assert gate.ask("~/hold", True).success
    for close in gate.closers:
        close()
    _, selector = make()
    assert (selector.told.hold.why == "it came back after a crash") is not recorded


def test_a_goal_selector_that_crashed_comes_back_held_until_its_own_hold_is_released(make):
    gate, selector = make(crashed=True)
    assert selector.told.hold
    gate.tell()
    assert gate.authority.standing.hold.why == "it came back after a crash"
    assert gate.ask("~/hold", False).success
    gate.tell()
    assert not selector.told.records
    for close in gate.closers:
        close()
    assert not RunMark(gate.folder / "running").crashed


def test_a_release_says_which_it_asks_for_and_waits_for_a_hold_on_its_way(make):
    gate, selector = make()
    gate.authority.place(Kind.HOLD, "Ada", "", 1.8e9), gate.tell()
    assert gate.ask("~/hold", False).message == "asked motion_gate to release number 1 (hold of Ada)"
    gate.lost = 1
    gate.ask("~/hold", True)
    answer = gate.ask("~/hold", False)
    assert not answer.success and "has not recorded" in answer.message and selector.told.hold


def test_a_later_hold_withdraws_what_came_meanwhile(make):
    gate, selector = make()
    gate.authority.place(Kind.HOLD, "Ada", "", 1.8e9), gate.tell()
    later = gate.authority.place(Kind.HOLD, "Bob", "", 1.8e9)
    gate.authority.release(later.number, "Bob", 1.8e9)
    selector.done.clear()
    gate.tell()
    assert selector.done[0] == "withdrawn", "also by one that was released before it was heard of"


@pytest.mark.parametrize("how", ["fault", "hangs"])
def test_a_goal_selector_begins_held_after_a_fault_and_beside_one_that_hangs(make, how):
    gate, _ = make()
    gate.failed = True
    for close in gate.closers if how == "fault" else ():
        close()
    _, selector = make()
    told = "another process of it lives" if how == "hangs" else "it came back after a crash"
    assert selector.told.hold.why == told


@pytest.mark.parametrize("broken", ["passages", "heartbeat", "navigator", "skills", ""])
def test_the_goal_selector_stands_first_and_no_fault_keeps_the_others_from_their_stop(broken):
    done, errors = [], []

    def call(name):
        def stop():
            done.append(name)
            if name == broken:
                raise RuntimeError(name)

        return stop

    node = SimpleNamespace(
        _dispatcher=SimpleNamespace(passages=SimpleNamespace(stop=call("passages"))),
        _heartbeat=SimpleNamespace(beat=call("heartbeat")),
        _navigator=SimpleNamespace(cancel=call("navigator")),
        _skills=SimpleNamespace(stop=call("skills")),
        diagnostics=SimpleNamespace(error=lambda error: errors.append(str(error))),
    )
    node._each = lambda *calls: GoalSelectorNode._each(node, *calls)
    GoalSelectorNode._on_stop(node)
    assert done == ["passages", "heartbeat", "navigator", "skills"] and errors == [
        one for one in [broken] if one
    ]

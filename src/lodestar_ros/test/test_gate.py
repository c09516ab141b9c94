"""The gate's rule: when a velocity passes, and when nothing does."""

from __future__ import annotations

import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from lodestar_ros.gate import ZERO, GateConfig, MotionGate


@pytest.fixture
def gate():
    gate = MotionGate(GateConfig())
    gate.on_heartbeat(True, False, 10.0)
    gate.on_command((0.5, 0.1, 0.2), 10.0)
    return gate


def test_gate_passes_a_fresh_command_under_a_fresh_heartbeat(gate):
    assert gate.output(10.1) == (0.5, 0.1, 0.2)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda gate: gate.hold(True), "held"),
        (lambda gate: gate.on_heartbeat(False, False, 10.05), "motion not allowed"),
        (lambda gate: gate.on_heartbeat(True, True, 10.05), "held by the goal selector"),
        (lambda gate: setattr(gate, "rival", "/twist_mux publishes"), "/twist_mux publishes"),
    ],
)
def test_gate_stops(gate, change, reason):
    change(gate)
    assert gate.blocked_by(10.1) == reason
    assert gate.output(10.1) == ZERO


def test_gate_stops_without_heartbeat_and_without_commands(gate):
    gate.on_command((0.5, 0.0, 0.0), 10.3)
    assert gate.blocked_by(10.26) == "no heartbeat"
    gate.on_heartbeat(True, False, 10.5)
    assert gate.output(10.5) == (0.5, 0.0, 0.0)
    assert gate.blocked_by(10.61) == "stale command"


def test_a_command_from_the_future_is_of_a_clock_that_went_back(gate):
    gate.on_command((0.5, 0.0, 0.0), 10.0, clock=600.0)
    assert gate.blocked_by(10.1, clock=0.1) == "stale command"


def test_a_goal_selector_releases_its_own_hold(gate):
    gate.on_heartbeat(False, True, 10.1)
    gate.on_heartbeat(True, False, 10.15)
    assert gate.blocked_by(10.18) == ""


def test_a_hold_outlives_the_goal_selector_that_asked_for_it(gate):
    """One that was started again knows nothing of the hold, and is told."""
    gate.on_heartbeat(False, True, 10.1)
    for tick in range(20):
        gate.on_heartbeat(True, False, 13.0 + tick * 0.05)
        gate.on_command((0.5, 0.0, 0.0), 13.0 + tick * 0.05)
        assert gate.blocked_by(13.0 + tick * 0.05) == "held by the goal selector"
    assert gate.selector_must_be_told(13.95)
    gate.on_heartbeat(False, True, 14.0)
    assert not gate.selector_must_be_told(14.0)
    gate.on_heartbeat(True, False, 14.05)
    assert gate.blocked_by(14.05) != "held by the goal selector", "now it is its own to release"


def test_a_goal_selector_that_died_comes_back_held(gate):
    """However fast it is back: the name of its start tells it from one that only was slow."""
    assert not gate.on_heartbeat(True, False, 10.05, "first"), "nobody was known before"
    assert gate.output(10.1) == (0.5, 0.1, 0.2)
    assert not gate.on_heartbeat(True, False, 13.0, "first"), "slow, but the same"
    gate.on_command((0.5, 0.0, 0.0), 13.0)
    assert gate.output(13.05) == (0.5, 0.0, 0.0)
    assert gate.on_heartbeat(True, False, 13.1, "second")
    for tick in range(20):
        now = 13.1 + tick * 0.05
        assert not gate.on_heartbeat(True, False, now, "second") or tick == 0
        gate.on_command((0.5, 0.0, 0.0), now)
        assert gate.output(now) == ZERO
        assert gate.selector_must_be_told(now)
    gate.hold(False)
    assert gate.output(14.1) == (0.5, 0.0, 0.0), "a person has released it"


def test_a_hold_of_the_gate_is_told_to_a_goal_selector_that_comes_later():
    gate = MotionGate()
    gate.hold(True)
    assert not gate.selector_must_be_told(1.0), "nobody is there"
    gate.on_heartbeat(False, False, 2.0)
    assert gate.selector_must_be_told(2.0)
    gate.hold(False)
    assert not gate.selector_must_be_told(2.0)


def test_a_slow_simulated_clock_does_not_make_commands_stale(gate):
    gate.on_command((0.5, 0.0, 0.0), 10.0, clock=3.0)
    gate.on_heartbeat(True, False, 11.5)
    assert gate.blocked_by(11.5, clock=3.15) == ""
    assert gate.blocked_by(11.5, clock=3.25) == "stale command"
    gate.on_heartbeat(True, False, 12.1)
    assert gate.blocked_by(12.1, clock=3.0) == "stale command", "a clock that stands does not keep it moving"


def test_gate_begins_closed():
    gate = MotionGate()
    gate.on_command((0.5, 0.0, 0.0), 0.0)
    assert gate.output(0.0) == ZERO


def test_hold_is_a_latch_that_only_a_release_opens(gate):
    gate.hold(True)
    for tick in range(100):
        gate.on_heartbeat(True, False, 10.0 + tick * 0.1)
        gate.on_command((0.5, 0.0, 0.0), 10.0 + tick * 0.1)
        assert gate.output(10.0 + tick * 0.1) == ZERO
    gate.hold(False)
    assert gate.output(19.95) == (0.5, 0.0, 0.0)


def test_gate_cuts_speed_and_swallows_nonsense(gate):
    gate.on_command((9.0, -9.0, 9.0), 10.1)
    assert gate.output(10.1) == (1.0, -0.6, 1.5)
    gate.on_command((float("nan"), 0.0, 0.0), 10.15)
    assert gate.output(10.15) == ZERO


def test_a_joystick_drives_whatever_holds_and_holds_when_it_is_let_go(gate):
    gate.on_joystick((0.3, 0.0, -0.4), 10.05)
    assert gate.output(10.1) == (0.3, 0.0, -0.4), "not the navigator's"
    assert gate.selector_must_be_told(10.1), "the directive is held too"
    for tick in range(1, 40):
        now = 10.05 + tick * 0.05
        gate.on_heartbeat(True, True, now)
        gate.on_command((0.5, 0.0, 0.0), now)
        held = now - 10.05 > 0.25
        assert gate.output(now) == (ZERO if held else (0.3, 0.0, -0.4))
        assert gate.blocked_by(now) == ("held" if held else "")
    gate.on_joystick((0.2, 0.0, 0.0), 20.0)
    assert gate.output(20.0) == (0.2, 0.0, 0.0), "also while held, and without a goal selector"


def test_a_joystick_is_cut_and_its_nonsense_is_a_stop(gate):
    gate.on_joystick((9.0, -9.0, 9.0), 10.1)
    assert gate.output(10.1) == (1.0, -0.6, 1.5)
    gate.on_joystick((float("nan"), 0.0, 0.0), 10.15)
    assert gate.output(10.15) == ZERO


def test_a_joystick_is_let_go_by_a_person_alone(gate):
    gate.on_joystick((0.2, 0.0, 0.0), 10.0)
    gate.hold(False)
    gate.on_joystick((0.2, 0.0, 0.0), 10.1)
    assert gate.blocked_by(10.5) == "held", "a hand that is still on the switch takes the release back"
    gate.hold(False)
    gate.on_heartbeat(True, False, 10.55)
    gate.on_command((0.5, 0.0, 0.0), 10.55)
    assert gate.output(10.6) == (0.5, 0.0, 0.0)

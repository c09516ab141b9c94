"""Tests of the motion gate's rules for passing and blocking velocities."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from lodestar_ros.motion.authority import Kind, MotionAuthority
from lodestar_ros.motion.gate import JOYSTICK, ZERO, GateConfig, MotionGate, limited

LIMITS = (1.0, 0.6, 1.5)


@pytest.fixture
def gate(tmp_path):
    gate = MotionGate(MotionAuthority(tmp_path / "motion" / "gate.json", 1.8e9), GateConfig())
    gate.on_heartbeat(True, 0, 10.0)
    gate.on_command((0.5, 0.1, 0.2), 10.0)
    return gate


def hold(gate, kind=Kind.HOLD, who="console"):
    return gate.authority.place(kind, who, "STOP", 1.8e9)


def follow(gate, now, allowed=True):
    """Let the goal selector hear of the newest record, and the navigator command."""
    gate.on_heartbeat(allowed, gate.authority.standing.number, now)
    gate.on_command((0.5, 0.0, 0.0), now)


def test_gate_passes_a_fresh_command_under_a_fresh_heartbeat(gate):
    assert gate.output(10.1) == (0.5, 0.1, 0.2)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (hold, "held by console since"),
        (lambda gate: hold(gate, Kind.PAUSE), "paused by console since"),
        (lambda gate: gate.on_heartbeat(False, 0, 10.05), "motion not allowed"),
        (lambda gate: gate.on_heartbeat(True, 7, 10.05), "has not heard of the newest"),
        (lambda gate: setattr(gate, "rival", "/twist_mux publishes"), "/twist_mux publishes"),
    ],
)
def test_gate_stops(gate, change, reason):
    change(gate)
    assert reason in gate.blocked_by(10.1)
    assert gate.output(10.1) == ZERO


def test_gate_stops_without_heartbeat_and_without_commands(gate):
    gate.on_command((0.5, 0.0, 0.0), 10.3)
    assert gate.blocked_by(10.26) == "no heartbeat"
    gate.on_heartbeat(True, 0, 10.5)
    assert gate.output(10.5) == (0.5, 0.0, 0.0)
    assert gate.blocked_by(10.61) == "stale command"


def test_a_command_from_the_future_is_of_a_clock_that_went_back(gate):
    gate.on_command((0.5, 0.0, 0.0), 10.0, clock=600.0)
    assert gate.blocked_by(10.1, clock=0.1) == "stale command"


def test_a_slow_simulated_clock_does_not_make_commands_stale(gate):
    gate.on_command((0.5, 0.0, 0.0), 10.0, clock=3.0)
    gate.on_heartbeat(True, 0, 11.5)
    assert gate.blocked_by(11.5, clock=3.15) == ""
    assert gate.blocked_by(11.5, clock=3.25) == "stale command"
    gate.on_heartbeat(True, 0, 12.1)
    assert gate.blocked_by(12.1, clock=3.0) == "stale command", "a clock that stands does not keep it moving"


def test_gate_begins_closed(tmp_path):
    gate = MotionGate(MotionAuthority(tmp_path / "motion" / "gate.json", 1.8e9))
    gate.on_command((0.5, 0.0, 0.0), 0.0)
    assert gate.output(0.0) == ZERO


@pytest.mark.parametrize("kind", [Kind.HOLD, Kind.PAUSE])
def test_only_a_release_opens_and_no_heartbeat_of_before_it(gate, kind):
    number = hold(gate, kind).number
    for tick in range(100):
        follow(gate, 10.0 + tick * 0.1)
        assert gate.output(10.0 + tick * 0.1) == ZERO
    gate.authority.release(number, "a person", 0.0)
    gate.on_command((0.5, 0.0, 0.0), 20.0)
    assert gate.output(20.0) == ZERO, "the newest heartbeat is of before the release"
    follow(gate, 20.05)
    assert gate.output(20.05) == (0.5, 0.0, 0.0)


def test_a_gate_that_was_killed_begins_held(gate, tmp_path):
    """In the place of its predecessor it would pass the next directive, which nobody has released."""
    for crashed in (False, True):
        gate = MotionGate(MotionAuthority(tmp_path / "motion" / "gate.json", 1.8e9, crashed))
        follow(gate, 20.0)
        assert gate.output(20.0) == (ZERO if crashed else (0.5, 0.0, 0.0))


def test_gate_swallows_nonsense(gate):
    for nonsense in (math.nan, math.inf, -math.inf, 1e6, 10.1):
        gate.on_command((0.2, 0.0, 0.0), 10.1)
        gate.on_command((0.1, nonsense, 0.0), 10.15)
        assert gate.output(10.15) == ZERO


@given(st.tuples(*[st.floats(-10.0, 10.0)] * 3))
def test_a_velocity_above_the_limits_keeps_its_direction(velocity):
    passed = limited(velocity, LIMITS)
    assert all(abs(v) <= top * (1 + 1e-9) for v, top in zip(passed, LIMITS))
    for a in range(3):
        for b in range(3):
            assert passed[a] * velocity[b] == pytest.approx(passed[b] * velocity[a])
    inside = all(abs(v) <= top for v, top in zip(velocity, LIMITS))
    assert not inside or passed == velocity, "one within the limits is not changed"


@pytest.mark.parametrize(
    ("age", "passes"), [(0.0, True), (0.19, True), (0.3, False), (-0.02, True), (-1.0, False)]
)
def test_the_stamp_of_a_command_is_read(gate, age, passes):
    gate.on_command((0.4, 0.0, 0.0), 10.1, age=age)
    assert gate.output(10.1) == ((0.4, 0.0, 0.0) if passes else ZERO)
    gate.on_heartbeat(True, 0, 10.4)
    told = "" if passes else f": (0.4, 0.0, 0.0) with a stamp {age:.1f} s old is refused"
    assert gate.blocked_by(10.4) == f"stale command{told}"
    gate.on_joystick((0.3, 0.0, 0.0), 10.1, 0.0, age=age)
    assert gate.output(10.1) == ((0.3, 0.0, 0.0) if passes else ZERO)


def test_a_joystick_drives_under_its_own_hold_and_the_robot_stands_when_it_is_let_go(gate):
    assert gate.on_joystick((0.3, 0.0, -0.4), 10.05, 1.8e9)
    assert gate.output(10.1) == (0.3, 0.0, -0.4), "not the navigator's"
    assert gate.authority.standing.hold.who == JOYSTICK, "the directive ends"
    for tick in range(1, 40):
        now = 10.05 + tick * 0.05
        follow(gate, now)
        held = now - 10.05 > 0.25
        assert gate.output(now) == (ZERO if held else (0.3, 0.0, -0.4))
        assert bool(gate.blocked_by(now)) is held
    gate.on_joystick((0.2, 0.0, 0.0), 20.0, 1.8e9)
    assert gate.output(20.0) == (0.2, 0.0, 0.0), "also without a goal selector"


@pytest.mark.parametrize("kind", [Kind.HOLD, Kind.PAUSE])
@pytest.mark.parametrize("before", [False, True])
def test_no_joystick_passes_the_hold_of_anybody_else(gate, kind, before):
    """A joystick may also be a recording that somebody plays."""
    if before:
        gate.on_joystick((0.3, 0.0, 0.0), 10.0, 1.8e9)
    hold(gate, kind, who=JOYSTICK if kind is Kind.HOLD else "console")  # whatever name it is given
    assert not gate.on_joystick((0.3, 0.0, 0.0), 10.05, 1.8e9)
    assert gate.output(10.06) == ZERO


def test_a_joystick_of_a_node_that_nobody_named_moves_nothing(gate):
    gate.stick_rival = "/rosbag2_player publishes cmd_vel_joy"
    assert not gate.on_joystick((0.3, 0.0, 0.0), 10.1, 1.8e9)
    assert gate.output(10.1) == (0.5, 0.1, 0.2) and not gate.authority.standing.records


def test_a_joystick_is_cut_and_its_nonsense_is_a_stop(gate):
    gate.on_joystick((9.0, -9.0, 9.0), 10.1, 1.8e9)
    assert gate.output(10.1) == pytest.approx((0.6, -0.6, 0.6))
    gate.on_joystick((float("nan"), 0.0, 0.0), 10.15, 1.8e9)
    assert gate.output(10.15) == ZERO


def test_a_joystick_is_let_go_by_a_person_alone(gate):
    gate.on_joystick((0.2, 0.0, 0.0), 10.0, 1.8e9)
    gate.authority.release(gate.authority.standing.number, "a person", 0.0)
    assert gate.output(10.05) == ZERO, "what it commanded before the release is over"
    gate.on_joystick((0.2, 0.0, 0.0), 10.1, 1.8e9)
    assert "held by the joystick" in gate.blocked_by(10.5), (
        "a hand that is still on the switch takes the release back"
    )
    gate.authority.release(gate.authority.standing.number, "a person", 0.0)
    follow(gate, 10.55)
    assert gate.output(10.6) == (0.5, 0.0, 0.0)


@pytest.mark.parametrize("name", ["max_forward", "max_turn", "heartbeat_timeout", "command_timeout"])
@pytest.mark.parametrize("value", [math.nan, math.inf, -1.0])
def test_a_config_that_limits_nothing_is_refused(name, value):
    with pytest.raises(ValueError, match="must"):
        GateConfig(**{name: value})


def test_a_limit_of_zero_drops_its_axis():
    assert limited((0.5, 1e-9, 0.2), (1.0, 0.0, 1.5)) == (0.5, 0.0, 0.2)


def test_another_goal_selector_holds_unless_the_last_one_ended_properly(gate):
    assert not gate.on_start_id("one", False, 1.8e9) and not gate.on_start_id("one", False, 1.8e9)
    assert gate.on_start_id("two", False, 1.8e9)
    assert "another goal_selector" in gate.blocked_by(10.1)
    assert not gate.on_start_id("one", False, 1.8e9), "one record for two that beat in turns"
    gate.authority.release(gate.authority.standing.number, "a person", 1.8e9)
    assert not gate.on_start_id("one", True, 1.8e9) and not gate.on_start_id("three", False, 1.8e9)
    assert not gate.authority.standing.records


def test_the_navigator_yields_to_people_and_holds_and_the_joystick_come_first(tmp_path):
    def give_way(velocity):
        return tuple(v / 2.0 for v in velocity), "yields to a person 0.6 m away"

    gate = MotionGate(MotionAuthority(tmp_path / "motion" / "gate.json", 1.8e9), GateConfig())
    gate.give_way = give_way
    follow(gate, 10.0)
    assert gate.output(10.0) == (0.25, 0.0, 0.0) and gate.yields == "yields to a person 0.6 m away"
    assert gate.on_joystick((0.4, 0.0, 0.0), 10.0, 1.8e9)
    assert gate.output(10.0) == (0.4, 0.0, 0.0) and gate.yields == ""
    hold(gate)
    assert gate.output(10.0) == ZERO and gate.yields == ""

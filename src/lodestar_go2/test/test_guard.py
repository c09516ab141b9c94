"""Tests of the guard, the second watchdog."""

from __future__ import annotations

import pytest

from lodestar_go2.guard import Guard, GuardConfig
from lodestar_go2.sport import CLIMB, STOP, SportApi, SportRequest, move

WALK = move((0.5, 0.0, 0.0))


def test_velocities_that_end_without_a_stop_are_followed_by_stops(monkeypatch) -> None:
    monkeypatch.setattr("lodestar_go2.guard.GUARD_REPEATS", 3)
    guard = Guard(GuardConfig(timeout=0.3))
    guard.on_request(WALK, 0.0)
    assert guard.check(0.25) == []
    assert [guard.check(0.35 + 0.05 * i) for i in range(5)] == [[STOP], [STOP], [STOP], [], []]
    assert guard.stops == 1


def test_a_gait_ends_no_walk() -> None:
    guard = Guard()
    guard.on_request(WALK, 0.0)
    guard.on_request(CLIMB, 0.1)
    assert guard.check(0.4) == [STOP]
    guard.on_request(CLIMB, 0.5)
    assert guard.check(0.6) == [STOP], "it goes on with the stops that are left"


@pytest.mark.parametrize("last", [STOP, SportRequest(SportApi.STAND_DOWN)])
def test_a_base_that_stops_the_robot_itself_is_left_alone(last: SportRequest) -> None:
    guard = Guard()
    guard.on_request(WALK, 0.0)
    guard.on_request(last, 0.1)
    assert guard.check(5.0) == [] and guard.stops == 0
    assert Guard().check(5.0) == []


def test_a_base_that_comes_back_takes_over() -> None:
    guard = Guard()
    guard.on_request(WALK, 0.0)
    assert guard.check(0.4) == [STOP]
    guard.on_request(WALK, 0.45)
    assert guard.check(0.5) == []


def test_a_guard_without_a_timeout_is_refused() -> None:
    with pytest.raises(ValueError, match="must"):
        GuardConfig(timeout=0.0)

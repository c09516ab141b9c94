"""The clock of whoever must not wait for a simulation that stands."""

from __future__ import annotations

import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from lodestar_ros.clocks import PatientClock


def test_a_clock_that_stands_counts_as_running_after_a_while():
    simulated, real = [5.0], [0.0]
    clock = PatientClock(lambda: simulated[0], 10.0, lambda: real[0])
    real[0] = 9.0
    assert clock.now() == 5.0
    real[0] = 25.0
    assert clock.now() == pytest.approx(20.0)
    simulated[0], before = 5.1, clock.now()
    assert clock.now() == pytest.approx(before + 0.1), "time never goes back when the clock goes on"
    real[0] = 30.0
    assert clock.now() == pytest.approx(before + 0.1)

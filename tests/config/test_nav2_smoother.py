"""Tests that the robot stands in time behind Nav2's velocity smoother, with the values of the profile."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from lodestar_ros.motion.authority import MotionAuthority
from lodestar_ros.motion.gate import ZERO, MotionGate

PROFILE = Path(__file__).parents[2] / "config" / "nav2.yaml"
PROMISE = 0.5  # s, docs/how-to/safety.md


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("phase", [0.0, 0.3, 0.6, 0.9])
def test_the_last_velocity_leaves_in_time_after_the_controller_has_died(tmp_path, axis, phase):
    """The smoother repeats the last command until its timeout, and then ramps down at its own rate."""
    profile = yaml.safe_load(PROFILE.read_text())
    values = profile["/**/velocity_smoother"]["ros__parameters"]
    period = 1.0 / values["smoothing_frequency"]
    gate = MotionGate(MotionAuthority(tmp_path / "motion" / "gate.json", 1.8e9))
    speed = top = values["max_velocity"][axis]
    last, now = 0.0, phase * period
    while now < 2.0:
        target = top if now <= values["velocity_timeout"] else 0.0
        speed = max(target, speed + values["max_decel"][axis] * period)
        gate.on_heartbeat(True, 0, now)
        gate.on_command(tuple(speed if one == axis else 0.0 for one in range(3)), now)
        if gate.output(now) != ZERO:
            last = now
        now += period
    assert 0.1 < last + period <= PROMISE

"""Tests of pose jumps: steps that the measured velocity does not explain."""

from __future__ import annotations

import math

import numpy as np
import pytest

from lodestar.agent.facts.config import LoopConfig
from lodestar.agent.facts.newest import Odometer
from lodestar.agent.facts.times import NEVER, Stamp

STEP = 0.1  # s
VELOCITY = np.array([0.8, 0.1, 1.0])  # vx, vy, yaw rate: m/s, m/s, rad/s


def driven(odometer: Odometer, steps: int, hears: bool = True) -> np.ndarray:
    """Drive a curve with noise of 1 cm; return the last pose (3,)."""
    rng, pose = np.random.default_rng(1), np.array([1.0, 2.0, 0.5])
    for number in range(steps):
        if hears:
            odometer.feel(VELOCITY, Stamp(number * STEP))
        odometer.observe(pose + rng.normal(0.0, 0.01, 3), Stamp(number * STEP))
        yaw = pose[2]
        turn = np.array([[math.cos(yaw), -math.sin(yaw)], [math.sin(yaw), math.cos(yaw)]])
        pose = np.array([*(pose[:2] + turn @ VELOCITY[:2] * STEP), yaw + VELOCITY[2] * STEP])
    return pose


@pytest.mark.parametrize("hears", [True, False])
def test_a_drive_is_no_jump(hears):
    odometer = Odometer(LoopConfig())
    driven(odometer, 100, hears)
    assert odometer.jumped_at == NEVER


@pytest.mark.parametrize(
    "jump, jumps",
    [
        ((0.4, 0.0, 0.0), True),
        ((0.0, -0.35, 0.0), True),
        ((0.0, 0.0, 0.45), True),
        ((0.0, 0.0, -0.45), True),
        ((0.15, 0.1, 0.05), False),  # a small correction during mapping
    ],
)
def test_small_jumps_and_turns_alone_are_noticed(jump, jumps):
    odometer = Odometer(LoopConfig())
    pose = driven(odometer, 20)
    odometer.feel(VELOCITY, Stamp(2.0))
    odometer.observe(pose + jump, Stamp(2.0))
    assert (odometer.jumped_at == Stamp(2.0)) is jumps
    if jumps:
        assert odometer.jump is not None and odometer.jump[1] == pytest.approx(pose + jump)


def test_without_a_velocity_only_what_nobody_drives_is_a_jump():
    odometer = Odometer(LoopConfig())
    pose = driven(odometer, 20, hears=False)
    odometer.observe(pose + np.array([0.0, 0.0, 1.0]), Stamp(2.0))
    assert odometer.jumped_at == NEVER, "it may have turned"
    odometer.observe(pose + np.array([0.6, 0.0, 1.0]), Stamp(2.1))
    assert odometer.jumped_at == Stamp(2.1)


def test_after_a_gap_nothing_is_known_of_the_drive():
    odometer = Odometer(LoopConfig())
    pose = driven(odometer, 20)
    odometer.observe(pose + np.array([2.0, 0.0, 0.0]), Stamp(9.0))
    assert odometer.jumped_at == NEVER

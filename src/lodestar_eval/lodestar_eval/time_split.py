"""Seconds of a search by what the robot does, and the shortest time in which it could have driven there."""

from __future__ import annotations

import math
from collections import defaultdict

import numpy as np

from lodestar_sim.robot import RobotConfig

DRIVES = 0.05  # m/s in the plane from which the robot drives
TURNS = 0.05  # rad/s from which one that does not drive turns on the spot
KINDS = ("driving", "turning", "standing")


class TimeWatcher:
    """Add up the simulated seconds of one episode by what the robot does. Affects nothing."""

    def __init__(self, now: float) -> None:
        self._before = now
        self.seconds: defaultdict[str, float] = defaultdict(float)

    def observe(self, now: float, velocity: np.ndarray, state: str) -> None:
        """Count the time since the last call. velocity: (3,) m/s, m/s, rad/s; state: name of the loop's state."""
        kind = kind_of(velocity)
        passed, self._before = now - self._before, now
        self.seconds[kind] += passed
        if kind == "standing":
            self.seconds[f"standing.{state.lower()}"] += passed


def kind_of(velocity: np.ndarray) -> str:
    """Return the kind of motion of a velocity (3,), m/s, m/s, rad/s: who drives and turns, drives."""
    if math.hypot(velocity[0], velocity[1]) >= DRIVES:
        return "driving"
    return "turning" if abs(velocity[2]) >= TURNS else "standing"


def quickest(length: float, robot: RobotConfig) -> float:
    """Return the shortest time, s, in which this robot drives a way of this length, metres, from rest to rest.

    It turns while it drives, so that no time is counted for turns: a bound that no robot with these limits beats.
    """
    up, down, top = robot.acceleration, robot.braking, robot.max_forward
    ramps = top**2 / 2.0 * (1.0 / up + 1.0 / down)  # m, to the speed limit and back
    if length < ramps:
        peak = math.sqrt(2.0 * length / (1.0 / up + 1.0 / down))
        return peak * (1.0 / up + 1.0 / down)
    return top * (1.0 / up + 1.0 / down) + (length - ramps) / top

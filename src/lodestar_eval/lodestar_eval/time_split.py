"""Seconds of a search by the robot's activity, and the shortest possible driving time."""

from __future__ import annotations

import math
from collections import defaultdict

import numpy as np

from lodestar_sim.robot import ROBOT_ACCELERATION, ROBOT_BRAKING, RobotConfig

DRIVES = 0.05  # m/s in the plane above which the robot counts as driving
TURNS = 0.05  # rad/s above which a robot that does not drive counts as turning
KINDS = ("driving", "turning", "standing")


class TimeWatcher:
    """Adds up the simulated seconds of an episode by the robot's activity; does not affect the run."""

    def __init__(self, now: float) -> None:
        self._before = now
        self.seconds: defaultdict[str, float] = defaultdict(float)

    def observe(self, now: float, velocity: np.ndarray, state: str) -> None:
        """Add the time since the last call. velocity: (3,) m/s, m/s, rad/s; state: name of the loop's state."""
        kind = kind_of(velocity)
        passed, self._before = now - self._before, now
        self.seconds[kind] += passed
        if kind == "standing":
            self.seconds[f"standing.{state.lower()}"] += passed


def kind_of(velocity: np.ndarray) -> str:
    """Return the kind of motion of a velocity (3,), m/s, m/s, rad/s; driving with a turn counts as driving."""
    if math.hypot(velocity[0], velocity[1]) >= DRIVES:
        return "driving"
    return "turning" if abs(velocity[2]) >= TURNS else "standing"


def quickest(length: float, robot: RobotConfig) -> float:
    """Return the shortest time, s, in which this robot drives a path of this length, metres, from rest to rest.

    Turning is assumed to happen while driving, so this is a lower bound for every robot with these limits.
    """
    up, down, top = ROBOT_ACCELERATION, ROBOT_BRAKING, robot.max_forward
    ramps = top**2 / 2.0 * (1.0 / up + 1.0 / down)  # m, to accelerate to the speed limit and to brake
    if length < ramps:
        peak = math.sqrt(2.0 * length / (1.0 / up + 1.0 / down))
        return peak * (1.0 / up + 1.0 / down)
    return top * (1.0 / up + 1.0 / down) + (length - ramps) / top

"""Seconds to a place: the one estimate by which goals of different experts are compared."""

from __future__ import annotations

import math

import numpy as np

from lodestar.geometry.poses import wrap_angle
from lodestar.grid.config import PaceConfig


def seconds_to(length: float, turn: float, pace: PaceConfig, verifies: bool = False) -> float:
    """Return the expected seconds to drive `length` metres of path, turn by `turn` radians, and look there.

    The robot turns while it drives: the longer of the two counts, and of the shorter what `pace.overlap` leaves.
    verifies: a target is verified there. inf without a way.
    """
    moving = float(seconds_of(np.array(max(length, 0.0)), abs(turn), pace))
    return moving + pace.look + (pace.verify if verifies else 0.0)


def seconds_of(lengths: np.ndarray, turns: np.ndarray | float, pace: PaceConfig) -> np.ndarray:
    """Return the seconds of motion alone for metres of path and radians >= 0, which are arrays of one shape."""
    drive, turning = lengths / pace.speed, turns / pace.turn
    return np.maximum(drive, turning) + (1.0 - pace.overlap) * np.minimum(drive, turning)


def turn_between(pose: np.ndarray, goal: np.ndarray) -> float:
    """Return the radians in [0, pi] between the headings of two poses (3,)."""
    return abs(float(wrap_angle(float(goal[2]) - float(pose[2])))) if len(pose) > 2 else math.pi / 2.0

"""Travel time to a place: one estimate, by which goals of different experts are compared."""

from __future__ import annotations

import math

import numpy as np

from lodestar.geometry.poses import wrap_angle

PACE_SPEED = 0.5  # m/s of path; measured: mean of driving over nine simulated buildings
# rad/s; chosen: mean of a turn with its start and end, at the limit of 1 rad/s of `sim_navigator`
PACE_TURN = 0.7
# share, 0..1, of the shorter of driving and turning that overlaps with the longer; chosen
PACE_OVERLAP = 0.75
PACE_LOOK = 1.0  # s of standing from the arrival to the next goal; chosen: the least of 1 to 2 s measured
PACE_VERIFY = 2.0  # s of standing until a target is verified; chosen


def seconds_to(length: float, turn: float, verifies: bool = False) -> float:
    """Return the expected seconds to drive `length` metres of path, turn by `turn` radians, and look.

    The robot turns while it drives: the longer of the two counts fully, the shorter by the share 1 -
    PACE_OVERLAP. verifies: whether a target is verified there, which takes longer. inf if `length` is inf (no
    path).
    """
    moving = float(seconds_of(np.array(max(length, 0.0)), abs(turn)))
    return moving + PACE_LOOK + (PACE_VERIFY if verifies else 0.0)


def seconds_of(lengths: np.ndarray, turns: np.ndarray | float) -> np.ndarray:
    """Return the seconds of driving and turning only.

    lengths: metres of path. turns: radians >= 0, of the same shape.
    """
    drive, turning = lengths / PACE_SPEED, turns / PACE_TURN
    return np.maximum(drive, turning) + (1.0 - PACE_OVERLAP) * np.minimum(drive, turning)


def turn_between(pose: np.ndarray, goal: np.ndarray) -> float:
    """Return the angle, radians in [0, pi], between the headings of two poses (3,).

    It is pi / 2 if `pose` has no heading.
    """
    return abs(float(wrap_angle(float(goal[2]) - float(pose[2])))) if len(pose) > 2 else math.pi / 2.0

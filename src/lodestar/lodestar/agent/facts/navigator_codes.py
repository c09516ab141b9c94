"""Meaning of Nav2's error codes for the way, the goal and the pose; the codes are those of Jazzy and Kilted."""

from __future__ import annotations

GOAL_REFUSED = frozenset({204, 206})  # GOAL_OUTSIDE_MAP, GOAL_OCCUPIED
POSE_REFUSED = frozenset({102, 202, 9002})  # the TF errors
LATE = frozenset({107, 207, 9003})  # a server did not answer in time, or planned for too long
_UNKNOWN_PLUGIN = frozenset({101, 201})  # INVALID_CONTROLLER, INVALID_PLANNER
_PLANNER, _CONTROLLER = range(200, 300), range(100, 200)
_SAYS_NOTHING_OF_THE_WAY = GOAL_REFUSED | POSE_REFUSED | LATE | _UNKNOWN_PLUGIN


def is_planner_refusal(code: int) -> bool:
    """Return whether the planner looked for a way and found none."""
    return code in _PLANNER and code not in _SAYS_NOTHING_OF_THE_WAY


def is_controller_stuck(code: int) -> bool:
    """Return whether the controller tried to move the robot and could not."""
    return code in _CONTROLLER and code not in _SAYS_NOTHING_OF_THE_WAY

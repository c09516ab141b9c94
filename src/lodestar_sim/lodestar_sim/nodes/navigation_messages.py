"""Conversion of the navigator's commands, paths, feedback and results to messages."""

from __future__ import annotations

import numpy as np
from nav2_msgs.action import NavigateToPose
from nav_msgs.msg import Path

from lodestar_ros.conversions import duration_to_msg, header, planar_to_stamped
from lodestar_sim.navigator import NavigatorStep

PATH_STRIDE = 3  # every third cell of a path is published


def path_to_msg(path: np.ndarray, stamp: float) -> Path:
    """Return the message of a path (N, 2), N >= 2, in map; each pose faces the next point."""
    ahead = np.diff(path, axis=0, append=path[-1:])
    ahead[-1] = ahead[-2]
    yaws = np.arctan2(ahead[:, 1], ahead[:, 0])
    kept = [*range(0, len(path) - 1, PATH_STRIDE), len(path) - 1]
    message = Path(header=header(stamp, "map"))
    message.poses = [planar_to_stamped((*path[i], yaws[i]), stamp) for i in kept]
    return message


def feedback_to_msg(
    pose: tuple[float, float, float], stamp: float, since: float, step: NavigatorStep
) -> NavigateToPose.Feedback:
    """Return the feedback at a pose in map, `since` seconds into the goal."""
    remaining, speed = float(step.distance_remaining), float(np.hypot(*step.command[:2]))
    return NavigateToPose.Feedback(
        current_pose=planar_to_stamped(pose, stamp),
        navigation_time=duration_to_msg(max(since, 0.0)),
        estimated_time_remaining=duration_to_msg(remaining / max(speed, 0.2)),
        distance_remaining=remaining,
    )


def result_to_msg(code: int, text: str) -> NavigateToPose.Result:
    """Return a result message. Humble's has no fields; from Jazzy on it has error code and text."""
    result = NavigateToPose.Result()
    for name, value in (("error_code", int(code)), ("error_msg", text)):
        if hasattr(result, name):
            setattr(result, name, value)
    return result

"""Inputs that the robot cannot go on without, and that no longer come."""

from __future__ import annotations

from lodestar.agent.errands.context import LoopContext
from lodestar.agent.facts.errors import ErrorCode


def silent_input(context: LoopContext) -> tuple[ErrorCode, str] | None:
    """Return the code and the message with which a directive ends: no pose or no grid comes; None while both do."""
    if context.pose_is_old:
        silent = f"{context.pose_age:.0f} s"
        return (
            ErrorCode.TF_ERROR,
            f"The robot's pose in the map has not been known for {silent}; is odometry up?",
        )
    if context.grid_is_old:
        return (
            ErrorCode.NO_MAP,
            f"No newer grid has come for {context.grid_age:.0f} s; does mapping still run?",
        )
    return None

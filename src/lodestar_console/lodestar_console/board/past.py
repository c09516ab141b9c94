"""Look-up of the data shown on pages (the board) at a past time."""

from __future__ import annotations

from lodestar_console import protocol
from lodestar_console.board.board import Board

AROUND = 15.0  # s before a moment; events of this interval are shown
MOST_EVENTS = 50


def at(board: Board, moment: float) -> protocol.AtValue:
    """Return the state at a moment (s): newest decision until then, preceding events, robot pose and keyframe."""
    decisions = [one for one in board.tables["decisions"].values() if one.at <= moment]
    events = sorted(
        (one for one in board.tables["events"].values() if one.at <= moment), key=lambda one: one.at
    )
    recent = [one for one in events if one.at >= moment - AROUND][-MOST_EVENTS:]
    last = next((one for one in reversed(events) if one.pose is not None), None)
    decision = max(decisions, key=lambda one: one.at, default=None)
    evidence = decision.keyframes[0] if decision and decision.keyframes else 0
    return protocol.AtValue(
        at=moment,
        decision=decision,
        events=recent,
        pose=board.poses.at(moment) or (last.pose if last else None),
        keyframe=board.shots.at(moment) or evidence,
    )

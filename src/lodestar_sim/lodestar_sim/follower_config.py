"""Speeds, distances and body of the robot that follows a path."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class FollowerConfig:
    """Speeds, distances and body of the robot."""

    length: float = 0.70  # metres, footprint; Unitree Go2
    width: float = 0.32  # metres, footprint; Unitree Go2
    padding: float = 0.4  # cells by which the footprint grows, as cells are tested at their centre; chosen
    max_forward: float = 0.75  # m/s; chosen
    max_lateral: float = 0.35  # m/s; chosen: half of max_forward
    max_turn: float = 1.0  # rad/s; chosen
    deceleration: float = 1.0  # m/s^2, used for planning; chosen
    lookahead: float = 0.5  # metres along the path; chosen
    # metres to an obstacle from which the robot slows ...; chosen
    slow_from: float = 0.60
    slow_at: float = 0.25  # metres ... down to `slow_speed`; chosen
    slow_speed: float = 0.30  # m/s; chosen
    unknown_speed: float = 0.30  # m/s while the footprint would cover unknown cells; chosen: as slow_speed
    # metres to the nearest obstacle from which it turns while it walks; chosen: half of the body's diagonal, and a cell
    turning_room: float = 0.45
    turn_deceleration: float = 2.0  # rad/s^2, used for planning; chosen
    # metres before the goal from which the robot takes the final heading; with room it takes it as soon as the turn
    # needs the rest of the way at `max_lateral`; chosen
    final_distance: float = 0.45
    # metres to a goal with a similar heading that is reached without turning; chosen
    aside: float = 0.60
    aside_turn: float = 0.20  # radians, "similar"; chosen
    position_tolerance: float = 0.15  # metres; chosen: three cells of 5 cm
    yaw_tolerance: float = 0.15  # radians; chosen: below the 30 degrees of success
    look_time: float = 0.6  # seconds ahead that must be free; chosen
    # whether it turns to what the camera has not looked at while it walks, as far as it walks at its full speed; off:
    # searches were no faster with it (ADR 0099)
    looks_aside: bool = False


def aside_angle(config: FollowerConfig) -> float:
    """Return the largest angle, radians, between heading and motion at which the robot walks at its full speed."""
    return math.asin(min(config.max_lateral / config.max_forward, 1.0))

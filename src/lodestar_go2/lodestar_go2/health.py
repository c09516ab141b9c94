"""Warnings about the robot's health, in words."""

from __future__ import annotations

import math

from lodestar_go2.states import JOINTS, LEGS, LowState, SportState

HEALTH_LOW_CHARGE = 0.2  # charge in [0, 1] from which the battery is low; chosen
HEALTH_HOT = 70  # degrees Celsius from which a motor is hot; chosen
HEALTH_CONTACT_FORCE = 20  # raw foot force from which a foot stands; chosen


def warnings_of(low: LowState | None) -> list[str]:
    """Return short warnings about battery and motors; empty if there are none."""
    found: list[str] = []
    if low is None:
        return found
    if math.isfinite(low.charge) and low.charge <= HEALTH_LOW_CHARGE:
        found.append(f"battery {low.charge:.0%}")
    hot = [f"{JOINTS[i]} {t} degrees" for i, t in enumerate(low.temperatures) if t >= HEALTH_HOT]
    if hot:
        found.append(f"hot motors: {', '.join(hot)}")
    return found


def feet_in_words(sport: SportState) -> str:
    """Return the names of the feet on the floor, such as "FR FL RR RL"."""
    down = [leg for leg, force in zip(LEGS, sport.foot_force) if force >= HEALTH_CONTACT_FORCE]
    return " ".join(down) or "none"

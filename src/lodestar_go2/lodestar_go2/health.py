"""Warnings about the robot's health, in words."""

from __future__ import annotations

import math
from dataclasses import dataclass

from lodestar_go2.states import JOINTS, LEGS, LowState, SportState


@dataclass(frozen=True)
class HealthConfig:
    """Limits of the warnings; chosen."""

    low_charge: float = 0.2  # [0, 1]
    hot: int = 70  # degrees Celsius of a motor
    contact_force: int = 20  # raw foot force from which a foot stands


def warnings_of(low: LowState | None, config: HealthConfig) -> list[str]:
    """Return what is wrong, each in a few words; empty where nothing is."""
    found: list[str] = []
    if low is None:
        return found
    if math.isfinite(low.charge) and low.charge <= config.low_charge:
        found.append(f"battery {low.charge:.0%}")
    hot = [f"{JOINTS[i]} {t} degrees" for i, t in enumerate(low.temperatures) if t >= config.hot]
    if hot:
        found.append(f"hot motors: {', '.join(hot)}")
    return found


def feet_in_words(sport: SportState, config: HealthConfig) -> str:
    """Return which feet stand on the floor: "FR FL RR RL"."""
    down = [leg for leg, force in zip(LEGS, sport.foot_force) if force >= config.contact_force]
    return " ".join(down) or "none"

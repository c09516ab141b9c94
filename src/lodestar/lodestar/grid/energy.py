"""How far the robot may still go (RoboAtlas IV-D: goals are energy-feasible)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class EnergyBudget:
    """What is left of the battery, told as metres of path.

    range_left: metres that the robot can still drive, inf = no limit. charger: (x, y) in map where it has to
    be back with that, or None. reserve: metres that are not planned with. Raises ValueError for values that
    are no lengths.
    """

    range_left: float = math.inf
    charger: tuple[float, float] | None = None
    reserve: float = 5.0

    def __post_init__(self) -> None:
        if math.isnan(self.range_left) or not (math.isfinite(self.reserve) and self.reserve >= 0.0):
            raise ValueError(f"no lengths: range_left {self.range_left}, reserve {self.reserve}")
        if self.charger is not None and not np.isfinite(self.charger).all():
            raise ValueError(f"no position: charger {self.charger}")

    @property
    def limited(self) -> bool:
        """Whether there is a limit at all."""
        return math.isfinite(self.range_left)

    @property
    def spendable(self) -> float:
        """Metres that may be planned with, >= 0."""
        return max(self.range_left - self.reserve, 0.0)

    def affords(self, there: np.ndarray, back: np.ndarray | float = 0.0) -> np.ndarray:
        """Bool of the lengths' shape: whether `there` metres and then `back` to the charger fit.

        Unreachable (inf) is never afforded.
        """
        total = np.asarray(there, np.float64) + np.asarray(back, np.float64)
        return np.isfinite(total) & (total <= self.spendable)

    def must_return(self, way_back: float) -> bool:
        """Whether the robot has to start for the charger now; `way_back`: metres of path to it."""
        return self.limited and way_back >= self.spendable

    def after(self, driven: float) -> EnergyBudget:
        """The budget that is left after `driven` more metres."""
        return EnergyBudget(max(self.range_left - driven, 0.0), self.charger, self.reserve)

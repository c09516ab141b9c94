"""Energy budget of the robot as path length (RoboAtlas IV-D: goals are energy-feasible)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class EnergyBudget:
    """Remaining battery charge, expressed as metres of path.

    Raises ValueError for values that are not lengths.
    """

    range_left: float = math.inf  # metres that the robot can still drive; inf = no limit
    # (x, y) in map, metres, where the drive must end; None = anywhere
    charger: tuple[float, float] | None = None
    reserve: float = 5.0  # metres excluded from planning; chosen

    def __post_init__(self) -> None:
        if math.isnan(self.range_left) or not (math.isfinite(self.reserve) and self.reserve >= 0.0):
            raise ValueError(f"no lengths: range_left {self.range_left}, reserve {self.reserve}")
        if self.charger is not None and not np.isfinite(self.charger).all():
            raise ValueError(f"no position: charger {self.charger}")

    @property
    def limited(self) -> bool:
        """Return whether the remaining range is limited."""
        return math.isfinite(self.range_left)

    @property
    def spendable(self) -> float:
        """Return the metres available for planning, >= 0: the range without the reserve."""
        return max(self.range_left - self.reserve, 0.0)

    def affords(self, there: np.ndarray, back: np.ndarray | float = 0.0) -> np.ndarray:
        """Return (...) bool: whether the budget suffices for `there` metres and then `back` to the charger.

        The shape is that of the lengths. Unreachable places (length inf) are never affordable.
        """
        total = np.asarray(there, np.float64) + np.asarray(back, np.float64)
        return np.isfinite(total) & (total <= self.spendable)

    def must_return(self, way_back: float) -> bool:
        """Return whether the robot must drive to the charger now; `way_back`: metres of path to the charger."""
        return self.limited and way_back >= self.spendable

    def after(self, driven: float) -> EnergyBudget:
        """Return the budget left after `driven` more metres."""
        return EnergyBudget(max(self.range_left - driven, 0.0), self.charger, self.reserve)

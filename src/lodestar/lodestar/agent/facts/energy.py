"""Battery budget in metres of path."""

from __future__ import annotations

from lodestar.grid.energy import EnergyBudget


class Battery:
    """The newest budget, and how far the robot has driven since."""

    def __init__(self) -> None:
        self._budget = EnergyBudget()
        self._heard_at = 0.0  # metres on the odometer

    def observe(self, budget: EnergyBudget, driven: float) -> None:
        """This is left with `driven` metres on the odometer."""
        self._budget, self._heard_at = budget, driven

    def left(self, driven: float) -> EnergyBudget:
        """Return the budget that is left with `driven` metres on the odometer."""
        return self._budget.after(driven - self._heard_at)

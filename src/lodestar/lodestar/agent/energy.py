"""Battery budget in metres of path, and the length of the way back that it must cover."""

from __future__ import annotations

import math

import numpy as np

from lodestar.agent.config import LoopConfig
from lodestar.grid.energy import EnergyBudget
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.grid.paths import path_lengths


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


def way_back(
    grid: OccupancyGrid2D, pose: np.ndarray, goal: np.ndarray, budget: EnergyBudget, config: LoopConfig
) -> float:
    """Metres of path from pose (3,) to the goal (2,); planned only where a detour of the straight line would not do.

    Where no path is known, the straight line and a detour.
    """
    guess = config.detour * math.dist(pose[:2], goal)
    if 2.0 * guess < budget.spendable:
        return guess
    lengths = path_lengths(grid, pose[:2])
    low = np.maximum(grid.cells_of(np.array([goal - config.charger_reach]))[0], 0)
    high = np.maximum(grid.cells_of(np.array([goal + config.charger_reach]))[0] + 1, 0)
    window = lengths[low[0] : high[0], low[1] : high[1]]
    shortest = float(window.min()) if window.size else math.inf
    return shortest if math.isfinite(shortest) else guess

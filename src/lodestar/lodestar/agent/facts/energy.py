"""Battery budget in metres of path, and the length of the way back that it must cover."""

from __future__ import annotations

import math

import numpy as np

from lodestar.agent.facts.config import LoopConfig
from lodestar.grid.energy import EnergyBudget
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.grid.way_lengths import WayLengths


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
    ways: WayLengths, grid: OccupancyGrid2D, pose: np.ndarray, goal: np.ndarray, config: LoopConfig
) -> float:
    """Return the metres of path from pose (3,) to the goal (2,), which is the start of the ways.

    Where no path is known, the straight line and a detour.
    """
    length = ways.between(grid, goal, pose)
    return length if math.isfinite(length) else config.detour * math.dist(pose[:2], goal)

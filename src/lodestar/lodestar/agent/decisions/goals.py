"""Memory of goals that failed or brought nothing, until the map around them changes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lodestar.agent.facts.config import LoopConfig
from lodestar.geometry.poses import wrap_angle
from lodestar.grid.occupancy import OccupancyGrid2D


def surroundings(grid: OccupancyGrid2D, xy: Sequence[float] | np.ndarray, radius: float) -> np.ndarray:
    """Unknown (-1), free (0) or occupied (1) cells of the square of half side `radius` about `xy`.

    Returns (n, n) int8 with one n per radius and resolution; what lies off the grid is unknown.
    """
    reach = math.ceil(radius / grid.resolution)
    row, column = (int(v) for v in grid.cells_of(np.asarray(xy, np.float64)[None, :2])[0])
    window = np.full((2 * reach + 1, 2 * reach + 1), -1, np.int8)
    rows, columns = grid.cells.shape
    top, left = max(row - reach, 0), max(column - reach, 0)
    bottom, right = min(row + reach + 1, rows), min(column + reach + 1, columns)
    if top < bottom and left < right:
        cells = grid.cells[top:bottom, left:right]
        known = np.where(cells < 0, -1, np.where(cells >= grid.occupied_from, 1, 0))
        r, c = top - (row - reach), left - (column - reach)
        window[r : r + bottom - top, c : c + right - left] = known
    return window


@dataclass
class _Exclusion:
    goal: tuple[float, float, float]
    reason: str
    before: np.ndarray | None
    lasting: bool = False
    active: bool = True
    retries: int = 0


class GoalMemory:
    """Remembers goals that are not to be proposed again, with the reason."""

    def __init__(self, config: LoopConfig) -> None:
        self._config = config
        self._exclusions: list[_Exclusion] = []

    def __len__(self) -> int:
        return len(self._exclusions)

    def exclude(
        self,
        goal: Sequence[float] | np.ndarray,
        reason: str,
        grid: OccupancyGrid2D | None,
        lasting: bool = False,
    ) -> None:
        """The goal (x, y, yaw) is excluded while the map around it stays as it is now; a lasting exclusion until it is
        forgiven.
        """
        key = (float(goal[0]), float(goal[1]), float(goal[2]))
        before = surroundings(grid, key, self._config.retry_radius) if grid is not None else None
        for known in self._exclusions:
            if self._same(known.goal, key):
                known.active, known.reason, known.before, known.lasting = True, reason, before, lasting
                return
        self._exclusions.append(_Exclusion(key, reason, before, lasting))

    def refresh(self, grid: OccupancyGrid2D) -> None:
        """Goals where enough of the map changed may be proposed again, `max_retries` times each."""
        for known in self._exclusions:
            if not known.active or known.lasting or known.retries >= self._config.max_retries:
                continue
            now = surroundings(grid, known.goal, self._config.retry_radius)
            comparable = known.before is not None and now.shape == known.before.shape
            if not comparable or (now != known.before).mean() >= self._config.retry_changed_share:
                known.active = False
                known.retries += 1

    def forgive(self) -> bool:
        """Every goal that was never retried may be proposed once more; whether there was any."""
        fresh = [known for known in self._exclusions if known.active and known.retries == 0]
        for known in fresh:
            known.active = False
            known.retries += 1
        return bool(fresh)

    def active(self) -> tuple[tuple[float, float, float], ...]:
        """Excluded goals (x, y, yaw)."""
        return tuple(known.goal for known in self._exclusions if known.active)

    def reason(self, goal: Sequence[float] | np.ndarray) -> str:
        """Return why this goal is excluded, empty where it is not."""
        for known in self._exclusions:
            if known.active and self._same(known.goal, goal):
                return known.reason
        return ""

    def _same(self, a: Sequence[float] | np.ndarray, b: Sequence[float] | np.ndarray) -> bool:
        near = math.hypot(a[0] - b[0], a[1] - b[1]) <= self._config.same_goal_distance
        return near and abs(float(wrap_angle(a[2] - b[2]))) <= self._config.same_goal_angle

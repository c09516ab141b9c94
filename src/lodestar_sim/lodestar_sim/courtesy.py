"""Yielding to people for a bounded time."""

from __future__ import annotations

import math

import cv2
import numpy as np

from lodestar.grid.occupancy import COMFORT, OccupancyGrid2D

_MIDST = 0.8  # closeness that bounds the core of a comfort zone; a walker's is elongated; chosen
_WAY = 0.85  # m, minimum core length of a walker; chosen: 0.48 m of a standing person, plus 1 s at 0.4 m/s
_AROUND = 2.0  # m from the robot within which a walker may get in its way; chosen: comfort distance plus 1 s
_LONG = 5.0  # times the patience, limit of yielding to walkers; chosen: half a minute of people pacing


class Courtesy:
    """Decide whether the robot yields to people, i.e. comes no nearer to them.

    After people have blocked it for `patience` seconds, it may pass them for `passing` seconds: this avoids a
    deadlock with a standing person. It yields longer to walking people, who move on by themselves. If people
    approach the robot, the motion gate stops it (`lodestar.mapping.movers.right_of_way`).
    """

    def __init__(self, patience: float, passing: float) -> None:
        self._patience, self._passing = patience, passing
        self._waited, self._last, self._until = 0.0, -math.inf, -math.inf
        self._waited_long, self._until_all = 0.0, -math.inf
        self._walkers = np.zeros(0)  # metres (N,) to walkers, from `_walkers`
        self._plan: OccupancyGrid2D | None = None  # the newest

    def yields(self, now: float, plan: OccupancyGrid2D, pose: np.ndarray) -> bool:
        """Return whether the robot, at a pose (3,) on the planning grid, must come no nearer to people."""
        if plan is not self._plan:
            self._walkers, self._plan = _walkers(plan, pose), plan
        walks_near = bool((self._walkers <= _AROUND).any())
        return now >= (self._until_all if walks_near else self._until)

    def observe(self, now: float, held_back: bool) -> bool:
        """Count the time for which people block the robot; return `held_back`.

        held_back: whether a motion was rejected because of people.
        """
        step = min(max(now - self._last, 0.0), 0.5) if math.isfinite(self._last) else 0.0
        self._last = now
        change = step if held_back else -step / 2.0
        self._waited = max(0.0, self._waited + change)
        self._waited_long = max(0.0, self._waited_long + change)
        if self._waited > self._patience:
            self._waited, self._until = 0.0, now + self._passing
        if self._waited_long > _LONG * self._patience:
            self._waited_long, self._until_all = 0.0, now + self._passing
        return held_back


def _walkers(plan: OccupancyGrid2D, pose: np.ndarray) -> np.ndarray:
    """Return the distances (N,), metres, from the robot to the walking people.

    A walking person is recognised by the length of the comfort zone, which motion elongates.
    """
    if plan.comfort is None:
        return np.zeros(0)
    cores = (plan.comfort >= _MIDST * COMFORT).astype(np.uint8)
    count, labels = cv2.connectedComponents(cores, connectivity=8)
    zones = [plan.points_of(np.argwhere(labels == one)) for one in range(1, count)]
    walks = [zone for zone in zones if np.linalg.norm(np.ptp(zone, axis=0)) >= _WAY]
    return np.array([np.hypot(*(zone - pose[:2]).T).min() for zone in walks])

"""Manners of walkers: they wait before a robot that is in their way, for a bounded time, as people do."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from lodestar_sim.worlds.world import WorldObject

_AHEAD = 0.9  # m before a walker's middle in which the middle of a robot is in the way; chosen: a step, and both bodies
_ASIDE = 0.5  # m beside it, likewise; chosen: half a robot's length, and half a body


class Manners:
    """Seconds for which each walker has waited, by its id. patience: s of one wait; then it walks on, through the robot
    if that is still there; 0 = it never waits.
    """

    def __init__(self, patience: float) -> None:
        self.waited: dict[int, float] = {}
        self._patience = patience
        self._since: dict[int, float] = {}  # when the wait of each that has a robot before it began

    def observe(self, now: float, step: float, walkers: Iterable[WorldObject], robot: np.ndarray) -> None:
        """Let those wait for `step` seconds who have the robot, at a pose (3,), before them."""
        for walker in walkers:
            x, y, _, yaw = walker.pose
            dx, dy = robot[0] - x, robot[1] - y
            ahead, aside = math.cos(yaw) * dx + math.sin(yaw) * dy, math.cos(yaw) * dy - math.sin(yaw) * dx
            if not (0.0 < ahead < _AHEAD and abs(aside) < _ASIDE):
                self._since.pop(walker.id, None)
            elif now - self._since.setdefault(walker.id, now) < self._patience:
                self.waited[walker.id] = self.waited.get(walker.id, 0.0) + step

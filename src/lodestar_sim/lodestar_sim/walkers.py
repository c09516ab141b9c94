"""Behaviour of walkers: they wait for a bounded time when the robot blocks their path, as people do."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from lodestar_sim.worlds.world import WorldObject

_AHEAD = 0.9  # m ahead of a walker's centre within which the robot's centre blocks it; chosen: a step plus both bodies
_ASIDE = 0.5  # m sideways, likewise; chosen: half a robot's length plus half a body


class Manners:
    """Let walking people wait while the robot blocks their path. waited: total seconds by walker id.

    patience: limit of one wait, s; then the walker moves on, through the robot if necessary. 0 = never wait.
    """

    def __init__(self, patience: float) -> None:
        self.waited: dict[int, float] = {}
        self._patience = patience
        self._since: dict[int, float] = {}  # s, start of the current wait, by id

    def observe(self, now: float, step: float, walkers: Iterable[WorldObject], robot: np.ndarray) -> None:
        """Add `step` seconds of waiting for each walker whose path the robot, at a pose (3,), blocks."""
        for walker in walkers:
            x, y, _, yaw = walker.pose
            dx, dy = robot[0] - x, robot[1] - y
            ahead, aside = math.cos(yaw) * dx + math.sin(yaw) * dy, math.cos(yaw) * dy - math.sin(yaw) * dx
            if not (0.0 < ahead < _AHEAD and abs(aside) < _ASIDE):
                self._since.pop(walker.id, None)
            elif now - self._since.setdefault(walker.id, now) < self._patience:
                self.waited[walker.id] = self.waited.get(walker.id, 0.0) + step

"""The passes of a search, and when one of them is over."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from lodestar.experts.coverage import LookedAt
from lodestar.experts.protocol import ProposalRequest
from lodestar.grid.occupancy import OccupancyGrid2D


@dataclass(frozen=True)
class Pass:
    """range: metres from which a cell counts as looked at. min_gain: m^2."""

    range: float
    min_gain: float
    name: str


class Progress:
    """What each pass of one directive has shown for the way that was driven."""

    def __init__(self, barren_way: float, barren_area: float) -> None:
        self._barren_way, self._barren_area = barren_way, barren_area  # metres, m^2
        self._task: tuple[str, int] | None = None
        self._pose: np.ndarray | None = None
        self._driven = 0.0
        self._passes: dict[Pass, tuple[float, float]] = {}  # m^2 seen at most, and the way driven until then
        self._over: set[Pass] = set()

    def advance(self, request: ProposalRequest) -> None:
        """The robot is where the request says; another task starts anew."""
        task = (request.directive.text, request.subtask_index)
        if task != self._task:
            self._task, self._pose, self._passes, self._over = task, None, {}, set()
        pose = np.asarray(request.robot_pose, np.float64)[:2]
        if self._pose is not None:
            self._driven += float(np.hypot(*(pose - self._pose)))
        self._pose = pose

    def barren(self, grid: OccupancyGrid2D, looked: LookedAt, look: Pass) -> bool:
        """Whether this pass is over because the last `barren_way` metres showed nothing worth the name."""
        if look in self._over:
            return True
        known = ~looked.unseen(look.range) & ~grid.unknown
        seen = float(known.sum()) * grid.resolution**2
        most, since = self._passes.get(look, (-math.inf, 0.0))
        if seen > most + self._barren_area:
            self._passes[look] = (seen, self._driven)
        elif self._driven - since > self._barren_way:
            self._over.add(look)
            return True
        return False

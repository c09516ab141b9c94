"""Passes of a search and their ends."""

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
    """Area shown and distance driven in each pass of one directive.

    A pass is over after `barren_way` metres that showed nothing new. If a stop that is chosen within them, once the way
    to the stop before is driven, is farther away, as at the other end of a known building, the limit is the path to it
    plus half of `barren_way`.
    """

    def __init__(self, barren_way: float, barren_area: float) -> None:
        self._barren_way, self._barren_area = barren_way, barren_area  # metres, m^2
        self._task: tuple[int, str, int] | None = None
        self._pose: np.ndarray | None = None
        self._driven = 0.0
        self._passes: dict[Pass, tuple[float, float]] = {}  # most m^2 seen, and metres driven until then
        self._over: set[Pass] = set()
        self._aims: dict[Pass, float] = {}  # metres driven from the last new area to such a stop

    @property
    def is_given_up(self) -> bool:
        """Return whether any pass of this task is over because a long drive showed nothing."""
        return bool(self._over)

    def advance(self, request: ProposalRequest) -> None:
        """The robot is where the request says; another task starts anew."""
        task = (request.errand, request.directive.text, request.step_index)
        if task != self._task:
            self._task, self._pose, self._passes, self._over, self._aims = task, None, {}, set(), {}
        pose = np.asarray(request.robot_pose, np.float64)[:2]
        if self._pose is not None:
            self._driven += float(np.hypot(*(pose - self._pose)))
        self._pose = pose

    def aim(self, look: Pass, length: float) -> None:
        """Record that this pass has chosen a stop at the given path length, metres."""
        driven = self._driven - self._passes.get(look, (0.0, self._driven))[1]
        if self._aims.get(look, 0.0) <= driven <= self._barren_way:
            self._aims[look] = driven + length

    def barren(self, grid: OccupancyGrid2D, looked: LookedAt, look: Pass) -> bool:
        """Return whether this pass is over because a long drive showed at most `barren_area`."""
        if look in self._over:
            return True
        known = ~looked.unseen(look.range) & ~grid.unknown
        seen = float(known.sum()) * grid.resolution**2
        most, since = self._passes.get(look, (-math.inf, 0.0))
        if seen > most + self._barren_area:
            self._passes[look] = (seen, self._driven)
            self._aims.pop(look, None)
        elif self._driven - since > max(self._barren_way, self._aims.get(look, 0.0) + self._barren_way / 2.0):
            self._over.add(look)
            return True
        return False

"""Passes of a search over the floor, and the criterion that ends them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from lodestar.experts.coverage import LookedAt
from lodestar.experts.protocol import ProposalRequest
from lodestar.grid.occupancy import OccupancyGrid2D


@dataclass(frozen=True)
class Pass:
    """One pass of a search over the floor. range: metres from which a cell counts as looked at. min_gain: m^2
    that a viewpoint must newly show. name: the kind of area, for messages. again: area that was looked at counts
    too, by the probability of having missed the target there.
    """

    range: float
    min_gain: float
    name: str
    again: bool = False


class Progress:
    """Area shown and distance driven in each pass of one directive.

    A pass ends after `barren_way` metres of driving that showed nothing new. If the pass chooses a viewpoint
    farther away before that, such as at the other end of a known building, it may go on for the path to that
    viewpoint plus half of `barren_way`.
    """

    def __init__(self, barren_way: float, barren_area: float) -> None:
        self._barren_way, self._barren_area = barren_way, barren_area  # metres, m^2
        self._task: tuple[int, str, int] | None = None
        self._pose: np.ndarray | None = None
        self._driven = 0.0
        self._passes: dict[Pass, tuple[float, float]] = {}  # most m^2 seen, and metres driven then
        self._over: set[Pass] = set()
        self._aims: dict[Pass, float] = {}  # pass -> metres driven from the last new area to such a stop

    @property
    def is_given_up(self) -> bool:
        """Return whether any pass of this task is over because a long drive showed nothing."""
        return bool(self._over)

    def advance(self, request: ProposalRequest) -> None:
        """Record the robot's position; reset if the task changed."""
        task = (request.errand, request.directive.text, request.step_index)
        if task != self._task:
            self._task, self._pose, self._passes, self._over, self._aims = task, None, {}, set(), {}
        pose = np.asarray(request.robot_pose, np.float64)[:2]
        if self._pose is not None:
            self._driven += float(np.hypot(*(pose - self._pose)))
        self._pose = pose

    def aim(self, look: Pass, length: float) -> None:
        """Record that this pass has chosen a viewpoint at this path length, metres."""
        driven = self._driven - self._passes.get(look, (0.0, self._driven))[1]
        if self._aims.get(look, 0.0) <= driven <= self._barren_way:
            self._aims[look] = driven + length

    def barren(self, grid: OccupancyGrid2D, looked: LookedAt, look: Pass, chances: np.ndarray) -> bool:
        """Return whether this pass is over because a long drive showed at most `barren_area` m^2.

        chances: as for `LookedAt.missed`, by which area counts as seen.
        """
        if look in self._over:
            return True
        left, _ = looked.missed(look.range, chances, again=True)
        known = left[~grid.unknown]
        seen = float((1.0 - known).sum() if look.again else (known < 1.0).sum()) * grid.resolution**2
        most, since = self._passes.get(look, (-math.inf, 0.0))
        if seen > most + self._barren_area:
            self._passes[look] = (seen, self._driven)
            self._aims.pop(look, None)
        elif self._driven - since > max(self._barren_way, self._aims.get(look, 0.0) + self._barren_way / 2.0):
            self._over.add(look)
            return True
        return False

"""Rooms by their names: which regions are meant, whether the robot stands in one, and where to go into it."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable

import numpy as np
from scipy import ndimage

from lodestar.agent.errands.context import LoopContext
from lodestar.agent.errands.run import DirectiveRun
from lodestar.experts.reach import Reach
from lodestar.scene.records import Region
from lodestar.scene.regions import is_called

_APART = 0.6  # m from a goal that failed, at which another is tried


class RoomSearch:
    """Reads the loop's copy of the scene and its grid."""

    def __init__(self, context: LoopContext) -> None:
        self._context = context

    def all(self) -> list[Region]:
        """Every region that is known."""
        mirror = self._context.facts.mirror
        return [] if mirror is None else list(mirror.regions.values())

    def called(self, names: Collection[str]) -> list[Region]:
        """Regions that go by one of these names."""
        return [region for region in self.all() if is_called(region, names)]

    def is_inside(self, regions: Iterable[Region]) -> bool:
        """Whether the robot stands in one of them."""
        facts = self._context.facts
        if facts.mirror is None or facts.mirror.rooms is None or facts.pose is None:
            return False
        return facts.mirror.region_at(facts.pose[:2]) in {region.id for region in regions}

    def way_in(self, run: DirectiveRun, regions: Collection[Region]) -> np.ndarray | None:
        """(3,) of a place well inside the region that is nearest by path; None where none can be come to."""
        facts = self._context.facts
        if not regions or facts.mirror is None or facts.mirror.rooms is None:
            return None
        assert facts.grid is not None and facts.pose is not None
        lengths = Reach(facts.grid, facts.pose, self._context.config.reach).possible
        rows, columns = np.nonzero(np.isfinite(lengths))
        points = facts.grid.points_of(np.column_stack([rows, columns]))
        if not len(points):
            return None
        inside = np.isin(facts.mirror.rooms.at(points), [region.id for region in regions])
        for goal in run.errand.goals.active():
            inside &= np.hypot(*(points - np.asarray(goal)[:2]).T) > _APART
        if not inside.any():
            return None
        room = np.zeros(facts.grid.cells.shape, bool)
        room[rows[inside], columns[inside]] = True
        depth = ndimage.distance_transform_edt(np.pad(room, 1))[1:-1, 1:-1][rows, columns]
        deep = inside & (depth >= min(float(depth[inside].max()), 0.5 / facts.grid.resolution))
        best = np.flatnonzero(deep)[lengths[rows, columns][deep].argmin()]
        x, y = (float(v) for v in points[best])
        return np.array([x, y, math.atan2(y - facts.pose[1], x - facts.pose[0])])

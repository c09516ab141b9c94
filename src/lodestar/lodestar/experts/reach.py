"""Path lengths with preferred and with minimum clearance, and the seconds to reach a goal."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from lodestar.experts.config import ReachConfig
from lodestar.grid.config import TravelConfig, ViewpointConfig
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.grid.pace import seconds_to, turn_between
from lodestar.grid.paths import path_lengths
from lodestar.grid.viewpoints import NoViewpoint, Viewpoint, find_viewpoints

# metres of clearance of a preferred path; chosen: a Go2 rarely gets caught, and doors of 0.9 m leave as much
REACH_EASE = 0.32

HOPED = TravelConfig(unknown_ok=True, start_snap=0.5, pocket_area=0.0)  # unknown cells count as free


class Reach:
    """Path lengths from one place on one grid, (rows, columns) float32 metres, inf = unreachable."""

    def __init__(self, grid: OccupancyGrid2D, start: np.ndarray, config: ReachConfig) -> None:
        self.grid = grid
        self._pose = np.asarray(start, np.float64)
        self._start = self._pose[:2]
        self._config = config

    @cached_property
    def easy(self) -> np.ndarray:
        """Return the lengths of paths with at least REACH_EASE of clearance; a narrow start may be left with
        less.
        """
        travel = self._config.travel
        gaps = (travel.clearance, *travel.pocket_clearances)
        clearance = max(REACH_EASE, travel.clearance)
        travel = replace(travel, clearance=clearance, pocket_clearances=gaps)
        return path_lengths(self.grid, self._start, travel)

    @cached_property
    def possible(self) -> np.ndarray:
        """Return lengths of all paths that the robot fits through."""
        return path_lengths(self.grid, self._start, self._config.travel)

    @cached_property
    def hoped(self) -> np.ndarray:
        """Return the lengths of paths for which unknown cells count as free."""
        return path_lengths(self.grid, self._start, HOPED)

    def seconds(self, goal: np.ndarray, length: float | None = None, verifies: bool = False) -> float | None:
        """Return the seconds to drive to a goal (3,), turn to its heading and look (`seconds_to`); None if it is
        unreachable.

        length: metres of path, None = by the grid. verifies: the goal is a target to verify.
        """
        if length is None:
            length = length_near(self.grid, self.easy, goal)
            if not math.isfinite(length):
                length = length_near(self.grid, self.possible, goal)
        if not math.isfinite(length):
            return None
        return seconds_to(length, turn_between(self._pose, goal), verifies)

    def viewpoints(
        self,
        box_min: np.ndarray,
        box_max: np.ndarray,
        views: Sequence[np.ndarray],
        excluded: Sequence[Sequence[float]],
        config: ViewpointConfig,
        support: tuple[np.ndarray, np.ndarray] | None = None,
    ) -> list[Viewpoint]:
        """Return viewpoints of a box, best first: those on preferred paths, then all reachable ones.

        Raises NoViewpoint.
        """
        poses = [np.array(pose) for pose in excluded]
        found: list[Viewpoint] = []
        for lengths in (self.easy, self.possible):
            try:
                found += find_viewpoints(self.grid, lengths, box_min, box_max, views, poses, config, support)
            except NoViewpoint:
                if lengths is self.possible and not found:
                    raise
        return found


def length_near(grid: OccupancyGrid2D, lengths: np.ndarray | None, pose: np.ndarray) -> float:
    """Return the path length at the pose, else the least within half a metre, inf = none; 0 without lengths."""
    if lengths is None:
        return 0.0
    row, column = grid.cells_of(np.asarray(pose)[:2])
    reach = math.ceil(0.5 / grid.resolution)
    around = lengths[
        max(row - reach, 0) : max(row + reach + 1, 0), max(column - reach, 0) : max(column + reach + 1, 0)
    ]
    if grid.contains(np.array([row, column])) and math.isfinite(lengths[row, column]):
        return float(lengths[row, column])
    return float(around.min()) if around.size else math.inf

"""The floor that the robot has looked at: when, and with which probability a thing on it was missed.

A look is one observation of a cell by the camera. Stamps are seconds on the clock of the sensors.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from scipy import ndimage

from lodestar.experts.coverage import TRIAL_EDGES, LookedAt
from lodestar.experts.heights import view_heading
from lodestar.experts.likely_places import mean_within
from lodestar.experts.unseen_floor import kind_chances, view_chances
from lodestar.grid.config import LookConfig
from lodestar.grid.looks import nearest_after
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.grid.paths import path_lengths
from lodestar.grid.way_lengths import WayLengths
from lodestar.language.directive import Step, StepKind
from lodestar.perception.eyes import eyes_of
from lodestar.scene.records import Entity

_NEVER = -math.inf
_LIMITS = LookConfig()
_EDGE = 8  # connected cells that form an open edge, as for the explorer's frontiers


@dataclass(frozen=True)
class FromMemory:
    """Share of floor that was looked at only before a given stamp.

    share: of all floor that was looked at, [0, 1]. oldest: stamp of the oldest look that counts, seconds.
    """

    share: float
    oldest: float


class SearchedFloor:
    """Looks of the camera at the floor, with their stamps; they are kept after a directive ends.

    ways: path lengths from the robot, cached while neither its position nor the grid changes.
    """

    def __init__(self, limits: LookConfig = _LIMITS) -> None:
        self.limits, self.ways = limits, WayLengths()
        self._eyes = eyes_of(limits.eyes)
        self.restart_clock()

    def restart_clock(self) -> None:
        """Forget all looks, because the clock has restarted."""
        self._looked = LookedAt(self.limits)
        self._looks = self._looked.looks
        self._pose: np.ndarray | None = None
        self._noted = _NEVER

    def count_from(self, since: float) -> None:
        """Count only looks at or after the stamp `since`."""
        self._looked.count_from(since)

    @property
    def since(self) -> float:
        """Return the stamp from which looks count."""
        return self._looks.begin

    def note(
        self, map_from_camera: np.ndarray, pose: np.ndarray, stamp: float, grid: OccupancyGrid2D | None
    ) -> None:
        """Record a look from the camera's pose (4, 4), optical frame, if the last one is at least `interval` seconds
        ago. pose: (3,) of the robot.
        """
        heading = view_heading(map_from_camera)
        if (
            grid is None
            or heading is None
            or not self.limits.interval <= stamp - self._noted
            or stamp == math.inf
        ):
            return
        self._noted, self._pose = stamp, pose
        self._looked.set_grid(grid)
        self._looked.look(map_from_camera[:2, 3], heading, self.limits.fov, stamp=stamp)

    def seen(self, grid: OccupancyGrid2D) -> np.ndarray:
        """Return (rows, columns) bool: the cells that were looked at."""
        self._looked.set_grid(grid)
        return (self._looks.last >= self.since) & (self._looks.last > _NEVER)

    def missed(self, step: Step, grid: OccupancyGrid2D) -> np.ndarray:
        """Return the probability, (rows, columns) float32, that all looks at a cell missed the step's thing there."""
        chances = view_chances(self._eyes, step, self.limits.range)
        return np.where(self.seen(grid), self._looked.missed(self.limits.range, chances)[0], np.float32(1.0))

    def missed_within(
        self, kinds: Iterable[str], grid: OccupancyGrid2D, thing: Entity, around: float
    ) -> float:
        """Return the probability that all looks missed a thing of one of the kinds within `around` metres of another
        one's box; the least over the kinds.
        """
        seen, low, high = self.seen(grid), thing.box_min - around, thing.box_max + around
        found = [1.0]
        for kind in kinds:
            chances = kind_chances(self._eyes, kind, self.limits.range)
            missed = np.where(seen, self._looked.missed(self.limits.range, chances)[0], np.float32(1.0))
            found.append(mean_within(np.where(grid.free, missed, np.float32(0.0)), grid, low, high))
        return min(found)

    def missed_after(
        self, step: Step, grid: OccupancyGrid2D, missed: np.ndarray, goal: np.ndarray
    ) -> np.ndarray:
        """Return `missed` after a turn at the goal (3,)."""
        away = nearest_after(
            np.full(missed.shape, np.inf, np.float32), grid, goal, max_range=self.limits.range
        )
        chances = view_chances(self._eyes, step, self.limits.range)
        again = np.minimum(self._looked.missed(self.limits.range, chances, again=True)[0], missed)
        shown = np.isfinite(away) & self._looked.is_new(goal)
        after = missed.copy()
        after[shown] -= again[shown] * chances.mean(axis=0)[np.searchsorted(TRIAL_EDGES, away[shown])]
        return after

    @property
    def newest(self) -> float:
        """Return the stamp of the newest look, seconds; -inf before the first."""
        return self._noted

    @property
    def has_looks(self) -> bool:
        """Return whether any look was recorded since `since`."""
        return self._noted >= self.since and self._noted > _NEVER

    @property
    def share(self) -> float:
        """Return the share, [0, 1], of the reachable free floor that was looked at; NaN if no look counts."""
        grid, pose = self._looked.grid, self._pose
        if grid is None or pose is None or not self.has_looks:
            return math.nan
        reached = self._reached(grid, pose)
        return float(self.seen(grid)[reached].mean()) if reached.any() else math.nan

    def from_memory(self, begun: float, inside: np.ndarray | None = None) -> FromMemory | None:
        """Return which share of the floor was looked at only before the stamp `begun`; None if there is none.

        inside: (rows, columns) bool, the floor to consider; None = all floor that the robot can reach.
        """
        grid, pose, looks = self._looked.grid, self._pose, self._looks
        if grid is None or pose is None:
            return None
        floor = self._reached(grid, pose)
        if inside is not None:
            floor = floor & inside
        all_of_it = float(self.seen(grid)[floor].sum())
        anew = float((self.seen(grid) & (looks.last >= begun))[floor].sum())
        oldest = looks.oldest(floor)
        if oldest is None or anew >= all_of_it:
            return None
        return FromMemory(1.0 - anew / all_of_it, oldest)

    def _reached(self, grid: OccupancyGrid2D, pose: np.ndarray) -> np.ndarray:
        return np.isfinite(self.ways.to_all(grid, pose)) & grid.free

    def in_words(self, step: Step | None = None) -> str:
        """Return a sentence with the share of floor that was looked at, and for a step that searches with the chance
        that its thing would have been seen there; "" if it is unknown.
        """
        share, grid, pose = self.share, self._looked.grid, self._pose
        if math.isnan(share) or grid is None or pose is None:
            return ""
        words = f"I have looked at {100.0 * share:.0f} % of the floor that I can come to"
        if step is None or not step.graphs or step.kind is not StepKind.FIND:
            return f"{words}."
        found = 1.0 - float(self.missed(step, grid)[self._reached(grid, pose)].mean())
        return f"{words}, and would have seen such a thing there with {100.0 * min(found, 0.99):.0f} %."


def open_edges(grid: OccupancyGrid2D, pose: np.ndarray, inside: np.ndarray | None = None) -> np.ndarray:
    """Return (rows, columns) bool: reachable free cells that border on unknown space.

    Edges of only a few cells are left out. pose: (3,) of the robot. inside: (rows, columns) bool, the cells
    to consider; None = all.
    """
    unknown = ndimage.binary_dilation(~(grid.free | grid.occupied), np.ones((3, 3)))
    edge = unknown & grid.free & np.isfinite(path_lengths(grid, pose[:2]))
    if inside is not None:
        edge &= inside
    labels, _ = ndimage.label(edge, np.ones((3, 3)))
    return (np.bincount(labels.ravel()) >= _EDGE)[labels] & edge

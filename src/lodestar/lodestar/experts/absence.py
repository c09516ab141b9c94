"""Belief that an object is absent after a search, and the value of one more camera observation (look).

The object may lie anywhere on the floor, or mostly near furniture tops of the kind on which such objects
stand. The probability that the looks missed it is that of the searched floor (`SearchedFloor.missed`). Unknown
space behind an open edge of the map (a frontier), and unreachable floor, count as not looked at.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy import ndimage

from lodestar.experts.heights import SurfaceMap
from lodestar.experts.searched_floor import SearchedFloor, open_edges
from lodestar.grid.config import ViewpointConfig
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.language.directive import Step
from lodestar.models.category_priors import CategoryPriors
from lodestar.scene.records import Entity

ABSENCE_PRIOR = 0.5  # probability that the requested object is there, before any look (ours: nobody knows)
ABSENCE_TYPICAL_SUPPORT = 0.7  # share of objects that stand on the usual support of their kind (ours)
# m of unseen space behind an open edge of the map (apartment 701: 11 m^2 at 9.5 m)
ABSENCE_EDGE_DEPTH = 1.0
ABSENCE_ANSWER_WORTH = 600.0  # s of looking that a right answer is worth (ours: the limit of `ask-to-act`)
ABSENCE_SPEED = 0.32  # m/s of a search, stops included (measured: `ask-to-act`, apartment 711)
ABSENCE_LOOK_TIME = 3.0  # s of a turn at a goal (ours)

_BESIDE = 0.4  # m around a furniture top; floor from which the top is looked at; chosen
# m^2 of connected unreachable floor, below which it is sensor noise; chosen
_CRUMB = 1.0
# m^2; a floor of which less is known is assumed to have this area; chosen: the smaller generated apartments
_FLOOR = 60.0


class World(Protocol):
    """Port to the current world: newest grid, robot pose and entities of the scene."""

    @property
    def grid(self) -> OccupancyGrid2D | None:
        """Return the newest grid."""

    @property
    def pose(self) -> np.ndarray | None:
        """Return the robot's pose (3,) x, y, yaw in map."""

    @property
    def entities(self) -> Mapping[int, Entity]:
        """Return the entities of the scene by id."""


@dataclass(frozen=True)
class SearchBelief:
    """Belief after a search without a find.

    present: probability that the object is there. missed: probability of missing it so far, if it is there.
    share: of the reachable floor that was looked at. open_area: m^2 assumed behind open edges (frontiers) of
    the map. barred_area: m^2 of known, unreachable floor that was not looked at.
    """

    present: float
    missed: float
    share: float
    open_area: float
    barred_area: float

    def in_words(self) -> str:
        """Return sentences with the confidence of absence and the areas not looked at."""
        sure = f"I am {100.0 * (1.0 - self.present):.0f} % sure of it."
        return f"{sure} {self.left_in_words()}".rstrip()

    def left_in_words(self) -> str:
        """Return a sentence with the areas not looked at; "" if they are small."""
        left = (
            [f"about {self.open_area:.0f} m2 behind open edges of the map"] if self.open_area >= 1.0 else []
        )
        left += [f"{self.barred_area:.0f} m2 that no way leads to"] if self.barred_area >= 1.0 else []
        return f"Not looked at: {' and '.join(left)}." if left else ""


@dataclass(frozen=True)
class FloorLeft:
    """Rest of a floor that is still to be searched, in m^2 weighted by the probability of having missed the
    object there.

    area: m^2 of the whole floor, including the area assumed behind open edges. unseen: weighted m^2 left.
    hidden: m^2 of `unseen` that are not on the map yet. rate: m^2 per second that the best next goal shows.
    """

    area: float
    unseen: float
    hidden: float
    rate: float

    @property
    def shown(self) -> float:
        """Return the m^2 that were looked at."""
        return self.area - self.unseen

    def seconds(self, rate: float, pace: float) -> float:
        """Return the seconds to search the rest. rate: m^2 per second for known area; pace: m^2 per second
        for hidden area.
        """
        known = self.unseen - self.hidden
        return (known / rate if rate > 0.0 else math.inf) + self.hidden / pace


class AbsenceJudge:
    """Compares the value of one more camera observation with answering that the object is absent (after
    SnapMem 3.3, by probabilities).
    """

    def __init__(self, priors: CategoryPriors) -> None:
        self._priors = priors

    def belief(self, step: Step, world: World, searched: SearchedFloor) -> SearchBelief | None:
        """Return the probability that the step's item is on this floor, with the shares and areas searched;
        None without a map, a pose or any camera observation.
        """
        space = self._space(step, world, searched)
        return None if space is None else self._believed(space, searched.share)

    def weigh(
        self, step: Step, world: World, searched: SearchedFloor, goals: Iterable[np.ndarray]
    ) -> tuple[SearchBelief, bool] | None:
        """Return the belief, and whether an observation from one of the goals (3,) is worth its seconds; None
        in the same cases as `belief`.
        """
        space = self._space(step, world, searched)
        if space is None or world.pose is None:
            return None
        belief = self._believed(space, searched.share)
        lengths = searched.ways.to_all(space.grid, world.pose)
        return belief, any(self._worth(space, belief, goal, lengths) > 0.0 for goal in goals)

    def shown_per_second(
        self, step: Step, world: World, searched: SearchedFloor, goals: Iterable[np.ndarray]
    ) -> float | None:
        """Return the largest m^2 per second that a turn at one of the goals (3,) shows, including the drive;
        None in the same cases as `belief`. An observation from too far to recognise the object counts only in
        part.
        """
        space = self._space(step, world, searched)
        if space is None or world.pose is None:
            return None
        lengths = searched.ways.to_all(space.grid, world.pose)
        before, total = space.missed(space.looks, space.edges), space.area + space.open_area
        rates = [0.0]
        for goal in goals:
            seconds = self._seconds(space.grid, goal, lengths)
            if math.isfinite(seconds):
                rates.append((before - self._missed_after(space, goal)) * total / seconds)
        return max(rates)

    def left(
        self,
        step: Step,
        world: World,
        searched: SearchedFloor,
        goals: Iterable[np.ndarray],
        typical: float = 0.0,
    ) -> FloorLeft | None:
        """Return the rest of the robot's floor to search, with the goals (3,) as the places to observe from
        next; None in the same cases as `belief`.

        typical: m^2 of another floor of the building; the area by which this floor's map is smaller counts as
        hidden.
        """
        space = self._space(step, world, searched)
        rate = self.shown_per_second(step, world, searched, goals)
        if space is None or rate is None:
            return None
        area = space.area + space.open_area
        unseen = space.missed(space.looks, space.edges) * area
        hidden = max(_FLOOR - area, typical - area, 0.0)
        return FloorLeft(area + hidden, unseen + hidden, hidden, rate)

    def _believed(self, space: _SearchSpace, share: float) -> SearchBelief:
        missed = space.missed(space.looks, space.edges)
        present = ABSENCE_PRIOR * missed / (ABSENCE_PRIOR * missed + 1.0 - ABSENCE_PRIOR)
        return SearchBelief(present, missed, share, space.open_area, space.barred_area)

    def _worth(
        self, space: _SearchSpace, belief: SearchBelief, goal: np.ndarray, lengths: np.ndarray
    ) -> float:
        """Return the probability that a turn at the goal (3,) shows the object, minus the cost of its seconds."""
        seconds = self._seconds(space.grid, goal, lengths)
        if not math.isfinite(seconds):
            return 0.0
        left = self._missed_after(space, goal)
        shown = belief.present * (1.0 - left / belief.missed) if belief.missed > 0.0 else 0.0
        return shown - seconds / ABSENCE_ANSWER_WORTH

    def _seconds(self, grid: OccupancyGrid2D, goal: np.ndarray, lengths: np.ndarray) -> float:
        """Return the seconds to drive to a goal (3,) and turn there; inf if it is unreachable."""
        cell = grid.cells_of(goal[:2])
        length = float(lengths[tuple(cell)]) if grid.contains(cell) else math.inf
        return length / ABSENCE_SPEED + ABSENCE_LOOK_TIME

    def _missed_after(self, space: _SearchSpace, goal: np.ndarray) -> float:
        """Return the probability of having missed the object after a turn at the goal (3,)."""
        after = space.searched.missed_after(space.step, space.grid, space.looks, goal)
        return space.missed(after, space.edges & (after >= space.looks))

    def _space(self, step: Step, world: World, searched: SearchedFloor) -> _SearchSpace | None:
        grid, pose = world.grid, world.pose
        if grid is None or pose is None or math.isnan(searched.share):
            return None
        looks, seen = searched.missed(step, grid), searched.seen(grid)
        reached = np.isfinite(searched.ways.to_all(grid, pose)) & grid.free
        floor = grid.free & _in_large_pieces(grid, reached)
        barred = floor & ~_near(grid, reached) & ~seen
        kind = self._priors.of(step.graphs[0].target.category if step.graphs else "")
        tops = _Tops.of(grid, world.entities.values()) if kind.support == "surface" else None
        return _SearchSpace(grid, step, searched, looks, floor, open_edges(grid, pose), barred, tops)


@dataclass(frozen=True)
class _SearchSpace:
    """Possible places of an object; arrays are (rows, columns) of the grid.

    looks: float32, probability that the looks at a cell missed the object there. floor, edges, barred: bool, the
    floor to search, its open edges (frontiers), and its unreachable cells that were not looked at. tops:
    furniture on which the object may stand; None if its kind stands on none, or none is known.
    """

    grid: OccupancyGrid2D
    step: Step
    searched: SearchedFloor
    looks: np.ndarray
    floor: np.ndarray
    edges: np.ndarray
    barred: np.ndarray
    tops: _Tops | None

    @property
    def area(self) -> float:
        """Return the m^2 of `floor`."""
        return float(self.floor.sum()) * self.grid.resolution**2

    @property
    def open_area(self) -> float:
        """Return the m^2 assumed behind open edges."""
        return self._hidden(self.edges)

    @property
    def barred_area(self) -> float:
        """Return the m^2 of unreachable floor that was not looked at."""
        return float(self.barred.sum()) * self.grid.resolution**2

    def missed(self, looks: np.ndarray, edges: np.ndarray) -> float:
        """Return the probability, (0, 1], that the camera observations missed the object. looks: as in the class.
        edges: open edges (frontiers) behind which the camera has not looked.
        """
        area = self.area
        if area + self.open_area <= 0.0:
            return 1.0
        known = float(looks[self.floor].mean()) if area > 0.0 else 1.0
        if self.tops is not None:
            share = ABSENCE_TYPICAL_SUPPORT
            miss = self.tops.missed(looks)
            known = (1.0 - share) * known + share * float(np.average(miss, weights=self.tops.areas))
        return (known * area + self._hidden(edges)) / (area + self.open_area)

    def _hidden(self, edges: np.ndarray) -> float:
        return float(edges.sum()) * self.grid.resolution * ABSENCE_EDGE_DEPTH


@dataclass(frozen=True)
class _Tops:
    """Furniture tops on which objects may stand. areas: (K,) m^2 of the K tops. cells: (N,) flat indices of
    the N free cells beside them. owners: (N,) index of the top that each cell is beside.
    """

    areas: np.ndarray
    cells: np.ndarray
    owners: np.ndarray

    @staticmethod
    def of(grid: OccupancyGrid2D, entities: Iterable[Entity]) -> _Tops | None:
        """Return the known furniture tops with free floor beside them; None if there are none."""
        surfaces = SurfaceMap.over(grid, entities, ViewpointConfig.camera_height)
        owned = surfaces.owner >= 0
        if not owned.any():
            return None
        gap, (rows, columns) = ndimage.distance_transform_edt(~owned, return_indices=True)
        near = (gap > 0.0) & (gap * grid.resolution <= _BESIDE) & grid.free
        cells = np.flatnonzero(near)
        if not len(cells):
            return None
        ids, owners = np.unique(surfaces.owner[rows, columns].ravel()[cells], return_inverse=True)
        areas = np.bincount(surfaces.owner[owned], minlength=len(surfaces.tops)) * grid.resolution**2
        return _Tops(areas[ids], cells, owners)

    def missed(self, looks: np.ndarray) -> np.ndarray:
        """Return for each of the K tops the probability (K,) of having missed an object on it: that of the best seen
        quarter of the floor beside it.
        """
        found = looks.ravel()[self.cells]
        order = np.lexsort((found, self.owners))
        counts = np.bincount(self.owners)
        first = np.cumsum(counts) - counts
        return found[order][first + counts // 4]


def _in_large_pieces(grid: OccupancyGrid2D, reached: np.ndarray) -> np.ndarray:
    """Return (rows, columns) bool: free cells connected to reached ones, or in connected components of at
    least `_CRUMB` m^2.
    """
    labels, _ = ndimage.label(grid.free)
    large = np.bincount(labels.ravel()) * grid.resolution**2 >= _CRUMB
    large[np.unique(labels[reached])] = True
    large[0] = False
    return large[labels]


def _near(grid: OccupancyGrid2D, reached: np.ndarray) -> np.ndarray:
    """Return (rows, columns) bool: the cells within `_BESIDE` of a cell that the robot's centre can reach."""
    return ndimage.binary_dilation(reached, iterations=max(round(_BESIDE / grid.resolution), 1))

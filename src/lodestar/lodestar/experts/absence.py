"""Belief that a thing is not there after a search, and what one more look is worth.

The thing lies anywhere on the floor, or mostly around the tops that its kind stands on. A look misses it more often the
farther and the smaller it is. Space behind an open edge of the map, and floor that no way leads to, was not looked at.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy import ndimage

from lodestar.experts.absence_bounds import AbsenceConfig
from lodestar.experts.config import SurfaceConfig
from lodestar.experts.heights import SurfaceMap
from lodestar.grid.config import ViewpointConfig
from lodestar.grid.looks import nearest_after
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.grid.searched_floor import SearchedFloor, open_edges
from lodestar.language.directive import Step
from lodestar.scene.category_priors import CategoryPrior, CategoryPriors
from lodestar.scene.records import Entity

_BESIDE = 0.4  # m around a top, floor from which it is looked at; chosen
# m^2 of floor in one piece that no way leads to, below which it is a leak of the sensors; chosen
_CRUMB = 1.0
# m^2, a floor of which less is known has more to it; chosen: the smaller of the generated apartments
_FLOOR = 60.0


class World(Protocol):
    """Port to what is known now of the place."""

    @property
    def grid(self) -> OccupancyGrid2D | None:
        """Return the newest grid."""
        ...

    @property
    def pose(self) -> np.ndarray | None:
        """Return the robot's pose (3,) x, y, yaw in map."""
        ...

    @property
    def entities(self) -> Mapping[int, Entity]:
        """Return the entities of the scene by id."""
        ...


@dataclass(frozen=True)
class SearchBelief:
    """Belief after a search without a find.

    present: probability that the thing is there. missed: that it would have been missed so far, if it were there.
    share: of the floor that the robot can come to. open_area: m^2 that open edges of the map are taken to hide.
    barred_area: m^2 of known floor that no way leads to and that was not looked at.
    """

    present: float
    missed: float
    share: float
    open_area: float
    barred_area: float

    def in_words(self) -> str:
        """Return how sure it is that the thing is not there, and what was not looked at, as sentences."""
        sure = f"I am {100.0 * (1.0 - self.present):.0f} % sure of it."
        return f"{sure} {self.left_in_words()}".rstrip()

    def left_in_words(self) -> str:
        """Return what was not looked at, as a sentence; "" where it is little."""
        left = (
            [f"about {self.open_area:.0f} m2 behind open edges of the map"] if self.open_area >= 1.0 else []
        )
        left += [f"{self.barred_area:.0f} m2 that no way leads to"] if self.barred_area >= 1.0 else []
        return f"Not looked at: {' and '.join(left)}." if left else ""


@dataclass(frozen=True)
class FloorLeft:
    """Floor that is left to search, in m^2 of floor that counts by the chance of having missed the thing there.

    area: m^2 of the floor, what open edges hide included. unseen: m^2 that are left. hidden: m^2 of them that are on no
    map yet. rate: m^2 per second that the best of the next looks shows.
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
        """Return the seconds for the rest; rate, pace: m^2 per second of looks at what is known, and at the hidden."""
        known = self.unseen - self.hidden
        return (known / rate if rate > 0.0 else math.inf) + self.hidden / pace


class AbsenceJudge:
    """Weighs one more look against the answer that it is not there (after SnapMem 3.3, by probabilities)."""

    def __init__(self, config: AbsenceConfig, priors: CategoryPriors) -> None:
        self.config = config
        self._priors = priors

    def belief(self, step: Step, world: World, searched: SearchedFloor) -> SearchBelief | None:
        """Return the belief about the step's item; None without a map, a pose or any look."""
        space = self._space(step, world, searched)
        return None if space is None else self._believed(space, searched.share)

    def weigh(
        self, step: Step, world: World, searched: SearchedFloor, goals: Iterable[np.ndarray]
    ) -> tuple[SearchBelief, bool] | None:
        """Return the belief, and whether a look from one of the goals (3,) is worth its seconds; None as `belief`."""
        space = self._space(step, world, searched)
        if space is None or world.pose is None:
            return None
        belief = self._believed(space, searched.share)
        lengths = searched.ways.to_all(space.grid, world.pose)
        return belief, any(self._worth(space, belief, goal, lengths) > 0.0 for goal in goals)

    def shown_per_second(
        self, step: Step, world: World, searched: SearchedFloor, goals: Iterable[np.ndarray]
    ) -> float | None:
        """Return the largest m^2 per second that a turn at one of the goals (3,) shows, its way there included; None as
        `belief`. A look from too far to recognise the step's item shows a part of what it looks at.
        """
        space = self._space(step, world, searched)
        if space is None or world.pose is None:
            return None
        lengths = searched.ways.to_all(space.grid, world.pose)
        before, total = space.missed(space.nearest, space.edges), space.area + space.open_area
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
        """Return what is left to search on the robot's floor, with looks from the goals (3,) next; None as `belief`.

        typical: m^2 that another floor of the building has; what this one's map lacks of them is taken to be hidden.
        """
        space = self._space(step, world, searched)
        rate = self.shown_per_second(step, world, searched, goals)
        if space is None or rate is None:
            return None
        area = space.area + space.open_area
        unseen = space.missed(space.nearest, space.edges) * area
        hidden = max(_FLOOR - area, typical - area, 0.0)
        return FloorLeft(area + hidden, unseen + hidden, hidden, rate)

    def _believed(self, space: _SearchSpace, share: float) -> SearchBelief:
        config = self.config
        missed = space.missed(space.nearest, space.edges)
        present = config.prior * missed / (config.prior * missed + 1.0 - config.prior)
        return SearchBelief(present, missed, share, space.open_area, space.barred_area)

    def _worth(
        self, space: _SearchSpace, belief: SearchBelief, goal: np.ndarray, lengths: np.ndarray
    ) -> float:
        """Return the probability that a turn at the goal (3,) shows the thing, less what its seconds cost."""
        seconds = self._seconds(space.grid, goal, lengths)
        if not math.isfinite(seconds):
            return 0.0
        left = self._missed_after(space, goal)
        shown = belief.present * (1.0 - left / belief.missed) if belief.missed > 0.0 else 0.0
        return shown - seconds / self.config.answer_worth

    def _seconds(self, grid: OccupancyGrid2D, goal: np.ndarray, lengths: np.ndarray) -> float:
        """Return the seconds of the way to a goal (3,) and a turn there; inf where no way leads."""
        cell = grid.cells_of(goal[:2])
        length = float(lengths[tuple(cell)]) if grid.contains(cell) else math.inf
        return length / self.config.speed + self.config.look_time

    def _missed_after(self, space: _SearchSpace, goal: np.ndarray) -> float:
        """Return the probability of missing the thing after a turn at the goal (3,)."""
        after = nearest_after(space.nearest, space.grid, goal, max_range=space.look_range)
        return space.missed(after, space.edges & ~np.isfinite(after))

    def _space(self, step: Step, world: World, searched: SearchedFloor) -> _SearchSpace | None:
        grid, pose = world.grid, world.pose
        if grid is None or pose is None or math.isnan(searched.share):
            return None
        nearest = searched.nearest(grid)
        reached = np.isfinite(searched.ways.to_all(grid, pose)) & grid.free
        floor = grid.free & _in_large_pieces(grid, reached)
        barred = floor & ~_near(grid, reached) & ~np.isfinite(nearest)
        kind = self._priors.of(step.graphs[0].target.category if step.graphs else "")
        tops = _Tops.of(grid, world.entities.values()) if kind.support == "surface" else None
        edges, reach = open_edges(grid, pose), searched.limits.range
        return _SearchSpace(grid, nearest, floor, edges, barred, tops, kind, self.config, reach)


@dataclass(frozen=True)
class _SearchSpace:
    """Places where a thing may be; arrays are (rows, columns) of the grid.

    nearest: float32 metres of the nearest look. floor, edges, barred: bool, floor that counts, its open edges, and what
    of it has no way to it and was not looked at. tops: None where the kind stands on none, or none is known.
    look_range: metres.
    """

    grid: OccupancyGrid2D
    nearest: np.ndarray
    floor: np.ndarray
    edges: np.ndarray
    barred: np.ndarray
    tops: _Tops | None
    kind: CategoryPrior
    config: AbsenceConfig
    look_range: float

    @property
    def area(self) -> float:
        """Return the m^2 of `floor`."""
        return float(self.floor.sum()) * self.grid.resolution**2

    @property
    def open_area(self) -> float:
        """Return the m^2 that the open edges are taken to hide."""
        return self._hidden(self.edges)

    @property
    def barred_area(self) -> float:
        """Return the m^2 of `barred`."""
        return float(self.barred.sum()) * self.grid.resolution**2

    def missed(self, nearest: np.ndarray, edges: np.ndarray) -> float:
        """Return the probability, (0, 1], of looks to miss the thing. edges: those behind which nobody looked."""
        area = self.area
        if area + self.open_area <= 0.0:
            return 1.0
        known = float(self._miss(nearest[self.floor]).mean()) if area > 0.0 else 1.0
        if self.tops is not None:
            share = self.config.typical_support
            miss = self._miss(self.tops.nearest(nearest))
            known = (1.0 - share) * known + share * float(np.average(miss, weights=self.tops.areas))
        return (known * area + self._hidden(edges)) / (area + self.open_area)

    def _miss(self, nearest: np.ndarray) -> np.ndarray:
        """Return the probabilities of looks from so many metres to miss the thing."""
        size = self.config.size if math.isnan(self.kind.size) else self.kind.size
        angles = size / np.maximum(nearest, 1e-3)
        return 1.0 - self.config.rate * np.clip(angles / self.config.clear_angle, 0.0, 1.0)

    def _hidden(self, edges: np.ndarray) -> float:
        return float(edges.sum()) * self.grid.resolution * self.config.edge_depth


@dataclass(frozen=True)
class _Tops:
    """Tops that things stand on. areas: (K,) m^2. cells: (N,) flat indices of free cells beside them. owners: (N,)."""

    areas: np.ndarray
    cells: np.ndarray
    owners: np.ndarray

    @staticmethod
    def of(grid: OccupancyGrid2D, entities: Iterable[Entity]) -> _Tops | None:
        """Return the known tops with free floor beside them; None where there is none."""
        surfaces = SurfaceMap.over(grid, entities, SurfaceConfig(), ViewpointConfig.camera_height)
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

    def nearest(self, nearest: np.ndarray) -> np.ndarray:
        """Return the metres, (K,), from within which a quarter of the floor beside each top was looked at."""
        found = nearest.ravel()[self.cells]
        order = np.lexsort((found, self.owners))
        counts = np.bincount(self.owners)
        first = np.cumsum(counts) - counts
        return found[order][first + counts // 4]


def _in_large_pieces(grid: OccupancyGrid2D, reached: np.ndarray) -> np.ndarray:
    """Return the free cells that are in one piece with reached ones, or in a piece of `_CRUMB` or more."""
    labels, _ = ndimage.label(grid.free)
    large = np.bincount(labels.ravel()) * grid.resolution**2 >= _CRUMB
    large[np.unique(labels[reached])] = True
    large[0] = False
    return large[labels]


def _near(grid: OccupancyGrid2D, reached: np.ndarray) -> np.ndarray:
    """Return the cells that lie within an arm's length of where the robot's centre can be."""
    return ndimage.binary_dilation(reached, iterations=max(round(_BESIDE / grid.resolution), 1))

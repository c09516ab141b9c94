"""Ends of a search: belief that a thing is not there, bounds of a search for another one, and ways that are shut.

The thing lies anywhere on the floor, or mostly around the tops that its kind stands on. A look misses it more often the
farther and the smaller it is. Space behind an open edge of the map, and floor that no way leads to, was not looked at.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from scipy import ndimage

from lodestar.agent.activities.activity import Tools
from lodestar.agent.errands.context import LoopContext
from lodestar.agent.errands.run import DirectiveRun, SearchBelief
from lodestar.agent.errands.searched_floor import SearchedFloor, open_edges
from lodestar.agent.errands.words import barred, gone, hidden, name_of
from lodestar.agent.facts.config import AbsenceConfig
from lodestar.agent.facts.errors import ErrorCode
from lodestar.agent.facts.newest import Facts
from lodestar.experts.config import SurfaceConfig
from lodestar.experts.heights import SurfaceMap
from lodestar.grid.config import ViewpointConfig
from lodestar.grid.looks import nearest_after
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.language.directive import Step
from lodestar.scene.category_priors import CategoryPrior, CategoryPriors
from lodestar.scene.records import Entity
from lodestar.selection.admission import Admission
from lodestar.worldmodel.recovery_places import place_before_shut_way

_BESIDE = 0.4  # m around a top, floor from which it is looked at; chosen
# m^2 of floor in one piece that no way leads to, below which it is a leak of the sensors; chosen
_CRUMB = 1.0


class AbsenceJudge:
    """Weighs one more look against the answer that it is not there (after SnapMem 3.3, by probabilities)."""

    def __init__(self, config: AbsenceConfig, priors: CategoryPriors | None = None) -> None:
        self.config = config
        self._priors = priors or CategoryPriors()

    def belief(self, step: Step, facts: Facts, searched: SearchedFloor) -> SearchBelief | None:
        """Return the belief about the step's item; None without a map, a pose or any look."""
        space = self._space(step, facts, searched)
        return None if space is None else self._believed(space, searched.share)

    def weigh(
        self, step: Step, facts: Facts, searched: SearchedFloor, goals: Iterable[np.ndarray]
    ) -> tuple[SearchBelief, bool] | None:
        """Return the belief, and whether a look from one of the goals (3,) is worth its seconds; None as `belief`."""
        space = self._space(step, facts, searched)
        if space is None or facts.pose is None:
            return None
        belief = self._believed(space, searched.share)
        lengths = searched.ways.to_all(space.grid, facts.pose)
        return belief, any(self._worth(space, belief, goal, lengths) > 0.0 for goal in goals)

    def shown_per_second(
        self, step: Step, facts: Facts, searched: SearchedFloor, goals: Iterable[np.ndarray]
    ) -> float | None:
        """Return the largest m^2 per second that a turn at one of the goals (3,) shows, its way there included; None as
        `belief`. A look from too far to recognise the step's item shows a part of what it looks at.
        """
        space = self._space(step, facts, searched)
        if space is None or facts.pose is None:
            return None
        lengths = searched.ways.to_all(space.grid, facts.pose)
        before, total = space.missed(space.nearest, space.edges), space.area + space.open_area
        rates = [0.0]
        for goal in goals:
            seconds = self._seconds(space.grid, goal, lengths)
            if math.isfinite(seconds):
                rates.append((before - self._missed_after(space, goal)) * total / seconds)
        return max(rates)

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

    def _space(self, step: Step, facts: Facts, searched: SearchedFloor) -> _SearchSpace | None:
        grid, pose = facts.grid, facts.pose
        if grid is None or pose is None or math.isnan(searched.share):
            return None
        nearest = searched.nearest(grid)
        reached = np.isfinite(searched.ways.to_all(grid, pose)) & grid.free
        floor = grid.free & _in_large_pieces(grid, reached)
        barred = floor & ~_near(grid, reached) & ~np.isfinite(nearest)
        kind = self._priors.of(step.graphs[0].target.category if step.graphs else "")
        tops = _Tops.of(grid, facts.entities.values()) if kind.support == "surface" else None
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


Ending = tuple[ErrorCode, str]


class SearchBounds:
    """Tells when a search for another one is over: by its time, by the directive's, or because no look is worth it."""

    def __init__(self, tools: Tools, judge: AbsenceJudge) -> None:
        self._context, self._judge = tools.context, judge
        self._evidence = tools.outcomes.evidence

    def ending(self, run: DirectiveRun) -> Ending | None:
        """Return code and message where `search_time` has passed since a known thing could not be come to, or where
        only `last_try` is left of the directive's time.
        """
        context, config = self._context, self._context.config.recovery
        allowed = 0.0 if run.errand.tried_again else config.search_time
        is_last = context.now - run.started >= run.time_limit - config.last_try
        return self._ending(run, allowed, 0.0 if is_last else allowed)

    def conclusion(self, run: DirectiveRun) -> Ending | None:
        """Return code and message of a search that is over now for another reason; None where nothing known is gone,
        hidden or barred.
        """
        return self._ending(run, 0.0, 0.0)

    def is_worth(self, run: DirectiveRun, admission: Admission) -> bool:
        """Return whether the search goes on to one of the admitted goals.

        Behind a shut way the known thing is still there. A look for another one is made while it shows `least_shown` of
        floor per second. What may be a thing that fits is always looked at.
        """
        context, config = self._context, self._context.config.recovery
        proposals = [arm.proposal for arm in admission.admissible if arm.proposal is not None]
        if not config.enabled or not run.errand.is_barred or run.step.count != 1 or self._known(run) is None:
            return True
        if any(proposal.entity_id for proposal in proposals):
            return True
        goals = [np.asarray(proposal.goal, np.float64) for proposal in proposals]
        shown = self._judge.shown_per_second(run.step, context.facts, context.searched, goals)
        return shown is None or shown >= config.least_shown

    def _known(self, run: DirectiveRun) -> Entity | None:
        """Return the thing that the map had when the directive began, and that is left to be come to."""
        entities = self._context.facts.entities
        left = [e.id for e in self._context.search.fitting(run)] or run.errand.given_up
        return next((entities[i] for i in left if i in entities and self._evidence.was_known(run, i)), None)

    def _ending(self, run: DirectiveRun, allowed: float, barred_allowed: float) -> Ending | None:
        """Return code and message where a thing is gone or hidden for `allowed` seconds, or barred for its own."""
        context = self._context
        if run.step.count != 1 or not (run.errand.gone or run.errand.out_of_sight or run.errand.is_barred):
            return None
        since = context.now - allowed
        is_late = run.errand.is_barred and run.errand.barred_for(context.now) >= barred_allowed
        known = self._known(run) if is_late else None
        shut = None if known is None else barred(run, context, known)
        if self._context.search.fitting(run):
            return shut
        if any(thing.since <= since for thing in run.errand.gone.values()):
            return gone(run, context)
        if any(at <= since and self._evidence.was_known(run, i) for i, at in run.errand.out_of_sight.items()):
            return hidden(run, context)
        return shut


_POLL = 1.0  # s between two looks while the robot stands before it


@dataclass
class ShutWay:
    """A way that something came into. name: of the thing that it leads to. place: (3,) in map, the pose before it.

    since: loop time since which the robot stands there, seconds; None = not yet. looked: loop time of the last look.
    """

    entity_id: int
    name: str
    place: np.ndarray
    since: float | None = None
    looked: float = -math.inf


class ShutWayWatch:
    """Finds the shut way to a known thing, and tells for how long it is worth standing before it."""

    def __init__(self, context: LoopContext) -> None:
        self._context = context

    def shut(self, run: DirectiveRun) -> ShutWay | None:
        """Return what shut the way to a thing that fits and that was gone to before; None where nothing did."""
        facts = self._context.facts
        if not self._context.config.recovery.enabled:
            return None
        fitting = {entity.id for entity in self._context.search.fitting(run)} | set(run.errand.given_up)
        known = next((i for i in run.errand.grids if i in fitting and i in facts.entities), None)
        place = None if known is None else self._place(run, known)
        return (
            None if known is None or place is None else ShutWay(known, name_of(facts.entities[known]), place)
        )

    def is_over(self, way: ShutWay) -> bool:
        """Return whether the robot has stood before it for long enough."""
        patience = self._context.config.recovery.shut_patience
        return way.since is None or self._context.now - way.since >= patience

    def is_open(self, run: DirectiveRun, way: ShutWay) -> bool:
        """Return whether nothing is in the way any more; it is looked at once per second."""
        now = self._context.now
        if now - way.looked < _POLL:
            return False
        way.looked = now
        return self._place(run, way.entity_id) is None

    def _place(self, run: DirectiveRun, entity_id: int) -> np.ndarray | None:
        facts, config = self._context.facts, self._context.config
        entity, before = facts.entity(entity_id), run.errand.grids.get(entity_id)
        if entity is None or before is None or facts.grid is None or facts.pose is None:
            return None
        return place_before_shut_way(before, facts.grid, facts.pose, entity, config.viewpoints, config.reach)

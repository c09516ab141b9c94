"""Spots that only relations tell: free places around the anchors, scored by the predicates that score things."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from lodestar.agent.errands.context import LoopContext
from lodestar.agent.errands.run import DirectiveRun
from lodestar.agent.errands.target_search import TargetSearch
from lodestar.experts.reach import Reach
from lodestar.geometry.boxes import point_box_distance
from lodestar.language.directive import Item, Step, StepKind
from lodestar.language.query_graph import QueryGraph, QueryVariable
from lodestar.query.config import QueryConfig
from lodestar.scene.records import Entity

GENERIC = "object"  # a noun of the lexicon that any thing fits
LABEL = "person"  # a noun of the lexicon for who stands there, whose size a robot has
REACH = 2.0  # m around the anchors in which a spot may lie
STEP = 0.25  # m between places that are tried
APART = 0.35  # m from a goal that failed, at which another is tried
_SIZE = np.array([0.4, 0.4, 0.5])  # m, of the robot that would stand there


class SpotSearch:
    """Finds where the robot would stand."""

    def __init__(self, context: LoopContext, search: TargetSearch) -> None:
        self._context, self._search = context, search

    def best(self, run: DirectiveRun) -> np.ndarray | None:
        """(3,) of the reachable place that fits best, facing the first anchor; None where the anchors are not known or
        no place fits.
        """
        assert run.step.item is not None
        for graph in run.step.item.best:
            anchors = self._search.known(graph.of_variable(1))
            if not anchors:
                continue
            places = self._places(run, anchors[0])
            if not len(places):
                continue
            entities = {i: _standing(i, place) for i, place in places.items()}
            scores = self._search.scores(Step(StepKind.FIND, Item(((_of_anything(graph),),))), entities)
            fitting = [i for i in entities if scores.get(i, 0.0) >= QueryConfig.accept]
            if fitting:
                chosen = max(fitting, key=lambda i: (round(scores[i], 2), -places[i][2]))
                x, y = places[chosen][:2]
                toward = anchors[0].mean[:2] - (x, y)
                return np.array([x, y, math.atan2(toward[1], toward[0])])
        return None

    def _places(self, run: DirectiveRun, anchor: Entity) -> dict[int, np.ndarray]:
        """(3,) x, y and metres of path by an id of their own, of reachable places around the anchor."""
        facts = self._context.facts
        assert facts.grid is not None and facts.pose is not None and facts.mirror is not None
        grid = facts.grid
        lengths = Reach(grid, facts.pose, self._context.config.reach).possible
        low, high = anchor.box_min[:2] - REACH, anchor.box_max[:2] + REACH
        xs, ys = (np.arange(a, b, STEP) for a, b in zip(low, high))
        points = np.stack(np.meshgrid(xs, ys), -1).reshape(-1, 2)
        cells = grid.cells_of(points)
        shape = np.array(grid.cells.shape)
        on = ((cells >= 0) & (cells < shape)).all(axis=1)
        away = point_box_distance(points, anchor.box_min[:2], anchor.box_max[:2])
        on &= away <= REACH
        length = np.full(len(points), np.inf)
        length[on] = lengths[cells[on, 0], cells[on, 1]]
        for goal in run.errand.goals.active():
            length[np.hypot(*(points - np.asarray(goal)[:2]).T) < APART] = np.inf
        first = max(facts.mirror.entities, default=0) + 1
        kept = np.flatnonzero(np.isfinite(length))
        return {first + i: np.array([*points[k], length[k]]) for i, k in enumerate(kept)}


def _of_anything(graph: QueryGraph) -> QueryGraph:
    """The graph with a target of any kind: the robot that would stand there is no thing of the lexicon."""
    kept = tuple(p for p in graph.predicates if p.name != "IsCategory" or p.arguments != (0,))
    return replace(graph, variables=(QueryVariable(GENERIC, GENERIC), *graph.variables[1:]), predicates=kept)


def _standing(identity: int, place: np.ndarray) -> Entity:
    """The robot at a place, dressed as a thing so that predicates can be scored."""
    middle = np.array([place[0], place[1], _SIZE[2] / 2.0])
    return Entity(
        id=identity,
        label=LABEL,
        caption=LABEL,
        mean=middle,
        covariance=np.diag((_SIZE / 2.0) ** 2 / 3.0),
        box_min=middle - _SIZE / 2.0,
        box_max=middle + _SIZE / 2.0,
    )

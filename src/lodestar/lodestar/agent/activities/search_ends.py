"""Limits on the search for an alternative to a known object that cannot be reached, and on waiting at a
blocked path to it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from lodestar.agent.activities.activity import Tools
from lodestar.agent.errands.context import LoopContext
from lodestar.agent.errands.run import DirectiveRun
from lodestar.agent.errands.words import barred, gone, hidden, name_of
from lodestar.agent.facts.errors import ErrorCode
from lodestar.experts.absence import AbsenceJudge
from lodestar.scene.records import Entity
from lodestar.selection.admission import Admission
from lodestar.worldmodel.recovery_places import place_before_shut_way

Ending = tuple[ErrorCode, str]


class SearchBounds:
    """Limits the search for an alternative to a known object that is gone, hidden or unreachable: by
    `search_time`, by the directive's time limit, and by the floor area that the next goals would newly show.
    """

    def __init__(self, tools: Tools, judge: AbsenceJudge) -> None:
        self._context, self._judge = tools.context, judge
        self._evidence = tools.outcomes.evidence

    def ending(self, run: DirectiveRun) -> Ending | None:
        """Return code and message if `search_time` has passed since a known object turned out gone, hidden or
        unreachable, or if only `last_try` is left of the directive's time; else None.
        """
        context, config = self._context, self._context.config.recovery
        allowed = 0.0 if run.errand.tried_again else config.search_time
        is_last = context.now - run.started >= run.time_limit - config.last_try
        return self._ending(run, allowed, 0.0 if is_last else allowed)

    def conclusion(self, run: DirectiveRun) -> Ending | None:
        """Return code and message for a search that must end now, whether or not these limits are reached;
        None if no known object is gone, hidden or unreachable.
        """
        return self._ending(run, 0.0, 0.0)

    def is_worth(self, run: DirectiveRun, admission: Admission) -> bool:
        """Return whether the search continues with one of the admitted goals.

        While the path to the known object is blocked, it continues only if a goal leads to a possible match,
        or newly shows at least `least_shown` m^2 of floor per second.
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
        """Return an entity that the map had when the directive began and that still matches; None if there is
        none.
        """
        entities = self._context.facts.entities
        left = [e.id for e in self._context.search.fitting(run)] or run.errand.given_up
        return next((entities[i] for i in left if i in entities and self._evidence.was_known(run, i)), None)

    def _ending(self, run: DirectiveRun, allowed: float, barred_allowed: float) -> Ending | None:
        """Return code and message if a known object was gone or hidden for `allowed` seconds, or unreachable
        for `barred_allowed` seconds; else None.
        """
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


_POLL = 1.0  # s between two checks while the robot stands before the obstacle


@dataclass
class ShutWay:
    """A blocked path. entity_id, name: the object that it leads to. place: (3,) in map, the pose in front of
    the obstacle.

    since: loop time, seconds, at which the robot arrived there; None = not yet. looked: loop time of the last
    check.
    """

    entity_id: int
    name: str
    place: np.ndarray
    since: float | None = None
    looked: float = -math.inf


class ShutWayWatch:
    """Finds the blocked path to a known object, and limits how long the robot waits there for it to open."""

    def __init__(self, context: LoopContext) -> None:
        self._context = context

    def shut(self, run: DirectiveRun) -> ShutWay | None:
        """Return the blocked path to a matching object to which the robot has driven before; None if there is
        none.
        """
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
        """Return whether the robot has waited long enough, or never arrived."""
        patience = self._context.config.recovery.shut_patience
        return way.since is None or self._context.now - way.since >= patience

    def is_open(self, run: DirectiveRun, way: ShutWay) -> bool:
        """Return whether the path is free again. It is checked once per second."""
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

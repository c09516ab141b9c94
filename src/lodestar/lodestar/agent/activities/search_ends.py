"""Ends of a search: bounds of a search for another one than a known thing, and ways that are shut."""

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

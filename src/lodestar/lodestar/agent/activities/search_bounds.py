"""Bounds of a search for another thing, while the one that is known is gone, hidden or behind a way that is shut."""

from __future__ import annotations

import numpy as np

from lodestar.agent.actions.endings import barred, gone, hidden
from lodestar.agent.activities.absence import AbsenceJudge
from lodestar.agent.decisions.admission import Admission
from lodestar.agent.errands.context import LoopContext
from lodestar.agent.errands.run import DirectiveRun
from lodestar.agent.errands.target_search import TargetSearch
from lodestar.agent.facts.errors import ErrorCode
from lodestar.agent.recovery.outcomes import Outcomes
from lodestar.scene.records import Entity

Ending = tuple[ErrorCode, str]


class SearchBounds:
    """Tells when a search for another one is over: by its time, by the directive's, or because no look is worth it."""

    def __init__(
        self, context: LoopContext, search: TargetSearch, outcomes: Outcomes, judge: AbsenceJudge
    ) -> None:
        self._context, self._search, self._evidence, self._judge = context, search, outcomes.evidence, judge

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
        left = [e.id for e in self._search.accepted(self._search.look(run))] or run.errand.given_up
        return next((entities[i] for i in left if i in entities and self._evidence.was_known(run, i)), None)

    def _ending(self, run: DirectiveRun, allowed: float, barred_allowed: float) -> Ending | None:
        """Return code and message where a thing is gone or hidden for `allowed` seconds, or barred for its own."""
        context = self._context
        if run.step.count != 1 or not (run.errand.gone or run.errand.out_of_sight or run.errand.is_barred):
            return None
        entities, since = context.facts.entities, context.now - allowed
        is_late = run.errand.is_barred and run.errand.barred_for(context.now) >= barred_allowed
        known = self._known(run) if is_late else None
        shut = None if known is None else barred(run, known, context.searched)
        if self._search.accepted(self._search.look(run)):
            return shut
        if any(thing.since <= since for thing in run.errand.gone.values()):
            return gone(run, context.searched, context.facts.stamp)
        if any(at <= since and self._evidence.was_known(run, i) for i, at in run.errand.out_of_sight.items()):
            return hidden(run, entities, context.searched)
        return shut

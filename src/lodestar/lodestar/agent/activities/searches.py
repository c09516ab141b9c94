"""FIND: asks every expert; ends when the target is claimed (reported as found) or all is explored."""

from __future__ import annotations

import math

import numpy as np

from lodestar.agent.activities.activity import Activity, Tools
from lodestar.agent.activities.search_ends import SearchBounds, ShutWay, ShutWayWatch
from lodestar.agent.decisions.admission import PLACE
from lodestar.agent.decisions.approach import Arrival
from lodestar.agent.errands.run import DirectiveRun
from lodestar.agent.errands.words import counted, give_up, given_up, gone, not_found, unseen
from lodestar.agent.facts.config import LOOP_THINKING_PATIENCE
from lodestar.agent.facts.errors import ErrorCode
from lodestar.experts.absence import AbsenceJudge, SearchBelief
from lodestar.experts.absence_bounds import ABSENCE_UNSURE
from lodestar.language.directive import EVERY
from lodestar.query.targets import TargetView
from lodestar.selection.admission import Admission

# s without a worthwhile look after which ABSENCE_UNSURE is the bound for answering no (ours)
ABSENCE_BARREN_TIME = 45.0
ABSENCE_RESERVE = 5.0  # s before the time limit at which a CHECK answers from its belief (ours)


class Search(Activity):
    """FIND: ends when the loop has verified and claimed the target, or by failure after a last try to reach a
    known object.
    """

    def __init__(self, tools: Tools) -> None:
        super().__init__(tools)
        self._judge = AbsenceJudge(tools.context.priors)
        self._watch = ShutWayWatch(tools.context)
        self._bounds = SearchBounds(tools, self._judge)
        self._shut: ShutWay | None = None  # the blocked path that the robot goes to look at
        self._worth_at: float | None = None  # loop time of the last proposal that was worth its seconds

    def act(self, run: DirectiveRun) -> bool:
        """End the search if a known object was gone, hidden or unreachable for long enough, if the robot is blind, or
        if a CHECK is out of time. Wait if the robot stands before a blocked path.
        """
        blind = self._unseen(run) if self._is_blind(run) else None
        if blind is not None:
            self._tools.steps.fail(run, *blind)
            return True
        if self._is_late(run):
            self._answer_absent(run, self._belief(run), self._tools.context.search.look(run))
            return True
        if self._shut is not None and self._shut.since is not None:
            run.text = f"Waiting for the way to {self._shut.name} to open."
            self._tools.transitions.wait(run)
            return True
        if self._tools.storeys.heads_elsewhere(run):
            return True
        ending = self._bounds.ending(run)
        if ending is None:
            return False
        if ending[0] is ErrorCode.TARGET_GONE or not self._tries_again(run):
            self._tools.steps.fail(run, *ending)
        return True

    def news(self, run: DirectiveRun) -> str:
        """Return a reason to decide again: `search_time` is over, or a CHECK must answer now; else ""."""
        if self._is_late(run):
            return "My time is nearly over: answering with what I know."
        return "I have looked elsewhere for long enough." if self._bounds.ending(run) is not None else ""

    def _tries_again(self, run: DirectiveRun) -> bool:
        """Try once more to reach the known object, or to look at the obstacle on the path to it. Return
        whether a try was left.
        """
        if self._looks_again(run):
            return True
        if not run.errand.try_again():
            return False
        run.text = "I found no other one; trying once more to come to the one that I know."
        self._tools.transitions.redecide(run)
        return True

    def _looks_again(self, run: DirectiveRun) -> bool:
        """Send the robot once per search to look at the obstacle on the path to a known object. Return
        whether the robot goes.
        """
        if run.errand.tried_again:
            return False
        self._shut = self._watch.shut(run)
        if self._shut is None:
            return False
        run.errand.begin_last_try()
        text = f"I found no other one; looking once more at what shut the way to {self._shut.name}."
        if not self._go_to.send(run, PLACE, self._shut.place, text):
            self._shut = None
            self._tools.transitions.redecide(run)
        return True

    def arrived(self, run: DirectiveRun, arrival: Arrival) -> None:
        """Store when the robot arrived at the obstacle on the blocked path, and decide again."""
        if self._shut is not None:
            self._shut.since = self._tools.context.now
        self._tools.transitions.redecide(run)

    def waited(self, run: DirectiveRun) -> None:
        """Decide again when the path is free or the patience is over."""
        assert self._shut is not None
        is_open = self._watch.is_open(run, self._shut)
        if is_open or self._watch.is_over(self._shut):
            self._shut = None
            if is_open:
                run.errand.second_chance()
            self._tools.transitions.redecide(run)

    def settled(self, run: DirectiveRun, admission: Admission, view: TargetView) -> bool:
        """End the search if its goals are not worth the drive: if it is for an alternative to an object
        behind a blocked path, or for a CHECK whose object is probably absent. Possible matches are looked at
        first. Return whether the search ended or the robot leaves the floor.
        """
        context = self._tools.context
        if not self._bounds.is_worth(run, admission):
            self._end_barred(run, admission, view)
            return True
        proposals = [arm.proposal for arm in admission.admissible if arm.proposal is not None]
        if not view.accepted and not any(proposal.entity_id for proposal in proposals):
            places = [np.asarray(proposal.goal, np.float64) for proposal in proposals]
            if self._tools.storeys.leaves(run, self._judge, places):
                return True
        if not self._weighs(run) or view.accepted or given_up(run, context, view) is not None:
            return False
        if any(proposal.entity_id for proposal in proposals) or self._unseen(run):
            return False
        goals = [np.asarray(proposal.goal, np.float64) for proposal in proposals]
        weighed = self._judge.weigh(run.step, context.facts, context.searched, goals)
        if weighed is None or not self._is_enough(*weighed):
            return False
        self._answer_absent(run, weighed[0], view)
        return True

    def _is_enough(self, belief: SearchBelief, is_worth: bool) -> bool:
        """Return whether the object is so probably absent that a CHECK may answer no now. is_worth: whether
        an observation from a proposed goal is worth its seconds.
        """
        now, config = self._tools.context.now, self._tools.context.config.absence
        if is_worth or self._worth_at is None:
            self._worth_at = now
        is_barren = now - self._worth_at >= ABSENCE_BARREN_TIME
        return not is_worth and belief.present <= (ABSENCE_UNSURE if is_barren else config.bound)

    def _weighs(self, run: DirectiveRun) -> bool:
        """Return whether this search serves a CHECK that asks only whether an object exists, not limited to
        rooms or to the surroundings of another object.
        """
        step = run.itinerary.step
        here = not run.step.scope.rooms and run.step.scope.around is None
        return run.check is not None and here and not step.asked

    def _is_late(self, run: DirectiveRun) -> bool:
        """Return whether a CHECK must be answered now because its time is nearly over."""
        context = self._tools.context
        left = run.time_limit - (context.now - run.started)
        return self._weighs(run) and left <= ABSENCE_RESERVE

    def _belief(self, run: DirectiveRun) -> SearchBelief | None:
        context = self._tools.context
        return self._judge.belief(run.step, context.facts, context.searched) if self._weighs(run) else None

    def _answer_absent(self, run: DirectiveRun, belief: SearchBelief | None, view: TargetView) -> None:
        """End the visit on behalf of a CHECK, because the object was not found; the CHECK answers from
        `belief`.
        """
        context = self._tools.context
        assert run.check is not None
        run.check.belief = belief
        absent = ErrorCode.TARGET_NOT_FOUND, not_found(run, context, view)
        self._tools.steps.fail(run, *(given_up(run, context, view) or self._unseen(run) or absent))

    def explored(self, run: DirectiveRun, admission: Admission, view: TargetView) -> None:
        """Handle the end of exploration: wait for late experts, retry targets that were given up, continue on
        another floor, or end the search.
        """
        if not self._goes_on(run) and not self._tools.storeys.next_floor(run):
            self._end_explored(run, admission, view)

    def _goes_on(self, run: DirectiveRun) -> bool:
        """Return whether the search waits for an expert, heads for the only thing that fits or retries a target,
        although everything is explored.
        """
        only = self._tools.context.search.look(run).presumed
        if only and only not in run.errand.presumed:
            run.errand.presumed.add(only)
            self._tools.transitions.redecide(run)
        elif self._waits_for_experts(run):
            self.retry(run)
        elif run.errand.second_chance():
            self._tools.transitions.redecide(run)
        else:
            return bool(run.errand.is_barred or run.errand.given_up) and self._looks_again(run)
        return True

    def _end_barred(self, run: DirectiveRun, admission: Admission, view: TargetView) -> None:
        """End the search because no further goal is worth its time; first retry the targets that were given
        up.
        """
        context = self._tools.context
        run.requests.close()
        run.errand.explored_at = context.now if run.errand.explored_at is None else run.errand.explored_at
        if not self._goes_on(run):
            ending = self._bounds.conclusion(run)
            self._tools.steps.fail(run, *(ending or give_up(run, context, admission, view)))

    def conclusion(self, run: DirectiveRun) -> tuple[ErrorCode, str] | None:
        """Return code and message for a known object that was not reached when the time ran out; None in a CHECK."""
        return None if run.check is not None else self._bounds.conclusion(run)

    def _end_explored(self, run: DirectiveRun, admission: Admission, view: TargetView) -> None:
        tools = self._tools
        if run.step.count == EVERY and run.errand.found_here:
            found = counted(run.errand.found_here, run.step.target)
            tools.steps.succeed(run, f"Found {found}; everything reachable is explored.", view)
        else:
            if run.check is not None:
                run.check.belief = self._belief(run)
            if run.errand.gone and not self._unseen(run) and not view.accepted:
                code, message = gone(run, tools.context)
            else:
                code, message = give_up(run, tools.context, admission, view)
            if run.errand.found_here:
                message = f"Found {run.errand.found_here} of {run.step.count} that were asked for. {message}"
            tools.steps.fail(run, code, message)

    def _waits_for_experts(self, run: DirectiveRun) -> bool:
        """Return whether an expert still has to answer a request made after everything was explored."""
        context = self._tools.context
        assert run.errand.explored_at is not None
        if context.now - run.errand.explored_at > LOOP_THINKING_PATIENCE:
            return False
        behind = [name for name in context.experts if run.requests.is_behind(name, run.errand.explored_at)]
        if behind:
            run.text = f"Everything reachable is explored; waiting for {' and '.join(behind)} to answer."
            run.errand.idle_since = None
        return bool(behind)

    def _is_blind(self, run: DirectiveRun) -> bool:
        """Return whether looks came on this floor and stopped, as when the camera is covered during a search."""
        context = self._tools.context
        patience, looked = context.config.scene_patience, context.searched.newest
        here = context.now - run.floors.since > patience
        return here and patience < context.facts.stamp.seconds - looked < math.inf

    def _unseen(self, run: DirectiveRun) -> tuple[ErrorCode, str] | None:
        context = self._tools.context
        return unseen(run, context, context.config.scene_patience)

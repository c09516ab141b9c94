"""The navigator's news of a goal: it goes on, was reached, failed, or there is no navigator."""

from __future__ import annotations

import math

import numpy as np

from lodestar.agent.actions.account import Account
from lodestar.agent.actions.transitions import Transitions
from lodestar.agent.activities.charger_trip import ChargerTrip
from lodestar.agent.activities.table import Activities
from lodestar.agent.decisions.proposers import ASIDE, CHARGER, LOOK
from lodestar.agent.decisions.verification import faced_entity
from lodestar.agent.errands.commands import CancelGoal, NavigationEvent, NavigationKind
from lodestar.agent.errands.context import LoopContext
from lodestar.agent.errands.errand import UNREACHABLE, UNSURE, Navigation
from lodestar.agent.errands.open_action import Failing
from lodestar.agent.errands.run import DirectiveRun
from lodestar.agent.errands.target_search import TargetSearch
from lodestar.agent.facts.errors import ErrorCode
from lodestar.agent.facts.navigator_codes import is_controller_stuck
from lodestar.agent.recovery.retreat import retreat
from lodestar.experts.protocol import Proposal
from lodestar.selection.decision_log import Outcome
from lodestar.worldmodel.outcomes import Result


class NavigatorNews:
    """Draws the consequences of what the navigator says, and of its silence."""

    def __init__(
        self,
        context: LoopContext,
        search: TargetSearch,
        account: Account,
        transitions: Transitions,
        trip: ChargerTrip,
        activities: Activities,
    ) -> None:
        self._context, self._search, self._account = context, search, account
        self._transitions, self._trip, self._activities = transitions, trip, activities

    def hear(self, run: DirectiveRun) -> None:
        """Take in every event since the last tick, in order."""
        events, run.under_way.events = run.under_way.events, []
        for event in events:
            navigation = run.under_way.navigation
            if self._context.run is run and navigation is not None and event.epoch in (0, navigation.epoch):
                self._take(run, navigation, event)

    def _take(self, run: DirectiveRun, navigation: Navigation, event: NavigationEvent) -> None:
        if event.kind is not NavigationKind.UNAVAILABLE:
            run.unavailable_since = None
        if event.kind in (NavigationKind.ACCEPTED, NavigationKind.FEEDBACK):
            navigation.accepted = True
            if math.isfinite(event.distance_remaining):
                navigation.distance_remaining = event.distance_remaining
        elif event.kind is NavigationKind.SUCCEEDED:
            self._transitions.arrive(run, navigation)
        elif event.kind is NavigationKind.UNAVAILABLE:
            self.unavailable(run, event.error_msg)
        else:
            detail = f"{event.error_msg or event.kind.value} ({event.error_code})"
            blocked = is_controller_stuck(event.error_code)
            why = f"the navigator {event.kind.value} it: {detail}"
            self.failed(run, navigation, why, blocked, event.error_code)

    def failed(
        self, run: DirectiveRun, navigation: Navigation, why: str, blocked: bool = False, code: int = 0
    ) -> None:
        """Diagnose why the goal was not reached, unless the robot already faces a target from where it stands.

        blocked: the navigator tried to move and could not. code: the navigator's own, 0 = the loop gave the goal up.
        """
        context = self._context
        config, facts = context.config, context.facts
        view = self._search.look(run)
        assert facts.pose is not None
        faced = faced_entity(self._search.accepted(view), facts.pose, facts.grid, config)
        if faced is not None and not run.errand.goals.reason(facts.pose):
            context.commands.append(CancelGoal(why))
            self._transitions.arrive(run, navigation)
            return
        run.under_way.navigation = None
        if navigation.proposal.expert == ASIDE:
            if not self._step_aside(run, navigation.start):
                self._transitions.redecide(run, config.retry_interval)
            return
        if (
            navigation.proposal.expert == LOOK and run.under_way.case is not None
        ):  # look on from where the robot stands
            self._transitions.outcomes.end_look(run, Result.ROLLED_BACK, why)
            self._transitions.diagnose(run, run.under_way.case)
            return
        outcomes = self._transitions.outcomes
        again = navigation.proposal
        if outcomes.retries(run) and self._transitions.send(run, again, context.next_epoch(), view).accepted:
            return
        case = outcomes.open_case(run, Failing.STOPPED, navigation.proposal, why, code=code, blocked=blocked)
        if case is not None:
            self._transitions.diagnose(run, case)
            return
        self.leave_out(run, navigation.proposal, navigation.start, why, blocked)

    def leave_out(
        self, run: DirectiveRun, proposal: Proposal, start: np.ndarray, why: str, blocked: bool = False
    ) -> None:
        """Exclude the goal until the map around it changes, and decide anew; step aside, or give up, after too many.

        start: (3,), where the robot was when it got the goal. A robot that cannot turn where it stands cannot turn
        another way there either: it steps aside at once.
        """
        context = self._context
        config, facts = context.config, context.facts
        view = self._search.look(run)
        run.errand.failures += 1
        run.errand.last_failure = why
        self._account.close(Outcome.ABORTED, view)
        run.errand.goals.exclude(proposal.goal, why, facts.grid)
        entity = facts.entity(proposal.entity_id)
        if entity is not None:
            run.errand.spend_viewpoint(entity.id, UNREACHABLE if view.is_accepted(entity.id) else UNSURE)
        if run.errand.failures >= config.max_navigation_failures:
            self._give_up(run, proposal, why)
            return
        turning = math.dist(proposal.goal[:2], start[:2]) < config.same_goal_distance
        if (run.errand.failures > 1 or (blocked and turning)) and self._step_aside(run, start):
            return
        run.text = f"That goal failed ({why}); choosing another."
        self._transitions.redecide(run, config.retry_interval)

    def unavailable(self, run: DirectiveRun, message: str) -> None:
        """No navigator takes goals: wait for one, and end the directive when none comes."""
        context = self._context
        if run.unavailable_since is None:
            run.unavailable_since = context.now
        detail = f": {message}" if message else ""
        if context.now - run.unavailable_since >= context.config.navigator_timeout:
            self._transitions.outcomes.note(run, Failing.SILENT, f"the navigator is not available{detail}")
            self._transitions.finish(
                run, ErrorCode.NAVIGATOR_UNAVAILABLE, f"The navigator is not available{detail}."
            )
            return
        self._transitions.outcomes.note(run, Failing.SILENT, f"the navigator is not available{detail}")
        run.text = f"Waiting for the navigator{detail}."
        run.under_way.navigation = None
        self._account.close(Outcome.ABORTED)
        self._transitions.redecide(run, context.config.retry_interval)

    def _give_up(self, run: DirectiveRun, proposal: Proposal, why: str) -> None:
        """The robot failed at too many goals in a row."""
        if proposal.expert == CHARGER:
            self._trip.give_up(run, why)
        else:
            self._activities.of(run).unreachable(run, why)

    def _step_aside(self, run: DirectiveRun, start: np.ndarray) -> bool:
        """Whether the robot, which has not moved from `start` (3,) since it got the goal, was told to step aside."""
        config, facts = self._context.config, self._context.facts
        assert facts.pose is not None and facts.grid is not None
        if math.dist(facts.pose[:2], start[:2]) > config.retreat_distance / 2.0:
            run.errand.retreats = []
            return False
        if len(run.errand.retreats) >= config.max_retreats:
            return False
        goal = retreat(facts.grid, facts.pose, config.retreat_distance, run.errand.retreats)
        if goal is None:
            return False
        run.errand.retreats.append(goal)
        epoch, why = self._context.next_epoch(), "I cannot move from here; stepping aside."
        if not self._transitions.send(run, Proposal(ASIDE, epoch, goal, 1.0, why), epoch).accepted:
            return False
        run.text = why
        return True

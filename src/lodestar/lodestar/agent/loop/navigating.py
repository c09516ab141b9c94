"""State NAVIGATING: the navigator has a goal; watch it, the scene, and whether the goal is still worth it."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from lodestar.agent.actions.transitions import Transitions
from lodestar.agent.activities.charger_trip import ChargerTrip
from lodestar.agent.activities.table import Activities
from lodestar.agent.decisions.admission import heads_for
from lodestar.agent.decisions.approach import better_target, pose_here
from lodestar.agent.decisions.proposers import ASIDE, CHARGER, EXPLORER, HOME, LOOK, PLACE
from lodestar.agent.errands.commands import CancelGoal
from lodestar.agent.errands.context import LoopContext
from lodestar.agent.errands.errand import Navigation
from lodestar.agent.errands.open_action import Failing
from lodestar.agent.errands.run import DirectiveRun
from lodestar.agent.errands.target_search import TargetSearch
from lodestar.agent.errands.words import name_of
from lodestar.agent.facts.config import LoopConfig
from lodestar.agent.loop.inquiry import Inquiry
from lodestar.agent.loop.navigator_news import NavigatorNews
from lodestar.experts.protocol import ActionKind, Proposal, Rejection
from lodestar.geometry.poses import wrap_angle
from lodestar.scene.records import Entity


class NavigatingState:
    """Leaves by `send` (a nearer goal for the same target), `redecide`, or what the news brings."""

    def __init__(
        self,
        context: LoopContext,
        search: TargetSearch,
        inquiry: Inquiry,
        transitions: Transitions,
        trip: ChargerTrip,
        news: NavigatorNews,
        activities: Activities,
    ) -> None:
        self._context, self._search, self._inquiry = context, search, inquiry
        self._transitions, self._trip, self._news = transitions, trip, news
        self._activities = activities

    def step(self, run: DirectiveRun) -> None:
        """Look whether the goal that is under way is still worth it."""
        if self._trip.turned_back(run):
            return
        navigation, now = run.under_way.navigation, self._context.now
        assert navigation is not None
        if navigation.proposal.expert in (HOME, CHARGER, PLACE, ASIDE, LOOK):
            return
        if now - run.under_way.last_check >= self._context.config.target_check_interval:
            run.under_way.last_check = now
            if self._vanished(run, navigation):
                return
            if self._target_news(run, navigation):
                self._transitions.redecide(run)
                return
        self._review(run, navigation)

    def is_given_up(self, run: DirectiveRun) -> bool:
        """Return whether the goal under way was given up now: no word of it comes, it takes too long, or the robot is
        stuck, held or lost. Holds for a goal that the robot drives to while the next one is decided on, too.
        """
        navigation, context = run.under_way.navigation, self._context
        if navigation is None or context.facts.pose is None:
            return False
        config, now = context.config, context.now
        if not navigation.accepted and now - navigation.sent > config.accept_timeout:
            self._halt(run, "the navigator does not answer")
            self._news.unavailable(run, "it does not answer")
        elif now > navigation.deadline:
            self._halt(run, "it takes too long")
            self._news.failed(run, navigation, "it took too long")
        elif navigation.accepted and context.facts.odometer.still_for > config.stuck_time:
            self._halt(run, "stuck")
            self._news.failed(run, navigation, f"no movement for {config.stuck_time:.0f} s")
        elif self._touches(run):
            self._halt(run, "something that I do not see holds me")
            self._news.failed(run, navigation, "something that I do not see holds me", blocked=True)
        else:
            return self._is_lost(run, navigation)
        return True

    def _touches(self, run: DirectiveRun) -> bool:
        """Return whether the robot was held too often on this drive; the navigator might go on trying for minutes."""
        config, action = self._context.config.recovery, run.under_way.action
        contacts = self._context.facts.contacts
        return (
            action is not None and config.enabled and contacts.count - action.contacts >= config.max_contacts
        )

    def _is_lost(self, run: DirectiveRun, navigation: Navigation) -> bool:
        """Return whether the pose jumped, or a thing is driven to without sight, so that the robot stands now."""
        context, action = self._context, run.under_way.action
        outcomes = self._transitions.outcomes
        if action is None or not context.config.recovery.enabled:
            return False
        if outcomes.evidence.has_jumped(run):
            failing, why = Failing.POSE, "the pose in the map jumped"
        elif navigation.proposal.entity_id and outcomes.evidence.is_blind():
            failing, why = Failing.BLIND, "the camera sends no images any more"
        else:
            return False
        case = outcomes.open_case(run, failing, navigation.proposal, why)
        if case is not None:
            self._transitions.diagnose(run, case)
        return case is not None

    def _vanished(self, run: DirectiveRun, navigation: Navigation) -> bool:
        """Return whether the target is verified gone, which is diagnosed at once."""
        action, evidence = run.under_way.action, self._transitions.outcomes.evidence
        if action is None or action.entity_id not in action.fitting:
            return False
        if not evidence.is_verified_gone(action.entity_id):
            return False
        why = "what I was going to is not there any more"
        case = self._transitions.outcomes.open_case(run, Failing.VANISHED, navigation.proposal, why)
        if case is not None:
            self._transitions.diagnose(run, case)
        return case is not None

    def _halt(self, run: DirectiveRun, reason: str) -> None:
        """Take the goal back from the navigator."""
        if run.under_way.navigation is not None:
            self._context.commands.append(CancelGoal(reason))
            run.under_way.navigation = None

    def _target_news(self, run: DirectiveRun, navigation: Navigation) -> bool:
        """Whether the scene now says to go elsewhere: a target or a better one appeared, or this one is gone."""
        context = self._context
        news = self._activities.of(run).news(run)
        if news:
            run.text = news
            return True
        view = self._search.look(run)
        accepted = self._search.accepted(view)
        since = context.now - run.errand.last_decision
        if accepted and not heads_for(navigation.proposal, accepted):
            new = {entity.id for entity in accepted} - run.errand.known_targets
            if new or since > 3.0 * context.config.review_interval:
                run.text = f"{name_of(accepted[0])} may be it; deciding anew."
                return True
        entity = context.facts.entity(navigation.proposal.entity_id)
        if navigation.proposal.entity_id and entity is None:
            run.text = "What I was going to is not there any more."
            return True
        if entity is None or not view.is_accepted(entity.id):
            return False
        pose = context.facts.pose
        assert pose is not None
        if since >= context.config.switch_interval:
            better = better_target(
                view, entity, accepted, pose, navigation.distance_remaining, context.config
            )
            if better is not None:
                run.text = f"{name_of(better[0])} is {better[1]}; deciding anew."
                return True
        self._stop_short(run, navigation, entity)
        return False

    def _stop_short(self, run: DirectiveRun, navigation: Navigation, entity: Entity) -> None:
        """Replace the goal by the robot's own place where the target can be faced from there."""
        context = self._context
        facts = context.facts
        assert facts.pose is not None and facts.grid is not None
        if navigation.shortened or not navigation.accepted:
            return
        target, tried = navigation.proposal.goal, run.errand.goals.active()
        goal = pose_here(facts.grid, facts.pose, entity, tried, target, context.config, facts.mirror)
        if goal is None:
            return
        shortened = replace(navigation.proposal, goal=goal)
        if not self._transitions.send(run, shortened, context.next_epoch()).accepted:
            return
        name = name_of(entity)
        run.text = f"{name[:1].upper()}{name[1:]} can be faced from here; turning to it."
        assert run.under_way.navigation is not None
        run.under_way.navigation.shortened = True

    def _review(self, run: DirectiveRun, navigation: Navigation) -> None:
        """Ask the explorer on the way whether its goal is still worth it; decide anew where it is not."""
        context = self._context
        proposal, questions = navigation.proposal, run.questions
        if questions.request is not None and questions.is_review:
            if not questions.is_due(context.now):
                return
            answer = self._inquiry.answers(run).get(EXPLORER)
            questions.close()
            if answer is not None and _is_elsewhere(answer, proposal, context.config):
                run.text = "I have seen what I was going to look at; choosing the next place."
                self._transitions.redecide(run)
        elif (
            proposal.expert == EXPLORER
            and proposal.action is ActionKind.GO
            and context.now - run.under_way.last_review >= context.config.review_interval
        ):
            run.under_way.last_review = context.now
            self._inquiry.ask(run, self._activities.of(run), review=True)


def _is_elsewhere(answer: Proposal | Rejection, proposal: Proposal, config: LoopConfig) -> bool:
    """Whether the explorer would now go to another place, or look another way."""
    if isinstance(answer, Rejection):
        return True
    away = math.hypot(*(np.asarray(answer.goal)[:2] - np.asarray(proposal.goal)[:2]))
    turned = abs(float(wrap_angle(answer.goal[2] - proposal.goal[2])))
    return away > config.review_distance or turned > math.pi / 2

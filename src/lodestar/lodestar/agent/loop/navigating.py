"""State NAVIGATING: process the navigator's reports, and check whether its goal is still worth reaching."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from lodestar.agent.activities.activity import Tools
from lodestar.agent.activities.table import Activities
from lodestar.agent.decisions.admission import (
    ASIDE,
    CHARGER,
    FRONTIER,
    HOME,
    LOOK,
    PASSAGE,
    PLACE,
    SEMANTIC_MAP,
)
from lodestar.agent.decisions.approach import better_target, faced_entity, heads_for, pose_here
from lodestar.agent.errands.commands import CancelGoal, NavigationEvent, NavigationKind
from lodestar.agent.errands.errand import UNREACHABLE, UNSURE, Failure, Navigation
from lodestar.agent.errands.run import DirectiveRun
from lodestar.agent.errands.words import name_of
from lodestar.agent.facts.config import LOOP_RETRY_INTERVAL, LOOP_REVIEW_DISTANCE, LOOP_SETTLE_TIME
from lodestar.agent.facts.errors import ErrorCode, is_controller_stuck
from lodestar.agent.facts.times import NEVER
from lodestar.agent.loop.deciding import Inquiry
from lodestar.experts.protocol import ActionKind, Proposal, Rejection
from lodestar.geometry.poses import apart
from lodestar.grid.config import SAME_GOAL
from lodestar.grid.visibility import line_of_sight
from lodestar.scene.records import Entity
from lodestar.selection.decisions import Outcome
from lodestar.worldmodel.outcomes import Result
from lodestar.worldmodel.recovery_places import retreat

# contacts on one drive from which the goal is given up and its failure diagnosed (ours)
RECOVERY_MAX_CONTACTS = 3
LOOP_MAX_NAVIGATION_FAILURES = 6  # failed drives in a row, at different goals (ours)
# On the way to a goal.
LOOP_TARGET_CHECK_INTERVAL = 0.5  # s between looks at the scene (ours)
LOOP_REVIEW_INTERVAL = 2.0  # s between requests whether an exploration goal is still worth reaching (ours)
# A goal that only serves as a viewpoint counts as reached within this distance and this angle; the next goal
# is then chosen while the robot moves (ours: a second of driving, and less than half of a camera's width).
LOOP_PASS_DISTANCE = 0.5  # m from such a goal
LOOP_PASS_ANGLE = math.radians(35.0)  # rad of turn left at such a goal
LOOP_SWITCH_INTERVAL = 4.0  # s between two switches of the target (ours)
LOOP_RETREAT_DISTANCE = 0.45  # m of a step aside after two failures without motion (ours)
LOOP_MAX_RETREATS = 4  # steps aside at one place (ours)

_PASSED = 20  # number of newest passed goals that are driven to fully when chosen again
_OWN = (HOME, CHARGER, PLACE, ASIDE, LOOK)  # proposers of the loop's own goals


class NavigatorNews:
    """Processes the navigator's reports, and its silence."""

    def __init__(self, tools: Tools, activities: Activities) -> None:
        self._tools, self._activities = tools, activities
        self._context, self._transitions = tools.context, tools.transitions

    def hear(self, run: DirectiveRun) -> None:
        """Process the navigator's reports since the last tick, in order."""
        events, run.under_way.events = run.under_way.events, []
        for event in events:
            navigation = run.under_way.navigation
            if self._context.run is run and navigation is not None and event.epoch in (0, navigation.epoch):
                self._take(run, navigation, event)

    def _take(self, run: DirectiveRun, navigation: Navigation, event: NavigationEvent) -> None:
        if event.kind is not NavigationKind.UNAVAILABLE:
            run.errand.unavailable_since = None
        if event.kind in (NavigationKind.ACCEPTED, NavigationKind.FEEDBACK):
            navigation.accepted = True
            if math.isfinite(event.distance_remaining):
                navigation.distance_remaining = event.distance_remaining
        elif event.kind is NavigationKind.SUCCEEDED and (
            navigation.passed or self._is_quick(run, navigation)
        ):
            self._transitions.come_by(run, navigation)
        elif event.kind is NavigationKind.SUCCEEDED:
            self._transitions.arrive(run, navigation)
        elif event.kind is NavigationKind.UNAVAILABLE:
            self.unavailable(run, event.error_msg)
        else:
            detail = f"{event.error_msg or event.kind.value} ({event.error_code})"
            blocked = is_controller_stuck(event.error_code)
            why = f"the navigator {event.kind.value} it: {detail}"
            self.failed(run, navigation, why, blocked, event.error_code)

    def _is_quick(self, run: DirectiveRun, navigation: Navigation) -> bool:
        """Return whether to choose the next goal at once: this goal only served as a viewpoint, and no expert
        takes long to judge its image.
        """
        return _only_shows(navigation.proposal) and not run.requests.views_take_time(self._context.now)

    def failed(
        self, run: DirectiveRun, navigation: Navigation, why: str, blocked: bool = False, code: int = 0
    ) -> None:
        """Diagnose why the goal was not reached, unless the robot already faces a target from its position.

        blocked: the navigator tried to move and could not. code: the navigator's own, 0 = the loop gave the goal up.
        """
        context = self._context
        config, facts = context.config, context.facts
        view = self._context.search.look(run)
        faced = faced_entity(context.search.accepted(view), facts, config)
        if faced is not None and not run.errand.goals.reason(facts.known_pose):
            context.commands.append(CancelGoal(why))
            self._transitions.arrive(run, navigation)
            return
        run.under_way.navigation = None
        if navigation.proposal.expert == ASIDE:
            if not self._step_aside(run, navigation.start):
                self._transitions.redecide(run, LOOP_RETRY_INTERVAL)
            return
        if navigation.proposal.expert == LOOK and run.under_way.case is not None:
            # continue looking from the robot's position
            self._tools.outcomes.end_look(run, Result.ROLLED_BACK, why)
            self._transitions.diagnose(run, run.under_way.case)
            return
        proposal, failure = navigation.proposal, Failure.STOPPED
        if not self._transitions.diagnosed(run, failure, proposal, why, code=code, blocked=blocked):
            self.leave_out(run, navigation.proposal, navigation.start, why, blocked)

    def leave_out(
        self, run: DirectiveRun, proposal: Proposal, start: np.ndarray, why: str, blocked: bool = False
    ) -> None:
        """Exclude the goal until the map around it changes, and decide again; after too many failures step aside or
        give up.

        start: (3,), the robot's pose when the goal was sent. A robot that cannot turn at its position steps aside at
        once, because no other turn would work there.
        """
        context = self._context
        facts = context.facts
        view = self._context.search.look(run)
        run.errand.failures += 1
        run.errand.last_failure = why
        self._context.account.close(Outcome.ABORTED, view)
        run.errand.goals.exclude(proposal.goal, why, facts.grid)
        entity = facts.entity(proposal.entity_id)
        if entity is not None:
            run.errand.spend_viewpoint(entity.id, UNREACHABLE if view.is_accepted(entity.id) else UNSURE)
        if run.errand.failures >= LOOP_MAX_NAVIGATION_FAILURES:
            self._give_up(run, proposal, why)
            return
        turning = math.dist(proposal.goal[:2], start[:2]) < SAME_GOAL
        if (run.errand.failures > 1 or (blocked and turning)) and self._step_aside(run, start):
            return
        run.text = f"That goal failed ({why}); choosing another."
        self._transitions.redecide(run, LOOP_RETRY_INTERVAL)

    def unavailable(self, run: DirectiveRun, message: str) -> None:
        """Wait for a navigator that accepts goals; end the directive if none does within `navigator_timeout`."""
        context = self._context
        if run.errand.unavailable_since is None:
            run.errand.unavailable_since = context.now
        detail = f": {message}" if message else ""
        self._tools.outcomes.note(run, Failure.SILENT, f"the navigator is not available{detail}")
        if context.now - run.errand.unavailable_since >= context.config.navigator_timeout:
            message = f"The navigator is not available{detail}."
            self._transitions.finish(run, ErrorCode.NAVIGATOR_UNAVAILABLE, message)
            return
        run.text = f"Waiting for the navigator{detail}."
        run.under_way.navigation = None
        self._context.account.close(Outcome.ABORTED)
        self._transitions.redecide(run, LOOP_RETRY_INTERVAL)

    def _give_up(self, run: DirectiveRun, proposal: Proposal, why: str) -> None:
        """Give up after too many consecutive failed goals."""
        if proposal.expert == CHARGER:
            self._tools.trip.give_up(run, why)
        else:
            self._activities.of(run).unreachable(run, why)

    def _step_aside(self, run: DirectiveRun, start: np.ndarray) -> bool:
        """Step aside if the robot has not moved from `start` (3,) since it got the goal. Return whether a goal was
        sent.
        """
        facts = self._context.facts
        if math.dist(facts.known_pose[:2], start[:2]) > LOOP_RETREAT_DISTANCE / 2.0:
            run.errand.retreats = []
            return False
        if len(run.errand.retreats) >= LOOP_MAX_RETREATS:
            return False
        goal = retreat(facts.known_grid, facts.known_pose, LOOP_RETREAT_DISTANCE, run.errand.retreats)
        if goal is None:
            return False
        run.errand.retreats.append(goal)
        return self._transitions.go(run, ASIDE, goal, "I cannot move from here; stepping aside.").accepted


class NavigatingState:
    """State in which the robot drives to a goal. Left by `send` (a nearer goal for the same target),
    `redecide`, or a report of the navigator.
    """

    def __init__(self, tools: Tools, activities: Activities, news: NavigatorNews) -> None:
        self._tools, self._activities, self._news = tools, activities, news
        self._context, self._transitions = tools.context, tools.transitions
        self._inquiry = Inquiry(tools.context)

    def step(self, run: DirectiveRun) -> None:
        """Check whether the current goal is still worth reaching."""
        if self._tools.trip.turned_back(run):
            return
        navigation, now = run.under_way.navigation, self._context.now
        assert navigation is not None
        if navigation.moved is not None and self._follow_map(run, navigation):
            return
        if navigation.proposal.expert in _OWN:
            return
        if self._is_shown(run, navigation):
            return
        if now - run.under_way.last_check >= LOOP_TARGET_CHECK_INTERVAL:
            run.under_way.last_check = now
            if self._vanished(run, navigation):
                return
            if self._target_news(run, navigation):
                self._transitions.redecide(run)
                return
        self._review(run, navigation)

    def is_given_up(self, run: DirectiveRun) -> bool:
        """Give up the goal if the navigator is silent or too slow, or if the robot is stuck, caught on an
        obstacle or lost. Return whether it was given up. Also called while the next goal is being decided and
        the robot drives on.
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
        """Return whether the robot had too many contacts on this drive; the navigator itself might try for
        minutes.
        """
        config, action = self._context.config.recovery, run.under_way.action
        contacts = self._context.facts.contacts
        return (
            action is not None
            and config.enabled
            and contacts.count - action.contacts >= RECOVERY_MAX_CONTACTS
        )

    def _is_lost(self, run: DirectiveRun, navigation: Navigation) -> bool:
        """Diagnose a pose jump, or a drive to an object without images. Return whether the robot stopped for a
        diagnosis.
        """
        context, action = self._context, run.under_way.action
        outcomes = self._tools.outcomes
        if action is None or not context.config.recovery.enabled:
            return False
        if outcomes.evidence.has_jumped(run):
            failure, why = Failure.POSE, "the pose in the map jumped"
        elif navigation.proposal.entity_id and outcomes.evidence.is_blind():
            failure, why = Failure.BLIND, "the camera sends no images any more"
        else:
            return False
        return self._transitions.diagnosed(run, failure, navigation.proposal, why)

    def _vanished(self, run: DirectiveRun, navigation: Navigation) -> bool:
        """Diagnose the case that the target is verified gone. Return whether a diagnosis began."""
        action, evidence = run.under_way.action, self._tools.outcomes.evidence
        if action is None or action.entity_id not in action.fitting:
            return False
        if not evidence.is_verified_gone(action.entity_id):
            return False
        why = "what I was going to is not there any more"
        return self._transitions.diagnosed(run, Failure.VANISHED, navigation.proposal, why)

    def _halt(self, run: DirectiveRun, reason: str) -> None:
        """Cancel the navigator's goal."""
        if run.under_way.navigation is not None:
            self._context.commands.append(CancelGoal(reason))
            run.under_way.navigation = None

    def _target_news(self, run: DirectiveRun, navigation: Navigation) -> bool:
        """Return whether the scene requires a new decision: a target or a better one appeared, or the current one is
        gone.
        """
        context = self._context
        news = self._activities.of(run).news(run)
        if news:
            run.text = news
            return True
        view = self._context.search.look(run)
        accepted = self._context.search.accepted(view)
        since = context.now - run.errand.last_decision
        if accepted and not heads_for(navigation.proposal, accepted, context.config):
            new = {entity.id for entity in accepted} - run.errand.known_targets
            if new or since > 3.0 * LOOP_REVIEW_INTERVAL:
                run.text = f"{name_of(accepted[0])} may be it; deciding anew."
                return True
        entity = context.facts.entity(navigation.proposal.entity_id)
        if navigation.proposal.entity_id and entity is None:
            run.text = "What I was going to is not there any more."
            return True
        if entity is None or not view.is_accepted(entity.id):
            return False
        if since >= LOOP_SWITCH_INTERVAL:
            pose, left = context.facts.known_pose, navigation.distance_remaining
            better = better_target(view, entity, accepted, pose, left)
            if better is not None:
                run.text = f"{name_of(better[0])} is {better[1]}; deciding anew."
                return True
        self._stop_short(run, navigation, entity)
        return False

    def _is_shown(self, run: DirectiveRun, navigation: Navigation) -> bool:
        """End the drive early if its purpose is met. Return whether it ended. A target that was faced long
        enough is verified at once; a viewpoint goal without an entity counts as reached once the place to
        view is in view.
        """
        context = self._context
        facts, config = context.facts, context.config
        if navigation.proposal.entity_id:
            view = context.search.look(run)
            faced = faced_entity(context.search.accepted(view), facts, config)
            if faced is None:
                navigation.facing = (0, NEVER)
                return False
            if navigation.facing[0] != faced.id:
                navigation.facing = (faced.id, facts.stamp)
            since = navigation.facing[1]
            if facts.last_seen(faced) <= since.after(LOOP_SETTLE_TIME):
                return False
            context.commands.append(CancelGoal("the target is in front of the robot"))
            self._transitions.arrive(run, navigation, since)
            return True
        if navigation.passed or not navigation.accepted or not _only_shows(navigation.proposal):
            return False
        if run.requests.views_take_time(context.now):
            return False
        goal, pose = navigation.proposal.goal, facts.known_pose
        away, turned = apart(pose, goal)
        angle = min(LOOP_PASS_ANGLE, config.look_limits.fov / 2.0)  # in view
        if away > LOOP_PASS_DISTANCE or turned > angle:
            return False
        around = navigation.distance_remaining > 2.0 * LOOP_PASS_DISTANCE  # False for NaN
        if around or not line_of_sight(facts.known_grid, pose[:2], np.asarray(goal)[None, :2])[0]:
            return False  # behind a wall
        if any(apart(goal, one)[0] < SAME_GOAL for one in run.errand.passed[-_PASSED:]):
            return False  # its subject was not seen from here before
        self._transitions.pass_by(run, navigation)
        return True

    def _follow_map(self, run: DirectiveRun, navigation: Navigation) -> bool:
        """Send the goal's new position once map corrections have moved it far enough; if the validator
        refuses it, decide again. Return False if the goal was not moved far enough.
        """
        goal = navigation.moved
        assert goal is not None
        if apart(goal, navigation.proposal.goal)[0] < SAME_GOAL:
            return False
        navigation.moved, proposal = None, replace(navigation.proposal, goal=goal)
        if not self._transitions.send(run, proposal, self._context.next_epoch()).accepted:
            run.text = "My goal lies elsewhere since the map was corrected; choosing anew."
            self._transitions.redecide(run)
        return True

    def _stop_short(self, run: DirectiveRun, navigation: Navigation, entity: Entity) -> None:
        """Replace the goal by the robot's position if the target can be faced from there."""
        context = self._context
        facts = context.facts
        if navigation.shortened or not navigation.accepted:
            return
        target, tried = navigation.proposal.goal, run.errand.goals.active()
        goal = pose_here(
            facts.known_grid, facts.known_pose, entity, tried, target, context.config, facts.mirror
        )
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
        """Ask the explorer while driving whether its goal is still worth reaching; decide again if it is not."""
        context = self._context
        proposal, requests = navigation.proposal, run.requests
        if requests.request is not None and requests.is_review:
            if not requests.is_due(context.now):
                return
            answer = self._inquiry.answers(run).get(FRONTIER)
            requests.close()
            if answer is not None and _is_elsewhere(answer, proposal):
                run.text = "I have seen what I was going to look at; choosing the next place."
                self._transitions.redecide(run)
        elif (
            proposal.expert == FRONTIER
            and proposal.action is ActionKind.GO
            and context.now - run.under_way.last_review >= LOOP_REVIEW_INTERVAL
        ):
            run.under_way.last_review = context.now
            self._inquiry.ask(run, self._activities.of(run), review=True)


def _only_shows(proposal: Proposal) -> bool:
    """Return whether a goal only serves as a viewpoint. A place where an object was last seen does not count,
    because it is observed long enough to verify that the object is gone.
    """
    return not proposal.entity_id and proposal.expert not in (*_OWN, PASSAGE, SEMANTIC_MAP)


def _is_elsewhere(answer: Proposal | Rejection, proposal: Proposal) -> bool:
    """Return whether the explorer would now go to another place or face another direction."""
    if isinstance(answer, Rejection):
        return True
    away, turned = apart(answer.goal, proposal.goal)
    return away > LOOP_REVIEW_DISTANCE or turned > math.pi / 2

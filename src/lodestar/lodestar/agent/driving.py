"""On the way to a goal: news of the navigator and of the scene, and when to think again."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from lodestar.agent.admission import heads_for
from lodestar.agent.approach import better_target, pose_here
from lodestar.agent.arriving import Arriving
from lodestar.agent.commands import CancelGoal, NavigationKind
from lodestar.agent.config import LoopConfig
from lodestar.agent.core import ASIDE, CHARGER, EXPLORER, HOME
from lodestar.agent.errors import ErrorCode
from lodestar.agent.retreat import retreat
from lodestar.agent.run import UNREACHABLE, Navigation, Run
from lodestar.agent.words import name_of
from lodestar.experts.protocol import ActionKind, Proposal, Rejection
from lodestar.geometry.poses import wrap_angle
from lodestar.scene.records import Entity
from lodestar.selection.decision_log import Outcome


class Driving(Arriving):
    """What the loop does while the navigator has a goal."""

    def _hear_navigator(self, run: Run) -> None:
        events, run.events = run.events, []
        for event in events:
            navigation = run.navigation
            if self._run is not run or navigation is None or event.epoch not in (0, navigation.epoch):
                continue
            if event.kind is not NavigationKind.UNAVAILABLE:
                run.unavailable_since = None
            if event.kind in (NavigationKind.ACCEPTED, NavigationKind.FEEDBACK):
                navigation.accepted = True
                if math.isfinite(event.distance_remaining):
                    navigation.distance_remaining = event.distance_remaining
            elif event.kind is NavigationKind.SUCCEEDED:
                self._arrived(run, navigation)
            elif event.kind is NavigationKind.UNAVAILABLE:
                self._unavailable(run, event.error_msg)
            else:
                detail = f"{event.error_msg or event.kind.value} ({event.error_code})"
                self._failed(run, navigation, f"the navigator {event.kind.value} it: {detail}")

    def _failed(self, run: Run, navigation: Navigation, why: str) -> None:
        """The goal is excluded, unless the robot already faces a target from where it stands."""
        view = self._look(run)
        assert self._pose is not None
        if self._faced(view) is not None and not run.goals.reason(self._pose):
            self._queue.append(CancelGoal(why))
            self._arrived(run, navigation)
            return
        run.navigation = None
        if navigation.proposal.expert == ASIDE:
            if not self._step_aside(run, navigation):
                self._redecide(run, self.config.retry_interval)
            return
        run.failures += 1
        run.last_failure = why
        self._close(Outcome.ABORTED, view)
        run.goals.exclude(navigation.proposal.goal, why, self._grid)
        entity = self._entity(navigation.proposal.entity_id)
        if entity is not None:
            self._spend_viewpoint(run, entity, UNREACHABLE)
        if run.failures >= self.config.max_navigation_failures:
            self._given_up(run, navigation, why)
            return
        if run.failures > 1 and self._step_aside(run, navigation):
            return
        run.text = f"That goal failed ({why}); choosing another."
        self._redecide(run, self.config.retry_interval)

    def _given_up(self, run: Run, navigation: Navigation, why: str) -> None:
        """The robot failed at too many goals in a row."""
        if navigation.proposal.expert in (HOME, CHARGER):
            self._cannot_come_back(run, why)
            return
        message = f"Navigation failed {run.failures} times in a row; the last: {why}."
        self._finish(run, *(run.verdict or (ErrorCode.NAVIGATION_FAILED, message)))

    def _step_aside(self, run: Run, navigation: Navigation) -> bool:
        """Whether the robot, which has not moved since the goal was sent, was told to step out of its place."""
        assert self._pose is not None and self._grid is not None
        if math.dist(self._pose[:2], navigation.start[:2]) > self.config.retreat_distance / 2.0:
            run.retreats = []
            return False
        if len(run.retreats) >= self.config.max_retreats:
            return False
        goal = retreat(self._grid, self._pose, self.config.retreat_distance, run.retreats)
        if goal is None:
            return False
        run.retreats.append(goal)
        run.text = "I cannot move from here; stepping aside."
        self.epoch += 1
        self._send(run, Proposal(ASIDE, self.epoch, goal, 1.0, run.text), self.epoch)
        return True

    def _unavailable(self, run: Run, message: str) -> None:
        if run.unavailable_since is None:
            run.unavailable_since = self._now
        detail = f": {message}" if message else ""
        if self._now - run.unavailable_since >= self.config.navigator_timeout:
            self._finish(run, ErrorCode.NAVIGATOR_UNAVAILABLE, f"The navigator is not available{detail}.")
            return
        run.text = f"Waiting for the navigator{detail}."
        run.navigation = None
        self._close(Outcome.ABORTED)
        self._redecide(run, self.config.retry_interval)

    def _navigating(self, run: Run) -> None:
        navigation = run.navigation
        assert navigation is not None and self._pose is not None
        config = self.config
        if not navigation.accepted and self._now - navigation.sent > config.accept_timeout:
            self._halt(run, "the navigator does not answer")
            self._unavailable(run, "it does not answer")
        elif self._now > navigation.deadline:
            self._halt(run, "it takes too long")
            self._failed(run, navigation, "it took too long")
        elif navigation.accepted and self._odometer.still_for(self._now) > config.stuck_time:
            self._halt(run, "stuck")
            self._failed(run, navigation, f"no movement for {config.stuck_time:.0f} s")
        elif navigation.proposal.expert not in (HOME, CHARGER, ASIDE):
            if self._now - run.last_check >= config.target_check_interval:
                run.last_check = self._now
                if self._target_news(run, navigation):
                    self._redecide(run)
                    return
            self._review(run, navigation)

    def _target_news(self, run: Run, navigation: Navigation) -> bool:
        """Whether the scene now says to go elsewhere: a target or a better one appeared, or this one is gone."""
        view = self._look(run)
        accepted = self._accepted_entities(view)
        since = self._now - run.last_decision
        if accepted and not heads_for(navigation.proposal, accepted):
            new = {entity.id for entity in accepted} - run.known_targets
            if new or since > 3.0 * self.config.review_interval:
                run.text = f"{name_of(accepted[0])} may be it; deciding anew."
                return True
        entity = self._entity(navigation.proposal.entity_id)
        if navigation.proposal.entity_id and entity is None:
            run.text = "What I was going to is not there any more."
            return True
        if entity is None or not view.is_accepted(entity.id):
            return False
        assert self._pose is not None
        if since >= self.config.switch_interval:
            better = better_target(
                view, entity, accepted, self._pose, navigation.distance_remaining, self.config
            )
            if better is not None:
                run.text = f"{name_of(better[0])} is {better[1]}; deciding anew."
                return True
        self._stop_short(run, navigation, entity)
        return False

    def _stop_short(self, run: Run, navigation: Navigation, entity: Entity) -> None:
        """Where the target can be faced from right here, this place becomes the goal: the rest of the way is saved."""
        assert self._pose is not None and self._grid is not None
        if navigation.shortened or not navigation.accepted:
            return
        target, tried = navigation.proposal.goal, run.goals.active()
        goal = pose_here(self._grid, self._pose, entity, tried, target, self.config, self._mirror)
        if goal is None:
            return
        run.text = (
            f"{name_of(entity)[:1].upper()}{name_of(entity)[1:]} can be faced from here; turning to it."
        )
        self.epoch += 1
        self._send(run, replace(navigation.proposal, goal=goal), self.epoch)
        assert run.navigation is not None
        run.navigation.shortened = True

    def _review(self, run: Run, navigation: Navigation) -> None:
        """Ask the explorer on the way whether its goal is still worth it; decide anew where it is not."""
        proposal, questions = navigation.proposal, run.questions
        if questions.request is not None and questions.is_review:
            if not questions.is_due(self._now):
                return
            answer = questions.take(self._now, lambda late: self._objection(run, late)).get(EXPLORER)
            questions.close()
            if answer is not None and _is_elsewhere(answer, proposal, self.config):
                run.text = "I have seen what I was going to look at; choosing the next place."
                self._redecide(run)
        elif (
            proposal.expert == EXPLORER
            and proposal.action is ActionKind.GO
            and self._now - run.last_review >= self.config.review_interval
        ):
            run.last_review = self._now
            self._ask(run, (EXPLORER,), review=True)


def _is_elsewhere(answer: Proposal | Rejection, proposal: Proposal, config: LoopConfig) -> bool:
    """Whether the explorer would now go to another place, or look another way."""
    if isinstance(answer, Rejection):
        return True
    away = math.hypot(*(np.asarray(answer.goal)[:2] - np.asarray(proposal.goal)[:2]))
    turned = abs(float(wrap_angle(answer.goal[2] - proposal.goal[2])))
    return away > config.review_distance or turned > math.pi / 2

"""At a goal: look before anything is claimed or decided."""

from __future__ import annotations

import math

import numpy as np

from lodestar.agent.commands import State
from lodestar.agent.core import ASIDE, HOME, LoopCore
from lodestar.agent.errors import ErrorCode
from lodestar.agent.run import BELOW_ACCEPT, FOUND, UNCONFIRMED, UNREACHABLE, Navigation, Run
from lodestar.agent.targets import TargetView
from lodestar.agent.verification import Arrival, Evidence, inspect
from lodestar.agent.words import name_of
from lodestar.scene.records import Entity
from lodestar.selection.decision_log import Outcome

_REACHED = "reached, and it showed nothing"


class Arriving(LoopCore):
    """What the loop does from the arrival at a goal to the next decision."""

    def _arrived(self, run: Run, navigation: Navigation) -> None:
        """The robot stands at the goal: look before deciding anything."""
        proposal = navigation.proposal
        run.navigation, run.request = None, None
        if proposal.expert == ASIDE:
            run.text = "Stepped aside; choosing anew."
            self._redecide(run)
            return
        run.failures = 0
        run.arrival = Arrival(np.asarray(proposal.goal), proposal.entity_id, proposal.expert, self._now)
        entity = self._entity(proposal.entity_id)
        run.text = (
            f"Arrived; checking {name_of(entity)}." if entity is not None else "Arrived; looking around."
        )
        self.state = State.VERIFYING

    def _faced(self, view: TargetView) -> Entity | None:
        """The best accepted entity that the robot stands before, whether seen again or not."""
        if self._pose is None:
            return None
        for entity in self._accepted_entities(view):
            evidence = inspect(entity, self._pose, self._grid, math.inf, self.config)
            if evidence is Evidence.NOT_SEEN:
                return entity
        return None

    def _verifying(self, run: Run) -> None:
        arrival = run.arrival
        assert arrival is not None and self._pose is not None
        if arrival.expert == HOME:
            self._verify_home(run)
            return
        view = self._look(run)
        waited = self._now - arrival.stamp
        settled = arrival.stamp + self.config.settle_time
        faced = self._faced(view)
        if faced is not None:
            if inspect(faced, self._pose, self._grid, settled, self.config) is Evidence.CONFIRMED:
                self._succeed(run, faced, view)
            elif waited > self.config.verify_time:
                run.goals.exclude(arrival.goal, UNCONFIRMED, self._grid)
                self._spend_viewpoint(run, faced, UNCONFIRMED)
                self._leave(run, view, f"{name_of(faced)}, was not seen again from here")
            return
        entity = self._entity(arrival.entity_id)
        if entity is None:
            if waited >= self.config.look_time:
                run.goals.exclude(arrival.goal, _REACHED, self._grid)
                self._leave(run, view, "nothing here is it")
            return
        seen = entity.last_seen > arrival.stamp
        if waited <= (
            self.config.look_time if seen and view.is_accepted(entity.id) else self.config.verify_time
        ):
            return
        run.goals.exclude(arrival.goal, "it does not show the target as it should", self._grid)
        if view.is_accepted(entity.id):  # known better by now, and not faced from here
            self._spend_viewpoint(run, entity, UNREACHABLE)
            self._leave(run, view, f"{name_of(entity)}, is not in front of me; trying another place")
        else:
            run.excluded[entity.id] = BELOW_ACCEPT
            why = view.explanation(entity.id)
            self._leave(run, view, f"{name_of(entity)}, is not it{': ' + why if why else ''}")

    def _spend_viewpoint(self, run: Run, entity: Entity, reason: str) -> None:
        """One viewpoint of the entity is used up; with the last of them the entity is excluded."""
        run.viewpoints[entity.id] += 1
        if run.viewpoints[entity.id] >= self.config.max_viewpoints:
            run.excluded[entity.id] = reason

    def _leave(self, run: Run, view: TargetView, text: str) -> None:
        run.arrival = None
        run.text = f"{text[:1].upper()}{text[1:]}."
        self._close(Outcome.REACHED, view)
        self._redecide(run)

    def _verify_home(self, run: Run) -> None:
        assert self._pose is not None and self._home is not None and run.arrival is not None
        away = math.hypot(self._pose[0] - self._home[0], self._pose[1] - self._home[1])
        run.arrival = None
        if away <= self.config.return_tolerance:
            self._finish(run, ErrorCode.NONE, "Back where I started.", Outcome.REACHED)
        else:
            run.failures += 1
            why = f"the navigator stopped {away:.1f} m from the start"
            if run.failures >= self.config.max_navigation_failures:
                self._finish(run, ErrorCode.NAVIGATION_FAILED, f"Could not come back: {why}.")
            else:
                self._redecide(run, self.config.retry_interval)

    def _succeed(self, run: Run, entity: Entity, view: TargetView) -> None:
        """The target is confirmed: on to the next step, or done."""
        run.arrival = None
        run.found.append(entity.id)
        run.found_here += 1
        text = f"Found {name_of(entity)}: it is in front of me and was seen again on arrival."
        if run.found_here < run.subtask.count:
            run.excluded[entity.id] = FOUND
            run.text = f"{text} {run.subtask.count - run.found_here} more to find."
        elif run.subtask_index + 1 < len(run.directive.subtasks):
            run.next_subtask()
            run.text = f"{text} Next: {run.subtask.target}."
        else:
            self._finish(run, ErrorCode.NONE, text, Outcome.REACHED)
            return
        self._close(Outcome.REACHED, view, success=True)
        self._ledger.begin_subtask()
        self._redecide(run)

"""At a goal: look before anything is claimed or decided."""

from __future__ import annotations

import math

import numpy as np

from lodestar.agent.ambiguity import Step
from lodestar.agent.commands import State
from lodestar.agent.core import ASIDE, CHARGER, HOME
from lodestar.agent.errors import ErrorCode
from lodestar.agent.homing import Homing
from lodestar.agent.run import BELOW_ACCEPT, FOUND, UNCONFIRMED, UNREACHABLE, Navigation, Run
from lodestar.agent.targets import TargetView
from lodestar.agent.verification import Arrival, Evidence, inspect
from lodestar.agent.words import name_of, nothing_here, place_of
from lodestar.grid.success_pose import is_facing
from lodestar.scene.records import Entity
from lodestar.selection.decision_log import Outcome

_REACHED = "reached, and it showed nothing"


class Arriving(Homing):
    """What the loop does from the arrival at a goal to the next decision."""

    def _arrived(self, run: Run, navigation: Navigation) -> None:
        """The robot stands at the goal: look before deciding anything."""
        proposal = navigation.proposal
        run.navigation = None
        run.questions.close()
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
        if arrival.expert in (HOME, CHARGER):
            self._verify_home(run, arrival.expert)
            return
        view = self._look(run)
        waited = self._now - arrival.stamp
        settled = arrival.stamp + self.config.settle_time
        faced = self._faced(view)
        if faced is not None:
            if inspect(faced, self._pose, self._grid, settled, self.config) is Evidence.CONFIRMED:
                self._claim_or_compare(run, faced, view)
            elif waited > self.config.verify_time:
                if faced.id in run.hidden and self._is_high(faced):
                    self._claim_or_compare(run, faced, view)
                    return
                if (
                    self._is_high(faced)
                    and faced.last_seen > arrival.stamp - self.config.sight_before_arrival
                ):
                    run.hidden.add(faced.id)  # the first place from which it is hidden is not the last word
                for place in (arrival.goal, self._pose):  # it may have come to stand elsewhere
                    run.goals.exclude(place, UNCONFIRMED, self._grid, lasting=True)
                self._spend_viewpoint(run, faced, UNCONFIRMED)
                self._leave(run, view, f"{name_of(faced)} was not seen again from here")
            return
        entity = self._entity(arrival.entity_id)
        if entity is None:
            if waited >= self.config.look_time:
                run.goals.exclude(arrival.goal, _REACHED, self._grid)
                self._leave(run, view, nothing_here(run.directive, run.subtask_index))
            return
        seen = entity.last_seen > arrival.stamp
        if waited <= (
            self.config.look_time if seen and view.is_accepted(entity.id) else self.config.verify_time
        ):
            return
        run.goals.exclude(arrival.goal, "it does not show the target as it should", self._grid)
        if view.is_accepted(entity.id):  # known better by now, and not faced from here
            if is_facing(arrival.goal, entity.box_min, entity.box_max):  # else it was a place on the way
                self._spend_viewpoint(run, entity, UNREACHABLE)
            self._leave(run, view, f"{name_of(entity)} is not in front of me; trying another place")
        else:
            run.excluded[entity.id] = BELOW_ACCEPT
            why = view.explanation(entity.id)
            self._leave(run, view, f"{name_of(entity)} is not it{': ' + why if why else ''}")

    def _is_high(self, entity: Entity) -> bool:
        """Whether it stands higher than the camera, so that the edge of a table may hide it from nearby."""
        return float(entity.box_min[2]) > self.config.camera_height

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

    def _claim_or_compare(self, run: Run, entity: Entity, view: TargetView) -> None:
        """The target is claimed, unless another is too close to call and is looked at first."""
        step = run.doubt.confirmed(entity.id) if run.subtask.count == 1 else Step.CLAIM
        which = run.doubt.in_words(self._entities)
        if step is Step.CLAIM:
            self._succeed(run, entity, view)
        elif step is Step.NEXT:
            self._leave(
                run, view, f"too close to call: {which}; looking at the other" if which else "going back"
            )
        else:
            run.arrival = None
            message = f"I looked at each from close by and cannot tell which is meant: {which}."
            self._step_failed(run, ErrorCode.AMBIGUOUS, message)

    def _succeed(self, run: Run, entity: Entity, view: TargetView) -> None:
        """The target is confirmed: on to the next step, or done."""
        run.arrival = None
        run.found.append(entity.id)
        run.found_here += 1
        where = place_of(entity, self._mirror)
        text = f"Found {name_of(entity)} {where}: it is in front of me and was seen again on arrival."
        text += run.doubt.others(entity.id, self._entities) if run.subtask.count == 1 else ""
        if run.found_here >= run.subtask.count:
            self._step_done(run, text, view)
            return
        run.told.append(text)
        run.excluded[entity.id] = FOUND
        run.text = f"{text} {run.subtask.count - run.found_here} more to find."
        self._close(Outcome.REACHED, view, success=True)
        self._ledger.begin_subtask(self._now)
        self._redecide(run)

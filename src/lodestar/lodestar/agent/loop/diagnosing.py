"""State DIAGNOSING: find the cause of a failed action, observe again if that tells possible causes apart, and
recover.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from lodestar.agent.activities.activity import Tools
from lodestar.agent.decisions.admission import KNOWN, LOOK
from lodestar.agent.errands.errand import BELOW_ACCEPT, GONE, UNCONFIRMED, Failure, GoneThing, OpenCase
from lodestar.agent.errands.run import DirectiveRun
from lodestar.agent.errands.words import name_of, place_of
from lodestar.agent.facts.config import (
    LOOP_LOOK_TIME,
    LOOP_STUCK_ANGLE,
    RECOVERY_CAMERA_PATIENCE,
    RECOVERY_LOCALISATION_PATIENCE,
)
from lodestar.agent.facts.errors import ErrorCode
from lodestar.agent.facts.times import NEVER, Stamp
from lodestar.agent.loop.navigating import NavigatorNews
from lodestar.experts.protocol import Proposal
from lodestar.grid.footprint import footprint_free
from lodestar.grid.paths import NoPath, plan_path
from lodestar.selection.decisions import Outcome
from lodestar.worldmodel.cause_table import Recovery
from lodestar.worldmodel.outcomes import Cause, Diagnosis, Look
from lodestar.worldmodel.recovery_places import viewpoint_beyond

RECOVERY_WAIT = 5.0  # s that the robot stands for one diagnostic look (ours)
RECOVERY_PERSON_PATIENCE = 20.0  # s of waiting for a person in the way (ours)
# s after a pose jump until the grid shows the surroundings as seen from the new pose (ours)
RECOVERY_RELOCALISED = 2.0
RECOVERY_SENSOR_PATIENCE = 12.0  # s of waiting for silent sensors (ours)

_ADVICE_POLL = 0.2  # s between two polls of the language model's answer
_POLL = 1.0  # s between two checks while the robot waits


class DiagnosingState:
    """State in which a failed action is diagnosed. Left by `send` (a turn to observe again, or the same goal
    after a belief has changed), `redecide` or `finish`.
    """

    def __init__(self, tools: Tools, news: NavigatorNews) -> None:
        self._context, self._transitions, self._news = tools.context, tools.transitions, news
        self._evidence = tools.outcomes.evidence
        self._recoveries: dict[Recovery, Callable[[DirectiveRun, OpenCase, Diagnosis], None]] = {
            Recovery.TAKE_NEW_PLACE: self.gone,
            Recovery.SEARCH_ELSEWHERE: self.gone,
            Recovery.NEXT_CANDIDATE: self.next_candidate,
            Recovery.OTHER_SIDE: self._other_side,
            Recovery.TELL: self._tell,
            Recovery.WAIT_THEN_GO_ROUND: self._wait_for_way,
            Recovery.RELOCALISE: self._relocalise,
            Recovery.WAIT_FOR_SENSORS: self._wait_for_sight,
        }

    def step(self, run: DirectiveRun) -> None:
        """Wait until a diagnostic observation ends; then diagnose, and observe again or recover."""
        context, case = self._context, run.under_way.case
        assert case is not None
        if context.now < case.until:
            return
        if case.recovery is None or case.diagnosis is None:
            finding = self._transitions.outcomes.find(run, case)
            if finding.recovery is None:
                run.text = f"{finding.diagnosis.text}. Asking the language model what to do."
                case.until = context.now + _ADVICE_POLL
                return
            if run.under_way.action is not None:
                self._look(run, case, finding.diagnosis)
                return
            run.errand.recoveries += 1
            run.text = f"{case.why[:1].upper()}{case.why[1:]}: {finding.diagnosis.text}."
            case.recovery, case.diagnosis = finding.recovery, finding.diagnosis
            if case.recovery is not Recovery.RELOCALISE:
                self._settle(run)  # the jump did not cause the failure
        recover = self._recoveries.get(case.recovery, self._leave_out)
        if case.failure is Failure.OTHER and case.recovery in _AT_PLACE:
            recover = self._tell  # the place is right: a matching object stands there
        elif case.recovery in _DRIVES and context.search.is_another(
            run, case.action.entity_id, case.action.label
        ):
            recover = self.next_candidate  # the object no longer matches; do not drive to it
        recover(run, case, case.diagnosis)

    def _look(self, run: DirectiveRun, case: OpenCase, diagnosis: Diagnosis) -> None:
        """Carry out the observation that the diagnosis requests: turn, stand, or go to another viewpoint."""
        context = self._context
        case.looks = (*case.looks, diagnosis.look)
        run.errand.looks[case.action.entity_id] = case.looks
        run.text = f"{diagnosis.text}. Not sure: {_LOOKS[diagnosis.look]}."
        if diagnosis.look is Look.FROM_ELSEWHERE and case.failure is not Failure.STOPPED:
            self._elsewhere(run, case)
            return
        goal = self._towards(diagnosis.look_at) if diagnosis.look is Look.TURN else None
        case.until = context.now + LOOP_LOOK_TIME
        if goal is None or not self._transitions.go(run, LOOK, goal, run.text).accepted:
            case.until = context.now + RECOVERY_WAIT

    def _towards(self, place: tuple[float, float] | None) -> np.ndarray | None:
        """Return the robot's position with the heading to `place`, (3,); None if the robot faces the place
        already or cannot turn.
        """
        facts = self._context.facts
        if place is None or facts.pose is None or facts.grid is None:
            return None
        yaw = math.atan2(place[1] - facts.pose[1], place[0] - facts.pose[0])
        goal = np.array([facts.pose[0], facts.pose[1], yaw])
        turned = abs(math.remainder(yaw - float(facts.pose[2]), 2.0 * math.pi))
        return goal if turned > LOOP_STUCK_ANGLE and footprint_free(facts.grid, goal) else None

    # --- recoveries -------------------------------------------------------------------------------------------

    def _leave_out(self, run: DirectiveRun, case: OpenCase, diagnosis: Diagnosis) -> None:
        """Exclude the goal until the map around it changes, and decide again."""
        if case.failure is Failure.STOPPED:
            self._news.leave_out(run, case.proposal, case.action.start, case.why, case.blocked)
        else:
            self._elsewhere(run, case)

    def _elsewhere(self, run: DirectiveRun, case: OpenCase) -> None:
        """Exclude this viewpoint of the target and decide again, so that another is chosen. After its last
        allowed viewpoint the entity is excluded.
        """
        self._spend(run, case)
        run.under_way.action = None
        self.go_on(run)

    def _spend(self, run: DirectiveRun, case: OpenCase) -> None:
        """Exclude the goal and the robot's current pose, which did not show the target, and count a failed
        viewpoint.
        """
        facts = self._context.facts
        run.errand.goals.exclude(case.proposal.goal, UNCONFIRMED, facts.grid, lasting=True)
        if facts.pose is not None:
            run.errand.goals.exclude(facts.pose, UNCONFIRMED, facts.grid, lasting=True)
        if facts.entity(case.action.entity_id) is not None:
            run.errand.spend_viewpoint(case.action.entity_id, UNCONFIRMED)

    def gone(self, run: DirectiveRun, case: OpenCase, diagnosis: Diagnosis) -> None:
        """Note that the object is gone from its place, exclude it there, and search elsewhere."""
        context, action = self._context, case.action
        facts, mirror = context.facts, context.facts.mirror
        entity = None if mirror is None else mirror.get(action.entity_id)
        present = facts.entity(action.entity_id) is not None
        known = self._evidence.was_known(run, action.entity_id)
        if known and not (present and diagnosis.cause is Cause.TARGET_MOVED):
            mean = action.means.get(action.entity_id)
            where = f"at ({mean[0]:.1f}, {mean[1]:.1f})" if mean is not None else "where it was"
            thing = GoneThing(action.entity_id, action.label or "the thing", where, NEVER, context.now, mean)
            if entity is not None:
                seen = Stamp(entity.last_seen)
                thing = replace(thing, name=name_of(entity), place=place_of(entity, mirror), seen=seen)
            run.errand.gone[action.entity_id] = thing
            if present:
                run.errand.excluded[action.entity_id] = GONE
        self.go_on(run)

    def next_candidate(self, run: DirectiveRun, case: OpenCase, diagnosis: Diagnosis) -> None:
        """Exclude the object, which does not match the query, and continue with the next candidate."""
        if case.action.entity_id:
            run.errand.excluded[case.action.entity_id] = BELOW_ACCEPT
        self.go_on(run)

    def _other_side(self, run: DirectiveRun, case: OpenCase, diagnosis: Diagnosis) -> None:
        """Exclude this goal and use another one. If the robot did not arrive, no viewpoint of the object
        counts as failed.

        A hidden object is looked at from a place whose line of sight avoids the new obstacle.
        """
        context = self._context
        if case.failure is Failure.STOPPED:
            run.errand.goals.exclude(case.proposal.goal, case.why, context.facts.grid, lasting=True)
            self.go_on(run)
            return
        proposal = self._beyond(run, case)
        self._spend(run, case)
        view = context.search.look(run)
        if proposal is None or not self._transitions.send(run, proposal, proposal.epoch, view).accepted:
            # hidden until everything is explored, then tried once more
            entity = context.facts.entity(case.action.entity_id)
            if entity is not None:
                run.errand.excluded[entity.id] = UNCONFIRMED
                run.errand.out_of_sight.setdefault(entity.id, context.now)
            self.go_on(run)
            return
        run.text = f"{diagnosis.text}. {proposal.rationale[:1].upper()}{proposal.rationale[1:]}."

    def _beyond(self, run: DirectiveRun, case: OpenCase) -> Proposal | None:
        """Return a goal that sees the target past the new obstacle; None if there is none."""
        context = self._context
        facts, config = context.facts, context.config
        entity = facts.entity(case.action.entity_id)
        if entity is None or facts.grid is None or facts.pose is None:
            return None
        before = self._evidence.grids_before(run, case)
        spent = [tuple(np.asarray(pose, float).tolist()) for pose in (case.proposal.goal, facts.pose)]
        excluded = [*run.errand.goals.active(), *spent]
        pose = viewpoint_beyond(
            before, facts.grid, facts.pose, entity, excluded, config.viewpoints, config.reach
        )
        if pose is None:
            return None
        epoch, why = context.next_epoch(), f"looking at {name_of(entity)} from another side"
        return Proposal(KNOWN, epoch, pose, 1.0, why, entity.id)

    def _tell(self, run: DirectiveRun, case: OpenCase, diagnosis: Diagnosis) -> None:
        """Send the robot to face the reached object again, so that it is claimed: it matches as well as the
        known object.
        """
        epoch, view = self._context.next_epoch(), self._context.search.look(run)
        proposal = replace(case.proposal, epoch=epoch)
        is_meant = any(candidate.entity_id == proposal.entity_id for candidate in view.candidates)
        if not is_meant or not self._transitions.send(run, proposal, epoch, view).accepted:
            self._elsewhere(run, case)

    def _wait_for_way(self, run: DirectiveRun, case: OpenCase, diagnosis: Diagnosis) -> None:
        """Send the same goal again when the path is free; exclude the goal when the patience is over."""
        context = self._context
        if self._evidence.blockage(case) is None and self._has_way(case):
            view = context.search.look(run)
            if self._transitions.send(run, case.proposal, context.next_epoch(), view).accepted:
                run.text = "The way is free again; going on."
            else:
                self._leave_out(run, case, diagnosis)
        elif self._waits(case, RECOVERY_PERSON_PATIENCE):
            run.text = "Waiting for the way to become free."
        else:
            self._leave_out(run, case, diagnosis)

    def _waits(self, case: OpenCase, patience: float) -> bool:
        """Wait another second. Return whether `patience` is not over yet."""
        now = self._context.now
        case.waited_since = now if case.waited_since is None else case.waited_since
        case.until = now + _POLL
        return now - case.waited_since < patience

    def _has_way(self, case: OpenCase) -> bool:
        facts = self._context.facts
        if facts.grid is None or facts.pose is None or not footprint_free(facts.grid, case.proposal.goal):
            return False
        try:
            plan_path(facts.grid, facts.pose[:2], case.proposal.goal[:2])
        except NoPath:
            return False
        return True

    def _relocalise(self, run: DirectiveRun, case: OpenCase, diagnosis: Diagnosis) -> None:
        """Decide again once the surroundings match the map; end the directive if they do not within the patience.

        The comparison starts after RECOVERY_RELOCALISED seconds, when the surroundings were observed from the new pose.
        """
        context = self._context
        if context.now - case.since < RECOVERY_RELOCALISED:
            case.until = case.since + RECOVERY_RELOCALISED
            return
        measured = self._evidence.measure(run, case).facts
        if not measured.get("map_contradicts", False):
            self._settle(run)
            self.go_on(run)
        elif not self._waits(case, RECOVERY_LOCALISATION_PATIENCE):
            message = f"The robot does not know where it is: {diagnosis.text}. Bring it back, or localise it by hand."
            self._transitions.finish(run, ErrorCode.TF_ERROR, message)

    def _settle(self, run: DirectiveRun) -> None:
        """Mark the newest pose jump as handled; measurements from before it are no longer compared."""
        if self._evidence.has_jumped(run):
            run.jump_settled = self._context.facts.odometer.jumped_at
            run.errand.grids.clear()

    def _wait_for_sight(self, run: DirectiveRun, case: OpenCase, diagnosis: Diagnosis) -> None:
        """Decide again once images arrive; end the directive if none arrives within the patience."""
        context = self._context
        blind = context.facts.blind_for
        if blind <= RECOVERY_CAMERA_PATIENCE:
            self.go_on(run)
        elif not self._waits(case, RECOVERY_SENSOR_PATIENCE):
            message = (
                f"No image came for {blind:.0f} s: is the camera's driver up, and does its camera_info come?"
            )
            self._transitions.finish(run, ErrorCode.NO_EXPERT, message)

    def go_on(self, run: DirectiveRun) -> None:
        """Close the decision as aborted, and decide again."""
        self._context.account.close(Outcome.ABORTED, self._context.search.look(run))
        self._transitions.redecide(run)


_DRIVES = frozenset({Recovery.WAIT_THEN_GO_ROUND, Recovery.OTHER_SIDE})  # to the same object again
_AT_PLACE = frozenset({Recovery.ASK_AGAIN, Recovery.OTHER_SIDE, Recovery.NEXT_CANDIDATE})
_LOOKS = {
    Look.WAIT: "standing and looking",
    Look.TURN: "turning to it",
    Look.FROM_ELSEWHERE: "looking at it from elsewhere",
    Look.NONE: "",
}

"""State DIAGNOSING: an action failed; find out why, look again where that tells causes apart, and recover."""

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

_ADVICE_POLL = 0.2  # s between two questions whether the language model has answered
_POLL = 1.0  # s between two looks while the robot waits


class DiagnosingState:
    """Leaves by `send` (a look, or the same goal after a belief has changed), `redecide` or `finish`."""

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
        """Stand while a look lasts; then diagnose, and look again or recover."""
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
                self._settle(run)  # it jumped, and that is not why the action failed
        recover = self._recoveries.get(case.recovery, self._leave_out)
        if case.failure is Failure.OTHER and case.recovery in _AT_PLACE:
            recover = self._tell  # the place is right: a thing that fits stands there
        elif case.recovery in _DRIVES and context.search.is_another(
            run, case.action.entity_id, case.action.label
        ):
            recover = self.next_candidate  # what it turned out to be is not driven to
        recover(run, case, case.diagnosis)

    def _look(self, run: DirectiveRun, case: OpenCase, diagnosis: Diagnosis) -> None:
        """Make the look that the diagnosis names."""
        context = self._context
        case.looks = (*case.looks, diagnosis.look)
        run.errand.looks[case.action.entity_id] = case.looks
        run.text = f"{diagnosis.text}. Not sure: {_LOOKS[diagnosis.look]}."
        if diagnosis.look is Look.FROM_ELSEWHERE and case.failure is not Failure.STOPPED:
            self._elsewhere(run, case)
            return
        goal = self._towards(diagnosis.look_at) if diagnosis.look is Look.TURN else None
        case.until = context.now + context.config.look_time
        if goal is None or not self._transitions.go(run, LOOK, goal, run.text).accepted:
            case.until = context.now + context.config.recovery.wait

    def _towards(self, place: tuple[float, float] | None) -> np.ndarray | None:
        """Return the robot's own place with the heading to another, (3,); None where it faces it, or cannot turn."""
        facts = self._context.facts
        if place is None or facts.pose is None or facts.grid is None:
            return None
        yaw = math.atan2(place[1] - facts.pose[1], place[0] - facts.pose[0])
        goal = np.array([facts.pose[0], facts.pose[1], yaw])
        turned = abs(math.remainder(yaw - float(facts.pose[2]), 2.0 * math.pi))
        return (
            goal if turned > self._context.config.stuck_angle and footprint_free(facts.grid, goal) else None
        )

    # --- recoveries -------------------------------------------------------------------------------------------

    def _leave_out(self, run: DirectiveRun, case: OpenCase, diagnosis: Diagnosis) -> None:
        """Leave the goal out until the map around it changes, and have the experts propose another."""
        if case.failure is Failure.STOPPED:
            self._news.leave_out(run, case.proposal, case.action.start, case.why, case.blocked)
        else:
            self._elsewhere(run, case)

    def _elsewhere(self, run: DirectiveRun, case: OpenCase) -> None:
        """Look at the target from another place; its last viewpoint excludes it."""
        self._spend(run, case)
        run.under_way.action = None
        self.go_on(run)

    def _spend(self, run: DirectiveRun, case: OpenCase) -> None:
        """The place where the robot stands, and the one that it was going to, showed nothing."""
        facts = self._context.facts
        run.errand.goals.exclude(case.proposal.goal, UNCONFIRMED, facts.grid, lasting=True)
        if facts.pose is not None:
            run.errand.goals.exclude(facts.pose, UNCONFIRMED, facts.grid, lasting=True)
        if facts.entity(case.action.entity_id) is not None:
            run.errand.spend_viewpoint(case.action.entity_id, UNCONFIRMED)

    def gone(self, run: DirectiveRun, case: OpenCase, diagnosis: Diagnosis) -> None:
        """The thing is not where it was: it is excluded there, and searched for elsewhere."""
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
        """The thing is not what was looked for."""
        if case.action.entity_id:
            run.errand.excluded[case.action.entity_id] = BELOW_ACCEPT
        self.go_on(run)

    def _other_side(self, run: DirectiveRun, case: OpenCase, diagnosis: Diagnosis) -> None:
        """This place is of no use. A thing that was not looked at from here keeps its viewpoints.

        One that something hides is looked at from where nothing that came since does, whichever side that is.
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
            # until everything is explored, and it may be tried once more
            entity = context.facts.entity(case.action.entity_id)
            if entity is not None:
                run.errand.excluded[entity.id] = UNCONFIRMED
                run.errand.out_of_sight.setdefault(entity.id, context.now)
            self.go_on(run)
            return
        run.text = f"{diagnosis.text}. {proposal.rationale[:1].upper()}{proposal.rationale[1:]}."

    def _beyond(self, run: DirectiveRun, case: OpenCase) -> Proposal | None:
        """Return the goal from which what hides the target does not; None where there is none."""
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
        """Either is what the words mean: the robot faces again the one that it came to, and claims that."""
        epoch, view = self._context.next_epoch(), self._context.search.look(run)
        proposal = replace(case.proposal, epoch=epoch)
        is_meant = any(candidate.entity_id == proposal.entity_id for candidate in view.candidates)
        if not is_meant or not self._transitions.send(run, proposal, epoch, view).accepted:
            self._elsewhere(run, case)

    def _wait_for_way(self, run: DirectiveRun, case: OpenCase, diagnosis: Diagnosis) -> None:
        """Go on to the same goal when the way is free, or leave it out when patience is over."""
        context = self._context
        if self._evidence.blockage(case) is None and self._has_way(case):
            view = context.search.look(run)
            if self._transitions.send(run, case.proposal, context.next_epoch(), view).accepted:
                run.text = "The way is free again; going on."
            else:
                self._leave_out(run, case, diagnosis)
        elif self._waits(case, context.config.recovery.person_patience):
            run.text = "Waiting for the way to become free."
        else:
            self._leave_out(run, case, diagnosis)

    def _waits(self, case: OpenCase, patience: float) -> bool:
        """Return whether the robot stands for another second, because patience is not over yet."""
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
        """Decide anew once the surroundings fit the map; end where they do not for too long.

        They are only judged when they have been seen from the new pose.
        """
        context = self._context
        config = context.config.recovery
        if context.now - case.since < config.relocalised:
            case.until = case.since + config.relocalised
            return
        measured = self._evidence.measure(run, case).facts
        if not measured.get("map_contradicts", False):
            self._settle(run)
            self.go_on(run)
        elif not self._waits(case, config.localisation_patience):
            message = f"The robot does not know where it is: {diagnosis.text}. Bring it back, or localise it by hand."
            self._transitions.finish(run, ErrorCode.TF_ERROR, message)

    def _settle(self, run: DirectiveRun) -> None:
        """The newest jump of the pose is dealt with; what was measured before it is not compared any more."""
        if self._evidence.has_jumped(run):
            run.jump_settled = self._context.facts.odometer.jumped_at
            run.errand.grids.clear()

    def _wait_for_sight(self, run: DirectiveRun, case: OpenCase, diagnosis: Diagnosis) -> None:
        """Decide anew once something is seen; end where nothing is for too long."""
        context = self._context
        config = context.config.recovery
        blind = context.facts.blind_for
        if blind <= config.camera_patience:
            self.go_on(run)
        elif not self._waits(case, config.sensor_patience):
            message = (
                f"No image came for {blind:.0f} s: is the camera's driver up, and does its camera_info come?"
            )
            self._transitions.finish(run, ErrorCode.NO_EXPERT, message)

    def go_on(self, run: DirectiveRun) -> None:
        """Close the decision, and decide anew."""
        self._context.account.close(Outcome.ABORTED, self._context.search.look(run))
        self._transitions.redecide(run)


_DRIVES = frozenset({Recovery.WAIT_THEN_GO_ROUND, Recovery.OTHER_SIDE})  # to the same thing again
_AT_PLACE = frozenset({Recovery.ASK_AGAIN, Recovery.OTHER_SIDE, Recovery.NEXT_CANDIDATE})
_LOOKS = {
    Look.WAIT: "standing and looking",
    Look.TURN: "turning to it",
    Look.FROM_ELSEWHERE: "looking at it from elsewhere",
    Look.NONE: "",
}

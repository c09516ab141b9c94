"""Ends of actions: committed if the expectation was observed, else diagnosed, corrected and rolled back."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lodestar.agent.errands.commands import RecordOutcome
from lodestar.agent.errands.context import LoopContext
from lodestar.agent.errands.errand import Failure, OpenAction, OpenCase
from lodestar.agent.errands.run import DirectiveRun
from lodestar.agent.errands.words import directive_in_words, name_of, place_of
from lodestar.agent.recovery.evidence import EvidenceGatherer
from lodestar.experts.protocol import Proposal
from lodestar.scene.records import Entity
from lodestar.worldmodel.advice import Advice, AdviceQuestion, Adviser, offered_by
from lodestar.worldmodel.amendments import Amendment, Change, ClosedWay
from lodestar.worldmodel.cause_table import Recovery
from lodestar.worldmodel.config import ADVISER_LEAST, ADVISER_THINGS
from lodestar.worldmodel.diagnosis import diagnose, recovery_of
from lodestar.worldmodel.discrepancies import DRIFT
from lodestar.worldmodel.outcomes import ActionOutcome, Cause, Diagnosis, Look, Result
from lodestar.worldmodel.records import Trace, entity_of

RECOVERY_SURE = 0.6  # probability from which the causes count as told apart (ours)
RECOVERY_MAX_LOOKS = 3  # looks per failure that tell its causes apart (the bound of the benchmark `recovery`)
RECOVERY_MAX_RECOVERIES = 5  # recoveries of a step, N_max (VLM-DEWM 4.2.3)
RECOVERY_MOVING_CLOSED = 30.0  # s for which a path is closed at a person (ours)
RECOVERY_DOOR_CLOSED = 120.0  # s for which a path is closed at a shut door (ours)
# s for which a path is closed at an obstacle that the sensors do not see; a free view does not open it (ours)
RECOVERY_UNSEEN_CLOSED = 600.0

AUTHOR = "recovery"
_HALF_PANE = 0.45  # m to each side to close at an unseen obstacle: half a door
_GONE = frozenset({Cause.TARGET_REMOVED, Cause.TARGET_MOVED})
#: Causes that close a path. Obstacles on the grid need no closure, except those to avoid until they leave.
_WAYS = frozenset({Cause.DOOR_CLOSED, Cause.WAY_BLOCKED_MOVING, Cause.UNSEEN_OBSTACLE})


def corrections(
    case: OpenCase,
    diagnosis: Diagnosis,
    entity: Entity | None,
    contact: tuple[float, float] | None,
    stamp: float,
) -> tuple[Amendment, ...]:
    """Return the corrections of the map that follow from a diagnosis. entity: the action's entity in its
    current state; None = archived.

    contact: (x, y) in map, contact point. stamp: seconds, now.
    """
    cause, trace_id, identity = diagnosis.cause, case.action.trace.id, case.action.entity_id
    if cause in _GONE and identity:
        if entity is not None:  # seen in another place: the entity has moved there
            return ()
        return (Amendment(Change.ARCHIVE, diagnosis.text, AUTHOR, identity, trace_id=trace_id),)
    if cause is Cause.TARGET_MISLABELLED and entity is not None:
        return (
            Amendment(
                Change.RELABEL, diagnosis.text, AUTHOR, identity, label=entity.label, trace_id=trace_id
            ),
        )
    if cause is Cause.TARGET_OCCLUDED and identity:
        return (Amendment(Change.DOUBT, diagnosis.text, AUTHOR, identity, trace_id=trace_id),)
    way = _closed(case, cause, contact, stamp) if cause in _WAYS else None
    return () if way is None else (
        Amendment(Change.CLOSE_WAY, diagnosis.text, AUTHOR, way=way, trace_id=trace_id),
    )  # fmt: skip


def _closed(
    case: OpenCase, cause: Cause, contact: tuple[float, float] | None, stamp: float
) -> ClosedWay | None:
    seconds = {
        Cause.DOOR_CLOSED: RECOVERY_DOOR_CLOSED,
        Cause.WAY_BLOCKED_MOVING: RECOVERY_MOVING_CLOSED,
        Cause.UNSEEN_OBSTACLE: RECOVERY_UNSEEN_CLOSED,
    }[cause]
    if cause is Cause.UNSEEN_OBSTACLE:
        if contact is None or case.start is None:
            return None
        heading = math.atan2(contact[1] - case.start[1], contact[0] - case.start[0])
        across = -math.sin(heading) * _HALF_PANE, math.cos(heading) * _HALF_PANE
        ends = (
            (contact[0] - across[0], contact[1] - across[1]),
            (contact[0] + across[0], contact[1] + across[1]),
        )
        return ClosedWay(*ends, stamp + seconds, cause.value, seen_free_opens=False)
    if case.blockage is None:
        return None
    return ClosedWay(*case.blockage.ends, stamp + seconds, cause.value)


class AdviceSeeker:
    """Asks the adviser about a failure once if the diagnosis is uncertain, and waits for a limited time."""

    def __init__(self, context: LoopContext, adviser: Adviser) -> None:
        self._context, self._adviser = context, adviser

    def seek(self, run: DirectiveRun, case: OpenCase, diagnosis: Diagnosis) -> tuple[bool, Advice | None]:
        """Return whether the case can continue, and the advice; None if none is needed or none came in time."""
        config, now = self._adviser.config, self._context.now
        if case.asked_advice is None:
            offered = offered_by(diagnosis, ADVISER_LEAST)
            sure = bool(diagnosis.causes) and diagnosis.causes[0].probability >= RECOVERY_SURE
            if sure or len(offered) < 2:
                return True, None
            case.asked_advice = now
            near = self._near(ADVISER_THINGS)
            self._adviser.ask(
                AdviceQuestion(directive_in_words(run.directive), case.why, diagnosis, offered, near)
            )
        done, advice = self._adviser.answer()
        if not done and now - case.asked_advice >= config.patience:
            self._adviser.drop()
            done = True
        return done, advice

    def _near(self, most: int) -> tuple[str, ...]:
        """Return one line for each of the nearest objects."""
        facts = self._context.facts
        if facts.mirror is None or facts.pose is None:
            return ()
        entities = list(facts.mirror.entities.values())
        away = [float(np.linalg.norm(entity.mean[:2] - facts.pose[:2])) for entity in entities]
        nearest = sorted(zip(away, entities, strict=True), key=lambda pair: pair[0])[:most]
        return tuple(
            f"{name_of(one)} {place_of(one, facts.mirror)}, {metres:.1f} m away, {one.state.name}"
            for metres, one in nearest
        )


@dataclass(frozen=True)
class Finding:
    """A diagnosis with the next measure: a diagnostic observation or a recovery. recovery: None while advice
    is pending.
    """

    diagnosis: Diagnosis
    recovery: Recovery | None


class Outcomes:
    """Opens an action with its trace and closes it with an outcome. Every action ends exactly once."""

    evidence_kind = EvidenceGatherer

    def __init__(self, context: LoopContext) -> None:
        self._context = context
        self.evidence = self.evidence_kind(context)
        self._advice = None if context.adviser is None else AdviceSeeker(context, context.adviser)

    def begin(self, run: DirectiveRun, trace: Trace) -> None:
        """Open an action. An action or diagnostic observation that is still open is cancelled."""
        self.end_look(run, Result.CANCELLED, "Another goal was chosen instead.")
        self.close(run, Result.CANCELLED, "Another goal was chosen on the way.")
        facts = self._context.facts
        about = entity_of(trace.expectation.about) or 0
        entity = facts.entity(about)
        fitting = frozenset(c.entity_id for c in self._context.search.look(run).accepted)
        means = {} if entity is None else {about: entity.mean.copy()}
        label = "" if entity is None else entity.label
        if about and facts.grid is not None:
            run.errand.grids.setdefault(about, facts.grid)
        run.under_way.action = OpenAction(
            trace,
            facts.stamp,
            facts.known_pose.copy(),
            facts.grid,
            about,
            means,
            fitting,
            label,
            facts.contacts.count,
            self.evidence.relations(trace, DRIFT),
        )

    def begin_look(self, run: DirectiveRun, trace: Trace) -> None:
        """Open a diagnostic observation (look) as an action of its own; the failed action stays open."""
        self.end_look(run, Result.CANCELLED, "Another look was chosen.")
        run.under_way.look = trace.id

    def end_look(self, run: DirectiveRun, result: Result, text: str) -> None:
        """End the current diagnostic observation, if there is one, without changing the constraint state."""
        look, run.under_way.look = run.under_way.look, ""
        if look:
            stamp = self._context.facts.stamp.seconds
            self._context.commands.append(RecordOutcome(ActionOutcome(look, stamp, result, text=text)))

    def close(self, run: DirectiveRun, result: Result, text: str = "") -> None:
        """Close the open action, if there is one, with a result and without a diagnosis."""
        action, run.under_way.action = run.under_way.action, None
        if action is not None:
            stamp = self._context.facts.stamp.seconds
            self._record(ActionOutcome(action.trace.id, stamp, result, text=text))

    def open_case(
        self,
        run: DirectiveRun,
        failure: Failure,
        proposal: Proposal,
        why: str,
        looks: tuple[Look, ...] | None = None,
        **more: Any,
    ) -> OpenCase | None:
        """Return the case of a failed action; None if recovery is off or used up, or no action is open.

        looks: diagnostic observations that must not be made (again); None = those already made for this
        entity. more: further fields of the case.
        """
        config, action = self._context.config.recovery, run.under_way.action
        if action is None or not config.enabled or run.errand.recoveries >= RECOVERY_MAX_RECOVERIES:
            self.close(run, Result.ROLLED_BACK, why)
            return None
        if looks is None:
            looks = () if failure is Failure.STOPPED else run.errand.looks.get(action.entity_id, ())
        return self._case(run, action, failure, proposal, why, looks=looks, **more)

    def note(self, run: DirectiveRun, failure: Failure, why: str) -> None:
        """Diagnose and record a failure whose recovery the loop has begun already."""
        action = run.under_way.action
        if action is None or not self._context.config.recovery.enabled:
            self.close(run, Result.ROLLED_BACK, why)
            return
        looks = tuple(Look)[1:]  # no further look
        case = self._case(run, action, failure, _proposal_of(action, run), why, looks=looks)
        self.find(run, case, asks=False)

    def note_other(self, run: DirectiveRun, known_id: int) -> None:
        """Report a match that appeared beside, or in place of, a known object, and commit the action."""
        action, facts, arrival = run.under_way.action, self._context.facts, run.under_way.arrival
        if action is None or arrival is None:
            return
        proposal = Proposal(arrival.expert, action.trace.epoch, arrival.goal, 1.0, "", known_id)
        gone = run.errand.gone.get(known_id)
        means = action.means if gone is None or gone.mean is None else {known_id: gone.mean}
        case = self._case(
            run,
            replace(action, entity_id=known_id, means=means),
            Failure.NOT_SEEN,
            proposal,
            "another one that fits has appeared",
        )
        case.arrived = run.begun_stamp
        diagnosis = diagnose(self.evidence.measure(run, case), sure=RECOVERY_SURE)
        run.under_way.action = None
        self._record(
            ActionOutcome(
                action.trace.id, facts.stamp.seconds, Result.COMMITTED, diagnosis, recovery_of(diagnosis).value,
                text=f"{case.why}; {diagnosis.text}",
            )
        )  # fmt: skip

    def _case(
        self,
        run: DirectiveRun,
        action: OpenAction,
        failure: Failure,
        proposal: Proposal,
        why: str,
        **more: Any,
    ) -> OpenCase:
        facts = self._context.facts
        start = None if facts.pose is None else facts.pose.copy()
        return OpenCase(action, failure, proposal, why, self._context.now, facts.stamp, start=start, **more)

    def find(self, run: DirectiveRun, case: OpenCase, *, asks: bool = True) -> Finding:
        """Diagnose a case and record the diagnosis. Return the finding: the next diagnostic observation, or
        the recovery if no observation is left or needed.

        asks: a language model may be asked, which takes several calls.
        """
        context = self._context
        facts = context.facts
        evidence = self.evidence.measure(run, case)
        diagnosis = diagnose(evidence, sure=RECOVERY_SURE)
        recovery = own = recovery_of(diagnosis)
        entity = facts.entity(case.action.entity_id)
        looks_on = diagnosis.look is not Look.NONE and len(case.looks) < RECOVERY_MAX_LOOKS
        contact = facts.contacts.last
        felt = contact is not None and contact.stamp > case.action.began
        told = ""
        if asks and not looks_on and self._advice is not None:
            is_over, advice = self._advice.seek(run, case, diagnosis)
            if not is_over:
                return Finding(diagnosis, None)
            if advice is not None:
                recovery, told = advice.recovery, f"; the language model advises {advice}"
        # Advice may move the robot. It corrects no belief without evidence.
        undecided = looks_on or own is Recovery.ASK_AGAIN or recovery is not own
        where = contact.xy if felt and contact is not None else None
        amendments = () if undecided else self.amendments(case, diagnosis, where)
        name = name_of(entity) if entity is not None else case.action.label
        done = "" if looks_on else recovery.value
        text = f"{case.why}; {diagnosis.text}{f' (about {name})' if name else ''}{told}"
        trace_id, stamp = case.action.trace.id, facts.stamp.seconds
        self._record(ActionOutcome(trace_id, stamp, Result.ROLLED_BACK, diagnosis, done, amendments, text))
        if not looks_on:
            run.under_way.action = None
        return Finding(diagnosis, recovery)

    def amendments(
        self, case: OpenCase, diagnosis: Diagnosis, contact: tuple[float, float] | None
    ) -> tuple[Amendment, ...]:
        """Return the corrections of beliefs that follow from a diagnosis. contact: (x, y) in map, contact
        point.
        """
        facts = self._context.facts
        entity = facts.entity(case.action.entity_id)
        return corrections(case, diagnosis, entity, contact, facts.stamp.seconds)

    def _record(self, outcome: ActionOutcome) -> None:
        self._context.constraint.end(outcome)
        self._context.commands.append(RecordOutcome(outcome))


def _proposal_of(action: OpenAction, run: DirectiveRun) -> Proposal:
    """Return the proposal of an action: the current goal, or the goal of its trace if the robot stands."""
    if run.under_way.navigation is not None:
        return run.under_way.navigation.proposal
    trace = action.trace
    goal = action.start if trace.action.goal is None else trace.action.goal
    return Proposal(trace.proposer, trace.epoch, goal, trace.confidence, trace.reason, action.entity_id)

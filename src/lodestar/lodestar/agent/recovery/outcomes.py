"""Ends of actions: committed when what was expected was seen, else diagnosed, corrected and rolled back."""

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
from lodestar.agent.facts.config import RecoveryConfig
from lodestar.agent.recovery.evidence import EvidenceGatherer
from lodestar.experts.protocol import Proposal
from lodestar.scene.records import Entity
from lodestar.worldmodel.advice import Advice, AdviceQuestion, Adviser, offered_by
from lodestar.worldmodel.amendments import Amendment, Change, ClosedWay
from lodestar.worldmodel.cause_table import Recovery
from lodestar.worldmodel.diagnosis import diagnose, recovery_of
from lodestar.worldmodel.discrepancies import DRIFT
from lodestar.worldmodel.outcomes import ActionOutcome, Cause, Diagnosis, Look, Result
from lodestar.worldmodel.records import Trace, entity_of

AUTHOR = "recovery"
_HALF_PANE = 0.45  # m to each side that are closed where nothing is seen: half a door
_GONE = frozenset({Cause.TARGET_REMOVED, Cause.TARGET_MOVED})
#: What the grid shows needs no closed way, unless it is to be gone round before it has gone.
_WAYS = frozenset({Cause.DOOR_CLOSED, Cause.WAY_BLOCKED_MOVING, Cause.UNSEEN_OBSTACLE})


def corrections(
    case: OpenCase,
    diagnosis: Diagnosis,
    entity: Entity | None,
    contact: tuple[float, float] | None,
    stamp: float,
    config: RecoveryConfig,
) -> tuple[Amendment, ...]:
    """Return the amendments of a diagnosis. entity: that the action is about, as it is now; None = it is archived.

    contact: (x, y) in map, where the robot was held. stamp: seconds, now.
    """
    cause, trace_id, identity = diagnosis.cause, case.action.trace.id, case.action.entity_id
    if cause in _GONE and identity:
        if entity is not None:  # it was seen in another place: its entity has moved along
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
    way = _closed(case, cause, contact, stamp, config) if cause in _WAYS else None
    return () if way is None else (
        Amendment(Change.CLOSE_WAY, diagnosis.text, AUTHOR, way=way, trace_id=trace_id),
    )  # fmt: skip


def _closed(
    case: OpenCase, cause: Cause, contact: tuple[float, float] | None, stamp: float, config: RecoveryConfig
) -> ClosedWay | None:
    seconds = {
        Cause.DOOR_CLOSED: config.door_closed,
        Cause.WAY_BLOCKED_MOVING: config.moving_closed,
        Cause.UNSEEN_OBSTACLE: config.unseen_closed,
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
    """Puts a failure to the adviser once, where the diagnosis is not sure, and waits for a bounded time."""

    def __init__(self, context: LoopContext, adviser: Adviser) -> None:
        self._context, self._adviser = context, adviser

    def seek(self, run: DirectiveRun, case: OpenCase, diagnosis: Diagnosis) -> tuple[bool, Advice | None]:
        """Return whether the case can go on, and the advice; None where none is needed, or none came in time."""
        config, now = self._adviser.config, self._context.now
        if case.asked_advice is None:
            offered = offered_by(diagnosis, config.least)
            sure = (
                bool(diagnosis.causes)
                and diagnosis.causes[0].probability >= self._context.config.recovery.sure
            )
            if sure or len(offered) < 2:
                return True, None
            case.asked_advice = now
            near = self._near(config.things)
            self._adviser.ask(
                AdviceQuestion(directive_in_words(run.directive), case.why, diagnosis, offered, near)
            )
        done, advice = self._adviser.answer()
        if not done and now - case.asked_advice >= config.patience:
            self._adviser.drop()
            done = True
        return done, advice

    def _near(self, most: int) -> tuple[str, ...]:
        """Return a line for each of the nearest things."""
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
    """A diagnosis with what is done about it: a look, or a recovery. recovery: None while advice is waited for."""

    diagnosis: Diagnosis
    recovery: Recovery | None


class Outcomes:
    """Opens an action with its trace, and closes it with an outcome. Every action has one end."""

    evidence_kind = EvidenceGatherer

    def __init__(self, context: LoopContext) -> None:
        self._context = context
        self.evidence = self.evidence_kind(context)
        self._advice = None if context.adviser is None else AdviceSeeker(context, context.adviser)

    def begin(self, run: DirectiveRun, trace: Trace) -> None:
        """An action begins; one that is still open, and a look, were given up for it."""
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
        """A look for a diagnosis begins: an action of its own, while the one that failed stays open."""
        self.end_look(run, Result.CANCELLED, "Another look was chosen.")
        run.under_way.look = trace.id

    def end_look(self, run: DirectiveRun, result: Result, text: str) -> None:
        """End the look that is under way, if there is one. It leaves the constraint state as it is."""
        look, run.under_way.look = run.under_way.look, ""
        if look:
            stamp = self._context.facts.stamp.seconds
            self._context.commands.append(RecordOutcome(ActionOutcome(look, stamp, result, text=text)))

    def close(self, run: DirectiveRun, result: Result, text: str = "") -> None:
        """The action that is open, if there is one, has ended: as expected, unwaited for, or failed undiagnosed."""
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
        """Return the case of a failed action; None where recovery is off, used up, or no action is open.

        looks: that are not made any more, None = those that were made. more: further fields of the case.
        """
        config, action = self._context.config.recovery, run.under_way.action
        if action is None or not config.enabled or run.errand.recoveries >= config.max_recoveries:
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
        looks = tuple(Look)[1:]  # none is made
        case = self._case(run, action, failure, _proposal_of(action, run), why, looks=looks)
        self.find(run, case, asks=False)

    def note_other(self, run: DirectiveRun, known_id: int) -> None:
        """A thing that fits has appeared beside, or in place of, one that was known: tell it, and commit."""
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
        diagnosis = diagnose(self.evidence.measure(run, case), sure=self._context.config.recovery.sure)
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
        """Diagnose a case and record it. A look is named only while looks are left.

        asks: a language model may be asked, which takes several calls.
        """
        context = self._context
        config, facts = context.config.recovery, context.facts
        evidence = self.evidence.measure(run, case)
        diagnosis = diagnose(evidence, sure=config.sure)
        recovery = own = recovery_of(diagnosis)
        entity = facts.entity(case.action.entity_id)
        looks_on = diagnosis.look is not Look.NONE and len(case.looks) < config.max_looks
        contact = facts.contacts.last
        felt = contact is not None and contact.stamp > case.action.began
        told = ""
        if asks and not looks_on and self._advice is not None:
            is_over, advice = self._advice.seek(run, case, diagnosis)
            if not is_over:
                return Finding(diagnosis, None)
            if advice is not None:
                recovery, told = advice.recovery, f"; the language model advises {advice}"
        # Advice moves the robot. It corrects no belief that the evidence does not.
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
        """Return the corrections of beliefs. contact: (x, y) in map, where the robot was held."""
        facts, config = self._context.facts, self._context.config.recovery
        entity = facts.entity(case.action.entity_id)
        return corrections(case, diagnosis, entity, contact, facts.stamp.seconds, config)

    def _record(self, outcome: ActionOutcome) -> None:
        self._context.constraint.end(outcome)
        self._context.commands.append(RecordOutcome(outcome))


def _proposal_of(action: OpenAction, run: DirectiveRun) -> Proposal:
    """Return what an action carries out: the goal under way, or that of its trace where the robot stands."""
    if run.under_way.navigation is not None:
        return run.under_way.navigation.proposal
    trace = action.trace
    goal = action.start if trace.action.goal is None else trace.action.goal
    return Proposal(trace.proposer, trace.epoch, goal, trace.confidence, trace.reason, action.entity_id)

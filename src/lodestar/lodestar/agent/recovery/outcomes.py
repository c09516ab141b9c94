"""Ends of actions: an action is committed when what was expected was seen, else diagnosed and rolled back."""

from __future__ import annotations

from dataclasses import dataclass, replace

from lodestar.agent.errands.commands import RecordOutcome
from lodestar.agent.errands.context import LoopContext
from lodestar.agent.errands.open_action import Failing, OpenAction, OpenCase
from lodestar.agent.errands.run import DirectiveRun
from lodestar.agent.errands.target_search import TargetSearch
from lodestar.agent.errands.words import name_of
from lodestar.agent.facts.stamps import NEVER, Stamp
from lodestar.agent.recovery.advice_seeking import AdviceSeeker
from lodestar.agent.recovery.corrections import corrections
from lodestar.agent.recovery.evidence import EvidenceGatherer
from lodestar.experts.protocol import Proposal
from lodestar.worldmodel.cause_table import Recovery
from lodestar.worldmodel.diagnosis import diagnose, recovery_of, undiagnosed
from lodestar.worldmodel.discrepancies import DRIFT
from lodestar.worldmodel.outcomes import ActionOutcome, Diagnosis, Look, Result
from lodestar.worldmodel.records import Trace, entity_of


@dataclass(frozen=True)
class Finding:
    """A diagnosis with what is done about it: a look, or a recovery. recovery: None while advice is waited for."""

    diagnosis: Diagnosis
    recovery: Recovery | None


class Outcomes:
    """Opens an action with its trace, and closes it with an outcome. Every action has one end."""

    def __init__(self, context: LoopContext, search: TargetSearch) -> None:
        self._context, self._search = context, search
        self.evidence = EvidenceGatherer(context, search)
        self._advice = None if context.adviser is None else AdviceSeeker(context, context.adviser)

    def begin(self, run: DirectiveRun, trace: Trace) -> None:
        """An action begins; one that is still open, and a look, were given up for it."""
        self.end_look(run, Result.CANCELLED, "Another goal was chosen instead.")
        self.cancel(run, "Another goal was chosen on the way.")
        facts = self._context.facts
        assert facts.pose is not None
        about = entity_of(trace.expectation.about) or 0
        entity = facts.entity(about)
        fitting = frozenset(c.entity_id for c in self._search.look(run).accepted)
        means = {} if entity is None else {about: entity.mean.copy()}
        label = "" if entity is None else entity.label
        if about and facts.grid is not None:
            run.errand.grids.setdefault(about, facts.grid)
        run.under_way.action = OpenAction(
            trace,
            facts.stamp,
            facts.pose.copy(),
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

    def commit(self, run: DirectiveRun, text: str = "") -> None:
        """The action that is open has ended as expected."""
        self._close(run, Result.COMMITTED, text)

    def cancel(self, run: DirectiveRun, text: str) -> None:
        """The action that is open is not waited for any more."""
        self._close(run, Result.CANCELLED, text)

    def _close(self, run: DirectiveRun, result: Result, text: str) -> None:
        action, run.under_way.action = run.under_way.action, None
        if action is not None:
            stamp = self._context.facts.stamp.seconds
            self._record(ActionOutcome(action.trace.id, stamp, result, text=text))

    def open_case(
        self,
        run: DirectiveRun,
        failing: Failing,
        proposal: Proposal,
        why: str,
        *,
        code: int = 0,
        blocked: bool = False,
        arrived: Stamp = NEVER,
    ) -> OpenCase | None:
        """Return the case of a failed action; None where recovery is off, used up, or no action is open."""
        config, action = self._context.config.recovery, run.under_way.action
        if action is None or not config.enabled or run.errand.recoveries >= config.max_recoveries:
            self.roll_back(run, why)
            return None
        case = self._case(run, action, failing, proposal, why)
        case.code, case.blocked, case.arrived = code, blocked, arrived
        if failing is not Failing.STOPPED:
            case.looks = run.errand.looks.get(action.entity_id, ())
        return case

    def retries(self, run: DirectiveRun) -> bool:
        """Return whether a failed goal is sent again as it is: only for comparisons, without a diagnosis."""
        config = self._context.config.recovery
        if config.enabled or run.errand.retries >= config.blind_retries:
            return False
        run.errand.retries += 1
        return True

    def roll_back(self, run: DirectiveRun, why: str) -> None:
        """The action that is open has failed, for a reason that needs no diagnosis."""
        self._close(run, Result.ROLLED_BACK, why)

    def note(self, run: DirectiveRun, failing: Failing, why: str) -> None:
        """Diagnose and record a failure whose recovery the loop has begun already."""
        action = run.under_way.action
        if action is None or not self._context.config.recovery.enabled:
            self.roll_back(run, why)
            return
        case = self._case(run, action, failing, _proposal_of(action, run), why)
        case.looks = tuple(Look)[1:]  # none is made
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
            Failing.NOT_SEEN,
            proposal,
            "another one that fits has appeared",
        )
        case.arrived = run.begun_stamp
        if not self.evidence.diagnoses:
            self.commit(run, case.why)
            return
        diagnosis = diagnose(self.evidence.measure(run, case), sure=self._context.config.recovery.sure)
        run.under_way.action = None
        self._record(
            ActionOutcome(
                action.trace.id, facts.stamp.seconds, Result.COMMITTED, diagnosis, recovery_of(diagnosis).value,
                text=f"{case.why}; {diagnosis.text}",
            )
        )  # fmt: skip

    def _case(
        self, run: DirectiveRun, action: OpenAction, failing: Failing, proposal: Proposal, why: str
    ) -> OpenCase:
        facts = self._context.facts
        start = None if facts.pose is None else facts.pose.copy()
        return OpenCase(action, failing, proposal, why, self._context.now, facts.stamp, start=start)

    def find(self, run: DirectiveRun, case: OpenCase, *, asks: bool = True) -> Finding:
        """Diagnose a case and record it. A look is named only while looks are left.

        asks: a language model may be asked, which takes several calls.
        """
        context = self._context
        config, facts = context.config.recovery, context.facts
        evidence = self.evidence.measure(run, case)
        if not self.evidence.diagnoses:
            self._record(
                ActionOutcome(case.action.trace.id, facts.stamp.seconds, Result.ROLLED_BACK, text=case.why)
            )
            run.under_way.action = None
            return Finding(undiagnosed(evidence, case.why), Recovery.ASK_AGAIN)
        diagnosis = diagnose(evidence, sure=config.sure)
        recovery = own = recovery_of(diagnosis)
        entity = facts.entity(case.action.entity_id)
        looks_on = diagnosis.look is not Look.NONE and len(case.looks) < config.max_looks
        contact = facts.contacts.last
        felt = contact is not None and contact.stamp > case.action.began
        told = ""
        if asks and not looks_on and self._advice is not None:
            done, advice = self._advice.seek(run, case, diagnosis)
            if not done:
                return Finding(diagnosis, None)
            if advice is not None:
                recovery, told = advice.recovery, f"; the language model advises {advice}"
        # Advice moves the robot. It corrects no belief that the evidence does not.
        undecided = looks_on or own is Recovery.ASK_AGAIN or recovery is not own
        amendments = () if undecided else corrections(
            case, diagnosis, entity, contact.xy if felt and contact is not None else None, facts.stamp.seconds, config
        )  # fmt: skip
        name = name_of(entity) if entity is not None else case.action.label
        self._record(
            ActionOutcome(
                case.action.trace.id,
                facts.stamp.seconds,
                Result.ROLLED_BACK,
                diagnosis,
                "" if looks_on else recovery.value,
                amendments,
                f"{case.why}; {diagnosis.text}{f' (about {name})' if name else ''}{told}",
            )
        )
        if not looks_on:
            run.under_way.action = None
        return Finding(diagnosis, recovery)

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

"""Parts of the decision loop that a comparison leaves out: each replaces what it names, and the others stay."""

from __future__ import annotations

import numpy as np

from lodestar.agent.errands.errand import OpenCase
from lodestar.agent.errands.run import DirectiveRun
from lodestar.agent.loop.diagnosing import DiagnosingState
from lodestar.agent.loop.machine import OWN_PARTS, PartKinds
from lodestar.agent.loop.navigating import NavigatorNews
from lodestar.agent.recovery.evidence import EvidenceGatherer
from lodestar.agent.recovery.outcomes import Finding, Outcomes
from lodestar.experts.protocol import Proposal
from lodestar.scene.records import Entity
from lodestar.worldmodel.amendments import Amendment
from lodestar.worldmodel.cause_table import Recovery
from lodestar.worldmodel.diagnosis import Evidence, undiagnosed
from lodestar.worldmodel.outcomes import ActionOutcome, Diagnosis, Result
from lodestar.worldmodel.records import Belief, Trace, Verdict
from lodestar.worldmodel.validation import TraceValidator

BLIND_RETRIES = 5  # of a step, N_max of VLM-DEWM


class Unchecked(TraceValidator):
    """Accepts every trace."""

    def check(self, trace: Trace, now: float | None = None) -> Verdict:
        """Return that it may be carried out."""
        return Verdict()

    def fits(self, pose: np.ndarray) -> bool:
        """Return that it does."""
        return True


class BlindRetry(NavigatorNews):
    """Sends a failed goal again as it is, `BLIND_RETRIES` times per errand; for a loop that recovers from nothing."""

    _errand: object = None
    _retries = 0

    def leave_out(
        self, run: DirectiveRun, proposal: Proposal, start: np.ndarray, why: str, blocked: bool = False
    ) -> None:
        """Send the goal again while retries are left."""
        if self._errand is not run.errand:
            self._errand, self._retries = run.errand, 0
        context, self._retries = self._context, self._retries + 1
        view, epoch = context.search.look(run), context.next_epoch()
        if self._retries > BLIND_RETRIES or not self._transitions.send(run, proposal, epoch, view).accepted:
            super().leave_out(run, proposal, start, why, blocked)


class Undiagnosed(Outcomes):
    """Notices a failure, and asks for no cause."""

    def find(self, run: DirectiveRun, case: OpenCase, *, asks: bool = True) -> Finding:
        """Roll back, and have the experts asked again."""
        evidence, stamp = self.evidence.measure(run, case), self._context.facts.stamp.seconds
        self._record(ActionOutcome(case.action.trace.id, stamp, Result.ROLLED_BACK, text=case.why))
        run.under_way.action = None
        return Finding(undiagnosed(evidence, case.why), Recovery.ASK_AGAIN)

    def note_other(self, run: DirectiveRun, known_id: int) -> None:
        """Commit without a cause."""
        self.close(run, Result.COMMITTED, "another one that fits has appeared")


class Uncorrected(Outcomes):
    """Names causes, and corrects no belief (VLM-DEWM table 6)."""

    def amendments(
        self, case: OpenCase, diagnosis: Diagnosis, contact: tuple[float, float] | None
    ) -> tuple[Amendment, ...]:
        """Return none."""
        return ()


class UncorrectedRecovery(DiagnosingState):
    """Only the robot moves: what is thought of a thing stays as it was."""

    def gone(self, run: DirectiveRun, case: OpenCase, diagnosis: Diagnosis) -> None:
        """Decide anew."""
        run.under_way.case = None
        self.go_on(run)

    next_candidate = gone


class PhaselessEvidence(EvidenceGatherer):
    """Does not know the phase in which an action failed: way and target are measured at every failure."""

    def measure(self, run: DirectiveRun, case: OpenCase) -> Evidence:
        """Return all that can be measured."""
        facts = self.of_drive(run, case) | self.of_way(run, case) | self.of_target(run, case)
        return self.evidence(case, facts)


class ScenelessEvidence(EvidenceGatherer):
    """Knows no thing of the scene."""

    def is_verified_gone(self, entity_id: int) -> bool:
        """Return that nobody has looked."""
        return False

    def things_in_way(self, case: OpenCase) -> dict[str, bool]:
        """Return nothing."""
        return {}

    def of_target(self, run: DirectiveRun, case: OpenCase) -> dict[str, bool]:
        """Return nothing."""
        return {}

    def twins(self, run: DirectiveRun, entity_id: int) -> list[Entity]:
        """Return none."""
        return []

    def relations(self, trace: Trace, margin: float = 0.0) -> tuple[Belief, ...]:
        """Return none."""
        return ()


class Phaseless(Outcomes):
    """Diagnoses without the constraint state."""

    evidence_kind = PhaselessEvidence


class Sceneless(Outcomes):
    """Diagnoses without the semantic graph."""

    evidence_kind = ScenelessEvidence


UNVALIDATED = PartKinds(validator=Unchecked)
#: What each row of the recovery benchmark replaces; `blind_retry` goes with `recovery.enabled: false`.
ROW_KINDS = {
    "full": OWN_PARTS,
    "blind_retry": PartKinds(news=BlindRetry),
    "no_validation": UNVALIDATED,
    "no_diagnosis": PartKinds(outcomes=Undiagnosed),
    "no_belief_correction": PartKinds(outcomes=Uncorrected, diagnosing=UncorrectedRecovery),
    "no_constraint_state": PartKinds(outcomes=Phaseless),
    "no_semantic_graph": PartKinds(outcomes=Sceneless),
}

"""Replacements for parts of the decision loop, for ablation studies; each class replaces one part."""

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

BLIND_RETRIES = 5  # repeats per errand; N_max of VLM-DEWM (per step there)


class Unchecked(TraceValidator):
    """Trace validator that accepts every trace."""

    def check(self, trace: Trace, now: float | None = None) -> Verdict:
        """Return a verdict that allows the trace."""
        return Verdict()

    def fits(self, pose: np.ndarray) -> bool:
        """Return True for every pose."""
        return True


class BlindRetry(NavigatorNews):
    """Resends a failed goal unchanged, up to `BLIND_RETRIES` times per errand; it replaces recovery."""

    _errand: object = None
    _retries = 0

    def leave_out(
        self, run: DirectiveRun, proposal: Proposal, start: np.ndarray, why: str, blocked: bool = False
    ) -> None:
        """Resend the failed goal while retries are left; else exclude it, as the base class does."""
        if self._errand is not run.errand:
            self._errand, self._retries = run.errand, 0
        context, self._retries = self._context, self._retries + 1
        view, epoch = context.search.look(run), context.next_epoch()
        if self._retries > BLIND_RETRIES or not self._transitions.send(run, proposal, epoch, view).accepted:
            super().leave_out(run, proposal, start, why, blocked)


class Undiagnosed(Outcomes):
    """Outcome handling that notices failures but does not diagnose them."""

    def find(self, run: DirectiveRun, case: OpenCase, *, asks: bool = True) -> Finding:
        """Roll the action back and return a finding without a cause, with `ASK_AGAIN` as the recovery."""
        evidence, stamp = self.evidence.measure(run, case), self._context.facts.stamp.seconds
        self._record(ActionOutcome(case.action.trace.id, stamp, Result.ROLLED_BACK, text=case.why))
        run.under_way.action = None
        return Finding(undiagnosed(evidence, case.why), Recovery.ASK_AGAIN)

    def note_other(self, run: DirectiveRun, known_id: int) -> None:
        """Close the open action as committed, without a diagnosis: another matching object has appeared."""
        self.close(run, Result.COMMITTED, "another one that fits has appeared")


class Uncorrected(Outcomes):
    """Outcome handling that diagnoses causes but corrects no belief (VLM-DEWM table 6)."""

    def amendments(
        self, case: OpenCase, diagnosis: Diagnosis, contact: tuple[float, float] | None
    ) -> tuple[Amendment, ...]:
        """Return no amendments."""
        return ()


class UncorrectedRecovery(DiagnosingState):
    """Recovery that only continues the search after a diagnosis; the beliefs about objects stay unchanged."""

    def gone(self, run: DirectiveRun, case: OpenCase, diagnosis: Diagnosis) -> None:
        """Close the failed case without correcting beliefs, and decide again."""
        run.under_way.case = None
        self.go_on(run)

    next_candidate = gone


class PhaselessEvidence(EvidenceGatherer):
    """Evidence gatherer that measures drive, path and target in every phase of the failed action."""

    def measure(self, run: DirectiveRun, case: OpenCase) -> Evidence:
        """Return the evidence about drive, path and target, whatever the phase."""
        facts = self.of_drive(run, case) | self.of_way(run, case) | self.of_target(run, case)
        return self.evidence(case, facts)


class ScenelessEvidence(EvidenceGatherer):
    """Evidence gatherer that ignores the entities of the scene."""

    def is_verified_gone(self, entity_id: int) -> bool:
        """Return False: no entity counts as verified gone."""
        return False

    def things_in_way(self, case: OpenCase) -> dict[str, bool]:
        """Return no objects in the path."""
        return {}

    def of_target(self, run: DirectiveRun, case: OpenCase) -> dict[str, bool]:
        """Return no facts about the target."""
        return {}

    def twins(self, run: DirectiveRun, entity_id: int) -> list[Entity]:
        """Return no entities that could be confused with this one."""
        return []

    def relations(self, trace: Trace, margin: float = 0.0) -> tuple[Belief, ...]:
        """Return no spatial relations."""
        return ()


class Phaseless(Outcomes):
    """Outcome handling whose diagnosis ignores the phase in which an action failed (`PhaselessEvidence`)."""

    evidence_kind = PhaselessEvidence


class Sceneless(Outcomes):
    """Outcome handling whose diagnosis ignores the entities of the scene (`ScenelessEvidence`)."""

    evidence_kind = ScenelessEvidence


UNVALIDATED = PartKinds(validator=Unchecked)
#: Parts replaced in each row of the recovery benchmark; `blind_retry` also needs `recovery.enabled: false`.
ROW_KINDS = {
    "full": OWN_PARTS,
    "blind_retry": PartKinds(news=BlindRetry),
    "no_validation": UNVALIDATED,
    "no_diagnosis": PartKinds(outcomes=Undiagnosed),
    "no_belief_correction": PartKinds(outcomes=Uncorrected, diagnosing=UncorrectedRecovery),
    "no_constraint_state": PartKinds(outcomes=Phaseless),
    "no_semantic_graph": PartKinds(outcomes=Sceneless),
}

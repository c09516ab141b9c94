"""Opens and closes decisions with what the loop perceives at that moment."""

from __future__ import annotations

from lodestar.agent.decisions.admission import Admission
from lodestar.agent.decisions.observation import perceive
from lodestar.agent.decisions.targets import TargetView
from lodestar.agent.errands.commands import RecordDecision
from lodestar.agent.errands.context import LoopContext
from lodestar.experts.protocol import Proposal, ProposalRequest
from lodestar.language.directive import Step
from lodestar.selection.decision_log import Decision, Outcome
from lodestar.selection.perceived import Perceived


class Account:
    """The loop's side of the ledger."""

    def __init__(self, context: LoopContext) -> None:
        self._context = context

    def perceived(self, view: TargetView | None, step: Step) -> Perceived:
        """This moment in the form that the ledger takes. view: of `step`, None = nobody looked."""
        facts = self._context.facts
        return perceive(self._context.now, facts.area, facts.pose, facts.grid, facts.entities, view, step)

    def open(
        self, request: ProposalRequest, admission: Admission, view: TargetView, step: Step
    ) -> tuple[Decision, Proposal]:
        """Record the policy's choice among the admitted arms; a decision that is still open was preempted."""
        self.close(Outcome.PREEMPTED, view)
        context = self._context
        perceived = self.perceived(view, step)
        decision, proposal = context.ledger.choose(
            request,
            admission,
            step,
            perceived,
            context.facts.stamp,
            context.config.map_id,
            context.trace_id(request.epoch),
        )
        context.commands.append(RecordDecision(decision))
        return decision, proposal

    def close(
        self, outcome: Outcome, view: TargetView | None = None, success: bool = False, ended: bool = False
    ) -> None:
        """Record the outcome of the open decision, if one is open."""
        ledger = self._context.ledger
        decision = ledger.close(outcome, self.perceived(view, ledger.step), success, ended)
        if decision is not None:
            self._context.commands.append(RecordDecision(decision))

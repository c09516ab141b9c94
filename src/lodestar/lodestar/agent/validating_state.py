"""State VALIDATING: a decision was made; its trace is checked against the world before it is carried out."""

from __future__ import annotations

from lodestar.agent.account import Account
from lodestar.agent.context import LoopContext
from lodestar.agent.reasoning import trace_of
from lodestar.agent.run import Run
from lodestar.agent.transitions import Transitions
from lodestar.agent.words import going
from lodestar.selection.decision_log import Outcome


class ValidatingState:
    """Leaves in the tick in which it was entered: by `send`, or by `redecide` where the decision is refused."""

    def __init__(self, context: LoopContext, account: Account, transitions: Transitions) -> None:
        self._context, self._account, self._transitions = context, account, transitions

    def step(self, run: Run) -> None:
        """Have the choice validated, and go."""
        context, choice = self._context, run.choice
        assert choice is not None
        decision, proposal, view = choice.decision, choice.proposal, choice.view
        verdict = context.validator.check(trace_of(context, run.step, proposal, decision.epoch, view))
        if not verdict.accepted:
            run.goals.exclude(proposal.goal, verdict.reason, context.facts.grid)
            self._account.close(Outcome.ABORTED, view)
            self._transitions.redecide(run)
            return
        entity = context.facts.entity(proposal.entity_id)
        run.text = going(proposal, entity, view.is_accepted(proposal.entity_id))
        self._transitions.pursue(run, proposal, decision.epoch, view)

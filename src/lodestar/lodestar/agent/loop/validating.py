"""State VALIDATING: the choice becomes the goal; its trace was checked when the answers were admitted (ADR 0041)."""

from __future__ import annotations

from lodestar.agent.actions.transitions import Transitions
from lodestar.agent.errands.context import LoopContext
from lodestar.agent.errands.run import DirectiveRun
from lodestar.agent.errands.words import going


class ValidatingState:
    """Leaves by `send` in the tick in which it was entered, so that what was checked still holds."""

    def __init__(self, context: LoopContext, transitions: Transitions) -> None:
        self._context, self._transitions = context, transitions

    def step(self, run: DirectiveRun) -> None:
        """Go where the choice leads."""
        context, choice = self._context, run.under_way.choice
        assert choice is not None
        decision, proposal, view = choice.decision, choice.proposal, choice.view
        entity = context.facts.entity(proposal.entity_id)
        run.text = going(proposal, entity, view.is_accepted(proposal.entity_id))
        self._transitions.pursue(run, proposal, decision.epoch, view, is_checked=True)

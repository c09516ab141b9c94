"""Closes the open decision with what the loop perceives at that moment."""

from __future__ import annotations

from lodestar.agent.commands import RecordDecision
from lodestar.agent.context import LoopContext
from lodestar.agent.observation import perceive
from lodestar.agent.targets import TargetView
from lodestar.language.directive import Step
from lodestar.selection.decision_log import Outcome
from lodestar.selection.perceived import Perceived


class Account:
    """The loop's side of the ledger."""

    def __init__(self, context: LoopContext) -> None:
        self._context = context

    def perceived(self, view: TargetView | None, step: Step) -> Perceived:
        """This moment in the form that the ledger takes. view: of `step`, None = nobody looked."""
        facts = self._context.facts
        return perceive(self._context.now, facts.area, facts.pose, facts.grid, facts.entities, view, step)

    def close(
        self, outcome: Outcome, view: TargetView | None = None, success: bool = False, ended: bool = False
    ) -> None:
        """Record the outcome of the open decision, if one is open."""
        ledger = self._context.ledger
        decision = ledger.close(outcome, self.perceived(view, ledger.step), success, ended)
        if decision is not None:
            self._context.commands.append(RecordDecision(decision))

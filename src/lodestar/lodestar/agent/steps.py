"""The steps of a directive: one succeeds, one fails, the next begins."""

from __future__ import annotations

from lodestar.agent.account import Account
from lodestar.agent.context import LoopContext
from lodestar.agent.errors import ErrorCode
from lodestar.agent.run import Run
from lodestar.agent.targets import TargetView
from lodestar.agent.transitions import Transitions
from lodestar.agent.words import step_in_words
from lodestar.language.directive import StepKind
from lodestar.selection.decision_log import Outcome


class Steps:
    """Ends a step, and with the last of them the directive."""

    def __init__(self, context: LoopContext, transitions: Transitions, account: Account) -> None:
        self._context, self._transitions, self._account = context, transitions, account

    def succeed(self, run: Run, text: str, view: TargetView | None = None) -> None:
        """The step has succeeded; the next one begins, or the directive ends, with its verdict if it has one."""
        run.told.append(text)
        if run.is_last:
            if run.verdict is not None:
                self._transitions.finish(run, *run.verdict)
            else:
                self._transitions.finish(run, ErrorCode.NONE, text, Outcome.REACHED)
            return
        self._account.close(Outcome.REACHED, view, success=run.step.kind is StepKind.FIND, ended=True)
        self._begin(run, run.step_index + 1, text)

    def fail(self, run: Run, code: ErrorCode, message: str) -> None:
        """The step has failed and the directive with it; where its last step is to come back, it still does."""
        last = len(run.directive.steps) - 1
        if run.verdict is not None or run.is_last or run.directive.steps[last].kind is not StepKind.RETURN:
            self._transitions.finish(run, *(run.verdict or (code, message)))
            return
        run.told.append(message)
        run.verdict = (code, message)
        self._account.close(Outcome.ABORTED, ended=True)
        self._begin(run, last, message)

    def _begin(self, run: Run, index: int, text: str) -> None:
        run.begin_step(index)
        run.idle_since = None
        run.text = f"{text.splitlines()[0]} Next: {step_in_words(run.step)}."
        self._context.ledger.begin_subtask(self._context.now)
        self._transitions.redecide(run)

"""The loop's line to the memory: one question at a time, and an answer, a code or silence that ends it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from lodestar.agent.errands.commands import AskMemory, WithdrawQuestion
from lodestar.agent.errands.context import LoopContext
from lodestar.agent.errands.errand import OpenQuery
from lodestar.agent.errands.run import DirectiveRun
from lodestar.language.question import Question
from lodestar.language.time_windows import TimeBasis, TimePoint, TimeWindow
from lodestar.memory.answer import Answer, AnswerCode, AnswerOutcome


@dataclass(frozen=True)
class Freshness:
    """Bounds of an answer that saves the robot the way. age: s (stamps) since it was last so. coverage: [0, 1]."""

    age: float
    coverage: float


class MemoryLine:
    """Asks by a command, without waiting; whoever carries it out hands the outcome to `DecisionLoop.on_memory`."""

    def __init__(self, context: LoopContext) -> None:
        self._context = context

    def ask(self, run: DirectiveRun, question: Question, since: float = 0.0) -> None:
        """Ask; a question before it is withdrawn. since: s, how far back it looks where it says no time; 0 = any."""
        context = self._context
        self.close(run)
        if since > 0.0 and not question.window:
            begin = context.facts.stamp.seconds - since
            if begin > 0.0:
                question = replace(question, window=TimeWindow(TimePoint(TimeBasis.STAMP, begin)))
        run.errand.query = OpenQuery(context.next_epoch(), context.now)
        context.commands.append(AskMemory(run.errand.query.ticket, question))

    def outcome(self, run: DirectiveRun) -> AnswerOutcome | None:
        """Return what came of the question, once; None while its answer is waited for. A late one is an outcome too."""
        query, patience = run.errand.query, self._context.config.memory_patience
        assert query is not None
        if query.outcome is None:
            if self._context.now - query.asked_at <= patience:
                return None
            self.close(run)
            return AnswerOutcome(
                AnswerCode.CANCELLED, why=f"the memory did not answer within {patience:.0f} s"
            )
        run.errand.query = None
        return query.outcome

    def close(self, run: DirectiveRun) -> None:
        """Withdraw the question that is open, if there is one."""
        if run.errand.query is not None and run.errand.query.outcome is None:
            self._context.commands.append(WithdrawQuestion(run.errand.query.ticket))
        run.errand.query = None

    def is_fresh(self, answer: Answer, bounds: Freshness) -> bool:
        """Return whether the answer was so a moment ago; what was not seen, whether the floor was looked at then."""
        if not answer.is_known or answer.last_verified is None:
            return False
        old = self._context.facts.stamp.seconds - answer.last_verified > bounds.age
        return not old and (answer.coverage is None or answer.coverage >= bounds.coverage)

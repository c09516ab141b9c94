"""The steps of a directive: one succeeds, one fails, the next begins."""

from __future__ import annotations

from lodestar.agent.actions.account import Account
from lodestar.agent.actions.transitions import Transitions
from lodestar.agent.decisions.targets import TargetView
from lodestar.agent.errands.commands import FollowConstraints
from lodestar.agent.errands.context import LoopContext
from lodestar.agent.errands.run import CheckVisit, DirectiveRun
from lodestar.agent.errands.words import step_in_words, unable_in_words
from lodestar.agent.facts.errors import ErrorCode
from lodestar.language.directive import Step, StepKind
from lodestar.memory.answer import Answer, ProofKind
from lodestar.selection.decision_log import Outcome

#: Failures of one stop that leave the rest of a patrol possible.
_OF_A_STOP = frozenset(
    {
        ErrorCode.TARGET_NOT_FOUND,
        ErrorCode.TARGET_GONE,
        ErrorCode.TARGET_UNREACHABLE,
        ErrorCode.TARGET_NOT_CONFIRMED,
        ErrorCode.AMBIGUOUS,
        ErrorCode.NAVIGATION_FAILED,
    }
)


class Steps:
    """Ends a step, and with the last of them the directive."""

    def __init__(self, context: LoopContext, transitions: Transitions, account: Account) -> None:
        self._context, self._transitions, self._account = context, transitions, account

    def succeed(self, run: DirectiveRun, text: str, view: TargetView | None = None) -> None:
        """The errand has succeeded; the next one begins, or the directive ends, with its verdict if it has one.

        An errand that was done for a CHECK leads back to it.
        """
        if self._is_visit(run):
            self._come_back(run, ErrorCode.NONE, text, view)
            return
        unable = run.itinerary.step.unable
        run.unable += [one for one in unable if one not in run.unable]
        text = f"{text} {unable_in_words(unable)}".strip()
        run.tell(text)
        if run.is_last:
            self._end(run, text)
            return
        found = run.step.kind is StepKind.FIND
        self._account.close(Outcome.REACHED, view, success=found, ended=True)
        self._go_on(run, text, success=True)

    def fail(self, run: DirectiveRun, code: ErrorCode, message: str) -> None:
        """The errand has failed, and the directive with it. A patrol goes on to its next stop, unless it came to none
        of this round; where the last step is to come back, the robot still does. A CHECK hears of its errand's failure.
        """
        if self._is_visit(run):
            self._come_back(run, code, message)
            return
        if self._is_stop_missed(run, code, message):
            return
        last = run.directive.steps[-1]
        if run.verdict is not None or run.is_last or last.kind is not StepKind.RETURN:
            self._transitions.finish(run, *(run.verdict or (code, message)))
            return
        run.tell(message)
        run.verdict = (code, message)
        self._account.close(Outcome.ABORTED, ended=True)
        run.itinerary.go_to_last(self._context.place_names)
        self._begin(run, message)

    def answer(self, run: DirectiveRun, text: str, answer: Answer | None = None) -> None:
        """The question of the step is answered. answer: None = by the words alone."""
        if answer is not None:
            run.answers.append(answer)
            ids = (proof.id for proof in answer.proof if proof.kind is ProofKind.ENTITY)
            run.found.extend(identity for identity in dict.fromkeys(ids) if identity not in run.found)
        self.succeed(run, text)

    def leave_unanswered(self, run: DirectiveRun, why: str) -> None:
        """The question of the step has no answer; the directive goes on, and ends with the code for that."""
        run.tell(why)
        run.unanswered.append(why)
        if run.is_last:
            self._end(run, why)
            return
        self._account.close(Outcome.ABORTED, ended=True)
        self._go_on(run, why)

    def visit(self, run: DirectiveRun, errand: Step, text: str) -> None:
        """Do another errand for a CHECK first."""
        run.check = CheckVisit(errand.kind, self._context.facts.stamp)
        run.itinerary.visit(errand, self._context.place_names)
        self._transitions.next_errand(run, text)
        run.text = text

    @staticmethod
    def _is_visit(run: DirectiveRun) -> bool:
        return run.check is not None and run.check.came is None

    def _come_back(
        self, run: DirectiveRun, code: ErrorCode, text: str, view: TargetView | None = None
    ) -> None:
        """The errand for a CHECK is over; the check itself goes on."""
        assert run.check is not None
        found = code is ErrorCode.NONE and run.step.kind is StepKind.FIND
        run.check.came = code, text
        run.check.entity_id = run.found[-1] if found and run.found else 0
        self._account.close(Outcome.REACHED if found else Outcome.ABORTED, view, success=found, ended=True)
        run.itinerary.resume(self._context.place_names)
        self._transitions.next_errand(run, text, success=code is ErrorCode.NONE)
        run.text = text.splitlines()[0]

    def _is_stop_missed(self, run: DirectiveRun, code: ErrorCode, message: str) -> bool:
        """Whether this was one stop of a patrol, which goes on."""
        itinerary = run.itinerary
        stops = itinerary.step.stops
        if not stops or code not in _OF_A_STOP or run.verdict is not None:
            return False
        run.missed = run.missed or (code, message)
        run.missed_here += 1
        came_to_none = itinerary.ends_round and run.missed_here >= len(stops)
        if itinerary.is_last or came_to_none:
            return False
        run.tell(message)
        self._account.close(Outcome.ABORTED, ended=True)
        self._go_on(run, message)
        return True

    def _end(self, run: DirectiveRun, text: str) -> None:
        """End the directive as done, but for stops that were missed, questions without an answer, and what the robot
        cannot do.
        """
        if run.verdict is not None:
            self._transitions.finish(run, *run.verdict)
        elif run.missed is not None:
            self._transitions.finish(run, *run.missed)
        elif run.unanswered:
            why = " ".join(run.unanswered)
            self._transitions.finish(run, ErrorCode.CANNOT_ANSWER, why, Outcome.REACHED)
        elif run.unable:
            self._transitions.finish(
                run, ErrorCode.UNABLE, unable_in_words(tuple(run.unable)), Outcome.REACHED
            )
        else:
            self._transitions.finish(run, ErrorCode.NONE, text, Outcome.REACHED)

    def _go_on(self, run: DirectiveRun, text: str, success: bool = False) -> None:
        if run.itinerary.ends_round:
            run.missed_here = 0
        run.itinerary.advance(self._context.place_names)
        self._begin(run, text, success)

    def _begin(self, run: DirectiveRun, text: str, success: bool = False) -> None:
        before = run.constraints_told
        self._transitions.next_errand(run, text, success)
        run.text = f"{text.splitlines()[0]} Next: {step_in_words(run.step)}."
        if run.constraints != before:
            run.constraints_told = run.constraints
            self._context.commands.append(FollowConstraints(run.directive.at(run.step_index)))
        self._context.ledger.begin_subtask(self._context.now)

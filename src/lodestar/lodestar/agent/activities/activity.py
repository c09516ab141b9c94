"""Base class of activities, and their shared tools.

An errand is the task in progress: a step of the directive, one stop of a patrol, or a visit on behalf of a
CHECK. An activity carries out one errand; each kind of step has a class.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from lodestar.agent.activities.charger_trip import ChargerTrip
from lodestar.agent.activities.floor_search import FloorSearch
from lodestar.agent.activities.floor_trip import FloorTrip
from lodestar.agent.activities.go_to import GoTo, RoomSearch
from lodestar.agent.activities.transitions import Transitions
from lodestar.agent.decisions.approach import Arrival
from lodestar.agent.errands.commands import AskMemory, FollowConstraints, OpenQuestion, State, WithdrawQuery
from lodestar.agent.errands.context import LoopContext
from lodestar.agent.errands.errand import OpenQuery
from lodestar.agent.errands.run import EXPLORE, MAX_SENTENCES, CheckVisit, DirectiveRun
from lodestar.agent.errands.words import step_in_words, unable_in_words
from lodestar.agent.facts.config import LOOP_RETRY_INTERVAL
from lodestar.agent.facts.errors import ErrorCode
from lodestar.agent.recovery.outcomes import Outcomes
from lodestar.language.directive import Step, StepKind
from lodestar.language.question import Question
from lodestar.language.time_windows import TimeBasis, TimePoint, TimeWindow
from lodestar.memory.answer import Answer, AnswerCode, AnswerOutcome, ProofKind
from lodestar.query.targets import TargetView
from lodestar.selection.admission import Admission
from lodestar.selection.decisions import Outcome

LOOP_COVERED = 0.95  # share of the floor that must have been looked at for an answer without a check (ours)


class MemoryLine:
    """Sends queries to the memory as commands, without waiting. Outcomes arrive by `DecisionLoop.on_memory`."""

    def __init__(self, context: LoopContext) -> None:
        self._context = context

    def ask(self, run: DirectiveRun, question: Question, since: float = 0.0) -> None:
        """Send the question and withdraw an earlier query. since: seconds to look back if the question names no time;
        0 = no limit.
        """
        context = self._context
        self.close(run)
        if since > 0.0 and not question.window:
            begin = context.facts.stamp.seconds - since
            if begin > 0.0:
                question = replace(question, window=TimeWindow(TimePoint(TimeBasis.STAMP, begin)))
        run.errand.query = OpenQuery(context.next_epoch(), context.now)
        context.commands.append(AskMemory(run.errand.query.ticket, question))

    def outcome(self, run: DirectiveRun) -> AnswerOutcome | None:
        """Return the query's outcome, once; None while it is pending. After `memory_patience` the outcome is
        CANCELLED.
        """
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
        """Withdraw the open query, if there is one."""
        if run.errand.query is not None and run.errand.query.outcome is None:
            self._context.commands.append(WithdrawQuery(run.errand.query.ticket))
        run.errand.query = None

    def is_fresh(self, answer: Answer, age: float) -> bool:
        """Return whether the answer is known and was verified within the last `age` seconds of sensor time,
        so that the robot need not drive there. A negative answer also needs enough of the floor to have been
        observed.
        """
        if not answer.is_known or answer.last_verified is None:
            return False
        old = self._context.facts.stamp.seconds - answer.last_verified > age
        return not old and (answer.coverage is None or answer.coverage >= LOOP_COVERED)


#: Error codes of one stop after which a patrol continues.
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
    """Ends the steps of a directive, and the directive after its last step."""

    def __init__(self, context: LoopContext, transitions: Transitions) -> None:
        self._context, self._transitions = context, transitions

    def succeed(self, run: DirectiveRun, text: str, view: TargetView | None = None) -> None:
        """End the step as done and begin the next one; after the last step, end the directive. If the errand
        was a visit on behalf of a CHECK, resume the CHECK instead.

        text: report of the step. view: candidates for the target, for the ledger; None = not computed.
        """
        if self._is_visit(run):
            self._come_back(run, ErrorCode.NONE, text, view)
            return
        unable = run.itinerary.step.unable
        run.unable += [one for one in unable if one not in run.unable]
        text = f"{text} {unable_in_words(unable)}".strip()
        run.tell(text)
        if run.itinerary.is_last:
            self._end(run, text)
            return
        found = run.step.kind is StepKind.FIND
        self._context.account.close(Outcome.REACHED, view, success=found, ended=True)
        self._go_on(run, text, success=True)

    def fail(
        self, run: DirectiveRun, code: ErrorCode, message: str, question: OpenQuestion | None = None
    ) -> None:
        """End the step as failed, and with it the directive. Exceptions: a patrol continues with its next
        stop, unless every stop of this round failed; a directive whose last step is RETURN still does that
        step; a CHECK resumes with the failure of the visit on its behalf.

        question: asked to the user if the directive ends with this failure.
        """
        if self._is_visit(run):
            self._come_back(run, code, message)
            return
        if self._is_stop_missed(run, code, message, question):
            return
        run.question = run.question if run.verdict is not None else question
        last = run.directive.steps[-1]
        if run.verdict is not None or run.itinerary.is_last or last.kind is not StepKind.RETURN:
            self._transitions.finish(run, *(run.verdict or (code, message)))
            return
        run.tell(message)
        run.verdict = (code, message)
        self._context.account.close(Outcome.ABORTED, ended=True)
        run.itinerary.go_to_last(self._context.place_names)
        self._begin(run, message)

    def answer(self, run: DirectiveRun, text: str, answer: Answer | None = None) -> None:
        """Finish the step with an answer to its question. answer: None = only text is available."""
        if answer is not None:
            run.answers = [*run.answers, answer][-MAX_SENTENCES:]
            run.note_found(proof.id for proof in answer.proof if proof.kind is ProofKind.ENTITY)
        self.succeed(run, text)

    def leave_unanswered(self, run: DirectiveRun, why: str) -> None:
        """Leave the question of the step without an answer and continue; the directive will end with
        CANNOT_ANSWER.
        """
        run.tell(why)
        run.unanswered = [*run.unanswered, why][-MAX_SENTENCES:]
        if run.itinerary.is_last:
            self._end(run, why)
            return
        self._context.account.close(Outcome.ABORTED, ended=True)
        self._go_on(run, why)

    def visit(self, run: DirectiveRun, errand: Step, text: str) -> None:
        """Begin an errand on behalf of the current CHECK, such as to look at an object; the CHECK resumes
        afterwards.
        """
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
        """End the visit on behalf of a CHECK, store its result in `run.check`, and resume the CHECK."""
        assert run.check is not None
        found = code is ErrorCode.NONE and run.step.kind is StepKind.FIND
        run.check.came = code, text
        run.check.entity_id = run.found[-1] if found and run.found else 0
        self._context.account.close(
            Outcome.REACHED if found else Outcome.ABORTED, view, success=found, ended=True
        )
        run.itinerary.resume(self._context.place_names)
        self._transitions.next_errand(run, text, success=code is ErrorCode.NONE)
        run.text = text.splitlines()[0]

    def _is_stop_missed(
        self, run: DirectiveRun, code: ErrorCode, message: str, question: OpenQuestion | None
    ) -> bool:
        """Return whether this failure concerns one stop of a patrol that continues; if so, start the next stop."""
        itinerary = run.itinerary
        stops = itinerary.step.stops
        if not stops or code not in _OF_A_STOP or run.verdict is not None:
            return False
        if run.missed is None:
            run.missed, run.question = (code, message), question
        run.missed_here += 1
        came_to_none = itinerary.ends_round and run.missed_here >= len(stops)
        if itinerary.is_last or came_to_none:
            return False
        run.tell(message)
        self._context.account.close(Outcome.ABORTED, ended=True)
        self._go_on(run, message)
        return True

    def _end(self, run: DirectiveRun, text: str) -> None:
        """End the directive. It succeeds unless stops were missed, questions have no answer, or a request is beyond
        the robot's abilities.
        """
        failed = run.verdict or run.missed
        if failed is not None:
            self._transitions.finish(run, *failed)
            return
        code, message = ErrorCode.NONE, text
        if run.unanswered:
            code, message = ErrorCode.CANNOT_ANSWER, " ".join(run.unanswered)
        elif run.unable:
            code, message = ErrorCode.UNABLE, unable_in_words(run.unable)
        self._transitions.finish(run, code, message, Outcome.REACHED)

    def _go_on(self, run: DirectiveRun, text: str, success: bool = False) -> None:
        if run.itinerary.ends_round:
            run.missed_here = 0
        run.itinerary.advance(self._context.place_names)
        self._begin(run, text, success)

    def _begin(self, run: DirectiveRun, text: str, success: bool = False) -> None:
        before = run.constraints_sent
        self._transitions.next_errand(run, text, success)
        run.text = f"{text.splitlines()[0]} Next: {step_in_words(run.step)}."
        if run.constraints != before:
            run.constraints_sent = run.constraints
            self._context.commands.append(FollowConstraints(run.directive.at(run.step_index)))
        self._context.ledger.begin_subtask(self._context.now)


class Tools:
    """Objects shared by all states and activities: the loop's context, and the parts that act on it."""

    def __init__(self, context: LoopContext, outcomes: Outcomes) -> None:
        self.context = context
        self.transitions = Transitions(context, outcomes)
        self.steps = Steps(context, self.transitions)
        self.memory = MemoryLine(context)
        self.trip = ChargerTrip(context, self.transitions)
        self.floors = FloorTrip(context, self.transitions)
        self.storeys = FloorSearch(context, self.transitions, self.floors)

    @property
    def outcomes(self) -> Outcomes:
        """Return the object that opens and closes actions."""
        return self.transitions.outcomes


class Activity:
    """Base class of activities; each carries out one errand. By default the experts propose every goal."""

    explores = False  # True: ask only the explorer until the place that the step names is known

    def __init__(self, tools: Tools, rooms: RoomSearch | None = None) -> None:
        self._tools = tools
        self._go_to = GoTo(tools.context, tools.transitions)
        self._rooms = rooms or RoomSearch(tools.context)

    def asked(self, run: DirectiveRun) -> Step:
        """Return the step to send to the experts. A FIND step goes to all experts, any other step to the
        explorer alone.
        """
        return EXPLORE if self.explores else run.step

    def act(self, run: DirectiveRun) -> bool:
        """Do the part of the errand that needs no expert: send a goal, wait, or end it. Return False if experts must
        be asked.
        """
        return False

    def settled(self, run: DirectiveRun, admission: Admission, view: TargetView) -> bool:
        """End the errand if none of the admissible proposals is worth its driving time. Return whether it
        ended.
        """
        return False

    def news(self, run: DirectiveRun) -> str:
        """Return the reason to decide again while a goal is being driven to; "" = keep the goal."""
        return ""

    def conclusion(self, run: DirectiveRun) -> tuple[ErrorCode, str] | None:
        """Return error code and message if the errand has an answer when the directive's time runs out, else None."""
        return None

    def waited(self, run: DirectiveRun) -> None:
        """Check whether the wait of this activity is over; if so, end the errand or decide again."""

    def arrived(self, run: DirectiveRun, arrival: Arrival) -> None:
        """Handle arrival at a goal that this activity sent; by default a goal in a room. Decide again."""
        self._rooms.arrived(run, self._go_to, arrival)
        self._tools.transitions.redecide(run)

    def unreachable(self, run: DirectiveRun, why: str) -> None:
        """Fail the step: the navigator failed at too many goals of this activity."""
        message = f"Navigation failed {run.errand.failures} times in a row; the last: {why}."
        self._tools.steps.fail(run, ErrorCode.NAVIGATION_FAILED, message)

    def explored(self, run: DirectiveRun, admission: Admission, view: TargetView) -> None:
        """Handle the end of exploration: nothing reachable is left to explore. By default the step fails with
        NO_EXPERT.
        """
        message = "Nothing reachable is left to explore, and this step could not be done."
        self._tools.steps.fail(run, ErrorCode.NO_EXPERT, message)

    def send_or_wait(
        self, run: DirectiveRun, proposer: str, goal: np.ndarray, text: str, **more: Any
    ) -> None:
        """Send `goal` (3,). If the validator refuses it, retry for `no_expert_timeout`, because the map may change;
        then, or at once if the refusal is final, fail with the validator's reason.
        """
        if self._go_to.send(run, proposer, goal, text, **more):
            run.errand.idle_since = None
            return
        why, config, now = self._go_to.verdict.reason, self._tools.context.config, self._tools.context.now
        if self._go_to.is_final or run.errand.idle_for(now) > config.no_expert_timeout:
            self.unreachable(run, why)
        else:
            run.text = f"Waiting for a way: {why}."
            self.retry(run)

    def has_come(self, run: DirectiveRun, goal: np.ndarray, place: str) -> bool:
        """Return whether the robot is at the goal (3,). If it is not, retry; after too many attempts, give up
        the place.
        """
        if self._go_to.is_there(goal):
            return True
        if self._go_to.fell_short(place):
            self.unreachable(run, f"the navigator stopped {self._go_to.away(goal):.1f} m from {place}")
        else:
            self.retry(run)
        return False

    def retry(self, run: DirectiveRun) -> None:
        """Decide again after LOOP_RETRY_INTERVAL."""
        if self._tools.context.state is not State.IDLE:
            self._tools.transitions.redecide(run, LOOP_RETRY_INTERVAL)

"""Port of an activity, which does one errand: each kind of step has an object of its own behind it."""

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
from lodestar.agent.facts.errors import ErrorCode
from lodestar.agent.recovery.outcomes import Outcomes
from lodestar.language.directive import Step, StepKind
from lodestar.language.question import Question
from lodestar.language.time_windows import TimeBasis, TimePoint, TimeWindow
from lodestar.memory.answer import Answer, AnswerCode, AnswerOutcome, ProofKind
from lodestar.query.targets import TargetView
from lodestar.selection.admission import Admission
from lodestar.selection.decisions import Outcome


class MemoryLine:
    """Asks by a command, without waiting; whoever carries it out hands the outcome to `DecisionLoop.on_memory`."""

    def __init__(self, context: LoopContext) -> None:
        self._context = context

    def ask(self, run: DirectiveRun, question: Question, since: float = 0.0) -> None:
        """Ask; a query before it is withdrawn. since: s, how far back it looks where it says no time; 0 = any."""
        context = self._context
        self.close(run)
        if since > 0.0 and not question.window:
            begin = context.facts.stamp.seconds - since
            if begin > 0.0:
                question = replace(question, window=TimeWindow(TimePoint(TimeBasis.STAMP, begin)))
        run.errand.query = OpenQuery(context.next_epoch(), context.now)
        context.commands.append(AskMemory(run.errand.query.ticket, question))

    def outcome(self, run: DirectiveRun) -> AnswerOutcome | None:
        """Return what came of the query, once; None while its answer is waited for. A late one is an outcome too."""
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
        """Withdraw the query that is open, if there is one."""
        if run.errand.query is not None and run.errand.query.outcome is None:
            self._context.commands.append(WithdrawQuery(run.errand.query.ticket))
        run.errand.query = None

    def is_fresh(self, answer: Answer, age: float) -> bool:
        """Return whether the answer was so `age` seconds (stamps) ago or later, so that it saves the robot the way; of
        what was not seen, whether enough of the floor was looked at then.
        """
        if not answer.is_known or answer.last_verified is None:
            return False
        old = self._context.facts.stamp.seconds - answer.last_verified > age
        return not old and (answer.coverage is None or answer.coverage >= self._context.config.covered)


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

    def __init__(self, context: LoopContext, transitions: Transitions) -> None:
        self._context, self._transitions = context, transitions

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
        if run.itinerary.is_last:
            self._end(run, text)
            return
        found = run.step.kind is StepKind.FIND
        self._context.account.close(Outcome.REACHED, view, success=found, ended=True)
        self._go_on(run, text, success=True)

    def fail(
        self, run: DirectiveRun, code: ErrorCode, message: str, question: OpenQuestion | None = None
    ) -> None:
        """The errand has failed, and the directive with it. A patrol goes on to its next stop, unless it came to none
        of this round; where the last step is to come back, the robot still does. A CHECK hears of its errand's failure.

        question: that the robot asks back where the directive ends with this failure.
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
        """The question of the step is answered. answer: None = by the words alone."""
        if answer is not None:
            run.answers = [*run.answers, answer][-MAX_SENTENCES:]
            run.note_found(proof.id for proof in answer.proof if proof.kind is ProofKind.ENTITY)
        self.succeed(run, text)

    def leave_unanswered(self, run: DirectiveRun, why: str) -> None:
        """The question of the step has no answer; the directive goes on, and ends with the code for that."""
        run.tell(why)
        run.unanswered = [*run.unanswered, why][-MAX_SENTENCES:]
        if run.itinerary.is_last:
            self._end(run, why)
            return
        self._context.account.close(Outcome.ABORTED, ended=True)
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
        self._context.account.close(
            Outcome.REACHED if found else Outcome.ABORTED, view, success=found, ended=True
        )
        run.itinerary.resume(self._context.place_names)
        self._transitions.next_errand(run, text, success=code is ErrorCode.NONE)
        run.text = text.splitlines()[0]

    def _is_stop_missed(
        self, run: DirectiveRun, code: ErrorCode, message: str, question: OpenQuestion | None
    ) -> bool:
        """Whether this was one stop of a patrol, which goes on."""
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
        """End the directive as done, but for stops that were missed, questions without an answer, and what the robot
        cannot do.
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
    """The one thing that states and activities are given: the context of the loop, and what acts on it."""

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
        """The ends of actions."""
        return self.transitions.outcomes


class Activity:
    """One errand under way, from its begin to its end. By itself it has the experts say where to go."""

    explores = False  # until what the step names is known, the whole place is explored

    def __init__(self, tools: Tools, rooms: RoomSearch | None = None) -> None:
        self._tools = tools
        self._go_to = GoTo(tools.context, tools.transitions)
        self._rooms = rooms or RoomSearch(tools.context)

    def asked(self, run: DirectiveRun) -> Step:
        """The step as the experts hear of it: all of them where it is FIND, else the explorer alone."""
        return EXPLORE if self.explores else run.step

    def act(self, run: DirectiveRun) -> bool:
        """Do what needs no expert: send a goal, wait, or end the errand. False = the experts are to be asked."""
        return False

    def settled(self, run: DirectiveRun, admission: Admission, view: TargetView) -> bool:
        """End the errand though the experts propose goals, where no look from them is worth it; whether it did."""
        return False

    def news(self, run: DirectiveRun) -> str:
        """Return why a goal under way is to be decided on anew, "" where it is not."""
        return ""

    def conclusion(self, run: DirectiveRun) -> tuple[ErrorCode, str] | None:
        """Return code and message where the errand has an answer though the directive's time is over; None = none."""
        return None

    def waited(self, run: DirectiveRun) -> None:
        """The robot stands and waits, by this activity's doing: end the errand, or decide anew, when it is time."""

    def arrived(self, run: DirectiveRun, arrival: Arrival) -> None:
        """The robot stands at a goal that this activity sent, by itself into a room: decide anew."""
        self._rooms.arrived(run, self._go_to, arrival)
        self._tools.transitions.redecide(run)

    def unreachable(self, run: DirectiveRun, why: str) -> None:
        """The navigator failed at too many of this activity's goals."""
        message = f"Navigation failed {run.errand.failures} times in a row; the last: {why}."
        self._tools.steps.fail(run, ErrorCode.NAVIGATION_FAILED, message)

    def explored(self, run: DirectiveRun, admission: Admission, view: TargetView) -> None:
        """The explorer says that nothing reachable is left to explore; what needs no exploring fails by that."""
        message = "Nothing reachable is left to explore, and this step could not be done."
        self._tools.steps.fail(run, ErrorCode.NO_EXPERT, message)

    def send_or_wait(
        self, run: DirectiveRun, proposer: str, goal: np.ndarray, text: str, **more: Any
    ) -> None:
        """The robot goes to `goal` (3,). One that is refused is asked for anew for a while, since the map may change.
        Then, or at once where that does not help, the errand ends with the validator's words.
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
        """Return whether the robot stands at the goal (3,); else it is sent again, until the place is given up."""
        if self._go_to.is_there(goal):
            return True
        if self._go_to.fell_short(place):
            self.unreachable(run, f"the navigator stopped {self._go_to.away(goal):.1f} m from {place}")
        else:
            self.retry(run)
        return False

    def retry(self, run: DirectiveRun) -> None:
        """Come back to this activity after a while."""
        if self._tools.context.state is not State.IDLE:
            self._tools.transitions.redecide(run, self._tools.context.config.retry_interval)

"""Client of `memory/answer`: the loop's questions, asked without waiting and withdrawn when nobody waits any more."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from rclpy.action import ActionClient
from rclpy.node import Node

from lodestar.agent.errands.commands import AskMemory
from lodestar.language.question import Question, QuestionKind
from lodestar.language.question_sentences import question_sentence
from lodestar.language.time_windows import ANY_TIME, TimeBasis, TimePoint
from lodestar.memory.answer import AnswerCode, AnswerOutcome
from lodestar_interfaces.action import AnswerQuestion
from lodestar_ros.conversions import BadMessage, stamp_to_msg
from lodestar_ros.conversions_memory import outcome_from_result
from lodestar_ros.sent_goal import SentGoal

ACCEPT_PATIENCE = 5.0  # s of real time in which a live server accepts a goal
_DOWN = "the memory node is not up; start it, or ask again when it is"


class MemoryClient:
    """Asks one question at a time; `on_outcome` is called on the executor with its ticket and what came of it.

    A node that is not up, that does not accept or that goes away is an outcome too. A newer question cancels the one
    before it, so that the memory does not work for nobody.
    """

    def __init__(self, node: Node, on_outcome: Callable[[int, AnswerOutcome], None]) -> None:
        self._on_outcome = on_outcome
        self._client = ActionClient(node, AnswerQuestion, "memory/answer")
        self._ticket = 0  # of the question that is open; 0 = none
        self._sent: SentGoal | None = None
        self._asked_at = 0.0

    def ask(self, command: AskMemory) -> None:
        """Send a question."""
        self.withdraw(self._ticket)
        self._ticket, self._asked_at = command.ticket, time.monotonic()
        if not self._client.server_is_ready():
            self._end(command.ticket, AnswerOutcome(AnswerCode.UNKNOWN, why=_DOWN))
            return
        ticket = command.ticket
        goal = goal_of(command.question)
        self._sent = SentGoal(self._client, AnswerQuestion, goal, lambda feedback: None)
        self._sent.answer.add_done_callback(lambda done: self._on_accepted(ticket, done))

    def withdraw(self, ticket: int) -> None:
        """Cancel a question, if it is the one that is open."""
        if ticket and ticket == self._ticket:
            self._ticket, sent, self._sent = 0, self._sent, None
            if sent is not None:
                sent.cancel()

    def check(self) -> None:
        """Tell of a node that does not accept or has gone; call this a few times a second."""
        if not self._ticket or self._sent is None:
            return
        if not self._client.server_is_ready():
            self._end(self._ticket, AnswerOutcome(AnswerCode.UNKNOWN, why="the memory node went away"))
        elif not self._sent.answer.done() and time.monotonic() - self._asked_at > ACCEPT_PATIENCE:
            self._sent.cancel()
            self._end(
                self._ticket, AnswerOutcome(AnswerCode.UNKNOWN, why="the memory node takes no questions")
            )

    def _on_accepted(self, ticket: int, future: Any) -> None:
        if ticket != self._ticket:
            return
        handle = future.result() if future.exception() is None else None
        if handle is None or not handle.accepted:
            why = "the memory node refused the question; too many wait there: ask again later"
            self._end(ticket, AnswerOutcome(AnswerCode.UNKNOWN, why=why))
            return
        handle.get_result_async().add_done_callback(lambda done: self._on_result(ticket, done))

    def _on_result(self, ticket: int, future: Any) -> None:
        if ticket != self._ticket:
            return
        if future.exception() is not None:
            self._end(ticket, AnswerOutcome(AnswerCode.UNKNOWN, why=str(future.exception())))
            return
        try:
            outcome = outcome_from_result(future.result().result)
        except BadMessage as error:
            outcome = AnswerOutcome(AnswerCode.UNKNOWN, why=f"the memory's answer cannot be read: {error}")
        self._end(ticket, outcome)

    def _end(self, ticket: int, outcome: AnswerOutcome) -> None:
        self._ticket, self._sent = 0, None
        self._on_outcome(ticket, outcome)


def goal_of(question: Question) -> AnswerQuestion.Goal:
    """Return the goal of a typed question: in words that read as the same record, with its times as stamps."""
    window = question.window
    begin, end = _stamp(window.begin), _stamp(window.end)
    if begin or end:
        question = replace(question, window=ANY_TIME)
    own = question.is_partial or question.kind is QuestionKind.OTHER
    return AnswerQuestion.Goal(
        question=question.text if own and question.text else question_sentence(question),
        from_stamp=stamp_to_msg(begin),
        to_stamp=stamp_to_msg(end),
    )


def _stamp(point: TimePoint | None) -> float:
    """Return the seconds of a point that is a stamp, else 0."""
    return point.seconds if point is not None and point.basis is TimeBasis.STAMP else 0.0

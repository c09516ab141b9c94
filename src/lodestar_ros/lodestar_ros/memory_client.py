"""Client of `memory/answer`: sends the decision loop's questions without blocking, and cancels obsolete
ones.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from rclpy.node import Node

from lodestar.language.question import Question, QuestionKind
from lodestar.language.question_sentences import question_sentence
from lodestar.language.time_windows import ANY_TIME, TimeBasis, TimePoint
from lodestar.memory.answer import AnswerCode, AnswerOutcome
from lodestar_interfaces.action import AnswerQuestion
from lodestar_ros.conversions import BadMessage, stamp_to_msg
from lodestar_ros.conversions_memory import outcome_from_result
from lodestar_ros.ticket_client import TicketClient

_SERVER = "the memory node"


def memory_client(
    node: Node, on_outcome: Callable[[int, AnswerOutcome], None]
) -> TicketClient[AnswerOutcome]:
    """Return the client that asks the memory; `on_outcome` is called with the ticket and outcome of each question."""
    return TicketClient(node, AnswerQuestion, "memory/answer", _SERVER, _outcome_of, _unknown, on_outcome)


def _outcome_of(result: AnswerQuestion.Result) -> AnswerOutcome:
    try:
        return outcome_from_result(result)
    except BadMessage as error:
        return _unknown(f"the memory's answer cannot be read: {error}")


def _unknown(why: str) -> AnswerOutcome:
    return AnswerOutcome(AnswerCode.UNKNOWN, why=why)


def goal_of(question: Question) -> AnswerQuestion.Goal:
    """Return the goal of a typed question: as text that parses to the same record, with its times as stamps."""
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
    """Return the seconds of a time point that is a stamp, else 0."""
    return point.seconds if point is not None and point.basis is TimeBasis.STAMP else 0.0

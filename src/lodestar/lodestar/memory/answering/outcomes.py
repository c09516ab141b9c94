"""Outcome of a question to the memory: the answer, or an error code with advice."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from lodestar.language.question import Question
from lodestar.memory.answer import Answer, AnswerCode, AnswerOutcome
from lodestar.memory.answering.answerer import MemoryState
from lodestar.memory.answering.tools import AnswerCancelled, Shown, Tools
from lodestar.memory.errors import NoQueryVectors, StoreError
from lodestar.models.phrases import MissingPhrases

_AGAIN = "ask again when the text embedder is up"


class Answers(Protocol):
    """Interface of an answerer: `Answerer`, or `ModelAnswerer` around it."""

    @property
    def tools(self) -> Tools:
        """Return the data sources of the answers."""

    def answer(
        self, question: Question, now: float, pose: np.ndarray | None = None, shown: Shown | None = None
    ) -> Answer:
        """Return the answer; see `Answerer.answer`."""


def outcome_of(
    answerer: Answers,
    state: MemoryState,
    question: Question,
    now: float,
    pose: np.ndarray | None = None,
    shown: Shown | None = None,
) -> AnswerOutcome:
    """Return the outcome of a question: the answer, or an error code.

    state: of the memory store. Other parameters as in `Answerer.answer`.
    """
    if state is not MemoryState.READY and not answerer.tools.scene.entities:
        return _empty(state)
    try:
        answer = answerer.answer(question, now, pose, shown)
    except AnswerCancelled:
        return cancelled()
    except (MissingPhrases, NoQueryVectors) as error:
        return AnswerOutcome(AnswerCode.MODEL_ERROR, why=f"{error}; {_AGAIN}")
    except StoreError as error:
        return AnswerOutcome(AnswerCode.STORE_UNAVAILABLE, why=str(error))
    if answer.is_known:
        return AnswerOutcome(AnswerCode.NONE, answer, stamp=now)
    wrong = state is MemoryState.OTHER_MAP
    code = AnswerCode.WRONG_MAP if wrong else AnswerCode.NO_EVIDENCE
    return AnswerOutcome(code, answer, answer.sentence, now)


def cancelled() -> AnswerOutcome:
    """Return the outcome of a cancelled question."""
    return AnswerOutcome(AnswerCode.CANCELLED, why="cancelled")


def _empty(state: MemoryState) -> AnswerOutcome:
    if state is MemoryState.OTHER_MAP:
        why = "what I remember was on another map: load that map, or let the robot look around on this one"
        return AnswerOutcome(AnswerCode.WRONG_MAP, why=why)
    return AnswerOutcome(AnswerCode.NO_MEMORY, why="I remember nothing yet: let the robot look around first")

"""Questions that ended a directive, until somebody answers them or they expire."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass

from lodestar.agent.facts.config import LoopConfig
from lodestar.agent.facts.errors import QuestionUnknown
from lodestar.language.directive import Directive


@dataclass(frozen=True)
class Choice:
    """One answer. directive: what is then done. excluded: entities that its first step then does not mean.

    entity_id: the entity that it chooses, 0 = it chooses a reading of the words. place: of the entity when it was
    asked about, x, y, z in map, metres; empty = none.
    """

    words: str
    directive: Directive
    excluded: frozenset[int] = frozenset()
    entity_id: int = 0
    place: tuple[float, ...] = ()


@dataclass(frozen=True)
class OpenQuestion:
    """A question to whoever gave the directive; `choices` are counted from 1. asked_at: loop time, seconds."""

    id: str
    text: str
    choices: tuple[Choice, ...]
    asked_at: float


class OpenQuestions:
    """The newest questions; the oldest gives way to a new one.

    prefix: of their ids, such that an id of an earlier process means nothing to this one.
    """

    def __init__(self, config: LoopConfig, prefix: str = "q") -> None:
        self._config, self._prefix = config, prefix
        self._open: OrderedDict[str, OpenQuestion] = OrderedDict()
        self._asked = 0
        self._newest = (
            ""  # id of the question of the last directive, "" = it asked none, or another has begun
        )

    def ask(self, text: str, choices: tuple[Choice, ...], now: float) -> OpenQuestion:
        """The question, which is open from now on."""
        self._asked += 1
        question = OpenQuestion(f"{self._prefix}-{self._asked}", text, choices, now)
        self._open[question.id] = question
        self._newest = question.id
        while len(self._open) > self._config.open_questions:
            self._open.popitem(last=False)
        return question

    def answered(self, identity: str, choice: int, now: float) -> Choice:
        """The choice, counted from 1; its question stays open until `close`. Raises QuestionUnknown."""
        question = self._open.get(identity)
        if question is None:
            raise QuestionUnknown(f'no question "{identity[:40]}" is open; say anew what to do')
        age = now - question.asked_at
        if age > self._config.question_patience:
            del self._open[identity]
            raise QuestionUnknown(
                f"the question was asked {age:.0f} s ago, and what it was about may have changed; say anew what to do"
            )
        if not 1 <= choice <= len(question.choices):
            raise QuestionUnknown(f"{choice} is none of the choices 1 to {len(question.choices)}")
        return question.choices[choice - 1]

    def newest(self, now: float) -> OpenQuestion | None:
        """Return the question that the last directive ended with; None where it is answered or has expired, or where
        another directive has begun since.
        """
        question = self._open.get(self._newest)
        expired = question is not None and now - question.asked_at > self._config.question_patience
        return None if expired else question

    def set_aside(self) -> None:
        """A directive begins: a question of before stays open by its id alone."""
        self._newest = ""

    def close(self, identity: str) -> None:
        """The question is answered."""
        self._open.pop(identity, None)

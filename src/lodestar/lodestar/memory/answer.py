"""Answers of the memory: a sentence, the value behind it, and the proof."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from lodestar.language.question import AnswerType, Question


class ProofKind(IntEnum):
    """Kinds of evidence. The numbers are those of Evidence.msg."""

    CAPTION = 0
    KEYFRAME = 1
    ENTITY = 2
    REGION = 3


class AnswerCode(IntEnum):
    """Error codes of AnswerQuestion; NONE = it answers the question."""

    NONE = 0
    EMPTY_QUESTION = 11220
    NO_MEMORY = 11221
    NO_EVIDENCE = 11222
    STORE_UNAVAILABLE = 11223
    MODEL_ERROR = 11224
    CANCELLED = 11225
    NOT_UNDERSTOOD = 11226
    WRONG_MAP = 11227
    UNKNOWN = 11239


@dataclass(frozen=True)
class Proof:
    """One remembered thing that an answer rests on. text: untrusted. score: relevance, [0, 1].

    stamp: seconds in the clock of the stamps. position: (3,) in `map`, metres. session: that of a keyframe's record,
    because each run numbers its keyframes anew; "" = not known, or no keyframe.
    """

    kind: ProofKind
    id: int
    stamp: float
    position: np.ndarray
    text: str = ""
    score: float = 1.0
    session: str = ""


@dataclass(frozen=True)
class AnswerPlace:
    """A place that an answer points to.

    centre: (3,) of the thing's box in `map`, metres; it is what is scored. viewpoint: (x, y, yaw) in `map`, metres and
    radians, where Nav2 can stand to see it; None where there is none.
    """

    centre: np.ndarray
    viewpoint: tuple[float, float, float] | None = None

    def __post_init__(self) -> None:
        if np.shape(self.centre) != (3,) or not np.all(np.isfinite(self.centre)):
            raise ValueError("a place needs three finite coordinates")


@dataclass(frozen=True)
class AnswerValue:
    """The value of an answer: what `type` names is set, the rest may be.

    places: best first. times: begin and end of each, seconds in the clock of the stamps, best first. number: a count,
    seconds of a duration, or metres of a distance. yes: of YES_NO; None = it is not known.
    names: of things, rooms or attributes that a text names.
    """

    type: AnswerType
    places: tuple[AnswerPlace, ...] = ()
    times: tuple[tuple[float, float], ...] = ()
    number: float | None = None
    yes: bool | None = None
    names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if any(not (math.isfinite(a) and math.isfinite(b) and a <= b) for a, b in self.times):
            raise ValueError("times need a finite begin, and an end that is not before it")
        if self.number is not None and not math.isfinite(self.number):
            raise ValueError("a number that is not finite answers nothing; leave it out")

    @property
    def is_known(self) -> bool:
        """Whether there is a value of its type; a text's is the sentence."""
        match self.type:
            case AnswerType.PLACE:
                return bool(self.places)
            case AnswerType.TIME:
                return bool(self.times)
            case AnswerType.DURATION | AnswerType.NUMBER:
                return self.number is not None
            case AnswerType.YES_NO:
                return self.yes is not None
        return True


@dataclass(frozen=True)
class Answer:
    """Answer of the memory to a question.

    confidence: [0, 1]; 0 = it does not know. last_verified: when what it says was last seen to be so, seconds in the
    clock of the stamps; None = never. coverage: share [0, 1] of the floor of the question's scope that was looked at
    in its window, None = not known; "not seen" never comes without it. directive: what would find out, "" = nothing.
    """

    question: Question
    sentence: str
    value: AnswerValue
    confidence: float
    proof: tuple[Proof, ...] = ()
    last_verified: float | None = None
    coverage: float | None = None
    directive: str = ""

    def __post_init__(self) -> None:
        if not self.sentence.strip():
            raise ValueError("an answer needs a sentence")
        for name, share in (("confidence", self.confidence), ("coverage", self.coverage)):
            if share is not None and not 0.0 <= share <= 1.0:
                raise ValueError(f"the {name} of an answer is from 0 to 1, not {share}")
        denies = self.value.type is AnswerType.YES_NO and self.value.yes is False
        if denies and not self.proof and self.coverage is None:
            raise ValueError("a denial needs proof, or the share of the floor that was looked at")

    @property
    def is_known(self) -> bool:
        """Whether it answers the question, rather than to say that it does not know."""
        return self.confidence > 0.0 and self.value.is_known


@dataclass(frozen=True)
class AnswerOutcome:
    """Outcome of a question. answer: also where it does not know (NO_EVIDENCE, WRONG_MAP). why: what to do.

    stamp: the time that the answer counts from, seconds in the clock of the stamps.
    """

    code: AnswerCode
    answer: Answer | None = None
    why: str = ""
    stamp: float = 0.0

    @property
    def is_known(self) -> bool:
        """Whether the question was answered."""
        return self.code is AnswerCode.NONE and self.answer is not None

    @property
    def sentence(self) -> str:
        """Return the answer, or why there is none."""
        return self.why if self.answer is None else self.answer.sentence

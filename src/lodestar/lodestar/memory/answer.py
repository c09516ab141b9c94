"""Records of an answer from the robot's memory: a sentence, a typed value and the proof."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from lodestar.language.question import AnswerType, Question


class ProofKind(IntEnum):
    """Kinds of evidence, with the numbers of Evidence.msg."""

    CAPTION = 0
    KEYFRAME = 1
    ENTITY = 2
    REGION = 3


class AnswerCode(IntEnum):
    """Error codes of AnswerQuestion; NONE = the question was answered."""

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
    """One piece of evidence for an answer, such as a memory, an object or an image. text: untrusted.

    score: relevance, [0, 1]. stamp: of the observation, seconds. position: (3,) in `map`, metres. session:
    run that recorded the keyframe, because each run numbers its keyframes anew; "" = unknown, or no keyframe.
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
    """Place that an answer refers to.

    centre: (3,) of the object's box in `map`, metres; benchmarks score it. viewpoint: (x, y, yaw) in `map`, metres and
    radians, a pose that Nav2 can reach and that faces the place; None if there is none.
    """

    centre: np.ndarray
    viewpoint: tuple[float, float, float] | None = None

    def __post_init__(self) -> None:
        if np.shape(self.centre) != (3,) or not np.all(np.isfinite(self.centre)):
            raise ValueError("a place needs three finite coordinates")


@dataclass(frozen=True)
class AnswerValue:
    """Value of an answer. A known answer has the field that `type` requires; the other fields are optional.

    places: best first. times: (begin, end) of the occurrences, stamps in seconds, best first. number: a
    count, a duration in seconds, or a distance in metres. yes: for YES_NO; None = unknown. names: of objects,
    rooms or attributes in the sentence.
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
        """Return whether the field that `type` requires is set; TEXT requires only the sentence."""
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

    confidence: [0, 1]; 0 = unknown. last_verified: stamp of the newest observation that supports the answer,
    seconds; None = never. coverage: share [0, 1] of the floor in the question's scope that was looked at in
    its time window, None = unknown; every answer "not seen" states it. directive: a command to the robot that
    would find out more, "" = none.
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
        """Return whether the answer has a value of its type with a confidence above 0."""
        return self.confidence > 0.0 and self.value.is_known


@dataclass(frozen=True)
class AnswerOutcome:
    """Result of answering a question: the answer, or an error code with advice.

    answer: may also be set for NO_EVIDENCE and WRONG_MAP. why: explanation and advice for an error. stamp:
    the time to which the answer refers, seconds.
    """

    code: AnswerCode
    answer: Answer | None = None
    why: str = ""
    stamp: float = 0.0

    @property
    def is_known(self) -> bool:
        """Return whether the question was answered."""
        return self.code is AnswerCode.NONE and self.answer is not None

    @property
    def sentence(self) -> str:
        """Return the answer's sentence, or the explanation if there is no answer."""
        return self.why if self.answer is None else self.answer.sentence

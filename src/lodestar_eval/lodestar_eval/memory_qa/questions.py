"""Records of questions to a memory, their gold, and the port of whoever answers them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from lodestar.perception.frames import SegmentedFrame
from lodestar_eval.memory_qa.recording import Stream
from lodestar_eval.memory_qa.truth import Interval

KINDS = ("spatial", "yes_no", "descriptive", "temporal", "picture")
#: How many questions of each kind are asked of a world (issue 16; STaR V has 40/20/20/20 of three kinds).
VISUAL = "visual"  # questions that need a picture, asked where that is wanted
COUNTS = {"spatial": 40, "yes_no": 20, "descriptive": 20, "temporal": 10, "picture": 10}

PLACE, TIME, DURATION, NUMBER, YES_NO, WORDS = "place", "time", "duration", "number", "yes_no", "words"


@dataclass(frozen=True)
class Picture:
    """A picture that is sent with a question. rgb: (H, W, 3) uint8; segmented: what the robot's detector makes of
    it, with the errors of that detector. The thing that is meant is in the middle (`goal_of`).
    """

    rgb: np.ndarray
    segmented: SegmentedFrame


@dataclass(frozen=True)
class Asked:
    """A question as the robot gets it. asked_at: seconds, in the clock of the stamps."""

    id: str
    text: str
    asked_at: float
    picture: Picture | None = None


@dataclass(frozen=True)
class Gold:
    """The right answer. value: which field counts, one of the six names above.

    places: (3,) each, any is right. times: any is right; a time within one has no error. words: a set of things, or of
    attributes. seen: when the things meant were in view within 5 m; empty where there is nothing to be seen.
    """

    value: str
    places: tuple[np.ndarray, ...] = ()
    times: tuple[Interval, ...] = ()
    number: float = 0.0  # of things, or seconds of a duration
    yes: bool = False
    words: frozenset[str] = frozenset()
    seen: tuple[Interval, ...] = ()


@dataclass(frozen=True)
class Question:
    """A question with its gold. form: which of the questions of its kind. wording: development or reserved.

    look_alike: whether another thing has the caption of the thing that is meant.
    """

    asked: Asked
    kind: str
    form: str
    wording: str
    gold: Gold
    look_alike: bool = False


@dataclass(frozen=True)
class Evidence:
    """A memory that an answer rests on. start, end: seconds; position: (3,) that it is about, metres."""

    start: float
    end: float
    position: np.ndarray
    entity_ids: frozenset[int] = frozenset()


@dataclass(frozen=True)
class Answer:
    """Answer of a robot. value: the kind of its answer, one of the six names above; only its field is judged, and
    an answer of another kind than the question asks for is wrong.

    known: False for "I do not know". time: seconds in the clock of the stamps. number: also of a duration, seconds.
    words: names of things or attributes. confidence: 0 to 1. evidence: best first.
    """

    question_id: str
    value: str = ""
    known: bool = True
    place: np.ndarray | None = None
    time: float | None = None
    number: float | None = None
    yes: bool | None = None
    words: frozenset[str] = frozenset()
    confidence: float = 0.0
    evidence: tuple[Evidence, ...] = ()
    text: str = ""
    details: dict[str, Any] = field(default_factory=dict)  # for the CSV


class Answerer(Protocol):
    """Remembers a stream once and answers with the evidence that a rule chooses."""

    def remember(self, stream: Stream) -> Any:
        """Return the memory of a tour, made of its stream alone."""
        ...

    def answer_all(self, memory: Any, questions: Sequence[Asked], evidence_rule: str) -> list[Answer]:
        """Return an answer for each question, in their order. evidence_rule: name of a row."""
        ...

"""Records of questions to a memory, their gold answers, and the interface of answerers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from lodestar.perception.frames import SegmentedFrame
from lodestar_eval.memory_qa.recording import Stream
from lodestar_eval.memory_qa.truth import Interval

KINDS = ("spatial", "yes_no", "descriptive", "temporal", "picture")
#: COUNTS: number of questions of each kind per world (issue 16; STaR V has 40/20/20/20 of three kinds).
VISUAL = "visual"  # kind of the questions that need a picture, asked on request only
COUNTS = {"spatial": 40, "yes_no": 20, "descriptive": 20, "temporal": 10, "picture": 10}

PLACE, TIME, DURATION, NUMBER, YES_NO, WORDS = "place", "time", "duration", "number", "yes_no", "words"


@dataclass(frozen=True)
class Picture:
    """Picture sent with a question. rgb: (H, W, 3) uint8; segmented: the robot's detections in it, with the
    detector's errors. The object in question is in the centre (`goal_of`).
    """

    rgb: np.ndarray
    segmented: SegmentedFrame


@dataclass(frozen=True)
class Asked:
    """Question as given to the robot. asked_at: seconds, in the clock of the stamps."""

    id: str
    text: str
    asked_at: float
    picture: Picture | None = None


@dataclass(frozen=True)
class Gold:
    """Gold answer. value: kind of answer, which names the field that counts: "place", "time", "duration",
    "number", "yes_no" or "words".

    places: (3,) each, any is right. times: intervals, any is right; a time within one has no error. words: set of
    objects or attributes. seen: intervals in which the objects were in view within 5 m; empty if there is nothing
    to see.
    """

    value: str
    places: tuple[np.ndarray, ...] = ()
    times: tuple[Interval, ...] = ()
    number: float = 0.0  # of objects, or seconds of a duration
    yes: bool = False
    words: frozenset[str] = frozenset()
    seen: tuple[Interval, ...] = ()


@dataclass(frozen=True)
class Question:
    """Question with its gold answer. form: its type within its kind. wording: development or reserved.

    look_alike: whether another object has the same caption as the object in question.
    """

    asked: Asked
    kind: str
    form: str
    wording: str
    gold: Gold
    look_alike: bool = False


@dataclass(frozen=True)
class Evidence:
    """Memory on which an answer is based. start, end: seconds; position: (3,) of its content, metres."""

    start: float
    end: float
    position: np.ndarray
    entity_ids: frozenset[int] = frozenset()


@dataclass(frozen=True)
class Answer:
    """Answer of a robot. value: kind of its answer, as in `Gold`; only the field of this kind is judged, and
    an answer of another kind than the question's is wrong.

    known: False for "I do not know". time: seconds in the clock of the stamps. number: count, or seconds of a
    duration. words: names of objects or attributes. confidence: 0 to 1. evidence: best first.
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
    seen: bool = False  # whether a model's look at a picture proves it


class Answerer(Protocol):
    """Interface of a compared method, which records a tour once and answers from selected evidence."""

    def remember(self, stream: Stream) -> Any:
        """Return the memory of a tour, made from its stream alone."""

    def answer_all(self, memory: Any, questions: Sequence[Asked], evidence_rule: str) -> list[Answer]:
        """Return an answer for each question, in order. evidence_rule: rule that selects the evidence."""

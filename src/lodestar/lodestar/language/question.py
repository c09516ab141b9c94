"""Questions as typed records. `Question.text` is kept for logs and for people; it is untrusted."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum

from lodestar.language.items import ANYWHERE, Item, Pose, Scope
from lodestar.language.query_graph import Predicate
from lodestar.language.time_windows import ANY_TIME, Act, TimeWindow

#: Confidence of a reading of every word; of a plain question that is near in meaning; and of the question words and a
#: noun phrase alone.
WHOLE, LIKELY, PARTIAL = 1.0, 0.8, 0.5


class QuestionKind(IntEnum):
    """Kinds of questions. The numbers are those of MemoryQuestion.msg."""

    WHERE = 0  # is, was or was seen
    WHEN = 1  # something was seen, or was done
    HOW_LONG = 2
    HOW_OFTEN = 3
    HOW_MANY = 4
    IS_THERE = 5  # such a thing, or is `asked` true of it
    WHICH = 6  # of the item's kind fits what is said of it
    WHAT_THERE = 7  # in, on or near something
    ATTRIBUTE = 8  # a property of the item
    WHAT_HAPPENED = 9
    WHAT_DONE = 10  # by the robot
    WHY = 11  # the robot did so
    WHERE_ARE_YOU = 12
    BEEN_HERE = 13  # at the item, or at this place
    HOW_FAR = 14  # from the item to the other; without an item, how far the robot went
    OTHER = 15  # nothing that a memory of places and things answers: knowledge, opinion, the future


class AnswerType(IntEnum):
    """Kinds of answers. The numbers are those of MemoryQuestion.msg."""

    PLACE = 0
    TIME = 1
    DURATION = 2  # s
    NUMBER = 3
    YES_NO = 4
    TEXT = 5


class Occurrence(IntEnum):
    """Choice of a time. The numbers are those of MemoryQuestion.msg."""

    ANY = 0
    FIRST = 1
    LAST = 2
    EACH = 3  # every one of them


@dataclass(frozen=True)
class Question:
    """One question.

    item: the thing, room or place that it is about; without alternatives where a picture, or what is in view, stands
    for it. asked: predicates of the item's first variable of which one or all may be true. other: a second thing, of
    HOW_FAR. scope: where. window: when. pose: a place as numbers. act: what was done; None = seen, or just there.
    attribute: of ATTRIBUTE, in the speaker's words; of WHICH and WHERE "most often" or "least often", if of several the
    one seen or visited so often is meant. past: whether it asks how things were. here: at the place where the robot is.
    image: whether a picture, or what is in view, is needed. confidence: WHOLE, LIKELY or PARTIAL.
    """

    kind: QuestionKind
    answer: AnswerType
    item: Item | None = None
    asked: tuple[Predicate, ...] = ()
    other: Item | None = None
    scope: Scope = ANYWHERE
    window: TimeWindow = ANY_TIME
    occurrence: Occurrence = Occurrence.ANY
    act: Act | None = None
    attribute: str = ""
    pose: Pose | None = None
    past: bool = False
    here: bool = False
    image: bool = False
    confidence: float = WHOLE
    text: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        if not 0.0 <= self.confidence <= 1.0:
            raise ValueError("a confidence is from 0 to 1")
        if self.asked and (self.item is None or not self.item.alternatives):
            raise ValueError("what is asked of a thing needs the thing")

    @property
    def is_partial(self) -> bool:
        """Whether only its first words and a noun were read."""
        return self.confidence < LIKELY

    @property
    def is_likely(self) -> bool:
        """Whether it is a plain question that is near in meaning to what was said, and not the words themselves."""
        return LIKELY <= self.confidence < WHOLE

    @property
    def phrases(self) -> tuple[str, ...]:
        """Every phrase that it speaks of, in order: their vectors are needed to answer it."""
        events = (event.item for event in self.window.events)
        items = [item for item in (self.item, self.other, *events) if item is not None]
        graphs = [graph for item in items for graph in (*item.graphs, *item.excluded)]
        return tuple(sorted({variable.phrase for graph in graphs for variable in graph.variables}))

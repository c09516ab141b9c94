"""Questions as typed records. `Question.text` is kept for logs and for people; it is untrusted."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum

from lodestar.language.items import ANYWHERE, Item, Pose, Scope
from lodestar.language.query_graph import Predicate
from lodestar.language.time_windows import ANY_TIME, Act, TimeWindow

#: Confidence of a complete reading, of a template question of similar meaning, and of a reading of only the
#: question words and a noun phrase.
WHOLE, LIKELY, PARTIAL = 1.0, 0.8, 0.5


class QuestionKind(IntEnum):
    """Kinds of questions. The numbers are those of MemoryQuestion.msg."""

    WHERE = 0  # where the item is, was or was seen
    WHEN = 1  # when the item was seen or the act was done
    HOW_LONG = 2
    HOW_OFTEN = 3
    HOW_MANY = 4
    IS_THERE = 5  # whether there is such an object, or `asked` is true of it
    WHICH = 6  # which objects of the item's kind fit the description
    WHAT_THERE = 7  # which objects are in, on or near a place
    ATTRIBUTE = 8  # a property of the item
    WHAT_HAPPENED = 9
    WHAT_DONE = 10  # the robot's actions
    WHY = 11  # why the robot did it
    WHERE_ARE_YOU = 12
    BEEN_HERE = 13  # whether the robot has been at the item, or at this place
    HOW_FAR = 14  # distance from the item to the other; without an item, the robot's travelled distance
    OTHER = 15  # cannot be answered from a memory of places and objects: knowledge, opinion, the future


class AnswerType(IntEnum):
    """Kinds of answers. The numbers are those of MemoryQuestion.msg."""

    PLACE = 0
    TIME = 1
    DURATION = 2  # seconds
    NUMBER = 3
    YES_NO = 4
    TEXT = 5


class Occurrence(IntEnum):
    """Occurrence of an event that a question asks for. The numbers are those of MemoryQuestion.msg."""

    ANY = 0
    FIRST = 1
    LAST = 2
    EACH = 3  # all occurrences


@dataclass(frozen=True)
class Question:
    """A question to the memory.

    item: the object, room or place asked about; without alternatives if a picture or the current view shows
    it. asked: predicates about the item's first variable whose truth is asked for. other: HOW_FAR only, the
    second object. scope: area that the question is limited to. window: time that it is limited to. pose: a
    position given as numbers. act: the event asked about; None = the item was seen, or is present. attribute:
    in ATTRIBUTE, the property asked for, in the speaker's words; in WHICH and WHERE, "most often" or "least
    often" selects one of several by how often it was seen or visited. past: the question is about the past.
    here: it is about the robot's current place. image: a picture or the current view is needed. confidence:
    WHOLE, LIKELY or PARTIAL.
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
        """Return whether only the first words and one noun of the text were read."""
        return self.confidence < LIKELY

    @property
    def is_likely(self) -> bool:
        """Return whether the question is a template of similar meaning and not the text's own reading."""
        return LIKELY <= self.confidence < WHOLE

    @property
    def phrases(self) -> tuple[str, ...]:
        """Return every phrase of the question, sorted; their text embeddings are needed to answer it."""
        events = (event.item for event in self.window.events)
        items = [item for item in (self.item, self.other, *events) if item is not None]
        graphs = [graph for item in items for graph in (*item.graphs, *item.excluded)]
        return tuple(sorted({variable.phrase for graph in graphs for variable in graph.variables}))

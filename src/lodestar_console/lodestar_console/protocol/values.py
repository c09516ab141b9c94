"""Values of the replies to requests."""

from __future__ import annotations

from typing import Literal

from lodestar_console.protocol.items import Decision, Event, MemoryItem
from lodestar_console.protocol.records import Record


class Place(Record, frozen=True):
    """A place that an answer refers to, in map, metres."""

    x: float
    y: float
    z: float
    text: str = ""


class Proof(Record, frozen=True):
    """Evidence of an answer; its text is untrusted. session: id of the keyframe's session, part of its URL.

    x, y: place in map, metres.
    """

    kind: Literal["memory", "keyframe", "entity", "room"]
    id: str
    text: str
    at: float
    keyframe: int = 0
    session: str = ""
    score: float = 0.0
    x: float | None = None
    y: float | None = None


class AnswerValue(Record, frozen=True):
    """Answer to a question: value of the reply to `ask`.

    directive: text of a directive with which the robot would find the answer, "" = none.
    """

    text: str
    confidence: float
    places: list[Place]
    proofs: list[Proof]
    entities: list[int]
    coverage: float | None
    directive: str
    last_verified: float


class MeaningValue(Record, frozen=True):
    """Meaning of a directive: value of the reply to a dry run. problem: reason why it cannot start.

    stops: whether the text orders an immediate stop. rest: text after this order, interpreted separately,
    "" = none.
    """

    understood: str
    steps: list[str]
    problem: str = ""
    stops: bool = False
    rest: str = ""


class PointedValue(Record, frozen=True):
    """Meaning of a click on the map: value of the reply to `point_out`.

    It names the object there, the question that the click answers, or the correction that it makes.
    """

    entity: int
    question: str
    choice: int
    correction: str


class FoundValue(Record, frozen=True):
    """Matching memories: reply value of `memory_search` and `memory_forget`. count: number of all matches."""

    memories: list[MemoryItem]
    count: int = 0


class DetailsValue(Record, frozen=True):
    """Description of an object, decision or room: value of the reply to `details`."""

    title: str
    lines: list[str]
    keyframes: list[int]


class AtValue(Record, frozen=True):
    """State at a past time: value of the reply to `at`."""

    at: float
    decision: Decision | None
    events: list[Event]
    pose: tuple[float, float, float] | None
    keyframe: int
    grid_revision: int = 0

"""Values of the replies to requests."""

from __future__ import annotations

from typing import Literal

from lodestar_console.protocol.items import Decision, Event, MemoryItem
from lodestar_console.protocol.records import Record


class Place(Record, frozen=True):
    """A place that an answer points to, in map."""

    x: float
    y: float
    z: float
    text: str = ""


class Proof(Record, frozen=True):
    """Proof that an answer rests on. text is untrusted. session: of a keyframe, for its address.

    x, y: where, in map.
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
    """Answer to a question: value of the reply to `ask`. directive: what would find out, "" = nothing would."""

    text: str
    confidence: float
    places: list[Place]
    proofs: list[Proof]
    entities: list[int]
    coverage: float | None
    directive: str
    last_verified: float


class MeaningValue(Record, frozen=True):
    """Meaning of a directive: value of the reply to a dry run. problem: why it could not be begun."""

    understood: str
    steps: list[str]
    constraints: list[str]
    problem: str = ""


class PointedValue(Record, frozen=True):
    """Thing that was pointed at: value of the reply to `point_out`."""

    entity: int
    question: str
    choice: int
    correction: str


class FoundValue(Record, frozen=True):
    """Memories that fit: value of the reply to `memory_search`. count: of what `memory_forget` would forget."""

    memories: list[MemoryItem]
    count: int = 0


class DetailsValue(Record, frozen=True):
    """Sentences on a thing, a decision or a room: value of the reply to `details`."""

    title: str
    lines: list[str]
    keyframes: list[int]


class AtValue(Record, frozen=True):
    """Knowledge at a time: value of the reply to `at`."""

    at: float
    decision: Decision | None
    events: list[Event]
    pose: tuple[float, float, float] | None
    keyframe: int
    grid_revision: int = 0

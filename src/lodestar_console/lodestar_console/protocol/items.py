"""Items of the growing parts of the page, which are tables sent as deltas."""

from __future__ import annotations

from typing import Literal

from lodestar_console.protocol.records import Point3, Record


class Entity(Record, frozen=True):
    """An object of the scene. box: lowest and highest corner; confidence: of presence, [0, 1]; stated: by people."""

    id: int
    label: str
    caption: str
    attributes: list[str]
    mean: Point3
    box: tuple[Point3, Point3]
    confidence: float
    state: Literal["active", "uncertain", "archived"]
    room: int
    first_seen: float
    last_seen: float
    keyframes: list[int] = []
    stated: list[str] = []
    relations: list[str] = []
    moves: bool = False


class Arm(Record, frozen=True):
    """One expert, an arm of the bandit, at a decision. value: expected reward; bound: upper confidence bound.

    reason: the rationale of its proposal, or the reason why it is inadmissible.
    """

    name: str
    admissible: bool
    value: float | None
    bound: float | None
    reason: str
    propensity: float | None = None
    goal: tuple[float, float, float] | None = None


class Check(Record, frozen=True):
    """One statement of a reasoning trace, in words: a belief, an expectation, a fallback or evidence."""

    kind: Literal["believed", "expected", "otherwise", "evidence"]
    text: str


class DecisionTrace(Record, frozen=True):
    """The reasoning behind an action, in words."""

    text: str
    checks: list[Check]


class Failure(Record, frozen=True):
    """A failure: the deviation from the expectation, its diagnosed cause, and the recovery."""

    text: str
    diagnosis: str = ""
    recovery: str = ""


class Decision(Record, frozen=True):
    """One decision. why: explanation of `lodestar_ros.why`, by lines; outcome: "pending" until known."""

    id: str
    epoch: int
    at: float
    directive: str
    chosen: str
    explanation: str
    arms: list[Arm]
    reward: float | None
    outcome: str
    entities: list[int] = []
    keyframes: list[int] = []
    trace: DecisionTrace | None = None
    failure: Failure | None = None
    why: list[str] = []


class BeliefChange(Record, frozen=True):
    """One entry of the belief journal: new belief, author, and whether the entry was undone."""

    id: str
    entry: int
    at: float
    text: str
    by: str
    entities: list[int] = []
    undone: bool = False


class Event(Record, frozen=True):
    """An event of the timeline. pose: x, y, yaw of the robot then; decision: id; text: human-readable, untrusted."""

    id: str
    at: float
    kind: str
    text: str
    pose: tuple[float, float, float] | None = None
    keyframe: int = 0
    entities: list[int] = []
    decision: str = ""


class MemoryItem(Record, frozen=True):
    """One memory; its text is untrusted. session: id of its keyframes' session, part of their URLs."""

    id: str
    at: float
    text: str
    x: float | None = None
    y: float | None = None
    pinned: bool = False
    session: str = ""
    keyframes: list[int] = []
    entities: list[int] = []


class DeltaItems(Record, frozen=True):
    """Type of the items of each growing part, by the part's name."""

    entities: Entity
    decisions: Decision
    beliefs: BeliefChange
    events: Event
    memories: MemoryItem

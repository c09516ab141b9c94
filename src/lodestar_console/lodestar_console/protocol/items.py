"""Items of the parts that grow, which are sent as deltas."""

from __future__ import annotations

from typing import Literal

from lodestar_console.protocol.records import Point3, Record


class Entity(Record, frozen=True):
    """A thing of the scene. box: its two corners; confidence: in its presence, [0, 1]; stated: by people."""

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
    """One expert at a decision. value: expected reward; bound: its upper confidence bound; reason: why not, or why."""

    name: str
    admissible: bool
    value: float | None
    bound: float | None
    reason: str
    propensity: float | None = None
    goal: tuple[float, float, float] | None = None


class Check(Record, frozen=True):
    """One belief or expectation of a trace, in words."""

    kind: Literal["believed", "expected", "otherwise", "evidence"]
    text: str


class DecisionTrace(Record, frozen=True):
    """Reasoning of an action in words."""

    text: str
    checks: list[Check]


class Failure(Record, frozen=True):
    """Difference from what was expected, its cause, and what was done about it."""

    text: str
    diagnosis: str = ""
    recovery: str = ""


class Decision(Record, frozen=True):
    """One decision. why: the account that `lodestar_ros.why` gives, by lines; outcome: "pending" until it is known."""

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
    """One entry of the journal: what is believed since, by whom, and whether it was taken back."""

    id: str
    entry: int
    at: float
    text: str
    by: str
    entities: list[int] = []
    undone: bool = False


class Event(Record, frozen=True):
    """Something on the timeline. pose: of the robot then; decision: id; text: for a person, untrusted."""

    id: str
    at: float
    kind: str
    text: str
    pose: tuple[float, float, float] | None = None
    keyframe: int = 0
    entities: list[int] = []
    decision: str = ""


class MemoryItem(Record, frozen=True):
    """One remembered thing; text is untrusted. session: of its keyframes, for their addresses."""

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
    """Items of each delta by its name."""

    entities: Entity
    decisions: Decision
    beliefs: BeliefChange
    events: Event
    memories: MemoryItem

"""Records of the world model: beliefs, traces and verdicts (VLM-DEWM 3.3.3, table D.10)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, IntEnum
from typing import ClassVar

import numpy as np

from lodestar.storage.records import Share, Stamp, Until

ROBOT = "robot"
_ENTITY, _REGION = "entity:", "region:"


class Skill(str):
    """Kind of an action, by its name in a `SkillTable`. The constants are the skills of a walking robot (VLM-DEWM
    table 1).
    """

    __slots__ = ()

    GO_TO: ClassVar[Skill]  # arguments: an entity, or none for a place
    SEARCH: ClassVar[Skill]  # go to a view of unknown space
    TURN: ClassVar[Skill]
    RETURN: ClassVar[Skill]  # to the start
    CHARGE: ClassVar[Skill]
    STEP_ASIDE: ClassVar[Skill]
    TAKE_STAIRS: ClassVar[Skill]  # to another floor
    TAKE_LIFT: ClassVar[Skill]

    @property
    def value(self) -> str:
        """Return the skill's name."""
        return str(self)


Skill.GO_TO, Skill.SEARCH, Skill.TURN = Skill("GoTo"), Skill("Search"), Skill("Turn")
Skill.RETURN, Skill.CHARGE, Skill.STEP_ASIDE = Skill("Return"), Skill("Charge"), Skill("StepAside")
Skill.TAKE_STAIRS, Skill.TAKE_LIFT = Skill("TakeStairs"), Skill("TakeLift")
WALKING = (
    Skill.GO_TO, Skill.SEARCH, Skill.TURN, Skill.RETURN, Skill.CHARGE, Skill.STEP_ASIDE, Skill.TAKE_STAIRS,
    Skill.TAKE_LIFT,
)  # fmt: skip


class Phase(Enum):
    """Phases of the robot in the constraint state: idle, exploring, approaching, ... (VLM-DEWM 3.3.1 b)."""

    IDLE = "IDLE"
    EXPLORING = "EXPLORING"
    APPROACHING = "APPROACHING"
    VERIFYING = "VERIFYING"
    AT = "AT"
    RETURNING = "RETURNING"
    CROSSING = "CROSSING"
    INTERRUPTED = "INTERRUPTED"
    HELD = "HELD"


class TraceError(IntEnum):
    """Reasons for refusing a trace; values are ValidateTrace's error codes."""

    NONE = 0
    MALFORMED = 11400
    UNKNOWN_ENTITY = 11401
    INCONSISTENT = 11402
    UNREACHABLE = 11403
    CONSTRAINT_VIOLATED = 11404
    STALE = 11405
    ARCHIVED = 11406
    OTHER_FLOOR = 11407
    ENERGY = 11408
    NO_MAP = 11409


@dataclass(frozen=True)
class Belief:
    """An asserted relation. predicate: of language.query_graph.PREDICATES.

    arguments: `entity_name`, `region_name` or ROBOT; the relation constrains the first one by the others.
    """

    predicate: str
    arguments: tuple[str, ...]
    negated: bool = False


@dataclass(frozen=True)
class Action:
    """A skill with its arguments, which are names as in `Belief`. goal: (3,) x, y, yaw in map; None = none."""

    skill: Skill
    arguments: tuple[str, ...] = ()
    goal: np.ndarray | None = None

    def __str__(self) -> str:
        return f"{self.skill.value}({', '.join(self.arguments)})"


@dataclass(frozen=True)
class Expectation:
    """State of the world that must hold after the action.

    about: subject of the phase, a name as in `Belief`, "" = none. visible: ids of entities that must be seen
    then. by: deadline, stamp in seconds.
    """

    phase: Phase
    about: str = ""
    beliefs: tuple[Belief, ...] = ()
    visible: tuple[int, ...] = ()
    by: Until = float("inf")


@dataclass(frozen=True)
class Trace:
    """An action that a part of the robot proposes, with its reasons and the expected result.

    confidence in [0, 1]; evidence: ids.
    """

    id: str
    epoch: int
    stamp: Stamp
    proposer: str
    action: Action
    expectation: Expectation
    confidence: Share
    beliefs: tuple[Belief, ...] = ()
    reason: str = ""
    fallback: str = ""
    evidence_entities: tuple[int, ...] = ()
    evidence_keyframes: tuple[int, ...] = ()


@dataclass(frozen=True)
class Verdict:
    """Result of a validation. belief: the one that failed.

    excess: metres by which a limit is exceeded, 0 if the failure is not about a distance.
    """

    code: TraceError = TraceError.NONE
    reason: str = ""
    belief: Belief | None = None
    excess: float = 0.0

    @property
    def accepted(self) -> bool:
        """Return whether the action may be carried out."""
        return self.code is TraceError.NONE


def entity_name(entity_id: int) -> str:
    """Return the name of an entity in beliefs and actions."""
    return f"{_ENTITY}{entity_id}"


def region_name(region_id: int) -> str:
    """Return the name of a region in beliefs and actions."""
    return f"{_REGION}{region_id}"


def said(belief: Belief) -> str:
    """Return a belief as text in the papers' notation: "NextTo(entity:12, entity:7)"."""
    return f"{'not ' * belief.negated}{belief.predicate}({', '.join(belief.arguments)})"


def entity_of(name: str) -> int | None:
    """Return the entity id in a name, None if it is no entity's name."""
    return _number(name, _ENTITY)


def region_of(name: str) -> int | None:
    """Return the region id in a name, None if it is no region's name."""
    return _number(name, _REGION)


def _number(name: str, prefix: str) -> int | None:
    digits = name.removeprefix(prefix)
    return int(digits) if name.startswith(prefix) and digits.isascii() and digits.isdecimal() else None

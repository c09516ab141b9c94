"""Records of an action's outcome: discrepancy, causes, recovery (VLM-DEWM 3.3.5, C.6)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from lodestar.storage.records import Share, Stamp
from lodestar.worldmodel.amendments import Amendment
from lodestar.worldmodel.records import Belief, Phase


class Cause(Enum):
    """Causes of a failure that the diagnosis distinguishes."""

    TARGET_MOVED = "TARGET_MOVED"
    TARGET_REMOVED = "TARGET_REMOVED"
    TARGET_MISLABELLED = "TARGET_MISLABELLED"
    TARGET_OCCLUDED = "TARGET_OCCLUDED"
    DUPLICATE_APPEARED = "DUPLICATE_APPEARED"
    DOOR_CLOSED = "DOOR_CLOSED"
    WAY_BLOCKED_STATIC = "WAY_BLOCKED_STATIC"
    WAY_BLOCKED_MOVING = "WAY_BLOCKED_MOVING"
    UNSEEN_OBSTACLE = "UNSEEN_OBSTACLE"
    LOCALISATION_LOST = "LOCALISATION_LOST"
    GOAL_OCCUPIED = "GOAL_OCCUPIED"
    OUT_OF_ENERGY = "OUT_OF_ENERGY"
    NAVIGATOR_DOWN = "NAVIGATOR_DOWN"
    SENSOR_FAULT = "SENSOR_FAULT"
    UNKNOWN = "UNKNOWN"


class Look(Enum):
    """Diagnostic observations (waiting, turning, another position) that separate causes of a failure."""

    NONE = ""
    WAIT = "WAIT"  # stand and observe for some seconds
    TURN = "TURN"  # turn towards the doubtful place
    FROM_ELSEWHERE = "FROM_ELSEWHERE"  # observe the doubtful place from another position


class Result(Enum):
    """Results of an action as a transaction: committed, rolled back or cancelled."""

    COMMITTED = "COMMITTED"  # the expectation was observed
    ROLLED_BACK = "ROLLED_BACK"  # the action failed; its effects are dropped
    CANCELLED = "CANCELLED"  # the action was abandoned


@dataclass(frozen=True)
class ConstraintState:
    """Phase of the robot, and the subject that it is about (VLM-DEWM 3.3.1 b).

    about: name as in `Belief`, or after a failure the cause; "" = none.
    """

    phase: Phase
    about: str = ""

    def __str__(self) -> str:
        return f"{self.phase.value}({self.about})" if self.about else self.phase.value


@dataclass(frozen=True)
class Discrepancy:
    """Difference between expectation and observation (eq. C.5 to C.9). drifts: (entity id, metres moved).

    expected, actual: constraint states, equal if phase and subject are as expected (eq. C.6). missing,
    unexpected: relations.
    """

    expected: ConstraintState
    actual: ConstraintState
    missing: tuple[Belief, ...] = ()
    unexpected: tuple[Belief, ...] = ()
    drifts: tuple[tuple[int, float], ...] = ()

    @property
    def empty(self) -> bool:
        """Return whether there is no difference."""
        return self.expected == self.actual and not (self.missing or self.unexpected or self.drifts)


@dataclass(frozen=True)
class CauseEstimate:
    """A cause with its probability in [0, 1]."""

    cause: Cause
    probability: Share


@dataclass(frozen=True)
class Diagnosis:
    """Causes, most probable first; their probabilities add up to 1. text: for a person.

    look: observation that would separate the causes; NONE if none is needed. look_at: (x, y) in map to
    observe; None if the observation needs no place.
    """

    discrepancy: Discrepancy
    causes: tuple[CauseEstimate, ...]
    look: Look = Look.NONE
    look_at: tuple[float, float] | None = None
    text: str = ""

    @property
    def cause(self) -> Cause:
        """Return the most probable cause."""
        return self.causes[0].cause if self.causes else Cause.UNKNOWN


@dataclass(frozen=True)
class ActionOutcome:
    """Outcome of the action whose trace has the id `trace_id`. stamp in seconds.

    recovery: name in the cause table, "" = none.
    """

    trace_id: str
    stamp: Stamp
    result: Result
    diagnosis: Diagnosis | None = None
    recovery: str = ""
    amendments: tuple[Amendment, ...] = ()
    text: str = ""

    @property
    def is_final(self) -> bool:
        """Return whether the action is over; False if another observation and diagnosis follow."""
        return self.diagnosis is None or self.diagnosis.look is Look.NONE or bool(self.recovery)

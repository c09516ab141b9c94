"""Records of what came of an action: discrepancy, causes, recovery (VLM-DEWM 3.3.5, C.6)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from lodestar.storage.records import Share, Stamp
from lodestar.worldmodel.amendments import Amendment
from lodestar.worldmodel.records import Belief, Phase


class Cause(Enum):
    """Causes of a failure that the diagnosis tells apart."""

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
    """Observations that tell causes apart."""

    NONE = ""
    WAIT = "WAIT"  # stand and look for some seconds
    TURN = "TURN"  # turn towards what is in doubt
    FROM_ELSEWHERE = "FROM_ELSEWHERE"  # look at it from another place


class Result(Enum):
    """Ends of a transaction."""

    COMMITTED = "COMMITTED"  # what was expected was seen
    ROLLED_BACK = "ROLLED_BACK"  # it failed; what it was to change stays as it was
    CANCELLED = "CANCELLED"  # nobody waits for it any more


@dataclass(frozen=True)
class ConstraintState:
    """Phase of the robot and what it is about, a name as in `Belief` (VLM-DEWM 3.3.1 b)."""

    phase: Phase
    about: str = ""

    def __str__(self) -> str:
        return f"{self.phase.value}({self.about})" if self.about else self.phase.value


@dataclass(frozen=True)
class Discrepancy:
    """Difference between what was expected and what is (eq. C.5 to C.9). drifts: entity id -> metres moved.

    expected, actual: equal where the constraint state is as expected (eq. C.6).
    """

    expected: ConstraintState
    actual: ConstraintState
    missing: tuple[Belief, ...] = ()
    unexpected: tuple[Belief, ...] = ()
    drifts: tuple[tuple[int, float], ...] = ()

    @property
    def empty(self) -> bool:
        """Return whether all is as expected."""
        return self.expected == self.actual and not (self.missing or self.unexpected or self.drifts)


@dataclass(frozen=True)
class CauseEstimate:
    """A cause with its probability in [0, 1]."""

    cause: Cause
    probability: Share


@dataclass(frozen=True)
class Diagnosis:
    """Causes, most probable first; their probabilities add up to 1. look: what would tell them apart, if they are not.

    look_at: (x, y) in map that must be seen; None where the look is about no place. text: for a person.
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
    """End of an action: `trace_id` names its trace. stamp in seconds.

    recovery: a name of the recovery table, "" = none.
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
        """Return whether the action is over; False where a look follows, after which it is diagnosed again."""
        return self.diagnosis is None or self.diagnosis.look is Look.NONE or bool(self.recovery)

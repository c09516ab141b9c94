"""Records of decisions and their outcomes."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from lodestar.experts.protocol import Proposal


class Outcome(Enum):
    """Outcome of a decision, in the order of Decision.msg's constants."""

    PENDING = "PENDING"
    REACHED = "REACHED"
    ABORTED = "ABORTED"
    PREEMPTED = "PREEMPTED"
    CANCELLED = "CANCELLED"


@dataclass(frozen=True)
class ArmRecord:
    """One arm at one decision. propensity: its probability of being chosen by the logging policy."""

    expert: str
    admissible: bool
    reason: str = ""
    estimate: float = 0.0
    bound: float = 0.0
    propensity: float = 0.0
    proposal: Proposal | None = None


@dataclass(frozen=True)
class Decision:
    """A decision with all data to replay it and to evaluate another policy offline (DESIGN section 3).

    stood: seconds that the robot stood still for the decision, from the request to the choice. The image that
    a model judged for an arm is its proposal's `view`.
    """

    epoch: int
    stamp: float
    directive: str
    subtask: int
    context: dict[str, float]
    arms: tuple[ArmRecord, ...]
    chosen: str
    map_id: int = 1
    reward: dict[str, float] = field(default_factory=dict)
    evidence_entities: tuple[int, ...] = ()
    evidence_keyframes: tuple[int, ...] = ()
    trace_id: str = ""
    outcome: Outcome = Outcome.PENDING
    explanation: str = ""
    stood: float = 0.0

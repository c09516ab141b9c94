"""Requests to experts and their answers (RoboAtlas III-C)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, IntEnum
from typing import Protocol

import numpy as np

from lodestar.language.directive import Directive, Step, Task


class ActionKind(IntEnum):
    """Action that a proposal asks for (RoboAtlas eq. 22)."""

    GO = 0
    TURN_LEFT = 1
    TURN_RIGHT = 2
    TURN_AROUND = 3


class RejectionReason(Enum):
    """Reason of a rejection; values are ProposeGoal's error codes."""

    NO_DATA = 11100
    NO_PROPOSAL = 11101
    EXPLORED = 11102
    NO_VIEWPOINT = 11103
    MODEL_UNAVAILABLE = 11104
    MODEL_ERROR = 11105
    DEADLINE = 11106
    CANCELLED = 11107
    TF_ERROR = 11108
    BAD_REQUEST = 11109
    UNKNOWN = 11199


@dataclass(frozen=True)
class ProposalRequest:
    """One question to every expert. robot_pose: (3,) x, y, yaw in map. excluded_goals: (N, 3).

    errand: number of the errand that it is asked for, another one for the same words said again; 0 = not told.
    looks_since: stamp, seconds; what the camera saw before is not taken for what is there now.
    """

    epoch: int
    stamp: float
    directive: Directive
    step_index: int
    robot_pose: np.ndarray
    excluded_entities: frozenset[int] = frozenset()
    excluded_goals: tuple[tuple[float, float, float], ...] = ()
    deadline: float = float("inf")
    errand: int = 0
    looks_since: float = float("-inf")

    @property
    def step(self) -> Step:
        """The step that is being worked on."""
        return self.directive.steps[self.step_index]

    @property
    def task(self) -> Task:
        """The step with what holds while it is done, for a reasoner."""
        return Task(self.step, self.directive.constraints_of(self.step_index))


@dataclass(frozen=True)
class Proposal:
    """One expert's goal. goal: (3,) x, y, yaw in map. confidence in [0, 1]."""

    expert: str
    epoch: int
    goal: np.ndarray
    confidence: float
    rationale: str
    entity_id: int = 0
    action: ActionKind = ActionKind.GO
    evidence_entities: tuple[int, ...] = ()
    evidence_keyframes: tuple[int, ...] = ()
    time_taken: float = 0.0
    stamp: float = 0.0


@dataclass(frozen=True)
class Rejection:
    """An expert's answer if it has no goal."""

    expert: str
    epoch: int
    reason: RejectionReason
    message: str


class Expert(Protocol):
    """Proposes one goal per request. Facts reach it through its own setters before the request."""

    name: str

    def propose(self, request: ProposalRequest) -> Proposal | Rejection:
        """Return one goal, or a rejection with the reason. Never raises for bad data."""
        ...

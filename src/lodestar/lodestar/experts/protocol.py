"""Requests to experts and their answers (RoboAtlas III-C)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np

from lodestar.language.directive import Directive, Step, Task

if TYPE_CHECKING:
    from lodestar.experts.descriptions import SceneDescription
    from lodestar.experts.picture_source import PictureSource
    from lodestar.geometry.camera import PinholeCamera
    from lodestar.grid.occupancy import OccupancyGrid2D
    from lodestar.memory.last_seen import RememberedPlaces
    from lodestar.perception.frames import RgbdFrame, SegmentedFrame
    from lodestar.scene.mirror import SceneMirror


class ActionKind(Enum):
    """Action of a proposal (RoboAtlas eq. 22), in the order of Proposal.msg's constants."""

    GO = "GO"
    TURN_LEFT = "TURN_LEFT"
    TURN_RIGHT = "TURN_RIGHT"
    TURN_AROUND = "TURN_AROUND"


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
    """One request to every expert. robot_pose: (3,) x, y, yaw in map. excluded_goals: (N, 3).

    errand: number of the errand that asks, different for a repeated directive; 0 = unknown. looks_since: stamp,
    seconds; earlier observations are not taken for the present state. may_wait: whether the robot stands for an
    answer that takes a while (`Thinking`).
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
    may_wait: bool = True

    @property
    def step(self) -> Step:
        """Return the current step."""
        return self.directive.steps[self.step_index]

    @property
    def task(self) -> Task:
        """Return the step with its constraints, for a reasoner."""
        return Task(self.step, self.directive.constraints_of(self.step_index))


@dataclass(frozen=True)
class Proposal:
    """One expert's goal. goal: (3,) x, y, yaw in map. confidence in [0, 1]. view: stamp of the image that a model
    judged for it, 0 = none. time_taken: seconds from the request.

    chance: probability that carrying it out shows or reaches the target. seconds: duration, to drive, turn and look
    (`Reach.seconds`). None = unknown.
    """

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
    view: float = 0.0
    chance: float | None = None
    seconds: float | None = None

    @property
    def value(self) -> float | None:
        """Return the successes per second, `chance` over `seconds`, by which goals of all experts are
        compared (ADR 0094); None if unknown.
        """
        if self.chance is None or self.seconds is None or not 0.0 < self.seconds < math.inf:
            return None
        return self.chance / self.seconds if 0.0 <= self.chance <= 1.0 else None


@dataclass(frozen=True)
class Thinking:
    """Answer of an expert that needs more time. Repeat the same request soon; from `until` (stamp, seconds)
    on, repeat it with may_wait = False, which always gets a proposal or a rejection.
    """

    until: float


@dataclass(frozen=True)
class Rejection:
    """An expert's answer without a goal."""

    expert: str
    epoch: int
    reason: RejectionReason
    message: str


class Expert(Protocol):
    """Proposes one goal per request. Before the request, it receives facts through the setters below that it
    implements.
    """

    name: str

    def propose(self, request: ProposalRequest) -> Proposal | Rejection | Thinking:
        """Return one goal, or a rejection with the reason. Never raises for bad data."""


@runtime_checkable
class GridReader(Protocol):
    """An expert that plans on the grid with the keep-out zones."""

    def set_grid(self, grid: OccupancyGrid2D) -> None:
        """Set the grid for planning."""


@runtime_checkable
class SceneReader(Protocol):
    """An expert that reads the entities."""

    def set_scene(self, mirror: SceneMirror) -> None:
        """Use this mirror of the scene, which may change in place."""


@runtime_checkable
class ViewReader(Protocol):
    """An expert that receives camera views, every `view_period` (s of stamps) of its configuration."""

    def set_view(self, frame: RgbdFrame, segmented: SegmentedFrame) -> None:
        """Set the current view."""


@runtime_checkable
class Looker(Protocol):
    """An expert that records where the camera looked, every `view_period` (s of stamps) of its configuration."""

    def add_view(self, map_from_camera: np.ndarray, camera: PinholeCamera, stamp: float) -> None:
        """Record a view from this (4, 4) pose (optical frame) whose frame entered the map."""


@runtime_checkable
class Follower(Protocol):
    """An expert that stores places and moves them with corrections of the map, also while the robot is on
    another floor.
    """

    def follow(self, frame: RgbdFrame) -> None:
        """Use the pose of a view for map corrections only."""


@runtime_checkable
class Describer(Protocol):
    """An expert that describes its view, every `description_period` (s of stamps) of its configuration."""

    def describe(self) -> SceneDescription | None:
        """Return a description of the view; None before the first."""


@runtime_checkable
class Listener(Protocol):
    """An expert that receives the scene descriptions of other experts."""

    def hear(self, description: SceneDescription) -> None:
        """Store a description by another expert, which is untrusted text."""


@runtime_checkable
class PictureChooser(Protocol):
    """An expert that may propose to go to the place shown in a picture that is offered to it."""

    def use_pictures(self, source: PictureSource | None) -> None:
        """Set the source of pictures; None = none."""


class PlaceMemory(Protocol):
    """Port to the memory's last-seen places."""

    def remembered(self) -> RememberedPlaces | None:
        """Return the last-seen places that the scene does not cover and that were not found empty since; None
        = there is no memory.
        """


@runtime_checkable
class PlaceReader(Protocol):
    """An expert that queries the memory for last-seen places."""

    def use_memory(self, memory: PlaceMemory | None) -> None:
        """Set the memory; None = none."""

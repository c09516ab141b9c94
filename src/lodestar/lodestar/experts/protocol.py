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
    from lodestar.grid.occupancy import OccupancyGrid2D
    from lodestar.memory.last_seen import RememberedPlaces
    from lodestar.perception.frames import RgbdFrame, SegmentedFrame
    from lodestar.scene.mirror import SceneMirror


class ActionKind(Enum):
    """Action that a proposal asks for (RoboAtlas eq. 22), in the order of Proposal.msg's constants."""

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
    """One question to every expert. robot_pose: (3,) x, y, yaw in map. excluded_goals: (N, 3).

    errand: number of the errand that it is asked for, another one for the same words said again; 0 = not told.
    looks_since: stamp, seconds; what the camera saw before is not taken for what is there now. may_wait: whether the
    asker stands for an answer that takes a while (`Thinking`).
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
        """The step that is being worked on."""
        return self.directive.steps[self.step_index]

    @property
    def task(self) -> Task:
        """The step with what holds while it is done, for a reasoner."""
        return Task(self.step, self.directive.constraints_of(self.step_index))


@dataclass(frozen=True)
class Proposal:
    """One expert's goal. goal: (3,) x, y, yaw in map. confidence in [0, 1]. view: stamp of the image that a model
    judged for it, 0 = none did. time_taken: seconds from the question.

    chance: probability that the target is seen or reached by carrying it out. seconds: that this takes, to drive, turn
    and look (`Reach.seconds`). None = not told.
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
        """Return the chance per second, by which goals of all experts compare (ADR 0094); None where it is not told."""
        if self.chance is None or self.seconds is None or not 0.0 < self.seconds < math.inf:
            return None
        return self.chance / self.seconds if 0.0 <= self.chance <= 1.0 else None


@dataclass(frozen=True)
class Thinking:
    """No answer yet: ask again soon with the same request, and from `until` (stamp, seconds) on with one that may not
    wait, which is always answered.
    """

    until: float


@dataclass(frozen=True)
class Rejection:
    """An expert's answer if it has no goal."""

    expert: str
    epoch: int
    reason: RejectionReason
    message: str


class Expert(Protocol):
    """Proposes one goal per request. Facts reach it before the request, through the setters below that it has."""

    name: str

    def propose(self, request: ProposalRequest) -> Proposal | Rejection | Thinking:
        """Return one goal, or a rejection with the reason. Never raises for bad data."""
        ...


@runtime_checkable
class GridReader(Protocol):
    """Plans on the grid with the keep-out zones."""

    def set_grid(self, grid: OccupancyGrid2D) -> None:
        """Plan on this grid from now on."""
        ...


@runtime_checkable
class SceneReader(Protocol):
    """Reads the entities."""

    def set_scene(self, mirror: SceneMirror) -> None:
        """Use this copy of the scene, which may change in place."""
        ...


@runtime_checkable
class ViewReader(Protocol):
    """Sees what the camera sees, every `view_period` (s of stamps) of its configuration."""

    def set_view(self, frame: RgbdFrame, segmented: SegmentedFrame) -> None:
        """Take the current view."""
        ...


@runtime_checkable
class Follower(Protocol):
    """Keeps places that move with the map, also while the robot is on another floor than its own."""

    def follow(self, frame: RgbdFrame) -> None:
        """Take the pose of a view that it is not to see."""
        ...


@runtime_checkable
class Describer(Protocol):
    """Describes its view, every `description_period` (s of stamps) of its configuration."""

    def describe(self) -> SceneDescription | None:
        """Return a description of the view; None before the first."""
        ...


@runtime_checkable
class Listener(Protocol):
    """Hears what others describe."""

    def hear(self, description: SceneDescription) -> None:
        """Take a description, which is untrusted text."""
        ...


@runtime_checkable
class PictureChooser(Protocol):
    """May go where a picture of elsewhere leads."""

    def use_pictures(self, source: PictureSource | None) -> None:
        """Take the pictures from this source; None = there are none."""
        ...


class PlaceMemory(Protocol):
    """Port of the memory: where things were last seen."""

    def remembered(self) -> RememberedPlaces | None:
        """Return the places that the scene says nothing of and that were not found empty since; None = no memory."""
        ...


@runtime_checkable
class PlaceReader(Protocol):
    """Asks the memory where things were last seen."""

    def use_memory(self, memory: PlaceMemory | None) -> None:
        """Ask this memory; None = none."""
        ...

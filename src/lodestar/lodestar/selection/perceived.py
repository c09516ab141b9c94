"""The robot's perception at one moment, as used by expert selection and rewards."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from lodestar.grid.occupancy import OccupancyGrid2D

MODALITIES = ("object", "description", "image")


@dataclass(frozen=True)
class Match:
    """An entity similar to the target. similarity in [0, 1]; distance: horizontal metres from the robot to
    its box.

    overlaps: its label shares a word with the target's phrase.
    """

    similarity: float
    distance: float = float("inf")
    overlaps: bool = False


@dataclass(frozen=True)
class Perceived:
    """Robot pose, known area, grid and entities similar to the target at one moment, as perceived, without
    ground truth.
    """

    stamp: float  # seconds
    area: float = 0.0  # m^2 known free
    pose: np.ndarray | None = None  # (3,) x, y, yaw in map; None = unknown
    instances: int = 0  # number of entities in the scene
    matches: tuple[Match, ...] | None = None  # entities similar to the target; None = not evaluated
    neighbor: float = 0.0  # greatest similarity in [0, 1] of an entity to a neighbour phrase of the subtask
    grid: OccupancyGrid2D | None = field(default=None, repr=False)

    @property
    def similarities(self) -> np.ndarray:
        """Return the similarities (N,) of the matches."""
        return np.array([match.similarity for match in self.matches or ()], np.float64)

    @property
    def best(self) -> float:
        """Return the greatest similarity of an entity to target or neighbour, in [0, 1]."""
        return max(float(self.similarities.max(initial=0.0)), self.neighbor)


@dataclass(frozen=True)
class TaskState:
    """State of the directive. budget_left: share of its time; progress: share of its subtasks done."""

    budget_left: float = 1.0
    progress: float = 0.0
    modality: str = "object"  # of MODALITIES


def frontier_share(grid: OccupancyGrid2D) -> float:
    """Return the share of free cells that share an edge with an unknown one; 0 without free cells."""
    free, unknown = grid.free, grid.unknown
    touches = np.zeros_like(free)
    touches[1:] |= unknown[:-1]
    touches[:-1] |= unknown[1:]
    touches[:, 1:] |= unknown[:, :-1]
    touches[:, :-1] |= unknown[:, 1:]
    count = int(free.sum())
    return float((free & touches).sum()) / count if count else 0.0

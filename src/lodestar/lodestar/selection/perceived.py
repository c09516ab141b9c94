"""What the robot perceived at one moment, as far as choosing an expert and judging the choice need it."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from lodestar.grid.occupancy import OccupancyGrid2D

MODALITIES = ("object", "description", "image")


@dataclass(frozen=True)
class Match:
    """An entity that resembles the target. similarity in [0, 1]; distance: metres in plan from the robot's
    position to its box; overlaps: whether its label shares a word with the target's phrase.
    """

    similarity: float
    distance: float = float("inf")
    overlaps: bool = False


@dataclass(frozen=True)
class Perceived:
    """No ground truth enters here. pose: (3,) x, y, yaw in map, None = not known; area: m^2 known free;
    instances: how many entities the scene holds; matches: those that resemble the target, None = nobody looked;
    neighbor: greatest similarity in [0, 1] of an entity to a neighbour phrase of the subtask.
    """

    stamp: float
    area: float = 0.0
    pose: np.ndarray | None = None
    instances: int = 0
    matches: tuple[Match, ...] | None = None
    neighbor: float = 0.0
    grid: OccupancyGrid2D | None = field(default=None, repr=False)

    @property
    def similarities(self) -> np.ndarray:
        """(N,) of the matches."""
        return np.array([match.similarity for match in self.matches or ()], np.float64)

    @property
    def best(self) -> float:
        """Greatest similarity of an entity to target or neighbour, in [0, 1]."""
        return max(float(self.similarities.max(initial=0.0)), self.neighbor)


@dataclass(frozen=True)
class TaskState:
    """Where the directive stands. budget_left: share of its time, progress: share of its subtasks done."""

    budget_left: float = 1.0
    progress: float = 0.0
    modality: str = "object"  # of MODALITIES


def frontier_share(grid: OccupancyGrid2D) -> float:
    """Share of the free cells that touch an unknown one by an edge; 0 where nothing is free."""
    free, unknown = grid.free, grid.unknown
    touches = np.zeros_like(free)
    touches[1:] |= unknown[:-1]
    touches[:-1] |= unknown[1:]
    touches[:, 1:] |= unknown[:, :-1]
    touches[:, :-1] |= unknown[:, 1:]
    count = int(free.sum())
    return float((free & touches).sum()) / count if count else 0.0

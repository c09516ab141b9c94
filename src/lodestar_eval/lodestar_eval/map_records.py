"""Data of the picture of a run's map, separate from `maps`, which loads Matplotlib to draw it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from lodestar.grid.occupancy import OccupancyGrid2D


@dataclass(frozen=True)
class MapEntity:
    """A named object. box_min, box_max: (2+,) metres in map."""

    name: str
    box_min: np.ndarray
    box_max: np.ndarray
    claimed: bool = False

    @property
    def center(self) -> np.ndarray:
        """Return the centre (2,), metres."""
        return (np.asarray(self.box_min)[:2] + np.asarray(self.box_max)[:2]) / 2.0


@dataclass(frozen=True)
class MapGoal:
    """A pursued goal. pose: (3,) x, y, yaw in map."""

    pose: np.ndarray
    expert: str


@dataclass(frozen=True)
class MapPicture:
    """Data of a map picture. path: (N, 2+) metres. targets: true boxes of the targets."""

    grid: OccupancyGrid2D | None
    path: np.ndarray
    start: np.ndarray
    entities: Sequence[MapEntity] = ()
    goals: Sequence[MapGoal] = ()
    targets: Sequence[MapEntity] = ()
    title: str = ""
    subtitle: str = ""
    # (2, 2) segments, metres, for a picture without a grid
    walls: Sequence[np.ndarray] = field(default_factory=tuple)

"""Port to whatever makes the plan grid out of what the sensors return."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from lodestar.grid.occupancy import OccupancyGrid2D


class PlanMapper(Protocol):
    """Keeps the plan grid in `map`. KIND, VERSION: of files with what `to_arrays` gives."""

    @property
    def KIND(self) -> str: ...

    @property
    def VERSION(self) -> int: ...

    @property
    def is_empty(self) -> bool:
        """Whether nothing was ever seen."""
        ...

    @property
    def map_from_odom(self) -> np.ndarray | None:
        """The last map <- odom that the grid has followed, (4, 4), None before the first."""
        ...

    def follow(self, map_from_odom: np.ndarray, odom_from_sensor: np.ndarray) -> bool:
        """The grid moves along where map <- odom has jumped since the last call; whether it has."""
        ...

    def project(self, stamp: float) -> OccupancyGrid2D:
        """The plan as it stands."""
        ...

    def to_arrays(self) -> dict[str, np.ndarray]:
        """Everything that it knows."""
        ...

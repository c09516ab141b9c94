"""Port of mappers that make the plan grid from sensor data."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from lodestar.grid.occupancy import OccupancyGrid2D


class PlanMapper(Protocol):
    """Keeps the plan grid in `map`. KIND, VERSION: of files with the arrays of `to_arrays`."""

    @property
    def KIND(self) -> str: ...

    @property
    def VERSION(self) -> int: ...

    @property
    def is_empty(self) -> bool:
        """Return whether nothing was ever seen."""
        ...

    @property
    def map_from_odom(self) -> np.ndarray | None:
        """Return the last map <- odom that the grid has followed, (4, 4); None before the first."""
        ...

    def follow(self, map_from_odom: np.ndarray, odom_from_sensor: np.ndarray) -> bool:
        """Move the grid by a jump of map <- odom since the last call; return whether there was one."""
        ...

    def project(self, stamp: float) -> OccupancyGrid2D:
        """Return the current plan grid."""
        ...

    def to_arrays(self) -> dict[str, np.ndarray]:
        """Return the whole state for a file."""
        ...

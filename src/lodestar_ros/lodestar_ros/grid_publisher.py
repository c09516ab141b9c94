"""Publication of the plan grid (the robot's 2-D occupancy grid) on changes."""

from __future__ import annotations

import time

import numpy as np
from nav_msgs.msg import OccupancyGrid
from rclpy.node import Node

from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.timing.stamps import Periodic
from lodestar_ros import qos
from lodestar_ros.conversions import grid_to_msg


class GridPublisher:
    """Publishes ``grid`` when its cells or its origin change, and every `refresh` seconds of real time."""

    def __init__(self, node: Node, refresh: float) -> None:
        self._publisher = node.create_publisher(OccupancyGrid, "grid", qos.LATCHED)
        self._refresh = Periodic(refresh)
        self._cells: np.ndarray | None = None
        self._origin = (0.0, 0.0)

    @property
    def has_published(self) -> bool:
        """Return whether any grid was published."""
        return self._cells is not None

    def publish(self, grid: OccupancyGrid2D) -> None:
        """Publish the grid if it has changed or the refresh is due."""
        if self._refresh.due(time.monotonic()) or not self._shows(grid):
            self._cells, self._origin = grid.cells.copy(), grid.origin
            self._publisher.publish(grid_to_msg(grid))

    def _shows(self, grid: OccupancyGrid2D) -> bool:
        same_cells = self._cells is not None and np.array_equal(self._cells, grid.cells)
        return same_cells and self._origin == grid.origin

"""Publication of the plan grid on changes."""

from __future__ import annotations

import threading
import time

import numpy as np
from nav_msgs.msg import OccupancyGrid

from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar_ros import qos
from lodestar_ros.conversions import grid_to_msg
from lodestar_ros.node import LodestarNode

_REPEATS = 5  # of a grid that no turn follows; a sensor that stays silent must show as a grid that grows old; chosen

class GridPublisher:
    """Publish ``grid`` when its cells change, and every `refresh` seconds of real time in which turns come.

    Without turns the last grid is repeated a few times: the only sample of a node that came back with its map may be
    lost while the endpoints discover each other.
    """

    def __init__(self, node: LodestarNode, refresh: float) -> None:
        self._publisher = node.create_publisher(OccupancyGrid, "grid", qos.LATCHED)
        self._refresh, self._due = refresh, 0.0
        self._grid: OccupancyGrid2D | None = None
        self._repeats = 0  # since the last call of `publish`
        self._lock = threading.Lock()
        node.steady_timer(refresh, self._repeat)

    @property
    def has_published(self) -> bool:
        """Return whether any grid was published."""
        return self._grid is not None

    def publish(self, grid: OccupancyGrid2D) -> None:
        """Publish the grid if it has changed or the refresh is due."""
        with self._lock:
            self._repeats = 0
            before, now = self._grid, time.monotonic()
            if before is None or not np.array_equal(before.cells, grid.cells) or now >= self._due:
                self._send(grid, now)

    def _repeat(self) -> None:
        with self._lock:
            now = time.monotonic()
            if self._grid is not None and now >= self._due and self._repeats < _REPEATS:
                self._repeats += 1
                self._send(self._grid, now)

    def _send(self, grid: OccupancyGrid2D, now: float) -> None:
        self._due, self._grid = now + self._refresh, grid
        self._publisher.publish(grid_to_msg(grid))

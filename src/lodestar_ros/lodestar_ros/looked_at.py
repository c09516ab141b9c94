"""Publication of the floor cells that the camera has observed, for displays."""

from __future__ import annotations

import time

import numpy as np
from nav_msgs.msg import OccupancyGrid

from lodestar.assembly.memory_chain import MemoryChain
from lodestar.grid.config import LookConfig
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.timing.stamps import Periodic
from lodestar_ros import qos
from lodestar_ros.conversions import grid_to_msg
from lodestar_ros.node import LodestarNode

PERIOD = 2.0  # least s of real time between two messages


def sharpness(metres: np.ndarray, farthest: float) -> np.ndarray:
    """Return how sharply the camera has seen each floor cell, int8: 100 = from 0 m, 1 = from `farthest`
    metres, -1 = never. metres: nearest distance from which each cell was seen, inf = never.
    """
    seen = np.isfinite(metres)
    share = 100.0 * (1.0 - np.where(seen, metres, farthest) / farthest)
    return np.where(seen, np.clip(np.ceil(share), 1, 100), -1).astype(np.int8)


class LookedAtPublisher:
    """Publishes ``~/looked_at`` on changes, while it has subscribers; see `sharpness` for its values."""

    def __init__(self, node: LodestarNode, chain: MemoryChain, limits: LookConfig) -> None:
        self._node, self._chain, self._range, self._period = node, chain, limits.range, Periodic(PERIOD)
        self._publisher = node.create_publisher(OccupancyGrid, "~/looked_at", qos.LATCHED)
        self._told: tuple[float, OccupancyGrid2D | None, int] = (0.0, None, 0)

    def tell(self) -> None:
        """Publish the grid if it has changed. Runs on the feed's worker."""
        grid, viewers = self._chain.grid, self._publisher.get_subscription_count()
        if grid is None or not viewers or not self._period.due(time.monotonic()):
            return
        newest, shown, seen_by = self._told
        if shown is grid and newest == self._chain.looks.newest and seen_by == viewers:
            return
        self._told = self._chain.looks.newest, grid, viewers
        cells = sharpness(self._chain.looks.nearest(grid), self._range)
        floor = OccupancyGrid2D(cells, grid.resolution, grid.origin, self._node.now, grid.frame)
        self._publisher.publish(grid_to_msg(floor))

"""Closed ways on the mapping node's grid."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sensor_msgs.msg import LaserScan, PointCloud2

from lodestar.assembly.range_turns import scan_points
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.worldmodel.closed_ways import WayOverlay
from lodestar_interfaces.msg import ClosedWayArray
from lodestar_ros import qos
from lodestar_ros.conversions_sensors import cloud_from_msg, scan_from_msg
from lodestar_ros.conversions_world import ways_from_msg
from lodestar_ros.node import LodestarNode


class WayInput:
    """Lays the closed ways that are told over grids, until rays pass through them. Subscribes: ``closed_ways``.

    on_change is called on the executor. `look` and `laid_over` belong to one thread.
    """

    def __init__(self, node: LodestarNode, overlay: WayOverlay, on_change: Callable[[], None]) -> None:
        self._overlay, self._on_change = overlay, on_change
        self._told = overlay.ways
        self._place: np.ndarray | None = None
        node.listen(ClosedWayArray, "closed_ways", self._on_ways, qos.LATCHED)
        node.diagnostics.value("closed_ways", lambda: len(self._told))
        node.diagnostics.value("closed_ways.seen_open", lambda: len(overlay.opened))

    def _on_ways(self, message: ClosedWayArray) -> None:
        self._told = ways_from_msg(message)
        self._on_change()

    def look(self, message: Any, map_from_sensor: np.ndarray, stamp: float) -> None:
        """Take a cloud's or a scan's rays; other messages have none. map_from_sensor: (4, 4)."""
        if isinstance(message, PointCloud2):
            self.look_along(lambda: cloud_from_msg(message), map_from_sensor, stamp)
        elif isinstance(message, LaserScan):
            self.look_along(lambda: scan_points(*scan_from_msg(message)[:3]), map_from_sensor, stamp)

    def look_along(self, points: Callable[[], np.ndarray], map_from_sensor: np.ndarray, stamp: float) -> None:
        """Take rays that end at points() (N, 3) in the sensor's frame, which is called where a way is closed."""
        self._place = map_from_sensor[:3, 3]
        self._overlay.follow(self._told)
        if self._overlay.laid(stamp):
            self._overlay.look(map_from_sensor, points(), stamp)

    def laid_over(self, grid: OccupancyGrid2D) -> OccupancyGrid2D:
        """Return the grid with the closed ways."""
        self._overlay.follow(self._told)
        return self._overlay.laid_over(grid, self._place)

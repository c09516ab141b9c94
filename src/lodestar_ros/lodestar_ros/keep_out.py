"""Keep-out zones in Nav2's format: a mask, and a CostmapFilterInfo message that describes it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from nav2_msgs.msg import CostmapFilterInfo
from nav_msgs.msg import OccupancyGrid

from lodestar.grid.occupancy import COMFORT, FREE, HELD_BACK, OCCUPIED, OccupancyGrid2D
from lodestar.grid.overlay import with_keep_out
from lodestar_ros import qos
from lodestar_ros.conversions import BadMessage, grid_from_msg, grid_to_msg, header
from lodestar_ros.node import LodestarNode

KEEP_OUT = 0  # value of CostmapFilterInfo.type


class KeepOutPublisher:
    """Publishes ``~/keep_out_mask``, and ``~/costmap_filter_info`` once."""

    def __init__(self, node: LodestarNode) -> None:
        self._masks = node.create_publisher(OccupancyGrid, "~/keep_out_mask", qos.LATCHED)
        self._infos = node.create_publisher(CostmapFilterInfo, "~/costmap_filter_info", qos.LATCHED)
        info = CostmapFilterInfo(header=header(0.0, "map"), type=KEEP_OUT, base=0.0, multiplier=1.0)
        info.filter_mask_topic = self._masks.topic_name
        self._infos.publish(info)

    def publish(self, zones: OccupancyGrid2D) -> None:
        """Publish a grid of zones.

        occupied = forbidden; HELD_BACK = forbidden except to leave the zone; 1 to COMFORT = near people. The
        first message activates Nav2's filter.
        """
        self._masks.publish(grid_to_msg(zones))


class KeepOutInput:
    """Applies the zones of a costmap filter's mask to grids.

    Subscribes: ``costmap_filter_info``, and the mask that it names. on_change is called on the executor.
    """

    def __init__(self, node: LodestarNode, on_change: Callable[[], None] | None = None) -> None:
        self._node, self._on_change = node, on_change
        self._zones: OccupancyGrid2D | None = None
        self._info: CostmapFilterInfo | None = None
        self._heard: set[str] = set()
        self._last: tuple[OccupancyGrid2D, OccupancyGrid2D | None, OccupancyGrid2D] | None = None
        node.listen(CostmapFilterInfo, "costmap_filter_info", self._on_info, qos.LATCHED)

    def apply(self, grid: OccupancyGrid2D | None) -> OccupancyGrid2D | None:
        """Return the grid with the current zones; the same object for the same grid and zones. None if `grid`
        is None.
        """
        if grid is None:
            return None
        last = self._last
        if last is None or last[0] is not grid or last[1] is not self._zones:
            last = self._last = grid, self._zones, with_keep_out(grid, self._zones)
        return last[2]

    def _on_info(self, message: CostmapFilterInfo) -> None:
        if message.type != KEEP_OUT:
            raise BadMessage(f"costmap filter type {message.type} is not a keep-out filter (0)")
        self._info = message
        topic = message.filter_mask_topic
        if topic not in self._heard:
            self._heard.add(topic)
            self._node.listen(OccupancyGrid, topic, lambda mask: self._on_mask(topic, mask), qos.LATCHED)

    def _on_mask(self, topic: str, message: OccupancyGrid) -> None:
        if self._info is None or topic != self._info.filter_mask_topic:
            return
        zones = grid_from_msg(message)
        value = zones.cells.astype(np.float32) * self._info.multiplier + self._info.base
        barred = (zones.cells >= 0) & (value >= zones.occupied_from)
        barred |= zones.cells == HELD_BACK  # forbidden as a goal; only leaving it is allowed
        comfort = (zones.cells > 0) & (zones.cells <= COMFORT) & ~barred  # extra cost near people
        cells = np.where(barred, np.int8(OCCUPIED), np.where(comfort, zones.cells, np.int8(FREE)))
        self._zones = OccupancyGrid2D(cells, zones.resolution, zones.origin, zones.stamp, zones.frame)
        if self._on_change is not None:
            self._on_change()

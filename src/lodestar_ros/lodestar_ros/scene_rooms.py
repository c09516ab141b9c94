"""Division of the newest grid into rooms, and their publication."""

from __future__ import annotations

from collections.abc import Callable

from nav_msgs.msg import OccupancyGrid

from lodestar.assembly.scene_chain import SceneChain
from lodestar.scene.records import SceneDelta
from lodestar_interfaces import msg
from lodestar_ros import qos
from lodestar_ros.conversions import grid_from_msg
from lodestar_ros.conversions_regions import regions_to_msg
from lodestar_ros.node import LodestarNode


class SceneRooms:
    """Divides the grid of the robot's floor into rooms, every `period` seconds, and at once on another floor.

    Subscribes: ``grid``. Publishes: ``~/regions``. submit(function): calls it on the thread that updates the scene,
    where publish(delta) is called with the changes.
    """

    def __init__(
        self,
        node: LodestarNode,
        chain: SceneChain,
        period: float,
        submit: Callable[[Callable[[], None]], None],
        publish: Callable[[SceneDelta], None],
    ) -> None:
        self._chain, self._submit, self._publish = chain, submit, publish
        self._regions = node.create_publisher(msg.RegionArray, "~/regions", qos.LATCHED)
        node.listen(OccupancyGrid, "grid", self._on_grid, qos.LATCHED)
        node.steady_timer(period, self.look)

    def _on_grid(self, message: OccupancyGrid) -> None:
        grid = grid_from_msg(message)
        if self._chain.building.outdates(grid.stamp):
            return
        self._chain.grid = grid
        if self._chain.is_elsewhere:
            self.look()

    def look(self) -> None:
        """Find the rooms if that is pending. Safe to call from any thread."""
        if self._chain.rooms_wait:
            self._submit(self._find)

    def _find(self) -> None:
        """Find the rooms and publish them. Runs on the scene's thread."""
        found = self._chain.find_rooms()
        if found is not None:
            self._regions.publish(regions_to_msg(found.mask, found.grid, found.regions, found.revision))
            self._publish(found.delta)

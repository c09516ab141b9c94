"""The newest facts that the world model's validator reads."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from nav_msgs.msg import OccupancyGrid

from lodestar.floors.records import Building
from lodestar.grid.energy import EnergyBudget
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.scene.records import Entity, Region
from lodestar_ros import qos
from lodestar_ros.battery import BatteryConfig, BatteryInput
from lodestar_ros.conversions import grid_from_msg
from lodestar_ros.keep_out import KeepOutInput
from lodestar_ros.node import FrameNames, LodestarNode
from lodestar_ros.parameters import declare_config
from lodestar_ros.scene_client import SceneClient

POSE_HOLDS = 1.0  # s for which the newest transform is valid


class WorldFacts:
    """Grid with keep-out zones, pose, battery and scene; implements `worldmodel.validation.World`.

    Subscribes: ``grid``, ``costmap_filter_info``, ``entities``, ``regions``, ``battery``, ``mapping/building``, TF.
    on_grid is called on the executor with each plan grid without its zones.
    """

    def __init__(self, node: LodestarNode, on_grid: Callable[[OccupancyGrid2D], None]) -> None:
        self._node, self._on_new_grid = node, on_grid
        self.plan: OccupancyGrid2D | None = None
        self.energy = EnergyBudget()
        self.scene = SceneClient(node, archived=True)
        self._frames = declare_config(node, FrameNames, "frames.")
        self._keep_out = KeepOutInput(node)
        self._buffer = node.transforms(newest=True).buffer
        BatteryInput(node, declare_config(node, BatteryConfig, "battery."), self._on_energy)
        node.listen(OccupancyGrid, "grid", self._on_grid, qos.LATCHED)

    def _on_grid(self, message: OccupancyGrid) -> None:
        grid = grid_from_msg(message)
        if self.building.outdates(grid.stamp):
            return
        self.plan = grid
        self._on_new_grid(grid)

    def _on_energy(self, budget: EnergyBudget) -> None:
        self.energy = budget

    @property
    def building(self) -> Building:
        """Return the floors, including the robot's current floor."""
        return self.scene.floors.newest

    @property
    def charger(self) -> np.ndarray | None:
        """Return the charger's position (2,); None if none is configured, so that the drive may end anywhere."""
        return None if self.energy.charger is None else np.array(self.energy.charger, np.float64)

    @property
    def grid(self) -> OccupancyGrid2D | None:
        """Return the newest grid with the keep-out zones."""
        return self._keep_out.apply(self.plan)

    @property
    def pose(self) -> np.ndarray | None:
        """Return the robot's pose (3,) x, y, yaw in map; None if unknown."""
        return self._buffer.find_pose(self._frames.map, self._frames.base, self._node.now, POSE_HOLDS)

    @property
    def correction(self) -> tuple[np.ndarray, np.ndarray] | None:
        """Return map <- odom and odom <- base, (4, 4) each; None for a robot without odometry."""
        return self._buffer.find_chain(self._frames.chain, self._node.now, POSE_HOLDS)

    @property
    def map_id(self) -> int:
        """Return the id of the current map."""
        return self.scene.mirror.map_id

    def record(self, entity_id: int) -> Entity | None:
        """Return the entity with this id, archived or not; None if unknown."""
        return self.scene.mirror.get(entity_id)

    def region(self, region_id: int) -> Region | None:
        """Return the region with this id; None if unknown."""
        return self.scene.mirror.regions.get(region_id)

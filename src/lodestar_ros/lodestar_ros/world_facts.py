"""The newest facts that the world model's validator reads."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from nav_msgs.msg import OccupancyGrid

from lodestar.floors.records import Building
from lodestar.geometry.poses import yaw_of
from lodestar.grid.energy import EnergyBudget
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.scene.records import Entity, Region
from lodestar_ros import qos
from lodestar_ros.battery import BatteryConfig, BatteryInput
from lodestar_ros.conversions import grid_from_msg
from lodestar_ros.frame_tree import TransformUnavailable
from lodestar_ros.keep_out import KeepOutInput
from lodestar_ros.node import FrameNames, LodestarNode
from lodestar_ros.parameters import declare_config
from lodestar_ros.scene_client import SceneClient

POSE_HOLDS = 1.0  # s for which the newest transform is valid


class WorldFacts:
    """Grid with keep-out zones, pose, battery and scene. It is a `worldmodel.validation.World`.

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
        """Return the floors, and that on which the robot is."""
        return self.scene.floors.newest

    @property
    def charger(self) -> np.ndarray | None:
        """Return the charger (2,); None where the drive may end anywhere."""
        return None if self.energy.charger is None else np.array(self.energy.charger, np.float64)

    @property
    def grid(self) -> OccupancyGrid2D | None:
        """Return the newest grid, with the keep-out zones."""
        return self._keep_out.apply(self.plan)

    @property
    def pose(self) -> np.ndarray | None:
        """Return the robot's pose (3,) x, y, yaw in map, None where it is not known."""
        frames = self._frames
        try:
            found = self._buffer.lookup_fresh(frames.map, frames.base, self._node.now, POSE_HOLDS)
        except TransformUnavailable:
            return None
        return np.array([found[0, 3], found[1, 3], yaw_of(found)])

    @property
    def correction(self) -> tuple[np.ndarray, np.ndarray] | None:
        """Return map <- odom and odom <- base, (4, 4) each; None for a robot without odometry."""
        frames, now = self._frames, self._node.now
        try:
            return (
                self._buffer.lookup_fresh(frames.map, frames.odom, now, POSE_HOLDS),
                self._buffer.lookup_fresh(frames.odom, frames.base, now, POSE_HOLDS),
            )
        except TransformUnavailable:
            return None

    @property
    def map_id(self) -> int:
        """Return the map that the robot is on."""
        return self.scene.mirror.map_id

    def record(self, entity_id: int) -> Entity | None:
        """Return the entity of this id, archived or not; None where it is unknown."""
        return self.scene.mirror.get(entity_id)

    def region(self, region_id: int) -> Region | None:
        """Return the region of this id, None where it is unknown."""
        return self.scene.mirror.regions.get(region_id)

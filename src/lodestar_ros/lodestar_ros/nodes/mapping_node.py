"""ROS shell around the mapper of the plan grid: ranges or depth in, grid and octree out."""

from __future__ import annotations

import threading
import time
from typing import Any

from nav_msgs.msg import OccupancyGrid
from octomap_msgs.msg import Octomap
from sensor_msgs.msg import Image

from lodestar.assembly import mapping_parts
from lodestar.assembly.config import MappingConfig
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.mapping.octomap import MapExtentError, OctoMapper
from lodestar.mapping.scan_grid import ScanGridMapper
from lodestar.storage.checkpoint import CheckpointConfig
from lodestar_ros import qos
from lodestar_ros.conversions import grid_from_msg, stamp_from_msg
from lodestar_ros.conversions_map import octomap_to_msg
from lodestar_ros.conversions_sensors import cloud_from_msg, scan_from_msg
from lodestar_ros.executors import main_of
from lodestar_ros.frame_tree import TransformUnavailable
from lodestar_ros.grid_files import GridFiles
from lodestar_ros.grid_publisher import GridPublisher
from lodestar_ros.map_source import PosedMessage, drop_offs, listen_to_source, on_slam, posed
from lodestar_ros.node import FrameNames, LodestarNode
from lodestar_ros.parameters import declare_config, declare_part
from lodestar_ros.rgbd import CameraPoses
from lodestar_ros.sync import PoseQueue
from lodestar_ros.way_input import WayInput
from lodestar_ros.workers import LatestWorker


class MappingNode(LodestarNode):
    """Keep the plan grid of all nodes.

    Subscribes: ``points``, ``scan``, or ``depth`` and ``camera_info``, TF, ``closed_ways``; with SLAM also ``map``.
    Publishes: ``grid`` (when it changed, and every few seconds), ``~/octomap`` (if it has subscribers).
    Actions: ``~/save``, ``~/load``.
    """

    def __init__(self, **kwargs):
        super().__init__("mapping", **kwargs)
        self._config = declare_part(self, MappingConfig)
        self._frames = declare_config(self, FrameNames, "frames.")
        self._mapper = mapping_parts.plan_mapper(self._config)
        self._lock = threading.RLock()  # of the mapper: a save copies it, a load replaces it
        self._slam: OccupancyGrid2D | None = None
        self._grid_due = self._octomap_due = 0.0
        self._thinning = mapping_parts.turn_filter(self._config)
        self._grid = GridPublisher(self, self._config.grid_refresh)
        self._ways = WayInput(self, mapping_parts.way_overlay(self._config), self._on_ways)
        self._octomap = self.create_publisher(Octomap, "~/octomap", qos.LATCHED)
        self._worker: LatestWorker = LatestWorker("map", self._integrate, self._on_error)
        self.on_close(self._worker.close)
        self._queue: PoseQueue = PoseQueue(self._resolve, self._worker.submit, self._on_drop)
        self._buffer = self.transforms(self._queue.retry).buffer
        if self._config.source == "depth":
            self._poses = CameraPoses(self, self._buffer, self._frames)
        self._input = listen_to_source(self, self._config, self._on_input)
        if self._config.source == "slam":
            self.listen(OccupancyGrid, "map", self._on_slam_map, qos.LATCHED)
        checkpoints = declare_config(self, CheckpointConfig, "checkpoint.")
        self._files = GridFiles(
            self, self._config, checkpoints, self._lock, lambda: self._mapper, self._replace,
            lambda: self._worker.done,
        )  # fmt: skip
        self.diagnostics.value("integrate.dropped", lambda: self._worker.dropped)
        self.diagnostics.value("integrate.latency_s", lambda: self._worker.latency)
        self.diagnostics.value("drop_offs", lambda: drop_offs(self._config, self._mapper))

    def on_clock_jump(self) -> None:
        super().on_clock_jump()
        self._thinning.reset()

    def _on_input(self, message: Any) -> None:
        if self._thinning.due(stamp_from_msg(message.header.stamp)):
            self._queue.add(message)

    def _on_ways(self) -> None:
        self._grid_due = 0.0  # with the next turn

    def _on_slam_map(self, message: OccupancyGrid) -> None:
        self._slam = grid_from_msg(message)

    def _replace(self, loaded: OctoMapper | ScanGridMapper) -> None:
        """Continue with a loaded map and publish it at once."""
        self._mapper, self._grid_due, self._octomap_due = loaded, 0.0, 0.0
        if not loaded.is_empty or self._grid.has_published:
            self._publish(loaded, self.now)

    def _resolve(self, message: Any) -> PosedMessage:
        return posed(message, self._buffer, self._frames, self._config)

    def _on_drop(self, error: TransformUnavailable) -> None:
        self._input.drop("no_transform")
        self.get_logger().warning(str(error), throttle_duration_sec=5.0)
        self.diagnostics.status(str(error), ok=False)

    def _integrate(self, item: PosedMessage) -> None:
        """On the worker."""
        message, map_from_sensor = item.message, item.map_from_sensor
        with self._lock:
            mapper = self._mapper
            if mapper.follow(item.map_from_odom, item.odom_from_sensor):
                self._grid_due = 0.0  # the map has jumped: the next grid is published at once
            if isinstance(message, Image) and isinstance(mapper, OctoMapper):
                frame = self._poses.frame(message)
                mapper.insert_depth(frame, item.map_from_base)
                self._ways.look_along(lambda: mapper.depth_points(frame), map_from_sensor, item.stamp)
            elif self._thinning.takes(item.stamp, map_from_sensor[:3, 3]):
                if isinstance(mapper, ScanGridMapper):
                    mapper.insert_scan(*scan_from_msg(message), map_from_sensor)
                else:
                    mapper.insert_points(cloud_from_msg(message), map_from_sensor, item.map_from_base)
                self._ways.look(message, map_from_sensor, item.stamp)
            self._publish(mapper, item.stamp)

    def _publish(self, mapper: OctoMapper | ScanGridMapper, stamp: float) -> None:
        now = time.monotonic()
        if now >= self._grid_due:
            self._grid_due = now + self._config.grid_period
            grid = mapper.project(stamp)
            if self._config.source == "slam":
                if self._slam is None:
                    return self.diagnostics.status("waiting for SLAM's map", ok=False)
                grid = on_slam(self._slam, grid, mapper)
            self._publish_grid(self._ways.laid_over(grid))
        wanted = now >= self._octomap_due and self._octomap.get_subscription_count() > 0
        if wanted and isinstance(mapper, OctoMapper):
            self._octomap_due = now + self._config.octomap_period
            binary = self._config.binary
            data = mapper.binary_data() if binary else mapper.full_data()
            self._octomap.publish(octomap_to_msg(data, mapper.config.resolution, stamp, binary=binary))

    def _publish_grid(self, grid: OccupancyGrid2D) -> None:
        self._grid.publish(grid)
        self.diagnostics.status(f"{grid.free_area:.1f} m2 known free")

    def _on_error(self, error: Exception) -> None:
        if isinstance(error, (ValueError, TransformUnavailable, MapExtentError)):
            self._input.drop("malformed")
        self.diagnostics.error(error)


main = main_of(MappingNode)

"""ROS shell around the mapper of the plan grid: converts ranges or depth, publishes grid and octree."""

from __future__ import annotations

import threading
from typing import Any

from nav_msgs.msg import OccupancyGrid
from octomap_msgs.msg import Octomap
from sensor_msgs.msg import CompressedImage, Image

from lodestar.assembly.config import MappingConfig
from lodestar.assembly.plan_chain import PlanChain
from lodestar.mapping.closure_rehearsal import rehearse_plan
from lodestar.mapping.occupancy.grid_file import VERSIONS
from lodestar.mapping.occupancy.octomap import MapExtentError, OctoMapper
from lodestar.storage.checkpoint import CheckpointConfig
from lodestar.timing.stamps import Periodic
from lodestar.worldmodel.closed_ways import ways_here
from lodestar_ros import qos
from lodestar_ros.checkpoints import Checkpointer
from lodestar_ros.conversions import grid_from_msg, stamp_from_msg
from lodestar_ros.conversions_map import octomap_to_msg
from lodestar_ros.executors import main_of
from lodestar_ros.floor_desk import FloorDesk
from lodestar_ros.frame_tree import TransformUnavailable
from lodestar_ros.grid_publisher import GridPublisher
from lodestar_ros.map_actions import PartServer
from lodestar_ros.map_source import PosedMessage, drop_offs, listen_to_source, posed
from lodestar_ros.mover_publisher import MoverPublisher
from lodestar_ros.node import FrameNames, LodestarNode
from lodestar_ros.parameters import declare_config, declare_part
from lodestar_ros.pose_graph_input import PoseGraphInput
from lodestar_ros.rgbd import CameraPoses
from lodestar_ros.sync import PoseQueue
from lodestar_ros.way_input import WayInput
from lodestar_ros.workers import LatestWorker

MAPPING_GRID_REFRESH = 3.0  # s between two grids without a change; chosen: subscribers see that it is valid
MAPPING_OCTOMAP_PERIOD = 1.0  # s between two octrees; chosen


class MappingNode(LodestarNode):
    """Maintains the plan grid that all nodes use.

    Subscribes: ``points``, ``scan``, or ``depth`` and ``camera_info``, TF, ``closed_ways``; with SLAM also
    ``map``. Publishes: ``grid`` (of the robot's floor, on changes and every few seconds), ``~/building``,
    ``~/movers`` (moving objects in the ranges), ``~/octomap`` (if it has subscribers).
    Actions: ``~/save``, ``~/load``.
    """

    def __init__(self, **kwargs):
        super().__init__("mapping", **kwargs)
        PoseGraphInput(self)
        self._config = declare_part(self, MappingConfig)
        self._frames = declare_config(self, FrameNames, "frames.")
        self._chain = self.timed(PlanChain(self._config))
        if isinstance(self._chain.mapper, OctoMapper):
            rehearse_plan(self._config.octomap)
        self._lock = threading.RLock()  # guards the chain: a save copies its mapper, a load replaces it
        self._floors = FloorDesk(self, self._chain, self._config, self._lock)
        self._shown = self._chain.grid  # the grid that was published last, or the initial grid
        self._octomap_due = Periodic(MAPPING_OCTOMAP_PERIOD)
        self._grid = GridPublisher(self, MAPPING_GRID_REFRESH)
        self._ways = WayInput(self, lambda: self._chain.opened_ways)
        self._movers = MoverPublisher(self, "~/movers")
        self._octomap = self.create_publisher(Octomap, "~/octomap", qos.LATCHED)
        self._worker: LatestWorker = LatestWorker("map", self._integrate, self._on_error)
        self.on_close(self._worker.close)
        self._queue: PoseQueue = self.timed(PoseQueue(self._resolve, self._worker.submit, self._on_drop))
        self._buffer = self.transforms(self._queue.retry).buffer
        if self._config.source == "depth":
            self._poses = CameraPoses(self, self._buffer, self._frames)
        self._input = listen_to_source(self, self._config, self._on_input)
        if self._config.source == "slam":
            self.listen(OccupancyGrid, "map", lambda m: self._chain.take_slam(grid_from_msg(m)), qos.LATCHED)
        self._serve_part()
        self.diagnostics.value("integrate.dropped", lambda: self._worker.dropped)
        self.diagnostics.value("integrate.latency_s", lambda: self._worker.latency)
        self.diagnostics.value("drop_offs", lambda: drop_offs(self._config, self._chain.mapper))

    def _on_input(self, message: Any) -> None:
        if self._chain.is_due(stamp_from_msg(message.header.stamp)):
            self._queue.add(message)

    def _serve_part(self) -> None:
        """Serve the grid's part of a saved map and take checkpoints, after restoring a predecessor's checkpoint."""
        kind = self._chain.mapper.KIND
        files = Checkpointer(
            self, declare_config(self, CheckpointConfig, "checkpoint."), {kind: VERSIONS[kind]}
        )
        if files.restore(lambda archive: self._floors.stack.resume(archive, self.now)):
            self._show_replaced()
        put = self._floors.putting(lambda: self.now, self._lock, self._show_replaced)
        part = self._floors.stack.part(lambda: self.now, files.take_now, put, self._lock)
        files.keep(part.capture, lambda: self._worker.done)
        PartServer(self, part)

    def _show_replaced(self) -> None:
        self._octomap_due.reset()
        if self._chain.mapper.is_empty and not self._grid.has_published:
            self._shown = self._chain.grid
        else:
            self._publish(self.now)

    def _resolve(self, message: Any) -> PosedMessage:
        return posed(message, self._buffer, self._frames)

    def _on_drop(self, error: TransformUnavailable) -> None:
        self._input.drop("no_transform")
        self.get_logger().warning(str(error), throttle_duration_sec=5.0)
        self.diagnostics.status(str(error), ok=False)

    def _integrate(self, item: PosedMessage) -> None:
        """Add a sensor message to the map and publish the grid. Runs on the worker."""
        with self._lock:
            self._chain.follow_ways(ways_here(self._ways.told, self._floors.stack.building))
            if not self._floors.takes(item):
                return
            if isinstance(item.message, Image | CompressedImage):
                self._chain.take_depth(self._poses.frame(item.message), item.odom_from_base)
            elif self._chain.needs(item.stamp, item.map_from_sensor):
                try:
                    self._chain.take_turn(item.turn())
                finally:  # movers are tracked even if the mapper refuses the turn
                    self._movers.publish(self._chain.movers.tracks(), item.stamp)
            self._publish(item.stamp)

    def _publish(self, stamp: float) -> None:
        """Publish the grid if it has changed, and the octree if it is due and has subscribers."""
        if self._chain.waits_for_slam:
            self.diagnostics.status("waiting for SLAM's map", ok=False)
        elif self._chain.grid is not self._shown:
            self._shown = self._chain.grid
            self._grid.publish(self._shown)
            mapper = self._chain.mapper
            short = mapper.shortage if isinstance(mapper, OctoMapper) else ""
            self.diagnostics.status(short or f"{self._shown.free_area:.1f} m2 known free", ok=not short)
        mapper = self._chain.mapper
        if not isinstance(mapper, OctoMapper) or not self._octomap.get_subscription_count():
            return
        if self._octomap_due.due(stamp):
            data = mapper.binary_data()  # without probabilities
            self._octomap.publish(octomap_to_msg(data, mapper.config.resolution, stamp, binary=True))

    def _on_error(self, error: Exception) -> None:
        if isinstance(error, (ValueError, TransformUnavailable, MapExtentError)):
            self._input.drop("malformed")
        self.diagnostics.error(error)


main = main_of(MappingNode)

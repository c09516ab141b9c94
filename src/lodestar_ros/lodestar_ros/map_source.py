"""The mapping node's mapper and its sensor inputs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sensor_msgs.msg import Image, LaserScan, PointCloud2

from lodestar.assembly.config import MappingConfig
from lodestar.assembly.range_turns import LidarTurn, RangeTurn, ScannerTurn
from lodestar.mapping.config import FLOOR_STEP
from lodestar.mapping.occupancy.octomap import OctoMapper
from lodestar.mapping.occupancy.scan_grid import ScanGridMapper
from lodestar_ros import qos
from lodestar_ros.conversions import stamp_from_msg
from lodestar_ros.conversions_sensors import cloud_from_msg, scan_from_msg
from lodestar_ros.diagnostics import InputMonitor
from lodestar_ros.node import FrameNames, LodestarNode
from lodestar_ros.rgbd import MAP_HOLDS
from lodestar_ros.transforms import TransformBuffer

DROP_OFFS_SEEN = "seen: stairs that lead down and holes are obstacles, floor that was not seen is unknown"
_NOT_SEEN = (
    "NOT SEEN: stairs that lead down and holes are free floor on this map; keep the robot away from them. "
)
_TOPICS = {"depth": (Image, "depth"), "scan": (LaserScan, "scan")}  # all other sources use points


def listen_to_source(
    node: LodestarNode, config: MappingConfig, callback: Callable[[Any], None]
) -> InputMonitor:
    """Subscribe to the configured sensor and return its monitor."""
    message_type, topic = _TOPICS.get(config.source, (PointCloud2, "points"))
    node.listen(message_type, topic, callback, qos.SENSOR, stamped=True)
    return node.diagnostics.input(topic)


@dataclass(frozen=True)
class PosedMessage:
    """A sensor's message with the poses (4, 4) of sensor and base at its stamp."""

    message: Any
    stamp: float
    map_from_odom: np.ndarray
    odom_from_sensor: np.ndarray
    odom_from_base: np.ndarray

    @property
    def map_from_sensor(self) -> np.ndarray:
        """Return (4, 4) map <- sensor."""
        return self.map_from_odom @ self.odom_from_sensor

    def turn(self) -> RangeTurn:
        """Return the turn (one sweep of range measurements) in a point cloud or scan. Raises BadMessage."""
        if isinstance(self.message, LaserScan):
            ranges, first, step, farthest = scan_from_msg(self.message)
            where = self.odom_from_sensor, self.map_from_odom, self.odom_from_base
            return ScannerTurn(self.stamp, ranges, (first, step), farthest, *where)
        points = cloud_from_msg(self.message)
        return LidarTurn(self.stamp, points, self.odom_from_sensor, self.map_from_odom, self.odom_from_base)


def posed(message: Any, buffer: TransformBuffer, frames: FrameNames) -> PosedMessage:
    """Return the message with the poses that its mapper needs. Raises TransformUnavailable."""
    stamp = stamp_from_msg(message.header.stamp)
    sensor = buffer.lookup(frames.odom, message.header.frame_id, stamp)
    base = buffer.lookup(frames.odom, frames.base, stamp)
    return PosedMessage(
        message, stamp, buffer.lookup(frames.map, frames.odom, stamp, MAP_HOLDS), sensor, base
    )


def drop_offs(config: MappingConfig, mapper: OctoMapper | ScanGridMapper) -> str:
    """Return a diagnostics text: whether the map detects drop-offs, and whether the robot's feet are at the
    height of the mapped floor.
    """
    if not isinstance(mapper, OctoMapper):
        return _NOT_SEEN + "A planar scan passes over them: set source to lidar or depth"
    if not config.octomap.floor.enabled:
        return _NOT_SEEN + "octomap.floor.enabled is off: set it to true"
    if not mapper.sees_drop_offs:
        return _NOT_SEEN + "No points or depth images have come in yet"
    floor, error = config.octomap.floor, mapper.feet_error
    if abs(error) <= FLOOR_STEP:
        return DROP_OFFS_SEEN
    side, height = "over" if error > 0.0 else "under", floor.base_height - error
    return (
        f"WRONG HEIGHT: the floor that is seen lies {abs(error):.2f} m {side} the feet, so that nothing is free; set "
        f"octomap.floor.base_height to {height:.2f}, or mend the sensor's pose"
    )

"""The mapper of the mapping node and what it listens to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rclpy.node import Node
from sensor_msgs.msg import Image, LaserScan, PointCloud2

from lodestar.assembly import parts
from lodestar.assembly.config import MappingConfig
from lodestar.mapping.octomap import OctoMapper
from lodestar.mapping.scan_grid import ScanGridMapper
from lodestar_ros import qos
from lodestar_ros.diagnostics import InputMonitor
from lodestar_ros.node import LodestarNode
from lodestar_ros.parameters import ParameterError

_TOPICS = {"depth": (Image, "depth"), "scan": (LaserScan, "scan")}  # of other sources: points


def make_mapper(node: Node, config: MappingConfig) -> OctoMapper | ScanGridMapper | None:
    """The mapper, or None where OctoMap's package is missing and SLAM's map serves without it.

    Raises ParameterError where it is missing and no other source would be left.
    """
    try:
        return parts.plan_mapper(config)
    except ImportError as error:
        if config.source != "slam":
            raise ParameterError(f"source is {config.source}: {error}") from error
        node.get_logger().warning(f"the grid is SLAM's map without obstacles above its plane: {error}")
        return None


def listen_to_source(
    node: LodestarNode,
    config: MappingConfig,
    mapper: OctoMapper | ScanGridMapper | None,
    callback: Callable[[Any], None],
) -> InputMonitor:
    """Subscribe to the sensor of the configuration; returns its monitor. Without a mapper there is only SLAM's map."""
    if mapper is None:
        return node.diagnostics.input("map")
    message_type, topic = _TOPICS.get(config.source, (PointCloud2, "points"))
    node.listen(message_type, topic, callback, qos.SENSOR, stamped=True)
    return node.diagnostics.input(topic)

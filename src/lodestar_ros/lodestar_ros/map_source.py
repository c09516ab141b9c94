"""The mapper of the mapping node, or why there is none."""

from __future__ import annotations

from rclpy.node import Node

from lodestar.assembly import parts
from lodestar.assembly.config import MappingConfig
from lodestar.mapping.octomap import OctoMapper
from lodestar.mapping.scan_grid import ScanGridMapper
from lodestar_ros.parameters import ParameterError


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

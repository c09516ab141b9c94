"""Where the plan grid comes from, and the octree that it may need."""

from __future__ import annotations

from dataclasses import dataclass

from rclpy.node import Node

from lodestar.mapping.octomap import OctoMapConfig, OctoMapper
from lodestar_ros.parameters import ParameterError

SOURCES = ("lidar", "depth", "slam")


@dataclass(frozen=True)
class MappingConfig:
    """Where the map comes from and how often it is published. Periods in seconds of real time."""

    source: str = (
        "lidar"  # lidar: points; depth: depth images; slam: SLAM's map with obstacles above its plane
    )
    grid_period: float = 0.5
    grid_refresh: float = 3.0  # also when nothing changed, so that everyone knows that it still holds
    octomap_period: float = 1.0
    binary: bool = True  # octomap without probabilities

    def __post_init__(self) -> None:
        if self.source not in SOURCES:
            raise ValueError(f"source is {self.source!r}; it is one of {', '.join(SOURCES)}")


def make_mapper(node: Node, config: MappingConfig, octomap: OctoMapConfig) -> OctoMapper | None:
    """The octree, or None where its package is missing and SLAM's map serves without it.

    Raises ParameterError where it is missing and no other source would be left.
    """
    try:
        return OctoMapper(octomap)
    except ImportError as error:
        if config.source != "slam":
            raise ParameterError(f"source is {config.source}: {error}") from error
        node.get_logger().warning(f"SLAM's map goes out without obstacles above its plane: {error}")
        return None

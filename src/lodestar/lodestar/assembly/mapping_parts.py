"""Makes the parts of the node that builds the grid.

The configuration has its shared values filled in already (`RobotConfig` and the nodes' parameters do so).
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from lodestar.assembly.config import MappingConfig
from lodestar.mapping.octomap import OctoMapper
from lodestar.mapping.scan_grid import ScanGridMapper
from lodestar.mapping.turn_filter import TurnFilter
from lodestar.storage.archive import ForeignFile
from lodestar.worldmodel.closed_ways import WayOverlay


def plan_mapper(config: MappingConfig) -> OctoMapper | ScanGridMapper:
    """Return the mapper for the configured source."""
    return ScanGridMapper(config.scan) if config.source == "scan" else OctoMapper(config.octomap)


def plan_mapper_from(
    config: MappingConfig, kind: str, arrays: Mapping[str, np.ndarray]
) -> OctoMapper | ScanGridMapper:
    """Return the mapper that continues a saved grid of its kind.

    Raises ForeignFile, with what to do, where the arrays are of another kind or do not fit the configuration.
    """
    wanted = ScanGridMapper if config.source == "scan" else OctoMapper
    if kind != wanted.KIND:
        made_by = {ScanGridMapper.KIND: "the planar scan", OctoMapper.KIND: "an octree"}.get(kind, repr(kind))
        source = "scan" if kind == ScanGridMapper.KIND else "lidar, depth or slam"
        raise ForeignFile(
            f"the grid was made of {made_by}, and mapping.source is {config.source}: set mapping.source to {source}, "
            "or explore anew and save again"
        )
    try:
        if config.source == "scan":
            return ScanGridMapper.from_arrays(arrays, config.scan)
        return OctoMapper.from_arrays(arrays, config.octomap)
    except (KeyError, ValueError, AttributeError) as error:
        raise ForeignFile(f"the grid: {error}") from error


def turn_filter(config: MappingConfig) -> TurnFilter:
    """Return the filter that selects which LiDAR turns the mapper integrates."""
    return TurnFilter(config.thinning)


def way_overlay(config: MappingConfig) -> WayOverlay:
    """Return what lays the closed ways over the grid."""
    return WayOverlay(config.ways)

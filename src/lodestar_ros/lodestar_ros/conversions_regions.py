"""Conversion of regions from and to messages."""

from __future__ import annotations

from typing import Any

import numpy as np

from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.scene.records import Region
from lodestar.scene.regions import RegionMap
from lodestar_interfaces import msg
from lodestar_ros.conversions import BadMessage, header, map_info, point_from_msg, point_to_msg
from lodestar_ros.conversions_sensors import image_from_msg, image_to_msg


def regions_to_msg(
    mask: np.ndarray, grid: OccupancyGrid2D, regions: Any, revision: int = 0
) -> msg.RegionArray:
    """Return the message of regions whose ids are the values of the mask, (rows, columns) uint16 over the grid's
    cells.
    """
    message = msg.RegionArray(header=header(grid.stamp, grid.frame), revision=revision)
    message.info = map_info(mask.shape, grid.resolution, grid.origin, grid.stamp)
    message.mask = image_to_msg(mask, "mono16", grid.stamp, grid.frame)
    message.regions = [region_to_msg(region) for region in regions]
    return message


def region_to_msg(region: Region) -> msg.Region:
    return msg.Region(
        id=int(region.id),
        label=region.label,
        named=region.named,
        label_weight=float(region.label_weight),
        area=float(region.area),
        centroid=point_to_msg(region.centroid),
        neighbors=[int(other) for other in region.neighbors],
    )


def regions_from_msg(message: msg.RegionArray, reach: float) -> tuple[list[Region], RegionMap]:
    """Return the regions and the map from places to them. reach: metres, `shared.region_reach`. Raises BadMessage."""
    mask, info = image_from_msg(message.mask), message.info
    if mask.shape != (info.height, info.width) or not info.resolution > 0.0:
        raise BadMessage(f"the region mask is {mask.shape}, expected {(info.height, info.width)} cells")
    rooms = RegionMap(reach)
    rooms.set_mask(mask, (info.origin.position.x, info.origin.position.y), round(float(info.resolution), 6))
    regions = [
        Region(
            item.id,
            item.label,
            item.label_weight,
            item.area,
            point_from_msg(item.centroid),
            tuple(item.neighbors),
            item.named,
        )
        for item in message.regions
    ]
    return regions, rooms

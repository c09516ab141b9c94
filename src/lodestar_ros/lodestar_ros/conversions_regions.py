"""Conversion of regions and their mask to and from messages."""

from __future__ import annotations

from typing import Any

import numpy as np

from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.scene.records import Region
from lodestar.scene.regions import RegionMap
from lodestar_interfaces import msg
from lodestar_ros.codec import BadMessage, codec
from lodestar_ros.conversions import header, map_info
from lodestar_ros.conversions_sensors import image_from_msg, image_to_msg

region_to_msg, region_from_msg = codec(Region, msg.Region)


def regions_to_msg(
    mask: np.ndarray, grid: OccupancyGrid2D, regions: Any, revision: int = 0
) -> msg.RegionArray:
    """Return the message of regions whose ids are the values of the mask, (rows, columns) uint16 over the grid's
    cells.
    """
    return msg.RegionArray(
        header=header(grid.stamp, grid.frame),
        revision=revision,
        info=map_info(mask.shape, grid.resolution, grid.origin, grid.stamp),
        mask=image_to_msg(mask, "mono16", grid.stamp, grid.frame),
        regions=[region_to_msg(region) for region in regions],
    )


def regions_from_msg(message: msg.RegionArray, reach: float) -> tuple[list[Region], RegionMap]:
    """Return the regions and the map from positions to them. reach: metres, `shared.region_reach`. Raises
    BadMessage.
    """
    mask, info = image_from_msg(message.mask), message.info
    if mask.shape != (info.height, info.width) or not info.resolution > 0.0:
        raise BadMessage(f"the region mask is {mask.shape}, expected {(info.height, info.width)} cells")
    rooms = RegionMap(reach)
    rooms.set_mask(mask, (info.origin.position.x, info.origin.position.y), round(float(info.resolution), 6))
    return [region_from_msg(item) for item in message.regions], rooms

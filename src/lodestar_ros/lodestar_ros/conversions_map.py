"""Conversion of pillars, regions, similarity fields and octrees from and to messages."""

from __future__ import annotations

import array
from typing import Any

import numpy as np
from nav_msgs.msg import OccupancyGrid
from octomap_msgs.msg import Octomap

from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.mapping.pillars import PillarMap
from lodestar.scene.config import SceneConfig
from lodestar.scene.records import Region
from lodestar.scene.regions import RegionMap
from lodestar_interfaces import msg
from lodestar_ros.conversions import (
    BadMessage,
    grid_to_msg,
    header,
    image_from_msg,
    image_to_msg,
    map_info,
    point_from_msg,
    point_to_msg,
)

MAP = "map"


def pillars_to_msg(pillars: PillarMap, stamp: float) -> msg.PillarMap:
    ranks, rows, columns = pillars.ids.shape
    message = msg.PillarMap(header=header(stamp, MAP), revision=pillars.revision, depth=ranks)
    message.info = map_info((rows, columns), pillars.resolution, pillars.origin, stamp)
    if pillars.ids.size:
        message.ids = image_to_msg(pillars.ids.reshape(-1, columns), "32SC1")
        message.counts = image_to_msg(pillars.counts.reshape(-1, columns), "16UC1")
    return message


def pillars_from_msg(message: msg.PillarMap) -> PillarMap:
    """Raises BadMessage."""
    shape = (message.depth, message.info.height, message.info.width)
    origin = message.info.origin.position
    if 0 in shape:
        ids, counts = np.zeros(shape, np.int32), np.zeros(shape, np.uint16)
    else:
        ids, counts = image_from_msg(message.ids), image_from_msg(message.counts)
        if ids.size != np.prod(shape) or counts.size != np.prod(shape):
            raise BadMessage(f"pillars of {shape} have {ids.size} ids and {counts.size} counts")
    resolution = round(float(message.info.resolution), 6)
    return PillarMap(
        ids.reshape(shape), counts.reshape(shape), resolution, (origin.x, origin.y), message.revision
    )


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


def regions_from_msg(message: msg.RegionArray) -> tuple[list[Region], RegionMap]:
    """Return the regions and the map from places to them. Raises BadMessage."""
    mask, info = image_from_msg(message.mask), message.info
    if mask.shape != (info.height, info.width) or not info.resolution > 0.0:
        raise BadMessage(f"the region mask is {mask.shape}, expected {(info.height, info.width)} cells")
    rooms = RegionMap(SceneConfig().region_reach)
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


def similarity_to_msg(field: np.ndarray, resolution: float, origin: Any, stamp: float) -> OccupancyGrid:
    """Return an OccupancyGrid of a similarity field (rows, columns) in [0, 1]: 0..100, -1 = unknown."""
    values = np.where(np.isfinite(field), np.clip(field, 0.0, 1.0) * 100.0, -1.0)
    cells = np.round(values).astype(np.int8)
    return grid_to_msg(OccupancyGrid2D(cells, resolution, (float(origin[0]), float(origin[1])), stamp))


def octomap_to_msg(
    data: bytes, resolution: float, stamp: float, *, binary: bool, frame: str = MAP
) -> Octomap:
    message = Octomap(header=header(stamp, frame), binary=binary, id="OcTree", resolution=float(resolution))
    message.data = array.array("b", data)
    return message

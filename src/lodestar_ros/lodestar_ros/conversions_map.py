"""Conversion of pillar maps (instances per grid cell), similarity fields and octrees from and to messages."""

from __future__ import annotations

import array
from typing import Any

import numpy as np
from nav_msgs.msg import OccupancyGrid
from octomap_msgs.msg import Octomap

from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.mapping.instances.pillars import PillarMap
from lodestar_interfaces import msg
from lodestar_ros.conversions import MAP, BadMessage, grid_to_msg, header, map_info
from lodestar_ros.conversions_sensors import image_from_msg, image_to_msg


def pillars_to_msg(pillars: PillarMap, stamp: float) -> msg.PillarMap:
    ranks, rows, columns = pillars.ids.shape
    message = msg.PillarMap(header=header(stamp, MAP), revision=pillars.revision, depth=ranks)
    message.info = map_info((rows, columns), pillars.resolution, pillars.origin, stamp)
    if pillars.ids.size:
        message.ids = image_to_msg(pillars.ids.reshape(-1, columns), "32SC1")
        message.counts = image_to_msg(pillars.counts.reshape(-1, columns), "16UC1")
    return message


def pillars_from_msg(message: msg.PillarMap) -> PillarMap:
    """Return the pillar map: up to K instances above each grid cell (RoboAtlas eq. 11). Raises BadMessage."""
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

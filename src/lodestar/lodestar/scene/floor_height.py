"""Height of the floor at an entity."""

from __future__ import annotations

from lodestar.geometry.floor_height import floor_below
from lodestar.scene.records import Entity


def floor_of(entity: Entity, camera_height: float, otherwise: float = 0.0) -> float:
    """Return the height in map, metres, of the floor at an entity, from its nearest saved view.

    camera_height: metres above the floor. otherwise: returned if the entity has no view.
    """
    poses = (view.map_from_camera for view in entity.views)
    return floor_below(poses, entity.mean, camera_height, otherwise)


def foot_height(entity: Entity, camera_height: float) -> float:
    """Return the height of an entity's lowest point above the floor, metres."""
    return float(entity.box_min[2]) - floor_of(entity, camera_height)

"""Height of the floor where an entity was seen from."""

from __future__ import annotations

from lodestar.geometry.floor_height import floor_below
from lodestar.scene.records import Entity


def floor_of(entity: Entity, camera_height: float, otherwise: float = 0.0) -> float:
    """Return the height in map, metres, of the floor at an entity's nearest saved view; `otherwise` without any.

    camera_height: metres above the floor.
    """
    poses = (view.map_from_camera for view in entity.views)
    return floor_below(poses, entity.mean, camera_height, otherwise)


def foot_height(entity: Entity, camera_height: float) -> float:
    """Return the metres from the floor up to an entity's lowest point."""
    return float(entity.box_min[2]) - floor_of(entity, camera_height)

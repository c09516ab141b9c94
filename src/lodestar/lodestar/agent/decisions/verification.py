"""Verification on arrival: the robot faces the target and has seen it again."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

import numpy as np

from lodestar.agent.facts.config import LoopConfig
from lodestar.agent.facts.stamps import FOREVER, Stamp, last_seen
from lodestar.geometry.boxes import nearest_point_on_box
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.grid.success_pose import is_facing
from lodestar.grid.visibility import line_of_sight
from lodestar.scene.records import Entity


class Evidence(Enum):
    """Evidence of one entity at an arrival."""

    CONFIRMED = "seen again, near and in front"
    NOT_SEEN = "not seen again yet"
    NOT_FACED = "not near enough or not in front"
    HIDDEN = "no line of sight"


@dataclass(frozen=True)
class Arrival:
    """The robot stands at a goal. since: loop time, seconds. stamp: of the pose then."""

    goal: np.ndarray  # (3,)
    entity_id: int
    expert: str
    since: float
    stamp: Stamp


def inspect(
    entity: Entity, pose: np.ndarray, grid: OccupancyGrid2D | None, since: Stamp, config: LoopConfig
) -> Evidence:
    """Return the evidence for an entity seen from pose (3,), by the definition of success (DESIGN section 3)."""
    if not is_facing(
        pose,
        entity.box_min,
        entity.box_max,
        footprint=config.viewpoints.footprint,
        max_distance=config.confirm_distance,
        max_bearing=config.confirm_bearing,
    ):
        return Evidence.NOT_FACED
    if grid is not None:
        nearest = nearest_point_on_box(pose[:2], entity.box_min[:2], entity.box_max[:2])
        if not line_of_sight(grid, pose[:2], nearest[None], ignore_last=config.sight_margin)[0]:
            return Evidence.HIDDEN
    return Evidence.CONFIRMED if last_seen(entity) > since else Evidence.NOT_SEEN


def faced_entity(
    accepted: Iterable[Entity], pose: np.ndarray, grid: OccupancyGrid2D | None, config: LoopConfig
) -> Entity | None:
    """The first of the accepted entities that the robot at pose (3,) faces, whether seen again or not."""
    for entity in accepted:
        if inspect(entity, pose, grid, FOREVER, config) is Evidence.NOT_SEEN:
            return entity
    return None

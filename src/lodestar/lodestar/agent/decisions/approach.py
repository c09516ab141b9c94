"""Checks of a target: a better one or a viewpoint at hand on the way, and whether it was seen again on arrival."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from lodestar.agent.facts.config import LoopConfig
from lodestar.agent.facts.newest import Facts
from lodestar.agent.facts.times import Stamp
from lodestar.experts.facing_places import support_of
from lodestar.experts.protocol import ActionKind, Proposal
from lodestar.geometry.boxes import nearest_point_on_box
from lodestar.grid.footprint import footprints_free
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.grid.success_pose import faced, is_facing
from lodestar.grid.viewpoints import NoViewpoint, find_viewpoints
from lodestar.grid.visibility import line_of_sight
from lodestar.query.targets import TargetView
from lodestar.scene.floor_height import foot_height
from lodestar.scene.mirror import SceneMirror
from lodestar.scene.records import Entity

_NEAR = 2.0  # metres to the box, beyond which it cannot be faced
_SHOWS = 0.3  # share of its height that must show from here past the edge of what it stands on
_TURN_STEPS = 6  # headings at which the footprint must fit while it turns


def heads_for(proposal: Proposal, entities: Sequence[Entity], config: LoopConfig) -> bool:
    """Whether the proposal's goal is a pose that faces one of the entities, or is made for it."""
    if any(proposal.entity_id == entity.id for entity in entities):
        return True
    if proposal.action is not ActionKind.GO or not entities:
        return False
    low, high = np.array([e.box_min for e in entities]), np.array([e.box_max for e in entities])
    success = config.success
    body = config.viewpoints.footprint
    return bool(faced(proposal.goal, low, high, body, success.distance, success.bearing).any())


def faces(pose: np.ndarray, entity: Entity, config: LoopConfig, surely: bool = False) -> bool:
    """Return whether a robot at pose (3,) has found the entity by the configured success, but for the line of sight.

    surely: with the margins for the error of the perceived box.
    """
    distance, bearing = config.success.distance, config.success.bearing
    if surely:
        distance, bearing = config.confirm_distance, config.confirm_bearing
    return is_facing(pose, entity.box_min, entity.box_max, config.viewpoints.footprint, distance, bearing)


def better_target(
    view: TargetView,
    current: Entity,
    accepted: Sequence[Entity],
    pose: np.ndarray,
    remaining: float,
    config: LoopConfig,
) -> tuple[Entity, str] | None:
    """The accepted entity that is worth leaving the current one for, and why; None where none is.

    remaining: metres of path to the current one. The margins keep the robot from turning back and forth.
    """
    score = view.score(current.id)
    for entity in accepted:
        if entity.id == current.id:
            continue
        gain = view.score(entity.id) - score
        if gain >= config.better_score:
            return entity, "a better match"
        nearest = nearest_point_on_box(pose[:2], entity.box_min[:2], entity.box_max[:2])
        away = math.dist(pose[:2], nearest)
        # False for NaN
        nearer = away <= config.nearer_share * remaining and away <= remaining - config.nearer_by
        if gain >= -config.about_as_good and nearer:
            return entity, "as good a match and much nearer"
    return None


def pose_here(
    grid: OccupancyGrid2D,
    pose: np.ndarray,
    entity: Entity,
    excluded: Sequence[Sequence[float]],
    goal: np.ndarray,
    config: LoopConfig,
    mirror: SceneMirror | None = None,
) -> np.ndarray | None:
    """The pose (3,) at the robot's place that faces the entity as a viewpoint must, and that it can turn to.

    mirror: the scene, which may know what the entity stands on. None where there is no such pose, where the edge of
    that would hide much of the entity, or where the goal is so near that nothing is saved.
    """
    nearest = nearest_point_on_box(pose[:2], entity.box_min[:2], entity.box_max[:2])
    if math.dist(pose[:2], nearest) > _NEAR or math.dist(pose[:2], goal[:2]) < config.worth_stopping:
        return None
    cells = grid.cells_of(pose[None, :2])
    if not bool(grid.contains(cells)[0]):
        return None
    lengths = np.full(grid.cells.shape, np.inf, np.float32)
    lengths[cells[0, 0], cells[0, 1]] = 0.0
    views = [view.map_from_camera for view in entity.views]
    tried = [np.asarray(one, np.float64) for one in excluded]
    raised = foot_height(entity, config.viewpoints.camera_height) > config.viewpoints.camera_height
    support = support_of((entity.box_min, entity.box_max), mirror) if raised else None
    viewpoints = config.viewpoints
    plain = replace(viewpoints, ignore_last=viewpoints.strict_ignore)  # furniture before it may be a wall
    try:
        best = find_viewpoints(grid, lengths, entity.box_min, entity.box_max, views, tried, plain, support)[0]
    except NoViewpoint:
        return None
    if support is not None and best.visible < _SHOWS:
        return None
    heading = best.pose[2]
    turn = (heading - pose[2] + math.pi) % (2.0 * math.pi) - math.pi
    steps = pose[2] + turn * np.linspace(0.0, 1.0, _TURN_STEPS)
    turning = np.column_stack([np.tile(pose[:2], (_TURN_STEPS, 1)), steps])
    if not footprints_free(grid, turning, viewpoints.footprint).all():
        return None
    return np.array([pose[0], pose[1], heading])


@dataclass(frozen=True)
class Arrival:
    """The robot stands at a goal. since: loop time, seconds. stamp: of the pose then."""

    goal: np.ndarray  # (3,)
    entity_id: int
    expert: str
    since: float
    stamp: Stamp


def faced_entity(accepted: Iterable[Entity], facts: Facts, config: LoopConfig) -> Entity | None:
    """Return the first of the accepted entities that the robot faces, with a line of sight, whether seen again or not;
    by the definition of success (DESIGN section 3).
    """
    pose, grid = facts.known_pose, facts.grid
    for entity in accepted:
        if not faces(pose, entity, config, surely=True):
            continue
        nearest = nearest_point_on_box(pose[:2], entity.box_min[:2], entity.box_max[:2])
        sight = config.sight_margin
        if grid is None or line_of_sight(grid, pose[:2], nearest[None], ignore_last=sight)[0]:
            return entity
    return None

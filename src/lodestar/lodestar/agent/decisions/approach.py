"""Checks of a target: whether to change to a better one, whether it can be viewed from the robot's position,
and whether the robot faces it on arrival.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from lodestar.agent.facts.config import LOOP_SIGHT_MARGIN, LoopConfig
from lodestar.agent.facts.newest import Facts
from lodestar.agent.facts.times import Stamp
from lodestar.experts.facing_places import support_of
from lodestar.experts.protocol import ActionKind, Proposal
from lodestar.geometry.boxes import nearest_point_on_box
from lodestar.grid.config import VIEWPOINT_STRICT_IGNORE
from lodestar.grid.footprint import footprints_free
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.grid.success_pose import faced, is_facing
from lodestar.grid.viewpoints import NoViewpoint, find_viewpoints
from lodestar.grid.visibility import line_of_sight
from lodestar.query.targets import TargetView
from lodestar.scene.floor_height import foot_height
from lodestar.scene.mirror import SceneMirror
from lodestar.scene.records import Entity

# The robot changes to another target whose score is better by this much, or that is about as good and nearer
# by this share and this distance in a straight line.
LOOP_BETTER_SCORE = 0.15  # of a score in [0, 1] (ours)
LOOP_ABOUT_AS_GOOD = 0.05  # of a score in [0, 1] (ours)
LOOP_NEARER_SHARE = 0.5  # share of the path that remains (ours)
LOOP_NEARER_BY = 1.5  # m of path that remains (ours)
# m to a goal; a farther goal is given up if the robot can face the target from its position (ours)
LOOP_WORTH_STOPPING = 0.25

_NEAR = 2.0  # metres to the box, beyond which the entity cannot be faced
_SHOWS = 0.3  # share of its height that must be visible over the edge of its support
_TURN_STEPS = 6  # headings during the turn at which the footprint must fit


def heads_for(proposal: Proposal, entities: Sequence[Entity], config: LoopConfig) -> bool:
    """Return whether the proposal names one of the entities, or its goal faces one."""
    if any(proposal.entity_id == entity.id for entity in entities):
        return True
    if proposal.action is not ActionKind.GO or not entities:
        return False
    low, high = np.array([e.box_min for e in entities]), np.array([e.box_max for e in entities])
    success = config.success
    body = config.viewpoints.footprint
    return bool(faced(proposal.goal, low, high, body, success.distance, success.bearing).any())


def faces(pose: np.ndarray, entity: Entity, config: LoopConfig, surely: bool = False) -> bool:
    """Return whether a robot at pose (3,) is as near to the entity and as turned to it as success requires;
    the line of sight is not checked.

    surely: use the stricter limits that allow for errors of the perceived box.
    """
    distance, bearing = config.success.distance, config.success.bearing
    if surely:
        distance, bearing = config.confirm_distance, config.confirm_bearing
    return is_facing(pose, entity.box_min, entity.box_max, config.viewpoints.footprint, distance, bearing)


def better_target(
    view: TargetView, current: Entity, accepted: Sequence[Entity], pose: np.ndarray, remaining: float
) -> tuple[Entity, str] | None:
    """Return an accepted entity that is worth changing to, and the reason; None if there is none.

    remaining: metres of path to the current entity. The better score or shorter path must exceed a margin, so
    that the robot does not alternate.
    """
    score = view.score(current.id)
    for entity in accepted:
        if entity.id == current.id:
            continue
        gain = view.score(entity.id) - score
        if gain >= LOOP_BETTER_SCORE:
            return entity, "a better match"
        nearest = nearest_point_on_box(pose[:2], entity.box_min[:2], entity.box_max[:2])
        away = math.dist(pose[:2], nearest)
        # False for NaN
        nearer = away <= LOOP_NEARER_SHARE * remaining and away <= remaining - LOOP_NEARER_BY
        if gain >= -LOOP_ABOUT_AS_GOOD and nearer:
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
    """Return a pose (3,) at the robot's position from which it faces the entity, if that is a valid viewpoint
    and the robot can turn there.

    None if there is no such pose, if the edge of the furniture under the entity (its support) would hide much
    of it, or if the goal is so near that nothing is saved. mirror: the scene, used to find the support.
    """
    nearest = nearest_point_on_box(pose[:2], entity.box_min[:2], entity.box_max[:2])
    if math.dist(pose[:2], nearest) > _NEAR or math.dist(pose[:2], goal[:2]) < LOOP_WORTH_STOPPING:
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
    plain = replace(viewpoints, ignore_last=VIEWPOINT_STRICT_IGNORE)  # an obstacle may be a wall
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
    """Arrival at a goal. since: loop time of the arrival, seconds. stamp: of the pose at the arrival."""

    goal: np.ndarray  # (3,)
    entity_id: int
    expert: str
    since: float
    stamp: Stamp


def faced_entity(accepted: Iterable[Entity], facts: Facts, config: LoopConfig) -> Entity | None:
    """Return the first accepted entity that the robot faces with a line of sight, even if not seen again;
    None if there is none. Distance and bearing must meet the limits of success (DESIGN section 3).
    """
    pose, grid = facts.known_pose, facts.grid
    for entity in accepted:
        if not faces(pose, entity, config, surely=True):
            continue
        nearest = nearest_point_on_box(pose[:2], entity.box_min[:2], entity.box_max[:2])
        sight = LOOP_SIGHT_MARGIN
        if grid is None or line_of_sight(grid, pose[:2], nearest[None], ignore_last=sight)[0]:
            return entity
    return None

"""Checks on the way to a target: a better target, and a viewpoint at the robot's own place."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from lodestar.agent.decisions.targets import TargetView
from lodestar.agent.facts.config import LoopConfig
from lodestar.experts.facing_places import support_of
from lodestar.geometry.boxes import nearest_point_on_box
from lodestar.grid.footprint import footprints_free
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.grid.viewpoints import NoViewpoint, find_viewpoints
from lodestar.scene.floor_height import foot_height
from lodestar.scene.mirror import SceneMirror
from lodestar.scene.records import Entity

_NEAR = 2.0  # metres to the box, beyond which it cannot be faced
_SHOWS = 0.3  # share of its height that must show from here past the edge of what it stands on
_TURN_STEPS = 6  # headings at which the footprint must fit while it turns


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
        nearer = (
            away <= config.nearer_share * remaining and away <= remaining - config.nearer_by
        )  # False for NaN
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

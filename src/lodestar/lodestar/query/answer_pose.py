"""Conversion of an answer into a pose that the robot can reach (FARM's action interface)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from lodestar.geometry.poses import BODY_FROM_OPTICAL, wrap_angle, yaw_of
from lodestar.grid.config import SAME_GOAL, VIEWPOINT_CAMERA_FORWARD, VIEWPOINT_MAX_BEARING, ViewpointConfig
from lodestar.grid.footprint import footprints_free
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.grid.success_pose import footprint_distances
from lodestar.grid.visibility import sight_between
from lodestar.scene.records import Entity, View


@dataclass(frozen=True)
class AnswerPoseConfig:
    """Limits of the pose returned for an answer: distance of a saved view, and the search for other
    viewpoints.
    """

    # metres in plan between footprint and box beyond which a saved view does not answer; chosen: an object is
    # recognised from here (a directive's success requires less)
    saved_distance: float = 2.5
    # search used if no saved view is suitable; beyond its `max_bearing` the robot turns to the object
    viewpoints: ViewpointConfig = field(default_factory=ViewpointConfig)


@dataclass(frozen=True)
class AnswerPose:
    """A reachable pose from a saved view. pose: (3,) x, y, yaw in map. path_length: metres to it.
    keyframe_id: the view's keyframe.
    """

    pose: np.ndarray
    path_length: float
    keyframe_id: int = 0


def saved_pose(
    entity: Entity,
    grid: OccupancyGrid2D,
    lengths: np.ndarray,
    excluded: Sequence[Sequence[float]],
    config: AnswerPoseConfig = AnswerPoseConfig(),
) -> AnswerPose | None:
    """Return the best saved view that is free, reachable, near and in sight of the entity; None if there is
    none.

    The pose is turned to the entity if the view looks past it. excluded: poses (x, y, yaw) near which no pose
    is returned. Raises ValueError for lengths of another grid.
    """
    if lengths.shape != grid.cells.shape:
        raise ValueError(f"lengths of shape {lengths.shape} do not belong to a grid of {grid.cells.shape}")
    for view in sorted(entity.views, key=lambda v: (-v.quality, v.stamp)):
        pose = _base_pose(view, entity)
        tried = any(math.dist(pose[:2], pose_[:2]) < SAME_GOAL for pose_ in excluded)
        length = _path_length(pose, grid, lengths)
        if not tried and np.isfinite(length) and _is_usable(pose, entity, grid, config):
            return AnswerPose(pose, length, view.keyframe_id)
    return None


def _base_pose(view: View, entity: Entity) -> np.ndarray:
    """Return the pose (3,) of the robot whose camera took the view, turned to the entity if that is off to
    the side.
    """
    map_from_body = view.map_from_camera @ np.linalg.inv(BODY_FROM_OPTICAL)
    yaw = yaw_of(map_from_body)
    forward = np.array([np.cos(yaw), np.sin(yaw)])
    base = map_from_body[:2, 3] - VIEWPOINT_CAMERA_FORWARD * forward
    nearest = np.clip(base, np.asarray(entity.box_min, float)[:2], np.asarray(entity.box_max, float)[:2])
    bearing = math.atan2(*(nearest - base)[::-1])
    if abs(float(wrap_angle(bearing - yaw))) > VIEWPOINT_MAX_BEARING:
        yaw = bearing
    return np.array([*base, yaw])


def _path_length(pose: np.ndarray, grid: OccupancyGrid2D, lengths: np.ndarray) -> float:
    row, column = (int(v) for v in grid.cells_of(pose[None, :2])[0])
    inside = 0 <= row < lengths.shape[0] and 0 <= column < lengths.shape[1]
    return float(lengths[row, column]) if inside else float("inf")


def _is_usable(pose: np.ndarray, entity: Entity, grid: OccupancyGrid2D, config: AnswerPoseConfig) -> bool:
    low, high = np.asarray(entity.box_min, float)[:2], np.asarray(entity.box_max, float)[:2]
    nearest = np.clip(pose[:2], low, high)
    if footprint_distances(pose, config.viewpoints.footprint, low, high)[0] > config.saved_distance:
        return False
    if not footprints_free(grid, pose[None], config.viewpoints.footprint)[0]:
        return False
    return bool(sight_between(grid, pose[None, :2], nearest[None], config.viewpoints.ignore_last)[0])

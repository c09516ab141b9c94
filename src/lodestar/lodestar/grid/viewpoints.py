"""Goal poses from which the robot faces an object (DESIGN section 3, goal pose)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np

from lodestar.geometry.floor_height import floor_below
from lodestar.geometry.poses import wrap_angle
from lodestar.grid.config import ViewpointConfig
from lodestar.grid.footprint import footprints_free
from lodestar.grid.inflation import obstacle_distance
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.grid.success_pose import bearings_to_box, footprint_distances
from lodestar.grid.visibility import sight_between


@dataclass(frozen=True)
class Viewpoint:
    """A pose that faces an object, with the measures of its score."""

    pose: np.ndarray  # (3,) x, y, yaw in map
    path_length: float  # metres
    distance: float  # metres from footprint to box
    clearance: float  # metres from the nearest obstacle
    score: float
    # nothing blocks the view except in the last `strict_ignore` metres before the object
    is_plain: bool = True
    # share of the object's height in the camera's field and not hidden by its support's edge
    visible: float = 1.0


class NoViewpointReason(Enum):
    """The constraint that removed the last viewpoints."""

    UNREACHABLE = "no reachable place near it"
    BLOCKED = "the robot does not fit where it could face it"
    NO_SIGHT = "no line of sight to it"
    OTHER_SIDE = "only places on a side that it was not seen from"
    EXCLUDED = "every viewpoint has been tried"


class NoViewpoint(Exception):
    """No viewpoint exists; see `reason`."""

    def __init__(self, reason: NoViewpointReason):
        super().__init__(reason.value)
        self.reason = reason


def _candidates(
    grid: OccupancyGrid2D, lengths: np.ndarray, low: np.ndarray, high: np.ndarray, reach: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return reachable cells (N, 2) within `reach` of the box in plan, and their centres (N, 2)."""
    cells = grid.cells_of(np.array([low - reach, high + reach]))
    (top, left), (bottom, right) = np.maximum(cells[0], 0), np.maximum(cells[1] + 1, 0)
    found = np.argwhere(np.isfinite(lengths[top:bottom, left:right])) + np.array([top, left])
    points = grid.points_of(found)
    near = np.linalg.norm(points - np.clip(points, low, high), axis=1) <= reach
    return found[near], points[near]


def _headings(points: np.ndarray, low: np.ndarray, high: np.ndarray, slack: float) -> np.ndarray:
    """Return headings towards the middle of the box, at most `slack` radians off its nearest point."""
    nearest = np.clip(points, low, high) - points
    middle = (low + high) / 2.0 - points
    to_nearest = np.arctan2(nearest[:, 1], nearest[:, 0])
    to_middle = np.arctan2(middle[:, 1], middle[:, 0])
    return wrap_angle(to_nearest + np.clip(wrap_angle(to_middle - to_nearest), -slack, slack))


def _max_distance(bottom: float, top: float, config: ViewpointConfig) -> float:
    """Return the largest allowed distance, metres, from the footprint to an object between these heights."""
    from_camera = config.max_distance + config.footprint.length / 2.0 - config.camera_forward
    lowest = config.camera_height + from_camera * math.tan(config.camera_pitch - config.half_vfov)
    if top < lowest:
        return config.far_distance
    return config.high_distance if bottom > config.camera_height else config.max_distance


def _visible_share(
    poses: np.ndarray,
    box_min: np.ndarray,
    box_max: np.ndarray,
    support: tuple[np.ndarray, np.ndarray] | None,
    config: ViewpointConfig,
) -> np.ndarray:
    """Return the share (N,) of the box's height that the camera sees at the box's nearest side.

    It lies within the vertical field of view and is not hidden by the edge of the object's support.
    """
    forward = np.stack([np.cos(poses[:, 2]), np.sin(poses[:, 2])], 1) * config.camera_forward
    eyes = poses[:, :2] + forward
    nearest = np.clip(eyes, box_min[:2], box_max[:2])
    distance = np.linalg.norm(eyes - nearest, axis=1)
    lowest = config.camera_height + distance * math.tan(config.camera_pitch - config.half_vfov)
    highest = config.camera_height + distance * math.tan(config.camera_pitch + config.half_vfov)
    height = max(float(box_max[2] - box_min[2]), 0.02)
    raised = float(box_min[2]) - config.camera_height
    if raised > 0.0:  # the camera looks up, past the edge of the support
        set_back = _set_back(nearest, eyes, support, config)
        to_edge = np.maximum(distance - set_back, 0.05)
        lowest = np.maximum(lowest, config.camera_height + raised * (1.0 + set_back / to_edge))
    seen = np.minimum(box_max[2], highest) - np.maximum(box_min[2], lowest)
    return np.clip(seen / height, 0.0, 1.0)


def _set_back(
    points: np.ndarray,
    eyes: np.ndarray,
    support: tuple[np.ndarray, np.ndarray] | None,
    config: ViewpointConfig,
) -> np.ndarray:
    """Return the metres (N,) from points (N, 2) to the support's edge, in the direction of the eyes (N, 2)."""
    if support is None:
        return np.full(len(points), config.set_back)
    low, high = np.asarray(support[0])[:2], np.asarray(support[1])[:2]
    away = eyes - points
    towards = away / np.maximum(np.linalg.norm(away, axis=1, keepdims=True), 1e-9)
    room = np.where(towards > 0.0, high - points, low - points)
    with np.errstate(divide="ignore", invalid="ignore"):
        steps = np.where(np.abs(towards) > 1e-9, room / towards, np.inf)
    return np.maximum(steps.min(axis=1), 0.0)


def _side_angles(points: np.ndarray, middle: np.ndarray, views: Sequence[np.ndarray]) -> np.ndarray:
    """Return the angle (N,) in plan at the target between each point and the nearest saved view; 0 without views."""
    directions = [np.asarray(view)[:2, 3] - middle for view in views]
    directions = [d for d in directions if np.linalg.norm(d) > 0.1]
    if not directions:
        return np.zeros(len(points))
    own = np.arctan2(points[:, 1] - middle[1], points[:, 0] - middle[0])
    theirs = np.array([math.atan2(d[1], d[0]) for d in directions])
    return np.abs(wrap_angle(own[:, None] - theirs[None, :])).min(axis=1)


def find_viewpoints(
    grid: OccupancyGrid2D,
    lengths: np.ndarray,
    box_min: np.ndarray,
    box_max: np.ndarray,
    views: Sequence[np.ndarray] = (),
    excluded: Sequence[np.ndarray] = (),
    config: ViewpointConfig = ViewpointConfig(),
    support: tuple[np.ndarray, np.ndarray] | None = None,
) -> list[Viewpoint]:
    """Return reachable poses that face the box from a side it was seen from, best first, never empty.

    lengths: (rows, columns) of `path_lengths` on this grid. box_min, box_max: (3,) in map.
    views: map_from_camera (4, 4) of observations of the object; none = any side, and the floor is z = 0 of map.
    excluded: poses (3,) not to return.
    support: box of the object's support, whose edge may hide it; None = unknown.
    Raises NoViewpoint; ValueError for lengths of another grid.
    """
    if lengths.shape != grid.cells.shape:
        raise ValueError(f"lengths of shape {lengths.shape} do not belong to a grid of {grid.cells.shape}")
    box_min, box_max = np.asarray(box_min, np.float64), np.asarray(box_max, np.float64)
    low, high = box_min[:2], box_max[:2]
    floor = np.array([0.0, 0.0, floor_below(views, (low + high) / 2.0, config.camera_height)])
    box_min, box_max = box_min - floor, box_max - floor
    maximum = _max_distance(float(box_min[2]), float(box_max[2]), config)
    reach = maximum + config.footprint.circumscribed_radius
    cells, points = _candidates(grid, lengths, low, high, reach)
    poses = np.column_stack([points, _headings(points, low, high, config.max_bearing * 0.75)])
    distance = footprint_distances(poses, config.footprint, low, high)
    kept = (distance <= maximum) & (distance >= config.min_distance)
    kept &= np.abs(bearings_to_box(poses, low, high)) <= config.max_bearing
    cells, poses, distance = _keep(kept, NoViewpointReason.UNREACHABLE, cells, poses, distance)

    clearance = obstacle_distance(grid)[cells[:, 0], cells[:, 1]]
    turning = clearance >= config.turning_clearance
    kept = turning | footprints_free(grid, poses, config.footprint)
    cells, poses, distance, clearance, turning = _keep(
        kept, NoViewpointReason.BLOCKED, cells, poses, distance, clearance, turning
    )

    nearest = np.clip(poses[:, :2], low, high)
    sight = sight_between(grid, poses[:, :2], nearest, config.ignore_last)
    strict = sight & sight_between(grid, poses[:, :2], nearest, config.strict_ignore)
    angle = _side_angles(poses, (low + high) / 2.0, views)
    if not sight.any():
        raise NoViewpoint(NoViewpointReason.NO_SIGHT)
    kept = sight & ((angle <= config.side_angle) | (strict & (angle <= config.wide_angle)))
    cells, poses, distance, clearance, turning, angle, strict = _keep(
        kept, NoViewpointReason.OTHER_SIDE, cells, poses, distance, clearance, turning, angle, strict
    )

    allowed = np.ones(len(poses), bool)
    for pose in excluded:
        allowed &= np.linalg.norm(poses[:, :2] - np.asarray(pose)[:2], axis=1) > config.excluded_radius
    cells, poses, distance, clearance, turning, angle, strict = _keep(
        allowed, NoViewpointReason.EXCLUDED, cells, poses, distance, clearance, turning, angle, strict
    )

    path = lengths[cells[:, 0], cells[:, 1]].astype(np.float64)
    visible = _visible_share(poses, box_min, box_max, support, config)
    score = (
        config.visible_weight * visible
        + config.view_weight * (1.0 - angle / config.wide_angle)
        + config.turning_weight * turning
        + config.plain_weight * strict
        + config.clearance_weight * np.minimum(clearance, 0.6) / 0.6
        - config.path_weight * path
        - config.distance_weight * np.abs(distance - config.best_distance)
    )
    return _spaced(poses, path, distance, clearance, score, strict, visible, config)


def _keep(mask: np.ndarray, reason: NoViewpointReason, *arrays: np.ndarray) -> list[np.ndarray]:
    if not mask.any():
        raise NoViewpoint(reason)
    return [array[mask] for array in arrays]


def _spaced(
    poses: np.ndarray,
    path: np.ndarray,
    distance: np.ndarray,
    clearance: np.ndarray,
    score: np.ndarray,
    plain: np.ndarray,
    visible: np.ndarray,
    config: ViewpointConfig,
) -> list[Viewpoint]:
    """Return the best viewpoints in order, no two closer than the spacing."""
    chosen: list[int] = []
    for i in np.argsort(-score, kind="stable"):
        apart = np.linalg.norm(poses[chosen, :2] - poses[i, :2], axis=1) if chosen else np.array([np.inf])
        if apart.min() >= config.spacing:
            chosen.append(int(i))
            if len(chosen) == config.limit:
                break
    measures = [array.tolist() for array in (path, distance, clearance, score, plain, visible)]
    return [Viewpoint(poses[i], *(measure[i] for measure in measures)) for i in chosen]

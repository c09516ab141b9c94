"""Goal poses from which the robot faces an object (DESIGN section 3, goal pose)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np

from lodestar.geometry.floor_height import floor_below
from lodestar.geometry.poses import wrap_angle
from lodestar.grid.config import (
    SAME_GOAL,
    VIEWPOINT_CAMERA_FORWARD,
    VIEWPOINT_FAR_DISTANCE,
    VIEWPOINT_HIGH_DISTANCE,
    VIEWPOINT_MAX_BEARING,
    VIEWPOINT_MAX_DISTANCE,
    VIEWPOINT_STRICT_IGNORE,
    VIEWPOINT_TURNING_CLEARANCE,
    ViewpointConfig,
)
from lodestar.grid.footprint import footprints_free
from lodestar.grid.inflation import obstacle_distance
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.grid.success_pose import bearings_to_box, footprint_distances
from lodestar.grid.visibility import sight_between

VIEWPOINT_MIN_DISTANCE = 0.08  # metres in plan from the footprint to the box; chosen
VIEWPOINT_CAMERA_PITCH = math.radians(10.0)  # radians, positive = up; the simulated Go2's camera
# radians, half the vertical field of view; the simulated Go2's camera
VIEWPOINT_HALF_VFOV = math.radians(32.0)
# metres from an object to its support's edge if the support is unknown; chosen
VIEWPOINT_SET_BACK = 0.2
VIEWPOINT_SPACING = 0.25  # metres between returned viewpoints; chosen
VIEWPOINT_LIMIT = 48  # most viewpoints returned; chosen
# Score weights, without unit unless stated; chosen on simulated apartments and offices.
VIEWPOINT_VISIBLE_WEIGHT = 1.0  # times the share of the object's height in the camera's field
VIEWPOINT_VIEW_WEIGHT = 0.5  # times the alignment with a saved view, 0..1
VIEWPOINT_TURNING_WEIGHT = 0.4  # for room to turn
VIEWPOINT_PLAIN_WEIGHT = 0.3  # for an unobstructed line of sight
VIEWPOINT_CLEARANCE_WEIGHT = 0.3  # times the clearance up to 0.6 m, as a share of it
VIEWPOINT_PATH_WEIGHT = 0.12  # score lost per metre of path
VIEWPOINT_DISTANCE_WEIGHT = 0.4  # score lost per metre off VIEWPOINT_BEST_DISTANCE
VIEWPOINT_BEST_DISTANCE = 0.45  # metres in plan from the footprint to the box; chosen


@dataclass(frozen=True)
class Viewpoint:
    """A pose that faces an object, with the quantities from which it is scored."""

    pose: np.ndarray  # (3,) x, y, yaw in map
    path_length: float  # metres
    distance: float  # metres from footprint to box
    clearance: float  # metres from the nearest obstacle
    score: float
    # nothing blocks the view except in the last VIEWPOINT_STRICT_IGNORE metres before the object
    is_plain: bool = True
    # share of the object's height inside the camera's field of view and not hidden by its support's edge
    visible: float = 1.0


class NoViewpointReason(Enum):
    """Constraint that excluded the last candidates for a viewpoint."""

    UNREACHABLE = "no reachable place near it"
    BLOCKED = "the robot does not fit where it could face it"
    NO_SIGHT = "no line of sight to it"
    OTHER_SIDE = "only places on a side that it was not seen from"
    EXCLUDED = "every viewpoint has been tried"


class NoViewpoint(Exception):
    """Raised if no viewpoint exists; see `reason`."""

    def __init__(self, reason: NoViewpointReason):
        super().__init__(reason.value)
        self.reason = reason


def _candidates(
    grid: OccupancyGrid2D, lengths: np.ndarray, low: np.ndarray, high: np.ndarray, reach: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return reachable cells (N, 2) horizontally within `reach` metres of the box, and the centres (N, 2)."""
    cells = grid.cells_of(np.array([low - reach, high + reach]))
    (top, left), (bottom, right) = np.maximum(cells[0], 0), np.maximum(cells[1] + 1, 0)
    found = np.argwhere(np.isfinite(lengths[top:bottom, left:right])) + np.array([top, left])
    points = grid.points_of(found)
    near = np.linalg.norm(points - np.clip(points, low, high), axis=1) <= reach
    return found[near], points[near]


def _headings(points: np.ndarray, low: np.ndarray, high: np.ndarray, slack: float) -> np.ndarray:
    """Return headings towards the middle of the box, but at most `slack` radians off its nearest point."""
    nearest = np.clip(points, low, high) - points
    middle = (low + high) / 2.0 - points
    to_nearest = np.arctan2(nearest[:, 1], nearest[:, 0])
    to_middle = np.arctan2(middle[:, 1], middle[:, 0])
    return wrap_angle(to_nearest + np.clip(wrap_angle(to_middle - to_nearest), -slack, slack))


def _max_distance(bottom: float, top: float, config: ViewpointConfig) -> float:
    """Return the largest allowed distance, metres, from the footprint to an object between these heights."""
    from_camera = VIEWPOINT_MAX_DISTANCE + config.footprint.length / 2.0 - VIEWPOINT_CAMERA_FORWARD
    lowest = config.camera_height + from_camera * math.tan(VIEWPOINT_CAMERA_PITCH - VIEWPOINT_HALF_VFOV)
    if top < lowest:
        return VIEWPOINT_FAR_DISTANCE
    return VIEWPOINT_HIGH_DISTANCE if bottom > config.camera_height else VIEWPOINT_MAX_DISTANCE


def _visible_share(
    poses: np.ndarray,
    box_min: np.ndarray,
    box_max: np.ndarray,
    support: tuple[np.ndarray, np.ndarray] | None,
    config: ViewpointConfig,
) -> np.ndarray:
    """Return the share (N,) of the box's height that the camera sees at the box's nearest side.

    Visible is what lies within the vertical field of view and is not hidden by the edge of the support, the
    furniture under the object.
    """
    forward = np.stack([np.cos(poses[:, 2]), np.sin(poses[:, 2])], 1) * VIEWPOINT_CAMERA_FORWARD
    eyes = poses[:, :2] + forward
    nearest = np.clip(eyes, box_min[:2], box_max[:2])
    distance = np.linalg.norm(eyes - nearest, axis=1)
    lowest = config.camera_height + distance * math.tan(VIEWPOINT_CAMERA_PITCH - VIEWPOINT_HALF_VFOV)
    highest = config.camera_height + distance * math.tan(VIEWPOINT_CAMERA_PITCH + VIEWPOINT_HALF_VFOV)
    height = max(float(box_max[2] - box_min[2]), 0.02)
    raised = float(box_min[2]) - config.camera_height
    if raised > 0.0:  # the camera looks up, past the edge of the support
        set_back = _set_back(nearest, eyes, support)
        to_edge = np.maximum(distance - set_back, 0.05)
        lowest = np.maximum(lowest, config.camera_height + raised * (1.0 + set_back / to_edge))
    seen = np.minimum(box_max[2], highest) - np.maximum(box_min[2], lowest)
    return np.clip(seen / height, 0.0, 1.0)


def _set_back(
    points: np.ndarray, eyes: np.ndarray, support: tuple[np.ndarray, np.ndarray] | None
) -> np.ndarray:
    """Return the distances (N,), metres, from points (N, 2) to the edge of the support towards the camera.

    support: box of the furniture under the object. eyes: (N, 2), camera positions.
    """
    if support is None:
        return np.full(len(points), VIEWPOINT_SET_BACK)
    low, high = np.asarray(support[0])[:2], np.asarray(support[1])[:2]
    away = eyes - points
    towards = away / np.maximum(np.linalg.norm(away, axis=1, keepdims=True), 1e-9)
    room = np.where(towards > 0.0, high - points, low - points)
    with np.errstate(divide="ignore", invalid="ignore"):
        steps = np.where(np.abs(towards) > 1e-9, room / towards, np.inf)
    return np.maximum(steps.min(axis=1), 0.0)


def _side_angles(points: np.ndarray, middle: np.ndarray, views: Sequence[np.ndarray]) -> np.ndarray:
    """Return the horizontal angle (N,), radians, at the target between each point and the nearest view.

    views: saved views of the target; 0 without views.
    """
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
    """Return reachable poses that face the box from a side from which it was seen, best first, never empty.

    lengths: (rows, columns) of `path_lengths` on this grid. box_min, box_max: (3,) in map. views:
    map_from_camera (4, 4) of observations of the object; none = any side, and the floor is at z = 0 of map.
    excluded: poses (3,) not to return. support: box of the furniture under the object, whose edge may hide
    it; None = unknown. Raises NoViewpoint; ValueError for lengths of another grid.
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
    poses = np.column_stack([points, _headings(points, low, high, VIEWPOINT_MAX_BEARING * 0.75)])
    distance = footprint_distances(poses, config.footprint, low, high)
    kept = (distance <= maximum) & (distance >= VIEWPOINT_MIN_DISTANCE)
    kept &= np.abs(bearings_to_box(poses, low, high)) <= VIEWPOINT_MAX_BEARING
    cells, poses, distance = _keep(kept, NoViewpointReason.UNREACHABLE, cells, poses, distance)

    clearance = obstacle_distance(grid)[cells[:, 0], cells[:, 1]]
    turning = clearance >= VIEWPOINT_TURNING_CLEARANCE
    kept = turning | footprints_free(grid, poses, config.footprint)
    cells, poses, distance, clearance, turning = _keep(
        kept, NoViewpointReason.BLOCKED, cells, poses, distance, clearance, turning
    )

    nearest = np.clip(poses[:, :2], low, high)
    sight = sight_between(grid, poses[:, :2], nearest, config.ignore_last)
    strict = sight & sight_between(grid, poses[:, :2], nearest, VIEWPOINT_STRICT_IGNORE)
    angle = _side_angles(poses, (low + high) / 2.0, views)
    if not sight.any():
        raise NoViewpoint(NoViewpointReason.NO_SIGHT)
    kept = sight & ((angle <= config.side_angle) | (strict & (angle <= config.wide_angle)))
    cells, poses, distance, clearance, turning, angle, strict = _keep(
        kept, NoViewpointReason.OTHER_SIDE, cells, poses, distance, clearance, turning, angle, strict
    )

    allowed = np.ones(len(poses), bool)
    for pose in excluded:
        allowed &= np.linalg.norm(poses[:, :2] - np.asarray(pose)[:2], axis=1) > SAME_GOAL
    cells, poses, distance, clearance, turning, angle, strict = _keep(
        allowed, NoViewpointReason.EXCLUDED, cells, poses, distance, clearance, turning, angle, strict
    )

    path = lengths[cells[:, 0], cells[:, 1]].astype(np.float64)
    visible = _visible_share(poses, box_min, box_max, support, config)
    score = (
        VIEWPOINT_VISIBLE_WEIGHT * visible
        + VIEWPOINT_VIEW_WEIGHT * (1.0 - angle / config.wide_angle)
        + VIEWPOINT_TURNING_WEIGHT * turning
        + VIEWPOINT_PLAIN_WEIGHT * strict
        + VIEWPOINT_CLEARANCE_WEIGHT * np.minimum(clearance, 0.6) / 0.6
        - VIEWPOINT_PATH_WEIGHT * path
        - VIEWPOINT_DISTANCE_WEIGHT * np.abs(distance - VIEWPOINT_BEST_DISTANCE)
    )
    return _spaced(poses, path, distance, clearance, score, strict, visible)


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
) -> list[Viewpoint]:
    """Return the best viewpoints in order, of which no two are closer than VIEWPOINT_SPACING metres."""
    chosen: list[int] = []
    for i in np.argsort(-score, kind="stable"):
        apart = np.linalg.norm(poses[chosen, :2] - poses[i, :2], axis=1) if chosen else np.array([np.inf])
        if apart.min() >= VIEWPOINT_SPACING:
            chosen.append(int(i))
            if len(chosen) == VIEWPOINT_LIMIT:
                break
    measures = [array.tolist() for array in (path, distance, clearance, score, plain, visible)]
    return [Viewpoint(poses[i], *(measure[i] for measure in measures)) for i in chosen]

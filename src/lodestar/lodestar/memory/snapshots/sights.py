"""Quality of an image's view of an entity, and whether the view is still valid after the entity moved."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lodestar.geometry.boxes import box_intersection, box_volume, point_box_distance
from lodestar.geometry.camera import PinholeCamera
from lodestar.keyframes.records import Keyframe
from lodestar.perception.frames import ImageBox
from lodestar.scene.records import Entity

# share of an image's area from which the view of an entity has full quality; chosen: 150^2 of 640x480
SNAPSHOT_FULL_SHARE = 0.07
SNAPSHOT_CUT_FACTOR = 0.6  # factor of the quality for each border of the image that cuts the box; chosen
# least overlap, as a share of the smaller one, 0..1, of two boxes in the image: where the entity was seen and
# where it is now; below it the image does not show the entity any more; chosen
SNAPSHOT_LEAST_OVERLAP = 0.3
# share of the image's width by which both boxes are widened before the comparison; chosen: errors of the pose
SNAPSHOT_SLACK = 0.03

_NEAR_PLANE = 0.05  # metres; parts of a box behind this plane are projected from it
_LEAST = 1e-3  # score of an entity that is barely in the image


def share_of_image(box: ImageBox, camera: PinholeCamera) -> float:
    """Return the share of the image's area that a box covers, [0, 1]; 0 for a box outside."""
    left, top = max(box.x, 0), max(box.y, 0)
    right, bottom = min(box.x + box.width, camera.width), min(box.y + box.height, camera.height)
    if right <= left or bottom <= top:
        return 0.0
    return (right - left) * (bottom - top) / (camera.width * camera.height)


def sight_score(box: ImageBox, camera: PinholeCamera) -> float:
    """Return the quality, [0, 1], of an image's view of a box.

    It grows with the box's share of the image, is lower for a box that a border cuts, and 0 for a box
    outside.
    """
    share = share_of_image(box, camera)
    if share <= 0.0:
        return 0.0
    cuts = (box.x <= 0) + (box.y <= 0) + (box.x + box.width >= camera.width)
    cuts += box.y + box.height >= camera.height
    return max(min(1.0, float(np.sqrt(share / SNAPSHOT_FULL_SHARE))) * SNAPSHOT_CUT_FACTOR**cuts, _LEAST)


def still_shown(
    keyframes: Sequence[Keyframe], boxes: Sequence[ImageBox], entity: Entity
) -> tuple[np.ndarray, np.ndarray]:
    """Return whether each of N images shows the entity at its present place, and the distance in plan.

    Results: (N,) bool, and (N,) metres. boxes: the entity's box in each image. A view is valid while this box
    overlaps the projection of the entity's present box. An entity whose box is not finite is shown nowhere.
    """
    if not keyframes or not np.isfinite([entity.box_min, entity.box_max]).all():
        return np.zeros(len(keyframes), bool), np.full(len(keyframes), np.inf)
    poses = np.array([keyframe.map_from_camera for keyframe in keyframes], np.float64)  # (N, 4, 4)
    cameras = np.array([[k.camera.fx, k.camera.fy, k.camera.cx, k.camera.cy] for k in keyframes])
    sizes = np.array([[k.camera.width, k.camera.height] for k in keyframes], np.float64)
    seen = np.array([[b.x, b.y, b.x + b.width, b.y + b.height] for b in boxes], np.float64)
    picks = (np.arange(8)[:, None] >> np.arange(3)) & 1
    corners = np.where(picks, entity.box_max, entity.box_min)  # (8, 3)
    inside = (corners - poses[:, None, :3, 3]) @ poses[:, :3, :3]  # (N, 8, 3) in the camera
    depth = np.maximum(inside[..., 2], _NEAR_PLANE)
    pixels = inside[..., :2] / depth[..., None] * cameras[:, None, :2] + cameras[:, None, 2:]
    now = np.hstack([pixels.min(axis=1), pixels.max(axis=1)])
    slack = SNAPSHOT_SLACK * sizes[:, :1] * np.array([-1.0, -1.0, 1.0, 1.0])
    limits = np.hstack([sizes, sizes])
    now, seen = np.clip(now + slack, 0.0, limits), np.clip(seen + slack, 0.0, limits)
    parts = now[:, :2], now[:, 2:], seen[:, :2], seen[:, 2:]
    least = np.minimum(box_volume(*parts[:2]), box_volume(*parts[2:]))
    shown = (least > 0.0) & (box_intersection(*parts) >= SNAPSHOT_LEAST_OVERLAP * least)
    shown &= (inside[..., 2] > _NEAR_PLANE).any(axis=1)
    return shown, point_box_distance(poses[:, :2, 3], entity.box_min[:2], entity.box_max[:2])

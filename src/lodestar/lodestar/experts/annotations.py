"""Numbered marks on a view: an even grid of points, and the picture that shows them (RoboAtlas IV-F)."""

from __future__ import annotations

import math
from collections.abc import Sequence

import cv2
import numpy as np

from lodestar.language.views import ViewPoint
from lodestar.perception.frames import RgbdFrame
from lodestar.perception.pictures import encode_picture

ANNOTATION_SIDE = 768  # pixels of the longer side of the picture for the model; chosen
ANNOTATION_ROWS = 4  # of the grid over the image; chosen
ANNOTATION_COLUMNS = 6  # of the grid over the image; chosen
# RoboAtlas IV-F prunes cells that are too close or out of the interaction range
ANNOTATION_NEAR = 0.8  # metres, least depth of a marked point; chosen
ANNOTATION_FAR = 5.0  # metres, largest depth of a marked point; chosen
ANNOTATION_HIGHEST = 2.0  # metres above the floor of a mark; chosen: keeps marks off ceilings
ANNOTATION_WINDOW = 2  # pixels, half side of the square whose median depth is used; chosen


def grid_points(frame: RgbdFrame, first: int, camera_height: float) -> list[ViewPoint]:
    """Return the marks of an evenly spaced grid, numbered from `first`, at pixels with a depth from
    ANNOTATION_NEAR to ANNOTATION_FAR and a point below ANNOTATION_HIGHEST.

    camera_height: metres above the floor.
    """
    height, width = frame.depth.shape
    rows = ((np.arange(ANNOTATION_ROWS) + 0.5) * height / ANNOTATION_ROWS).astype(int)
    columns = ((np.arange(ANNOTATION_COLUMNS) + 0.5) * width / ANNOTATION_COLUMNS).astype(int)
    map_from_camera = frame.map_from_camera
    floor = map_from_camera[2, 3] - camera_height
    points: list[ViewPoint] = []
    for v in rows:
        for u in columns:
            z = _depth_at(frame.depth, int(v), int(u), ANNOTATION_WINDOW)
            if not ANNOTATION_NEAR <= z <= ANNOTATION_FAR:
                continue
            camera = frame.camera
            ray = np.array([(u - camera.cx) / camera.fx, (v - camera.cy) / camera.fy, 1.0]) * z
            position = map_from_camera[:3, :3] @ ray + map_from_camera[:3, 3]
            if position[2] - floor > ANNOTATION_HIGHEST:
                continue
            bearing = math.atan2(-ray[0], ray[2])
            distance = float(np.linalg.norm(ray))
            points.append(
                ViewPoint(first + len(points), "", (float(u), float(v)), position, distance, bearing)
            )
    return points


def _depth_at(depth: np.ndarray, v: int, u: int, window: int) -> float:
    """Return the median of the valid depths around a pixel; NaN if there is none."""
    part = depth[max(v - window, 0) : v + window + 1, max(u - window, 0) : u + window + 1]
    valid = part[np.isfinite(part) & (part > 0.0)]
    return float(np.median(valid)) if valid.size else math.nan


def draw_points(
    rgb: np.ndarray, points: Sequence[ViewPoint], shape: tuple[int, int], side: int
) -> np.ndarray:
    """Return the image (H, W, 3) uint8 with a numbered disc at every mark: objects yellow, places white.

    shape: rows and columns of the image to which the marks' pixels refer. side: longest side of the result, pixels.
    """
    scale = min(side / max(rgb.shape[:2]), 1.0)
    size = (max(round(rgb.shape[1] * scale), 1), max(round(rgb.shape[0] * scale), 1))
    picture = cv2.resize(rgb, size, interpolation=cv2.INTER_AREA) if scale < 1.0 else rgb.copy()
    height, width = picture.shape[:2]
    radius = max(round(min(height, width) / 45), 6)
    font, weight = cv2.FONT_HERSHEY_SIMPLEX, max(radius // 8, 1)
    for point in reversed(points):  # draw the nearest mark last
        center = (
            int(np.clip(point.pixel[0] * width / shape[1], 0, width - 1)),
            int(np.clip(point.pixel[1] * height / shape[0], 0, height - 1)),
        )
        cv2.circle(picture, center, radius, (255, 220, 0) if point.what else (255, 255, 255), -1, cv2.LINE_AA)
        cv2.circle(picture, center, radius, (0, 0, 0), 1, cv2.LINE_AA)
        text, size_of = str(point.number), radius / 18.0
        (w, h), _ = cv2.getTextSize(text, font, size_of, weight)
        corner = (center[0] - w // 2, center[1] + h // 2)
        cv2.putText(picture, text, corner, font, size_of, (0, 0, 0), weight, cv2.LINE_AA)
    return picture


def annotated_jpeg(frame: RgbdFrame, points: Sequence[ViewPoint]) -> bytes:
    """Return the view with its marks as a JPEG file; b"" without a colour image."""
    if frame.rgb is None or frame.rgb.size == 0:
        return b""
    return encode_picture(draw_points(frame.rgb, points, frame.depth.shape, ANNOTATION_SIDE))

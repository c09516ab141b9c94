"""Numbered marks on a view: an even grid of points, and the picture that shows them (RoboAtlas IV-F)."""

from __future__ import annotations

import math
from collections.abc import Sequence

import cv2
import numpy as np

from lodestar.experts.config import AnnotationConfig
from lodestar.language.views import ViewPoint
from lodestar.perception.frames import RgbdFrame
from lodestar.perception.pictures import encode_picture


def grid_points(
    frame: RgbdFrame, first: int, config: AnnotationConfig, camera_height: float
) -> list[ViewPoint]:
    """Marks of an evenly spaced grid, numbered from `first`, where the depth lies between near and far.

    camera_height: metres above the floor.
    """
    height, width = frame.depth.shape
    rows = ((np.arange(config.rows) + 0.5) * height / config.rows).astype(int)
    columns = ((np.arange(config.columns) + 0.5) * width / config.columns).astype(int)
    map_from_camera = frame.map_from_camera
    floor = map_from_camera[2, 3] - camera_height
    points: list[ViewPoint] = []
    for v in rows:
        for u in columns:
            z = _depth_at(frame.depth, int(v), int(u), config.window)
            if not config.near <= z <= config.far:
                continue
            camera = frame.camera
            ray = np.array([(u - camera.cx) / camera.fx, (v - camera.cy) / camera.fy, 1.0]) * z
            position = map_from_camera[:3, :3] @ ray + map_from_camera[:3, 3]
            if position[2] - floor > config.highest:
                continue
            bearing = math.atan2(-ray[0], ray[2])
            distance = float(np.linalg.norm(ray))
            points.append(
                ViewPoint(first + len(points), "", (float(u), float(v)), position, distance, bearing)
            )
    return points


def _depth_at(depth: np.ndarray, v: int, u: int, window: int) -> float:
    """Median of the valid depths around a pixel; NaN where there is none."""
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
    for point in reversed(points):  # the nearest mark is drawn last
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


def annotated_jpeg(frame: RgbdFrame, points: Sequence[ViewPoint], config: AnnotationConfig) -> bytes:
    """Return the view with its marks as a JPEG file; b"" without a colour image."""
    if frame.rgb is None or frame.rgb.size == 0:
        return b""
    return encode_picture(draw_points(frame.rgb, points, frame.depth.shape, config.side))

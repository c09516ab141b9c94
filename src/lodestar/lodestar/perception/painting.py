"""Rendering of segmented frames as pictures for people."""

from __future__ import annotations

import zlib

import cv2
import numpy as np

from lodestar.perception.frames import SegmentedFrame

_TINT = 0.55  # weight of a segment's colour over the image
_FEWEST = 200  # least pixels of a segment whose name is written


def paint_segments(frame: SegmentedFrame, rgb: np.ndarray | None = None) -> np.ndarray:
    """Return the segments as (H, W, 3) uint8: each in the colour of its label, with its name, over the image.

    rgb: (H, W, 3) uint8 of the same size, None = over black. An image of another size is not shown.
    """
    shape = frame.labels.shape
    seen = rgb is not None and rgb.shape[:2] == shape
    base = rgb if seen and rgb is not None else np.zeros((*shape, 3), np.uint8)
    palette = np.zeros((int(frame.labels.max(initial=0)) + 1, 3), np.uint8)
    for detection in frame.detections:
        if detection.label_value < len(palette):
            palette[detection.label_value] = color_of_label(detection.label)
    painted = palette[frame.labels]
    held = painted.any(axis=2)
    picture = base.copy()
    tint = _TINT if seen else 1.0
    picture[held] = (tint * painted[held] + (1.0 - tint) * base[held]).astype(np.uint8)
    for detection in frame.detections:
        if detection.pixel_count >= _FEWEST:
            place = (detection.box.x + 2, detection.box.y + detection.box.height // 2)
            _write(picture, f"{detection.label} {detection.score:.2f}", place)
    return picture


def color_of_label(label: str) -> tuple[int, int, int]:
    """Return the colour of a label, equal in all frames and runs."""
    hue = zlib.crc32(label.encode()) % 180  # OpenCV's hues are half degrees
    red, green, blue = cv2.cvtColor(np.array([[[hue, 200, 255]]], np.uint8), cv2.COLOR_HSV2RGB)[0, 0]
    return int(red), int(green), int(blue)


def _write(picture: np.ndarray, text: str, place: tuple[int, int]) -> None:
    readable = text.encode("ascii", "replace").decode()  # OpenCV's fonts have only ASCII letters
    for color, weight in (((0, 0, 0), 3), ((255, 255, 255), 1)):
        cv2.putText(picture, readable, place, cv2.FONT_HERSHEY_SIMPLEX, 0.4, color, weight, cv2.LINE_AA)

"""Annotated keyframes: contours of the entities in view with their global ids (STaR IV-A)."""

from __future__ import annotations

from collections.abc import Mapping

import cv2
import numpy as np

from lodestar.perception.frames import ImageBox

_GOLDEN = 0.618033988749895  # turns of hue between successive ids, so that neighbours differ
_FONT = cv2.FONT_HERSHEY_SIMPLEX


def color_of(entity_id: int) -> tuple[int, int, int]:
    """Return the colour of an entity, RGB 0..255: the same in every image."""
    hue = int(180 * ((entity_id * _GOLDEN) % 1.0))
    red, green, blue = cv2.cvtColor(np.array([[[hue, 200, 255]]], np.uint8), cv2.COLOR_HSV2RGB)[0, 0]
    return int(red), int(green), int(blue)


def draw_contours(image: np.ndarray, boxes: Mapping[int, ImageBox]) -> np.ndarray:
    """Return a copy of an image (H, W, 3) uint8 RGB with a contour and the id of every entity.

    boxes: entity id -> box in the image, pixels; parts outside are cut, a box outside is left out. The smallest is
    drawn last. Raises ValueError for an image of another shape.
    """
    if image.ndim != 3 or image.shape[2] != 3 or image.dtype != np.uint8:
        raise ValueError(f"an image is (H, W, 3) uint8, not {image.shape} {image.dtype}")
    picture = np.ascontiguousarray(image.copy())
    outlines = {i: _outline(box, image.shape) for i, box in boxes.items()}
    drawn = {i: outline for i, outline in outlines.items() if outline is not None}
    width = max(round(min(image.shape[:2]) / 240), 1)
    ordered = sorted(drawn, key=lambda i: (-cv2.contourArea(drawn[i]), i))
    for identity in ordered:
        cv2.drawContours(picture, [drawn[identity]], -1, (0, 0, 0), width + 2, cv2.LINE_AA)
        cv2.drawContours(picture, [drawn[identity]], -1, color_of(identity), width, cv2.LINE_AA)
    for identity in ordered:
        _write(picture, str(identity), drawn[identity], color_of(identity))
    return picture


def annotated_jpeg(image: bytes, boxes: Mapping[int, ImageBox], quality: int = 88) -> bytes | None:
    """Return a keyframe's JPEG with a contour and the id of every entity; None where it cannot be decoded."""
    pixels = cv2.imdecode(np.frombuffer(image, np.uint8), cv2.IMREAD_COLOR) if image else None
    if pixels is None:
        return None
    drawn = draw_contours(cv2.cvtColor(pixels, cv2.COLOR_BGR2RGB), boxes)
    options = [cv2.IMWRITE_JPEG_QUALITY, quality]
    done, encoded = cv2.imencode(".jpg", cv2.cvtColor(drawn, cv2.COLOR_RGB2BGR), options)
    return encoded.tobytes() if done else None


def _outline(box: ImageBox, shape: tuple[int, ...]) -> np.ndarray | None:
    """Return a closed contour (4, 1, 2) int32, pixels; None for what is not in the image."""
    height, width = shape[:2]
    left, top = max(box.x, 0), max(box.y, 0)
    right, bottom = min(box.x + box.width, width) - 1, min(box.y + box.height, height) - 1
    if right <= left or bottom <= top:
        return None
    corners = [(left, top), (right, top), (right, bottom), (left, bottom)]
    return np.array(corners, np.int32).reshape(-1, 1, 2)


def _write(picture: np.ndarray, text: str, outline: np.ndarray, color: tuple[int, int, int]) -> None:
    """Write an id on its colour, at the upper left corner of the outline, within the image."""
    scale = max(min(picture.shape[:2]) / 600.0, 0.35)
    (w, h), _ = cv2.getTextSize(text, _FONT, scale, 1)
    left, top = outline.reshape(-1, 2).min(axis=0)
    x = int(np.clip(left, 0, max(picture.shape[1] - w - 4, 0)))
    y = int(np.clip(top, 0, max(picture.shape[0] - h - 6, 0)))
    cv2.rectangle(picture, (x, y), (x + w + 3, y + h + 5), color, -1)
    cv2.putText(picture, text, (x + 2, y + h + 2), _FONT, scale, (0, 0, 0), 1, cv2.LINE_AA)

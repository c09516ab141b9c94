"""Annotated keyframes: images with the contours and global ids of the entities in view (STaR IV-A)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import cv2
import numpy as np

from lodestar.perception.frames import ImageBox
from lodestar.perception.outlines import parts_of

_GOLDEN = 0.618033988749895  # turns of hue between successive ids, so that neighbouring ids differ
_FONT = cv2.FONT_HERSHEY_SIMPLEX


def color_of(entity_id: int) -> tuple[int, int, int]:
    """Return the colour of an entity, RGB 0..255, equal in all images."""
    hue = int(180 * ((entity_id * _GOLDEN) % 1.0))
    red, green, blue = cv2.cvtColor(np.array([[[hue, 200, 255]]], np.uint8), cv2.COLOR_HSV2RGB)[0, 0]
    return int(red), int(green), int(blue)


def draw_contours(image: np.ndarray, boxes: Iterable[tuple[int, ImageBox]]) -> np.ndarray:
    """Return a copy of an image (H, W, 3) uint8 RGB with the contour and the id of every entity.

    boxes: of entities in the image, pixels; without a known outline the rectangle is drawn. Parts outside the image
    are clipped. The smallest is drawn last. Raises ValueError for an image of another shape.
    """
    if image.ndim != 3 or image.shape[2] != 3 or image.dtype != np.uint8:
        raise ValueError(f"an image is (H, W, 3) uint8, not {image.shape} {image.dtype}")
    picture = np.ascontiguousarray(image.copy())
    drawn = [(i, parts) for i, box in boxes if (parts := _contours(box, image.shape))]
    width = max(round(min(image.shape[:2]) / 240), 1)
    drawn.sort(key=lambda one: (-sum(map(cv2.contourArea, one[1])), one[0]))
    for identity, parts in drawn:
        cv2.drawContours(picture, parts, -1, (0, 0, 0), width + 2, cv2.LINE_AA)
        cv2.drawContours(picture, parts, -1, color_of(identity), width, cv2.LINE_AA)
    for identity, parts in drawn:
        _write(picture, str(identity), parts[0], color_of(identity))
    return picture


def annotated_jpeg(
    image: bytes, boxes: Mapping[int, ImageBox], resolve: Callable[[int], int] = int, quality: int = 88
) -> bytes | None:
    """Return a keyframe as JPEG with the contour and the id of every entity; None if it cannot be decoded.

    boxes: by instance. resolve: instance id -> entity id; merged instances are all drawn, with the same id.
    """
    pixels = cv2.imdecode(np.frombuffer(image, np.uint8), cv2.IMREAD_COLOR) if image else None
    if pixels is None:
        return None
    drawn = draw_contours(cv2.cvtColor(pixels, cv2.COLOR_BGR2RGB), ((resolve(i), boxes[i]) for i in boxes))
    options = [cv2.IMWRITE_JPEG_QUALITY, quality]
    done, encoded = cv2.imencode(".jpg", cv2.cvtColor(drawn, cv2.COLOR_RGB2BGR), options)
    return encoded.tobytes() if done else None


def _contours(box: ImageBox, shape: tuple[int, ...]) -> list[np.ndarray]:
    """Return the closed contours of a box's outline: each (N, 1, 2) int32, pixels, the largest part first.

    Returns none for a box outside the image.
    """
    height, width = shape[:2]
    left, top = max(box.x, 0), max(box.y, 0)
    right, bottom = min(box.x + box.width, width) - 1, min(box.y + box.height, height) - 1
    if right <= left or bottom <= top:
        return []
    corners = np.array([(left, top), (right, top), (right, bottom), (left, bottom)], np.int32)
    parts = parts_of(box.outline) or [corners]
    return [np.clip(part, (left, top), (right, bottom)).reshape(-1, 1, 2) for part in parts]


def _write(picture: np.ndarray, text: str, outline: np.ndarray, color: tuple[int, int, int]) -> None:
    """Write an id on a label of its colour, above the highest corner of the outline, within the image."""
    scale = max(min(picture.shape[:2]) / 600.0, 0.35)
    (w, h), _ = cv2.getTextSize(text, _FONT, scale, 1)
    left, top = min(outline.reshape(-1, 2).tolist(), key=lambda corner: (corner[1], corner[0]))
    x = min(left, max(picture.shape[1] - w - 4, 0))
    y = min(max(top - h - 7, 0), max(picture.shape[0] - h - 6, 0))
    cv2.rectangle(picture, (x, y), (x + w + 3, y + h + 5), color, -1)
    cv2.putText(picture, text, (x + 2, y + h + 2), _FONT, scale, (0, 0, 0), 1, cv2.LINE_AA)

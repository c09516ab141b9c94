"""Outlines of masks as a few corners, for messages and records in which a mask would be too large (STaR IV-A)."""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np

from lodestar.perception.frames import Detection, Outline

CORNERS = 32  # most corners of an outline, separators of parts included; chosen: 128 bytes in a message
_PARTS = 4  # most parts of an object that others occlude; chosen
_LEAST_PART = 0.1  # least area of a part, relative to the largest; chosen
_GAP = (-1, -1)  # separator of two parts


def outline_of(mask: np.ndarray, left: int = 0, top: int = 0) -> Outline:
    """Return the outline of a mask (H, W), 0 = outside, as in `ImageBox.outline`; () for an empty mask.

    left, top: position of the mask's first pixel in the image. Corners lie within about two pixels of the
    mask's border, or farther if `CORNERS` corners do not suffice; holes are ignored.
    """
    borders, _ = cv2.findContours(
        np.ascontiguousarray(mask, np.uint8), cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE, offset=(left, top)
    )
    areas = [cv2.contourArea(border) for border in borders]
    largest = max(areas, default=0.0)
    if not largest:
        return ()
    order = sorted(range(len(areas)), key=lambda i: (-areas[i], i))[:_PARTS]
    parts = [borders[i] for i in order if areas[i] >= _LEAST_PART * largest]
    away = 1.0
    while True:
        simple = [cv2.approxPolyDP(part, away, True).reshape(-1, 2) for part in parts]
        if sum(map(len, simple)) + len(simple) - 1 <= CORNERS:
            break
        away *= 1.4
    joined = [row for part in simple for row in (*part.tolist(), _GAP)][:-1]
    return tuple(int(value) for row in joined for value in row)


def parts_of(outline: Outline) -> list[np.ndarray]:
    """Return the corners (N, 2) int32, N >= 3, of each part of an outline; [] for a malformed outline."""
    if len(outline) % 2:
        return []
    corners = np.array(outline, np.int64).reshape(-1, 2)
    gaps = np.flatnonzero((corners == _GAP).all(axis=1))
    parts = [part[(part != _GAP).any(axis=1)] for part in np.split(corners, gaps)]
    return [part.astype(np.int32) for part in parts if len(part) >= 3]


def outlined(detection: Detection, labels: np.ndarray) -> Detection:
    """Return the detection with its outline, taken from its mask in the label image (H, W)."""
    box = detection.box
    mask = labels[box.y : box.y + box.height, box.x : box.x + box.width] == detection.label_value
    return replace(detection, box=replace(box, outline=outline_of(mask, box.x, box.y)))

"""Boxes of objects in an image, as returned by detectors, and the segmented frame made from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np

from lodestar.perception.frames import Detection, ImageBox, SegmentedFrame
from lodestar.perception.segments import SegmentFilter, filter_segments, label_extents

# boxes compared by non-maximum suppression, the best ones; its time grows with their square
_MOST_COMPARED = 1000
_FARTHEST = 1e5  # pixels, largest valid coordinate of a corner: many times any image, see `select`


@dataclass(frozen=True)
class Boxes:
    """Boxes of one image before or after selection.

    corners: (N, 4) float32, left, top, right, bottom, pixels. scores: (N,) float32, 0..1. kinds: (N,) int, class
    numbers. coefficients: (N, K) float32, weights of `prototypes`, (K, h, w) float32, that add up to masks; K = 0 and
    None without masks.
    """

    corners: np.ndarray
    scores: np.ndarray
    kinds: np.ndarray
    coefficients: np.ndarray
    prototypes: np.ndarray | None = None
    # (N,) int, attribute numbers, -1 = none; None = the network has no attributes
    attributes: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.scores)

    def taken(self, which: np.ndarray) -> Boxes:
        """Return only the boxes that an index array or mask selects."""
        return Boxes(
            self.corners[which],
            self.scores[which],
            self.kinds[which],
            self.coefficients[which],
            self.prototypes,
            None if self.attributes is None else self.attributes[which],
        )

    def masks(self) -> np.ndarray | None:
        """Return (N, h, w) float32 over the network's whole input, positive on the object; None without prototypes."""
        return None if self.prototypes is None else np.tensordot(self.coefficients, self.prototypes, 1)


@dataclass(frozen=True)
class FoundThing:
    """Object in an image. box: within the image. mask: (box.height, box.width) bool; None = only the box is known.

    attribute: a word for its appearance, such as a colour; "" = unknown.
    """

    label: str
    score: float
    box: ImageBox
    mask: np.ndarray | None = None
    attribute: str = ""


def select(boxes: Boxes, confidence: float, iou: float, most: int) -> tuple[Boxes, int]:
    """Return the best `most` boxes, and the number of invalid boxes.

    Boxes that overlap a better one of the same class are left out, and so are invalid boxes: those with
    corners that are NaN, infinite or far outside any image, or with scores above 1. OpenCV separates classes
    by shifting boxes by the largest corner, so a single far corner would make all others of a class coincide.

    confidence: least score. iou: overlap from which two boxes are one; 1 = never.
    """
    sound = (np.abs(boxes.corners) <= _FARTHEST).all(1) & (boxes.scores <= 1.0)  # false for NaN
    odd = int(np.count_nonzero(~sound))
    good = np.flatnonzero(sound & (boxes.scores >= confidence))
    good = good[np.argsort(-boxes.scores[good], kind="stable")][:_MOST_COMPARED]
    chosen = boxes.taken(good)
    if iou < 1.0 and len(chosen):
        low, size = chosen.corners[:, :2], chosen.corners[:, 2:] - chosen.corners[:, :2]
        kept = cv2.dnn.NMSBoxesBatched(
            np.hstack([low, size]).astype(float).tolist(),
            chosen.scores.tolist(),
            chosen.kinds.tolist(),
            confidence,
            iou,
        )
        chosen = chosen.taken(np.sort(np.asarray(kept, int).ravel()))
    return chosen.taken(np.arange(min(most, len(chosen)))), odd


def image_box(corners: np.ndarray, shape: tuple[int, int]) -> ImageBox | None:
    """Return the whole-pixel box within an image (H, W) for corners (4,); None if it is empty or NaN."""
    height, width = shape
    if not np.isfinite(corners).all():
        return None
    left, right = np.clip(np.round(corners[[0, 2]]), 0, width).astype(int)
    top, bottom = np.clip(np.round(corners[[1, 3]]), 0, height).astype(int)
    if right <= left or bottom <= top:
        return None
    return ImageBox(int(left), int(top), int(right - left), int(bottom - top))


def segmented(
    stamp: float, shape: tuple[int, int], things: Sequence[FoundThing], detector: str, min_pixels: int
) -> SegmentedFrame:
    """Return the segmented frame (H, W) of objects.

    Small objects are painted last, so that they stay visible on large ones. An object without a mask fills
    its box. Objects with less than `min_pixels` visible pixels are left out.
    """
    image = np.zeros(shape, np.uint16)
    sizes = [_area(thing) for thing in things]
    for place in np.argsort(-np.asarray(sizes, int), kind="stable"):
        box, mask = things[place].box, things[place].mask
        window = image[box.y : box.y + box.height, box.x : box.x + box.width]
        window[... if mask is None else mask] = place + 1
    detections = tuple(
        Detection(value, thing.label, f"{thing.attribute} {thing.label}".strip(), thing.score, box, pixels)
        for value, box, pixels in label_extents(image)
        for thing in [things[value - 1]]
    )
    frame = SegmentedFrame(stamp, image, detections, detector)
    return filter_segments(frame, SegmentFilter(min_pixels, 0.0))


def _area(thing: FoundThing) -> int:
    return thing.box.width * thing.box.height if thing.mask is None else int(np.count_nonzero(thing.mask))

"""Boxes of things in an image, as detectors give them, and the segmented frame that is made of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np

from lodestar.perception.frames import Detection, ImageBox, SegmentedFrame
from lodestar.perception.segments import SegmentFilter, filter_segments, label_extents

_MOST_COMPARED = (
    1000  # boxes that non-maximum suppression compares: the best ones; its time grows with their square
)
_FARTHEST = 1e5  # pixels of a corner: many times any image, see `select`


@dataclass(frozen=True)
class Boxes:
    """Boxes of one image before and after selection.

    corners: (N, 4) float32, left, top, right, bottom, pixels. scores: (N,) float32, 0..1. kinds: (N,) int, numbers of
    classes. coefficients: (N, K) float32 of `prototypes`, (K, h, w) float32, of which the masks are sums; K = 0 and
    None where there are none.
    """

    corners: np.ndarray
    scores: np.ndarray
    kinds: np.ndarray
    coefficients: np.ndarray
    prototypes: np.ndarray | None = None
    attributes: np.ndarray | None = (
        None  # (N,) int, numbers of attributes, -1 = none; None = the network tells none
    )

    def __len__(self) -> int:
        return len(self.scores)

    def taken(self, which: np.ndarray) -> Boxes:
        """Return the boxes that an index array or mask selects."""
        return Boxes(
            self.corners[which],
            self.scores[which],
            self.kinds[which],
            self.coefficients[which],
            self.prototypes,
            None if self.attributes is None else self.attributes[which],
        )

    def masks(self) -> np.ndarray | None:
        """Return (N, h, w) float32 over the network's whole input, positive on the thing; None without prototypes."""
        return None if self.prototypes is None else np.tensordot(self.coefficients, self.prototypes, 1)


@dataclass(frozen=True)
class FoundThing:
    """A thing in an image. box: within the image. mask: (box.height, box.width) bool; None = only the box is known.

    attribute: a word for its look, such as a colour; "" = none is known.
    """

    label: str
    score: float
    box: ImageBox
    mask: np.ndarray | None = None
    attribute: str = ""


def select(boxes: Boxes, confidence: float, iou: float, most: int) -> tuple[Boxes, int]:
    """Return the best `most` boxes, of overlapping ones of a class the best, and how many had values that are no box.

    Such are NaN, infinite or far outside of any image, and scores above 1: OpenCV tells classes apart by moving boxes
    by the largest corner, so that a single far one would make all others of a class coincide.

    confidence: least score. iou: overlap from which two are one; 1 = never.
    """
    sound = (np.abs(boxes.corners) <= _FARTHEST).all(1) & (boxes.scores <= 1.0)  # NaN compares false
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
    """Return the whole pixels of a box (4,) within an image (H, W); None where there are none, or it is NaN."""
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
    """Return the frame (H, W) of things: small ones are painted last, so that they stay visible on large ones.

    What has no mask fills its box. Things of less than `min_pixels` visible pixels are left out.
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

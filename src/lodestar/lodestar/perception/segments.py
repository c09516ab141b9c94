"""Which segments are good enough to be used."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numba import njit

from lodestar.perception.frames import Detection, ImageBox, SegmentedFrame


@dataclass(frozen=True)
class SegmentFilter:
    """min_pixels: of a mask. min_score: of a detection, [0, 1].

    max_border_share: share of a box's outline on the image border above which it is dropped, 1 = never.
    """

    min_pixels: int = 60
    min_score: float = 0.25
    max_border_share: float = 1.0


@njit(cache=True)
def _extents(labels, top, bottom, left, right, count, first):
    rows, columns = labels.shape
    for row in range(rows):
        for column in range(columns):
            value = labels[row, column]
            if value == 0:
                continue
            if count[value] == 0:
                top[value], left[value], right[value] = row, column, column
                first[value] = row * columns + column
            count[value] += 1
            bottom[value] = row
            left[value] = min(left[value], column)
            right[value] = max(right[value], column)


def label_extents(labels: np.ndarray) -> list[tuple[int, ImageBox, int]]:
    """(value, box, pixels) of every value but 0 in an image (H, W) uint16, in order of first pixels."""
    size = int(labels.max(initial=0)) + 1
    top, bottom, left, right, count, first = np.zeros((6, size), np.int64)
    _extents(np.ascontiguousarray(labels), top, bottom, left, right, count, first)
    values = np.flatnonzero(count)
    values = values[np.argsort(first[values])]
    return [
        (
            int(v),
            ImageBox(int(left[v]), int(top[v]), int(right[v] - left[v] + 1), int(bottom[v] - top[v] + 1)),
            int(count[v]),
        )
        for v in values
    ]


def border_share(box: ImageBox, width: int, height: int) -> float:
    """Share of the box's outline that lies on the border of a width x height image, [0, 1]."""
    on_border = 0
    on_border += box.height if box.x <= 0 else 0
    on_border += box.height if box.x + box.width >= width else 0
    on_border += box.width if box.y <= 0 else 0
    on_border += box.width if box.y + box.height >= height else 0
    return on_border / max(2 * (box.width + box.height), 1)


def keeps(detection: Detection, rule: SegmentFilter, width: int, height: int) -> bool:
    """Whether a detection in a width x height image passes the filter."""
    if detection.pixel_count < rule.min_pixels or detection.score < rule.min_score:
        return False
    return rule.max_border_share >= 1.0 or border_share(detection.box, width, height) <= rule.max_border_share


def filter_segments(frame: SegmentedFrame, rule: SegmentFilter) -> SegmentedFrame:
    """The frame without the detections that fail the filter; their pixels become background."""
    height, width = frame.labels.shape
    kept = tuple(d for d in frame.detections if keeps(d, rule, width, height))
    if len(kept) == len(frame.detections):
        return frame
    lookup = np.zeros(int(frame.labels.max(initial=0)) + 1, np.uint16)
    for detection in kept:
        lookup[detection.label_value] = detection.label_value
    return replace(frame, labels=lookup[frame.labels], detections=kept)

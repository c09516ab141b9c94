"""Filter that removes unfit segments by a cascade of cheap tests (FARM D.1 step 2)."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numba import njit

from lodestar.geometry.boxes import box_iou
from lodestar.models.lexicon import load_lexicon
from lodestar.perception.frames import Detection, ImageBox, SegmentedFrame

# most detections of a frame of a working detector; chosen: above the default limits of the detectors
SEGMENTS_MOST = 256
# Masks of one label that together fill this share of the image are not of a working detector; chosen: from a metre
# away the floor alone fills a fifth of it
SEGMENTS_REPEATED = 4
SEGMENTS_SHARE = 0.9


@dataclass(frozen=True)
class SegmentFilter:
    """Conditions on segments (FARM D.1 step 2). Distance is tested later, with the depth samples."""

    min_pixels: int = 60  # pixels, least size of a mask; chosen: about 8 x 8 pixels
    min_score: float = 0.25  # least score of a detection, 0..1; Ultralytics' default confidence
    structure: bool = False  # whether walls, floors and ceilings are kept as objects
    # IoU of boxes from which the smaller mask is a duplicate; its pixels go to the larger. Above 1 = never.
    # Chosen high, so that an object on its support is no duplicate.
    duplicate: float = 0.9


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
    """Return (value, box, pixels) of every value but 0 in an image (H, W) uint16, in order of first pixels."""
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
    """Return the share of the box's outline that lies on the border of a width x height image, [0, 1]."""
    on_border = 0
    on_border += box.height if box.x <= 0 else 0
    on_border += box.height if box.x + box.width >= width else 0
    on_border += box.width if box.y <= 0 else 0
    on_border += box.width if box.y + box.height >= height else 0
    return on_border / max(2 * (box.width + box.height), 1)


def keeps(detection: Detection, rule: SegmentFilter) -> bool:
    """Return whether a detection passes the filter."""
    if detection.pixel_count < rule.min_pixels or detection.score < rule.min_score:
        return False
    return rule.structure or not _is_structure(detection.label)


@lru_cache(maxsize=4096)
def _is_structure(label: str) -> bool:
    lexicon = load_lexicon()
    return lexicon.canonical(label) in lexicon.structure


def _duplicates(detections: tuple[Detection, ...], share: float) -> dict[int, int]:
    """Return, for each duplicate mask, its label value -> the label value of the mask that it duplicates."""
    if share > 1.0 or len(detections) < 2:
        return {}
    low = np.array([(d.box.x, d.box.y) for d in detections], float)
    high = low + [(d.box.width, d.box.height) for d in detections]
    again = np.triu(box_iou(low[:, None], high[:, None], low[None], high[None]) >= share, 1)
    found: dict[int, int] = {}
    for pair in np.argwhere(again):
        more, fewer = sorted((detections[i] for i in pair), key=lambda d: (-d.pixel_count, d.label_value))
        if more.label_value not in found:
            found.setdefault(fewer.label_value, more.label_value)
    for fewer, more in found.items():  # of a chain the largest stays
        while more in found:
            more = found[more]
        found[fewer] = more
    return found


def is_crowded(frame: SegmentedFrame) -> bool:
    """Return whether a frame has more detections than a working detector returns."""
    return len(frame.detections) > SEGMENTS_MOST


def is_everywhere(frame: SegmentedFrame) -> bool:
    """Return whether several masks of one label fill about the whole image."""
    for label, masks in Counter(d.label for d in frame.detections).items():
        values = [d.label_value for d in frame.detections if d.label == label]
        if masks >= SEGMENTS_REPEATED and np.isin(frame.labels, values).mean() >= SEGMENTS_SHARE:
            return True
    return False


def filter_segments(frame: SegmentedFrame, rule: SegmentFilter) -> SegmentedFrame:
    """Return the frame without rejected detections and duplicates.

    Rejected pixels become background; those of a duplicate go to the mask that it duplicates.
    """
    good = tuple(d for d in frame.detections if keeps(d, rule))
    again = _duplicates(good, rule.duplicate)
    if len(good) == len(frame.detections) and not again:
        return frame
    size = 1 + max([int(frame.labels.max(initial=0)), *(d.label_value for d in good)])
    lookup = np.zeros(size, np.uint16)
    pixels = {d.label_value: d.pixel_count for d in good}
    for value in pixels:
        lookup[value] = again.get(value, value)
    for value, other in again.items():
        pixels[other] += pixels[value]
    kept = tuple(
        d if d.pixel_count == pixels[d.label_value] else replace(d, pixel_count=pixels[d.label_value])
        for d in good
        if d.label_value not in again
    )
    return replace(frame, labels=lookup[frame.labels], detections=kept)

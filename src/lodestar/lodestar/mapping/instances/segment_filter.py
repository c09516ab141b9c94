"""Repair of segments: faulty detections are corrected and counted."""

from __future__ import annotations

import unicodedata
from collections import Counter
from dataclasses import replace
from enum import Enum

import numpy as np

from lodestar.perception.frames import Detection, ImageBox, SegmentedFrame

SEGMENT_FILTER_TEXT = 200  # characters of a label or caption that are kept; chosen


class Repair(Enum):
    """Kind of repair of a detection."""

    TEXT_CLIPPED = "label or caption was too long or held control characters"
    FEATURE_DROPPED = "appearance feature was not a finite vector"
    SCORE_CLIPPED = "score was not a number in [0, 1]"
    BOX_CLIPPED = "image box or pixel count did not fit the image"


def clean_segments(segmented: SegmentedFrame) -> tuple[SegmentedFrame, Counter]:
    """Return the repaired frame and the number of repairs of each kind; the same frame if none was needed."""
    repairs: Counter = Counter()
    rows, columns = segmented.labels.shape
    detections = tuple(_clean(one, rows, columns, repairs) for one in segmented.detections)
    return (replace(segmented, detections=detections), repairs) if repairs else (segmented, repairs)


def _clean(detection: Detection, rows: int, columns: int, repairs: Counter) -> Detection:
    changes: dict = {}
    box, count = _inside(detection.box, rows, columns), min(max(detection.pixel_count, 0), rows * columns)
    if box != detection.box or count != detection.pixel_count:
        changes |= {"box": box, "pixel_count": count}
        repairs[Repair.BOX_CLIPPED] += 1
    for name in ("label", "caption"):
        text = getattr(detection, name)
        clean = clean_text(text, SEGMENT_FILTER_TEXT)
        if clean != text:
            changes[name] = clean
    if changes:
        repairs[Repair.TEXT_CLIPPED] += 1
    if not 0.0 <= detection.score <= 1.0:  # NaN compares false
        changes["score"] = min(max(detection.score, 0.0), 1.0) if np.isfinite(detection.score) else 0.0
        repairs[Repair.SCORE_CLIPPED] += 1
    feature = detection.feature
    if feature is not None:
        length = float(np.linalg.norm(feature)) if np.ndim(feature) == 1 and np.size(feature) else np.nan
        if not (np.isfinite(length) and length > 1e-6):
            changes["feature"] = None
            repairs[Repair.FEATURE_DROPPED] += 1
        elif abs(length - 1.0) > 1e-3:
            changes["feature"] = (np.asarray(feature, np.float32) / np.float32(length)).astype(np.float32)
    return replace(detection, **changes) if changes else detection


def _inside(box: ImageBox, rows: int, columns: int) -> ImageBox:
    """Return the part of a box inside the image."""
    x0, y0 = min(max(box.x, 0), columns), min(max(box.y, 0), rows)
    x1, y1 = min(max(box.x + box.width, x0), columns), min(max(box.y + box.height, y0), rows)
    return replace(box, x=x0, y=y0, width=x1 - x0, height=y1 - y0)


def clean_text(text: str, length: int) -> str:
    """Return the text on one line of at most `length` characters, without control characters."""
    if len(text) <= length and text.isprintable():
        return text
    shown = (" " if character.isspace() else character for character in text[: 4 * length])
    kept = "".join(c for c in shown if c == " " or not unicodedata.category(c).startswith("C"))
    return " ".join(kept.split())[:length].rstrip()

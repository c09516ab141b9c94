"""Tests of the cascade of filters that segments pass."""

from __future__ import annotations

import numpy as np
import pytest

from lodestar.perception.frames import Detection, ImageBox, SegmentedFrame
from lodestar.perception.segments import SegmentFilter, filter_segments


def frame(*things):
    """Return rectangles (label, score, x, y, width, height) as segments, later ones over earlier ones."""
    labels = np.zeros((60, 80), np.uint16)
    for value, (_, _, x, y, width, height) in enumerate(things, start=1):
        labels[y : y + height, x : x + width] = value
    detections = tuple(
        Detection(value, label, label, score, ImageBox(*box), int((labels == value).sum()))
        for value, (label, score, *box) in enumerate(things, start=1)
    )
    return SegmentedFrame(1.0, labels, detections)


def labels_of(given):
    return [d.label for d in given.detections]


@pytest.mark.parametrize(
    ("thing", "rule", "stays"),
    [
        (("chair", 0.9, 10, 10, 20, 20), SegmentFilter(), True),
        (("chair", 0.9, 10, 10, 5, 5), SegmentFilter(), False),
        (("chair", 0.1, 10, 10, 20, 20), SegmentFilter(), False),
        (("floor", 0.9, 10, 10, 20, 20), SegmentFilter(), False),
        (("walls", 0.9, 10, 10, 20, 20), SegmentFilter(), False),
        (("floor", 0.9, 10, 10, 20, 20), SegmentFilter(structure=True), True),
        (("wet floor", 0.9, 10, 10, 20, 20), SegmentFilter(), True),
        (("floor lamp", 0.9, 10, 10, 20, 20), SegmentFilter(), True),
    ],
)
def test_each_test_of_the_cascade(thing, rule, stays):
    found = filter_segments(frame(thing), rule)
    assert bool(found.detections) is stays
    assert bool(found.labels.any()) is stays


def test_a_duplicate_gives_its_pixels_to_the_other():
    given = frame(
        ("screen", 0.5, 10, 10, 30, 30), ("monitor", 0.9, 11, 10, 29, 30), ("chair", 0.9, 50, 10, 20, 30)
    )
    given = SegmentedFrame(given.stamp, given.labels, given.detections)
    found = filter_segments(given, SegmentFilter(min_pixels=10))
    assert labels_of(found) == ["monitor", "chair"]
    assert found.detections[0].pixel_count == 30 * 30 == int((found.labels == 2).sum())
    assert set(np.unique(found.labels)) == {0, 2, 3}
    assert labels_of(filter_segments(given, SegmentFilter(min_pixels=10, duplicate=2.0))) == labels_of(given)


def test_three_of_the_same_become_one():
    given = frame(*(("chair", 0.9, 10 + k, 10, 40, 40) for k in range(3)))
    found = filter_segments(given, SegmentFilter(min_pixels=1, duplicate=0.85))
    assert len(found.detections) == 1
    assert int((found.labels > 0).sum()) == found.detections[0].pixel_count == 42 * 40


def test_of_a_chain_of_duplicates_the_largest_stays_with_all_pixels():
    given = frame(*(("chair", 0.9, x, 10, 40, 40) for x in (10, 13, 17)))
    found = filter_segments(given, SegmentFilter(min_pixels=1, duplicate=0.8))
    assert len(found.detections) == 1
    value, count = found.detections[0].label_value, found.detections[0].pixel_count
    assert set(np.unique(found.labels)) == {0, value} and int((found.labels == value).sum()) == count


def test_a_frame_that_passes_is_the_same_object():
    given = frame(("chair", 0.9, 10, 10, 20, 20), ("desk", 0.9, 40, 10, 30, 30))
    assert filter_segments(given, SegmentFilter()) is given

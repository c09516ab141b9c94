"""Tests of drawing segments as pictures."""

from __future__ import annotations

import numpy as np
import pytest

from lodestar.perception.frames import Detection, ImageBox, SegmentedFrame
from lodestar.perception.painting import color_of_label, paint_segments


def frame() -> SegmentedFrame:
    labels = np.zeros((60, 80), np.uint16)
    labels[10:50, 5:35], labels[10:50, 45:75] = 1, 2
    found = tuple(
        Detection(value, label, label, 0.9, ImageBox(x, 10, 30, 40), 1200)
        for value, label, x in ((1, "chair", 5), (2, "table\u00e9", 45), (9, "lamp", 0))
    )
    return SegmentedFrame(1.0, labels, found)


def test_a_segment_has_the_colour_of_its_label_and_the_rest_the_image():
    rgb = np.full((60, 80, 3), 100, np.uint8)
    before = rgb.copy()
    picture = paint_segments(frame(), rgb)
    assert (picture[0] == 100).all() and (rgb == before).all(), "the image itself stays"
    expected = 0.55 * np.array(color_of_label("chair")) + 0.45 * 100
    assert np.abs(picture[12, 30] - expected).max() <= 1
    assert (picture[12, 30] != picture[12, 72]).any()


@pytest.mark.parametrize("rgb", [None, np.zeros((30, 40, 3), np.uint8)])
def test_without_an_image_of_its_size_it_is_black_around_the_segments(rgb):
    picture = paint_segments(frame(), rgb)
    assert picture.shape == (60, 80, 3) and not picture[0].any()
    assert tuple(picture[12, 30]) == color_of_label("chair")


def test_a_frame_without_segments_is_a_picture_too():
    empty = SegmentedFrame(1.0, np.zeros((8, 9), np.uint16), ())
    assert paint_segments(empty).shape == (8, 9, 3)

"""Tests of annotated keyframes."""

from __future__ import annotations

import itertools

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lodestar.memory.keyframe_contours import annotated_jpeg, color_of, draw_contours
from lodestar.perception.frames import ImageBox

GRAY = np.full((240, 320, 3), 128, np.uint8)


def changed(picture):
    return (picture != GRAY).any(axis=2)


def test_a_box_gets_a_contour_in_its_colour_and_the_image_stays():
    before = GRAY.copy()
    picture = draw_contours(GRAY, [(7, ImageBox(100, 60, 80, 90))])
    np.testing.assert_array_equal(GRAY, before)
    assert (picture[100, 100] == color_of(7)).all() or changed(picture)[100, 98:103].any()
    assert not changed(picture)[110:140, 120:170].any()
    assert changed(picture)[60:80, 100:120].any()


def test_colours_tell_successive_ids_apart():
    colours = [color_of(i) for i in range(1, 7)]
    assert len(set(colours)) == 6
    apart = [np.abs(np.subtract(a, b)).max() for a, b in itertools.pairwise(colours)]
    assert min(apart) > 60


@pytest.mark.parametrize(
    "box",
    [ImageBox(-500, 0, 10, 10), ImageBox(400, 20, 10, 10), ImageBox(5, 5, 0, 0), ImageBox(5, 5, -9, -9)],
)
def test_what_is_not_in_the_image_is_left_out(box):
    assert not changed(draw_contours(GRAY, [(1, box)])).any()


def test_ids_stay_within_the_image():
    picture = draw_contours(GRAY, [(123456, ImageBox(300, 225, 100, 100)), (2, ImageBox(-20, -20, 60, 60))])
    assert changed(picture).any()


def test_a_jpeg_comes_back_as_one_with_contours():
    done, plain = cv2.imencode(".jpg", GRAY)
    assert done
    drawn = annotated_jpeg(plain.tobytes(), {7: ImageBox(100, 60, 80, 90)})
    picture = cv2.cvtColor(cv2.imdecode(np.frombuffer(drawn, np.uint8), cv2.IMREAD_COLOR), cv2.COLOR_BGR2RGB)
    assert picture.shape == GRAY.shape and np.abs(picture.astype(int) - GRAY).max() > 60


@pytest.mark.parametrize("data", [b"", b"no image"])
def test_what_is_no_image_gives_none(data):
    assert annotated_jpeg(data, {}) is None


@pytest.mark.parametrize("image", [np.zeros((4, 4), np.uint8), np.zeros((4, 4, 3), float)])
def test_other_images_are_refused(image):
    with pytest.raises(ValueError, match="uint8"):
        draw_contours(image, [])


L_SHAPED = (100, 60, 179, 60, 179, 90, 130, 90, 130, 149, 100, 149)


def test_an_outline_is_drawn_in_the_place_of_the_rectangle():
    picture = changed(draw_contours(GRAY, [(7, ImageBox(100, 60, 80, 90, outline=L_SHAPED))]))
    assert picture[60, 150] and picture[90, 160] and picture[120, 130], "the borders of an L"
    assert not picture[100:150, 140:190].any(), "its notch"


def test_all_parts_of_an_outline_are_drawn_and_two_instances_of_one_entity_too():
    two = (20, 20, 60, 20, 60, 60, 20, 60, -1, -1, 90, 20, 130, 20, 130, 60, 90, 60)
    plain = cv2.imencode(".png", GRAY)[1]
    boxes = {7: ImageBox(20, 20, 111, 41, outline=two), 8: ImageBox(200, 100, 40, 40)}
    drawn = annotated_jpeg(plain.tobytes(), boxes, {7: 3, 8: 3}.get)
    picture = cv2.imdecode(np.frombuffer(drawn, np.uint8), cv2.IMREAD_COLOR).astype(int)
    for row, column in ((60, 40), (60, 110), (140, 220)):
        assert np.abs(picture[row, column] - 128).max() > 40
    assert np.abs(picture[40, 75] - 128).max() < 20


@given(st.lists(st.integers(-(2**15), 2**15 - 1), max_size=64), st.tuples(*[st.integers(-50, 400)] * 4))
@settings(deadline=None)
def test_no_outline_is_too_damaged_to_be_drawn(outline, box):
    assert draw_contours(GRAY, [(1, ImageBox(*box, outline=tuple(outline)))]).shape == GRAY.shape

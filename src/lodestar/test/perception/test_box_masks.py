"""Tests of masks from boxes and depth, in rooms of known shape and on random arrays."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_geometric import BOXES, CAMERA, noisy, render

from lodestar.geometry.camera import PinholeCamera
from lodestar.perception.box_masks import BoxMasker, with_masks
from lodestar.perception.found_things import FoundThing, segmented
from lodestar.perception.frames import AlignedDepth, ImageBox


def box_around(mask, share=0.0, rng=None):
    """Return the box of a mask, with its sides moved by up to `share` of its size."""
    rows, columns = np.flatnonzero(mask.any(1)), np.flatnonzero(mask.any(0))
    corners = np.array([columns[0], rows[0], columns[-1] + 1, rows[-1] + 1], float)
    size = np.tile(corners[2:] - corners[:2], 2)
    if rng is not None:
        corners += rng.uniform(-share, share, 4) * size
    left, top, right, bottom = np.clip(np.round(corners), 0, np.tile(mask.shape[::-1], 2)).astype(int)
    return ImageBox(int(left), int(top), int(right - left), int(bottom - top))


def iou(thing, truth):
    full = np.zeros(truth.shape, bool)
    box = thing.box
    full[box.y : box.y + box.height, box.x : box.x + box.width] = True if thing.mask is None else thing.mask
    return (full & truth).sum() / (full | truth).sum()


@pytest.mark.parametrize("seed", range(6))
def test_the_wall_behind_and_the_floor_are_no_part_of_a_thing(seed):
    depth, labels = render(BOXES)
    rng = np.random.default_rng(seed)
    for value in (1, 2):
        truth = labels == value
        thing = FoundThing("chair", 0.5, box_around(truth, 0.1, rng))
        (masked,) = BoxMasker().masked([thing], AlignedDepth(noisy(depth, seed), CAMERA))
        assert masked.mask is not None and iou(masked, truth) > max(0.75, iou(thing, truth))


def test_a_picture_on_the_wall_keeps_its_box_and_is_counted():
    depth, _ = render([])
    masker = BoxMasker()
    thing = FoundThing("picture", 0.5, ImageBox(130, 20, 50, 40))
    assert masker.masked([thing], AlignedDepth(depth, CAMERA)) == [thing]
    assert masker.boxes_left == 1


@pytest.mark.parametrize("value", [0.0, np.nan, np.inf, 1e-3, 1e9])
def test_without_usable_depth_boxes_stay(value):
    depth = np.full((240, 320), value, np.float32)
    thing = FoundThing("chair", 0.5, ImageBox(0, 0, 320, 240))
    assert BoxMasker().masked([thing], AlignedDepth(depth, CAMERA)) == [thing]


def test_a_mask_of_the_detector_is_left_alone():
    depth, labels = render(BOXES)
    box = box_around(labels == 1)
    thing = FoundThing("chair", 0.5, box, np.ones((box.height, box.width), bool))
    assert BoxMasker().masked([thing], AlignedDepth(depth, CAMERA))[0] is thing
    assert (
        with_masks([thing], None, BoxMasker())
        == [thing]
        == with_masks([thing], AlignedDepth(depth, CAMERA), None)
    )


def test_depth_of_another_size_is_refused():
    with pytest.raises(ValueError, match="shape"):
        BoxMasker().masked([], AlignedDepth(np.ones((4, 4), np.float32), CAMERA))


@given(data=st.data(), seed=st.integers(0, 2**32 - 1))
@settings(max_examples=60)
def test_any_box_in_any_depth_gives_a_mask_within_the_image_or_stays(data, seed):
    rng = np.random.default_rng(seed)
    height, width = data.draw(st.integers(1, 60)), data.draw(st.integers(1, 80))
    camera = PinholeCamera(width, height, 60.0, 60.0, width / 2, height / 2)
    depth = rng.uniform(0.0, 9.0, (height, width)).astype(np.float32)
    depth[rng.random(depth.shape) < data.draw(st.floats(0.0, 1.0))] = rng.choice([0.0, np.nan, np.inf, -1.0])
    things = []
    for _ in range(3):
        x, y = data.draw(st.integers(0, width - 1)), data.draw(st.integers(0, height - 1))
        w, h = data.draw(st.integers(1, width - x)), data.draw(st.integers(1, height - y))
        things.append(FoundThing("thing", 0.5, ImageBox(x, y, w, h)))
    with pytest.MonkeyPatch.context() as patch:
        cells = data.draw(st.sampled_from([8, 16, 48]))
        patch.setattr("lodestar.perception.box_masks.BOX_MASK_CELLS", cells)
        found = BoxMasker().masked(things, AlignedDepth(depth, camera))
        again = BoxMasker().masked(things, AlignedDepth(depth, camera))
    assert [str(one) for one in found] == [str(one) for one in again], "the same image gives the same masks"
    for before, after in zip(things, found):
        box = after.box
        assert min(box.x, box.y) >= 0 and box.x + box.width <= width and box.y + box.height <= height
        assert after.mask is None or (after.mask.shape == (box.height, box.width) and after.mask.any())
        assert after.mask is not None or after == before
    frame = segmented(1.0, depth.shape, found, "any", 1)
    for detection in frame.detections:
        assert (frame.labels == detection.label_value).sum() == detection.pixel_count > 0

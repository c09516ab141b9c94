"""Tests of decoders of networks' outputs, for each form of output and for arrays of any shape."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx_networks import names, write_network, yolo_output

from lodestar.perception.config import OnnxConfig
from lodestar.perception.found_things import Boxes, FoundThing, image_box, segmented, select
from lodestar.perception.frames import ImageBox
from lodestar.perception.onnx_detector import OnnxDetector
from lodestar.perception.onnx_outputs import NanoDet, UnknownOutputs, Yolo, YoloEndToEnd, form_of, mask_in_box
from lodestar.perception.onnx_panoptic import PanopticDeepLab

SIZE = (64, 96)
CELLS = [(8, 96), (16, 24), (32, 6)]  # (stride, cells) for 64 x 96


def nanodet_outputs(classes=3, bins=8):
    """Return scores and distances of a NanoDet with one detection: cell (row 2, column 5) of stride 8, class 1."""
    scores = [np.full((1, cells, classes), 0.01, np.float32) for _, cells in CELLS]
    sides = [np.zeros((1, cells, 4, bins), np.float32) for _, cells in CELLS]
    cell = 2 * 12 + 5
    scores[0][0, cell, 1] = 0.9
    for side, distance in enumerate((1, 2, 3, 4)):  # in strides: left, top, right, bottom
        sides[0][0, cell, side, distance] = 50.0
    return scores, [each.reshape(1, -1, 4 * bins) for each in sides]


@pytest.mark.parametrize("order", ["scores first", "sides first", "by stride", "in one"])
def test_nanodet_by_hand(order):
    scores, sides = nanodet_outputs()
    if order == "in one":
        outputs = [np.concatenate([np.concatenate(pair, 2) for pair in zip(scores, sides)], 1)]
    elif order == "scores first":
        outputs = [*scores, *sides]
    elif order == "sides first":
        outputs = [*sides, *scores]
    else:
        outputs = [one for pair in zip(scores, sides) for one in pair]
    form = form_of([one.shape for one in outputs], SIZE, 3)
    assert isinstance(form, NanoDet) and form.classes == 3 and form.bins == 8 and form.image.stretched
    found, odd = select(form.boxes(outputs), 0.4, 0.5, 100)
    assert odd == 0 and len(found) == 1 and found.kinds[0] == 1
    # The centre of the cell is (44, 20); a stride is 8 pixels.
    np.testing.assert_allclose(found.corners[0], [44 - 8, 20 - 16, 44 + 24, 20 + 32], atol=1e-3)


def test_the_mean_of_a_distribution_lies_between_its_bins():
    scores, sides = nanodet_outputs()
    # probability half on 0 and half on 1 stride to the left
    sides[0][0, 2 * 12 + 5, :8] = [50.0, 50.0, 0, 0, 0, 0, 0, 0]
    outputs = [*scores, *sides]
    found, _ = select(form_of([one.shape for one in outputs], SIZE, 3).boxes(outputs), 0.4, 0.5, 100)
    assert found.corners[0, 0] == pytest.approx(44 - 4, abs=1e-3)


@pytest.mark.parametrize("classes", [1, 2, 80])
def test_yolo_by_hand(classes):
    output = yolo_output([(10, 20, 40, 50, classes - 1, 0.8)], classes, 300)
    form = form_of([output.shape], SIZE, classes)
    assert isinstance(form, Yolo) and form.overlaps and not form.image.stretched
    found, _ = select(form.boxes([output]), 0.4, 0.5, 100)
    np.testing.assert_allclose(found.corners, [[10, 20, 40, 50]], atol=1e-4)
    assert found.kinds.tolist() == [classes - 1]


def test_yolo_end_to_end_by_hand():
    table = np.zeros((1, 300, 6), np.float32)
    table[0, 0] = 10, 20, 40, 50, 0.8, 1
    table[0, 1] = 10, 20, 40, 50, 0.7, 7  # a class that does not exist
    form = form_of([table.shape], SIZE, 2)
    assert isinstance(form, YoloEndToEnd) and not form.overlaps
    found, odd = select(form.boxes([table]), 0.4, 1.0, 100)
    assert len(found) == 1 and odd == 1 and found.kinds[0] == 1


def test_masks_of_prototypes_are_those_of_the_sum():
    prototypes = np.zeros((1, 4, 16, 24), np.float32)
    prototypes[0, 1, 4:8, 6:12] = 3.0
    prototypes[0, 3] = -1.0
    table = np.zeros((1, 50, 10), np.float32)
    table[0, 0] = 0, 0, 96, 64, 0.8, 0, 0, 1, 0, 1
    form = form_of([prototypes.shape, table.shape], SIZE, 1)
    assert isinstance(form, YoloEndToEnd)
    found, _ = select(form.boxes([prototypes, table]), 0.4, 1.0, 100)
    logits = found.masks()
    mask = mask_in_box(logits[0], ImageBox(0, 0, 96, 64), (0.0, 0.0, 96.0, 64.0))
    truth = np.zeros((64, 96), bool)
    truth[16:32, 24:48] = True
    assert (mask & truth).sum() / (mask | truth).sum() > 0.8


@pytest.mark.parametrize(
    ("shapes", "classes"),
    [
        ([], 2), ([(1, 1000)], 1000), ([(1, 25200, 85)], 80), ([(1, 84, 8400)], 79), ([(1, 3, 64, 96)], 3),
        ([(1, 96, 3), (1, 24, 3)], 3), ([(1, 96, 3), (1, 96, 31)], 3), ([(1, 300, 4), (1, 300, 91)], 91),
        ([(1, 116, 8400), (1, 32, 16, 24), (1, 32, 16, 24)], 80), ([()], 1), ([(1, 0, 0)], 1),
        ([(1, 4, 16, 24), (1, 1, 16, 24), (1, 2, 16, 24)], 4), ([(1, 4, 16, 24), (1, 1, 16, 24), (1, 2, 8, 12)], 3),
        ([(1, 4, 16, 24), (1, 1, 16, 24), (1, 3, 16, 24)], 3), ([(1, 4, 0, 24), (1, 1, 0, 24), (1, 2, 0, 24)], 3),
    ],
)  # fmt: skip
def test_other_outputs_are_refused_with_a_sentence(shapes, classes):
    with pytest.raises(UnknownOutputs, match="of no known form; known are NanoDet"):
        form_of(shapes, SIZE, classes)


def panoptic_outputs(things, classes=3, cells=(32, 48)):
    """Return probabilities, centres and offsets (stride 2) of objects (kind, top, left, bottom, right), in cells."""
    scores = np.full((1, 1 + classes, *cells), 0.02, np.float32)
    scores[0, 0] = 0.9
    center, offset = np.zeros((1, 1, *cells), np.float32), np.zeros((1, 2, *cells), np.float32)
    rows, columns = np.mgrid[: cells[0], : cells[1]]
    for kind, top, left, bottom, right in things:
        inside = (slice(top, bottom), slice(left, right))
        scores[0, 0][inside], scores[0, 1 + kind][inside] = 0.1, 0.8
        row, column = (top + bottom - 1) // 2, (left + right - 1) // 2
        center[0, 0, row, column] = 0.9
        offset[0, 0][inside] = 2.0 * (column - columns[inside])
        offset[0, 1][inside] = 2.0 * (row - rows[inside])
    return scores, center, offset


@pytest.mark.parametrize(
    ("order", "classes"), [((0, 1, 2), 3), ((2, 0, 1), 3), ((1, 2, 0), 3), ((0, 1, 2), 1), ((1, 0, 2), 1)]
)
def test_panoptic_by_hand(order, classes):
    """With one class, probabilities have the shape of offsets and come before them."""
    # two of the objects touch
    things = [(0, 4, 4, 14, 16), (classes - 1, 4, 16, 14, 30), (0, 20, 10, 30, 14)]
    outputs = [panoptic_outputs(things, classes)[index] for index in order]
    form = form_of([one.shape for one in outputs], SIZE, classes)
    assert isinstance(form, PanopticDeepLab) and form.classes == classes
    found, odd = select(form.boxes(outputs), 0.4, 1.0, 100)
    assert odd == 0 and len(found) == 3
    masks = found.masks()
    for kind, top, left, bottom, right in things:
        (place,) = np.flatnonzero((found.corners == np.array([left, top, right, bottom]) * 2.0).all(1))
        assert found.kinds[place] == kind and found.scores[place] == pytest.approx(0.8, abs=1e-3)
        truth = np.zeros((32, 48), bool)
        truth[top:bottom, left:right] = True
        assert ((masks[place] > 0) == truth).all()


def test_a_thing_has_the_attribute_of_its_pixels_where_they_agree(tmp_path):
    outputs = list(panoptic_outputs([(0, 4, 4, 14, 16), (2, 20, 10, 30, 24)]))
    words = np.full((1, 3, 32, 48), 0.1, np.float32)
    # two columns of the first object have another class
    words[0, 1, 4:14, 4:14], words[0, 0, 20:30, 10:24] = 0.8, 0.35
    outputs.append(words)
    told = {**names(3), "attributes": "['red', 'green', 'blue']"}
    path = write_network(tmp_path / "n.onnx", outputs, SIZE, told)
    frame = OnnxDetector(path).detect(0.0, np.zeros((*SIZE, 3), np.uint8))
    assert {d.label: d.caption for d in frame.detections} == {
        "thing 0": "green thing 0",
        "thing 2": "thing 2",
    }
    path = write_network(tmp_path / "few.onnx", outputs, SIZE, {**told, "attributes": "['red']"})
    frame = OnnxDetector(path).detect(0.0, np.zeros((*SIZE, 3), np.uint8))
    assert {d.caption for d in frame.detections} == {"thing 0", "thing 2"}, "a word that is not named is none"


@given(
    st.lists(
        st.tuples(st.integers(0, 2), st.integers(0, 3), st.integers(0, 5), st.integers(2, 8), st.integers(2, 8)),
        max_size=8, unique_by=lambda one: one[1:3],
    )
)  # fmt: skip
@settings(max_examples=60)
def test_every_thing_of_a_panoptic_image_is_found_once(cells):
    """Each object lies in a separate square of 8 x 8 cells, so that they touch at most."""
    things = [
        (kind, row * 8, column * 8, row * 8 + high, column * 8 + wide)
        for kind, row, column, high, wide in cells
    ]
    outputs = panoptic_outputs(things)
    found, _ = select(form_of([one.shape for one in outputs], SIZE, 3).boxes(outputs), 0.4, 1.0, 100)
    told = {(int(kind), *(box / 2.0).astype(int).tolist()) for kind, box in zip(found.kinds, found.corners)}
    assert told == {(kind, left, top, right, bottom) for kind, top, left, bottom, right in things}


ODD = st.sampled_from([0.0, 0.3, 0.9, 1.0, 1.5, -5.0, 40.0, 1e9, -1e9, 1e30, np.inf, -np.inf, np.nan])
FORMS = {
    "nanodet": [one.shape for part in nanodet_outputs() for one in part],
    "nanodet in one": [(1, 126, 3 + 32)],
    "yolo": [(1, 7, 40)],
    "yolo with masks": [(1, 7 + 32, 40), (1, 32, 16, 24)],
    "panoptic": [(1, 4, 16, 24), (1, 1, 16, 24), (1, 2, 16, 24)],
    "panoptic with attributes": [(1, 4, 16, 24), (1, 1, 16, 24), (1, 2, 16, 24), (1, 5, 16, 24)],
    "end to end": [(1, 40, 6)],
    "end to end with masks": [(1, 40, 6 + 32), (1, 32, 16, 24)],
}


@pytest.mark.parametrize("name", FORMS)
@given(seed=st.integers(0, 2**32 - 1), share=st.floats(0.0, 1.0), value=ODD)
@settings(max_examples=25)
def test_any_values_give_sound_things_or_none(name, seed, share, value):
    rng = np.random.default_rng(seed)
    outputs = []
    for shape in FORMS[name]:
        array = rng.uniform(-0.5, 1.2, shape).astype(np.float32) * rng.choice([1.0, 50.0])
        array[rng.random(shape) < share] = value
        outputs.append(array)
    form = form_of([one.shape for one in outputs], SIZE, 3)
    with np.errstate(all="ignore"):
        found, odd = select(form.boxes(outputs), 0.4, 0.5, 20)
        masks = found.masks()
    assert len(found) <= 20 and odd >= 0
    assert np.isfinite(found.corners).all() and ((found.scores >= 0.4) & (found.scores <= 1.0)).all()
    assert ((found.kinds >= 0) & (found.kinds < 3)).all()
    things = []
    for index in range(len(found)):
        box = image_box(found.corners[index], SIZE)
        if box is not None:
            assert box.x >= 0 and box.y >= 0 and box.x + box.width <= 96 and box.y + box.height <= 64
            mask = None if masks is None else mask_in_box(masks[index], box, (0.0, 0.0, 96.0, 64.0))
            things.append(FoundThing("thing", float(found.scores[index]), box, mask))
    frame = segmented(0.0, SIZE, things, name, 1)
    assert len(frame.detections) <= len(things)


def test_panoptic_outputs_without_a_channel_are_of_no_form():
    for place in range(4):
        shapes = list(FORMS["panoptic with attributes"])
        shapes[place] = (1, 0, 16, 24)
        with pytest.raises(UnknownOutputs):
            form_of(shapes, SIZE, None)


def test_ten_thousand_boxes_are_bounded_and_the_best_stay():
    rng = np.random.default_rng(0)
    corners = rng.uniform(0, 60, (10_000, 4)).astype(np.float32)
    corners[:, 2:] = corners[:, :2] + 5.0
    scores = rng.uniform(0.5, 0.8, 10_000).astype(np.float32)
    scores[1234] = 0.99
    boxes = Boxes(corners, scores, rng.integers(0, 80, 10_000), np.zeros((10_000, 0), np.float32))
    found, _ = select(boxes, 0.4, 0.5, 100)
    assert len(found) == 100 and found.scores[0] == np.float32(0.99)


def test_boxes_that_are_none_are_counted_and_the_others_stay(tmp_path):
    boxes = [
        (8, 16, 24, 32, 0, 0.9),
        (np.nan, 0, 5, 5, 0, 0.9),
        (300, 300, 400, 400, 0, 0.9),
        (-50, -50, -9, -9, 0, 0.9),
    ]
    path = write_network(tmp_path / "n.onnx", [yolo_output(boxes, 1)], metadata=names(1))
    detector = OnnxDetector(path, OnnxConfig(min_pixels=1))
    frame = detector.detect(0.0, np.zeros((64, 64, 3), np.uint8))
    (kept,) = frame.detections
    assert (kept.box.x, kept.box.y) == (8, 16) and detector.odd_boxes == 1


@given(
    far=st.sampled_from([1e6, -1e6, 1e16, -3e38, 3e38, np.inf]),
    side=st.integers(0, 3),
    kind=st.integers(0, 79),
)
def test_a_box_far_outside_takes_no_other_with_it(far, side, kind):
    good = np.array([[10, 10, 50, 50], [100, 100, 150, 150], [200, 200, 260, 260]], np.float32)
    corners = np.vstack([good, good[:1]])
    corners[3, side] = far
    scores = np.array([0.9, 0.8, 0.7, 0.6], np.float32)
    boxes = Boxes(corners, scores, np.array([3, 3, 3, kind]), np.zeros((4, 0), np.float32))
    found, odd = select(boxes, 0.4, 0.5, 100)
    assert odd == 1 and found.corners.tolist() == good.tolist()

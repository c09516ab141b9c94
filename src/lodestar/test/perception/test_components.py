"""Tests of splitting classes of a label image into objects."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import ndimage

from lodestar.perception.components import split_by_depth, split_by_instances
from lodestar.perception.config import ComponentsConfig

TABLE = {2: {"class": "chair", "caption": "chair"}, 3: {"class": "desk", "caption": "desk"}}
WHOLE = ComponentsConfig(by="depth", min_pixels=1)


def room():
    """Return label and depth images (60, 100): two chairs, a third before the second, a desk, an unnamed wall."""
    labels, depth = np.full((60, 100), 9, np.int32), np.full((60, 100), 5.0, np.float32)
    labels[10:30, 10:30], depth[10:30, 10:30] = 2, 2.0
    labels[10:30, 50:70], depth[10:30, 50:70] = 2, 3.0
    labels[20:40, 60:80], depth[20:40, 60:80] = 2, 2.0  # covers a corner of the second chair
    labels[45:55, 0:100], depth[45:55, 0:100] = 3, np.linspace(1.5, 4.5, 100)
    return labels, depth


def named(image, table, name):
    return sorted(int((image == value).sum()) for value, entry in table.items() if entry["class"] == name)


def test_chairs_of_one_class_are_as_many_as_there_are():
    labels, depth = room()
    image, table = split_by_depth(labels, TABLE, depth, WHOLE)
    assert image.dtype == np.uint16 and set(np.unique(image)) == {0, *table}
    assert named(image, table, "chair") == [300, 400, 400]
    assert named(image, table, "desk") == [1000], "a slope of depth is no jump"
    assert (image[labels == 9] == 0).all(), "a label without a name is background"


def test_without_a_jump_of_depth_touching_things_of_one_class_are_one():
    labels, _ = room()
    image, table = split_by_depth(labels, TABLE, np.full(labels.shape, 2.0, np.float32), WHOLE)
    assert named(image, table, "chair") == [400, 700]


@pytest.mark.parametrize(("step", "parts"), [(0.09, 1), (0.2, 2)])
def test_a_jump_is_more_than_the_limit_at_its_depth(step, parts):
    labels, depth = np.full((10, 20), 2, np.int32), np.full((10, 20), 3.0, np.float32)
    depth[:, 10:] += step
    _, table = split_by_depth(labels, TABLE, depth, WHOLE)
    assert len(table) == parts


def test_pixels_without_depth_do_not_join_what_has_depth():
    labels, depth = np.full((10, 30), 2, np.int32), np.full((10, 30), 2.0, np.float32)
    depth[:, 10:20] = 0.0
    image, table = split_by_depth(labels, TABLE, depth, WHOLE)
    assert named(image, table, "chair") == [100, 100, 100]
    assert len({int(image[0, column]) for column in (0, 15, 29)}) == 3


def test_specks_are_dropped_and_their_pixels_are_background():
    labels, depth = np.zeros((20, 20), np.int32), np.ones((20, 20), np.float32)
    labels[0:5, 0:5], labels[10:12, 10:12] = 2, 2
    image, table = split_by_depth(labels, TABLE, depth, ComponentsConfig(by="depth", min_pixels=20))
    assert named(image, table, "chair") == [25] and not image[10:12, 10:12].any()


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.floats(0.3, 0.8))
def test_at_one_depth_components_are_those_of_image_processing(seed, share):
    """Compares with scipy.ndimage.label with eight neighbours."""
    filled = np.random.default_rng(seed).random((23, 31)) < share
    labels = np.where(filled, 3, 0).astype(np.int32)
    image, table = split_by_depth(labels, TABLE, np.ones(labels.shape, np.float32), WHOLE)
    expected, count = ndimage.label(filled, np.ones((3, 3)))
    assert len(table) == count
    np.testing.assert_array_equal(image, expected)


def test_instances_keep_a_thing_whole_that_another_cuts_in_two():
    labels, _ = room()
    instances = np.zeros(labels.shape, np.int64)
    instances[10:30, 10:30] = 7
    instances[10:30, 50:70] = 7_000_000  # Isaac's numbers need more than 16 bits in large stages
    instances[20:40, 60:80] = 8
    instances[45:55] = 7_000_000  # the desk: the same number under another label is another object
    labels[12:28, 15:20] = 9  # a pole in front of the first chair
    image, table = split_by_instances(labels, TABLE, instances, WHOLE)
    assert named(image, table, "chair") == [300, 320, 400]
    assert named(image, table, "desk") == [1000]


def test_renumbering_the_source_changes_nothing():
    labels, depth = room()
    other = np.select([labels == 2, labels == 3], [40, 41], 0).astype(np.uint16)
    table = {40: TABLE[2], 41: TABLE[3]}
    one, two = split_by_depth(labels, TABLE, depth, WHOLE), split_by_depth(other, table, depth, WHOLE)
    np.testing.assert_array_equal(one[0], two[0])
    assert one[1] == two[1]


@pytest.mark.parametrize("split", [split_by_depth, split_by_instances])
def test_an_image_of_another_size_is_refused_with_advice(split):
    labels, depth = room()
    with pytest.raises(ValueError, match="same resolution"):
        split(labels, TABLE, depth[::2, ::2], WHOLE)


@pytest.mark.parametrize("split", [split_by_depth, split_by_instances])
def test_an_image_without_anything_named_has_no_parts(split):
    labels, depth = room()
    image, table = split(labels, {}, depth.astype(np.float32), WHOLE)
    assert not image.any() and table == {}


@pytest.mark.parametrize("bad", [{"by": "colour"}, {"jump": -1.0}, {"min_pixels": 0}])
def test_settings_that_make_no_sense_are_refused(bad):
    with pytest.raises(ValueError, match="components"):
        ComponentsConfig(**bad)

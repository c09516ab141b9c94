"""Tests of the choice of images that become keyframes."""

import pytest

from lodestar.keyframes.image_picker import ImagePicker, PickConfig


def test_only_images_whose_instances_are_known_are_offered():
    picker = ImagePicker()
    picker.told(0.9)
    offered = []
    for number in range(10, 30):  # ten images per second, of which the detector takes every third
        stamp = number / 10
        offered.append(picker.image(stamp, number))
        if number % 3 == 0:
            offered.append(picker.told((number - 2) / 10))  # detection takes 0.2 s
    assert [each for each in offered if each is not None] == [10, 13, 16, 19, 22, 25]


def test_without_word_of_instances_every_image_is_offered_at_the_period():
    picker = ImagePicker()
    offered = [picker.image(number / 10, number) for number in range(10)]
    assert [each for each in offered if each is not None] == [0, 2, 4, 6, 8]
    assert picker.told(0.9) is None, "0.1 s after the last one"
    assert picker.image(1.5, 15) is None, "from now on it waits for word"
    assert picker.told(1.5) == 15 and picker.image(3.4, 34) is None
    assert picker.image(3.6, 36) == 36, "until there is none for too long"


def test_an_image_that_is_gone_or_not_due_is_not_offered():
    picker = ImagePicker(PickConfig(images=2))
    picker.told(0.0)
    for number in range(4):
        picker.image(number / 10, number)
    assert picker.told(0.1) is None and picker.told(0.25) is None
    assert picker.told(0.3) == 3 and picker.told(0.3) is None


def test_stamps_that_start_anew():
    picker = ImagePicker()
    picker.image(100.0, "old")
    picker.told(100.0)
    picker.restart_clock()
    assert picker.image(1.0, "new") == "new" and picker.told(100.0) is None


def test_configurations_that_make_no_sense_are_refused():
    with pytest.raises(ValueError):
        PickConfig(images=0)

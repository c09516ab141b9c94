"""Tests of image masks lifted to objects in space."""

from __future__ import annotations

import numpy as np

from lodestar.experts.lifted_detections import lift
from lodestar.geometry.camera import PinholeCamera
from lodestar.perception.frames import Detection, ImageBox, RgbdFrame, SegmentedFrame

CAMERA = PinholeCamera(40, 30, 40.0, 40.0, 19.5, 14.5)


def lifted(depth: np.ndarray) -> list:
    labels = np.zeros((30, 40), np.uint16)
    labels[5:25, 10:30] = 7
    detection = Detection(7, "chair", "red chair", 0.9, ImageBox(10, 5, 20, 20), 400)
    frame = RgbdFrame(1.0, CAMERA, depth, np.eye(4))
    return lift(frame, SegmentedFrame(1.0, labels, (detection,)))


def test_a_mask_stands_where_its_depth_says():
    (thing,) = lifted(np.full((30, 40), 2.0, np.float32))
    assert abs(thing.center[2] - 2.0) < 1e-3 and abs(thing.distance - 2.0) < 0.1


def test_a_mask_that_is_half_near_and_half_far_is_one_of_them():
    depth = np.full((30, 40), 1.0, np.float32)
    depth[:, 20:] = 4.5
    (thing,) = lifted(depth)
    assert min(abs(thing.center[2] - 1.0), abs(thing.center[2] - 4.5)) < 1e-3


def test_a_mask_without_depth_is_none():
    assert lifted(np.zeros((30, 40), np.float32)) == []
    assert lifted(np.full((30, 40), np.nan, np.float32)) == []

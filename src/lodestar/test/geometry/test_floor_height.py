"""Tests that the floor lies a camera's height below the pose from TF, on any storey."""

from __future__ import annotations

import numpy as np
import pytest

from lodestar.geometry.floor_height import floor_below
from lodestar.geometry.poses import planar_transform


def test_the_nearest_camera_in_plan_tells_the_floor():
    poses = [planar_transform(0.0, 0.0, 0.0, 0.45), planar_transform(5.0, 0.0, 1.0, 3.45)]
    assert floor_below(poses, np.array([1.0, 0.0, 9.0]), 0.45) == pytest.approx(0.0)
    assert floor_below(poses, np.array([4.0, 0.0]), 0.45) == pytest.approx(3.0)


def test_without_a_finite_pose_it_is_what_the_caller_says():
    broken = np.full((4, 4), np.nan)
    assert floor_below([broken], np.zeros(2), 0.45, otherwise=1.5) == 1.5
    assert floor_below([], np.zeros(2), 0.45) == 0.0
    high = planar_transform(0.0, 0.0, 0.0, np.inf)
    assert floor_below([high, planar_transform(9.0, 0.0, 0.0, 2.0)], np.zeros(2), 0.5) == pytest.approx(1.5)

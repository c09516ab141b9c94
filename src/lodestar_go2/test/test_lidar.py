"""Tests of LiDAR clouds: mount, motion correction, own body, scan."""

from __future__ import annotations

import math

import numpy as np
import pytest

from lodestar.geometry.poses import inverse, planar_transform, transform_points
from lodestar_go2.lidar import CloudScanConfig, LidarConfig, deskewed, in_base, scan_of, without_body

UPRIGHT = LidarConfig(x=0.2, y=0.0, z=0.1, roll=math.pi, pitch=0.0, yaw=0.0)


def test_a_cloud_that_hangs_upside_down_is_put_upright() -> None:
    assert in_base(np.array([[1.0, 0.5, 0.3]]), UPRIGHT) == pytest.approx(np.array([[1.2, -0.5, -0.2]]))


def test_the_built_in_lidar_looks_ahead_and_down() -> None:
    ahead = in_base(np.array([[0.0, 0.0, 1.0]]), LidarConfig())[0] - [0.28945, 0.0, -0.046825]
    assert ahead[2] == pytest.approx(-0.9655, abs=1e-3) and ahead[0] == pytest.approx(0.26, abs=0.01)


@pytest.mark.parametrize("velocity", [(0.8, 0.0, 0.0), (0.3, -0.4, 1.2), (0.0, 0.0, -1.0), (0.0, 0.0, 0.0)])
def test_a_moving_robot_sees_a_straight_wall(velocity: tuple[float, float, float]) -> None:
    """A wall seen from a moving robot during one sweep is corrected to the last pose."""
    rng = np.random.default_rng(1)
    wall = np.stack([np.full(200, 3.0), rng.uniform(-2.0, 2.0, 200), rng.uniform(0.0, 1.0, 200)], axis=1)
    ages = rng.uniform(0.0, 0.1, 200)
    measured = np.empty_like(wall)
    for i, age in enumerate(ages):
        x, y, yaw = 0.0, 0.0, 0.0
        steps = 2000  # integrate backwards from the end of the sweep
        for _ in range(steps):
            dt = age / steps
            yaw -= velocity[2] * dt
            x -= (velocity[0] * math.cos(yaw) - velocity[1] * math.sin(yaw)) * dt
            y -= (velocity[0] * math.sin(yaw) + velocity[1] * math.cos(yaw)) * dt
        measured[i] = transform_points(inverse(planar_transform(x, y, yaw)), wall[i : i + 1])[0]
    assert deskewed(measured, ages, velocity) == pytest.approx(wall, abs=1e-3)


def test_the_robots_own_points_are_left_out() -> None:
    points = np.array([[0.3, 0.1, 0.1], [0.5, 0.0, 0.0], [0.0, 0.3, 0.0], [0.0, 0.0, -0.32]])
    assert without_body(points, LidarConfig()).tolist() == points[1:].tolist()


def test_a_scan_has_the_nearest_point_of_its_band() -> None:
    points = np.array(
        [
            [2.0, 0.0, 0.0],
            [1.5, 0.0, 0.1],
            [1.0, 0.0, -0.3],
            [0.0, -4.0, 0.2],
            [0.1, 0.0, 0.0],
            [40.0, 1.0, 0.0],
        ]
    )
    ranges = scan_of(points, LidarConfig())
    assert len(ranges) == 720
    hits = {
        round(math.degrees(-math.pi + (i + 0.5) * math.radians(0.5))): float(r)
        for i, r in enumerate(ranges)
        if np.isfinite(r)
    }
    assert hits == {0: pytest.approx(1.5), -90: pytest.approx(4.0)}
    assert not np.isfinite(scan_of(np.zeros((0, 3)), LidarConfig())).any()


def test_a_band_without_height_is_refused() -> None:
    with pytest.raises(ValueError, match="scan_low"):
        LidarConfig(scan_low=1.0)


def test_equal_frames_are_pairs_of_two_names() -> None:
    config = CloudScanConfig(equal_frames=("map=odom", "/unitree_go2/base_link = base_link"))
    assert config.pairs() == [("map", "odom"), ("unitree_go2/base_link", "base_link")]


@pytest.mark.parametrize("text", ["map", "map=", "=odom", "map=map"])
def test_what_is_no_pair_of_frames_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="parent=child"):
        CloudScanConfig(equal_frames=(text,))

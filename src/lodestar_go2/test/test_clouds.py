"""Tests of LiDAR clouds from different drivers: times of their points."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from sensor_msgs.msg import PointCloud2, PointField

from lodestar.geometry.poses import transform_points
from lodestar_go2.conversions import ages_from_msg
from lodestar_go2.lidar import LidarConfig, deskewed, in_base
from lodestar_ros.conversions_sensors import cloud_rows_from_msg

KINDS = {"f4": PointField.FLOAT32, "u1": PointField.UINT8, "f8": PointField.FLOAT64}
LIVOX = (
    ("x", "f4"), ("y", "f4"), ("z", "f4"), ("intensity", "f4"), ("tag", "u1"), ("line", "u1"), ("timestamp", "f8"),
)  # fmt: skip
L1 = (("x", "f4"), ("y", "f4"), ("z", "f4"), ("intensity", "f4"), ("ring", "u1"), ("time", "f4"))
BOOT = 1.7e18  # ns, a synchronised clock


def cloud(layout: tuple[tuple[str, str], ...], points: np.ndarray, times: np.ndarray) -> PointCloud2:
    """Return a cloud message without padding. points: (N, 3) metres; times: (N,) in the unit of the last field."""
    rows = np.zeros(len(points), np.dtype([(name, f"<{kind}") for name, kind in layout]))
    rows["x"], rows["y"], rows["z"] = points.T
    rows[layout[-1][0]] = times
    message = PointCloud2(height=1, width=len(points), point_step=rows.dtype.itemsize, data=rows.tobytes())
    message.fields = [
        PointField(name=name, offset=rows.dtype.fields[name][1], datatype=KINDS[kind], count=1)
        for name, kind in layout
    ]
    message.row_step = message.point_step * message.width
    return message


POINTS = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]])
BEFORE = np.array([0.1, 0.05, 0.0])  # s before the newest point


@pytest.mark.parametrize(
    ("layout", "unit", "newest"),
    [
        (LIVOX, 1e9, BOOT),
        (LIVOX, 1e9, 3e9),  # time since power-on, 3 s
        (LIVOX, 1.0, 1.7e9),
        (LIVOX, 1.0, 0.1),
        (L1, 1.0, 0.1),
    ],
)
def test_the_times_of_a_sweep_are_read_in_its_drivers_unit(
    layout: tuple[tuple[str, str], ...], unit: float, newest: float
) -> None:
    message = cloud(layout, POINTS, newest - BEFORE * unit)
    assert cloud_rows_from_msg(message) == pytest.approx(POINTS)
    assert ages_from_msg(message) == pytest.approx(BEFORE, abs=1e-6)


@pytest.mark.parametrize(
    ("layout", "times"),
    [
        (LIVOX[:-1], [0, 1, 2]),  # no times
        (LIVOX, [0.0, 1.0, 2.0]),  # sweep of 2 s or 2 ns
        (LIVOX, [BOOT, BOOT + 5e7, BOOT + 5e9]),  # sweep of 5 s
        (LIVOX, [0.0, 0.05, np.nan]),
        ((*L1[:-1], ("time", "f8")), [0.0, 0.05, 0.1]),
    ],
)
def test_times_that_make_no_sweep_are_none(layout: tuple[tuple[str, str], ...], times: list[float]) -> None:
    assert ages_from_msg(cloud(layout, POINTS, np.array(times))) is None


@pytest.mark.parametrize("roll", [0.0, np.pi])
def test_a_turning_robot_sees_a_straight_wall_with_a_mid_360_however_it_is_mounted(roll: float) -> None:
    turn, config = 1.2, LidarConfig(x=0.2, y=0.0, z=0.15, roll=roll, pitch=0.0, yaw=0.0)
    rng = np.random.default_rng(4)
    wall = np.stack([np.full(300, 3.0), rng.uniform(-2.0, 2.0, 300), rng.uniform(0.0, 1.0, 300)], axis=1)
    ages = np.linspace(0.1, 0.0, 300)
    cos, sin = np.cos(turn * ages), np.sin(turn * ages)  # from the robot's heading at that time
    then = np.stack(
        [cos * wall[:, 0] - sin * wall[:, 1], sin * wall[:, 0] + cos * wall[:, 1], wall[:, 2]], axis=1
    )
    message = cloud(LIVOX, transform_points(np.linalg.inv(config.base_from_sensor), then), BOOT - ages * 1e9)
    read = ages_from_msg(message)
    assert read is not None
    seen = deskewed(in_base(cloud_rows_from_msg(message), config), read, (0.0, 0.0, turn))
    assert seen == pytest.approx(wall, abs=1e-3)

"""Tests that the mapping node warns if its source cannot detect drop-offs."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from lodestar.assembly import parts
from lodestar.assembly.config import MappingConfig, changed
from lodestar.geometry.poses import planar_transform
from lodestar_ros.map_source import drop_offs

POINTS = np.array([[x, y, -0.5] for x in np.arange(-1.0, 1.1, 0.1) for y in np.arange(-1.0, 1.1, 0.1)])


def config(source="lidar", floor=False) -> MappingConfig:
    return changed(MappingConfig(source=source), octomap__floor__enabled=floor)


def seen(config: MappingConfig):
    mapper = parts.plan_mapper(config)
    mapper.insert_points(POINTS, planar_transform(0.0, 0.0, 0.0, 0.5), np.eye(4))
    return mapper


@pytest.mark.parametrize("source", ["lidar", "depth", "slam"])
def test_drop_offs_are_seen_once_points_came_in_with_the_floor_layer(source):
    on = config(source, floor=True)
    assert drop_offs(on, parts.plan_mapper(on)).startswith("NOT SEEN")
    assert drop_offs(on, seen(on)).startswith("seen")


def test_without_the_floor_layer_they_are_not_seen_and_the_parameter_is_named():
    off = config()
    text = drop_offs(off, seen(off))
    assert text.startswith("NOT SEEN") and "octomap.floor.enabled" in text


@pytest.mark.parametrize("base_height", [0.0, 0.32, 0.7])
def test_a_wrong_height_of_the_base_is_named_with_the_right_one(base_height):
    wrong = changed(config(floor=True), octomap__floor__base_height=base_height)
    mapper = parts.plan_mapper(wrong)
    base, sensor = planar_transform(0.0, 0.0, 0.0, 0.32), planar_transform(0.0, 0.0, 0.0, 0.5)
    for _ in range(60):
        mapper.insert_points(POINTS, sensor, base)
    text = drop_offs(wrong, mapper)
    if base_height == 0.32:
        assert text.startswith("seen")
    else:
        assert text.startswith("WRONG HEIGHT") and "set octomap.floor.base_height to 0.32" in text


def test_of_a_planar_scan_they_are_not_seen():
    scan = config("scan", floor=True)
    assert drop_offs(scan, parts.plan_mapper(scan)).startswith("NOT SEEN")

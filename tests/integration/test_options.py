"""Nodes in their other configurations: SLAM's map as the source, Ultralytics as the detector."""

from __future__ import annotations

import importlib.util
import time

import numpy as np
import pytest
from nav_msgs.msg import OccupancyGrid

from integration.fakes import FakeRobot
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar_interfaces import msg
from lodestar_ros import qos
from lodestar_ros.conversions import grid_from_msg, grid_to_msg

HAS_ULTRALYTICS = importlib.util.find_spec("ultralytics") is not None


@pytest.fixture(scope="module")
def robot(bed, processes):
    robot = bed.on_executor(lambda: FakeRobot(bed))
    bed.hear(OccupancyGrid, "grid", qos.LATCHED)
    bed.hear(msg.SegmentedImage, "perception/segmented", qos.RELIABLE)
    model = {"adapter": "ultralytics", "model": "yolo11n-seg.yaml"}  # a description: its weights are random
    processes.start("mapping", "perception", parameters={"mapping": {"source": "slam"}, "perception": model})
    bed.until(lambda: bed.diagnosis("mapping") and bed.diagnosis("perception"), "both nodes' diagnostics")
    return robot


@pytest.fixture(autouse=True)
def nobody_died(robot, processes):
    yield
    processes.assert_alive()


def slam_map() -> OccupancyGrid2D:
    """10 m x 10 m, free, with a wall in the west and nothing known in the east."""
    cells = np.zeros((200, 200), np.int8)
    cells[:, :4] = 100
    cells[:, 180:] = -1
    return OccupancyGrid2D(cells, 0.05, (-5.0, -5.0), time.time())


def value_at(grid: OccupancyGrid2D, x: float, y: float) -> int:
    row, column = grid.cells_of(np.array([[x, y]]))[0]
    return int(grid.cells[row, column])


def test_slams_map_is_the_grid_and_obstacles_above_its_plane_are_added(bed, robot):
    robot.scan()
    bed.until(lambda: "waiting for SLAM" in bed.diagnosis("mapping").get("message", ""), "it waits for SLAM")
    assert not bed.heard["grid"], "before SLAM there is no grid to plan on"
    publisher = bed.on_executor(lambda: bed.node.create_publisher(OccupancyGrid, "map", qos.LATCHED))
    publisher.publish(grid_to_msg(slam_map()))
    end = time.monotonic() + 60.0
    while not (bed.heard["grid"] and value_at(grid_from_msg(bed.last("grid")), -2.97, 0.0) == 100):
        assert time.monotonic() < end, "the round wall at 3 m has not come onto SLAM's map"
        robot.scan()
        time.sleep(0.1)
    grid = grid_from_msg(bed.last("grid"))
    assert (grid.resolution, grid.cells.shape) == (pytest.approx(0.05), (200, 200))
    np.testing.assert_allclose(grid.origin, (-5.0, -5.0))
    assert value_at(grid, 0.5, 0.5) == 0
    assert value_at(grid, -4.95, 1.0) == 100, "SLAM's own wall"
    assert value_at(grid, 4.5, 0.0) == -1, "what SLAM does not know stays unknown"
    assert value_at(grid, -4.0, 0.0) == 0, "behind the round wall SLAM's word counts"


def test_ultralytics_segments_or_says_what_to_install(bed, robot):
    if HAS_ULTRALYTICS:
        robot.watch(lambda: bed.heard["perception/segmented"], "a segmented image", timeout=120.0)
        assert bed.last("perception/segmented").header.frame_id == "camera_optical_frame"
    else:
        robot.watch(lambda: "pip install" in bed.diagnosis("perception").get("message", ""), "the advice")
        assert not bed.heard["perception/segmented"]

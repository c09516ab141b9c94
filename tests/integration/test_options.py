"""Tests of nodes in non-default configurations: SLAM's map as source, Ultralytics or shapes as detector."""

from __future__ import annotations

import importlib.util
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from nav_msgs.msg import OccupancyGrid
from waiting import wait_for

from integration.bed import Processes
from integration.fakes import FakeRobot
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar_interfaces import msg
from lodestar_ros import qos
from lodestar_ros.conversions import grid_from_msg, grid_to_msg
from lodestar_ros.conversions_scene import segmented_from_msg

HAS_ULTRALYTICS = importlib.util.find_spec("ultralytics") is not None


@pytest.fixture(scope="module")
def robot(bed, processes):
    robot = bed.on_executor(lambda: FakeRobot(bed))
    bed.hear(OccupancyGrid, "grid", qos.LATCHED)
    bed.hear(msg.SegmentedImage, "perception/segmented", qos.RELIABLE)
    names = ("mapping", "perception") if HAS_ULTRALYTICS else ("mapping",)
    model = {"adapter": "ultralytics", "model": "yolo11n-seg.yaml"}  # random weights
    flat = {"source": "slam", "octomap.floor.enabled": False}  # the round room has no visible floor
    parameters = {"mapping": flat, "perception": model}
    processes.start(*names, parameters={name: parameters[name] for name in names})
    bed.until(lambda: all(bed.diagnosis(name) for name in names), "every node's diagnostics")
    return robot


@pytest.fixture(autouse=True)
def nobody_died(robot, processes):
    yield
    processes.assert_alive()


def slam_map() -> OccupancyGrid2D:
    """Return a grid of 10 m x 10 m: free, with a wall in the west and unknown cells in the east."""
    cells = np.zeros((200, 200), np.int8)
    cells[:, :4] = 100
    cells[:, 180:] = -1
    return OccupancyGrid2D(cells, 0.05, (-5.0, -5.0), time.time())


def value_at(grid: OccupancyGrid2D, x: float, y: float) -> int:
    row, column = grid.cells_of(np.array([[x, y]]))[0]
    return int(grid.cells[row, column])


def test_slams_map_is_the_grid_and_obstacles_above_its_plane_are_added(bed, robot):
    robot.turn(lambda: "waiting for SLAM" in bed.diagnosis("mapping").get("message", ""), "it waits for SLAM")
    assert not bed.heard["grid"], "before SLAM there is no grid to plan on"
    publisher = bed.on_executor(lambda: bed.node.create_publisher(OccupancyGrid, "map", qos.LATCHED))
    publisher.publish(grid_to_msg(slam_map()))
    robot.turn(
        lambda: bed.heard["grid"] and value_at(grid_from_msg(bed.last("grid")), -2.97, 0.0) == 100,
        "the round wall at 3 m on SLAM's map",
    )
    grid = grid_from_msg(bed.last("grid"))
    assert (grid.resolution, grid.cells.shape) == (pytest.approx(0.05), (200, 200))
    np.testing.assert_allclose(grid.origin, (-5.0, -5.0))
    assert value_at(grid, 0.5, 0.5) == 0
    assert value_at(grid, -4.95, 1.0) == 100, "SLAM's own wall"
    assert value_at(grid, 4.5, 0.0) == -1, "what SLAM does not know stays unknown"
    assert value_at(grid, -4.0, 0.0) == 0, "behind the round wall SLAM's word counts"


@pytest.mark.skipif(not HAS_ULTRALYTICS, reason="Ultralytics is an optional extra")
def test_ultralytics_segments(bed, robot):
    robot.watch(lambda: bed.heard["perception/segmented"], "a segmented image")
    assert bed.last("perception/segmented").header.frame_id == "camera_optical_frame"


def last_words(folder: Path, node: str, parameters: dict[str, object], path: str = "") -> str:
    """Run a node that must exit at start with status 2; return the end of its log."""
    nodes = Processes(folder / "log", {"PYTHONPATH": f"{path}:{':'.join(sys.path)}"})
    try:
        starter = nodes.start(node, parameters={node: parameters})
        deaths = wait_for(starter.deaths, lambda: f"the end of {node}: {nodes.log(node)}")
    finally:
        nodes.stop()
    assert [death.returncode for death in deaths] == [2], deaths[0].report()
    return deaths[0].tail


def test_perception_without_its_package_ends_at_the_start_with_advice(tmp_path):
    (tmp_path / "ultralytics.py").write_text("raise ModuleNotFoundError(__name__)")
    parameters = {"adapter": "ultralytics", "model": "yolo11n-seg.yaml"}
    said = last_words(tmp_path, "perception", parameters, str(tmp_path))
    assert "pip install -U ultralytics torch torchvision" in said
    assert "Traceback" not in said
    assert "ready" not in said


def test_perception_without_weights_ends_at_the_start(tmp_path):
    for package in ("ultralytics", "torchvision"):  # importable until first used
        (tmp_path / package).mkdir()
        (tmp_path / package / "__init__.py").write_text("")
    weights = str(tmp_path / "yoloe.pt")
    said = last_words(tmp_path, "perception", {"adapter": "ultralytics", "model": weights}, str(tmp_path))
    assert f"there are no weights at {weights}" in said


def test_shapes_in_depth_are_segments_where_there_is_no_detector(bed, robot, processes, tmp_path):
    processes.stop()  # only one node may publish segments
    nodes = Processes(tmp_path / "log")
    try:
        parameters = {"adapter": "geometric", "geometric.min_pixels": 200}  # for a small image
        nodes.start("perception", parameters={"perception": parameters})
        bed.forget("perception/segmented")
        robot.watch(lambda: bed.heard["perception/segmented"], "segments of depth")
        segmented = segmented_from_msg(bed.last("perception/segmented"))
        (detection,) = segmented.detections
        assert detection.label == "object" and detection.caption == "a white object"
        _, truth = robot.scene()
        found = segmented.labels == detection.label_value
        assert (found & (truth > 0)).sum() / (found | (truth > 0)).sum() > 0.7
        nodes.assert_alive()
    finally:
        nodes.stop()

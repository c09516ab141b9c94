"""Nodes in their other configurations: SLAM's map as the source, Ultralytics or shapes as the detector."""

from __future__ import annotations

import importlib.util
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from nav_msgs.msg import OccupancyGrid

from integration.bed import PATIENCE, Processes
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
    model = {"adapter": "ultralytics", "model": "yolo11n-seg.yaml"}  # a description: its weights are random
    flat = {"source": "slam", "octomap.floor.enabled": False}  # the round wall shows no floor
    parameters = {"mapping": flat, "perception": model}
    processes.start(*names, parameters={name: parameters[name] for name in names})
    bed.until(lambda: all(bed.diagnosis(name) for name in names), "every node's diagnostics")
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
    end = time.monotonic() + 60.0
    while "waiting for SLAM" not in bed.diagnosis("mapping").get("message", ""):
        assert time.monotonic() < end, "it does not say that it waits for SLAM"
        robot.scan()
        time.sleep(0.1)
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


@pytest.mark.skipif(not HAS_ULTRALYTICS, reason="Ultralytics is an optional extra")
def test_ultralytics_segments(bed, robot):
    robot.watch(lambda: bed.heard["perception/segmented"], "a segmented image", timeout=120.0)
    assert bed.last("perception/segmented").header.frame_id == "camera_optical_frame"


def last_words(domain: int, folder: Path, node: str, parameters: dict[str, object], path: str = "") -> str:
    """What a node says that ends at its start with status 2."""
    nodes = Processes(domain, folder / "log", {"PYTHONPATH": f"{path}:{':'.join(sys.path)}"})
    try:
        starter = nodes.start(node, parameters={node: parameters})
        end = time.monotonic() + PATIENCE
        while not (deaths := starter.deaths()):
            assert time.monotonic() < end, f"{node} has not ended: {nodes.log(node)}"
            time.sleep(0.05)
    finally:
        nodes.stop()
    assert [death.returncode for death in deaths] == [2], deaths[0].report()
    return deaths[0].tail


@pytest.mark.skipif(HAS_ULTRALYTICS, reason="Ultralytics is installed")
def test_perception_without_its_package_ends_at_the_start_with_advice(domain, tmp_path):
    said = last_words(domain, tmp_path, "perception", {"adapter": "ultralytics", "model": "yolo11n-seg.yaml"})
    assert "pip install -U ultralytics torch torchvision" in said
    assert "Traceback" not in said
    assert "ready" not in said


def test_perception_without_weights_ends_at_the_start(domain, tmp_path):
    for package in ("ultralytics", "torchvision"):  # there, as far as anybody can see before an image comes
        (tmp_path / package).mkdir()
        (tmp_path / package / "__init__.py").write_text("")
    weights = str(tmp_path / "yoloe.pt")
    said = last_words(
        domain, tmp_path, "perception", {"adapter": "ultralytics", "model": weights}, str(tmp_path)
    )
    assert f"there are no weights at {weights}" in said


def test_shapes_in_depth_are_segments_where_there_is_no_detector(bed, robot, processes, domain, tmp_path):
    processes.stop()  # only one may publish segments
    nodes = Processes(domain, tmp_path / "log")
    try:
        parameters = {"adapter": "geometric", "geometric.min_pixels": 200}  # of a small image
        nodes.start("perception", parameters={"perception": parameters})
        bed.forget("perception/segmented")
        robot.watch(lambda: bed.heard["perception/segmented"], "segments of depth", timeout=120.0)
        segmented = segmented_from_msg(bed.last("perception/segmented"))
        (detection,) = segmented.detections
        assert detection.label == "object" and detection.caption == "a white object"
        _, truth = robot.scene()
        found = segmented.labels == detection.label_value
        assert (found & (truth > 0)).sum() / (found | (truth > 0)).sum() > 0.7
        nodes.assert_alive()
    finally:
        nodes.stop()

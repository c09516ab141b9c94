"""The simulator's nodes as processes of their own, over real DDS."""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="needs ROS 2")
pytest.importorskip("nav2_msgs.action", reason="needs the built workspace")

import rclpy
from geometry_msgs.msg import Twist, TwistStamped
from nav2_msgs.action import NavigateToPose
from nav2_msgs.msg import CostmapFilterInfo
from nav_msgs.msg import OccupancyGrid, Odometry
from nav_msgs.msg import Path as PathMsg
from rclpy.action import ActionClient
from rclpy.executors import SingleThreadedExecutor
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import CameraInfo, Image, LaserScan, PointCloud2
from std_msgs.msg import String

from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar_bringup.domains import free_domain
from lodestar_interfaces.msg import SimStatus
from lodestar_interfaces.srv import RenderView
from lodestar_ros import qos
from lodestar_ros.conversions import (
    cloud_from_msg,
    depth_from_msg,
    grid_to_msg,
    image_from_msg,
    planar_to_msg,
    planar_to_stamped,
    stamp_from_msg,
)
from lodestar_ros.transforms import TransformListener, TransformUnavailable
from lodestar_sim.navigator import NavigatorError
from lodestar_sim.robot import CollisionRaster, RobotConfig

pytestmark = [pytest.mark.ros, pytest.mark.timeout(300)]

PATIENCE = 90.0  # s of real time for what should take a moment
SUCCEEDED, CANCELED, ABORTED = 4, 5, 6  # action_msgs/GoalStatus


class Processes:
    """Nodes in a domain of their own; all end with it."""

    def __init__(self, domain: int):
        self.domain = domain
        self._environment = {**os.environ, "ROS_DOMAIN_ID": str(domain)}
        self._running: list[subprocess.Popen] = []

    def start(self, name: str, **parameters) -> subprocess.Popen:
        command = [sys.executable, "-c", f"from lodestar_sim.nodes.{name}_node import main; main()", "--ros-args"]
        for key, value in parameters.items():
            command += ["-p", f"{key}:={json.dumps(value)}"]
        process = subprocess.Popen(
            command, env=self._environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            start_new_session=True,
        )  # fmt: skip
        self._running.append(process)
        return process

    def stop(self) -> None:
        for process in self._running:
            if process.poll() is None:
                process.send_signal(signal.SIGINT)
        for process in self._running:
            try:
                process.communicate(timeout=20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.communicate()


class Listener:
    """A node in the test that keeps what it hears."""

    def __init__(self, domain: int):
        self.context = rclpy.Context()
        rclpy.init(context=self.context, domain_id=domain)
        self.node = rclpy.create_node("listener", context=self.context)
        self._executor = SingleThreadedExecutor(context=self.context)
        self._executor.add_node(self.node)
        self.heard: dict[str, list] = {}

    def hear(self, message_type, topic: str, profile) -> None:
        self.heard[topic] = []
        self.node.create_subscription(message_type, topic, self.heard[topic].append, profile)

    def until(self, condition, what: str, patience: float = PATIENCE):
        end = time.monotonic() + patience
        while not (value := condition()):
            assert time.monotonic() < end, f"waited {patience:.0f} s for {what}"
            self._executor.spin_once(timeout_sec=0.02)
        return value

    def spin(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self._executor.spin_once(timeout_sec=0.02)

    def last(self, topic: str):
        return self.heard[topic][-1]

    def close(self) -> None:
        self._executor.remove_node(self.node)
        self.node.destroy_node()
        rclpy.shutdown(context=self.context)


@pytest.fixture
def processes():
    with free_domain() as domain:
        group = Processes(domain)
        yield group
        group.stop()


@pytest.fixture
def listener(processes):
    one = Listener(processes.domain)
    yield one
    one.close()


@pytest.fixture
def world_file(tmp_path, furnished_room) -> str:
    path = tmp_path / "room.json"
    furnished_room.save(path)
    return str(path)


def _start_of(x: float, y: float, yaw: float) -> dict:
    return {"use_start": True, "start": [x, y, yaw]}


def test_streams_have_the_frames_stamps_and_rates_that_others_expect(processes, listener, world_file):
    topics = {
        "camera/color/image_raw": (Image, qos.SENSOR), "camera/depth/image_raw": (Image, qos.SENSOR),
        "camera/labels/image_raw": (Image, qos.SENSOR), "camera/color/camera_info": (CameraInfo, qos.SENSOR),
        "camera/depth/camera_info": (CameraInfo, qos.SENSOR), "camera/labels/table": (String, qos.EVENT),
        "points": (PointCloud2, qos.SENSOR), "scan": (LaserScan, qos.RELIABLE), "odom": (Odometry, qos.RELIABLE),
        "/clock": (Clock, qos.SENSOR), "sim/status": (SimStatus, qos.EVENT),
        "sim/ground_truth": (Odometry, qos.EVENT),
    }  # fmt: skip
    for topic, (message_type, profile) in topics.items():
        listener.hear(message_type, topic, profile)
    transforms = TransformListener(listener.node).buffer
    processes.start("sim", world=world_file, seed=3, **_start_of(-1.0, 0.0, 0.2))
    for topic in topics:
        listener.until(lambda topic=topic: len(listener.heard[topic]) >= (2 if topic == "sim/status" else 8), topic)

    for image, encoding in (("color", "rgb8"), ("depth", "16UC1"), ("labels", "mono16")):
        message = listener.last(f"camera/{image}/image_raw")
        assert (message.encoding, message.width, message.height) == (encoding, 640, 480)
        assert message.header.frame_id == "camera_optical_frame"
        stamps = [stamp_from_msg(m.header.stamp) for m in listener.heard[f"camera/{image}/image_raw"]]
        assert np.all(np.diff(stamps) > 0.0999 - 1e-6)
        assert np.median(np.diff(stamps)) == pytest.approx(0.1, abs=1e-6)
    info = listener.last("camera/color/camera_info")
    assert (info.k[0], info.k[2], info.k[5]) == (380.0, 319.5, 239.5)

    by_stamp = {stamp_from_msg(m.header.stamp): m for m in listener.heard["camera/labels/image_raw"]}
    tables = [json.loads(m.data) for m in listener.heard["camera/labels/table"]]
    matched = [(t, by_stamp[s]) for t in tables if (s := t["stamp"][0] + t["stamp"][1] * 1e-9) in by_stamp]
    assert matched
    for table, message in matched:
        assert set(np.unique(image_from_msg(message))) - {0} == {int(value) for value in table["labels"]}
        assert {entry["caption"] for entry in table["labels"].values()} == {"red chair", "blue cabinet"}
    assert 0.5 < np.median(depth_from_msg(listener.last("camera/depth/image_raw"))) < 5.0

    odometry = [stamp_from_msg(m.header.stamp) for m in listener.heard["odom"]]
    assert np.median(np.diff(odometry)) == pytest.approx(0.02, abs=1e-6)
    assert np.median(np.diff([stamp_from_msg(m.clock) for m in listener.heard["/clock"]])) <= 0.0201
    scan = listener.last("scan")
    assert scan.header.frame_id == "scan_link"
    assert len(scan.ranges) == round((scan.angle_max - scan.angle_min) / scan.angle_increment) + 1 == 720
    points = cloud_from_msg(listener.last("points"))
    assert listener.last("points").header.frame_id == "lidar_link"
    assert len(points) > 8000

    stamp = odometry[-10]
    for child in ("camera_optical_frame", "lidar_link", "scan_link"):
        assert transforms.lookup("map", child, stamp).shape == (4, 4)
    place = transforms.lookup("map", "base_link", stamp)
    assert place[:2, 3] == pytest.approx([-1.0, 0.0], abs=1e-6)
    status = listener.last("sim/status")
    assert status.world == "box"
    assert 0.0 < status.real_time_factor < 1.2


def test_commands_move_it_and_silence_stops_it(processes, listener, world_file):
    listener.hear(Odometry, "sim/ground_truth", qos.EVENT)
    command = listener.node.create_publisher(Twist, "cmd_vel_out", qos.COMMAND)
    processes.start("sim", world=world_file, **_start_of(-3.0, -1.5, 0.0))
    listener.until(lambda: listener.heard["sim/ground_truth"], "the simulator")
    twist = Twist()
    twist.linear.x = 0.5

    def speed() -> float:
        return listener.last("sim/ground_truth").twist.twist.linear.x

    def drive() -> bool:
        command.publish(twist)
        listener.spin(0.05)
        return speed() > 0.45

    listener.until(drive, "motion")
    since = stamp_from_msg(listener.last("sim/ground_truth").header.stamp)
    listener.until(lambda: speed() == 0.0, "the stop")
    assert stamp_from_msg(listener.last("sim/ground_truth").header.stamp) - since < 0.65  # and the way here


def test_under_slam_it_leaves_the_map_frame_alone_and_takes_stamped_commands(processes, listener, world_file):
    listener.hear(Odometry, "odom", qos.RELIABLE)
    transforms = TransformListener(listener.node).buffer
    command = listener.node.create_publisher(TwistStamped, "cmd_vel_out", qos.COMMAND)
    processes.start(
        "sim", world=world_file, publish_map_to_odom=False, cmd_vel_stamped=True, task="none", real_time_factor=0.0
    )
    listener.until(lambda: len(listener.heard["odom"]) > 50, "odometry")
    assert transforms.lookup("odom", "lidar_link").shape == (4, 4)
    with pytest.raises(TransformUnavailable):
        transforms.lookup("map", "base_link")
    message = TwistStamped()
    message.twist.angular.z = 0.5

    def turn() -> bool:
        command.publish(message)
        listener.spin(0.02)
        return listener.last("odom").twist.twist.angular.z > 0.4

    listener.until(turn, "the turn")


def test_a_view_is_rendered_from_any_pose(processes, listener, world_file):
    client = listener.node.create_client(RenderView, "sim/render_view")
    processes.start("sim", world=world_file)
    listener.until(client.service_is_ready, "the service")
    future = client.call_async(RenderView.Request(base_pose=planar_to_msg((-1.0, 0.0, 0.2))))
    answer = listener.until(future.done, "the view") and future.result()
    assert answer.success
    rgb = image_from_msg(answer.image)
    assert rgb.shape == (480, 640, 3)
    assert ((rgb[..., 0] > 2.0 * rgb[..., 1]) & (rgb[..., 0] > 60)).sum() > 1000  # the red chair
    assert (depth_from_msg(answer.depth) > 0).mean() > 0.99
    bad = RenderView.Request(base_pose=planar_to_msg((0.0, 0.0, 0.0)))
    bad.base_pose.position.x = math.nan
    future = client.call_async(bad)
    answer = listener.until(future.done, "the refusal") and future.result()
    assert not answer.success
    assert "finite" in answer.error_msg


@pytest.mark.parametrize(
    ("text", "parameters"),
    [
        ("no-such-world", {"world": "no-such-world"}),
        ("JSON", {"world": "broken.json"}),
        ("real_time_factor", {"real_time_factor": -1.0}),
        ("task", {"task": "everything"}),
        ("speed_of_light", {"speed_of_light": 3.0}),
    ],
)
def test_what_it_cannot_use_it_says_in_one_line(processes, world_file, tmp_path, text, parameters):
    Path(tmp_path / "broken.json").write_text("{not json")
    if parameters.get("world") == "broken.json":
        parameters = {"world": str(tmp_path / "broken.json")}
    process = processes.start("sim", **{"world": world_file, **parameters})
    output, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 2
    assert text.lower() in output.lower()
    assert "Traceback" not in output


class Client:
    """Sends goals; passes the navigator's velocity on to the base, as the motion gate does."""

    def __init__(self, listener: Listener):
        self.listener = listener
        node = listener.node
        listener.hear(Odometry, "sim/ground_truth", qos.EVENT)
        listener.hear(PathMsg, "plan", qos.EVENT)
        listener.heard["cmd_vel"] = []
        base = node.create_publisher(Twist, "cmd_vel_out", qos.COMMAND)

        def relay(message: Twist) -> None:
            listener.heard["cmd_vel"].append(message)
            base.publish(message)

        node.create_subscription(Twist, "cmd_vel", relay, qos.COMMAND)
        self._grid = node.create_publisher(OccupancyGrid, "grid", qos.LATCHED)
        self._client = ActionClient(node, NavigateToPose, "navigate_to_pose")
        self.feedback: list = []

    def show(self, world) -> None:
        """Publish the true grid."""
        geometry = world.geometry(0.0)
        raster = CollisionRaster(geometry.vertices, geometry.triangles, RobotConfig(), 0.1)
        self._grid.publish(grid_to_msg(OccupancyGrid2D((raster.cells * 100).astype(np.int8), 0.1, raster.origin)))

    def send(self, pose, frame: str = "map"):
        self.listener.until(self._client.server_is_ready, "the server")
        self.listener.until(lambda: self.listener.heard["sim/ground_truth"], "the simulator")
        goal = NavigateToPose.Goal(pose=planar_to_stamped(pose, 0.0, frame))
        sent = self._client.send_goal_async(goal, feedback_callback=lambda m: self.feedback.append(m.feedback))
        self.listener.until(sent.done, "the answer to a goal")
        return sent.result()

    def result(self, handle):
        future = handle.get_result_async()
        self.listener.until(future.done, "the result")
        return future.result()

    def place(self) -> tuple[float, float]:
        position = self.listener.last("sim/ground_truth").pose.pose.position
        return position.x, position.y

    def standing(self) -> bool:
        twist = self.listener.last("sim/ground_truth").twist.twist
        return twist.linear.x == twist.linear.y == twist.angular.z == 0.0


@pytest.fixture
def client(processes, listener, world_file, furnished_room):
    processes.start("sim", world=world_file, seed=3, **_start_of(-3.0, 0.0, 0.0))
    processes.start("sim_navigator", use_sim_time=True, grid_holds=0.0)
    one = Client(listener)
    one.show(furnished_room)
    return one


def test_the_navigator_reaches_reports_replaces_cancels_and_gives_up(client, listener):
    handle = client.send((0.0, -1.5, 1.0))
    assert handle.accepted
    result = client.result(handle)
    assert (result.status, result.result.error_code) == (SUCCEEDED, 0)
    assert math.dist(client.place(), (0.0, -1.5)) < 0.2
    remaining = [feedback.distance_remaining for feedback in client.feedback]
    assert remaining[0] > 2.0
    assert remaining[-1] < 0.6
    assert listener.heard["plan"][0].poses[-1].pose.position.x == pytest.approx(0.0, abs=0.06)
    assert listener.last("cmd_vel").linear.x == 0.0

    first = client.send((3.0, -2.0, 0.0))
    second = client.send((-3.0, -1.0, 3.0))
    replaced = client.result(first)
    assert (replaced.status, replaced.result.error_code) == (ABORTED, 0)
    assert client.result(second).status == SUCCEEDED
    assert math.dist(client.place(), (-3.0, -1.0)) < 0.2

    handle = client.send((3.0, -2.0, 0.0))
    listener.until(lambda: not client.standing(), "motion")
    listener.spin(0.5)
    canceled = handle.cancel_goal_async()
    listener.until(canceled.done, "the cancel")
    at = stamp_from_msg(listener.last("sim/ground_truth").header.stamp)
    listener.until(client.standing, "the stop")
    assert stamp_from_msg(listener.last("sim/ground_truth").header.stamp) - at < 0.5
    assert client.result(handle).status == CANCELED

    for pose, frame, code in (
        ((50.0, 0.0, 0.0), "map", NavigatorError.GOAL_OUTSIDE_MAP),
        ((1.5, 0.0, 0.0), "map", NavigatorError.GOAL_OCCUPIED),
        ((1.0, 1.0, 0.0), "moon", NavigatorError.TF_ERROR),
    ):
        result = client.result(client.send(pose, frame))
        assert (result.status, result.result.error_code) == (ABORTED, code)
        assert result.result.error_msg
    assert not client.send((math.nan, 0.0, 0.0)).accepted
    assert client.result(client.send((0.3, 0.0, 0.0), "base_link")).status == SUCCEEDED  # frames are heeded


def _zone(x0: float, y0: float, x1: float, y1: float) -> OccupancyGrid:
    """A keep-out mask of 8 x 8 m about the origin with a rectangle to keep out of."""
    cells = np.zeros((80, 80), np.int8)
    cells[round((y0 + 4) * 10) : round((y1 + 4) * 10), round((x0 + 4) * 10) : round((x1 + 4) * 10)] = 100
    return grid_to_msg(OccupancyGrid2D(cells, 0.1, (-4.0, -4.0)))


def test_the_navigator_keeps_out_of_a_costmap_filters_zones(client, listener):
    node = listener.node
    masks = node.create_publisher(OccupancyGrid, "zones", qos.LATCHED)
    infos = node.create_publisher(CostmapFilterInfo, "costmap_filter_info", qos.LATCHED)
    infos.publish(CostmapFilterInfo(type=0, filter_mask_topic="/zones", base=0.0, multiplier=1.0))
    masks.publish(_zone(-2.0, -0.6, -1.4, 0.6))
    listener.until(lambda: masks.get_subscription_count() > 0, "the navigator to hear the mask")
    listener.spin(0.5)
    refused = client.result(client.send((-1.7, 0.0, 0.0)))
    assert (refused.status, refused.result.error_code) == (ABORTED, NavigatorError.GOAL_OCCUPIED)
    assert "keep-out" in refused.result.error_msg
    listener.heard["sim/ground_truth"].clear()
    assert client.result(client.send((-0.5, -1.5, 0.0))).status == SUCCEEDED
    places = [message.pose.pose.position for message in listener.heard["sim/ground_truth"]]
    assert len(places) > 10
    assert not any(-2.1 < p.x < -1.3 and -0.7 < p.y < 0.7 for p in places)
    masks.publish(_zone(-0.9, -1.9, 0.3, -1.1))  # over the robot
    listener.spin(0.5)
    assert client.result(client.send((-3.0, -1.0, 3.0))).status == SUCCEEDED


def test_a_navigator_without_a_base_gives_the_goal_back(processes, listener):
    processes.start("sim_navigator", use_sim_time=True, grid_holds=0.0)
    action = ActionClient(listener.node, NavigateToPose, "navigate_to_pose")
    listener.until(action.server_is_ready, "the server")
    sent = action.send_goal_async(NavigateToPose.Goal(pose=planar_to_stamped((1.0, 0.0, 0.0), 0.0)))
    listener.until(sent.done, "the answer")
    future = sent.result().get_result_async()
    listener.until(future.done, "the result")
    assert future.result().status == ABORTED
    assert future.result().result.error_code == NavigatorError.CONTROLLER_TF_ERROR

"""Tests of the simulator node as a separate process, over real DDS."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="needs ROS 2")
pytest.importorskip("nav2_msgs.action", reason="needs the built workspace")

from geometry_msgs.msg import Twist, TwistStamped
from nav_msgs.msg import Odometry
from rclpy.serialization import serialize_message
from rosgraph_msgs.msg import Clock
from running import start_of
from sensor_msgs.msg import CameraInfo, Image, LaserScan, PointCloud2
from std_msgs.msg import String
from visualization_msgs.msg import MarkerArray
from waiting import PATIENCE, Moment

from lodestar_interfaces.msg import SimStatus
from lodestar_interfaces.srv import RenderView
from lodestar_ros import qos
from lodestar_ros.conversions import planar_to_msg, stamp_from_msg
from lodestar_ros.conversions_sensors import cloud_from_msg, depth_from_msg, image_from_msg
from lodestar_ros.frame_tree import TransformUnavailable
from lodestar_ros.pose_graph_input import TOPIC, graph_from_bytes
from lodestar_ros.transforms import TransformListener

pytestmark = pytest.mark.ros


def _knows(transforms, target: str, source: str, stamp: float | None = None) -> bool:
    """Return whether a transform is available; /tf_static may arrive before or after odometry."""
    with suppress(TransformUnavailable):
        return transforms.lookup(target, source, stamp).shape == (4, 4)
    return False


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
    processes.start("sim", world=world_file, seed=3, **start_of(-1.0, 0.0, 0.2))
    for topic in topics:
        listener.until(
            lambda topic=topic: len(listener.heard[topic]) >= (2 if topic == "sim/status" else 8), topic
        )

    def steps(topic: str) -> np.ndarray:
        """Return the seconds between messages; the shortest is the period, although some may be lost."""
        return np.diff([stamp_from_msg(m.header.stamp) for m in listener.heard[topic]])

    for image, encoding in (("color", "rgb8"), ("depth", "16UC1"), ("labels", "mono16")):
        message = listener.last(f"camera/{image}/image_raw")
        assert (message.encoding, message.width, message.height) == (encoding, 640, 480)
        assert message.header.frame_id == "camera_optical_frame"
        topic = f"camera/{image}/image_raw"
        listener.until(lambda topic=topic: steps(topic).min() < 0.1 + 1e-6, f"two of {topic} in a row")
        assert steps(topic).min() == pytest.approx(0.1, abs=1e-6)
    info = listener.last("camera/color/camera_info")
    assert (info.k[0], info.k[2], info.k[5]) == (380.0, 319.5, 239.5)

    def matched() -> list[tuple[dict, Image]]:
        by_stamp = {stamp_from_msg(m.header.stamp): m for m in listener.heard["camera/labels/image_raw"]}
        tables = [json.loads(m.data) for m in listener.heard["camera/labels/table"]]
        return [(t, by_stamp[s]) for t in tables if (s := t["stamp"][0] + t["stamp"][1] * 1e-9) in by_stamp]

    listener.until(matched, "labels with their table")
    for table, message in matched():
        assert set(np.unique(image_from_msg(message))) - {0} == {int(value) for value in table["labels"]}
        assert {entry["caption"] for entry in table["labels"].values()} == {"red chair", "blue cabinet"}
    assert 0.5 < np.median(depth_from_msg(listener.last("camera/depth/image_raw"))) < 5.0

    listener.until(lambda: steps("odom").min() < 0.02 + 1e-6, "two odometry messages in a row")
    odometry = [stamp_from_msg(m.header.stamp) for m in listener.heard["odom"]]
    assert np.diff(odometry).min() == pytest.approx(0.02, abs=1e-6)
    clock = lambda: np.diff([stamp_from_msg(m.clock) for m in listener.heard["/clock"]])  # noqa: E731
    listener.until(lambda: clock().min() <= 0.0201, "two clock messages in a row")
    scan = listener.last("scan")
    assert scan.header.frame_id == "scan_link"
    assert len(scan.ranges) == round((scan.angle_max - scan.angle_min) / scan.angle_increment) + 1 == 720
    points = cloud_from_msg(listener.last("points"))
    assert listener.last("points").header.frame_id == "lidar_link"
    assert len(points) > 8000

    stamp = odometry[-10]
    for child in ("camera_optical_frame", "lidar_link", "scan_link"):
        listener.until(
            lambda child=child: _knows(transforms, "map", child, stamp), f"the transform of {child}"
        )
    place = transforms.lookup("map", "base_link", stamp)
    assert place[:2, 3] == pytest.approx([-1.0, 0.0], abs=1e-6)
    status = listener.last("sim/status")
    assert status.world == "box"
    assert 0.0 < status.real_time_factor < 1.2


def test_commands_move_it_and_silence_stops_it(processes, listener, world_file):
    listener.hear(Odometry, "sim/ground_truth", qos.EVENT)
    command = listener.node.create_publisher(Twist, "cmd_vel_out", qos.COMMAND)
    sim = processes.start("sim", world=world_file, **start_of(-3.0, -1.5, 0.0))
    listener.until(lambda: listener.heard["sim/ground_truth"], "the simulator")
    twist = Twist()
    twist.linear.x = 0.5

    def speed() -> float:
        return listener.last("sim/ground_truth").twist.twist.linear.x

    def drive() -> bool:
        command.publish(twist)
        listener.spin()
        return speed() > 0.45

    moment = Moment.now(sim.pids())
    listener.until(drive, "motion")
    since = stamp_from_msg(listener.last("sim/ground_truth").header.stamp)
    listener.until(lambda: speed() == 0.0, "the stop")
    stopped = stamp_from_msg(listener.last("sim/ground_truth").header.stamp)
    assert stopped - since < 0.65 + moment.waits()  # with transport, which waits for a core


def test_silence_stops_it_in_real_time_too_where_the_simulation_is_slow(processes, listener, world_file):
    """At factor 0.25 the timeout of 0.5 s real time comes first: it is 0.125 s simulated, the robot's own is 0.5 s."""
    listener.hear(Odometry, "sim/ground_truth", qos.EVENT)
    command = listener.node.create_publisher(Twist, "cmd_vel_out", qos.COMMAND)
    sim = processes.start("sim", world=world_file, real_time_factor=0.25, **start_of(-3.0, -1.5, 0.0))
    listener.until(lambda: listener.heard["sim/ground_truth"], "the simulator")
    twist = Twist()
    twist.linear.x = 0.5

    def speed() -> float:
        return listener.last("sim/ground_truth").twist.twist.linear.x

    def drive() -> bool:
        command.publish(twist)
        listener.spin()
        return speed() > 0.45

    moment = Moment.now(sim.pids())
    listener.until(drive, "motion")
    since = stamp_from_msg(listener.last("sim/ground_truth").header.stamp)
    listener.until(lambda: speed() == 0.0, "the stop")
    stopped = stamp_from_msg(listener.last("sim/ground_truth").header.stamp)
    assert stopped - since < 0.4 + 0.25 * moment.waits()


def test_under_slam_it_leaves_the_map_frame_alone_and_takes_stamped_commands(processes, listener, world_file):
    listener.hear(Odometry, "odom", qos.RELIABLE)
    transforms = TransformListener(listener.node).buffer
    command = listener.node.create_publisher(TwistStamped, "cmd_vel_out", qos.COMMAND)
    processes.start(
        "sim",
        world=world_file,
        publish_map_to_odom=False,
        cmd_vel_stamped=True,
        task="none",
        real_time_factor=0.0,
    )
    listener.until(lambda: len(listener.heard["odom"]) > 50, "odometry")
    listener.until(lambda: _knows(transforms, "odom", "lidar_link"), "the lidar's transform")
    with pytest.raises(TransformUnavailable):
        transforms.lookup("map", "base_link")
    message = TwistStamped()
    message.twist.angular.z = 0.5

    def turn() -> bool:
        command.publish(message)
        listener.spin()
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
    assert ((rgb[..., 0] > 2.0 * rgb[..., 1]) & (rgb[..., 0] > 60)).sum() > 1000  # pixels of the red chair
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
    death = processes.death("sim", **{"world": world_file, **parameters})
    assert death.returncode == 2
    assert text.lower() in death.tail.lower()
    assert "Traceback" not in death.tail


BROKEN = """
from lodestar_sim.nodes.sim_node import SimNode, main

def step(node, tick):
    raise FloatingPointError("no ground")

SimNode._step = step
main()
"""


def test_an_error_of_the_simulation_ends_the_process_and_is_told(domain, world_file):
    ended = subprocess.run(
        [sys.executable, "-c", BROKEN, "--ros-args", "-p", f"world:={world_file}"],
        capture_output=True, text=True, timeout=PATIENCE, check=False,
    )  # fmt: skip
    said = ended.stdout + ended.stderr
    assert ended.returncode == 1 and "the simulation ended: FloatingPointError: no ground" in said, said


def test_with_a_real_clock_the_stamps_are_those_of_other_computers(processes, listener, world_file):
    for topic, message_type, profile in (
        ("odom", Odometry, qos.RELIABLE),
        ("camera/depth/image_raw", Image, qos.SENSOR),
        ("points", PointCloud2, qos.SENSOR),
    ):
        listener.hear(message_type, topic, profile)
    processes.start("sim", world=world_file, seed=3, real_time=True, **start_of(-1.0, 0.0, 0.2))
    for topic in ("odom", "camera/depth/image_raw", "points"):
        listener.until(lambda topic=topic: len(listener.heard[topic]) >= 8, topic)
        now = listener.node.get_clock().now().nanoseconds * 1e-9
        stamps = [stamp_from_msg(m.header.stamp) for m in listener.heard[topic]]
        assert np.all(np.diff(stamps) > 0.0)
        assert 0.0 <= now - stamps[-1] < PATIENCE
    assert listener.node.count_publishers("/clock") == 0


def test_the_stand_in_for_slam_publishes_its_graph(processes, listener, world_file):
    """The graph is published like SLAM Toolbox's; its nodes lie at the robot's estimated past poses."""
    listener.hear(MarkerArray, TOPIC, qos.COMMAND)
    slam = {"simulator.localization.slam.enabled": True}
    processes.start("sim", world=world_file, **start_of(-1.0, 0.0, 0.2), **slam)
    listener.until(lambda: len(listener.heard[TOPIC]) >= 3, "three graphs")
    graph = graph_from_bytes(serialize_message(listener.last(TOPIC)), "map")
    np.testing.assert_array_equal(graph.ids, [0])
    np.testing.assert_allclose(graph.places, [(-1.0, 0.0)], atol=1e-6)
    assert graph.stamp > 0.9

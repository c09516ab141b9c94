"""Tests that a run is recorded completely, and replayed once the subscribing nodes run."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from geometry_msgs.msg import Transform, TransformStamped, Vector3
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import PointCloud2
from std_msgs.msg import Header
from tf2_msgs.msg import TFMessage

from integration.bed import Bed, Processes
from lodestar_interfaces import msg
from lodestar_ros import qos
from lodestar_ros.bag_files import BagReader
from lodestar_ros.conversions import stamp_from_msg, stamp_to_msg
from lodestar_ros.conversions_sensors import cloud_to_msg

BEGIN = 5000.0  # s, first stamp of the recording
#: So that a test that hears late loses none.
QUEUED = QoSProfile(depth=100, reliability=ReliabilityPolicy.RELIABLE)


def transforms(stamp: float, *pairs: tuple[str, str]) -> TFMessage:
    """Return a message of transforms for pairs of frames, each 1 m along x."""
    return TFMessage(
        transforms=[
            TransformStamped(
                header=Header(frame_id=parent, stamp=stamp_to_msg(stamp)),
                child_frame_id=child,
                transform=Transform(translation=Vector3(x=1.0)),
            )
            for parent, child in pairs
        ]
    )


@pytest.fixture(scope="module")
def recording(bed: Bed, processes: Processes, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a recording of ten clouds with transforms and a decision."""
    parent = tmp_path_factory.mktemp("recordings")
    processes.start("recorder", record=True, parameters={"recorder": {"folder": str(parent)}})
    node = bed.node

    def make():
        return (
            node.create_publisher(Clock, "/clock", qos.SENSOR),
            node.create_publisher(TFMessage, "/tf", qos.TF),
            node.create_publisher(TFMessage, "/tf_static", qos.TF_STATIC),
            node.create_publisher(PointCloud2, "points", qos.SENSOR),
            node.create_publisher(msg.Decision, "goal_selector/decision", qos.EVENT),
        )

    clock, tf, static, points, decisions = talkers = bed.on_executor(make)
    static.publish(transforms(0.0, ("base_link", "lidar_link")))
    bed.until_heard(*talkers)
    decisions.publish(msg.Decision(epoch=7, chosen="frontier"))
    began = time.monotonic()
    for number in range(10):
        # Publish at the pace of the stamps, as subscribers of the replay keep only the last few.
        bed.until(lambda due=began + 0.1 * number: time.monotonic() >= due, "the time of the next cloud")
        stamp = BEGIN + 0.1 * number
        clock.publish(Clock(clock=stamp_to_msg(stamp)))
        tf.publish(transforms(stamp, ("map", "odom"), ("odom", "base_link")))
        points.publish(cloud_to_msg(np.full((5, 3), number, np.float32), stamp, "lidar_link"))
    for _ in range(2):  # between two diagnostics, the recorder has processed all received messages
        bed.next("/diagnostics", lambda array: any(status.name == "recorder" for status in array.status))
    assert "records" in bed.diagnosis("recorder")["message"]
    processes.stop()
    for one in talkers:
        bed.on_executor(lambda one=one: node.destroy_publisher(one))
    (folder,) = parent.iterdir()
    return folder


def test_inputs_and_conclusions_are_in_it_with_the_parameter_files(recording: Path) -> None:
    bag = BagReader(recording)
    assert bag.unreadable == []
    assert bag.counts["/points"] == bag.counts["/tf"] == 10
    assert bag.counts["/goal_selector/decision"] == 1 and bag.counts["/diagnostics"] > 0
    assert bag.names["decision"] == "/goal_selector/decision"
    assert (recording / "sim.yaml").is_file()


@pytest.fixture
def mapping(tmp_path: Path) -> Iterator[Processes]:
    """Yield processes with which the test starts the node that the player waits for."""
    later = Processes(tmp_path)
    yield later
    later.stop()


def test_it_is_played_once_the_awaited_node_runs_and_says_before_for_whom_it_waits(
    recording: Path, bed: Bed, processes: Processes, mapping: Processes
) -> None:
    for kind, topic, profile in (
        (PointCloud2, "points", QUEUED),
        (TFMessage, "/tf", qos.TF),
        (TFMessage, "/tf_static", qos.TF_STATIC),
        (Clock, "/clock", qos.SENSOR),
        (msg.Decision, "goal_selector/decision", qos.EVENT),
    ):
        bed.hear(kind, topic, profile)
    given = {"player": {"await_nodes": ["mapping"], "rate": 2.0}}
    processes.start("player", use="replay", bag=str(recording), parameters=given)
    bed.until(lambda: bed.diagnosis("player").get("message") == "waits for mapping", "what it waits for")
    assert not bed.heard["points"], "nothing is played before"
    bed.until(lambda: bed.heard["/clock"], "the time of the recording")
    assert stamp_from_msg(bed.last("/clock").clock) == pytest.approx(BEGIN)
    static = bed.until(lambda: bed.last("/tf_static"), "the static transforms")
    assert [one.child_frame_id for one in static.transforms] == ["lidar_link"]
    mapping.start("mapping", use="replay", bag=str(recording))
    bed.until(lambda: len(bed.heard["points"]) == 10, "every cloud")
    stamps = [stamp_from_msg(message.header.stamp) for _, message in bed.heard["points"]]
    assert stamps == pytest.approx([BEGIN + 0.1 * number for number in range(10)])
    bed.until(lambda: bed.diagnosis("player").get("message") == "finished", "its end")
    bed.until(lambda: len(bed.heard["/tf"]) == 10, "every transform")
    assert not bed.heard["goal_selector/decision"], "conclusions are those of the nodes that run now"

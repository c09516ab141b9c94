"""A run is recorded as it is, and played again as soon as the nodes that hear it run."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from geometry_msgs.msg import Transform, TransformStamped, Vector3
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import PointCloud2
from std_msgs.msg import Header
from tf2_msgs.msg import TFMessage

from integration.bed import PATIENCE, Bed, Processes
from lodestar_interfaces import msg
from lodestar_ros import qos
from lodestar_ros.bag_files import BagReader
from lodestar_ros.conversions import stamp_from_msg, stamp_to_msg
from lodestar_ros.conversions_sensors import cloud_to_msg

BEGIN = 5000.0  # s, of the recording's stamps


def transforms(stamp: float, *pairs: tuple[str, str]) -> TFMessage:
    """Transforms of these pairs of frames, each 1 m along x."""
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
    """The folder of a recording of ten clouds with their frames and a decision."""
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
    bed.until(lambda: all(one.get_subscription_count() for one in talkers), "the recorder to hear all")
    decisions.publish(msg.Decision(epoch=7, chosen="frontier"))
    began = time.monotonic()
    for number in range(10):
        # At the pace of their stamps: who hears them when they are played keeps the last few.
        bed.until(lambda due=began + 0.1 * number: time.monotonic() >= due, "the time of the next cloud")
        stamp = BEGIN + 0.1 * number
        clock.publish(Clock(clock=stamp_to_msg(stamp)))
        tf.publish(transforms(stamp, ("map", "odom"), ("odom", "base_link")))
        points.publish(cloud_to_msg(np.full((5, 3), number, np.float32), stamp, "lidar_link"))
    for _ in range(2):  # its executor has taken all that had arrived, between two words of its own
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
def mapping(domain: int, tmp_path: Path) -> Iterator[Processes]:
    """The node that is waited for, to be started later."""
    later = Processes(domain, tmp_path)
    yield later
    later.stop()


def test_it_is_played_once_the_awaited_node_runs_and_says_before_for_whom_it_waits(
    recording: Path, bed: Bed, processes: Processes, mapping: Processes
) -> None:
    for kind, topic, profile in (
        (PointCloud2, "points", qos.SENSOR),
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
    assert [one.child_frame_id for one in bed.last("/tf_static").transforms] == ["lidar_link"]
    mapping.start("mapping", use="replay", bag=str(recording))
    bed.until(lambda: len(bed.heard["points"]) == 10, "every cloud", PATIENCE)
    stamps = [stamp_from_msg(message.header.stamp) for _, message in bed.heard["points"]]
    assert stamps == pytest.approx([BEGIN + 0.1 * number for number in range(10)])
    bed.until(lambda: bed.diagnosis("player").get("message") == "finished", "its end")
    assert len(bed.heard["/tf"]) == 10
    assert not bed.heard["goal_selector/decision"], "conclusions are those of the nodes that run now"

"""Tests that our simulator in the role of Isaac Sim matches isaac/contract.yaml, with a running stack."""

from __future__ import annotations

import json

import isaac_files
import numpy as np
import pytest
from geometry_msgs.msg import TransformStamped, Twist
from nav_msgs.msg import Odometry
from rclpy.qos import DurabilityPolicy, ReliabilityPolicy
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import CameraInfo, Image, LaserScan, PointCloud2
from std_msgs.msg import String
from tf2_msgs.msg import TFMessage

from lodestar_interfaces.msg import SegmentedImage
from lodestar_ros import qos
from lodestar_ros.conversions import stamp_from_msg
from lodestar_ros.conversions_sensors import image_from_msg
from lodestar_ros.labels import parse_table

CONTRACT = isaac_files.module("contract").load()
NODES = ("sim", "cloud_scan", "mapping", "perception", "motion_gate")
ISAAC = "sim"  # process in the role of Isaac Sim
OF_OURS = ("/sim/", "/diagnostics", "/rosout", "/parameter_events")  # topics that Isaac Sim lacks
TYPES = {
    "rosgraph_msgs/msg/Clock": Clock,
    "tf2_msgs/msg/TFMessage": TFMessage,
    "nav_msgs/msg/Odometry": Odometry,
    "sensor_msgs/msg/PointCloud2": PointCloud2,
    "sensor_msgs/msg/Image": Image,
    "sensor_msgs/msg/CameraInfo": CameraInfo,
    "sensor_msgs/msg/LaserScan": LaserScan,
    "std_msgs/msg/String": String,
    "geometry_msgs/msg/Twist": Twist,
}
SEMANTIC, INSTANCES = "camera/semantic_segmentation/image_raw", "camera/instance_segmentation/image_raw"
TABLE = "camera/semantic_segmentation/labels"


def absolute(name: str) -> str:
    return name if name.startswith("/") else f"/{name}"


@pytest.fixture(scope="module", autouse=True)
def running(bed, processes):
    """Return the processes, after messages were received on every topic of the contract."""
    parameters = {
        **{name: {"use_sim_time": True} for name in NODES},
        "sim": {"use_sim_time": True, "task": "none", "camera_width": 320, "camera_height": 240},
    }
    for topic in CONTRACT.topics.values():
        profile = qos.PROFILES[topic.qos_name]
        if topic.name == "/tf_static":  # of two publishers, of which a depth of 1 may keep only one message
            profile = qos.TF_STATIC
        bed.hear(TYPES[topic.type], topic.name, profile)
    bed.hear(SegmentedImage, "perception/segmented", qos.RELIABLE)
    processes.start(*NODES, world="warehouse", seed=3, robot="isaac_bridge", parameters=parameters)
    for topic in CONTRACT.topics.values():
        wanted = 1 if topic.rate == 0 else 8
        bed.until(lambda topic=topic, wanted=wanted: len(bed.heard[topic.name]) >= wanted, topic.name)
    return processes


def test_the_live_graph_differs_from_the_contract_in_nothing(bed) -> None:
    bed.until(lambda: not differences(bed), lambda: f"the graph of the contract; {differences(bed)}")


def differences(bed) -> list[tuple]:
    """Return in what the graph differs from the contract; names of nodes come later than their topics."""
    found = []
    for topic in CONTRACT.topics.values():
        infos = bed.node.get_publishers_info_by_topic(absolute(topic.name))
        ours = [info for info in infos if info.node_name in NODES]
        by = {"isaac" if info.node_name == ISAAC else "lodestar" for info in ours}
        if topic.name == "/tf_static":
            by.discard("lodestar")  # cloud_scan publishes its own frame
        live = (by, {info.topic_type for info in ours})
        told = ({topic.by}, {topic.type})
        if live != told:
            found.append((topic.name, live, told))
        for info in ours:
            profile = info.qos_profile
            reliable = profile.reliability == ReliabilityPolicy.RELIABLE
            latched = profile.durability == DurabilityPolicy.TRANSIENT_LOCAL
            if (reliable, latched) != (
                topic.qos.reliability == "reliable", topic.qos.durability == "transient_local"
            ):  # fmt: skip
                found.append((topic.name, info.node_name, profile))
    return found


def test_what_stands_for_isaac_sim_publishes_and_hears_nothing_beyond_the_contract(bed) -> None:
    def published() -> set[str]:
        names = {name for name, _ in bed.node.get_publisher_names_and_types_by_node(ISAAC, "/")}
        return {name for name in names if not name.startswith(OF_OURS) and name != "/restarts"}

    wanted = {absolute(name) for name in CONTRACT.of("isaac")}
    bed.until(lambda: published() >= wanted, lambda: f"all that is published: {published()}")
    assert published() == wanted

    def hears() -> set[str]:
        return {name for name, _ in bed.node.get_subscriber_names_and_types_by_node(ISAAC, "/")}

    bed.until(lambda: "/cmd_vel_out" in hears(), "it hears the gate")
    heard = hears()
    assert {name for name in heard if not name.startswith(OF_OURS)} - {"/clock"} == {"/cmd_vel_out"}


def test_every_listener_of_ours_can_hear_what_the_contract_offers(bed) -> None:
    def hears(name: str, node: str) -> bool:
        return node in {info.node_name for info in bed.node.get_subscriptions_info_by_topic(absolute(name))}

    for name in (SEMANTIC, INSTANCES, TABLE):
        bed.until(lambda name=name: hears(name, "perception"), f"perception hears {name}")
    deaf = []
    for topic in CONTRACT.topics.values():
        for info in bed.node.get_subscriptions_info_by_topic(absolute(topic.name)):
            wanted = info.qos_profile
            asks_more = (
                wanted.reliability == ReliabilityPolicy.RELIABLE and topic.qos.reliability != "reliable"
            )
            latched = wanted.durability == DurabilityPolicy.TRANSIENT_LOCAL
            asks_more |= latched and topic.qos.durability != "transient_local"
            if info.node_name in NODES and (asks_more or info.topic_type != topic.type):
                deaf.append((topic.name, info.node_name))
    assert deaf == []


def test_frames_and_encodings_are_those_of_the_contract(bed) -> None:
    for topic in CONTRACT.topics.values():
        message = bed.last(topic.name)
        if hasattr(message, "header"):
            assert message.header.frame_id == topic.frame, topic.name
        if isinstance(message, Image):
            assert message.encoding == topic.encoding, topic.name
    moving = {(t.header.frame_id, t.child_frame_id) for _, m in bed.heard["/tf"] for t in m.transforms}
    assert CONTRACT.moving in moving and moving <= {CONTRACT.moving, ("map", "odom")}
    odom = bed.last("odom")
    assert (odom.header.frame_id, odom.child_frame_id) == CONTRACT.moving


def test_the_fixed_transforms_are_those_of_the_contract(bed) -> None:
    def transforms() -> dict[str, TransformStamped]:
        return {t.child_frame_id: t for _, m in bed.heard["/tf_static"] for t in m.transforms}

    wanted = {place.child for place in CONTRACT.static} | {"scan_link"}
    bed.until(lambda: set(transforms()) >= wanted, "the transforms of both")
    sent = transforms()
    assert set(sent) == wanted
    for place in CONTRACT.static:
        stamped = sent[place.child]
        moved, turned = stamped.transform.translation, stamped.transform.rotation
        assert stamped.header.frame_id == place.parent
        np.testing.assert_allclose([moved.x, moved.y, moved.z], place.translation, atol=1e-6)
        quaternion = np.array([turned.x, turned.y, turned.z, turned.w])
        assert abs(quaternion @ np.array(place.rotation)) == pytest.approx(1.0, abs=1e-6)


def test_the_rates_are_those_of_the_contract(bed) -> None:
    """Rates come from the shortest steps between stamps, which neither a slow machine nor lost messages change."""
    for topic in CONTRACT.topics.values():
        if topic.rate == 0:
            continue
        period = 1.0 / topic.rate

        def steps(topic=topic) -> np.ndarray:
            return np.diff(np.unique([stamp_of(topic, message) for _, message in bed.heard[topic.name]]))

        bed.until(
            lambda steps=steps, period=period: len(steps()) >= 3 and steps().min() < period + 1e-3,
            f"two messages of {topic.name} one after the other",
        )
        assert steps().min() == pytest.approx(period, abs=1e-3), topic.name


def stamp_of(topic, message) -> float:
    """Return the simulated time of a message, s."""
    if isinstance(message, Clock):
        return stamp_from_msg(message.clock)
    if isinstance(message, TFMessage):
        return stamp_from_msg(message.transforms[0].header.stamp)
    if isinstance(message, String):
        return parse_table(message.data)[0]
    return stamp_from_msg(message.header.stamp)


def test_things_of_one_class_in_one_view_are_as_many_as_there_are_instances(bed) -> None:
    """The label image has one value per class, as in Isaac Sim; `perception` must separate the objects."""

    def moment():
        parts = {
            name: {stamp_from_msg(m.header.stamp): m for _, m in bed.heard[name]}
            for name in (SEMANTIC, INSTANCES, "perception/segmented")
        }
        tables = dict(parse_table(m.data) for _, m in bed.heard[TABLE])
        for stamp in sorted(set.intersection(*(set(one) for one in parts.values())) & set(tables)):
            return *(one[stamp] for one in parts.values()), tables[stamp]
        return None

    bed.until(moment, "a moment with labels, instances, table and segments")
    semantic, instances, segmented, table = moment()
    classes, things = image_from_msg(semantic), image_from_msg(instances)
    expected: dict[str, int] = {}
    for value, entry in table.items():
        _, pixels = np.unique(things[classes == value], return_counts=True)
        expected[entry["class"]] = int((pixels >= 60).sum())
    found: dict[str, int] = {}
    for detection in segmented.detections:
        found[detection.label] = found.get(detection.label, 0) + 1
    assert max(expected.values()) >= 3, "several things of one class are in view"
    assert found == {name: count for name, count in expected.items() if count}
    raw = json.loads(bed.last(TABLE).data)
    assert raw["0"] == {"class": "BACKGROUND"} and raw["1"] == {"class": "UNLABELLED"}


def test_the_scan_is_made_of_the_cloud(bed) -> None:
    def of_a_cloud():
        clouds = {stamp_from_msg(message.header.stamp) for _, message in bed.heard["points"]}
        return [scan for _, scan in bed.heard["scan"] if stamp_from_msg(scan.header.stamp) in clouds]

    scan = bed.until(of_a_cloud, "a scan with the stamp of a cloud")[-1]  # clouds may be lost, or come later
    ranges = np.array(scan.ranges)
    assert len(ranges) == 720 and np.isfinite(ranges).sum() > 100
    assert ranges[np.isfinite(ranges)].min() >= scan.range_min > 0.0

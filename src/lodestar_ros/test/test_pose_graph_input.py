"""SLAM Toolbox's markers become the pose graph that anchors read."""

from __future__ import annotations

import logging
import struct
import time
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="needs ROS 2")

import rclpy
import rclpy.executors
from hypothesis import given, settings
from hypothesis import strategies as st
from rclpy.serialization import serialize_message
from visualization_msgs.msg import Marker, MarkerArray

from lodestar.geometry.closure_config import POSE_GRAPHS
from lodestar.geometry.corrections import Anchor
from lodestar.geometry.pose_graph import SETTLED, PoseGraph
from lodestar.geometry.poses import planar_transform
from lodestar_ros.codec import BadMessage
from lodestar_ros.node import LodestarNode
from lodestar_ros.pose_graph_input import NODES, TOPIC, PoseGraphInput, graph_from_msg, graph_to_msg


def toolbox(places: dict[int, tuple[float, float]], stamp: float) -> MarkerArray:
    """Return what `LoopClosureAssistant::publishGraph` publishes: DELETEALL, a sphere per node, two lists of edges."""
    seconds, nanoseconds = int(stamp), int(stamp % 1.0 * 1e9)
    clear = Marker(action=Marker.DELETEALL)
    markers = [clear]
    for identity, (x, y) in places.items():
        node = Marker(ns="slam_toolbox", id=identity, type=Marker.SPHERE, action=Marker.ADD)
        node.header.frame_id, node.pose.orientation.w = "map", 1.0
        node.pose.position.x, node.pose.position.y = x, y
        markers.append(node)
    for identity in (0, 1):
        markers.append(Marker(ns="slam_toolbox_edges", id=identity, type=Marker.LINE_LIST, action=Marker.ADD))
    for one in markers:
        one.header.stamp.sec, one.header.stamp.nanosec = seconds, nanoseconds
    return MarkerArray(markers=markers)


class Node:
    """A node that is told what its subscription would hear."""

    def __init__(self, topic: str) -> None:
        self.shared, self.topics, self.closers = SimpleNamespace(pose_graph=topic), [], []
        self.diagnostics = SimpleNamespace(value=lambda *_: None)

    def listen(self, message_type, topic, callback, profile, *, raw):
        assert raw and message_type is MarkerArray
        self.topics.append(topic)
        self.hear = callback

    def on_clock_restart(self, reset):
        self.closers.append(reset)

    on_close = on_clock_restart


@pytest.fixture
def node():
    heard = Node(TOPIC)
    PoseGraphInput(heard)
    yield heard
    for close in heard.closers:
        close()


def test_a_graph_of_slam_toolbox_is_offered_and_read_when_needed(node):
    places = {3: (1.5, -2.0), 1: (0.5, 0.0), 2: (1.0, 0.25)}
    node.hear(serialize_message(toolbox(places, 12.25)))
    assert POSE_GRAPHS.at(12.25) is None
    offer = POSE_GRAPHS.at(12.25 + SETTLED)
    assert offer is not None and offer.stamp == 12.25
    graph = offer.graph
    assert graph is not None and graph.headings is None and graph.stamps is None
    np.testing.assert_array_equal(graph.ids, [1, 2, 3])
    np.testing.assert_allclose(graph.places, [(0.5, 0.0), (1.0, 0.25), (1.5, -2.0)])


def test_a_graph_that_is_not_finite_is_told_and_ignored(node, caplog):
    node.hear(serialize_message(toolbox({1: (0.0, float("nan"))}, 1.0)))
    offer = POSE_GRAPHS.at(2.0)
    with caplog.at_level(logging.WARNING):
        assert offer is not None and offer.graph is None and offer.graph is None
    assert len(caplog.records) == 1


@pytest.mark.parametrize("data", [b"", serialize_message(MarkerArray()), b"\0\0" + bytes(20)])
def test_bytes_that_are_no_graph_are_refused(node, data):
    with pytest.raises(BadMessage):
        node.hear(data)


@pytest.mark.parametrize("count", [5, 0xFFFFFFFF])
def test_bytes_that_end_too_soon_keep_no_anchor_from_following(node, count):
    anchor, jump = Anchor(), planar_transform(0.5, 0.0, 0.0)
    node.hear(struct.pack("<4sIiI", b"\0\1\0\0", count, 1, 0))
    moved = []
    for k in range(40):
        map_from_odom = np.eye(4) if k < 30 else jump
        with anchor.correction(map_from_odom, planar_transform(0.5 * k, 0.0, 0.0), 1.0 * k) as correction:
            moved.append(correction is not None)
    assert [k for k, one in enumerate(moved) if one] == [30]


def test_an_empty_topic_hears_nothing():
    node = Node("")
    PoseGraphInput(node)
    assert node.topics == []


@settings(deadline=None, max_examples=20)
@given(st.integers(1, 40), st.integers(0, 2**32 - 1), st.floats(0.0, 1e6))
def test_there_and_back(count, seed, stamp):
    rng = np.random.default_rng(seed)
    ids = np.unique(rng.integers(0, 1000, count))
    graph = PoseGraph(stamp, ids, rng.normal(0.0, 50.0, (len(ids), 2)))
    message = graph_to_msg(graph)
    assert {m.ns for m in message.markers[1:]} == {NODES} and message.markers[0].action == Marker.DELETEALL
    back = graph_from_msg(message)
    assert back.stamp == pytest.approx(stamp, abs=1e-6)
    np.testing.assert_array_equal(back.ids, ids)
    np.testing.assert_allclose(back.places, graph.places)


@pytest.mark.ros
def test_a_node_hears_the_topic_over_dds():
    context = rclpy.Context()
    rclpy.init(context=context, domain_id=173)
    node, other = (
        LodestarNode("follower", context=context),
        rclpy.create_node("slam_toolbox", context=context),
    )
    executor = rclpy.executors.SingleThreadedExecutor(context=context)
    try:
        PoseGraphInput(node)
        sender = other.create_publisher(MarkerArray, TOPIC, 1)  # SLAM Toolbox's profile
        executor.add_node(node)
        end = time.monotonic() + 30.0
        while POSE_GRAPHS.at(100.0) is None and time.monotonic() < end:
            sender.publish(toolbox({0: (1.0, 2.0), 1: (1.5, 2.0)}, 7.5))
            executor.spin_once(timeout_sec=0.2)
        offer = POSE_GRAPHS.at(100.0)
        assert offer is not None and offer.stamp == 7.5 and offer.graph is not None
        np.testing.assert_allclose(offer.graph.places, [(1.0, 2.0), (1.5, 2.0)])
    finally:
        executor.remove_node(node)
        node.close()
        node.destroy_node()
        other.destroy_node()
        rclpy.shutdown(context=context)
    assert POSE_GRAPHS.at(100.0) is None  # what ends with the node

"""Tests of the conversion of SLAM Toolbox's markers to the pose graph used by anchors."""

from __future__ import annotations

import logging
import struct
from copy import deepcopy
from types import SimpleNamespace

import numpy as np
import pytest
from waiting import wait_for

pytest.importorskip("rclpy", reason="needs ROS 2")

import rclpy
import rclpy.executors
from geometry_msgs.msg import Point
from hypothesis import given, settings
from hypothesis import strategies as st
from rclpy.serialization import serialize_message
from std_msgs.msg import ColorRGBA
from visualization_msgs.msg import Marker, MarkerArray

from lodestar.geometry.closure_config import POSE_GRAPHS
from lodestar.geometry.corrections import Anchor
from lodestar.geometry.pose_graph import SETTLED, PoseGraph
from lodestar.geometry.poses import planar_transform
from lodestar_ros.codec import BadMessage
from lodestar_ros.marker_bytes import marker_runs
from lodestar_ros.node import LodestarNode
from lodestar_ros.pose_graph_input import NODES, TOPIC, PoseGraphInput, graph_from_bytes, graph_to_msg


def toolbox(places: dict[int, tuple[float, float]], stamp: float, frame: str = "map") -> MarkerArray:
    """Return markers as from `LoopClosureAssistant::publishGraph`: DELETEALL, a sphere per node, two lists of edges."""
    seconds, nanoseconds = int(stamp), int(stamp % 1.0 * 1e9)
    clear = Marker(action=Marker.DELETEALL)
    markers = [clear]
    for identity, (x, y) in places.items():
        node = Marker(ns="slam_toolbox", id=identity, type=Marker.SPHERE, action=Marker.ADD)
        node.header.frame_id, node.pose.orientation.w = frame, 1.0
        node.pose.position.x, node.pose.position.y = x, y
        markers.append(node)
    for identity in (0, 1):
        markers.append(Marker(ns="slam_toolbox_edges", id=identity, type=Marker.LINE_LIST, action=Marker.ADD))
    for one in markers:
        one.header.stamp.sec, one.header.stamp.nanosec = seconds, nanoseconds
    return MarkerArray(markers=markers)


class Node:
    """Fake node to whose subscription the test passes messages."""

    def __init__(self, topic: str) -> None:
        self.shared, self.topics, self.closers = SimpleNamespace(pose_graph=topic), [], []
        self.warned: list[str] = []
        self.parameters = {}
        self.diagnostics = SimpleNamespace(value=lambda *_: None)

    def listen(self, message_type, topic, callback, profile, *, raw):
        assert raw and message_type is MarkerArray
        self.topics.append(topic)
        self.hear = callback

    def has_parameter(self, name):
        return name in self.parameters

    def get_parameter(self, name):
        return SimpleNamespace(value=self.parameters[name])

    def get_logger(self):
        return SimpleNamespace(warning=self.warned.append)

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


@settings(deadline=None, max_examples=40)
@given(st.sampled_from([None, 5, 0xFFFFFFFF]), st.floats(0.0, 1.0), st.integers(0, 400), st.integers(0, 255))
def test_broken_bytes_are_refused_or_read_and_raise_nothing_else(count, kept, at, byte):
    data = bytearray(serialize_message(toolbox({k: (0.5 * k, 0.0) for k in range(20)}, 1.0)))
    if count is not None:
        data[4:8] = struct.pack("<I", count)
    data[min(at, len(data) - 1)] = byte
    data = bytes(data[: int(kept * len(data))])
    try:
        graph = graph_from_bytes(data, "map")
    except BadMessage:
        return
    assert len(graph.ids) <= 20


@pytest.mark.parametrize("kept", [0.3, 0.9])
def test_bytes_that_end_too_soon_keep_no_anchor_from_following(node, kept):
    anchor, jump = Anchor(), planar_transform(0.5, 0.0, 0.0)
    data = serialize_message(toolbox({k: (0.5 * k, 0.0) for k in range(20)}, 1.0))
    node.hear(data[: int(kept * len(data))])
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
    back = graph_from_bytes(serialize_message(message), "map")
    assert back.stamp == pytest.approx(stamp, abs=1e-6)
    np.testing.assert_array_equal(back.ids, ids)
    np.testing.assert_allclose(back.places, graph.places)


@st.composite
def markers(draw) -> list[Marker]:
    """Draw runs of markers of varying layout: names, texts, points and colours of any length."""
    made = []
    for _ in range(draw(st.integers(0, 6))):
        one = Marker(ns=draw(st.text("ab\u00e4", max_size=9)), action=draw(st.integers(0, 3)))
        one.header.frame_id, one.text = draw(st.text("map", max_size=5)), draw(st.text("xy", max_size=11))
        one.points = [Point(x=1.0, y=2.0)] * draw(st.integers(0, 3))
        one.colors = [ColorRGBA(r=1.0)] * draw(st.integers(0, 3))
        one.mesh_resource = draw(st.text("m", max_size=5))
        for _ in range(draw(st.integers(1, 40))):
            again = deepcopy(one)
            again.id = draw(st.integers(-(2**31), 2**31 - 1))
            again.pose.position.x, again.pose.position.y = float(again.id), -0.5 * again.id
            made.append(again)
    return made


@settings(deadline=None, max_examples=60)
@given(markers())
def test_runs_of_bytes_are_the_markers_that_rclpy_reads(made):
    found = []
    for run in marker_runs(serialize_message(MarkerArray(markers=made))):
        for identity, (x, y) in zip(run.ids.tolist(), run.places.tolist(), strict=True):
            found.append((run.frame, run.namespace, run.action, identity, x, y))

    def key(one):
        return one[3], one[:3]

    told = [(m.header.frame_id, m.ns, m.action, m.id, m.pose.position.x, m.pose.position.y) for m in made]
    assert sorted(found, key=key) == sorted(told, key=key)


def test_a_large_graph_is_read_in_few_steps():
    """The number of parsing steps must not grow with the markers, else it would be as slow as rclpy."""
    made = toolbox({k: (0.5 * k, -0.25 * k) for k in range(3000)}, 5.0)
    runs = list(marker_runs(serialize_message(made)))
    assert sum(len(run.ids) for run in runs) == 3003 and len(runs) < 30


def test_a_graph_in_another_frame_is_told_once_and_moves_nothing(node):
    for stamp in range(3):
        node.hear(serialize_message(toolbox({1: (0.0, 0.0), 2: (1.0, 0.0)}, float(stamp), "odom")))
    assert POSE_GRAPHS.at(100.0) is None
    (said,) = node.warned
    assert "'odom'" in said and "'map'" in said and TOPIC in said
    node.parameters["frames.map"] = "robot1/map"
    node.hear(serialize_message(toolbox({1: (0.0, 0.0)}, 4.0)))
    assert POSE_GRAPHS.at(100.0) is None
    node.hear(serialize_message(toolbox({1: (0.0, 0.0)}, 5.0, "robot1/map")))
    assert POSE_GRAPHS.at(100.0).graph is not None
    mixed = toolbox({1: (0.0, 0.0), 2: (1.0, 0.0)}, 6.0)
    mixed.markers[2].header.frame_id = "odom"
    with pytest.raises(BadMessage, match="odom"):
        graph_from_bytes(serialize_message(mixed), "map")


@pytest.mark.ros
def test_a_node_hears_the_topic_over_dds():
    context = rclpy.Context()
    rclpy.init(context=context)
    node, other = (
        LodestarNode("follower", context=context),
        rclpy.create_node("slam_toolbox", context=context),
    )
    executor = rclpy.executors.SingleThreadedExecutor(context=context)
    try:
        PoseGraphInput(node)
        sender = other.create_publisher(MarkerArray, TOPIC, 1)  # QoS profile of SLAM Toolbox
        executor.add_node(node)

        def heard():
            sender.publish(toolbox({0: (1.0, 2.0), 1: (1.5, 2.0)}, 7.5))
            executor.spin_once(timeout_sec=0.2)
            return POSE_GRAPHS.at(100.0)

        offer = wait_for(heard, "a pose graph", every=0.0)
        assert offer.stamp == 7.5 and offer.graph is not None
        np.testing.assert_allclose(offer.graph.places, [(1.0, 2.0), (1.5, 2.0)])
    finally:
        executor.remove_node(node)
        node.close()
        node.destroy_node()
        other.destroy_node()
        rclpy.shutdown(context=context)
    assert POSE_GRAPHS.at(100.0) is None  # the offer ends with the node

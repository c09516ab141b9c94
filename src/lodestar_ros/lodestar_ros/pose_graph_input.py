"""The pose graph of SLAM, as SLAM Toolbox publishes it, for all that follows corrections of map <- odom (ADR 0095)."""

from __future__ import annotations

import struct
from functools import partial

import numpy as np
from rclpy.serialization import deserialize_message
from std_msgs.msg import ColorRGBA
from visualization_msgs.msg import Marker, MarkerArray

from lodestar.geometry.closure_config import POSE_GRAPHS
from lodestar.geometry.pose_graph import PoseGraph
from lodestar_ros import qos
from lodestar_ros.codec import BadMessage
from lodestar_ros.marker_shapes import ball_marker, fresh
from lodestar_ros.node import LodestarNode

NODES = "slam_toolbox"  # SLAM Toolbox's namespace of markers that are nodes
TOPIC = "slam_toolbox/graph_visualization"
_FIRST = struct.Struct("<4xIiI")  # of a MarkerArray in CDR: the number of markers, and the stamp of the first


class PoseGraphInput:
    """Offers each graph to the anchors of this process, which read it where they need it: a large one takes a second.

    Subscribes: `shared.pose_graph`, "" = nothing.
    """

    def __init__(self, node: LodestarNode) -> None:
        if not node.shared.pose_graph:
            return
        self._heard = 0
        node.listen(MarkerArray, node.shared.pose_graph, self._take, qos.COMMAND, raw=True)
        node.diagnostics.value("pose_graph.heard", lambda: self._heard)
        node.on_clock_restart(POSE_GRAPHS.clear)
        node.on_close(POSE_GRAPHS.clear)

    def _take(self, data: bytes) -> None:
        if len(data) < _FIRST.size or data[1] != 1:
            raise BadMessage("a graph that is no little-endian CDR")
        count, seconds, nanoseconds = _FIRST.unpack_from(data)
        if count > 0:
            self._heard += 1
            POSE_GRAPHS.offer(seconds + 1e-9 * nanoseconds, partial(_read, data))


def _read(data: bytes) -> PoseGraph:
    try:
        message = deserialize_message(data, MarkerArray)
    except RuntimeError as error:  # RMWError
        raise BadMessage(f"bytes that are no MarkerArray: {error}") from error
    return graph_from_msg(message)


def graph_from_msg(message: MarkerArray) -> PoseGraph:
    """Return the nodes among SLAM Toolbox's markers. Raises BadMessage."""
    nodes = {m.id: m.pose.position for m in message.markers if m.ns == NODES and m.action == Marker.ADD}
    first = message.markers[0].header.stamp if message.markers else None
    if not nodes or first is None:
        raise BadMessage("a graph without nodes")
    ids = np.array(sorted(nodes), np.int64)
    places = np.array([(nodes[i].x, nodes[i].y) for i in ids.tolist()])
    try:
        return PoseGraph(first.sec + 1e-9 * first.nanosec, ids, places)
    except ValueError as error:
        raise BadMessage(str(error)) from error


def graph_to_msg(graph: PoseGraph) -> MarkerArray:
    """Return a graph as SLAM Toolbox publishes it, without its edges."""
    red = ColorRGBA(r=1.0, a=1.0)
    message = fresh(
        [
            ball_marker(NODES, identity, graph.stamp, (*place, 0.0), red, 0.1)
            for identity, place in zip(graph.ids.tolist(), graph.places.tolist())
        ]
    )
    message.markers[0].header.stamp = message.markers[-1].header.stamp
    return message

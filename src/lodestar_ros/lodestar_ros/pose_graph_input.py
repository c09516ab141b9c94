"""The pose graph of SLAM Toolbox, for the stores that follow corrections of map <- odom (ADR 0095)."""

from __future__ import annotations

import struct
from functools import partial

import numpy as np
from std_msgs.msg import ColorRGBA
from visualization_msgs.msg import Marker, MarkerArray

from lodestar.geometry.closure_config import POSE_GRAPHS
from lodestar.geometry.pose_graph import PoseGraph
from lodestar_ros import qos
from lodestar_ros.codec import BadMessage
from lodestar_ros.conversions import MAP
from lodestar_ros.marker_bytes import MarkerRun, marker_runs
from lodestar_ros.marker_shapes import ball_marker, fresh
from lodestar_ros.node import LodestarNode

NODES = "slam_toolbox"  # namespace of SLAM Toolbox's node markers
TOPIC = "slam_toolbox/graph_visualization"
_FIRST = struct.Struct("<4xIiI")  # begin of a MarkerArray in CDR: number of markers, and stamp of the first


class PoseGraphInput:
    """Offers each pose graph to the anchors of this process (poses that tie map parts to the graph), which
    decode it when they need it.

    Subscribes: `shared.pose_graph`, "" = nothing. A graph in another frame than the map's is ignored, with
    one warning.
    """

    def __init__(self, node: LodestarNode) -> None:
        if not node.shared.pose_graph:
            return
        self._node, self._heard, self._foreign = node, 0, ""
        node.listen(MarkerArray, node.shared.pose_graph, self._take, qos.COMMAND, raw=True)
        node.diagnostics.value("pose_graph.heard", lambda: self._heard)
        node.on_clock_restart(POSE_GRAPHS.clear)
        node.on_close(POSE_GRAPHS.clear)

    def _take(self, data: bytes) -> None:
        if len(data) < _FIRST.size:
            raise BadMessage("a graph without a marker")
        count, seconds, nanoseconds = _FIRST.unpack_from(data)
        first = next((run for run in marker_runs(data) if _has_nodes(run)), None)
        if first is None:
            if count > 1:
                raise BadMessage("a graph without nodes")
            return
        if first.frame != self._map:
            self._refuse(first.frame)
            return
        self._heard += 1
        POSE_GRAPHS.offer(seconds + 1e-9 * nanoseconds, partial(graph_from_bytes, data, first.frame))

    @property
    def _map(self) -> str:
        """Return the name of the map frame: the parameter `frames.map`, or the default for nodes without it."""
        name = "frames.map"
        return self._node.get_parameter(name).value if self._node.has_parameter(name) else MAP

    def _refuse(self, frame: str) -> None:
        if frame != self._foreign:
            self._foreign = frame
            topic = self._node.shared.pose_graph
            text = f"{topic}: SLAM's pose graph is in {frame!r}, not in {self._map!r}: it is not followed"
            self._node.get_logger().warning(text)


def graph_from_bytes(data: bytes, frame: str) -> PoseGraph:
    """Return the pose graph of SLAM Toolbox's serialized MarkerArray. Raises BadMessage, also for a node in
    another frame.
    """
    if len(data) < _FIRST.size:
        raise BadMessage("a graph without a marker")
    _, seconds, nanoseconds = _FIRST.unpack_from(data)
    runs = [run for run in marker_runs(data) if _has_nodes(run)]
    if not runs:
        raise BadMessage("a graph without nodes")
    frames = {run.frame for run in runs} - {frame}
    if frames:
        raise BadMessage(f"nodes in {sorted(frames)}, and in {frame!r}")
    ids, rows = np.unique(np.concatenate([run.ids for run in runs]), return_index=True)
    places = np.concatenate([run.places for run in runs])[rows]
    try:
        return PoseGraph(seconds + 1e-9 * nanoseconds, ids, places)
    except ValueError as error:
        raise BadMessage(str(error)) from error


def _has_nodes(run: MarkerRun) -> bool:
    return run.namespace == NODES and run.action == Marker.ADD


def graph_to_msg(graph: PoseGraph) -> MarkerArray:
    """Return a graph as SLAM Toolbox's message, without edges."""
    red = ColorRGBA(r=1.0, a=1.0)
    message = fresh(
        [
            ball_marker(NODES, identity, graph.stamp, (*place, 0.0), red, 0.1)
            for identity, place in zip(graph.ids.tolist(), graph.places.tolist())
        ]
    )
    message.markers[0].header.stamp = message.markers[-1].header.stamp
    return message

"""Observation of the running ROS graph for some seconds."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray
from nav_msgs.msg import Odometry
from rcl_interfaces.srv import GetParameters
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.parameter import Parameter, parameter_value_to_python
from rclpy.qos import DurabilityPolicy, ReliabilityPolicy
from sensor_msgs.msg import CameraInfo, CompressedImage, Image, LaserScan, PointCloud2
from tf2_msgs.msg import TFMessage

from lodestar.experts.registry import FRONTIER
from lodestar.perception.lookout import VocabularyReport
from lodestar_interfaces import msg
from lodestar_ros import qos
from lodestar_ros.conversions import BadMessage, stamp_from_msg
from lodestar_ros.conversions_sensors import scan_from_msg
from lodestar_ros.conversions_vocabulary import report_from_msg
from lodestar_ros.doctor.camera_reading import read_image, read_info
from lodestar_ros.doctor.findings import Endpoint, FrameEdge, Observation, Picture, Stream
from lodestar_ros.doctor.graph_checks import CORE, deciding
from lodestar_ros.doctor.lives import NodeLives
from lodestar_ros.doctor.machine import head_of, observe_machine
from lodestar_ros.terminal import spinning
from lodestar_ros.twins import identity_from

_TYPES = {
    "sensor_msgs/msg/Image": Image,
    "sensor_msgs/msg/CompressedImage": CompressedImage,
    "sensor_msgs/msg/CameraInfo": CameraInfo,
    "sensor_msgs/msg/PointCloud2": PointCloud2,
    "sensor_msgs/msg/LaserScan": LaserScan,
    "nav_msgs/msg/Odometry": Odometry,
}
_ASKED = {
    "": ("use_sim_time",),
    "perception": ("use_sim_time", "adapter", "model"),
    **dict.fromkeys(("goal_selector", f"{FRONTIER.name}_expert"), ("use_sim_time", "battery.full_range")),
}
_LIFECYCLE = ("controller_server", "planner_server", "behavior_server", "bt_navigator", "velocity_smoother")
_PATIENCE = 3.0  # s to wait for a service's answer
_IGNORED = ("/rosout", "/parameter_events")
_DISCOVERY = 2.0  # s without growth after which the graph counts as discovered
_DISCOVERY_LIMIT = 12.0  # s, most to wait for the discovery


def scan_problem(message: LaserScan) -> str:
    """Return why a scan cannot be read, with its header; "" if it can."""
    try:
        scan_from_msg(message)
    except BadMessage as error:
        return str(error)
    return ""


class GraphObserver:
    """Observes the graph with its own node, without changing it."""

    def __init__(self, node: Node, namespace: str) -> None:
        self._node, self._namespace = node, namespace
        self._executor = SingleThreadedExecutor(context=node.context)
        self._executor.add_node(node)
        self._counts: Counter[str] = Counter()
        self._newest: dict[str, Any] = {}
        self._first: dict[str, float] = {}  # topic -> stamp of its first message
        self._ages: dict[str, float] = {}
        self._edges: dict[tuple[str, str], tuple[bool, float, int]] = {}
        # (parent, child) -> newest rotation
        self._rotations: dict[tuple[str, str], tuple[float, float, float, float]] = {}
        # (topic, parent, child) of moving transforms -> ids of their publishers
        self._senders: dict[tuple[str, str, str], set[bytes]] = {}
        self._lives = NodeLives()
        self._vocabulary: VocabularyReport | None = None

    def observe(self, seconds: float) -> tuple[Observation, dict[str, str]]:
        """Observe for this number of seconds; return the observation, and the topics of the stack's inputs by name."""
        node = self._node
        node.create_subscription(DiagnosticArray, "/diagnostics", self._on_diagnostics, qos.EVENT)
        for topic, profile, static in (("tf", qos.TF, False), ("tf_static", qos.TF_STATIC, True)):
            # the topic of all robots, and that of a namespace
            for name in {f"/{topic}", self._full(topic)}:
                node.create_subscription(TFMessage, name, self._frames_of(name, static), profile)
        vocabulary = self._full("perception/vocabulary")
        node.create_subscription(msg.VocabularyReport, vocabulary, self._on_vocabulary, qos.LATCHED)
        self._discover()
        self._follow_clock()
        inputs = self._inputs()
        for topic, kind in inputs.values():
            node.create_subscription(_TYPES[kind], topic, self._counter(topic), qos.SENSOR)
        parameters = self._parameters()
        lifecycle = self._lifecycle()
        began = time.monotonic()
        self._counts.clear()
        self._first.clear()
        self._senders.clear()
        self._spin(seconds)
        heard = time.monotonic()
        span = heard - began
        publishers, subscriptions = self._endpoints()
        seen = Observation(
            seconds=span,
            namespace=self._namespace.rstrip("/"),
            nodes=self._nodes(),
            publishers=publishers,
            subscriptions=subscriptions,
            streams={topic: self._stream(name, topic, span, inputs) for name, (topic, _) in inputs.items()},
            frames=tuple(self._frame_edges(seconds + _DISCOVERY)),
            doubled=tuple(sorted({key[1:] for key, senders in self._senders.items() if len(senders) > 1})),
            diagnostics=self._lives.statuses(heard),
            before=self._lives.before(heard),
            changes=self._lives.changes(heard),
            parameters=parameters,
            lifecycle=lifecycle,
            weights=self._weights(parameters),
            navigators=len(publishers.get(self._full("navigate_to_pose/_action/status"), ())),
            machine=observe_machine(),
            vocabulary=self._vocabulary,
        )
        return seen, {name: topic for name, (topic, _) in inputs.items()}

    # --- listening ---

    def _discover(self) -> None:
        """Wait until the graph has not grown for `_DISCOVERY` seconds."""
        end, known = time.monotonic() + _DISCOVERY_LIMIT, -1
        while known != (now := self._known()) and time.monotonic() < end:
            known = now
            self._spin(_DISCOVERY)

    def _known(self) -> int:
        return sum(self._nodes().values()) + len(self._node.get_topic_names_and_types())

    def _follow_clock(self) -> None:
        """Use simulated time if /clock is published; forget transforms that were compared with the other clock."""
        if self._node.count_publishers("/clock"):
            self._node.set_parameters([Parameter("use_sim_time", value=True)])
            self._spin(_DISCOVERY)
            self._edges = {pair: edge for pair, edge in self._edges.items() if edge[0]}

    def _spin(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0.0:
            with spinning():
                self._executor.spin_once(timeout_sec=min(left, 0.1))

    def _counter(self, topic: str) -> Callable[[Any], None]:
        def count(message: Any) -> None:
            self._counts[topic] += 1
            self._first.setdefault(topic, stamp_from_msg(message.header.stamp))
            self._newest[topic] = message
            age = self._now() - stamp_from_msg(message.header.stamp)
            self._ages[topic] = min(self._ages.get(topic, age), age, key=abs)

        return count

    def _now(self) -> float:
        return self._node.get_clock().now().nanoseconds * 1e-9

    def _on_diagnostics(self, message: DiagnosticArray) -> None:
        for status in message.status:
            who = identity_from(status.hardware_id)
            if who is not None and who.name != self._full(status.name):
                continue  # a node of another robot: /diagnostics is shared, and `name` has no namespace
            level = status.level[0] if isinstance(status.level, bytes) else int(status.level)
            said = (level, status.message, {v.key: v.value for v in status.values})
            self._lives.take(status.name, who, said, time.monotonic())

    def _on_vocabulary(self, message: msg.VocabularyReport) -> None:
        self._vocabulary = report_from_msg(message)

    def _frames_of(self, topic: str, static: bool) -> Callable[[TFMessage, dict[str, Any]], None]:
        def on_frames(message: TFMessage, information: dict[str, Any]) -> None:
            # Humble and Jazzy have no publisher_gid
            sender = (information.get("publisher_gid") or {}).get("data", b"")
            for transform in message.transforms:
                pair = (transform.header.frame_id.lstrip("/"), transform.child_frame_id.lstrip("/"))
                lag = 0.0 if static else self._now() - stamp_from_msg(transform.header.stamp)
                _, least, count = self._edges.get(pair, (static, lag, 0))
                self._edges[pair] = (static, min(least, lag, key=abs), count + 1)
                q = transform.transform.rotation
                self._rotations[pair] = (q.x, q.y, q.z, q.w)
                if not static:
                    self._senders.setdefault((topic, *pair), set()).add(sender)

        return on_frames

    def _frame_edges(self, span: float) -> Iterable[FrameEdge]:
        for (parent, child), (static, lag, count) in self._edges.items():
            yield FrameEdge(parent, child, static, lag, count / span, self._rotations.get((parent, child)))

    def _stream(self, name: str, topic: str, span: float, inputs: dict[str, tuple[str, str]]) -> Stream:
        message, count = self._newest.get(topic), self._counts[topic]
        if message is None or not count:
            return Stream()
        stamped = stamp_from_msg(message.header.stamp) - self._first[topic]
        rate = (count - 1) / stamped if stamped > 0.0 else count / span
        picture = Picture()
        if isinstance(message, CameraInfo):
            picture = read_info(message)
        elif isinstance(message, Image | CompressedImage):
            info = self._newest.get(inputs.get("camera_info", ("", ""))[0])
            picture = read_image(message, is_depth=name == "depth", info=info)
        age = self._ages.get(topic, math.nan)
        problem = scan_problem(message) if isinstance(message, LaserScan) else ""
        frame = message.header.frame_id.lstrip("/")
        return Stream(rate, age, frame, picture.size, picture=picture, scan_problem=problem)

    # --- the graph ---

    def _full(self, name: str) -> str:
        return f"{self._namespace.rstrip('/')}/{name}" if not name.startswith("/") else name

    def _nodes(self) -> Counter[str]:
        own = self._node.get_name()
        names = self._node.get_node_names_and_namespaces()
        return Counter(
            f"{space.rstrip('/')}/{name}" for name, space in names if name != own and not name.startswith("_")
        )

    def _endpoints(self) -> tuple[dict[str, tuple[Endpoint, ...]], dict[str, tuple[Endpoint, ...]]]:
        publishers, subscriptions = {}, {}
        for topic, _ in self._node.get_topic_names_and_types(no_demangle=False):
            if topic in _IGNORED:
                continue
            publishers[topic] = self._of(self._node.get_publishers_info_by_topic(topic))
            subscriptions[topic] = self._of(self._node.get_subscriptions_info_by_topic(topic))
        status = self._full("navigate_to_pose/_action/status")  # a hidden topic, so not in the list above
        publishers[status] = self._of(self._node.get_publishers_info_by_topic(status))
        return publishers, subscriptions

    def _of(self, infos: Iterable[Any]) -> tuple[Endpoint, ...]:
        own = self._node.get_name()
        return tuple(
            Endpoint(
                f"{info.node_namespace.rstrip('/')}/{info.node_name}",
                info.topic_type,
                info.qos_profile.reliability != ReliabilityPolicy.BEST_EFFORT,
                info.qos_profile.durability == DurabilityPolicy.TRANSIENT_LOCAL,
                _layout(info),
            )
            for info in infos
            if info.node_name != own
        )

    def _inputs(self) -> dict[str, tuple[str, str]]:
        """Return input -> (topic, type), by the subscriptions of the stack's nodes."""
        found: dict[str, tuple[str, str]] = {}
        images = ("sensor_msgs/msg/Image", "sensor_msgs/msg/CompressedImage")
        for name, node, types in (
            ("depth", "semantic_voxels", images),
            ("image", "perception", images),
            ("camera_info", "semantic_voxels", ("sensor_msgs/msg/CameraInfo",)),
            ("points", "mapping", ("sensor_msgs/msg/PointCloud2",)),
            ("scan", "mapping", ("sensor_msgs/msg/LaserScan",)),
        ):
            heard = [
                (topic, kind)
                for topic, kinds in self._heard_by(node)
                for kind in types
                if kind in kinds and "label" not in topic and "semantic_seg" not in topic
            ]
            depth, _ = found.get("depth", ("", ""))
            heard = [one for one in heard if one[0] != depth]  # perception may subscribe to depth too
            sign = -1 if name == "depth" else 1
            if heard:
                found[name] = min(heard, key=lambda one: (sign * one[0].count("depth"), *one))
        odom, kind = self._full("odom"), "nav_msgs/msg/Odometry"
        if kind in dict(self._node.get_topic_names_and_types()).get(odom, ()):
            found["odom"] = (odom, kind)
        return found

    def _heard_by(self, node: str) -> list[tuple[str, list[str]]]:
        try:
            return self._node.get_subscriber_names_and_types_by_node(node, self._namespace or "/")
        except Exception:  # rclpy raises NodeNameNonExistentError, whose place differs between distributions
            return []

    # --- services ---

    def _parameters(self) -> dict[str, dict[str, object]]:
        waiting = {}
        for name in (*CORE, *deciding()):
            if name == "text_embedder":  # it has no stamps, and uses real time on purpose
                continue
            client = self._node.create_client(GetParameters, self._full(f"{name}/get_parameters"))
            asked = _ASKED.get(name, _ASKED[""])
            if client.service_is_ready():
                waiting[name] = (asked, client.call_async(GetParameters.Request(names=list(asked))))
        self._await([future for _, future in waiting.values()])
        found: dict[str, dict[str, object]] = {}
        for name, (asked, future) in waiting.items():
            if future.done() and future.result() is not None:
                values = [parameter_value_to_python(value) for value in future.result().values]
                found[self._full(name)] = {k: v for k, v in zip(asked, values) if v is not None}
        return found

    def _lifecycle(self) -> dict[str, str]:
        try:
            from lifecycle_msgs.srv import GetState
        except ImportError:
            return {}
        waiting = {}
        for name in _LIFECYCLE:
            client = self._node.create_client(GetState, self._full(f"{name}/get_state"))
            if client.service_is_ready():
                waiting[name] = client.call_async(GetState.Request())
        self._await(list(waiting.values()))
        return {
            name: future.result().current_state.label if future.done() and future.result() else "silent"
            for name, future in waiting.items()
        }

    def _await(self, futures: list[Any]) -> None:
        end = time.monotonic() + _PATIENCE
        while time.monotonic() < end and not all(future.done() for future in futures):
            with spinning():
                self._executor.spin_once(timeout_sec=0.05)

    def _weights(self, parameters: dict[str, dict[str, object]]) -> dict[str, tuple[str, bytes | None]]:
        values = parameters.get(self._full("perception"), {})
        path = str(values.get("model", ""))
        if values.get("adapter") not in ("onnx", "ultralytics") or not path:
            return {}
        return {"perception": (path, head_of(path))}


def _layout(info: Any) -> str:
    """Return the hash of an endpoint's type; "" where the distribution or the middleware has none."""
    text = str(getattr(info, "topic_type_hash", ""))
    return text if text.startswith("RIHS01_") and text.strip("RIHS01_") else ""

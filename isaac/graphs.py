"""The OmniGraph graphs of the ROS 2 bridge, as data built from the contract; imports nothing of Isaac Sim."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from contract import Contract, Topic

STATE_GRAPH, SENSOR_GRAPH = "/Lodestar/StateGraph", "/Lodestar/SensorGraph"
_ROS, _CORE = "isaacsim.ros2.bridge.", "isaacsim.core.nodes."
_TICK = "omni.graph.action.OnPlaybackTick"


class Target(str):
    """Path of a prim, for inputs of the type `target`."""


@dataclass(frozen=True)
class GraphSpec:
    """Arguments of `og.Controller.edit`: nodes (name, type), values (attribute, value), connections (from, to)."""

    path: str
    nodes: tuple[tuple[str, str], ...]
    values: tuple[tuple[str, Any], ...]
    connections: tuple[tuple[str, str], ...]


class _Builder:
    def __init__(self, path: str) -> None:
        self._path = path
        self._nodes: list[tuple[str, str]] = []
        self._values: list[tuple[str, Any]] = []
        self._connections: list[tuple[str, str]] = []

    def node(self, name: str, kind: str, **values: Any) -> None:
        self._nodes.append((name, kind))
        self._values += [(f"{name}.inputs:{key}", value) for key, value in values.items()]

    def publisher(self, name: str, kind: str, topic: Topic, **values: Any) -> None:
        self.node(name, _ROS + kind, topicName=topic.name, qosProfile=topic.qos.bridge_text(), **values)

    def connect(self, source: str, *targets: str) -> None:
        """Connect "node.output" to each "node.input"."""
        node, output = source.split(".")
        for target in targets:
            other, put = target.split(".")
            self._connections.append((f"{node}.outputs:{output}", f"{other}.inputs:{put}"))

    def spec(self) -> GraphSpec:
        return GraphSpec(self._path, tuple(self._nodes), tuple(self._values), tuple(self._connections))


def state_graph(contract: Contract, base_prim: str) -> GraphSpec:
    """Return the graph of /clock, odom and TF. base_prim: path of the robot's base, a rigid body."""
    topics, (parent, child) = contract.topics, contract.moving
    graph = _Builder(STATE_GRAPH)
    graph.node("tick", _TICK)
    graph.node("time", _CORE + "IsaacReadSimulationTime", resetOnStop=False)
    graph.node("odometry", _CORE + "IsaacComputeOdometry", chassisPrim=Target(base_prim))
    graph.publisher("clock", "ROS2PublishClock", topics["/clock"])
    graph.publisher("odom", "ROS2PublishOdometry", topics["odom"], odomFrameId=parent, chassisFrameId=child)
    graph.publisher(
        "tf", "ROS2PublishRawTransformTree", topics["/tf"], parentFrameId=parent, childFrameId=child
    )
    statics = []
    for index, place in enumerate(contract.static):
        statics.append(f"static{index}")
        graph.publisher(
            statics[-1],
            "ROS2PublishRawTransformTree",
            topics["/tf_static"],
            parentFrameId=place.parent,
            childFrameId=place.child,
            translation=place.translation,
            rotation=place.rotation,
            staticPublisher=True,
        )
    graph.connect("tick.tick", "clock.execIn", "odometry.execIn", *(f"{name}.execIn" for name in statics))
    graph.connect("odometry.execOut", "odom.execIn", "tf.execIn")
    graph.connect("time.simulationTime", *(f"{name}.timeStamp" for name in ("clock", "odom", "tf", *statics)))
    graph.connect("odometry.position", "odom.position", "tf.translation")
    graph.connect("odometry.orientation", "odom.orientation", "tf.rotation")
    graph.connect("odometry.linearVelocity", "odom.linearVelocity")
    graph.connect("odometry.angularVelocity", "odom.angularVelocity")
    return graph.spec()


def sensor_graph(contract: Contract, camera_prim: str, lidar_product: str) -> GraphSpec:
    """Return the graph of camera and LiDAR.

    camera_prim: path of the camera. lidar_product: path of the LiDAR's render product. The rates are those of the prims
    (`omni:sensor:tickRate`).
    """
    topics, size = contract.topics, contract.camera
    graph = _Builder(SENSOR_GRAPH)
    graph.node("tick", _TICK)
    graph.node(
        "product",
        _CORE + "IsaacCreateRenderProduct",
        cameraPrim=Target(camera_prim),
        width=int(size["width"]),
        height=int(size["height"]),
    )
    info, cloud = topics["camera/color/camera_info"], topics["points"]
    graph.publisher("info", "ROS2CameraInfoHelper", info, frameId=info.frame)
    images = {
        "color": "rgb",
        "depth": "depth",
        "semantic_segmentation": "semantic_segmentation",
        "instance_segmentation": "instance_segmentation",
    }
    for name, kind in images.items():
        topic = topics[f"camera/{name}/image_raw"]
        labels = topics.get(f"camera/{name}/labels")
        table = {"enableSemanticLabels": True, "semanticLabelsTopicName": labels.name} if labels else {}
        graph.publisher(name, "ROS2CameraHelper", topic, frameId=topic.frame, type=kind, **table)
    graph.publisher(
        "lidar",
        "ROS2RtxLidarHelper",
        cloud,
        frameId=cloud.frame,
        type="point_cloud",
        renderProductPath=lidar_product,
    )
    graph.connect("tick.tick", "product.execIn", "lidar.execIn")
    helpers = ("info", *images)
    graph.connect("product.execOut", *(f"{name}.execIn" for name in helpers))
    graph.connect("product.renderProductPath", *(f"{name}.renderProductPath" for name in helpers))
    return graph.spec()

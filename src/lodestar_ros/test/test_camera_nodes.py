"""Tests of the nodes with image input, on a camera with distortion and compressed images."""

from __future__ import annotations

import json
import struct

import cv2
import numpy as np
import pytest
from waiting import wait_for

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from geometry_msgs.msg import TransformStamped
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.parameter import Parameter
from sensor_msgs.msg import CameraInfo, CompressedImage, Image
from std_msgs.msg import String
from tf2_msgs.msg import TFMessage

from lodestar_interfaces.msg import Instance, InstanceArray, Keyframe, Look
from lodestar_ros import qos
from lodestar_ros.conversions import stamp_from_msg, stamp_to_msg
from lodestar_ros.conversions_sensors import image_to_msg
from lodestar_ros.nodes.keyframes_node import KeyframesNode
from lodestar_ros.nodes.perception_node import PerceptionNode
from lodestar_ros.nodes.semantic_voxels_node import SemanticVoxelsNode

pytestmark = [pytest.mark.ros]

FOCAL, DISTANCE, SIDE = 190.0, 2.0, 0.5  # pixels; m, distance and side of a square in front of the camera
CENTRE = np.array([0.8, 0.5, DISTANCE])  # m, centre of the square in the camera frame
D = [-0.35, 0.05, 0.0, 0.0, 0.0]


def square() -> np.ndarray:
    """Return the mask (240, 320) bool of the square in the distorted image, by OpenCV's projection."""
    steps = np.linspace(-SIDE / 2, SIDE / 2, 120)
    x, y = np.meshgrid(steps, steps)
    points = np.column_stack([x.ravel(), y.ravel(), np.zeros(x.size)]) + CENTRE
    k = np.array([[FOCAL, 0.0, 160.0], [0.0, FOCAL, 120.0], [0.0, 0.0, 1.0]])
    pixels = np.rint(cv2.projectPoints(points, np.zeros(3), np.zeros(3), k, np.array(D))[0][:, 0]).astype(int)
    mask = np.zeros((240, 320), bool)
    mask[pixels[:, 1], pixels[:, 0]] = True
    return mask


class Camera:
    """Fake camera driver that publishes compressed images, and a simulator's labels."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._mask = square()
        publish = node.create_publisher
        self._info = publish(CameraInfo, "camera_info", qos.RELIABLE)
        self._depth = publish(CompressedImage, "/cam/depth/image_raw/compressedDepth", qos.RELIABLE)
        self._color = publish(CompressedImage, "/cam/color/image_raw/compressed", qos.RELIABLE)
        self._labels = publish(Image, "labels", qos.RELIABLE)
        self._table = publish(String, "label_table", qos.EVENT)
        self._static = publish(TFMessage, "/tf_static", qos.TF_STATIC)
        self._static.publish(TFMessage(transforms=[_fixed("map", "odom"), _fixed("odom", "camera")]))

    def turn(self, shown: float = 1.0) -> float:
        """Publish one frame, and return its stamp. shown: share of the depth image's rows that are valid."""
        now = self._node.get_clock().now().nanoseconds * 1e-9
        stamp = stamp_to_msg(now)
        depth = np.where(self._mask, DISTANCE * 1000.0, 4000.0).astype(np.uint16)
        color = np.where(self._mask[..., None], (0, 0, 200), (90, 90, 90)).astype(np.uint8)
        depth[round(240 * shown) :] = 0
        info = CameraInfo(width=320, height=240, distortion_model="plumb_bob", d=D)
        info.k = [FOCAL, 0.0, 160.0, 0.0, FOCAL, 120.0, 0.0, 0.0, 1.0]
        data = struct.pack("<iff", 0, 0.0, 0.0) + cv2.imencode(".png", depth)[1].tobytes()
        far = CompressedImage(format="16UC1; compressedDepth png", data=data)
        near = CompressedImage(
            format="rgb8; png compressed bgr8", data=cv2.imencode(".png", color)[1].tobytes()
        )
        labels = image_to_msg(np.where(self._mask, 5, 0).astype(np.uint16), "mono16")
        for message in (info, far, near, labels):
            message.header.stamp, message.header.frame_id = stamp, "camera"
        table = {"5": {"class": "chair"}, "time_stamp": {"sec": stamp.sec, "nanosec": stamp.nanosec}}
        self._info.publish(info)
        self._table.publish(String(data=json.dumps(table)))
        self._labels.publish(labels)
        self._depth.publish(far)
        self._color.publish(near)
        return stamp_from_msg(stamp)


def _fixed(parent: str, child: str) -> TransformStamped:
    transform = TransformStamped(child_frame_id=child)
    transform.header.frame_id = parent
    transform.transform.rotation.w = 1.0
    return transform


def test_a_thing_is_mapped_where_it_stands_and_kept_as_an_image() -> None:
    context = Context()
    context.init()
    parameters = [
        Parameter("shared.transport.depth", value="compressedDepth"),
        Parameter("shared.transport.color", value="compressed"),
    ]
    truth = [
        *parameters, Parameter("adapter", value="ground_truth"),
        Parameter("shared.appearance.by", value="histogram"),
    ]  # fmt: skip
    remaps = [
        "--ros-args", "-r", "depth:=/cam/depth/image_raw", "-r", "image:=/cam/color/image_raw",
        "-r", "segmented:=perception/segmented", "-r", "instances:=semantic_voxels/instances",
    ]  # fmt: skip
    nodes = [
        PerceptionNode(context=context, parameter_overrides=truth, cli_args=remaps),
        SemanticVoxelsNode(context=context, parameter_overrides=parameters, cli_args=remaps),
        KeyframesNode(context=context, parameter_overrides=parameters, cli_args=remaps),
    ]
    driver = Node("driver", context=context)
    camera, found, kept, views = Camera(driver), [], [], []
    driver.create_subscription(InstanceArray, "semantic_voxels/instances", found.append, qos.EVENT)
    driver.create_subscription(Keyframe, "keyframes/keyframes", kept.append, qos.EVENT)
    driver.create_subscription(Look, "semantic_voxels/looks", views.append, qos.EVENT)
    executor = SingleThreadedExecutor(context=context)
    for node in (*nodes, driver):
        executor.add_node(node)
    driver.create_timer(0.5, camera.turn)

    def chairs() -> list[Instance]:
        return [
            one for message in found for one in message.updated if "chair" in {v.caption for v in one.votes}
        ]

    def told() -> str:
        drops = {
            node.get_name(): {n: (m.received, dict(m.drops)) for n, m in node.diagnostics._inputs.items()}
            for node in nodes
        }
        return f"a chair and an image; {len(found)} messages, {len(kept)} images, {drops}"

    wait_for(lambda: executor.spin_once(timeout_sec=0.1) or (chairs() and kept and views), told, every=0.0)
    for shown in (0.0, 0.02):  # none enters the map, and too little
        covered = camera.turn(shown)
        views.clear()
        wait_for(lambda: executor.spin_once(timeout_sec=0.1) or len(views) > 1, told, every=0.0)
        assert covered not in {stamp_from_msg(view.header.stamp) for view in views}
    for node in nodes:
        node.close()
    context.shutdown()
    looks = {o.feature_model for message in found for o in message.observations if o.label == "chair"}
    assert looks == {"histogram-1"} and all(m.features.width for m in found if m.observations)
    mapped = [message.header.stamp for message in found]
    assert all(view.header.stamp in mapped and view.camera.k[0] > FOCAL / 2 for view in views)
    centre = chairs()[-1].centroid
    assert abs(centre.x - CENTRE[0]) < 0.03 and abs(centre.y - CENTRE[1]) < 0.03, (
        "not removed it is 0.06 m off"
    )


def test_measured_errors_know_from_where_a_thing_is_seen() -> None:
    context = Context()
    context.init()
    given = {
        "adapter": "ground_truth",
        "noise.measured": "nanodet",
        "shared.transport.depth": "compressedDepth",
    }
    node = PerceptionNode(
        context=context,
        parameter_overrides=[Parameter(name, value=value) for name, value in given.items()],
        cli_args=["--ros-args", "-r", "depth:=/cam/depth/image_raw"],
    )
    views, segment = [], node._truth.segment
    node._truth.segment = lambda *items: views.append(items[3]) or segment(*items)
    driver = Node("driver", context=context)
    camera = Camera(driver)
    executor = SingleThreadedExecutor(context=context)
    for one in (node, driver):
        executor.add_node(one)
    driver.create_timer(0.2, camera.turn)
    wait_for(
        lambda: executor.spin_once(timeout_sec=0.1) or views, lambda: str(node.diagnostics._inputs), every=0.0
    )
    node.close()
    context.shutdown()
    assert views[0].odom_from_camera == pytest.approx(np.eye(4))
    assert set(np.unique(views[0].depth)) >= {DISTANCE, 4.0}

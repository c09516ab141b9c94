"""Publishes a recording as a robot's camera would, and receives the map's instances."""

from __future__ import annotations

import math
import threading
from collections import Counter

import numpy as np
from geometry_msgs.msg import TransformStamped
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import CameraInfo, Image
from tf2_msgs.msg import TFMessage

from lodestar.geometry.poses import planar_transform
from lodestar.perception.frames import RgbdFrame
from lodestar_eval.live.side_node import SideNode
from lodestar_interfaces.msg import InstanceArray
from lodestar_ros import qos
from lodestar_ros.conversions import header, stamp_from_msg, stamp_to_msg, transform_to_msg
from lodestar_ros.conversions_sensors import camera_to_msg, image_to_msg

BASE, OPTICAL = "base_link", "camera_optical_frame"


class Player:
    """Publishes a recording on the simulator's camera topics; one thread spins from construction to `close`."""

    def __init__(self, domain_id: int) -> None:
        self._side = SideNode("lodestar_player", domain_id)
        node = self.node = self._side.node
        self._clock = node.create_publisher(Clock, "/clock", qos.SENSOR)
        self._tf = node.create_publisher(TFMessage, "/tf", qos.TF)
        self._info = node.create_publisher(CameraInfo, "camera/color/camera_info", qos.SENSOR)
        self._depth = node.create_publisher(Image, "camera/depth/image_raw", qos.SENSOR)
        self._color = node.create_publisher(Image, "camera/color/image_raw", qos.SENSOR)
        self.fused: set[float] = set()  # stamps of the fused frames
        self.confirmed: dict[int, str] = {}  # best caption by instance id
        self.gaps = 0  # number of deltas that were preceded by a gap
        self._revision: int | None = None
        self._news = threading.Condition()
        node.create_subscription(InstanceArray, "semantic_voxels/instances", self._on_instances, qos.EVENT)
        self._side.start()

    @property
    def ready(self) -> bool:
        """Return whether depth and colour have subscribers."""
        return self._depth.get_subscription_count() >= 2 and self._color.get_subscription_count() >= 1

    def show(self, frame: RgbdFrame, stamp: float) -> None:
        """Publish pose, clock and camera info, then the frame, all with one stamp."""
        odom_from_base = base_of_camera(frame.odom_from_camera)
        base_from_camera = np.linalg.inv(odom_from_base) @ frame.odom_from_camera
        poses: list[tuple[str, str, np.ndarray]] = [
            ("map", "odom", frame.map_from_odom),
            ("odom", BASE, odom_from_base),
            (BASE, OPTICAL, base_from_camera),
        ]
        self._tf.publish(TFMessage(transforms=[_stamped(*pose, stamp) for pose in poses]))
        self._clock.publish(Clock(clock=stamp_to_msg(stamp)))
        self._info.publish(camera_to_msg(frame.camera, stamp, OPTICAL))
        millimetres = np.clip(np.nan_to_num(frame.depth) * 1000.0 + 0.5, 0, 65535)
        self._depth.publish(image_to_msg(millimetres, "16UC1", stamp, OPTICAL))
        rgb = frame.rgb if frame.rgb is not None else np.zeros((*frame.depth.shape, 3), np.uint8)
        self._color.publish(image_to_msg(rgb, "rgb8", stamp, OPTICAL))

    def wait_for(self, stamp: float, timeout: float) -> bool:
        """Return whether the frame of this stamp was fused within `timeout` seconds."""
        with self._news:
            return self._news.wait_for(lambda: any(abs(stamp - one) < 1e-3 for one in self.fused), timeout)

    def close(self) -> None:
        """Stop publishing and receiving."""
        self._side.close()

    def _on_instances(self, message: InstanceArray) -> None:
        with self._news:
            if self._revision is not None and message.previous_revision != self._revision:
                self.gaps += 1
            self._revision = message.revision
            self.fused.add(stamp_from_msg(message.header.stamp))
            for one in message.updated:
                if one.confirmed:
                    votes = Counter({vote.caption: vote.weight for vote in one.votes})
                    self.confirmed[one.id] = votes.most_common(1)[0][0] if votes else ""
            for gone in [*(merge.loser for merge in message.merges), *message.removed]:
                self.confirmed.pop(gone, None)
            self._news.notify_all()


def base_of_camera(odom_from_camera: np.ndarray) -> np.ndarray:
    """Return a robot pose (4, 4) in odom for a camera pose: same position, upright, heading along the optical axis.

    A camera recording has no robot, but the memory stores nothing without a robot pose.
    """
    x, y, z = odom_from_camera[:3, 3]
    along = odom_from_camera[:2, 2]  # the optical axis, projected on the floor
    return planar_transform(x, y, math.atan2(along[1], along[0]) if np.any(along) else 0.0, z=z)


def _stamped(parent: str, child: str, matrix: np.ndarray, stamp: float) -> TransformStamped:
    return TransformStamped(
        header=header(stamp, parent), child_frame_id=child, transform=transform_to_msg(matrix)
    )

"""Cloud and camera: heard only while somebody wants them."""

from __future__ import annotations

import struct
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import cv2
from rclpy.qos import QoSProfile
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import CompressedImage, Image, PointCloud2

from lodestar_console import protocol
from lodestar_console.board.board import Board
from lodestar_console.intake import convert
from lodestar_console.intake.robot_state import RobotState
from lodestar_console.intake.worker import KeyedWorker
from lodestar_console.web.stack_port import Wishes
from lodestar_interfaces import msg
from lodestar_ros import qos
from lodestar_ros.conversions import stamp_from_msg
from lodestar_ros.image_codecs import color_array
from lodestar_ros.node import LodestarNode

PERIOD = 0.25  # s between two looks at what is wanted
MOST_WIDTH = 640  # pixels of an image; a larger one is made smaller
QUALITY = 70  # of the JPEG
KEPT = 6  # images that wait for their detections
ALONE_AFTER = 1.0  # s without detections after which an image is shown without them
PITCH = 0.05  # m of a voxel where the node does not tell


def stamp_of(raw: bytes) -> tuple[int, int]:
    """Return the stamp of a serialised message that begins with a header, little-endian."""
    return struct.unpack_from("<iI", raw, 4)  # type: ignore[return-value]


class Views:
    """Shows ``cloud`` and ``camera`` while they are wanted. Subscribes then: ``cloud``, ``image``, ``segmented``."""

    def __init__(
        self, node: LodestarNode, board: Board, worker: KeyedWorker, robot: RobotState, pitch: float = PITCH
    ) -> None:
        self._node, self._board, self._worker, self._robot, self._pitch = node, board, worker, robot, pitch
        self.wishes = Wishes()  # replaced by any thread
        self._subscriptions: dict[str, Any] = {}
        self._images: OrderedDict[tuple[int, int], bytes] = OrderedDict()
        self._shot_at = self._seen_at = 0.0
        self._form = node.shared.transport.of("image")
        node.steady_timer(PERIOD, self._follow_wishes)

    def _follow_wishes(self) -> None:
        wishes = self.wishes
        image = CompressedImage if self._form else Image
        source = f"{self._node.resolve_topic_name('image')}/{self._form}" if self._form else "image"
        self._hear("cloud", wishes.cloud, PointCloud2, "cloud", self._on_cloud, qos.LATCHED)
        self._hear("image", wishes.camera > 0.0, image, source, self._on_image, qos.SENSOR, raw=True)
        self._hear(
            "segmented",
            wishes.camera > 0.0,
            msg.SegmentedImage,
            "segmented",
            self._on_segmented,
            qos.RELIABLE,
            raw=True,
        )
        if not wishes.camera:
            self._images.clear()

    def _hear(
        self, name: str, wanted: bool, kind: Any, topic: str, take: Callable[[Any], None], profile: QoSProfile,
        *, raw: bool = False,
    ) -> None:  # fmt: skip
        there = self._subscriptions.get(name)
        if wanted and there is None:
            self._subscriptions[name] = self._node.create_subscription(kind, topic, take, profile, raw=raw)
        elif not wanted and there is not None:
            self._node.destroy_subscription(self._subscriptions.pop(name))

    # --- the cloud ------------------------------------------------------------------------------------

    def _on_cloud(self, message: PointCloud2) -> None:
        self._worker.submit(lambda: self._take_cloud(message), "cloud")

    def _take_cloud(self, message: PointCloud2) -> None:
        points, colors, instances = convert.cloud(message)
        stamp = stamp_from_msg(message.header.stamp)
        if self._board.cloud.show(points, colors, instances, self._pitch, stamp):
            self._board.changed()

    # --- the camera -----------------------------------------------------------------------------------

    def _on_image(self, raw: bytes) -> None:
        self._images[stamp_of(raw)] = bytes(raw)
        while len(self._images) > KEPT:
            self._images.popitem(last=False)
        now = time.monotonic()
        if now - self._seen_at > ALONE_AFTER and self._is_due(now):
            self._submit(bytes(raw), b"")

    def _on_segmented(self, raw: bytes) -> None:
        now = self._seen_at = time.monotonic()
        image = self._images.get(stamp_of(raw))
        if image is not None and self._is_due(now):
            self._submit(image, bytes(raw))

    def _is_due(self, now: float) -> bool:
        period = 1.0 / max(self.wishes.camera, 0.2)
        if now - self._shot_at < period - 0.02:
            return False
        self._shot_at = now
        return True

    def _submit(self, image: bytes, segmented: bytes) -> None:
        pose = self._robot.pose
        self._worker.submit(lambda: self._shoot(image, segmented, pose), "camera")

    def _shoot(self, raw: bytes, segmented: bytes, pose: tuple[float, float, float] | None) -> None:
        message = deserialize_message(raw, CompressedImage if self._form else Image)
        array = color_array(message)
        height, width = array.shape[:2]
        scale = min(1.0, MOST_WIDTH / width)
        if scale < 1.0:
            array = cv2.resize(
                array, (round(width * scale), round(height * scale)), interpolation=cv2.INTER_AREA
            )
        ok, data = cv2.imencode(
            ".jpg", cv2.cvtColor(array, cv2.COLOR_RGB2BGR), [cv2.IMWRITE_JPEG_QUALITY, QUALITY]
        )
        found = convert.detections(deserialize_message(segmented, msg.SegmentedImage)) if segmented else []
        if scale < 1.0:
            found = [_scaled(one, scale) for one in found]
        if not ok:
            return
        head = protocol.CameraHead(
            width=array.shape[1],
            height=array.shape[0],
            stamp=stamp_from_msg(message.header.stamp),
            detections=found,
            pose=pose,
        )
        self._board.camera.show(head, data.tobytes())
        self._board.changed()


def _scaled(one: protocol.DetectedOutline, scale: float) -> protocol.DetectedOutline:
    outline = [(round(u * scale, 1), round(v * scale, 1)) for u, v in one.outline]
    return protocol.DetectedOutline(label=one.label, score=one.score, outline=outline, entity=one.entity)

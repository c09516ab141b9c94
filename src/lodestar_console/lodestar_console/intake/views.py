"""Cloud, camera image and looks (floor cells seen by the camera): subscribed only while a page shows them."""

from __future__ import annotations

import struct
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import cv2
import msgspec
from nav_msgs.msg import OccupancyGrid
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

PERIOD = 0.25  # s between two checks of the wanted streams
MOST_WIDTH = 640  # pixels; wider images are scaled down
QUALITY = 70  # JPEG quality
KEPT = 6  # images waiting for their detections, and detections waiting for their instances
ALONE_AFTER = 1.0  # s without detections or instances after which images are shown without them
PITCH = 0.05  # m, default voxel size


Stamp = tuple[int, int]  # seconds, nanoseconds


def stamp_of(raw: bytes) -> Stamp:
    """Return the stamp of a serialised little-endian message that begins with a header."""
    return struct.unpack_from("<iI", raw, 4)  # type: ignore[return-value]


class Views:
    """Show cloud, looks (floor cells seen by the camera) and camera image while a page wants them.

    Subscribes meanwhile: ``cloud``, ``looked_at``, ``image``, ``segmented``, ``instances``.
    """

    def __init__(
        self, node: LodestarNode, board: Board, worker: KeyedWorker, robot: RobotState, pitch: float = PITCH
    ) -> None:
        self._node, self._board, self._worker, self._robot, self._pitch = node, board, worker, robot, pitch
        self.wishes = Wishes()  # replaced as a whole, by any thread
        self._subscriptions: dict[str, Any] = {}
        self._images: OrderedDict[Stamp, bytes] = OrderedDict()
        self._found: OrderedDict[Stamp, tuple[bytes, bytes]] = OrderedDict()  # image and detections, by stamp
        self._shot_at = self._seen_at = self._named_at = 0.0
        self._form = node.shared.transport.of("image")
        node.steady_timer(PERIOD, self._follow_wishes)

    def _follow_wishes(self) -> None:
        wishes = self.wishes
        image = CompressedImage if self._form else Image
        source = f"{self._node.resolve_topic_name('image')}/{self._form}" if self._form else "image"
        self._hear("cloud", wishes.cloud, PointCloud2, "cloud", self._on_cloud, qos.LATCHED)
        self._hear("looked_at", wishes.looks, OccupancyGrid, "looked_at", self._on_looks, qos.LATCHED)
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
        seen = wishes.camera > 0.0
        self._hear("instances", seen, msg.InstanceArray, "instances", self._on_instances, qos.EVENT, raw=True)
        if not seen:
            self._images.clear()
            self._found.clear()

    def _hear(
        self, name: str, wanted: bool, kind: Any, topic: str, take: Callable[[Any], None], profile: QoSProfile,
        *, raw: bool = False,
    ) -> None:  # fmt: skip
        there = self._subscriptions.get(name)
        if wanted and there is None:
            self._subscriptions[name] = self._node.create_subscription(
                kind, topic, take, profile, raw=raw, event_callbacks=qos.NO_EVENTS
            )
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

    def _on_looks(self, message: OccupancyGrid) -> None:
        self._worker.submit(lambda: self._take_looks(message), "looks")

    def _take_looks(self, message: OccupancyGrid) -> None:
        cells, place = convert.looks(message), convert.origin_of(message.info)
        stamp = stamp_from_msg(message.header.stamp)
        if self._board.looks.show(cells, round(message.info.resolution, 6), place, stamp):
            self._board.set("looks", protocol.Looks(revision=self._board.looks.revision))

    # --- the camera -----------------------------------------------------------------------------------

    def _on_image(self, raw: bytes) -> None:
        self._images[stamp_of(raw)] = bytes(raw)
        while len(self._images) > KEPT:
            self._images.popitem(last=False)
        now = time.monotonic()
        if now - self._seen_at > ALONE_AFTER and self._is_due(now):
            self._submit(bytes(raw))

    def _on_segmented(self, raw: bytes) -> None:
        now = self._seen_at = time.monotonic()
        stamp = stamp_of(raw)
        image = self._images.get(stamp)
        if image is None:
            return
        self._found[stamp] = image, bytes(raw)
        while len(self._found) > KEPT:
            self._found.popitem(last=False)
        if now - self._named_at > ALONE_AFTER and self._is_due(now):
            self._submit(*self._found.pop(stamp))

    def _on_instances(self, raw: bytes) -> None:
        """Show the image in which these instances were observed, with its detections."""
        now = self._named_at = time.monotonic()
        found = self._found.pop(stamp_of(raw), None)
        if found is not None and self._is_due(now):
            self._submit(*found, bytes(raw))

    def _is_due(self, now: float) -> bool:
        period = 1.0 / max(self.wishes.camera, 0.2)
        if now - self._shot_at < period - 0.02:
            return False
        self._shot_at = now
        return True

    def _submit(self, image: bytes, segmented: bytes = b"", instances: bytes = b"") -> None:
        pose = self._robot.pose
        self._worker.submit(lambda: self._shoot(image, segmented, instances, pose), "camera")

    def _shoot(
        self, raw: bytes, segmented: bytes, instances: bytes, pose: tuple[float, float, float] | None
    ) -> None:
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
        known = deserialize_message(instances, msg.InstanceArray) if instances else None
        found = (
            convert.detections(deserialize_message(segmented, msg.SegmentedImage), known) if segmented else []
        )
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
    return msgspec.structs.replace(one, outline=outline)

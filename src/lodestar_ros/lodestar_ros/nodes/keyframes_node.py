"""ROS shell around `KeyframeStore`: selects images, stores them and serves them by id."""

from __future__ import annotations

from collections import deque
from typing import TypeAlias

import numpy as np
from sensor_msgs.msg import CompressedImage, Image

from lodestar.assembly.config import KeyframesConfig
from lodestar.keyframes.image_picker import ImagePicker
from lodestar.keyframes.records import Keyframe
from lodestar.perception.frames import ImageBox, RgbdFrame
from lodestar.storage.checkpoint import CheckpointConfig
from lodestar.timing.stamps import SAME_MOMENT
from lodestar_interfaces import msg
from lodestar_ros import qos
from lodestar_ros.conversions import BadMessage, box_from_msg, stamp_from_msg
from lodestar_ros.conversions_scene import keyframe_to_msg
from lodestar_ros.executors import main_of
from lodestar_ros.keyframe_desk import KeyframeDesk
from lodestar_ros.keyframe_files import KeyframeFiles
from lodestar_ros.node import FrameNames, LodestarNode
from lodestar_ros.parameters import declare_config, declare_part
from lodestar_ros.pose_graph_input import PoseGraphInput
from lodestar_ros.rgbd import CameraPoses
from lodestar_ros.sync import PoseQueue
from lodestar_ros.workers import LatestWorker, QueueWorker

AnyImage: TypeAlias = "Image | CompressedImage"


class KeyframesNode(LodestarNode):
    """Stores an image when the camera sees something new, with the instances in it.

    Subscribes: ``image``, ``camera_info``, ``instances``, ``wanted_keyframes``, ``frontiers``, TF. Publishes:
    ``~/keyframes`` (again when instances are linked), ``~/stored``. Serves: ``~/get``, ``~/list``, ``~/erase``.
    Actions: ``~/save``, ``~/load``.
    """

    def __init__(self, **kwargs):
        super().__init__("keyframes", **kwargs)
        PoseGraphInput(self)
        config = declare_part(self, KeyframesConfig)
        frames = declare_config(self, FrameNames, "frames.")
        files = KeyframeFiles(self, config, declare_config(self, CheckpointConfig, "checkpoint."))
        self._store = files.store
        self._picker: ImagePicker[AnyImage] = self.timed(ImagePicker(config.offer))
        self._recent: deque[tuple[float, dict[int, ImageBox]]] = deque(maxlen=20)
        self._publisher = self.create_publisher(msg.Keyframe, "~/keyframes", qos.EVENT)
        self._offers: LatestWorker = LatestWorker("offer", self._offer, self._on_error)
        self._links: QueueWorker = QueueWorker("link", self._link, self._on_error)
        self.on_close(self._offers.close)
        self.on_close(self._links.close)
        self._monitor = self.diagnostics.input("image")
        self._queue: PoseQueue = self.timed(
            PoseQueue(self._resolve, self._offers.submit, lambda error: self._monitor.drop("no_transform"))
        )
        self._poses = CameraPoses(self, self.transforms(self._queue.retry).buffer, frames)
        self.listen(Image, "image", self._on_image, qos.SENSOR, stamped=True)
        self.listen(msg.InstanceArray, "instances", self._on_instances, qos.EVENT, stamped=True)
        KeyframeDesk(self, self._store)
        self.diagnostics.value("kept", lambda: len(self._store))
        self.diagnostics.value("offer.latency_s", lambda: self._offers.latency)

    def _on_image(self, message: AnyImage) -> None:
        self._consider(self._picker.image(stamp_from_msg(message.header.stamp), message))

    def _consider(self, image: AnyImage | None) -> None:
        if image is not None:
            self._queue.add(image)

    def _on_instances(self, message: msg.InstanceArray) -> None:
        stamp = stamp_from_msg(message.header.stamp)
        boxes = {item.instance_id: box_from_msg(item.image_box) for item in message.observations}
        self._recent.append((stamp, boxes))
        if boxes:
            self._links.submit((stamp, boxes))
        self._consider(self._picker.told(stamp))

    def _resolve(self, message: AnyImage) -> tuple[AnyImage, tuple[np.ndarray, np.ndarray]]:
        stamp = stamp_from_msg(message.header.stamp)
        return message, self._poses.poses(message.header.frame_id, stamp)

    def _offer(self, item: tuple[AnyImage, tuple[np.ndarray, np.ndarray]]) -> None:
        """Decode an image and offer it to the store; publish it if it was stored. Runs on the image worker."""
        message, (odom_from_camera, map_from_odom) = item
        rgb = self._poses.images.color(message)
        camera = self._poses.camera(rgb.shape[0], rgb.shape[1], "image")
        stamp = stamp_from_msg(message.header.stamp)
        none = np.zeros((0, 0), np.float32)  # no depth: the store needs colour and pose only
        frame = RgbdFrame(stamp, camera, none, odom_from_camera, map_from_odom, rgb)
        shown = next(
            (boxes for known, boxes in list(self._recent) if abs(known - stamp) <= SAME_MOMENT), None
        )
        keyframe = self._store.offer(frame, shown)
        if keyframe is not None:
            self._publish(keyframe)
            for known in list(self._recent):  # instances may arrive before their image is stored
                if known[1] and abs(known[0] - stamp) <= SAME_MOMENT:
                    self._links.submit(known)

    def _link(self, item: tuple[float, dict[int, ImageBox]]) -> None:
        """Add instances to their stored image and publish it again. Runs on the link worker."""
        keyframe = self._store.link(*item)
        if keyframe is not None:
            self._publish(keyframe)

    def _publish(self, keyframe: Keyframe) -> None:
        self._publisher.publish(keyframe_to_msg(keyframe))

    def _on_error(self, error: Exception) -> None:
        if isinstance(error, BadMessage):
            self._monitor.drop("malformed")
            self.get_logger().warning(f"image: {error}", throttle_duration_sec=5.0)
        else:
            self.diagnostics.error(error)


main = main_of(KeyframesNode)

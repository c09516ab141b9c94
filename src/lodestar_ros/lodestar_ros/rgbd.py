"""Posed RGB-D frames from images, camera info and transforms."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from sensor_msgs.msg import CompressedImage, Image

from lodestar.geometry.camera import PinholeCamera
from lodestar.perception.frames import RgbdFrame
from lodestar.timing.stamps import SAME_MOMENT
from lodestar_interfaces import msg
from lodestar_ros import qos
from lodestar_ros.camera_input import CameraInput
from lodestar_ros.conversions import BadMessage, stamp_from_msg
from lodestar_ros.conversions_scene import segmented_from_msg
from lodestar_ros.frame_tree import TransformUnavailable
from lodestar_ros.node import FrameNames, LodestarNode
from lodestar_ros.sync import Companions, PoseQueue, StampPairer
from lodestar_ros.transforms import TransformBuffer

#: Seconds for which the newest map <- odom is valid: SLAM corrects it in steps, at its own rate.
MAP_HOLDS = 1.0
WAITING = 20  # depth images that wait for their segments: 1.3 s at 15 Hz, for a slow detector; chosen


class CameraPoses:
    """Looks up poses of the camera in odom and in map, and its intrinsics."""

    def __init__(self, node: LodestarNode, buffer: TransformBuffer, frames: FrameNames) -> None:
        self._buffer = buffer
        self._frames = frames
        self.images = CameraInput(node)

    def camera(self, height: int, width: int, name: str = "depth") -> PinholeCamera:
        """Return the intrinsics of an input's rectified images of this size.

        Raises BadMessage before the first camera info, or for a size that does not match the camera.
        """
        return self.images.pinhole(height, width, name)

    def poses(self, optical_frame: str, stamp: float) -> tuple[np.ndarray, np.ndarray]:
        """Return odom_from_camera and map_from_odom at the stamp, (4, 4) each. Raises TransformUnavailable."""
        frames = self._frames
        odom_from_camera = self._buffer.lookup(frames.odom, optical_frame, stamp)
        return odom_from_camera, self._buffer.lookup(frames.map, frames.odom, stamp, MAP_HOLDS)

    def frame(self, depth: Image | CompressedImage, rgb: np.ndarray | None = None) -> RgbdFrame:
        """Return the posed frame of a depth image. Raises BadMessage and TransformUnavailable."""
        stamp = stamp_from_msg(depth.header.stamp)
        odom_from_camera, map_from_odom = self.poses(depth.header.frame_id, stamp)
        metres, camera = self.images.depth(depth)
        return RgbdFrame(stamp, camera, metres, odom_from_camera, map_from_odom, rgb)


class RecentColors:
    """The newest colour images by stamp, decoded on demand. Subscribes: ``image``."""

    def __init__(self, node: LodestarNode, images: CameraInput, capacity: int = 8) -> None:
        self._images, self._monitor = images, node.diagnostics.input("image")
        self._kept: deque[tuple[float, Image | CompressedImage]] = deque(maxlen=capacity)
        node.on_clock_restart(self._kept.clear)
        node.listen(Image, "image", self._on_image, qos.SENSOR, stamped=True)

    def _on_image(self, message: Image | CompressedImage) -> None:
        self._kept.append((stamp_from_msg(message.header.stamp), message))

    def at(self, stamp: float) -> np.ndarray | None:
        """Return (H, W, 3) uint8 of the image with this stamp, within `SAME_MOMENT`; None if there is none."""
        near = min(tuple(self._kept), key=lambda kept: abs(kept[0] - stamp), default=None)
        if near is None or abs(near[0] - stamp) > SAME_MOMENT:
            return None
        try:
            return self._images.color(near[1])
        except BadMessage:
            self._monitor.drop("malformed")
            return None


class SegmentedRgbd:
    """Delivers pairs (RgbdFrame, SegmentedFrame) with the same stamp, on the executor.

    Converting a message costs a copy of its image. Subscribes: ``depth``, ``camera_info``, ``segmented``, TF.
    on_depth is called with every posed depth frame, paired or not.
    """

    def __init__(
        self,
        node: LodestarNode,
        frames: FrameNames,
        on_pair: Callable[[RgbdFrame, Any], None],
        on_depth: Callable[[RgbdFrame], None] | None = None,
    ) -> None:
        self._node = node
        self._on_pair, self._on_depth = on_pair, on_depth
        self._queue: PoseQueue = node.timed(PoseQueue(self._resolve, self._deliver, self._on_drop))
        listener = node.transforms(self._queue.retry)
        self._poses = CameraPoses(node, listener.buffer, frames)
        self.images = self._poses.images
        self._pairer = node.timed(StampPairer(("depth", "segmented"), self._on_moment, capacity=WAITING))
        self._monitor = node.diagnostics.input("depth")
        node.listen(Image, "depth", self._on_depth_image, qos.SENSOR, stamped=True)
        node.listen(msg.SegmentedImage, "segmented", self._on_segmented, qos.RELIABLE, stamped=True)
        for name, counts in (("depth", self._pairer.unmatched), ("segmented", self._pairer.unmatched)):
            node.diagnostics.value(f"{name}.unmatched", partial(counts.__getitem__, name))

    def _on_depth_image(self, message: Image | CompressedImage) -> None:
        self._queue.add(message)

    def _on_segmented(self, message: msg.SegmentedImage) -> None:
        self._pairer.add("segmented", stamp_from_msg(message.header.stamp), message)

    def _resolve(self, message: Image | CompressedImage) -> RgbdFrame | None:
        try:
            return self._poses.frame(message)
        except BadMessage as error:
            self._monitor.drop("malformed")
            self._node.get_logger().warning(f"depth: {error}", throttle_duration_sec=5.0)
            return None

    def _deliver(self, frame: RgbdFrame | None) -> None:
        if frame is None:
            return
        if self._on_depth is not None:
            self._on_depth(frame)
        self._pairer.add("depth", frame.stamp, frame)

    def _on_drop(self, error: TransformUnavailable) -> None:
        self._monitor.drop("no_transform")
        self._node.get_logger().warning(f"depth: {error}", throttle_duration_sec=5.0)

    def _on_moment(self, stamp: float, parts: dict[str, Any]) -> None:
        frame: RgbdFrame = parts["depth"]
        try:
            segmented = segmented_from_msg(parts["segmented"])
        except BadMessage as error:
            self._node.diagnostics.input("segmented").drop("malformed")
            self._node.get_logger().warning(f"segmented: {error}", throttle_duration_sec=5.0)
            return
        self._on_pair(frame, replace(segmented, stamp=frame.stamp))


class ColorBeside:
    """Passes on posed depth frames, with the colour image of their stamp if it arrives in time; no frame is lost.

    Subscribes: ``image``.
    """

    def __init__(self, node: LodestarNode, images: CameraInput, deliver: Callable[[RgbdFrame], None]) -> None:
        self._node, self._images = node, images
        self._monitor = node.diagnostics.input("image")
        self._hand_on = deliver
        self._frames: Companions[RgbdFrame] = node.timed(Companions(self._color, time.monotonic))
        node.listen(Image, "image", self._on_image, qos.SENSOR, stamped=True)
        node.steady_timer(0.1, self._frames.expire)
        node.diagnostics.value("geometry.colored", lambda: self._frames.joined)
        node.diagnostics.value("geometry.without_color", lambda: self._frames.alone)

    def add(self, frame: RgbdFrame) -> None:
        """Pass on a frame, now or after a short wait for its colour image."""
        self._frames.add(frame.stamp, frame)

    def _on_image(self, message: Image | CompressedImage) -> None:
        self._frames.add_companion(stamp_from_msg(message.header.stamp), message)

    def _color(self, frame: RgbdFrame, message: Image | CompressedImage | None) -> None:
        if message is not None:
            try:
                rgb = self._images.color(message)
                if rgb.shape[:2] == frame.depth.shape:
                    frame = replace(frame, rgb=rgb)
                else:
                    self._monitor.drop("other_size")
            except BadMessage as error:
                self._monitor.drop("malformed")
                self._node.get_logger().warning(f"image: {error}", throttle_duration_sec=5.0)
        self._hand_on(frame)

"""ROS shell around `read_signs`: receives posed colour and depth, publishes the texts of signs."""

from __future__ import annotations

import time

from sensor_msgs.msg import CompressedImage, Image

from lodestar.assembly import parts
from lodestar.perception.config import SignConfig
from lodestar.perception.frames import RgbdFrame
from lodestar.perception.signs import SignWatch, read_signs
from lodestar_interfaces import msg
from lodestar_ros import qos
from lodestar_ros.conversions import BadMessage
from lodestar_ros.conversions_scene import reading_to_msg
from lodestar_ros.executors import main_of
from lodestar_ros.frame_tree import TransformUnavailable
from lodestar_ros.node import FrameNames, LodestarNode
from lodestar_ros.parameters import declare_config, declare_part
from lodestar_ros.rgbd import CameraPoses, ColorBeside
from lodestar_ros.sync import PoseQueue
from lodestar_ros.workers import LatestWorker


class SignReaderNode(LodestarNode):
    """Reads signs in the newest image that is due; older waiting images are dropped and counted.

    Subscribes: ``image``, ``depth``, ``camera_info``, TF. Publishes: ``~/signs``.
    """

    def __init__(self, **kwargs):
        super().__init__("sign_reader", **kwargs)
        self._config = declare_part(self, SignConfig)
        self._reader = parts.sign_reader(self._config)
        self._watch = self.timed(SignWatch())
        self._publisher = self.create_publisher(msg.SignReading, "~/signs", qos.EVENT)
        if self._reader is None:
            self.diagnostics.status("no signs are read: reader is none")
            return
        self._worker: LatestWorker[RgbdFrame] = LatestWorker("read", self._read, self.diagnostics.error)
        self.on_close(self._worker.close)
        self.diagnostics.value("read.dropped", lambda: self._worker.dropped)
        self.diagnostics.value("read.latency_s", lambda: self._worker.latency)
        self._monitor = self.diagnostics.input("depth")
        self._queue: PoseQueue = self.timed(PoseQueue(self._resolve, self._deliver, self._on_drop))
        frames = declare_config(self, FrameNames, "frames.")
        self._poses = CameraPoses(self, self.transforms(self._queue.retry).buffer, frames)
        self._colors = ColorBeside(self, self._poses.images, self._worker.submit)
        self.listen(Image, "depth", self._queue.add, qos.SENSOR, stamped=True)

    def _resolve(self, message: Image | CompressedImage) -> RgbdFrame | None:
        try:
            return self._poses.frame(message)
        except BadMessage as error:
            self._monitor.drop("malformed")
            self.get_logger().warning(f"depth: {error}", throttle_duration_sec=5.0)
            return None

    def _deliver(self, frame: RgbdFrame | None) -> None:
        if frame is not None and self._watch.wants(frame.stamp, frame.odom_from_camera):
            self._colors.add(frame)

    def _on_drop(self, error: TransformUnavailable) -> None:
        self._monitor.drop("no_transform")
        self.get_logger().warning(f"depth: {error}", throttle_duration_sec=5.0)

    def _read(self, frame: RgbdFrame) -> None:
        """Read the signs in a frame and publish them. Runs on the worker."""
        assert self._reader is not None
        start = time.monotonic()
        reading = read_signs(frame, self._reader)
        if reading.sights:
            self._publisher.publish(reading_to_msg(reading))
        self.diagnostics.status(f"{len(reading.sights)} lines read in {time.monotonic() - start:.3f} s")


main = main_of(SignReaderNode)

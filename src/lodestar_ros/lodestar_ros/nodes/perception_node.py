"""ROS shell around the detectors: receives images, publishes segmented images."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sensor_msgs.msg import CompressedImage, Image

from lodestar.assembly import parts
from lodestar.assembly.config import PerceptionConfig
from lodestar.perception.frames import DetectorUnavailable, Labeller, RgbdFrame, SegmentedFrame, is_dark
from lodestar.perception.painting import paint_segments
from lodestar_interfaces import msg
from lodestar_ros import qos
from lodestar_ros.camera_input import CameraInput
from lodestar_ros.color_input import ColorInput, ColorMessages
from lodestar_ros.conversions import BadMessage, stamp_from_msg
from lodestar_ros.conversions_scene import segmented_to_msg
from lodestar_ros.conversions_sensors import image_to_msg
from lodestar_ros.executors import main_of
from lodestar_ros.frame_tree import TransformUnavailable
from lodestar_ros.label_input import LabelInput
from lodestar_ros.lookout_server import LookoutServer
from lodestar_ros.node import FrameNames, LodestarNode
from lodestar_ros.parameters import ParameterError, declare_config, declare_part
from lodestar_ros.sync import PoseQueue, StampPairer
from lodestar_ros.workers import LatestWorker


class PerceptionNode(LodestarNode):
    """Segments the newest image; older waiting images are dropped and counted.

    Subscribes: ``labels`` and ``label_table`` (ground_truth; with ``depth`` or ``label_instances`` if
    `components.by` says so, with ``image`` if `appearance.by` does, and with ``depth`` and TF for measured noise),
    ``image`` and, for masks of boxes, ``depth`` (onnx, ultralytics), or both (geometric); ``camera_info``.
    Publishes: ``~/segmented``; ``~/annotated`` (the segments in colour, if it has subscribers); see `LookoutServer`.
    """

    def __init__(self, **kwargs):
        super().__init__("perception", **kwargs)
        config = declare_part(self, PerceptionConfig)
        self._publisher = self.create_publisher(msg.SegmentedImage, "~/segmented", qos.RELIABLE)
        self._painted = self.create_publisher(Image, "~/annotated", qos.SENSOR)
        self._worker: LatestWorker = LatestWorker("detect", self._detect, self._on_error)
        self.on_close(self._worker.close)
        self.diagnostics.value("detect.dropped", lambda: self._worker.dropped)
        self.diagnostics.value("detect.latency_s", lambda: self._worker.latency)
        self._images = CameraInput(self)
        try:
            self._describer = parts.appearance_describer(config)
        except DetectorUnavailable as error:
            raise ParameterError(f"appearance: {error}") from error
        self.diagnostics.value("appearance.dropped", lambda: getattr(self._describer, "dropped", 0))
        self._detector: Labeller
        self._input = {"ground_truth": "labels", "geometric": "depth"}.get(config.adapter, "image")
        if config.adapter == "ground_truth":
            self._detector = self._truth = parts.ground_truth_detector(config)
            posed = bool(config.noise.measured)  # its errors depend on the place of the camera
            submit = self._posed() if posed else self._worker.submit
            self._labels = LabelInput(
                self, config.components, submit, self._images, self._describer is not None, posed
            )
        elif config.adapter == "geometric":
            self._detector = self._geometric = parts.geometric_segmenter(config)
            self._pairer = self.timed(StampPairer(("depth", "image"), self._on_rgbd))
            for name in ("depth", "image"):
                self.listen(Image, name, partial(self._on_image, name), qos.SENSOR, stamped=True)
            self.diagnostics.value("depth.unmatched", lambda: self._pairer.unmatched["depth"])
        else:
            try:
                self._detector = self._rgb = parts.color_detector(config)
            except DetectorUnavailable as error:
                raise ParameterError(f"adapter {config.adapter}: {error}") from error
            except ValueError as error:
                raise ParameterError(f"words.file: {error}") from error
            with_depth = self._rgb.masker is not None
            self._colors = ColorInput(self, self._images, with_depth, self._worker.submit)
            self.diagnostics.value("detect.odd_boxes", lambda: self._rgb.odd_boxes)
        LookoutServer(self, config, self._detector)

    def _posed(self) -> Callable[[dict[str, Any]], None]:
        """Return a function that passes label images on, with the pose of their camera in odom, once it is known."""
        monitor, odom = self.diagnostics.input("labels"), declare_config(self, FrameNames, "frames.").odom

        def resolve(parts: dict[str, Any]) -> dict[str, Any]:
            header = parts["labels"].header
            return {**parts, "pose": buffer.lookup(odom, header.frame_id, stamp_from_msg(header.stamp))}

        def on_drop(error: TransformUnavailable) -> None:
            monitor.drop("no_transform")
            self.get_logger().warning(f"labels: {error}", throttle_duration_sec=5.0)

        queue: PoseQueue = self.timed(PoseQueue(resolve, self._worker.submit, on_drop))
        buffer = self.transforms(queue.retry).buffer
        return queue.add

    def _on_image(self, name: str, message: Image | CompressedImage) -> None:
        self._pairer.add(name, stamp_from_msg(message.header.stamp), message)

    def _on_rgbd(self, _stamp: float, parts: dict[str, Any]) -> None:
        if self._images.is_known:
            self._worker.submit((parts["depth"], parts["image"]))

    def _detect(self, item: Any) -> None:
        """Segment one input and publish the result. Runs on the worker."""
        start = time.monotonic()
        colors, missing = None, ""
        if isinstance(item, ColorMessages):
            image, odd = item.image, self._rgb.odd_boxes
            colors, depth, missing = self._colors.decode(item)
            if is_dark(colors):  # nothing is published: an image that shows nothing says nothing of absence
                self.diagnostics.status("the image is dark: uncover the camera, or light the room", ok=False)
                return
            frame = self._rgb.detect(stamp_from_msg(image.header.stamp), colors, depth)
            if self._rgb.odd_boxes > odd:
                missing += f"; {self._rgb.odd_boxes - odd} boxes with impossible values were dropped"
        elif isinstance(item, tuple):
            image, rgb = item
            metres, camera = self._images.depth(image)
            colors = self._images.color(rgb)
            frame = self._geometric.segment(stamp_from_msg(image.header.stamp), metres, camera, colors)
        else:
            image = item["labels"]
            labels, table = self._labels.objects(item)
            colors = self._images.color(item["image"]) if "image" in item else None
            stamp, view = stamp_from_msg(image.header.stamp), None
            if "pose" in item:
                metres, camera = self._images.depth(item["depth"])
                if metres.shape != labels.shape:
                    raise BadMessage(
                        f"depth is {metres.shape} and labels are {labels.shape} pixels; give them one size"
                    )
                view = RgbdFrame(stamp, camera, metres, item["pose"])
            frame = self._truth.segment(stamp, labels, table, view)
        if self._describer is not None and colors is not None:
            try:
                frame = self._describer.describe(colors, frame)
            except DetectorUnavailable as error:  # segments without appearance features are better than none
                missing += f"; appearance: {error}"
        self._publish(frame, image.header.frame_id, colors)
        told = f"{len(frame.detections)} segments in {time.monotonic() - start:.3f} s"
        self.diagnostics.status(told + missing, ok=not missing)

    def _publish(self, frame: SegmentedFrame, optical_frame: str, colors: np.ndarray | None) -> None:
        self._publisher.publish(segmented_to_msg(frame, optical_frame))
        if self._painted.get_subscription_count():
            picture = paint_segments(frame, colors)
            self._painted.publish(image_to_msg(picture, "rgb8", frame.stamp, optical_frame))

    def _on_error(self, error: Exception) -> None:
        if isinstance(error, BadMessage):
            self.diagnostics.input(self._input).drop("malformed")
        self.diagnostics.error(error)


main = main_of(PerceptionNode)

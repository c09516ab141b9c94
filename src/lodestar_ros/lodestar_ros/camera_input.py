"""The camera of a node: decodes and rectifies its images once, where they enter the node."""

from __future__ import annotations

from typing import Any

import numpy as np
from sensor_msgs.msg import CameraInfo

from lodestar.geometry.camera import PinholeCamera
from lodestar.geometry.camera_model import CameraModel, ImageMismatch, Rectification, rectification
from lodestar_ros import qos
from lodestar_ros.conversions import BadMessage
from lodestar_ros.conversions_sensors import depth_from_msg, image_from_msg, model_from_msg, rgb_from_msg
from lodestar_ros.image_codecs import assumption
from lodestar_ros.node import LodestarNode


def is_rectified(topic: str) -> bool:
    """Return whether the images of a topic are already rectified, by the names of image_proc ("image_rect...").

    The transport's suffix is ignored.
    """
    return "rect" in topic.rstrip("/").split("/")[-1] or (
        topic.endswith(("/compressed", "/compressedDepth")) and "rect" in topic.split("/")[-2]
    )


class RectifiedImages:
    """Converts images to rectified arrays and returns their pinhole camera, by the newest camera info.

    Needs no node.
    """

    def __init__(self) -> None:
        self._model: CameraModel | None = None

    @property
    def is_known(self) -> bool:
        """Return whether a camera info was received."""
        return self._model is not None

    def take_info(self, message: Any) -> None:
        """Store the newest camera info. Raises BadMessage."""
        self._model = model_from_msg(message)

    def pinhole(self, height: int, width: int, rectified: bool = False) -> PinholeCamera:
        """Return the camera of rectified images of this size. Raises BadMessage, also before the first camera info.

        rectified: whether the driver's images are already rectified.
        """
        return self._how(height, width, rectified).camera

    def depth(self, message: Any, rectified: bool = False) -> tuple[np.ndarray, PinholeCamera]:
        """Return (H, W) float32, metres, 0 = invalid, and its camera. Raises BadMessage."""
        metres = depth_from_msg(message)
        how = self._rectification(metres, rectified)
        return how.values(metres), how.camera

    def color(self, message: Any, rectified: bool = False) -> np.ndarray:
        """Return (H, W, 3) uint8 RGB; not rectified before the first camera info. Raises BadMessage."""
        rgb = rgb_from_msg(message)
        return self._rectification(rgb, rectified).color(rgb) if self._distorts else rgb

    def values(self, message: Any, rectified: bool = False, *, depth: bool = False) -> np.ndarray:
        """Return (H, W) labels of the message's dtype, or depth in metres; not rectified before the first camera info.

        Raises BadMessage.
        """
        values = depth_from_msg(message) if depth else image_from_msg(message)
        return self._rectification(values, rectified).values(values) if self._distorts else values

    @property
    def _distorts(self) -> bool:
        return self._model is not None and self._model.is_distorted

    def _rectification(self, image: np.ndarray, rectified: bool) -> Rectification:
        return self._how(image.shape[0], image.shape[1], rectified)

    def _how(self, height: int, width: int, rectified: bool) -> Rectification:
        if self._model is None:
            raise BadMessage("no camera_info received yet")
        try:
            return rectification(self._model, width, height, rectified)
        except ImageMismatch as error:
            raise BadMessage(str(error)) from error


class CameraInput:
    """Decodes and rectifies the images of a node by `RectifiedImages`. Subscribes: ``camera_info``."""

    def __init__(self, node: LodestarNode) -> None:
        self._node, self._images = node, RectifiedImages()
        self._warned: set[str] = set()
        node.listen(CameraInfo, "camera_info", self._images.take_info, qos.SENSOR)

    @property
    def is_known(self) -> bool:
        """Return whether a camera info was received."""
        return self._images.is_known

    def pinhole(self, height: int, width: int, name: str = "depth") -> PinholeCamera:
        """Return the camera of images of this size on the input `name`. Raises BadMessage, also before the
        first camera info.
        """
        return self._images.pinhole(height, width, self._rectified(name))

    def depth(self, message: Any) -> tuple[np.ndarray, PinholeCamera]:
        """Return (H, W) float32, metres, 0 = invalid, and its camera. Raises BadMessage."""
        return self._images.depth(message, self._rectified("depth"))

    def color(self, message: Any) -> np.ndarray:
        """Return (H, W, 3) uint8 RGB. Raises BadMessage."""
        said = assumption(message)
        if said and said not in self._warned:
            self._warned.add(said)
            self._node.get_logger().warning(f"{self._node.resolve_topic_name('image')}: {said}")
        return self._images.color(message, self._rectified("image"))

    def values(self, message: Any, name: str) -> np.ndarray:
        """Return (H, W) labels of the message's dtype, or metres for the input ``depth``. Raises BadMessage."""
        return self._images.values(message, self._rectified(name), depth=name == "depth")

    def _rectified(self, name: str) -> bool:
        return is_rectified(self._node.resolve_topic_name(name))

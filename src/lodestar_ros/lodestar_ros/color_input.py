"""Colour images for a detector, each with the depth image of the same stamp if it arrives."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sensor_msgs.msg import CompressedImage, Image

from lodestar.perception.frames import AlignedDepth
from lodestar_ros import qos
from lodestar_ros.camera_input import CameraInput
from lodestar_ros.conversions import BadMessage, stamp_from_msg
from lodestar_ros.node import LodestarNode
from lodestar_ros.sync import Companions


class ColorMessages(NamedTuple):
    """A colour image message and its depth message, None = it did not arrive."""

    image: Image | CompressedImage
    depth: Image | CompressedImage | None


class ColorInput:
    """Passes on every colour image, together with its depth image if that arrives in time.

    Subscribes: ``image``, and ``depth`` where it is wanted. Diagnostics: ``boxes.without_depth``, images
    without depth.
    """

    def __init__(
        self,
        node: LodestarNode,
        images: CameraInput,
        with_depth: bool,
        submit: Callable[[ColorMessages], None],
    ) -> None:
        self._node, self._images, self._with_depth = node, images, with_depth
        self._frames: Companions[Any] = node.timed(
            Companions(lambda image, depth: submit(ColorMessages(image, depth)), time.monotonic)
        )
        node.listen(Image, "image", self._on_image, qos.SENSOR, stamped=True)
        if with_depth:
            node.listen(Image, "depth", self._on_depth, qos.SENSOR, stamped=True)
            node.steady_timer(0.1, self._frames.expire)
            node.diagnostics.value("boxes.without_depth", lambda: self._frames.alone)

    def _on_image(self, message: Image | CompressedImage) -> None:
        self._frames.add(stamp_from_msg(message.header.stamp), message)

    def _on_depth(self, message: Image | CompressedImage) -> None:
        self._frames.add_companion(stamp_from_msg(message.header.stamp), message)

    def decode(self, messages: ColorMessages) -> tuple[np.ndarray, AlignedDepth | None, str]:
        """Return the image (H, W, 3) uint8, its depth, and a text for the status that says why depth is missing.

        The text is "" where there is depth, or none is wanted. Raises BadMessage for the image only.
        """
        colors = self._images.color(messages.image)
        if not self._with_depth:
            return colors, None, ""
        if messages.depth is None:
            return colors, None, "; no depth came with the image: boxes serve as masks"
        try:
            metres, camera = self._images.depth(messages.depth)
        except BadMessage as error:
            self._node.diagnostics.input("depth").drop("malformed")
            return colors, None, f"; depth: {error}: boxes serve as masks"
        if metres.shape != colors.shape[:2]:
            self._node.diagnostics.input("depth").drop("other_size")
            told = (
                f"; depth is {metres.shape}, the image {colors.shape[:2]}: align them; boxes serve as masks"
            )
            return colors, None, told
        return colors, AlignedDepth(metres, camera), ""

"""Label images with their table, and with depth or instance images that separate the objects of one class."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sensor_msgs.msg import Image
from std_msgs.msg import String

from lodestar.perception.components import split_by_depth, split_by_instances
from lodestar.perception.config import ComponentsConfig
from lodestar_ros import qos
from lodestar_ros.camera_input import CameraInput
from lodestar_ros.conversions import BadMessage, stamp_from_msg
from lodestar_ros.conversions_sensors import depth_from_msg, image_from_msg
from lodestar_ros.labels import Table, parse_table
from lodestar_ros.node import LodestarNode
from lodestar_ros.sync import StampPairer

# splitting method -> topic of the second image
_BESIDE = {"none": "", "depth": "depth", "instances": "label_instances"}


class LabelInput:
    """Collects the label image, the label table, and further images of one stamp, and passes them on together.

    Where `config.by` splits a class into objects, the depth image or the image of instances is one of them.
    images: rectifier of the images; None = they are used unchanged. colored, deep: wait for the colour image, the
    depth image too.
    submit: called with a dict of "labels", "table" and, as above, "depth" or "label_instances", and "image".
    """

    def __init__(
        self,
        node: LodestarNode,
        config: ComponentsConfig,
        submit: Callable[[dict[str, Any]], None],
        images: CameraInput | None = None,
        colored: bool = False,
        deep: bool = False,
    ) -> None:
        self._config, self._beside = config, _BESIDE[config.by]
        self._images = images
        beside = (self._beside, "depth" if deep else "", "image" if colored else "")
        topics = tuple(dict.fromkeys(("labels", *filter(None, beside))))
        self._pairer = node.timed(StampPairer((*topics, "table"), lambda _stamp, parts: submit(parts)))
        for name in topics:
            node.listen(Image, name, partial(self._on_image, name), qos.SENSOR, stamped=True)
            node.diagnostics.value(f"{name}.unmatched", partial(self._pairer.unmatched.get, name))
        node.listen(String, "label_table", self._on_table, qos.EVENT)

    def _on_image(self, name: str, message: Image) -> None:
        self._pairer.add(name, stamp_from_msg(message.header.stamp), message)

    def _on_table(self, message: String) -> None:
        stamp, table = parse_table(message.data)
        self._pairer.add("table", stamp, table)

    def objects(self, parts: dict[str, Any]) -> tuple[np.ndarray, Table]:
        """Return labels (H, W) uint16, one value per object, 0 = none, and their table. Raises BadMessage."""
        labels, table = self._values(parts, "labels"), parts["table"]
        try:
            if self._config.by == "depth":
                return split_by_depth(labels, table, self._values(parts, "depth"), self._config)
            if self._config.by == "instances":
                instances = self._values(parts, "label_instances")
                return split_by_instances(labels, table, instances, self._config)
        except ValueError as error:
            raise BadMessage(str(error)) from error
        if labels.dtype != np.uint16:
            labels = np.clip(labels, 0, 65535).astype(np.uint16)
        return labels, table

    def _values(self, parts: dict[str, Any], name: str) -> np.ndarray:
        """Return (H, W) of one of the collected images, rectified if `images` was given. Raises BadMessage."""
        if self._images is not None:
            return self._images.values(parts[name], name)
        return depth_from_msg(parts[name]) if name == "depth" else image_from_msg(parts[name])

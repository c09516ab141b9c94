"""Publisher of the simulated camera with the topics and formats of Isaac Sim's ROS 2 bridge (isaac/contract.yaml)."""

from __future__ import annotations

import json

import numpy as np
from rclpy.node import Node
from sensor_msgs.msg import CameraInfo, Image
from std_msgs.msg import String

from lodestar_ros import qos
from lodestar_ros.conversions import stamp_to_msg
from lodestar_ros.conversions_sensors import camera_to_msg, image_to_msg
from lodestar_sim.nodes.publishers import OPTICAL
from lodestar_sim.simulator import Simulator

_NAMES = ("BACKGROUND", "UNLABELLED")  # Isaac Sim's own classes 0 and 1


class IsaacCameraPublisher:
    """Publish colour, depth in metres, semantic labels with the table of classes, and instance labels."""

    def __init__(self, node: Node, width: int, height: int):
        self._size = (width or None, height or None)
        self._images = {
            name: node.create_publisher(Image, f"camera/{name}/image_raw", profile)
            for name, profile in (
                ("color", qos.SENSOR),
                ("depth", qos.SENSOR),
                ("semantic_segmentation", qos.EVENT),  # same QoS as its table: the bridge has one for both
                ("instance_segmentation", qos.SENSOR),
            )
        }
        self._info = node.create_publisher(CameraInfo, "camera/color/camera_info", qos.SENSOR)
        self._table = node.create_publisher(String, "camera/semantic_segmentation/labels", qos.EVENT)

    def publish(self, sim: Simulator) -> bool:
        """Render and publish the current frame; return False without subscribers."""
        wanted = {name: p.get_subscription_count() > 0 for name, p in self._images.items()}
        self._info.publish(camera_to_msg(sim.config.sensors.camera.pinhole(*self._size), sim.stamp, OPTICAL))
        if not (any(wanted.values()) or self._table.get_subscription_count()):
            return False
        frame = sim.render(wanted["color"], *self._size)
        classes, table = class_labels(frame.labels, frame.label_table)
        time = stamp_to_msg(frame.stamp)
        table["time_stamp"] = {"sec": time.sec, "nanosec": time.nanosec}
        self._table.publish(String(data=json.dumps(table)))
        arrays = {
            "color": ("rgb8", frame.rgb),
            "depth": ("32FC1", frame.depth),
            "semantic_segmentation": ("32SC1", classes),
            "instance_segmentation": ("32SC1", frame.labels),
        }
        for name, (encoding, array) in arrays.items():
            if wanted[name] and array is not None:
                self._images[name].publish(image_to_msg(array, encoding, frame.stamp, OPTICAL))
        return True


def class_labels(labels: np.ndarray, table: dict[int, dict[str, str]]) -> tuple[np.ndarray, dict[str, dict]]:
    """Return each pixel's class value, (H, W) int32, and Isaac Sim's table of classes, value -> {"class"}.

    labels: (H, W) uint16, one value per object, 0 = none. table: value -> {"class", "caption"}.
    """
    names = [*_NAMES, *sorted({entry["class"] for entry in table.values()})]
    lookup = np.zeros(int(labels.max(initial=0)) + 1, np.int32)
    lookup[1:] = 1  # UNLABELLED, unless the table has a name
    for value, entry in table.items():
        if value < len(lookup):
            lookup[value] = names.index(entry["class"])
    return lookup[labels], {str(value): {"class": name} for value, name in enumerate(names)}

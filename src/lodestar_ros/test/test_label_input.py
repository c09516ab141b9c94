"""Tests of label images with their tables, depth and instances."""

from __future__ import annotations

import json
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from std_msgs.msg import String

from lodestar.perception.config import ComponentsConfig
from lodestar_ros.conversions import BadMessage
from lodestar_ros.conversions_sensors import image_to_msg
from lodestar_ros.label_input import LabelInput


class Ear:
    """Fake node for `LabelInput` that stores callbacks by topic."""

    def __init__(self) -> None:
        self.callbacks: dict[str, object] = {}
        self.diagnostics = SimpleNamespace(value=lambda name, read: None)

    def timed(self, holder):
        return holder

    def listen(self, kind, topic, callback, profile, **options) -> None:
        self.callbacks[topic] = callback


def chairs():
    """Return a label image (20, 60) with two touching chairs, its instance image, and its depth."""
    labels, depth = np.zeros((20, 60), np.int32), np.full((20, 60), 5.0, np.float32)
    labels[:, 10:50] = 70_000  # exceeds 16 bits
    depth[:, 10:30], depth[:, 30:50] = 2.0, 3.0
    return labels, np.where(depth == 2.0, 1, 2).astype(np.int32), depth


def told(by: str, second: tuple[str, np.ndarray, str] | None):
    node, got = Ear(), []
    heard = LabelInput(node, ComponentsConfig(by=by), got.append)
    table = {"70000": {"class": "chair"}, "time_stamp": {"sec": 3, "nanosec": 0}}
    node.callbacks["labels"](image_to_msg(chairs()[0], "32SC1", 3.0))
    if second:
        topic, array, encoding = second
        assert set(node.callbacks) == {"labels", "label_table", topic}
        node.callbacks[topic](image_to_msg(array, encoding, 3.0))
    node.callbacks["label_table"](String(data=json.dumps(table)))
    assert len(got) == 1, "the moment is complete"
    return heard.objects(got[0])


@pytest.mark.parametrize(
    ("by", "topic", "encoding"), [("depth", "depth", "32FC1"), ("instances", "label_instances", "32SC1")]
)
def test_two_chairs_of_one_value_are_two(by: str, topic: str, encoding: str) -> None:
    _, instances, depth = chairs()
    image, table = told(by, (topic, depth if by == "depth" else instances, encoding))
    assert [entry["class"] for entry in table.values()] == ["chair", "chair"]
    assert sorted((image == value).sum() for value in table) == [400, 400]


def test_without_a_split_a_value_is_one_thing() -> None:
    image, table = told("none", None)
    assert len(table) == 1 and image.dtype == np.uint16


def test_images_of_two_sizes_are_a_bad_message() -> None:
    with pytest.raises(BadMessage, match="same resolution"):
        told("depth", ("depth", np.ones((10, 30), np.float32), "32FC1"))

"""Tests of the perception node with an ONNX network: boxes get masks if depth is available, and no image is lost."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from waiting import PATIENCE, wait_for

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.parameter import Parameter
from sensor_msgs.msg import CameraInfo, Image

from lodestar.perception.frames import DetectorUnavailable, SegmentedFrame
from lodestar_interfaces.msg import SegmentedImage
from lodestar_ros import qos
from lodestar_ros.conversions import stamp_from_msg, stamp_to_msg
from lodestar_ros.conversions_sensors import image_to_msg
from lodestar_ros.nodes.perception_node import PerceptionNode
from lodestar_ros.parameters import ParameterError

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "lodestar" / "test" / "perception"))
from onnx_networks import names, write_network, yolo_output

pytestmark = [pytest.mark.ros]

THING = np.zeros((240, 320), bool)
THING[90:150, 130:190] = True


class Bed:
    """A fake camera, a perception node, and a subscription to its output."""

    def __init__(self, path: Path) -> None:
        context = Context()
        context.init()
        given = [Parameter("adapter", value="onnx"), Parameter("model", value=str(path))]
        self.node = PerceptionNode(context=context, parameter_overrides=given)
        self._driver = Node("driver", context=context)
        self._info = self._driver.create_publisher(CameraInfo, "camera_info", qos.RELIABLE)
        self._color = self._driver.create_publisher(Image, "image", qos.RELIABLE)
        self._depth = self._driver.create_publisher(Image, "depth", qos.RELIABLE)
        self.found: list[SegmentedImage] = []
        self._driver.create_subscription(
            SegmentedImage, "perception/segmented", self.found.append, qos.RELIABLE
        )
        self._executor = SingleThreadedExecutor(context=context)
        for node in (self.node, self._driver):
            self._executor.add_node(node)
        self._context = context

    def show(self, depth: np.ndarray | None, grey: int = 90) -> float:
        """Publish one moment; return its stamp. depth: (H, W) float32, metres, None = none. grey: of the image."""
        stamp = stamp_to_msg(self._driver.get_clock().now().nanoseconds * 1e-9)
        info = CameraInfo(width=320, height=240, distortion_model="plumb_bob", d=[0.0] * 5)
        info.k = [260.0, 0.0, 160.0, 0.0, 260.0, 120.0, 0.0, 0.0, 1.0]
        color = image_to_msg(np.full((240, 320, 3), grey, np.uint8), "rgb8")
        messages = [(self._info, info), (self._color, color)]
        if depth is not None:
            messages.append((self._depth, image_to_msg((depth * 1000).astype(np.uint16), "16UC1")))
        for publisher, message in messages:
            message.header.stamp, message.header.frame_id = stamp, "camera"
            publisher.publish(message)
        return stamp_from_msg(stamp)

    def until(self, done: Callable[[SegmentedImage], bool], depth: np.ndarray | None) -> SegmentedImage:
        """Publish frames until an output meets a condition; return it."""
        self.found.clear()

        def fitting() -> SegmentedImage | None:
            self.show(depth)
            self.spin()
            return next((message for message in self.found if done(message)), None)

        return wait_for(fitting, lambda: str([[d.pixel_count for d in m.detections] for m in self.found]))

    def spin(self) -> None:
        """Have the nodes hear what was shown."""
        for _ in range(6):
            self._executor.spin_once(timeout_sec=0.05)

    def close(self) -> None:
        self._executor.shutdown()
        self.node.close()
        self._context.try_shutdown()


@pytest.fixture
def bed(tmp_path: Path) -> Iterator[Bed]:
    # A box of 80 x 80 pixels around an object of 60 x 60, for a network input of 64 x 64: scale 0.2, 8 rows of padding.
    output = yolo_output([(24, 24, 40, 40, 0, 0.9), (np.nan, 0, 1, 1, 0, 0.9)], 1)
    made = Bed(write_network(tmp_path / "n.onnx", [output], metadata=names(1)))
    yield made
    made.close()


def test_depth_makes_masks_of_boxes_and_its_absence_loses_nothing(bed: Bed) -> None:
    depth = np.where(THING, 2.0, 4.0).astype(np.float32)
    alone = bed.until(lambda message: bool(message.detections), None)
    assert alone.detections[0].pixel_count == pytest.approx(80 * 80, rel=0.05)
    masked = bed.until(lambda message: message.detections[0].pixel_count < 5000, depth)
    assert masked.detections[0].pixel_count == pytest.approx(60 * 60, rel=0.15)
    again = bed.until(
        lambda message: message.detections[0].pixel_count > 6000, depth[::2, ::2]
    )  # depth is not aligned
    assert again.detections[0].label == "thing 0"
    assert bed.node._rgb.odd_boxes > 0 and bed.node._rgb.masker is not None


def test_a_dark_image_says_nothing_of_what_is_there(bed: Bed, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    bed.until(lambda message: bool(message.detections), None)
    monkeypatch.setattr(bed.node.diagnostics, "status", lambda text, ok=True: told.append((text, ok)))
    dark = []
    wait_for(lambda: dark.append(bed.show(None, 5)) or bed.spin() or told, "a status about darkness")
    assert all("uncover the camera" in text and not ok for text, ok in told)
    bed.until(lambda message: stamp_from_msg(message.header.stamp) > dark[-1], None)
    assert not {stamp_from_msg(message.header.stamp) for message in bed.found} & set(dark)


def test_a_missing_network_ends_the_node_with_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="make detector"):
        Bed(tmp_path / "nanodet.onnx")


def test_an_encoder_that_fails_takes_only_the_features_with_it(
    bed: Bed, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Broken:
        def describe(self, rgb: np.ndarray, frame: object) -> object:
            raise DetectorUnavailable("the encoder has no memory left")

    told: list[str] = []
    monkeypatch.setattr(bed.node, "_describer", Broken())
    monkeypatch.setattr(bed.node.diagnostics, "status", lambda text, ok=True: told.append(text))
    found = bed.until(lambda message: bool(message.detections), None)
    assert found.detections[0].label == "thing 0"
    wait_for(lambda: told and "no memory left" in told[-1], "the status")  # it comes after the output


def test_a_slow_detector_holds_nothing_up(bed: Bed, monkeypatch: pytest.MonkeyPatch) -> None:
    """Images that wait are dropped and counted; the next answer is of an image that came while it was busy."""
    bed.until(lambda message: bool(message.detections), None)
    whole, began, shown, release = bed.node._rgb.detect, [], [], threading.Event()

    def slow(stamp: float, *rest: object) -> SegmentedFrame:
        began.append(stamp)
        if len(began) == 1:
            assert release.wait(PATIENCE)
        return whole(stamp, *rest)

    monkeypatch.setattr(bed.node._rgb, "detect", slow)
    dropped = bed.node._worker.dropped

    def goes_on() -> bool:
        shown.append(bed.show(None))
        bed.spin()
        return bed.node._worker.dropped > dropped + 5

    wait_for(goes_on, "images that are dropped while the detector is busy", every=0.0)
    assert len(began) == 1
    release.set()
    wait_for(lambda: len(began) >= 2, "the next image")
    assert began[1] >= shown[len(shown) // 2] > began[0], "it is one of the newest"
    last = bed.until(lambda message: stamp_from_msg(message.header.stamp) >= began[1], None)
    assert last.detections

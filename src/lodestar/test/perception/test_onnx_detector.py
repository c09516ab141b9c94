"""Tests of the ONNX adapter with small networks that return fixed arrays."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx_networks import names, write_network, yolo_output

from lodestar.perception.config import OnnxConfig
from lodestar.perception.frames import DetectorUnavailable
from lodestar.perception.onnx_detector import OnnxDetector

IMAGE = np.random.default_rng(0).integers(0, 255, (120, 160, 3)).astype(np.uint8)


def test_boxes_of_a_letterboxed_network_lie_in_the_image(tmp_path):
    # 160 x 120 scaled into 64 x 64: factor 0.4, 8 rows of padding above and below.
    output = yolo_output([(8, 16, 24, 32, 1, 0.9), (40, 20, 60, 40, 0, 0.7), (40.5, 20, 60, 40, 0, 0.6)], 2)
    detector = OnnxDetector(write_network(tmp_path / "n.onnx", [output], metadata=names(2)))
    frame = detector.detect(3.0, IMAGE)
    found = {d.label: d for d in frame.detections}
    assert set(found) == {"thing 0", "thing 1"}, "two boxes of a class that overlap are one"
    box = found["thing 1"].box
    assert (box.x, box.y, box.width, box.height) == (20, 20, 40, 40)
    assert found["thing 1"].score == pytest.approx(0.9) and found["thing 1"].pixel_count == 1600
    assert frame.stamp == 3.0 and frame.labels.shape == (120, 160) and frame.labels.dtype == np.uint16
    assert detector.vocabulary.names == ("thing 0", "thing 1") and not detector.vocabulary.is_open


def test_names_beside_the_network_come_before_its_own(tmp_path):
    output = yolo_output([(8, 16, 24, 32, 1, 0.9)], 2)
    path = write_network(tmp_path / "n.onnx", [output], metadata=names(2))
    (tmp_path / "n.txt").write_text("chair\n\n fire extinguisher \n")
    assert OnnxDetector(path).detect(0.0, IMAGE).detections[0].label == "fire extinguisher"


def test_masks_of_prototypes_fill_their_boxes_in_part(tmp_path):
    output = yolo_output([(8, 16, 40, 48, 0, 0.9)], 1)
    prototypes = np.full((1, 32, 16, 16), -1.0, np.float32)
    prototypes[0, 0, :, :6] = 1.0  # the left 24 of 64 pixels
    coefficients = np.zeros((1, 32, output.shape[2]), np.float32)
    coefficients[0, 0, 0] = 1.0
    outputs = [np.concatenate([output, coefficients], 1), prototypes]
    frame = OnnxDetector(write_network(tmp_path / "n.onnx", outputs, metadata=names(1))).detect(0.0, IMAGE)
    (detection,) = frame.detections
    assert detection.box.x == 20 and 58 <= detection.box.x + detection.box.width <= 62
    assert detection.pixel_count == pytest.approx(40 * 80, rel=0.06)


@pytest.mark.parametrize("is_best", [True, False])
def test_boxes_of_rt_detr_are_shares_of_a_stretched_image(tmp_path, is_best):
    boxes = np.array([(0.5, 0.5, 0.25, 0.5), (0.25, 0.25, 0.5, 0.5), (0.5, 0.5, 0.2, 0.2)])
    rest = np.array([(0.9, 2), (0.7, 0), (0.1, 1)]) if is_best else np.diag([0.7, 0.1, 0.9])[[2, 0, 1]]
    metadata = {**names(3), **({"head": "RTDETRDecoder"} if is_best else {})}
    path = write_network(tmp_path / "n.onnx", [np.hstack([boxes, rest])[None]], metadata=metadata)
    first, second = OnnxDetector(path).find(IMAGE)  # 160 x 120, without padding
    assert (first.label, second.label) == ("thing 2", "thing 0") and first.score == pytest.approx(0.9)
    assert (first.box.x, first.box.y, first.box.width, first.box.height) == (60, 30, 40, 60)
    assert (second.box.x, second.box.y, second.box.width, second.box.height) == (0, 0, 80, 60)


def test_a_missing_network_says_how_to_get_one(tmp_path):
    with pytest.raises(DetectorUnavailable, match=r"no network at .*nanodet.onnx: `make detector`"):
        OnnxDetector(tmp_path / "nanodet.onnx").check()


PANOPTIC = [np.zeros((1, channels, 32, 32)) for channels in (3, 1, 2, 4)]
BAD = {
    "no names": (lambda path: write_network(path, [yolo_output([], 2)]), r"write n.txt beside it"),
    "too few names": (
        lambda path: write_network(path, [yolo_output([], 3)], metadata=names(2)),
        "2 names of classes: .*no known form",
    ),
    "names that are no names": (
        lambda path: write_network(path, [yolo_output([], 2)], metadata={"names": "{0: __import__('os')}"}),
        "cannot be read",
    ),
    "attributes that are no list": (
        lambda path: write_network(path, PANOPTIC, metadata={**names(2), "attributes": "{'red'}"}),
        "the attributes in .*cannot be read .*: write a list",
    ),
    "names of another count": (
        lambda path: write_network(path, PANOPTIC, metadata=names(3)), "3 names of classes: .*no known form"
    ),
    "another form": (
        lambda path: write_network(path, [np.zeros((1, 1000))], metadata=names(2)), r"\(1, 1000\) are of no known form"
    ),
    "two images at once": (
        lambda path: write_network(path, [yolo_output([], 2)], metadata=names(2), batch=2), "reads 2 images of 3"
    ),
    "one channel": (lambda path: write_network(path, [yolo_output([], 2)], channels=1), "1 channels"),
    "whole numbers": (
        lambda path: write_network(path, [yolo_output([], 2)], dtype=onnx.TensorProto.UINT8), "not one image"
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", BAD)
def test_a_network_of_another_kind_is_refused_with_a_sentence(tmp_path, kind):
    write, sentence = BAD[kind]
    path = write(tmp_path / "n.onnx")
    with pytest.raises(DetectorUnavailable, match=sentence):
        OnnxDetector(path).detect(0.0, IMAGE)


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.95])
def test_a_truncated_network_is_refused_with_a_sentence(tmp_path, share):
    path = write_network(tmp_path / "n.onnx", [yolo_output([], 2, 5000)], metadata=names(2))
    path.write_bytes(path.read_bytes()[: int(share * path.stat().st_size)])
    with pytest.raises(DetectorUnavailable, match=r"n\.onnx"):
        OnnxDetector(path).detect(0.0, IMAGE)


def test_a_network_of_any_input_size_takes_the_configured_one(tmp_path):
    path = write_network(
        tmp_path / "n.onnx", [yolo_output([(8, 16, 24, 32, 0, 0.9)], 1)], ("h", "w"), names(1)
    )
    (detection,) = OnnxDetector(path, OnnxConfig(image_size=64)).detect(0.0, IMAGE).detections
    assert (detection.box.x, detection.box.y) == (20, 20)


def test_a_provider_that_is_not_there_is_told(tmp_path, monkeypatch):
    path = write_network(tmp_path / "n.onnx", [yolo_output([], 2)], metadata=names(2))
    monkeypatch.setattr("onnxruntime.get_available_providers", lambda: ["CPUExecutionProvider"])
    with pytest.raises(DetectorUnavailable, match="onnxruntime-gpu"):
        OnnxDetector(path, OnnxConfig(provider="cuda")).detect(0.0, IMAGE)


def test_an_image_of_another_kind_is_refused(tmp_path):
    with pytest.raises(ValueError, match="uint8"):
        OnnxDetector(tmp_path / "n.onnx").detect(0.0, np.zeros((4, 4), np.uint8))

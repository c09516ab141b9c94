"""Tests of the ONNX adapter with NanoDet after `make detector`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from lodestar.perception.config import OnnxConfig
from lodestar.perception.onnx_detector import OnnxDetector

NANODET = Path(__file__).resolve().parents[4] / "models" / "nanodet.onnx"
if not NANODET.is_file():
    pytest.skip("no models/nanodet.onnx: run make detector", allow_module_level=True)

ODD_IMAGES = {
    "black": np.zeros((480, 640, 3), np.uint8),
    "white": np.full((480, 640, 3), 255, np.uint8),
    "one pixel": np.zeros((1, 1, 3), np.uint8),
    "a line": np.zeros((2, 900, 3), np.uint8),
    "overexposed": np.where(np.random.default_rng(1).random((480, 640, 3)) < 0.9, 255, 60).astype(np.uint8),
}  # fmt: skip


@pytest.mark.parametrize("kind", ODD_IMAGES)
def test_nanodet_takes_any_image(kind):
    image = ODD_IMAGES[kind]
    frame = OnnxDetector(NANODET).detect(0.0, image)
    assert frame.labels.shape == image.shape[:2] and len(frame.detections) <= 2


def test_nanodet_reads_an_upside_down_view_as_its_copy():
    turned = np.random.default_rng(3).integers(0, 255, (240, 320, 3)).astype(np.uint8)[::-1, ::-1]
    detector = OnnxDetector(NANODET, OnnxConfig(confidence=0.02, min_pixels=1))
    frame, copied = (detector.detect(0.0, image) for image in (turned, turned.copy()))
    assert frame.detections and frame.detections == copied.detections
    assert np.array_equal(frame.labels, copied.labels)

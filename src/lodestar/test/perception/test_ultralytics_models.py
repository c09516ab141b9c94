"""Tests of the Ultralytics adapter with untrained models of the package."""

import numpy as np
import pytest

from lodestar.perception.ultralytics import DetectorUnavailable, UltralyticsConfig, UltralyticsDetector

pytest.importorskip("ultralytics", reason="Ultralytics is an optional extra: make setup EXTRAS=ultralytics")

import torch
from ultralytics.nn import tasks

ANYTHING = UltralyticsConfig(confidence=1e-6, iou=0.99, image_size=160, max_detections=8, min_pixels=1)
IMAGE = np.random.default_rng(0).integers(0, 255, (120, 160, 3)).astype(np.uint8)


@pytest.mark.parametrize("definition", ["yoloe-11s.yaml", "yolov8s-worldv2.yaml"])
def test_an_untrained_model_with_prompts_takes_others_after_it_has_run(definition, monkeypatch):
    def embeddings(_model, texts, *_, **__):  # replaces the text model, which is not in the package
        rng = np.random.default_rng([ord(text[0]) for text in texts])
        return torch.from_numpy(rng.normal(size=(1, len(texts), 512)).astype(np.float32))

    for kind in (tasks.YOLOEModel, tasks.WorldModel):
        monkeypatch.setattr(kind, "get_text_pe", embeddings)
    detector = UltralyticsDetector(definition, ANYTHING, words=("desk", "chair"))
    assert detector.vocabulary.is_open
    assert {d.label for d in detector.detect(0.0, IMAGE).detections} <= {"desk", "chair"}
    detector.look_for(("mug",))
    frame = detector.detect(0.0, IMAGE)
    assert {d.label for d in frame.detections} == {"mug"}


def test_an_untrained_model_with_its_own_classes_is_closed():
    vocabulary = UltralyticsDetector("yolo11n.yaml", ANYTHING).vocabulary
    assert len(vocabulary.names) == 80 and not vocabulary.is_open


@pytest.mark.parametrize("definition", ["yolo11n-seg.yaml", "yolo11n.yaml"])
def test_an_untrained_model_gives_well_formed_segments(definition):
    torch.manual_seed(1)  # with other weights a mask may be empty
    detector = UltralyticsDetector(definition, ANYTHING)
    frame = detector.detect(3.0, IMAGE)
    assert frame.stamp == 3.0 and frame.labels.shape == (120, 160) and frame.labels.dtype == np.uint16
    assert frame.detections
    assert set(np.unique(frame.labels)) <= {0} | {d.label_value for d in frame.detections}
    for detection in frame.detections:
        mask = frame.labels == detection.label_value
        assert mask.sum() == detection.pixel_count > 0
        assert 0.0 <= detection.score <= 1.0 and detection.label
        rows, columns = np.nonzero(mask)
        assert (columns.min(), rows.min()) == (detection.box.x, detection.box.y)


def test_weights_that_are_missing_say_so():
    with pytest.raises(DetectorUnavailable, match="no weights"):
        UltralyticsDetector("/nowhere/yolo.pt").detect(0.0, IMAGE)

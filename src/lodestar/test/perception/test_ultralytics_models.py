"""Tests of the Ultralytics adapter and of the ONNX decoders with untrained models of the package.

Weights of text models cannot be had here: embeddings of words are drawn at random, all else is the package's.
"""

from __future__ import annotations

import json
import sys
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np
import pytest

from lodestar.perception.config import OnnxConfig
from lodestar.perception.found_things import segmented
from lodestar.perception.frames import DetectorUnavailable
from lodestar.perception.onnx_detector import OnnxDetector
from lodestar.perception.ultralytics import UltralyticsConfig, UltralyticsDetector

if find_spec("ultralytics") is None:
    pytest.skip(
        "Ultralytics is an optional extra: make setup EXTRAS=ultralytics, or make test-torch",
        allow_module_level=True,
    )

from untrained import embeddings, exported, load_package, picture, untrained

ultralytics = load_package()
pytestmark = pytest.mark.torch
FAKE = Path(__file__).parents[4] / "tests" / "fake_detector" / "ultralytics" / "__init__.py"
WORDS = ["desk", "fire extinguisher"]
IMAGE = picture()[:, :240]  # square: the package pads others less where a network takes any size
#: Least score by description, so that some boxes and not all are found.
CONFIDENCE = {
    "yolov10n.yaml": 5e-4,
    "yolov8n-rtdetr.yaml": 0.05,
    "yoloe-11s-seg.yaml": 1e-4,
    "yolov8n-worldv2.yaml": 1e-4,
}
IOU, MOST = 0.6, 300


def settings(definition, **more):
    return {
        "confidence": CONFIDENCE.get(definition, 0.06),
        "iou": IOU,
        "max_detections": MOST,
        "min_pixels": 1,
        **more,
    }


def adapter(path, definition, words=(), **more):
    return UltralyticsDetector(path, UltralyticsConfig(**settings(definition, image_size=256, **more)), words)


def predicted(model, definition, **more):
    """Return the package's own result for the image."""
    options = {"conf": CONFIDENCE.get(definition, 0.06), "iou": IOU, "imgsz": 256, "max_det": MOST, **more}
    (result,) = model.predict(
        np.ascontiguousarray(IMAGE[..., ::-1]), retina_masks=True, verbose=False, **options
    )
    assert 2 <= len(result.boxes) < MOST
    return result


def saved(model, path):
    model.save(path)
    return path


@pytest.fixture
def found(monkeypatch):
    """Return a function: what the adapter read from the package's result, before duplicates are left out."""
    read = []

    def segment(stamp, shape, things, *more):
        read[:] = things
        return segmented(stamp, shape, things, *more)

    monkeypatch.setattr("lodestar.perception.ultralytics.segmented", segment)

    def find(detector):
        detector.detect(0.0, IMAGE)
        assert detector.odd_boxes == 0
        return list(read)

    return find


def assert_same(things, result, mask_error=0.0):
    """Compare things with the package's own result: as many, each with a box, score, name and mask of its own."""
    height, width = IMAGE.shape[:2]
    corners = np.clip(
        result.boxes.xyxy.numpy(), 0, [width, height, width, height]
    )  # RT-DETR's may lie outside
    scores, kinds = result.boxes.conf.numpy(), result.boxes.cls.numpy().astype(int)
    masks = None if result.masks is None else result.masks.data.numpy() > 0.5
    left = set(range(len(scores)))
    for thing in things:
        box = thing.box
        if thing.mask is not None and not thing.mask.any():
            continue  # the package leaves these out
        sides = np.array([box.x, box.y, box.x + box.width, box.y + box.height])
        alike = [one for one in left if abs(float(scores[one]) - thing.score) < 1e-6]
        index = min(alike, key=lambda one: np.abs(corners[one] - sides).max())
        left.remove(index)
        assert np.abs(corners[index] - sides).max() <= 0.51 and thing.label == result.names[kinds[index]]
        if masks is not None:
            # at its border a box ends at a whole pixel here, and at a fraction of one there
            theirs = masks[index][box.y : box.y + box.height, box.x : box.x + box.width][1:-1, 1:-1]
            different = np.count_nonzero(thing.mask[1:-1, 1:-1] ^ theirs)
            assert different <= mask_error * theirs.size
    # the adapters leave out boxes that are empty in whole pixels
    assert not [
        index for index in left if (np.round(corners[index, 2:]) > np.round(corners[index, :2])).all()
    ]


@pytest.mark.parametrize(
    "definition", ["yolo11n.yaml", "yolo11n-seg.yaml", "yolo26n-seg.yaml", "yolov8n-rtdetr.yaml"]
)
def test_segments_are_those_that_the_package_predicts(definition, found, tmp_path):
    path = saved(untrained(definition), tmp_path / "eyes.pt")  # nothing is known by the name
    result = predicted(ultralytics.YOLO(path), definition)
    detector = adapter(path, definition)
    assert detector.vocabulary.names == tuple(result.names.values()) and not detector.vocabulary.is_open
    assert_same(found(detector), result)
    best = predicted(ultralytics.YOLO(path), definition, max_det=8)
    assert_same(found(adapter(path, definition, max_detections=8)), best)


@pytest.mark.parametrize("definition", ["yolo11n-seg.yaml", "yolov8n-rtdetr.yaml"])
def test_a_description_gives_an_untrained_model(definition):
    frame = adapter(definition, definition, confidence=1e-6).detect(0.0, IMAGE)
    assert frame.detections and frame.labels.shape == IMAGE.shape[:2]


@pytest.fixture
def texts(monkeypatch):
    """Replace the text model; return the words that were encoded, in order."""
    encoded = []

    def encode(_model, words, *_, **__):
        encoded.extend(words)
        return embeddings(words)

    for kind in (ultralytics.nn.tasks.YOLOEModel, ultralytics.nn.tasks.WorldModel):
        monkeypatch.setattr(kind, "get_text_pe", encode)
    return encoded


@pytest.mark.parametrize("definition", ["yoloe-11s-seg.yaml", "yolov8n-worldv2.yaml"])
def test_a_model_with_prompts_finds_what_the_package_finds_with_the_same_words(
    definition, found, texts, tmp_path, monkeypatch
):
    monkeypatch.setenv("LODESTAR_CACHE_DIR", str(tmp_path))
    path = saved(untrained(definition, ["mug"]), tmp_path / "eyes.pt")
    detector = adapter(path, definition, words=("mug",))
    assert detector.vocabulary.is_open
    assert {thing.label for thing in found(detector)} == {"mug"}
    detector.look_for(WORDS)
    things = found(detector)
    assert texts == ["mug", *WORDS], "each word once"
    own = ultralytics.YOLO(path)
    own.set_classes(WORDS)
    result = predicted(own, definition)
    assert list(result.names.values()) == WORDS
    assert_same(things, result)


def test_prompt_free_weights_have_their_own_words(texts, tmp_path):
    model = untrained("yoloe-11s-seg.yaml")
    model.model.args = {"imgsz": 64}
    model.model.set_vocab(untrained("yoloe-11s-seg.yaml").model.get_vocab(WORDS), WORDS)
    detector = adapter(saved(model, tmp_path / "eyes.pt"), "", words=("mug",), confidence=1e-6)
    assert detector.vocabulary.names == tuple(WORDS) and not detector.vocabulary.is_open
    detector.look_for(("mug",))
    assert {one.label for one in detector.detect(0.0, IMAGE).detections} <= set(WORDS)


@pytest.mark.parametrize("definition", ["yoloe-11s-seg.yaml", "yolov8n-worldv2.yaml"])
def test_without_a_text_model_the_reason_is_told_and_nothing_is_installed(definition):
    assert not ultralytics.utils.AUTOINSTALL, "the adapter forbade it before the package was imported"
    if find_spec("clip") is not None:
        pytest.fail("the tokenizer is installed: this test needs an environment without it")
    with pytest.raises(DetectorUnavailable, match=r"prompts cannot be encoded .*clip.*tokenizer"):
        adapter(definition, definition, words=("desk",)).detect(0.0, IMAGE)


EXPORTS = {
    "detect": ("yolo11n.yaml", {}),
    "segment, half": ("yolo11n-seg.yaml", {"quantize": 16}),
    "segment, any size": ("yolo11n-seg.yaml", {"dynamic": True}),
    "segment with suppression": ("yolo11n-seg.yaml", {"nms": True, "conf": 0.06, "iou": IOU}),
    "segment end to end": ("yolo26n-seg.yaml", {"nms": False}),
    "detect end to end": ("yolov10n.yaml", {"nms": False}),
    "RT-DETR": ("yolov8n-rtdetr.yaml", {}),
    "YOLOE": ("yoloe-11s-seg.yaml", {"words": WORDS}),
    "YOLO-World": ("yolov8n-worldv2.yaml", {"words": WORDS}),
}


@pytest.mark.parametrize("kind", EXPORTS)
def test_an_exported_network_finds_the_same_in_the_package_and_in_both_adapters(kind, found, tmp_path):
    definition, options = EXPORTS[kind]
    eyes = exported(definition, tmp_path, **options).rename(tmp_path / "eyes.onnx")
    result = predicted(ultralytics.YOLO(eyes), definition)
    assert "words" not in options or list(result.names.values()) == WORDS
    through_package = adapter(eyes, definition)
    assert_same(found(through_package), result)
    detector = OnnxDetector(eyes, OnnxConfig(**settings(definition, image_size=256)))
    for vocabulary in (detector.vocabulary, through_package.vocabulary):
        assert vocabulary.names == tuple(result.names.values()) and not vocabulary.is_open
    assert_same(detector.find(IMAGE), result, mask_error=0.05)


def facts(package, path, words):
    """Return what the adapter relies on, read from a model that takes prompts."""
    model = package.YOLO(path)
    head = model.model.model[-1]
    parameter = next(model.model.parameters())
    known = {
        "family": type(model).__name__,
        "head": type(head).__name__.startswith(("YOLOE", "WorldDetect")) and not hasattr(head, "lrpc"),
        "world": hasattr(model.model, "txt_feats"),
        "vectors": model.model.get_text_pe(words)[0].detach().float().cpu().numpy().ndim,
        "parameter": parameter.new_tensor(np.zeros((1, 2, 3), np.float32)).shape == (1, 2, 3),
    }
    model.set_classes(words)
    known["names"] = model.names, type(model.names).__name__
    (result,) = model.predict(
        np.zeros((64, 64, 3), np.uint8), conf=1e-9, iou=0.6, imgsz=64, max_det=9, verbose=False
    )
    known["result names"] = result.names
    for name in ("xyxy", "conf", "cls"):
        values = getattr(result.boxes, name).cpu().numpy()
        known[name] = (
            values.shape[1:],
            values.dtype.kind,
            len(values) == len(result.boxes.conf.cpu().numpy()) > 0,
        )
    try:
        model.set_classes(["sofa"])
        known["again"] = "taken"
    except AssertionError as error:
        known["again"] = str(error)
    return known


@pytest.mark.parametrize(
    ("definition", "kind"), [("yoloe-11s.yaml", "prompt"), ("yolov8n-worldv2.yaml", "world")]
)
def test_the_stand_in_for_the_package_behaves_as_the_package(definition, kind, texts, tmp_path):
    spec = spec_from_file_location("stand_in", FAKE)
    stand_in = module_from_spec(spec)
    sys.modules["stand_in"] = stand_in
    spec.loader.exec_module(stand_in)
    (tmp_path / "fake.pt").write_text(json.dumps({"kind": kind, "names": ["mug"]}))
    real = facts(ultralytics, saved(untrained(definition, ["mug"]), tmp_path / "real.pt"), WORDS)
    assert facts(stand_in, tmp_path / "fake.pt", WORDS) == real


def test_weights_that_are_missing_say_so():
    with pytest.raises(DetectorUnavailable, match="no weights"):
        UltralyticsDetector("/nowhere/yolo.pt").detect(0.0, IMAGE)

"""Tests of the Ultralytics adapter without the package."""

import gc
import sys
import weakref

import numpy as np
import pytest

from lodestar.geometry.camera import PinholeCamera
from lodestar.perception.box_masks import BoxMasker
from lodestar.perception.frames import AlignedDepth
from lodestar.perception.ultralytics import DetectorUnavailable, UltralyticsDetector


def picture():
    return np.random.default_rng(0).integers(0, 255, (120, 160, 3)).astype(np.uint8)


def test_without_the_package_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "ultralytics", None)
    with pytest.raises(DetectorUnavailable, match="pip install"):
        UltralyticsDetector("yolo11n-seg.yaml").detect(0.0, picture())


@pytest.fixture
def fake_packages(monkeypatch):
    """Install stand-ins for both packages, which may be found but not used."""
    for name in ("ultralytics", "torchvision"):
        monkeypatch.setitem(sys.modules, name, type(sys)(name))


@pytest.mark.parametrize("name", ["yolo.pt", "yolo.onnx", "yolo.engine"])
def test_missing_weights_are_noticed_before_the_first_image(fake_packages, tmp_path, name):
    detector = UltralyticsDetector(tmp_path / name)
    with pytest.raises(DetectorUnavailable, match=f"no weights at {tmp_path / name}"):
        detector.check()
    (tmp_path / name).write_bytes(b"")
    detector.check()


def test_a_torchvision_of_another_build_is_told_apart_from_a_missing_one(monkeypatch, tmp_path):
    def broken(name):
        raise RuntimeError("operator torchvision::nms does not exist")

    monkeypatch.setattr("lodestar.perception.ultralytics.import_module", broken)
    with pytest.raises(DetectorUnavailable, match=r"do not fit.*nms.*pip install -U ultralytics torch"):
        UltralyticsDetector("yolo11n-seg.yaml").check()


def test_an_image_of_another_kind_is_refused_before_anything_is_loaded():
    with pytest.raises(ValueError, match="uint8"):
        UltralyticsDetector("yolo11n-seg.yaml").detect(0.0, np.zeros((4, 4), np.uint8))


class Values:
    """Stands for a tensor."""

    def __init__(self, values):
        self._values = np.array(values)

    def cpu(self):
        return self

    def numpy(self):
        return self._values


class Result:
    """Two boxes, the small one inside the large one, as from a model without masks."""

    masks = None

    def __init__(self):
        self.names = {0: "desk", 4: "cup"}

    class boxes:
        xyxy = Values([[40.0, 40.0, 60.0, 60.0], [-5.0, 10.0, 100.0, 90.0]])
        conf = Values([0.9, 0.6])
        cls = Values([4.0, 0.0])


def test_boxes_become_masks_with_small_things_in_front(monkeypatch, tmp_path):
    class Model:
        def __init__(self, source):
            self.source, self.names = source, {0: "desk", 4: "cup"}

        def predict(self, image, **options):
            assert image.shape == (120, 160, 3) and options["conf"] == 0.25
            return [Result()]

    for name in ("ultralytics", "torchvision"):
        monkeypatch.setitem(sys.modules, name, type(sys)(name))
    sys.modules["ultralytics"].YOLO = Model
    frame = UltralyticsDetector(tmp_path).detect(1.0, picture())
    found = {d.label: d for d in frame.detections}
    assert found["cup"].pixel_count == 400 and found["desk"].pixel_count == 100 * 80 - 400
    assert frame.labels[50, 50] == found["cup"].label_value
    assert found["cup"].score == pytest.approx(0.9)


def test_boxes_with_depth_get_masks_of_what_stands_in_them(monkeypatch, tmp_path):
    class Model:
        def __init__(self, source):
            self.names = {0: "desk", 4: "cup"}

        def predict(self, image, **options):
            return [Result()]

    for name in ("ultralytics", "torchvision"):
        monkeypatch.setitem(sys.modules, name, type(sys)(name))
    sys.modules["ultralytics"].YOLO = Model
    depth = np.full((120, 160), 4.0, np.float32)
    depth[20:80, 15:85] = 2.0  # the desk: smaller than its box of 100 x 80
    depth[43:57, 43:57] = 1.2  # the cup: smaller than its box of 20 x 20
    detector = UltralyticsDetector(tmp_path)
    detector.masker = BoxMasker()
    aligned = AlignedDepth(depth, PinholeCamera(160, 120, 130.0, 130.0, 80.0, 60.0))
    frame = detector.detect(1.0, picture(), aligned)
    shown = {d.label: frame.labels == d.label_value for d in frame.detections}
    assert shown["cup"].sum() == pytest.approx(14 * 14, rel=0.2) and shown["cup"][50, 50]
    assert not shown["desk"][depth == 4.0].sum() > 0.05 * shown["desk"].sum()
    assert shown["desk"].sum() == pytest.approx((depth == 2.0).sum(), rel=0.1)


def test_a_model_that_cannot_be_loaded_keeps_none_of_the_images_it_was_wanted_for(tmp_path, monkeypatch):
    for name in ("ultralytics", "torchvision"):
        monkeypatch.setitem(sys.modules, name, type(sys)(name))
    detector, images = UltralyticsDetector(tmp_path / "none.pt"), []
    for number in range(20):
        image = picture()
        images.append(weakref.ref(image))
        with pytest.raises(DetectorUnavailable, match="no weights"):
            detector.detect(1.0 + 0.1 * number, image)
        del image
    gc.collect()
    assert sum(one() is not None for one in images) <= 1

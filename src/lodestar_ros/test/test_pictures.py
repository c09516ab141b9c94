"""Tests of the target picture reader: selected by parameter, detector loaded once off the executor, clear errors."""

from __future__ import annotations

import io
import sys
import threading
import time
from types import SimpleNamespace

import numpy as np
import pytest
from PIL import Image
from waiting import PATIENCE

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from lodestar.assembly.parts import picture_reader
from lodestar.perception.config import WordsConfig
from lodestar.perception.picture_config import PictureDetectorConfig, PicturesConfig
from lodestar.perception.pictures import BadPicture
from lodestar_ros.pictures import PictureDesk


def picture():
    out = io.BytesIO()
    Image.fromarray(np.full((40, 60, 3), 90, np.uint8)).save(out, "JPEG")
    return out.getvalue()


def config(model, **changes):
    return PicturesConfig("detector", detector=PictureDetectorConfig(model=str(model), **changes))


class Tensor(SimpleNamespace):
    def cpu(self):
        return self

    def numpy(self):
        return np.array(self.values)


class YOLOEDetect:
    """Last layer of a network that takes prompts; its name tells."""


@pytest.fixture
def packages(monkeypatch):
    """Install fake Ultralytics and torchvision that detect a chair beside a desk; return records of their use."""
    seen = SimpleNamespace(loaded=[], asked=[])

    class Model:
        def __init__(self, source):
            seen.loaded.append((source, threading.current_thread().name))
            # a head that takes prompts; no text embeddings
            self.model = SimpleNamespace(model=[YOLOEDetect()])

        def set_classes(self, classes):
            seen.classes = classes

        def predict(self, bgr, **options):
            seen.asked.append((bgr.shape, threading.current_thread().name))
            boxes = SimpleNamespace(
                xyxy=Tensor(values=[[22.0, 8.0, 40.0, 34.0], [42.0, 8.0, 58.0, 34.0]]),
                conf=Tensor(values=[0.9, 0.8]), cls=Tensor(values=[0, 1]),
            )  # fmt: skip
            return [SimpleNamespace(boxes=boxes, masks=None, names={0: "chair", 1: "desk"})]

    for name in ("ultralytics", "torchvision"):
        monkeypatch.setitem(sys.modules, name, type(sys)(name))
    for family in ("YOLO", "YOLOE", "YOLOWorld"):
        monkeypatch.setattr(sys.modules["ultralytics"], family, Model, raising=False)
    return seen


class Wanted:
    """Ticket whose pictures are still wanted."""

    is_wanted = True


def taken(desk, count=1):
    found, end = [], time.monotonic() + PATIENCE
    while len(found) < count:
        found += desk.take()
        assert time.monotonic() < end, "it was never described"
        time.sleep(0.005)
    return found


def test_the_detector_reads_pictures_on_the_desk_s_thread_and_loads_once(packages, tmp_path):
    weights = tmp_path / "yoloe-11s-seg.pt"
    weights.write_bytes(b"")
    words = tmp_path / "words.txt"
    words.write_text("chair\ndesk\n")
    desk = PictureDesk(config(weights, words=WordsConfig(str(words))))
    assert packages.loaded == []  # nothing is loaded before the first picture
    tickets = [Wanted(), Wanted()]
    for ticket in tickets:
        desk.submit(ticket, None, (picture(),))
    for ticket, directive in taken(desk, 2):
        assert ticket in tickets
        (step,) = directive.steps
        assert step.target == "chair" and step.neighbors == ("desk",)
    assert packages.loaded == [(str(weights), "pictures")] and packages.classes == ["chair", "desk"]
    assert packages.asked == [((40, 60, 3), "pictures")] * 2


def test_weights_that_are_missing_are_named_with_what_to_do(packages, tmp_path):
    desk = PictureDesk(config(tmp_path / "yolo.pt"))
    desk.submit(Wanted(), None, (picture(),))
    ((_, problem),) = taken(desk)
    assert isinstance(problem, BadPicture)
    assert f"no weights at {tmp_path / 'yolo.pt'}" in str(problem) and "in words" in str(problem)
    (tmp_path / "yolo.pt").write_bytes(b"")
    desk.submit(Wanted(), None, (picture(),))
    ((_, directive),) = taken(desk)
    assert directive.steps[0].target == "chair"


def test_without_ultralytics_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "torchvision", type(sys)("torchvision"))
    monkeypatch.setitem(sys.modules, "ultralytics", None)
    with pytest.raises(BadPicture, match="pip install"):
        picture_reader(config("yolo.pt"))(picture())


@pytest.mark.parametrize(
    ("adapter", "why"), [("ground_truth", "label images of a simulator"), ("geometric", "depth")]
)
def test_what_cannot_look_at_a_picture_is_refused_with_what_to_do(adapter, why):
    with pytest.raises(
        ValueError, match=rf"{adapter} cannot read a picture: .*{why}.*set detector\.adapter to onnx "
    ):
        config("yolo.pt", adapter=adapter)
    unused = PicturesConfig("none", detector=PictureDetectorConfig(adapter))  # the detector is not used
    with pytest.raises(BadPicture, match=r"pictures\.adapter .* detector or model .*in words"):
        picture_reader(unused)(picture())


def test_a_configuration_that_cannot_be_is_refused():
    with pytest.raises(ValueError, match=r"needs detector\.model"):
        config("")
    with pytest.raises(ValueError, match="only onnx and ultralytics"):
        PictureDetectorConfig("yolo")
    with pytest.raises(ValueError, match="none, detector, model"):
        PicturesConfig("perception")

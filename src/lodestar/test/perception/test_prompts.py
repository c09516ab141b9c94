"""Tests of closed, prompted and prompt-free Ultralytics weights, by a stand-in package that records its calls."""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from waiting import PATIENCE

from lodestar.perception.frames import DetectorUnavailable
from lodestar.perception.lookout import Lookout, WantedWords
from lodestar.perception.prompt_cache import KEPT, PromptCache
from lodestar.perception.ultralytics import UltralyticsDetector

FAKES = Path(__file__).parents[4] / "tests" / "fake_detector"
IMAGE = np.zeros((40, 160, 3), np.uint8)


@pytest.fixture
def calls(monkeypatch, tmp_path):
    """Install the stand-in package and a private cache; return the recorded calls."""
    for name in ("ultralytics", "torchvision"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.syspath_prepend(str(FAKES))
    monkeypatch.setenv("LODESTAR_CACHE_DIR", str(tmp_path / "cache"))
    import ultralytics

    assert Path(ultralytics.__file__).parent.parent == FAKES
    ultralytics.CALLS.clear()
    yield ultralytics.CALLS
    for name in ("ultralytics", "torchvision"):
        sys.modules.pop(name, None)


@pytest.fixture
def no_text_model(calls):
    """Return the reason why no text can be encoded; "" = it can."""
    import ultralytics

    yield ultralytics.BROKEN
    ultralytics.BROKEN.clear()


def weights(folder, name="yoloe-11s-seg.pt", kind="prompt", **more):
    path = folder / name
    path.write_text(json.dumps({"kind": kind, **more}))
    return path


def labels(detector):
    return {detection.label for detection in detector.detect(1.0, IMAGE).detections}


def encoded(calls):
    return [argument for name, argument in calls if name == "encode"]


@pytest.mark.parametrize(
    ("name", "kind", "family"), [("yolo11n.pt", "closed", "YOLO"), ("yoloe-11s-seg-pf.pt", "free", "YOLOE")]
)
def test_closed_and_prompt_free_weights_keep_their_own_words(calls, tmp_path, name, kind, family):
    detector = UltralyticsDetector(weights(tmp_path, name, kind, names=["chair", "bottle"]), words=("desk",))
    assert detector.vocabulary.names == ("chair", "bottle") and not detector.vocabulary.is_open
    detector.look_for(("fire extinguisher",))
    assert labels(detector) == {"chair", "bottle"}
    assert [call for call in calls if call[0] in ("open", "encode", "classes")] == [("open", family)]


@pytest.mark.parametrize(("kind", "family"), [("prompt", "YOLOE"), ("world", "YOLOWorld")])
def test_weights_under_another_name_are_told_by_their_head(calls, tmp_path, kind, family):
    detector = UltralyticsDetector(weights(tmp_path, "eyes.pt", kind), words=("desk",))
    assert detector.vocabulary.is_open and labels(detector) == {"desk"}
    assert [argument for name, argument in calls if name == "open"] == [family]


@pytest.mark.parametrize(("name", "kind"), [("yoloe-11s-seg.pt", "prompt"), ("yolov8s-world.pt", "world")])
def test_prompted_weights_look_for_what_they_are_told(calls, tmp_path, name, kind):
    detector = UltralyticsDetector(weights(tmp_path, name, kind), words=("desk", "chair"))
    assert labels(detector) == {"desk", "chair"}, "without any directive its standing words"
    detector.look_for(("fire extinguisher", "desk"))
    assert labels(detector) == {"fire extinguisher", "desk"}
    assert encoded(calls) == [("desk", "chair"), ("fire extinguisher",)], "each phrase once"


def test_an_exported_model_has_the_words_that_it_was_exported_with(calls, tmp_path):
    detector = UltralyticsDetector(
        weights(tmp_path, "yoloe-11s-seg.onnx", "prompt", names=["cup"]), words=("desk",)
    )
    assert detector.vocabulary.names == ("cup",)
    assert labels(detector) == {"cup"}


def test_embeddings_are_kept_on_disk_and_belong_to_their_weights(calls, tmp_path):
    path = weights(tmp_path)
    assert labels(UltralyticsDetector(path, words=("desk",))) == {"desk"}
    again = UltralyticsDetector(path, words=("chair", "desk"))
    assert labels(again) == {"desk", "chair"}
    assert encoded(calls) == [("desk",), ("chair",)], "the second process encoded the new word alone"
    assert labels(UltralyticsDetector(weights(tmp_path, encoding=0.001), words=("desk",))) == {"desk"}
    assert encoded(calls)[2:] == [("desk",)], "other weights under the same name"


def test_a_damaged_cache_is_encoded_anew(calls, tmp_path):
    path = weights(tmp_path)
    labels(UltralyticsDetector(path, words=("desk", "chair")))
    (kept,) = (tmp_path / "cache" / "prompts").iterdir()
    whole = kept.read_bytes()
    rng = np.random.default_rng(0)
    for _ in range(40):
        data = bytearray(whole)
        at = int(rng.integers(len(data)))
        data[at] ^= 1 << int(rng.integers(8))
        kept.write_bytes(bytes(data[: int(rng.integers(len(data) + 1))] if rng.random() < 0.5 else data))
        detector = UltralyticsDetector(path, words=("desk", "chair"))
        assert labels(detector) == {"desk", "chair"}
        assert detector._cache.vectors(["desk"], lambda _: pytest.fail("kept"))[0].tolist() == [
            4.0,
            100.0,
            1.0,
        ]


def test_the_cache_is_bounded(tmp_path, monkeypatch):
    monkeypatch.setattr("lodestar.perception.prompt_cache.MOST_PHRASES", 10)
    for model in range(KEPT + 3):
        cache = PromptCache(f"model{model}", tmp_path)
        for first in range(0, 30, 3):
            cache.vectors([f"w{first + k}" for k in range(3)], lambda missing: np.ones((len(missing), 4)))
    files = list(tmp_path.glob("*"))
    assert len(files) == KEPT
    with np.load(tmp_path / f"model{KEPT + 2}.npz") as kept:
        assert list(kept["phrases"])[-1] == "w29" and len(kept["phrases"]) == 10


def test_a_cache_that_cannot_be_written_is_done_without(tmp_path):
    (tmp_path / "prompts").write_text("a file where the folder should be")
    cache = PromptCache("m", tmp_path / "prompts" / "deeper")
    assert cache.vectors(["a"], lambda missing: np.ones((1, 4))).shape == (1, 4)


def test_a_bad_text_model_is_an_error_and_nothing_is_kept_of_it(tmp_path):
    cache = PromptCache("m", tmp_path)
    with pytest.raises(ValueError, match="2 phrases"):
        cache.vectors(["a", "b"], lambda missing: np.full((2, 4), np.nan))
    assert list(tmp_path.iterdir()) == []


def test_images_are_read_with_the_former_words_while_new_ones_are_encoded(calls, tmp_path, monkeypatch):
    slow = UltralyticsDetector(weights(tmp_path), words=("desk",))
    assert labels(slow) == {"desk"}
    begun, ends, ended = threading.Event(), threading.Event(), []

    def encode(seconds):
        begun.set()
        ended.append(ends.wait(PATIENCE))

    monkeypatch.setattr(sys.modules["ultralytics"], "time", SimpleNamespace(sleep=encode))
    encoding = threading.Thread(target=slow.look_for, args=(("desk", "fire extinguisher"),))
    encoding.start()
    assert begun.wait(PATIENCE)
    for _ in range(6):
        assert labels(slow) == {"desk"}
    assert not ended, "no image waited for the encoding"
    ends.set()
    while encoding.is_alive():
        assert labels(slow) in ({"desk"}, {"desk", "fire extinguisher"}), "whole sets only"
        time.sleep(0.001)
    assert labels(slow) == {"desk", "fire extinguisher"}


@pytest.mark.parametrize(("chosen", "kept"), [(None, "false"), ("true", "true")])
def test_the_package_installs_no_others_unless_the_user_lets_it(calls, tmp_path, monkeypatch, chosen, kept):
    monkeypatch.setenv("YOLO_AUTOINSTALL", "")
    if chosen is None:
        monkeypatch.delenv("YOLO_AUTOINSTALL")
    else:
        monkeypatch.setenv("YOLO_AUTOINSTALL", chosen)
    UltralyticsDetector(weights(tmp_path)).check()
    assert os.environ["YOLO_AUTOINSTALL"] == kept


def test_prompts_that_cannot_be_encoded_leave_those_of_before_and_say_what_to_do(
    calls, tmp_path, no_text_model
):
    detector = UltralyticsDetector(weights(tmp_path))
    lookout = Lookout(detector, ("desk",))
    assert lookout.look_for(WantedWords("a")).problem == ""
    no_text_model.append("no route to github.com")
    report = lookout.look_for(WantedWords("b", ("mug", "desk")))
    assert report.wanted_id == "b" and [word.label for word in report.words] == ["", "desk"]
    assert "no route" in report.problem and "text model" in report.problem
    assert '"mug"' in report.sentence and '"desk"' not in report.sentence
    assert labels(detector) == {"desk"}
    no_text_model.clear()
    assert lookout.look_for(WantedWords("c", ("mug",))).unseen == (), "tried again with the next words"
    assert labels(detector) == {"desk", "mug"}


def test_without_a_text_model_images_do_not_try_again_and_again(calls, tmp_path, no_text_model):
    no_text_model.append("no route to github.com")
    detector = UltralyticsDetector(weights(tmp_path), words=("desk",))
    for frame in range(1, 200):
        with pytest.raises(DetectorUnavailable, match="no route"):
            detector.detect(frame * 0.1, IMAGE)
    assert len(encoded(calls)) == 2 and len([1 for name, _ in calls if name == "open"]) == 1
    no_text_model.clear()
    detector.look_for(("desk",))
    assert labels(detector) == {"desk"}


def test_weights_that_take_prompts_and_have_none_say_so(calls, tmp_path):
    with pytest.raises(DetectorUnavailable, match="told no words"):
        UltralyticsDetector(weights(tmp_path)).detect(0.0, IMAGE)


def test_closed_weights_without_names_are_refused_and_do_not_pass_for_open_ones(calls, tmp_path):
    detector = UltralyticsDetector(weights(tmp_path, "yolo11n.pt", "closed"), words=("desk",))
    with pytest.raises(DetectorUnavailable, match="names no classes"):
        _ = detector.vocabulary
    report = Lookout(detector, ("desk",)).look_for(WantedWords("1", ("mug",)))
    assert "names no classes" in report.problem and not report.is_open and report.unseen


@pytest.mark.parametrize("text", ["{", "[]", '{"names": 3}', ""])
def test_weights_that_are_none_are_named(calls, tmp_path, text):
    path = tmp_path / "yolo11n.pt"
    path.write_text(text)
    with pytest.raises(DetectorUnavailable, match="cannot be loaded"):
        UltralyticsDetector(path).look_for(("chair",))

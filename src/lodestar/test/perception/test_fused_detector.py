"""Tests of several networks read as one detector: what they say together, alone and by silence."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx_networks import write_network

from lodestar.perception.config import OnnxConfig
from lodestar.perception.eyes import eyes_of
from lodestar.perception.frames import DetectorUnavailable
from lodestar.perception.fused_detector import FUSED_NOISE, FusedDetector
from lodestar.perception.measured_noise import Evidence, measured_noise
from lodestar.perception.onnx_detector import OnnxDetector

IMAGE = np.zeros((64, 64, 3), np.uint8)
CHAIR, APART = (8.0, 8.0, 40.0, 56.0), (44.0, 4.0, 60.0, 20.0)
# of 0.5 a detection is true with probability 0.5 where it was measured, as one in ten are
MEASURED = Evidence(0.0, 1.0, -math.log(9.0), {"chair": 0.0, "mug": 0.0, "cup": 0.0}, ("chair", "mug", "cup"))


def network(path: Path, labels: list[str], *found: tuple[tuple[float, ...], str, float]) -> Path:
    """Write an SSD of 64 x 64 pixels that finds these boxes (left, top, right, bottom), labels and scores."""
    labels = [*labels, "lamp"]
    table = np.zeros((1, 40, 4 + len(labels)), np.float32)
    for row, ((left, top, right, bottom), label, score) in enumerate(found):
        table[0, row, :4] = (left + right) / 2, (top + bottom) / 2, right - left, bottom - top
        table[0, row, 4 + labels.index(label)] = score
    return write_network(path, [table], metadata={"names": str(labels), "head": "SSD"})


def pair(
    folder: Path,
    first: list,
    second: list,
    labels=("chair", "cup"),
    others=("chair", "mug"),
    evidence=MEASURED,
):
    paths = [
        network(folder / "a.onnx", list(labels), *first),
        network(folder / "b.onnx", list(others), *second),
    ]
    return FusedDetector(paths, evidence={"a": evidence, "b": evidence})


def test_the_form_of_an_ssd_is_known(tmp_path):
    path = network(tmp_path / "a.onnx", ["chair", "cup"], (CHAIR, "cup", 0.9))
    (thing,) = OnnxDetector(path).find(IMAGE)
    assert thing.label == "cup" and thing.score == pytest.approx(0.9)
    assert (thing.box.x, thing.box.y, thing.box.width, thing.box.height) == (8, 8, 32, 48)


def test_two_that_agree_are_surer_than_one_and_a_silent_one_counts_against(tmp_path):
    agreed = pair(tmp_path, [(CHAIR, "chair", 0.5)], [(CHAIR, "chair", 0.3)]).find(IMAGE)
    assert len(agreed) == 1
    odds = agreed[0].score / (1.0 - agreed[0].score)
    assert odds == pytest.approx(1.0 * (0.3 / 0.7) * 9.0, rel=1e-3)  # odds times likelihood ratio
    alone = pair(tmp_path, [(CHAIR, "chair", 0.8)], []).find(IMAGE)
    assert alone[0].score / (1.0 - alone[0].score) == pytest.approx(4.0 * (0.05 / 0.95) * 9.0, rel=1e-3)
    assert pair(tmp_path, [(CHAIR, "chair", 0.6)], []).find(IMAGE) == []


def test_a_kind_that_one_knows_keeps_its_own_probability(tmp_path):
    (thing,) = pair(tmp_path, [], [(CHAIR, "mug", 0.6)], labels=("chair", "plant")).find(IMAGE)
    assert thing.label == "mug" and thing.score == pytest.approx(0.6, abs=1e-4)
    # silence of a network says nothing about a kind that it has never detected
    unmeasured = Evidence(0.0, 1.0, -math.log(9.0), {"chair": 0.0})
    (thing,) = pair(tmp_path, [(CHAIR, "chair", 0.6)], [], evidence=unmeasured).find(IMAGE)
    assert thing.score == pytest.approx(0.6, abs=1e-4)


def test_synonyms_and_apart_boxes(tmp_path):
    found = pair(
        tmp_path, [(CHAIR, "cup", 0.5), (APART, "chair", 0.9)], [(CHAIR, "mug", 0.8), (CHAIR, "chair", 0.9)]
    ).find(IMAGE)
    # the cup is one thing under the first network's word; the chairs stand apart
    assert sorted(thing.label for thing in found) == ["chair", "chair", "cup"]


def test_what_was_not_measured_and_what_is_missing_is_told(tmp_path):
    path = network(tmp_path / "mine.onnx", ["chair"])
    with pytest.raises(DetectorUnavailable, match=r"no evidence was measured for mine: .*detector-noise"):
        FusedDetector([path]).check()
    with pytest.raises(DetectorUnavailable, match=r"there is no network at .*objectron\.onnx.*make detector"):
        FusedDetector([tmp_path / "objectron.onnx"]).check()


def test_the_packaged_pair_says_what_it_can_see():
    noise = measured_noise(FUSED_NOISE)
    assert set(noise.evidence) == {"nanodet", "objectron"} and "rgbd_7scenes" in noise.source
    pooled, alone = eyes_of(FUSED_NOISE), eyes_of("nanodet")
    assert pooled.chance("chair", 120.0, 2.0) > alone.chance("chair", 120.0, 2.0)
    for evidence in noise.evidence.values():
        assert evidence.logit("book", 0.6) > evidence.logit("book", 0.3)


BOXES = st.tuples(st.floats(0, 60), st.floats(0, 60), st.floats(1, 40), st.floats(1, 40))
ROWS = st.lists(st.tuples(BOXES, st.sampled_from(["chair", "cup"]), st.floats(0.0, 1.0)), max_size=12)


@given(first=ROWS, second=ROWS)
@settings(max_examples=5)
def test_any_boxes_give_probable_things_and_none_twice(tmp_path_factory, first, second):
    boxes = [
        [((x, y, x + w, y + h), label, score) for (x, y, w, h), label, score in rows]
        for rows in (first, second)
    ]
    made = pair(tmp_path_factory.mktemp("pair"), *boxes, others=("chair", "cup"))
    things = made.find(IMAGE)
    assert all(0.5 <= thing.score <= 1.0 for thing in things) and made.odd_boxes == 0
    frame = made.detect(1.0, IMAGE)
    assert frame.detector == "onnx:a.onnx+onnx:b.onnx" and len(frame.detections) <= len(things)


def test_five_hundred_boxes_a_frame_are_bounded(tmp_path):
    rng = np.random.default_rng(1)
    table = np.zeros((1, 500, 7), np.float32)
    table[0, :, :4] = rng.uniform(5.0, 60.0, (500, 4))
    table[0, :, 4:] = 1.0  # a network whose confidence is 1 for all
    names = {"names": str(["chair", "cup", "lamp"])}
    paths = [write_network(tmp_path / f"{name}.onnx", [table], metadata=names) for name in "ab"]
    found = FusedDetector(paths, OnnxConfig(), {"a": MEASURED, "b": MEASURED}).find(IMAGE)
    assert 0 < len(found) <= 100 and all(thing.score <= 1.0 for thing in found)

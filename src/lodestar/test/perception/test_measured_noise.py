"""Tests of measured noise: rates and durations of misses, and invalid records."""

import json
from importlib import resources

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lodestar.geometry.camera import PinholeCamera
from lodestar.perception.config import NoiseConfig
from lodestar.perception.frames import RgbdFrame
from lodestar.perception.ground_truth import GroundTruthDetector
from lodestar.perception.measured_noise import MeasuredNoise, MissMemory, measured_noise, place_of

CAMERA = PinholeCamera(160, 120, 100.0, 100.0, 79.5, 59.5)
RECORD = json.loads((resources.files("lodestar.perception") / "measured" / "nanodet.json").read_text())


def record(**changes):
    return {**RECORD, "offsets": {}, "wrong": 0.0, "strays": 0.0, "edges": [0.0], **changes}


def view(metres=2.0, pose=None):
    return RgbdFrame(
        0.0, CAMERA, np.full((120, 160), metres, np.float32), np.eye(4) if pose is None else pose
    )


def detector(noise, seed=0):
    made = GroundTruthDetector(NoiseConfig(measured="nanodet"), np.random.default_rng(seed))
    made._measured, made._misses = noise, MissMemory(noise, np.random.default_rng(seed))
    return made


def test_the_packaged_numbers_say_where_they_come_from_and_that_chairs_are_seen_better_than_books():
    noise = measured_noise("nanodet")
    assert "rgbd_7scenes" in noise.source
    chair, book, other = (
        noise.chance(label, 100.0, 2.0) for label in ("armchair", "book", "fire extinguisher")
    )
    assert chair > other > book
    assert noise.chance("fire extinguisher", 8.0, 2.0) < other


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(sorted(RECORD)), st.sampled_from([None, "x", [], {}, -1.0, float("nan"), [[0.5]]]))
def test_a_torn_record_is_refused_or_harmless(name, value):
    try:
        noise = MeasuredNoise.of({**RECORD, name: value})
        chance = noise.chance("chair", 50.0, 2.0)
    except ValueError:
        return
    assert 0.0 < chance < 1.0


def test_a_name_that_was_not_measured_is_refused_with_those_that_were():
    with pytest.raises(ValueError, match="nanodet"):
        NoiseConfig(measured="../secret")


@settings(max_examples=8, deadline=None)
@given(st.floats(0.1, 0.9), st.floats(0.0, 0.6), st.floats(0.2, 3.0), st.integers(0, 2**32 - 1))
def test_hits_are_as_many_as_the_chance_and_as_correlated_as_was_measured(chance, lasting, memory, seed):
    noise = MeasuredNoise.of(record(lasting=lasting, memory=memory))
    misses, things, frames = MissMemory(noise, np.random.default_rng(seed)), 200, 40
    hits = np.zeros((frames, things))
    for number in range(frames):
        misses.start()
        for thing in range(things):
            place = np.array([3.0 * thing, 0.0, 0.0])
            hits[number, thing] = misses.hits(0.2 * number, ("chair", str(thing)), place, chance)
    assert hits.mean() == pytest.approx(chance, abs=0.09)
    near = np.mean(hits[1:] == hits[:-1])
    far = np.mean(hits[30:] == hits[:-30])
    assert near >= far - 0.03
    if memory > 1.0 and lasting < 0.3:
        assert near > far


def test_a_thing_is_known_again_from_elsewhere_and_twins_are_two():
    noise = MeasuredNoise.of(record(lasting=1.0))
    misses = MissMemory(noise, np.random.default_rng(3))
    fates = set()
    for number in range(20):
        misses.start()
        pair = tuple(
            misses.hits(0.1 * number, ("chair", "c"), np.array([4.0 * k + 0.02 * number, 0.0, 0.0]), 0.5)
            for k in range(6)
        )
        fates.add(pair)
    assert len(fates) == 1 and len(set(*fates)) == 2


def test_a_frame_gives_distance_and_place():
    pose = np.eye(4)
    pose[:3, 3] = 1.0, 2.0, 3.0
    place, distance = place_of(view(2.0, pose), np.array([59, 60]), np.array([79, 80]))
    assert distance == 2.0 and place == pytest.approx([1.0, 2.0, 5.0], abs=0.02)
    assert place_of(view(0.0), np.array([1]), np.array([1])) == (None, None)


def test_masks_are_cut_named_wrong_and_joined_by_strays_as_often_as_measured():
    full = [[1.0] * len(RECORD["distances"])] * len(RECORD["sizes"])
    noise = MeasuredNoise.of(
        record(recall=full, wrong=0.5, wrong_labels={"cake": 1}, edges=[0.25], strays=1.0,
               stray_labels={"bed": 3}, stray_sizes=[80.0])
    )  # fmt: skip
    labels, found = np.zeros((120, 160), np.uint16), detector(noise)
    labels[20:60, 40:120] = 7
    frames = [
        found.segment(0.1 * n, labels, {7: {"class": "chair", "caption": "a chair"}}, view())
        for n in range(400)
    ]
    names = [d.label for frame in frames for d in frame.detections]
    assert names.count("chair") == pytest.approx(200, abs=50) and names.count("cake") == pytest.approx(
        200, abs=50
    )
    assert names.count("bed") == pytest.approx(400, abs=80)
    box = next(d.box for frame in frames for d in frame.detections if d.label == "chair")
    assert (box.x, box.y, box.width, box.height) == (60, 30, 40, 20)
    assert {d.score for frame in frames for d in frame.detections} <= set(noise.scores)


def test_the_same_seed_gives_the_same_frames_and_a_frame_is_not_needed():
    labels = np.zeros((120, 160), np.uint16)
    labels[20:60, 40:120] = 7
    table = {7: {"class": "chair", "caption": "a chair"}}

    def run():
        made = GroundTruthDetector(NoiseConfig(measured="nanodet"), np.random.default_rng(5))
        return [made.segment(0.1 * n, labels, table).detections for n in range(30)]

    assert run() == run() and sum(len(found) > 0 for found in run()) > 0

"""Tests of measured noise: rates of misses and false detections, how long they stay, and invalid records."""

import json
from importlib import resources

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lodestar.geometry.camera import PinholeCamera
from lodestar.perception.config import NoiseConfig
from lodestar.perception.eyes import Eyes
from lodestar.perception.frames import RgbdFrame
from lodestar.perception.ground_truth import GroundTruthDetector
from lodestar.perception.measured_noise import (
    MeasuredNoise,
    MissMemory,
    StrayMemory,
    measured_noise,
    place_of,
)

CAMERA = PinholeCamera(160, 120, 100.0, 100.0, 79.5, 59.5)
RECORD = json.loads((resources.files("lodestar.perception") / "measured" / "nanodet.json").read_text())


def record(**changes):
    return {**RECORD, "offsets": {}, "wrong": 0.0, "strays": 0.0, "edges": [0.0], **changes}


def view(metres=2.0, pose=None):
    return RgbdFrame(
        0.0, CAMERA, np.full((120, 160), metres, np.float32), np.eye(4) if pose is None else pose
    )


def moved(number):
    """Return a pose (4, 4) that differs from those of other numbers, and from which the same is in view."""
    pose = np.eye(4)
    pose[1, 3] = 100.0 * number
    return pose


def detector(noise, seed=0):
    made = GroundTruthDetector(NoiseConfig(measured="nanodet"), np.random.default_rng(seed))
    rng = np.random.default_rng(seed)
    made._measured, made._misses, made._strays = noise, MissMemory(noise, rng), StrayMemory(noise, rng)
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


def seen(noise, seed, cameras, things=200, chance=0.4):
    """Return (views, things) bool: things 30 m apart that are detected from 2 m with these camera bearings, at 5 Hz."""
    misses, hits = MissMemory(noise, np.random.default_rng(seed)), np.zeros((len(cameras), things), bool)
    for number, bearing in enumerate(cameras):
        misses.start()
        for thing in range(things):
            place = np.array([30.0 * thing, 0.0, 0.0])
            camera = place + 2.0 * np.array([np.cos(bearing), np.sin(bearing), 0.0])
            label = misses.seen_as(0.2 * number, ("chair", str(thing)), place, chance, camera)
            hits[number, thing] = label is not None
    return hits


@settings(max_examples=8, deadline=None)
@given(st.floats(0.1, 0.9), st.floats(0.0, 0.6), st.floats(0.02, 0.2), st.integers(0, 2**32 - 1))
def test_what_is_missed_from_a_side_is_missed_from_there_again(chance, lasting, shift, seed):
    noise = MeasuredNoise.of(record(lasting=lasting, shift=shift, memory=0.0))
    round_trip = [0.0, 0.0, shift / 5.0, *np.linspace(1.0, 6.0, 20), 0.0]
    hits = seen(noise, seed, round_trip, chance=chance)
    assert hits[3:23].mean() == pytest.approx(chance, abs=0.09)
    assert np.array_equal(hits[0], hits[1]) and np.array_equal(hits[0], hits[-1]), (
        "time and a way round do not matter"
    )
    near, far = np.mean(hits[0] == hits[2]), np.mean(hits[3:22] == hits[4:23])
    assert near > far + 0.1 * min(chance, 1.0 - chance)


@pytest.mark.parametrize("memory", [0.3, 2.0])
def test_the_old_noise_forgets_with_time(memory):
    hits = seen(MeasuredNoise.of(record(lasting=0.0, shift=0.0, memory=memory)), 3, [0.0] * 60)
    near, far = np.mean(hits[1:] == hits[:-1]), np.mean(hits[40:] == hits[:-40])
    assert (
        hits.mean() == pytest.approx(0.4, abs=0.05)
        and near > far + 0.05
        and far == pytest.approx(0.52, abs=0.05)
    )


@settings(max_examples=12, deadline=None)
@given(st.floats(0.2, 0.7), st.sampled_from([0.0, 0.4, 0.7]), st.integers(1, 6), st.integers(0, 2**32 - 1))
def test_the_eyes_expect_as_many_unseen_things_as_the_noise_leaves(chance, lasting, views, seed):
    full = [[chance] * len(RECORD["distances"])] * len(RECORD["sizes"])
    noise = MeasuredNoise.of(record(lasting=lasting, recall=full, kinds={}, offsets={"chair": 0.0}))
    expected = np.mean((1.0 - Eyes(noise).cases("chair", 0.6, [2.0])[:, 0]) ** views)
    hits = seen(noise, seed, np.linspace(0.0, 5.0, views), things=400, chance=chance)
    assert np.mean(~hits.any(axis=0)) == pytest.approx(expected, abs=0.11)


def test_twins_are_two():
    hits = seen(MeasuredNoise.of(record(lasting=1.0)), 3, np.linspace(0.0, 3.0, 20), things=6, chance=0.5)
    assert (hits == hits[0]).all() and 0 < hits[0].sum() < 6


def test_a_thing_is_taken_for_what_its_class_was_taken_for():
    noise = MeasuredNoise.of(record(wrong=0.5, pairs={"chair": {"tv": 1}}, wrong_labels={"cake": 1}))
    misses, said = MissMemory(noise, np.random.default_rng(1)), {"armchair": set(), "ladder": set()}
    for number in range(300):
        misses.start()
        place, bearing = np.array([5.0 * number, 0.0, 0.0]), 0.3 * number
        camera = place + np.array([2.0 * np.cos(bearing), 2.0 * np.sin(bearing), 0.4])
        for label in said:
            said[label].add(misses.seen_as(0.0, (label, label), place, 0.9, camera))
    assert said == {"armchair": {"armchair", "tv", None}, "ladder": {"ladder", "cake", None}}


def test_false_detections_stay_where_they_are_until_the_viewpoint_has_changed():
    noise = MeasuredNoise.of(
        record(strays=1.5, stray_shift=0.44, stray_labels={"bed": 1}, stray_sizes=[80.0])
    )
    strays = StrayMemory(noise, np.random.default_rng(2))
    first = strays.boxes((120, 160), view(2.0))
    assert first and all(strays.boxes((120, 160), view(2.0)) == first for _ in range(20)), "the camera stands"
    counts, kept = [], []
    pose = np.eye(4)
    for _ in range(400):
        pose = pose.copy()
        pose[0, 3] += 0.4
        before = {id(one) for one in strays._strays}
        counts.append(len(strays.boxes((120, 160), view(2.0, pose))))
        kept.append(len(before & {id(one) for one in strays._strays}) / max(len(before), 1))
    assert 0.4 < np.mean(counts) < 1.8
    assert np.mean(kept) == pytest.approx(np.exp(-0.2 / 0.44), abs=0.15)


def test_a_frame_gives_distance_and_place():
    pose = np.eye(4)
    pose[:3, 3] = 1.0, 2.0, 3.0
    place, distance = place_of(view(2.0, pose), np.array([59, 60]), np.array([79, 80]))
    assert distance == 2.0 and place == pytest.approx([1.0, 2.0, 5.0], abs=0.02)
    assert place_of(view(0.0), np.array([1]), np.array([1])) == (None, None)


def test_masks_are_cut_named_wrong_and_joined_by_strays_as_often_as_measured():
    full = [[1.0] * len(RECORD["distances"])] * len(RECORD["sizes"])
    noise = MeasuredNoise.of(
        record(recall=full, wrong=0.5, wrong_labels={"cake": 1}, pairs={}, edges=[0.25], strays=1.0,
               stray_labels={"bed": 3}, stray_sizes=[80.0])
    )  # fmt: skip
    labels, found = np.zeros((120, 160), np.uint16), detector(noise)
    labels[20:60, 40:120] = 7
    frames = [
        found.segment(0.1 * n, labels, {7: {"class": "chair", "caption": "a chair"}}, view(pose=moved(n)))
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


def test_a_false_detection_has_a_mask_from_depth_as_a_real_one_does():
    noise = MeasuredNoise.of(record(strays=1.0, stray_labels={"bed": 1}, stray_sizes=[200.0]))
    depth = np.full((120, 160), 4.0, np.float32)
    depth[45:75, 65:95] = 2.0  # a thing before a wall, smaller than the boxes
    view, labels = RgbdFrame(0.0, CAMERA, depth, np.eye(4)), np.zeros((120, 160), np.uint16)
    frames = [detector(noise, seed).segment(0.0, labels, {}, view) for seed in range(100)]
    masks = [frame.labels == one.label_value for frame in frames for one in frame.detections]
    shares = [float((depth[mask] == 2.0).mean()) for mask in masks if (depth[mask] == 2.0).sum() > 400]
    assert len(shares) > 20 and np.mean(np.array(shares) > 0.95) > 0.4, (
        "a box that is mostly wall stays a box"
    )
    assert max(shares) == 1.0 and np.mean(np.array(shares) < 0.5) < 0.6


def test_the_same_seed_gives_the_same_frames_and_a_frame_is_not_needed():
    labels = np.zeros((120, 160), np.uint16)
    labels[20:60, 40:120] = 7
    table = {7: {"class": "chair", "caption": "a chair"}}

    def run():
        made = GroundTruthDetector(NoiseConfig(measured="nanodet"), np.random.default_rng(5))
        return [made.segment(0.1 * n, labels, table).detections for n in range(30)]

    assert run() == run() and sum(len(found) > 0 for found in run()) > 0

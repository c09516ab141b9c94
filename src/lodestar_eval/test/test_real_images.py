"""Tests of a recording with labelled objects: file format, scores, and complete runs."""

import json

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lodestar.assembly import parts
from lodestar.geometry.camera import PinholeCamera
from lodestar.perception.found_things import FoundThing, segmented
from lodestar.perception.frames import ImageBox, RgbdFrame
from lodestar.scene.records import Entity
from lodestar_eval.__main__ import EXIT_USAGE, main
from lodestar_eval.real_images.labels import (
    STEP,
    BadLabels,
    FramePoints,
    LabelledRoom,
    LabelledThing,
    known_rooms,
    read_room,
)
from lodestar_eval.real_images.scoring import REACH, score, twins

UP = [
    [0.0, 0.0, 1.0, 0.0],
    [-1.0, 0.0, 0.0, 0.0],
    [0.0, -1.0, 0.0, 1.0],
    [0.0, 0.0, 0.0, 1.0],
]  # pose of a level camera


def thing(label, x, y, size=0.2):
    middle = np.array([x, y, 0.5])
    return LabelledThing(label, middle - size / 2, middle + size / 2)


def entity(number, label, middle, size=0.2):
    low, high = np.asarray(middle) - size / 2, np.asarray(middle) + size / 2
    return Entity(number, label, label, np.asarray(middle), np.eye(3) * 0.01, low, high)


def test_the_room_that_comes_along_can_be_read():
    room = read_room(known_rooms()["rgbd_7scenes"])
    assert len(room.things) == 16 and {"chair", "cup", "tv"} <= {t.label for t in room.things}
    assert room.covers(room.things[0].centre, 0.0) and not room.covers(np.array([9.0, 9.0, 9.0]), 0.5)


@pytest.mark.parametrize(
    "text",
    [
        "", "[]", "{}", '{"things": []}', '{"things": [{"label": "cup"}]}', '{"things": {"a": 1}}',
        '{"things": [{"label": "cup", "min": [1, 0, 0], "max": [0, 1, 1]}]}',
        '{"things": [{"label": " ", "min": [0, 0, 0], "max": [1, 1, 1]}]}',
        '{"things": [{"label": "cup", "min": [0, 0], "max": [1, 1]}]}',
        '{"things": [{"label": "cup", "min": [0, 0, 0], "max": [1, 1, 1]}], "map_from_recording": [[1]]}',
        json.dumps({"things": [{"label": "cup", "min": [0, 0, 0], "max": [1, 1, 1]}],
                    "map_from_recording": (2 * np.eye(4)).tolist()}),
    ],
)  # fmt: skip
def test_labels_of_another_form_are_refused_with_what_to_write(tmp_path, text):
    (tmp_path / "labels.json").write_text(text)
    with pytest.raises(BadLabels, match=r"holds no labels|names no thing|no rotation"):
        read_room(tmp_path / "labels.json")


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_each_entity_is_found_doubled_false_unsure_or_beyond(data):
    """Generates rooms of objects 2 m apart and entities of every class; the scores must count each in its class."""
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    count = data.draw(st.integers(1, 8))
    labels = [data.draw(st.sampled_from(["chair", "cup", "book"])) for _ in range(count)]
    things = tuple(thing(label, 2.0 * n, 0.0) for n, label in enumerate(labels))
    room = LabelledRoom("room", things, (thing("tv", 0.0, 3.0),), np.eye(4))
    entities, found, doubled = [], 0, 0
    for one in things:
        times = data.draw(st.integers(0, 3))
        found, doubled = found + (times > 0), doubled + max(times - 1, 0)
        entities += [entity(0, one.label, one.centre + rng.uniform(-0.1, 0.1, 3)) for _ in range(times)]
    false = data.draw(st.integers(0, 3))
    entities += [entity(0, "bottle", things[0].centre + rng.uniform(-0.1, 0.1, 3)) for _ in range(false)]
    unsure = data.draw(st.integers(0, 2))
    entities += [entity(0, "tv", (0.0, 3.0, 0.5)) for _ in range(unsure)]
    beyond = data.draw(st.integers(0, 2))
    entities += [entity(0, "tv", (0.0, -9.0, 0.5)) for _ in range(beyond)]
    hidden = data.draw(st.integers(0, count - 1))
    entities = [entities[k] for k in rng.permutation(len(entities))]
    scored = score(room, [n != hidden for n in range(count)], entities)
    assert (len(scored.false), len(scored.unsure), len(scored.beyond)) == (false, unsure, beyond)
    assert sum(row.entity is not None for row in scored.rows) == found
    assert scored.metrics()["doubled"] == doubled and scored.metrics()["things"] == count - 1
    assert all(row.error <= 0.18 for row in scored.rows if row.entity is not None)


def test_neighbours_of_a_kind_are_paired_so_that_most_are_found():
    room = LabelledRoom("room", (thing("cup", 0.0, 0.0), thing("cup", 0.3, 0.0)), (), np.eye(4))
    entities = [entity(1, "mug", (0.16, 0.0, 0.5)), entity(2, "cup", (0.35 + REACH, 0.0, 0.5))]
    scored = score(room, [True, True], entities)
    assert [row.entity.id for row in scored.rows] == [1, 2]  # a "mug" counts as a cup


def test_maps_are_compared_one_to_one():
    one = [entity(1, "chair", (0, 0, 0.5)), entity(2, "chair", (0.3, 0, 0.5)), entity(3, "cup", (0, 0, 0.5))]
    other = [
        entity(7, "chair", (0.31, 0, 0.5)),
        entity(8, "chair", (3, 0, 0.5)),
        entity(9, "cup", (0, 0.2, 0.5)),
    ]
    pairs = {(a.id, b.id): round(d, 2) for a, b, d in twins(one, other)}
    assert pairs == {(2, 7): 0.01, (3, 9): 0.2}
    assert twins([], other) == []


def test_what_stands_before_a_thing_hides_it():
    camera = PinholeCamera(64, 48, 60.0, 60.0, 31.5, 23.5)
    depth = np.full((48, 64), 1.5, np.float32)
    seen = RgbdFrame(0.0, camera, depth, np.array(UP))
    wall = LabelledThing("tv", np.array([1.45, -0.2, 0.8]), np.array([1.6, 0.2, 1.2]))
    assert len(FramePoints(seen).of(wall)) * STEP**2 == pytest.approx(16 * 16, rel=0.3)
    hidden = RgbdFrame(0.0, camera, np.where(depth > 0, 1.0, depth).astype(np.float32), np.array(UP))
    assert not len(FramePoints(hidden).of(wall))


@pytest.fixture
def kitchen(tmp_path):
    """Return a recording of a wall at 2 m and a cube of 0.3 m before it, passed by a camera."""
    (tmp_path / "camera-intrinsics.txt").write_text("120 0 79.5\n0 120 59.5\n0 0 1\n")
    for number in range(0, 60, 3):
        depth, pose = np.full((120, 160), 2000, np.uint16), np.eye(4)
        pose[0, 3] = 0.005 * number
        left = round(79.5 + 120 * (-0.15 - pose[0, 3]) / 1.2)
        depth[50:80, left : left + 30] = 1200
        cv2.imwrite(f"{tmp_path}/frame-{number:06d}.depth.png", depth)
        cv2.imwrite(f"{tmp_path}/frame-{number:06d}.color.jpg", np.full((120, 160, 3), 99, np.uint8))
        np.savetxt(f"{tmp_path}/frame-{number:06d}.pose.txt", pose)
    box = {"label": "suitcase", "min": [1.15, -0.17, 0.78], "max": [1.3, 0.17, 1.12]}
    far = {"label": "tv", "min": [8.0, 0.0, 0.0], "max": [9.0, 1.0, 1.0]}
    text = json.dumps({"map_from_recording": UP, "things": [box, far]})
    (tmp_path / "labels.json").write_text(text)
    return tmp_path


class FakeDetector:
    """Detector that finds the cube by its depth."""

    def __init__(self, config):
        del config

    def detect(self, stamp, rgb, aligned):
        near = np.argwhere((aligned.depth > 0) & (aligned.depth < 1.5))
        (top, left), (bottom, right) = near.min(axis=0), near.max(axis=0)
        box = ImageBox(int(left), int(top), int(right - left + 1), int(bottom - top + 1))
        return segmented(stamp, rgb.shape[:2], [FoundThing("suitcase", 0.9, box)], "fake", 60)


def test_a_recording_goes_through_the_whole_chain(kitchen, monkeypatch):
    monkeypatch.setattr(parts, "color_detector", FakeDetector)
    out = kitchen / "out"
    status = main(["real-images", "--data", str(kitchen), "--out", str(out)])
    report = json.loads((out / "real-images.json").read_text())["metrics"]
    assert status == 0 and (report["found"], report["things"], report["false_or_doubled"]) == (1.0, 1.0, 0.0)
    assert report["place_error_m"] < 0.15 and report["consistent"] == 1.0 and report["frames"] == 20
    assert report["questions_right"] == 1.0 and report["recall_per_frame"] == 1.0


@pytest.mark.parametrize("fault", ["empty", "no colour", "no labels", "bad labels", "no network", "nothing"])
def test_bad_input_is_told_with_what_to_do(kitchen, capsys, monkeypatch, fault):
    arguments = ["real-images", "--data", str(kitchen), "--out", str(kitchen / "out"), "--model", "none.onnx"]
    wanted = "make detector"
    if fault == "empty":
        for file in kitchen.glob("frame-*"):
            file.unlink()
        wanted = "no frame-NNNNNN.depth.png"
    elif fault == "no colour":
        monkeypatch.setattr(parts, "color_detector", FakeDetector)
        for file in kitchen.glob("*.jpg"):
            file.unlink()
        wanted = "colour: 20"
    elif fault == "no labels":
        (kitchen / "labels.json").unlink()
        wanted = "--labels"
    elif fault == "bad labels":
        (kitchen / "labels.json").write_text("[3]")
        wanted = '"things"'
    elif fault == "nothing":
        arguments[2], wanted = str(kitchen / "elsewhere"), "there is nothing"
    assert main(arguments) == EXIT_USAGE
    assert wanted in capsys.readouterr().err

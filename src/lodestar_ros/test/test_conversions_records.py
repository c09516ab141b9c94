"""Tests of conversions of perception, mapping, scene and keyframe records, in both directions."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from lodestar.geometry.camera import PinholeCamera
from lodestar.geometry.poses import planar_transform
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.keyframes.records import Keyframe
from lodestar.mapping.instances.pillars import build_pillars
from lodestar.mapping.instances.records import (
    Absence,
    CaptionVote,
    Instance,
    InstanceDelta,
    Merge,
    Miss,
    Observation,
)
from lodestar.mapping.movers.mover_tracks import FIRST_TRACK, MoverTrack
from lodestar.perception.frames import Detection, ImageBox, SegmentedFrame
from lodestar.perception.signs import SignReading, SignSight
from lodestar.scene.records import Embedding, Entity, EntityState, Region, SceneDelta, Stated, View
from lodestar_ros import conversions_map as m
from lodestar_ros import conversions_regions
from lodestar_ros import conversions_scene as c
from lodestar_ros.conversions import BadMessage

RNG = np.random.default_rng(1)
FEATURE = RNG.normal(size=16).astype(np.float32)
POSE = planar_transform(1.0, -2.0, 0.5, 0.4)


def box(offset=0):
    return ImageBox(1 + offset, 2, 30, 40)


def instance(identity):
    low = RNG.normal(size=3)
    return Instance(
        identity, 120, low + 0.2, np.diag([0.1, 0.2, 0.3]), low, low + 0.5,
        (CaptionVote("chair", "red chair", 2.5), CaptionVote("stool", "stool", 0.5)),
        0.75, 4, True, 1.25, 9.5,
    )  # fmt: skip


def entity(identity, embedded=True):
    low = RNG.normal(size=3)
    return Entity(
        identity, "chair", "red chair", low + 0.2, np.diag([0.1, 0.2, 0.3]), low, low + 0.5,
        attributes=("red", "wooden"),
        embeddings={"caption": Embedding("MiniLM", FEATURE)} if embedded else {},
        views=(View(3.5, POSE, box(), 7, 0.5),), region_id=3, occupancy_probability=0.5, confidence=0.75,
        state=EntityState.UNCERTAIN, is_static=False, observation_count=6, first_seen=1.0, last_seen=2.5,
        covisible={4: 0.5}, neighbors={5: 0.25}, map_id=2, session_id="abc",
        stated=(Stated("On", 9), Stated("Near", 4, True)),
    )  # fmt: skip


def test_segmented_frame(assert_same):
    labels = RNG.integers(0, 3, (12, 16)).astype(np.uint16) * 400
    frame = SegmentedFrame(
        4.5, labels,
        (
            Detection(400, "chair", "red chair", 0.5, box(), 33, FEATURE),
            Detection(800, "desk", "desk", 0.25, box(5), 4),
        ),
        "truth",
    )  # fmt: skip
    message = c.segmented_to_msg(frame, "camera")
    assert message.header.frame_id == "camera"
    assert_same(c.segmented_from_msg(message), frame)


def test_segmented_image_that_names_a_feature_it_has_not_is_refused():
    frame = SegmentedFrame(
        4.5, np.zeros((2, 2), np.uint16), (Detection(1, "a", "a", 1.0, box(), 1, FEATURE),)
    )
    message = c.segmented_to_msg(frame, "camera")
    message.detections[0].feature_row = 3
    with pytest.raises(BadMessage, match="row 3"):
        c.segmented_from_msg(message)


def test_instance_delta(assert_same):
    delta = InstanceDelta(
        stamp=8.5, revision=12, previous_revision=11, updated=(instance(1), instance(2)),
        observations=(Observation(1, 8.5, POSE, box(), 99, "chair", "red chair", 0.5, 2.25, FEATURE),
                      Observation(2, 8.5, POSE, box(3), 98, "desk", "desk", 0.75, 3.25)),
        merges=(Merge(3, 1),), absences=(Absence(4, 8.5, 0.75),), misses=(Miss(5, 8.5, 0.875, 321),), removed=(9,),
        map_from_odom=planar_transform(0.1, 0.2, 0.3), map_id=2, session_id="abc",
    )  # fmt: skip
    assert_same(c.instances_from_msg(c.instances_to_msg(delta)), delta)


def test_scene_delta_with_vectors(assert_same):
    delta = SceneDelta(8.5, 12, 11, (entity(1), entity(2, embedded=False)), (Merge(3, 1),), (9,), 2, "abc")
    assert_same(c.scene_from_msg(*c.scene_to_msg(delta, vectors=True)), delta)


def test_scene_delta_without_vectors_says_which_channels_there_are():
    delta = SceneDelta(8.5, 12, 11, (entity(1),))
    message, vectors = c.scene_to_msg(delta)
    assert vectors.width == 0
    channel = message.updated[0].embeddings[0]
    assert (channel.name, channel.model, channel.dimension, channel.row) == ("caption", "MiniLM", 16, -1)
    assert c.scene_from_msg(message).updated[0].embeddings == {}


def test_entity_in_no_known_state_is_refused():
    message = c.entity_to_msg(entity(1))
    message.state = 17
    with pytest.raises(BadMessage):
        c.entity_from_msg(message)


def test_keyframe(assert_same):
    keyframe = Keyframe(5, 3.5, POSE, PinholeCamera(64, 48, 38.0, 38.0, 31.5, 23.5), {4: box()}, 2, "abc")
    assert_same(c.keyframe_from_msg(c.keyframe_to_msg(keyframe)), keyframe)


def test_pillars(assert_same):
    points = RNG.uniform(-2, 2, (500, 3)).astype(np.float32)
    pillars = build_pillars(points, RNG.integers(1, 9, 500).astype(np.int32), 0.25, 4)
    assert_same(m.pillars_from_msg(m.pillars_to_msg(pillars, 1.0)), pillars)
    empty = build_pillars(points[:0], np.zeros(0, np.int32), 0.25)
    assert m.pillars_from_msg(m.pillars_to_msg(empty, 1.0)).ids.size == 0


def test_regions(assert_same):
    mask = RNG.integers(0, 3, (6, 8)).astype(np.uint16)
    grid = OccupancyGrid2D(np.zeros((6, 8), np.int8), 0.1, (-1.0, 2.0), 3.0)
    regions = [
        Region(1, "kitchen", 0.5, 12.0, np.array([1.0, 2.0, 0.0]), (2,), True),
        Region(2, "", 0.0, 3.0, np.zeros(3)),
    ]
    back, rooms = conversions_regions.regions_from_msg(
        conversions_regions.regions_to_msg(mask, grid, regions, 7), 1.0
    )
    rows, columns = np.nonzero(mask)
    places = np.stack([-1.0 + (columns + 0.5) * 0.1, 2.0 + (rows + 0.5) * 0.1], axis=1)
    assert rooms.at(places).tolist() == mask[rows, columns].tolist()
    assert_same(tuple(back), tuple(regions))


@pytest.mark.parametrize(("reach", "region"), [(1.0, 1), (0.2, 0)])
def test_places_off_all_regions_belong_to_one_within_the_shared_reach(reach, region):
    grid = OccupancyGrid2D(np.zeros((1, 12), np.int8), 0.1, (0.0, 0.0))
    mask = np.zeros((1, 12), np.uint16)
    mask[0, 0] = 1
    message = conversions_regions.regions_to_msg(mask, grid, [Region(1, "", 0.0, 1.0, np.zeros(3))])
    _, rooms = conversions_regions.regions_from_msg(message, reach)
    assert rooms.at(np.array([[0.65, 0.05]])).tolist() == [region]


def test_similarity_is_percent_and_unknown_where_there_is_no_number():
    message = m.similarity_to_msg(np.array([[0.0, 0.5, 1.0, np.nan]], np.float32), 0.1, (0.0, 0.0), 1.0)
    assert list(message.data) == [0, 50, 100, -1]


def test_octomap_carries_the_bytes():
    data = bytes(range(256))
    message = m.octomap_to_msg(data, 0.1, 2.0, binary=True)
    assert (message.binary, message.id, message.resolution, message.header.frame_id) == (
        True,
        "OcTree",
        0.1,
        "map",
    )
    assert np.array(message.data, np.int8).tobytes() == data


def test_what_was_read_on_signs_there_and_back():
    sight = SignSight(
        "204", 0.5, np.array([1.0, 2.0, 1.25]), np.array([0.0, -1.0, 0.0]), 0.25, 0.125, 0.0625, box()
    )
    reading = SignReading(12.5, POSE, planar_transform(0.5, 0.25, 0.0), (sight, sight))
    back = c.reading_from_msg(c.reading_to_msg(reading))
    assert back.stamp == 12.5 and np.allclose(back.odom_from_camera, POSE)
    assert np.allclose(back.map_from_odom, reading.map_from_odom) and len(back.sights) == 2
    assert back.sights[0].text == "204" and back.sights[0].box == box()
    assert np.allclose(back.sights[1].place, sight.place) and np.allclose(back.sights[1].normal, sight.normal)


def test_a_sign_with_a_number_that_is_none_is_a_bad_message():
    sight = SignSight(
        "204", 0.9, np.zeros(3), np.array([0.0, -1.0, 0.0]), 0.2, 0.1, 0.05, ImageBox(1, 2, 3, 4)
    )
    message = c.reading_to_msg(SignReading(12.5, POSE, np.eye(4), (sight,)))
    message.sights[0].score = float("nan")
    with pytest.raises(BadMessage, match="was not seen"):
        c.reading_from_msg(message)


def test_tracks_of_people_there_and_back():
    track = MoverTrack(
        FIRST_TRACK + 5, "person", "a red person", np.array([1.0, 2.0, 0.5]), np.array([0.5, -0.25]),
        np.array([0.5, 0.5, 1.75]), 2.5, 12.25, 12.5,
    )  # fmt: skip
    (back,) = c.tracks_from_msg(c.tracks_to_msg((track,), 12.5))
    assert (back.id, back.label, back.caption) == (track.id, "person", "a red person")
    assert back.velocity.tolist() == [0.5, -0.25] and back.place.tolist() == [1.0, 2.0, 0.5]
    assert (back.first_seen, back.last_seen, back.stamp) == (2.5, 12.25, 12.5)
    assert c.tracks_from_msg(c.tracks_to_msg((), 1.0)) == ()


def test_plates_of_regions_there_and_back():
    region = Region(3, "office", 0.5, 12.0, np.array([1.0, 2.0, 0.0]), (1,), plates=("204", "MILLER"))
    back = conversions_regions.region_from_msg(conversions_regions.region_to_msg(region))
    assert back.plates == ("204", "MILLER")

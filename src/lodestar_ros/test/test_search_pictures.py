"""Tests of a node's pictures of frontiers and memories: fetched on demand, dropped when deleted."""

from __future__ import annotations

import time
from unittest.mock import MagicMock

import cv2
import numpy as np
import pytest

from lodestar.floors.records import Building, Floor
from lodestar.geometry.camera import PinholeCamera
from lodestar.geometry.poses import BODY_FROM_OPTICAL, planar_transform
from lodestar.keyframes.records import Keyframe
from lodestar.language.views import FRONTIER, MEMORY
from lodestar.memory.keyframe_contours import annotated_jpeg
from lodestar.memory.records import Snapshot, SnapshotDelta
from lodestar.perception.frames import ImageBox
from lodestar.perception.pictures import decode_picture
from lodestar.scene.mirror import SceneMirror
from lodestar_interfaces import msg
from lodestar_ros import search_pictures
from lodestar_ros.conversions import planar_to_msg
from lodestar_ros.conversions_scene import keyframe_to_msg, snapshots_to_msg
from lodestar_ros.search_pictures import SearchPictureInputs

GREY = np.full((240, 320, 3), 128, np.uint8)
CAMERA = PinholeCamera(320, 240, 190.0, 190.0, 159.5, 119.5)


class Desk:
    """Fake keyframe service that returns its images."""

    def __init__(self, *args):
        self.images, self.asked, self.answers, self.meanwhile = {}, [], True, lambda: None
        self.snapshots, self.keyframes, self.records = SnapshotDelta(0.0, 0, 0, ()), [], {}

    def call(self, **fields):
        if not self.answers:
            return None
        if "page" in fields:
            return MagicMock(error_code=0, snapshots=snapshots_to_msg(self.snapshots), page_count=1)
        if "after" in fields:
            return MagicMock(keyframes=self.keyframes, more=False)
        self.asked.append(fields["id"])
        self.meanwhile()
        data = self.images.get(fields["id"])
        record = self.records.get(fields["id"], keyframe(fields["id"]))
        return MagicMock(error_code=int(data is None), image=MagicMock(data=data or b""), keyframe=record)

    def close(self):
        self.answers = False


@pytest.fixture
def inputs(monkeypatch):
    monkeypatch.setattr(search_pictures, "ServiceCaller", Desk)
    made = SearchPictureInputs(MagicMock(), 0.3)
    made.scene = SceneMirror()
    yield made
    made._fetcher.close()


def frontiers(*items):
    return msg.FrontierArray(
        frontiers=[
            msg.Frontier(id=i, viewpoint=planar_to_msg((x, y, 0.5)), reachable=reachable, keyframe_id=keyframe,
                         information_gain=gain)
            for i, (keyframe, x, y, gain, reachable) in enumerate(items, start=1)
        ]
    )  # fmt: skip


def keyframe(identity, x=1.0, y=2.0, instances=None):
    pose = planar_transform(x, y, 0.0, 0.45) @ BODY_FROM_OPTICAL
    return keyframe_to_msg(Keyframe(identity, 5.0, pose, CAMERA, instances or {}, 1, "s"))


def jpeg(pixels):
    return cv2.imencode(".jpg", pixels)[1].tobytes()


def stored(*ids, loads=0, next_id=100):
    return msg.StoredKeyframes(loads=loads, next_id=next_id, ids=list(ids))


def until(holds):
    for _ in range(200):
        if holds():
            return
        time.sleep(0.01)
    raise AssertionError("it did not come")


def test_frontiers_of_another_floor_lead_nowhere_here(inputs):
    floors = Floor(1, 0, 0.0), Floor(2, 1, 3.0)
    inputs.take_frontiers(frontiers((7, 1.0, 2.0, 3.0, True)))
    for active in (1, 0, 1):
        inputs.take_building(Building(floors, active=active))
        assert len(inputs.candidates()) == 1
    inputs.take_building(Building(floors, active=2))
    assert not inputs.candidates()
    inputs.take_frontiers(frontiers((8, 1.0, 2.0, 3.0, True)))
    inputs.take_building(Building(floors, active=2, note="still"))
    assert [one.keyframe for one in inputs.candidates()] == [8]


def test_frontiers_and_snapshots_with_images_are_candidates(inputs):
    inputs.take_frontiers(
        frontiers((7, 1.0, 2.0, 3.0, True), (0, 1.0, 1.0, 9.0, True), (8, 5.0, 5.0, 1.0, False))
    )
    inputs.take_keyframe(keyframe(9))
    snapshot = Snapshot(1, 9, frozenset({4}), 0, "desk, lamp")
    known = SnapshotDelta(1.0, 1, 0, (snapshot, Snapshot(2, 50, frozenset({5}))))
    inputs._pager.snapshots = known  # which the fetcher asks for too, at some time
    inputs.take_snapshots(snapshots_to_msg(known))
    (found,) = inputs.candidates()  # the snapshot's entity is still unknown
    assert (found.keyframe, found.kind, found.worth) == (7, FRONTIER, 3.0)
    assert np.allclose(found.goal, (1.0, 2.0, 0.5))
    inputs.scene.entities[4] = MagicMock(label="desk\n")
    assert [(c.keyframe, c.kind, c.labels) for c in inputs.candidates()[1:]] == [(9, MEMORY, ("desk",))]
    inputs.take_snapshots(snapshots_to_msg(SnapshotDelta(2.0, 2, 1, (), (1,))))
    assert [c.kind for c in inputs.candidates()] == [FRONTIER]


def test_an_image_is_fetched_when_asked_for_and_nothing_waits(inputs):
    inputs._getter.images = {7: jpeg(GREY)}
    assert inputs.image(7) is None
    until(lambda: inputs.image(7))
    assert np.array_equal(decode_picture(inputs.image(7)), GREY), "nothing is outlined"
    assert inputs.image(8) is None
    until(lambda: 8 in inputs._getter.asked)
    assert inputs.image(8) is None
    inputs._getter.answers = False
    assert inputs.image(11) is None and inputs.image(7)


def test_an_image_is_given_with_the_outlines_that_are_known_now(inputs):
    outline = (100, 60, 179, 60, 179, 90, 130, 90, 130, 149, 100, 149)
    linked = keyframe(7, instances={3: ImageBox(100, 60, 80, 90, outline=outline)})
    inputs._getter.images = {7: jpeg(GREY)}
    inputs.image(7)
    until(lambda: inputs.image(7))
    inputs.take_keyframe(linked)  # objects are linked later than images are stored
    drawn = np.abs(decode_picture(inputs.image(7)).astype(int) - GREY).max(axis=2) > 40
    assert drawn[60, 150] and drawn[120, 130] and not drawn[100:150, 140:190].any()
    assert inputs.image(7) == annotated_jpeg(jpeg(GREY), {3: ImageBox(100, 60, 80, 90, outline=outline)})


def test_what_is_no_image_is_not_offered(inputs):
    inputs._getter.images = {7: b"seven"}
    inputs.image(7)
    until(lambda: inputs._images)
    assert inputs.image(7) is None


def test_images_in_memory_are_bounded_and_end_with_their_keyframes(inputs):
    inputs._getter.images = {i: b"%d" % i for i in range(1, 60)}
    for i in range(1, 60):
        inputs.image(i)
    until(
        lambda: (
            not inputs._wanted and not inputs._fetcher.busy and len(inputs._images) == search_pictures.MOST
        )
    )
    held = sorted(inputs._images)
    inputs.take_stored(stored(*held[1:]))
    assert held[0] not in inputs._images and held[1] in inputs._images
    inputs.take_keyframe(keyframe(held[1]))
    inputs.take_stored(stored(*held, loads=1))  # after loading a map, ids refer to other images
    assert not inputs._images and not inputs._keyframes


def test_malformed_snapshots_are_left_out(inputs):
    bad = msg.SnapshotArray(revision=1, previous_revision=2)
    inputs.take_snapshots(bad)
    empty = msg.SnapshotArray(revision=1, updated=[msg.Snapshot(id=1)])
    inputs.take_snapshots(empty)
    assert inputs.candidates() == []


@pytest.mark.parametrize("meanwhile", [{"loads": 1}, {}], ids=["another map", "deleted"])
def test_an_image_that_was_on_its_way_when_it_was_deleted_or_another_map_came_is_not_kept(inputs, meanwhile):
    inputs.take_stored(stored(7))
    inputs._getter.images[7] = b"old"
    inputs._getter.meanwhile = lambda: inputs.take_stored(stored(*([7] if meanwhile else []), **meanwhile))
    assert inputs.image(7) is None
    until(lambda: inputs._getter.asked and not inputs._fetcher.busy)
    assert inputs._images == {}


def test_a_node_that_starts_late_or_missed_a_change_has_all_snapshots(inputs):
    snapshot = Snapshot(3, 7, frozenset({4}), 0, "a desk")
    inputs._pager.snapshots = SnapshotDelta(1.0, 8, 0, (snapshot,))
    inputs._lister.keyframes = [keyframe(7)]
    inputs.candidates()
    until(lambda: not inputs._behind)
    assert set(inputs._snapshots) == {3} and set(inputs._keyframes) == {7}
    later = Snapshot(5, 9, frozenset({6}), 0, "a mug")
    inputs._pager.snapshots = SnapshotDelta(2.0, 10, 0, (snapshot, later))
    inputs.take_snapshots(snapshots_to_msg(SnapshotDelta(2.0, 10, 9, (later,))))
    assert inputs._behind, "revision 9 is missing"
    inputs.candidates()
    until(lambda: not inputs._behind)
    assert set(inputs._snapshots) == {3, 5} and inputs._revision == 10

"""Tests of segments: one memory per three seconds with sights or events, none while the robot is lost."""

from __future__ import annotations

import math

import numpy as np
import pytest
from memory_builders import SceneFeed, entity, region

from lodestar.mapping.instances.records import Merge
from lodestar.memory.records import MapName
from lodestar.memory.segments import SEGMENT_MAX_PRIMITIVES, SEGMENT_MIN_PIXELS, Segmenter, views_of
from lodestar.scene.mirror import SceneMirror
from lodestar.scene.regions import RegionMap


@pytest.fixture
def scene():
    return SceneMirror()


@pytest.fixture
def feed(scene):
    return SceneFeed(scene)


@pytest.fixture
def segmenter(scene, feed):
    feed(entity(1, "mug", (1, 0, 1.1), caption="red mug"), entity(2, "desk", (1, 0, 0.5), (1.4, 0.7, 1.0)))
    return Segmenter(scene, robot="go2", session="s1")


def walk(segmenter, start, end, seen=None, step=0.5, speed=0.2):
    """Feed poses and views every `step` s while the robot walks along x."""
    for stamp in np.arange(start, end, step):
        segmenter.take_pose(float(stamp), np.array([speed * stamp, 0.0, 0.0]), 0.0)
        segmenter.take_view(float(stamp), {1: 300, 2: 900} if seen is None else seen)


def test_three_seconds_become_one_memory(segmenter):
    walk(segmenter, 0.0, 8.0)
    segmenter.take_keyframe(1.0, 7)
    made = segmenter.finished()
    assert [(m.start, m.end) for m in made] == [(0.0, 3.0), (3.0, 6.0)]
    first = made[0]
    assert first.entity_ids == (2, 1)
    assert [p.pixels for p in first.primitives] == [900, 300]
    assert first.position[0] == pytest.approx(0.3)
    assert first.text == "There is a red mug on a desk."
    assert (first.id, first.robot, first.session, first.keyframe_ids) == (0, "go2", "s1", (7,))
    assert segmenter.finished() == []
    assert [m.start for m in segmenter.flush()] == [6.0]


def test_a_segment_waits_for_slower_streams(segmenter):
    walk(segmenter, 0.0, 3.6)
    assert segmenter.finished() == []
    walk(segmenter, 4.0, 4.1)
    assert len(segmenter.finished()) == 1


def test_segments_do_not_depend_on_where_a_recording_begins(segmenter, scene):
    walk(segmenter, 0.0, 12.0)
    whole = segmenter.flush()
    other = Segmenter(scene, robot="go2", session="s1")
    walk(other, 4.5, 12.0)
    assert [m.text for m in other.flush()][1:] == [m.text for m in whole][2:]
    assert [m.start for m in other.track and whole[2:]] == [6.0, 9.0]


def test_a_primitive_keeps_the_geometry_of_then(segmenter, feed):
    walk(segmenter, 0.0, 4.1)
    made = segmenter.finished()[0]
    feed(entity(1, "mug", (9, 9, 1.1), caption="red mug"))
    np.testing.assert_allclose(made.primitives[1].centre, (1, 0, 1.1))


def test_nothing_seen_and_nothing_done_is_no_memory(segmenter):
    walk(segmenter, 0.0, 9.0, seen={}, speed=0.0)
    assert segmenter.flush() == []


def test_what_is_only_driven_or_done_is_a_memory(segmenter):
    walk(segmenter, 0.0, 3.0, seen={})
    assert segmenter.flush()[0].text == "The robot drove 0.5 m, with nothing in view that it knows."
    segmenter.take_deed(3.0, "driving to the red mug")
    walk(segmenter, 3.5, 9.0, seen={})
    texts = [m.text for m in segmenter.flush()]
    assert texts == ["The robot was driving to the red mug."] * 2


def test_a_robot_that_does_not_drive_was_standing_or_looking_around(segmenter):
    segmenter.take_deed(0.0, "driving to the red mug")
    walk(segmenter, 0.0, 3.0, speed=0.0)
    for stamp in np.arange(3.0, 6.0, 0.2):
        segmenter.take_pose(float(stamp), np.zeros(3), 0.3 * float(stamp - 3.0))
        segmenter.take_view(float(stamp), {1: 300})
    standing, turning = (memory.text for memory in segmenter.flush())
    assert standing.endswith("The robot was standing.")
    assert turning.endswith("The robot was looking around.")


def test_standing_with_nothing_in_view_is_no_memory(segmenter):
    segmenter.take_deed(0.0, "exploring")
    walk(segmenter, 0.0, 9.0, seen={}, speed=0.0)
    assert segmenter.flush() == []


def test_a_deed_ends(segmenter):
    segmenter.take_deed(0.5, "exploring")
    segmenter.take_deed(4.0, "")
    walk(segmenter, 1.0, 9.0)
    assert ["exploring" in m.text for m in segmenter.flush()] == [True, True, False]


def test_the_region_is_the_one_the_robot_is_in(segmenter, scene):
    rooms = RegionMap(1.0)
    rooms.set_mask(np.full((20, 20), 4, np.uint16), np.array([-5.0, -5.0]), 0.5)
    scene.set_regions([region(4, "kitchen")], rooms)
    walk(segmenter, 0.0, 3.0)
    made = segmenter.flush()[0]
    assert (made.region_id, made.region) == (4, "kitchen")


# --- objects that the scene does not know (yet) --------------------------------------------------------------


def test_a_thing_confirmed_before_the_segment_ends_is_in_it(segmenter, feed):
    walk(segmenter, 0.0, 3.0, seen={5: 400})
    feed(entity(5, "lamp", (2, 0, 1)))
    assert segmenter.flush()[0].entity_ids == (5,)


def test_a_thing_that_was_never_confirmed_is_not(segmenter):
    walk(segmenter, 0.0, 3.0, seen={5: 400})
    assert all(m.entity_ids == () for m in segmenter.flush())


def test_a_thing_that_the_scene_drops_is_as_it_was_seen(segmenter, feed):
    walk(segmenter, 0.0, 3.0)
    feed(removed=(1,))
    assert segmenter.flush()[0].entity_ids == (2, 1)


def test_entities_that_merge_meanwhile_are_one(segmenter, feed):
    feed(entity(3, "mug", (1.1, 0, 1.1), caption="red mug"))
    walk(segmenter, 0.0, 3.0, seen={1: 100, 3: 400})
    feed(merges=(Merge(3, 1),))
    made = segmenter.flush()[0]
    assert made.entity_ids == (1,)
    assert made.primitives[0].pixels == 400


def test_specks_do_not_count_and_the_largest_are_kept(segmenter, feed):
    feed(*[entity(100 + n, "box", (n, 3, 0)) for n in range(50)])
    walk(segmenter, 0.0, 3.0, seen={100 + n: 10 * n for n in range(50)})
    made = segmenter.flush()[0]
    assert len(made.primitives) == SEGMENT_MAX_PRIMITIVES
    assert made.entity_ids[0] == 149
    walk(segmenter, 3.0, 6.0, seen={1: SEGMENT_MIN_PIXELS - 1}, speed=0.0)
    assert segmenter.flush() == []


# --- lost robot --------------------------------------------------------------------------------------------------


def test_none_is_made_without_poses(segmenter):
    for stamp in np.arange(0.0, 6.0, 0.5):
        segmenter.take_view(float(stamp), {1: 300})
    assert segmenter.flush() == []
    assert segmenter.counts["unplaced"] == 12


@pytest.mark.parametrize("pose", [None, np.array([np.nan, 0.0, 0.0])])
def test_none_is_made_while_the_pose_is_unknown(segmenter, pose):
    walk(segmenter, 0.0, 3.0)
    segmenter.take_pose(3.2, pose)
    for stamp in (3.4, 4.0, 5.0):
        segmenter.take_view(stamp, {1: 300})
    walk(segmenter, 6.5, 12.0)
    assert [m.start for m in segmenter.flush()] == [0.0, 9.0]
    assert segmenter.counts["lost"] == 2


def test_none_is_made_after_the_robot_was_carried_until_it_settles(segmenter):
    walk(segmenter, 0.0, 4.0)
    for stamp in np.arange(4.0, 15.0, 0.5):
        segmenter.take_pose(float(stamp), np.array([30.0, 5.0, 0.0]), 0.0)
        segmenter.take_view(float(stamp), {1: 300})
    assert [m.start for m in segmenter.flush()] == [0.0, 9.0, 12.0]
    assert segmenter.track.jumps == 1
    assert segmenter.here(5.0) is None
    assert segmenter.here(10.0) is not None


def test_a_small_correction_of_the_map_is_no_jump(segmenter):
    walk(segmenter, 0.0, 3.0)
    for stamp in np.arange(3.0, 6.0, 0.5):
        segmenter.take_pose(float(stamp), np.array([0.2 * stamp + 0.3, 0.0, 0.0]), math.radians(5.0))
        segmenter.take_view(float(stamp), {1: 300})
    assert len(segmenter.flush()) == 2


def test_a_turn_on_the_spot_by_half_a_circle_is_a_jump(segmenter):
    segmenter.take_pose(0.0, np.zeros(3), 0.0)
    segmenter.take_pose(0.1, np.zeros(3), math.pi)
    assert segmenter.track.jumps == 1


def test_what_is_under_way_on_another_map_is_dropped(segmenter):
    walk(segmenter, 0.0, 2.0)
    segmenter.take_map(MapName(2))
    walk(segmenter, 6.0, 9.0)
    made = segmenter.flush()
    assert [m.start for m in made] == [6.0]
    assert made[0].map == MapName(2)
    assert segmenter.counts["other_map"] == 1


def test_a_map_that_is_saved_stays_the_same_map(segmenter):
    walk(segmenter, 0.0, 2.0)
    segmenter.take_map(MapName(1, "abc"))
    assert [m.map for m in segmenter.flush()] == [MapName(1, "abc")]


# --- stamps --------------------------------------------------------------------------------------------------------


def test_late_duplicate_and_disordered_stamps_are_counted_and_dropped(segmenter):
    walk(segmenter, 0.0, 8.0)
    segmenter.finished()
    segmenter.take_view(7.5, {1: 300})
    segmenter.take_view(7.0, {1: 300})
    segmenter.take_keyframe(1.0, 3)
    segmenter.take_view(float("nan"), {1: 300})
    expected = {"duplicate": 1, "out_of_order": 1, "late": 1, "invalid": 1}
    assert {k: segmenter.counts[k] for k in expected} == expected
    assert [m.start for m in segmenter.flush()] == [6.0]


def test_a_clock_that_is_set_back_begins_anew(segmenter):
    walk(segmenter, 1000.0, 1007.0)
    assert len(segmenter.finished()) >= 1
    walk(segmenter, 3.0, 9.0)
    made = segmenter.flush()
    assert [m.start for m in made] == [3.0, 6.0]
    assert segmenter.counts["clock_set"] == 1


def test_one_stamp_from_the_future_does_not_stop_the_memory(segmenter):
    walk(segmenter, 0.0, 3.0)
    segmenter.take_keyframe(1e9, 5)
    segmenter.finished()
    walk(segmenter, 3.0, 12.0)
    assert [m.start for m in segmenter.flush()] == [3.0, 6.0, 9.0]


def test_a_pause_of_the_sensors_is_no_reset(segmenter):
    walk(segmenter, 0.0, 3.0, speed=0.0)
    walk(segmenter, 600.0, 603.0, speed=0.0)
    assert [m.start for m in segmenter.flush()] == [0.0, 600.0]


# --- the stack's records -------------------------------------------------------------------------------------


def test_views_come_from_what_was_observed_in_the_order_of_their_stamps():
    seen = [(5.0, 1, 40), (5.0, 2, 70), (4.0, 1, 3), (5.0, 1, 10)]
    assert views_of(5.0, seen) == [(4.0, {1: 3}), (5.0, {1: 50, 2: 70})]
    assert views_of(6.0, []) == [(6.0, {})]

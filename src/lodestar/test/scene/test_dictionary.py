"""Life of entities: from instances to revisions, merges, absences and back."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scene_builders import Feed, camera_at, instance, sighting

from lodestar.geometry.poses import planar_transform
from lodestar.keyframes.records import Keyframe
from lodestar.mapping.records import Absence, CaptionVote, Merge
from lodestar.perception.frames import ImageBox
from lodestar.scene.dictionary import SceneConfig, SceneDictionary
from lodestar.scene.mirror import SceneMirror
from lodestar.scene.records import EntityState


@pytest.fixture
def scene():
    return SceneDictionary()


@pytest.fixture
def feed():
    return Feed()


def test_only_confirmed_instances_become_entities(scene, feed):
    delta = scene.update(feed(updated=(instance(1), instance(2, confirmed=False))))
    assert [e.id for e in delta.updated] == [1]
    assert set(scene.entities()) == {1}
    entity = scene.entities()[1]
    assert (entity.label, entity.caption, entity.attributes) == ("chair", "red chair", ("red",))
    assert entity.state == EntityState.ACTIVE


def test_label_and_caption_go_to_the_heavier_votes(scene, feed):
    votes = (
        CaptionVote("table", "brown table", 2.0),
        CaptionVote("chair", "blue chair", 1.5),
        CaptionVote("chair", "red chair", 3.0),
    )
    entity = scene.update(feed(updated=(instance(1, votes=votes),))).updated[0]
    assert (entity.label, entity.caption) == ("chair", "red chair")
    assert entity.attributes == ("red",)  # blue has a third of the label's votes, below the 0.35 it takes


def test_captions_are_one_clean_line(scene, feed):
    caption = "red\x1b[31m chair\n\x00 " + "x" * 500
    entity = scene.update(feed(updated=(instance(1, caption=caption),))).updated[0]
    assert len(entity.caption) <= 200
    assert entity.caption.isprintable()
    assert entity.caption.startswith("red [31m chair x")


def test_nothing_new_is_an_empty_delta_of_the_same_revision(scene, feed):
    scene.update(feed(updated=(instance(1),)))
    revision = scene.revision
    delta = scene.update(feed())
    assert (delta.revision, delta.previous_revision, delta.updated) == (revision, revision, ())


def test_an_older_delta_is_ignored_and_counted(scene, feed):
    old = feed(updated=(instance(1, label="table", caption="table"),))
    scene.update(feed(updated=(instance(1),)))
    assert scene.update(old).updated == ()
    assert scene.entities()[1].label == "chair"
    assert scene.counts["stale_deltas"] == 1


def test_another_session_removes_everything(scene, feed):
    scene.update(feed(updated=(instance(1), instance(2))))
    delta = scene.update(feed(session_id="next", updated=(instance(1),)))
    assert set(delta.removed) >= {2}
    assert set(scene.entities()) == {1}
    assert scene.entities()[1].session_id == "next"


def test_views_from_different_sides_are_kept_and_similar_ones_are_not(scene, feed):
    scene.update(feed(updated=(instance(1),)))
    for degrees in (0, 10, 20, 90, 95, 180):
        yaw = math.radians(degrees)
        pose = camera_at(-2 * math.cos(yaw), -2 * math.sin(yaw), yaw)
        scene.update(feed(observations=(sighting(1, stamp=1.0 + degrees, pose=pose),)))
    assert [v.stamp for v in scene.entities()[1].views] == [1.0, 91.0, 181.0]


def test_a_much_closer_view_replaces_a_similar_one(scene, feed):
    scene.update(feed(updated=(instance(1),)))
    scene.update(feed(observations=(sighting(1, stamp=2.0, pose=camera_at(-4.0, 0, 0)),)))
    scene.update(feed(observations=(sighting(1, stamp=3.0, pose=camera_at(-2.0, 0, 0), pixels=9000),)))
    assert [v.stamp for v in scene.entities()[1].views] == [3.0]


def test_at_most_k_views_and_the_worst_goes(feed):
    scene = SceneDictionary(SceneConfig(max_views=3))
    scene.update(feed(updated=(instance(1),)))
    pixels = [2000, 400, 3000, 6000]
    for quarter, count in enumerate(pixels):
        yaw = quarter * math.pi / 2
        pose = camera_at(-2 * math.cos(yaw), -2 * math.sin(yaw), yaw)
        scene.update(feed(observations=(sighting(1, stamp=10.0 + quarter, pose=pose, pixels=count),)))
    assert [v.stamp for v in scene.entities()[1].views] == [10.0, 12.0, 13.0]


def test_views_are_in_map_and_follow_a_jump_of_the_map(scene, feed):
    scene.update(feed(updated=(instance(1),)))
    scene.update(feed(observations=(sighting(1, pose=camera_at(-2, 0, 0)),)))
    jump = planar_transform(1.0, 0.0, math.pi / 2)
    scene.update(feed(map_from_odom=jump))
    view = scene.entities()[1].views[0]
    assert np.allclose(view.map_from_camera, jump @ camera_at(-2, 0, 0))
    assert scene.counts["jumps"] == 1


def test_small_corrections_leave_the_views_alone(scene, feed):
    scene.update(feed(updated=(instance(1),)))
    scene.update(feed(observations=(sighting(1, pose=camera_at(-2, 0, 0)),)))
    scene.update(feed(map_from_odom=planar_transform(0.05, 0.0, 0.01)))
    assert np.allclose(scene.entities()[1].views[0].map_from_camera, camera_at(-2, 0, 0))


def test_three_clear_looks_archive_and_one_already_brings_doubt(scene, feed):
    scene.update(feed(updated=(instance(1),)))
    states = []
    for _ in range(3):
        scene.update(feed(absences=(Absence(1, 2.0, 0.9),)))
        states.append(scene.entities()[1].state)
    assert states == [EntityState.UNCERTAIN, EntityState.UNCERTAIN, EntityState.ARCHIVED]
    assert 1 in scene.entities()


def test_looks_that_are_not_clear_do_not_count(scene, feed):
    scene.update(feed(updated=(instance(1),)))
    for _ in range(9):
        scene.update(feed(absences=(Absence(1, 2.0, 0.5),)))
    assert scene.entities()[1].state == EntityState.ACTIVE


def test_a_sighting_between_the_looks_starts_the_count_again(scene, feed):
    scene.update(feed(updated=(instance(1),)))
    for _ in range(4):
        scene.update(feed(absences=(Absence(1, 2.0, 0.9),)))
        scene.update(feed(observations=(sighting(1),)))
    entity = scene.entities()[1]
    assert (entity.state, entity.confidence) == (EntityState.ACTIVE, 1.0)


def test_seen_and_absent_at_once_counts_as_seen(scene, feed):
    scene.update(feed(updated=(instance(1),)))
    for _ in range(3):
        scene.update(feed(observations=(sighting(1),), absences=(Absence(1, 2.0, 1.0),)))
    assert scene.entities()[1].state == EntityState.ACTIVE


def archive(scene, feed, identity):
    for _ in range(3):
        scene.update(feed(absences=(Absence(identity, 2.0, 1.0),)))
    entity = scene.entities().get(identity)
    assert entity is None or entity.state == EntityState.ARCHIVED


def test_an_archived_entity_that_is_seen_again_is_restored_with_its_history(scene, feed):
    scene.update(feed(updated=(instance(1),), observations=(sighting(1, stamp=1.0),)))
    archive(scene, feed, 1)
    scene.update(feed(observations=(sighting(1, stamp=50.0),)))
    entity = scene.entities()[1]
    assert (entity.state, entity.confidence, entity.first_seen, entity.last_seen) == (
        EntityState.ACTIVE,
        1.0,
        0.5,
        50.0,
    )


def test_a_new_instance_in_an_archived_ones_place_is_that_one_again(scene, feed):
    scene.update(feed(updated=(instance(1),), observations=(sighting(1, stamp=1.0),)))
    archive(scene, feed, 1)
    delta = scene.update(
        feed(updated=(instance(9, (0.2, 0, 0.5), caption="chair", first_seen=60.0, stamp=60.0),))
    )
    assert delta.merges == (Merge(1, 9),)
    entity = scene.entities()[9]
    assert scene.resolve(1) == 9
    assert entity.first_seen == 0.5
    assert len(entity.views) == 1
    assert set(scene.entities()) == {9}


def test_another_kind_of_thing_in_an_archived_ones_place_is_new(scene, feed):
    scene.update(feed(updated=(instance(1),)))
    archive(scene, feed, 1)
    assert scene.update(feed(updated=(instance(9, label="lamp", caption="lamp"),))).merges == ()
    assert scene.entities()[1].state == EntityState.ARCHIVED


def test_scans_of_its_room_that_miss_it_bring_doubt_and_end_in_the_archive(feed):
    scene = SceneDictionary(SceneConfig(scan_interval=1.0))
    other = instance(2, (0.0, 0.6, 0.5), stamp=1.0)
    scene.update(feed(updated=(instance(1), other), stamp=1.0))
    mask = np.ones((100, 100), np.uint16)
    scene.assign_regions(mask, (-5.0, -5.0), 0.1, [(1, 100.0, (0.0, 0.0), ())])
    confidences = []
    for scan in range(46):
        look = sighting(2, stamp=2.0 + scan, pose=camera_at(-2, 0, 0))
        scene.update(feed(stamp=2.0 + scan, observations=(look,)))
        confidences.append(scene.entities()[1].confidence)
    assert confidences[0] == pytest.approx(0.95)
    assert confidences[9] == pytest.approx(0.95**10)
    assert scene.entities()[1].state == EntityState.ARCHIVED
    assert scene.entities()[2].state == EntityState.ACTIVE


@pytest.mark.parametrize(
    "pose",
    [camera_at(-2, 0, math.pi), camera_at(-4.5, 0, 0), camera_at(0, -2, math.pi / 4)],
    ids=["away", "far", "side"],
)
def test_what_is_not_in_the_middle_of_a_near_image_is_not_doubted(scene, feed, pose):
    scene.update(feed(updated=(instance(1), instance(2, (0, 3, 0.5)))))
    scene.assign_regions(np.ones((100, 100), np.uint16), (-5.0, -5.0), 0.1, [(1, 100.0, (0.0, 0.0), ())])
    for scan in range(5):
        scene.update(feed(stamp=10.0 + scan, observations=(sighting(2, stamp=10.0 + scan, pose=pose),)))
    assert scene.entities()[1].confidence == 1.0


def test_the_next_room_is_not_doubted(scene, feed):
    scene.update(feed(updated=(instance(1), instance(2, (-1, 0, 0.5)))))
    mask = np.ones((100, 100), np.uint16)
    mask[:, 48:] = 2  # the wall between camera and entity 1
    scene.assign_regions(mask, (-5.0, -5.0), 0.1, [(1, 50.0, (-2, 0), (2,)), (2, 50.0, (2, 0), (1,))])
    scene.update(feed(stamp=10.0, observations=(sighting(2, stamp=10.0),)))
    assert scene.entities()[1].region_id == 2
    assert scene.entities()[1].confidence == 1.0


def test_a_merge_passes_everything_to_the_winner(scene, feed):
    scene.update(feed(updated=(instance(1), instance(2, (0.1, 0, 0.5)), instance(3, (1, 0, 0.5)))))
    scene.update(feed(observations=(sighting(1, stamp=5.0), sighting(3, stamp=5.0))))
    weight = scene.entities()[1].covisible[3]
    delta = scene.update(feed(stamp=5.0, merges=(Merge(1, 2),), updated=(instance(2),)))
    assert delta.merges == (Merge(1, 2),)
    winner = scene.entities()[2]
    assert len(winner.views) == 1
    assert winner.covisible[3] == pytest.approx(weight, rel=0.01)
    assert 1 not in scene.entities()
    assert scene.resolve(1) == 2
    scene.update(
        feed(observations=(sighting(1, stamp=9.0),))
    )  # a late observation of the loser counts for the winner
    assert scene.entities()[2].last_seen == 9.0


def test_ids_forward_through_chains_of_merges(scene, feed):
    scene.update(feed(updated=tuple(instance(i, (i * 0.2, 0, 0.5)) for i in range(1, 5))))
    scene.update(feed(merges=(Merge(1, 2),)))
    scene.update(feed(merges=(Merge(2, 3),)))
    scene.update(feed(merges=(Merge(3, 4),)))
    assert [scene.resolve(i) for i in (1, 2, 3, 4, 77)] == [4, 4, 4, 4, 77]
    assert set(scene.entities()) == {4}


def test_removed_instances_leave(scene, feed):
    scene.update(feed(updated=(instance(1), instance(2))))
    delta = scene.update(feed(removed=(1, 99)))
    assert delta.removed == (1,)
    assert set(scene.entities()) == {2}


def test_covisibility_decays_and_distance_ends_it(scene, feed):
    scene.update(feed(updated=(instance(1), instance(2, (1, 0, 0.5)), instance(3, (9, 0, 0.5)))))
    scene.update(feed(stamp=10.0, observations=(sighting(1), sighting(2), sighting(3))))
    assert scene.entities()[1].covisible == pytest.approx({2: 0.2})
    scene.update(feed(stamp=610.0, observations=(sighting(1, stamp=610.0),)))
    assert scene.entities()[1].covisible == pytest.approx({2: 0.1})


def test_neighbors_are_the_nearest_by_hellinger_distance(scene, feed):
    places = [(0, 0, 0.5), (0.3, 0, 0.5), (0.6, 0, 0.5), (10, 0, 0.5)]
    scene.update(feed(updated=tuple(instance(i + 1, place) for i, place in enumerate(places))))
    neighbors = scene.entities()[1].neighbors
    assert list(neighbors) == [2, 3]
    assert 1.0 > neighbors[2] > neighbors[3] >= 0.0


def test_a_delta_is_bounded_and_nothing_is_lost(feed):
    scene, mirror = SceneDictionary(SceneConfig(max_delta=10)), SceneMirror()
    delta = scene.update(feed(updated=tuple(instance(i, (i, 0, 0)) for i in range(1, 36))))
    sizes = []
    while delta.updated:
        assert mirror.apply(delta)
        sizes.append(len(delta.updated))
        delta = scene.flush()
    assert sizes == [10, 10, 10, 5]
    assert set(mirror.entities) == set(range(1, 36))


def test_paging_gives_each_entity_once(scene, feed):
    scene.update(feed(updated=tuple(instance(i, (i, 0, 0)) for i in range(1, 26))))
    pages = [scene.delta_since(0, page, 10) for page in range(3)]
    assert [count for _, count in pages] == [3, 3, 3]
    assert [e.id for delta, _ in pages for e in delta.updated] == list(range(1, 26))
    with pytest.raises(ValueError, match="no page 3"):
        scene.delta_since(0, 3, 10)


def test_paging_since_a_revision_by_ids_and_without_archived(scene, feed):
    scene.update(feed(updated=(instance(1), instance(2, (3, 0, 0)), instance(3, (6, 0, 0)))))
    revision = scene.revision
    scene.update(feed(updated=(instance(2, (3, 0, 0), stamp=7.0),)))
    assert [e.id for e in scene.delta_since(revision)[0].updated] == [2]
    assert [e.id for e in scene.delta_since(0, ids=(3, 99))[0].updated] == [3]
    archive(scene, feed, 1)
    assert [e.id for e in scene.delta_since(0, include_archived=False)[0].updated] == [2, 3]


def test_a_follower_with_a_gap_catches_up_by_paging(scene, feed):
    mirror = SceneMirror()
    assert mirror.apply(scene.update(feed(updated=(instance(1), instance(2, (3, 0, 0))))))
    scene.update(feed(merges=(Merge(1, 2),)))
    late = scene.update(feed(updated=(instance(3, (6, 0, 0)),)))
    assert not mirror.apply(late)
    assert set(mirror.entities) == {1, 2}
    delta, pages = scene.delta_since(mirror.revision)
    mirror.fill([delta, *(scene.delta_since(mirror.revision, p)[0] for p in range(1, pages))])
    assert mirror.revision == scene.revision
    assert set(mirror.entities) == {2, 3}
    assert mirror.get(1).id == 2


def test_a_keyframe_is_linked_to_the_view_of_its_stamp(scene, feed):
    from lodestar.geometry.camera import PinholeCamera

    scene.update(feed(updated=(instance(1),), observations=(sighting(1, stamp=4.0),)))
    camera = PinholeCamera(640, 480, 380, 380, 319.5, 239.5)
    scene.link_keyframe(
        Keyframe(7, 4.0, np.eye(4), camera, {1: ImageBox(0, 0, 1, 1), 99: ImageBox(0, 0, 1, 1)})
    )
    assert [v.keyframe_id for v in scene.flush().updated[0].views] == [7]


def test_a_session_that_was_over_before_does_not_come_back(scene, feed):
    old = feed(session_id="first", updated=(instance(1), instance(2, (3, 0, 0))))
    scene.update(old)
    scene.update(feed(session_id="second", updated=(instance(7),)))
    assert scene.update(feed(session_id="first", updated=(instance(1),))).updated == ()
    assert set(scene.entities()) == {7}
    assert scene.counts["stale_deltas"] == 1


def test_a_newcomer_is_a_neighbor_of_what_stood_there_before(scene, feed):
    scene.update(feed(updated=(instance(1),)))
    assert scene.entities()[1].neighbors == {}
    delta = scene.update(feed(updated=(instance(2, (0.3, 0, 0.5)),)))
    mirrored = {entity.id: entity.neighbors for entity in (*delta.updated, *scene.flush().updated)}
    assert set(mirrored[1]) == {2} and set(mirrored[2]) == {1}


def test_only_the_newest_of_the_archive_are_kept(feed):
    scene = SceneDictionary(SceneConfig(max_archived=2))
    scene.update(feed(updated=tuple(instance(i, (3.0 * i, 0, 0.5)) for i in range(1, 6))))
    for identity in (3, 1, 4):
        archive(scene, feed, identity)
    assert set(scene.entities()) == {1, 2, 4, 5}
    assert scene.counts["pruned"] == 1
    assert scene.delta_since(0)[0].removed == (3,)


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["update", "observe", "absent", "merge", "remove", "jump"]),
        st.integers(1, 6),
        st.integers(1, 6),
    ),
    max_size=40,
)


@settings(max_examples=60, deadline=None)
@given(STEPS)
def test_a_mirror_that_hears_everything_equals_the_scene(steps):
    scene, mirror, feed = SceneDictionary(SceneConfig(max_delta=3)), SceneMirror(), Feed()
    merged: set[int] = set()
    for kind, a, b in steps:
        a, b = scene.resolve(a), scene.resolve(b)
        stamp = float(feed.revision)
        if kind == "update":
            delta = feed(updated=(instance(a, (a, 0, 0), stamp=stamp),))
        elif kind == "observe":
            delta = feed(observations=(sighting(a, stamp), sighting(b, stamp)))
        elif kind == "absent":
            delta = feed(absences=(Absence(a, stamp, 0.9),))
        elif kind == "merge" and a != b:
            delta = feed(merges=(Merge(a, b),))
            merged.add(a)
        elif kind == "remove":
            delta = feed(removed=(a,))
        else:
            delta = feed(map_from_odom=planar_transform(a, b, 0.0))
        assert mirror.apply(scene.update(delta))
    while (rest := scene.flush()).updated:
        assert mirror.apply(rest)
    assert mirror.revision == scene.revision
    assert set(mirror.entities) == set(scene.entities())
    assert not merged & set(mirror.entities)
    for identity, entity in scene.entities().items():
        assert mirror.entities[identity] is entity

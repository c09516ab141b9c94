"""Tests of entities made from instances, of merges and of neighbours."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scene_builders import camera_at, instance, sighting

from lodestar.geometry.camera import PinholeCamera
from lodestar.keyframes.records import Keyframe
from lodestar.mapping.instances.records import CaptionVote, Merge
from lodestar.perception.frames import ImageBox
from lodestar.scene.dictionary import SceneDictionary
from lodestar.scene.records import EntityState

CAMERA = PinholeCamera(640, 480, 380, 380, 319.5, 239.5)


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
    assert entity.attributes == ("red",)  # blue has a third of the label's votes, less than the required 0.35


def test_captions_are_one_clean_line(scene, feed):
    caption = "red\x1b[31m chair\n\x00 " + "x" * 500
    entity = scene.update(feed(updated=(instance(1, caption=caption),))).updated[0]
    assert len(entity.caption) <= 200
    assert entity.caption.isprintable()
    assert entity.caption.startswith("red [31m chair x")


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


def test_at_most_k_views_and_the_worst_goes(feed, monkeypatch):
    monkeypatch.setattr("lodestar.scene.views.SCENE_MAX_VIEWS", 3)
    scene = SceneDictionary()
    scene.update(feed(updated=(instance(1),)))
    pixels = [2000, 400, 3000, 6000]
    for quarter, count in enumerate(pixels):
        yaw = quarter * math.pi / 2
        pose = camera_at(-2 * math.cos(yaw), -2 * math.sin(yaw), yaw)
        scene.update(feed(observations=(sighting(1, stamp=10.0 + quarter, pose=pose, pixels=count),)))
    assert [v.stamp for v in scene.entities()[1].views] == [10.0, 12.0, 13.0]


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
    )  # a late observation of the merged instance counts for the remaining one
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


def test_a_keyframe_is_linked_to_the_view_of_its_stamp(scene, feed):
    scene.update(feed(updated=(instance(1),), observations=(sighting(1, stamp=4.0),)))
    scene.link_keyframe(
        Keyframe(7, 4.0, np.eye(4), CAMERA, {1: ImageBox(0, 0, 1, 1), 99: ImageBox(0, 0, 1, 1)})
    )
    (view,) = scene.flush().updated[0].views
    assert view.keyframe_id == 7 and view.box == ImageBox(10, 10, 50, 50), "the view is the keyframe's own"


@pytest.mark.parametrize("late", [False, True])
def test_a_view_that_was_not_kept_becomes_the_look_of_a_keyframe_like_it(scene, feed, late):
    box, pose = ImageBox(5, 6, 40, 40), camera_at(-2.2, 0.1, 0.05)
    keyframe = Keyframe(7, 3.0, pose, CAMERA, {1: box})
    if late:
        scene.link_keyframe(keyframe)  # a keyframe from before the instance was confirmed
    scene.update(feed(updated=(instance(1),)))
    scene.update(feed(observations=(sighting(1, stamp=4.0),)))
    if not late:
        scene.link_keyframe(keyframe)
        scene.flush()
    (view,) = scene.entities()[1].views
    assert (view.keyframe_id, view.stamp, view.box) == (7, 3.0, box)
    assert np.allclose(view.map_from_camera, pose)


@pytest.mark.parametrize(
    "pose", [camera_at(-0.8, 0.0, 0.0), camera_at(-2.0, 0.0, 0.5), camera_at(2.0, 0.0, 3.14)]
)
def test_a_keyframe_from_elsewhere_is_no_image_of_the_view(scene, feed, pose):
    scene.update(feed(updated=(instance(1),)))
    scene.update(feed(observations=(sighting(1, stamp=4.0),)))
    scene.link_keyframe(Keyframe(7, 3.0, pose, CAMERA, {1: ImageBox(5, 6, 40, 40)}))
    scene.flush()
    (view,) = scene.entities()[1].views
    assert (view.keyframe_id, view.stamp) == (0, 4.0)


def test_a_newcomer_is_a_neighbor_of_what_stood_there_before(scene, feed):
    scene.update(feed(updated=(instance(1),)))
    assert scene.entities()[1].neighbors == {}
    delta = scene.update(feed(updated=(instance(2, (0.3, 0, 0.5)),)))
    mirrored = {entity.id: entity.neighbors for entity in (*delta.updated, *scene.flush().updated)}
    assert set(mirrored[1]) == {2} and set(mirrored[2]) == {1}

"""Tests of doubting, archiving and restoring entities."""

from __future__ import annotations

import numpy as np
import pytest
from scene_builders import archive, camera_at, instance, miss, sighting

from lodestar.mapping.instances.records import Absence, CaptionVote, Merge
from lodestar.scene.dictionary import SceneConfig, SceneDictionary
from lodestar.scene.records import EntityState


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


def test_a_synonym_in_an_archived_ones_place_is_that_one_again(scene, feed):
    scene.update(feed(updated=(instance(1, label="sofa", caption="grey sofa"),)))
    archive(scene, feed, 1)
    newcomer = instance(9, (0.2, 0, 0.5), label="leather couch", caption="couch", first_seen=60.0, stamp=60.0)
    assert scene.update(feed(updated=(newcomer,))).merges == (Merge(1, 9),)


def test_synonyms_elect_one_label_together(scene, feed):
    votes = (
        CaptionVote("table", "table", 3.0),
        CaptionVote("sofa", "gray sofa", 2.0),
        CaptionVote("couch", "gray couch", 2.5),
    )
    scene.update(feed(updated=(instance(1, votes=votes),)))
    entity = scene.entities()[1]
    assert (entity.label, entity.caption, entity.attributes) == ("couch", "gray couch", ("gray",))


def test_another_kind_of_thing_in_an_archived_ones_place_is_new(scene, feed):
    scene.update(feed(updated=(instance(1),)))
    archive(scene, feed, 1)
    assert scene.update(feed(updated=(instance(9, label="lamp", caption="lamp"),))).merges == ()
    assert scene.entities()[1].state == EntityState.ARCHIVED


def test_misses_in_clear_view_bring_doubt_and_end_in_the_archive(feed):
    scene = SceneDictionary()
    scene.update(feed(updated=(instance(1), instance(2, (0.0, 0.6, 0.5))), stamp=1.0))
    confidences = []
    for scan in range(46):
        stamp = 2.0 + scan
        scene.update(feed(stamp=stamp, observations=(sighting(2, stamp=stamp),), misses=(miss(1, stamp),)))
        confidences.append(scene.entities()[1].confidence)
    assert confidences[0] == pytest.approx(0.95)
    assert confidences[9] == pytest.approx(0.95**10)
    assert scene.entities()[1].state == EntityState.ARCHIVED
    assert scene.entities()[2].state == EntityState.ACTIVE


def test_only_one_miss_per_interval_counts(scene, feed):
    scene.update(feed(updated=(instance(1),), stamp=1.0))
    for k in range(8):
        stamp = 2.0 + 0.25 * k
        scene.update(feed(stamp=stamp, misses=(miss(1, stamp),)))
    assert scene.entities()[1].confidence == pytest.approx(0.95**2)


def test_being_near_and_in_mid_image_is_no_miss(scene, feed):
    """Without depth evidence an entity is not doubted, because it may have been hidden."""
    scene.update(feed(updated=(instance(1), instance(2, (0, 0.6, 0.5)))))
    scene.assign_regions(np.ones((100, 100), np.uint16), (-5.0, -5.0), 0.1, [(1, 100.0, (0.0, 0.0), ())])
    for scan in range(46):
        stamp = 10.0 + scan
        look = sighting(2, stamp=stamp, pose=camera_at(-2, 0, 0))
        scene.update(feed(stamp=stamp, observations=(look,)))
    assert scene.entities()[1].confidence == 1.0


def test_a_miss_of_what_was_seen_or_is_unknown_or_was_merged_is_no_harm(scene, feed):
    scene.update(feed(updated=(instance(1), instance(2, (0.0, 0.6, 0.5)))))
    scene.update(feed(merges=(Merge(2, 1),)))
    scene.update(feed(observations=(sighting(1, stamp=5.0),), misses=(miss(2, 5.0), miss(77, 5.0))))
    assert scene.entities()[1].confidence == 1.0
    scene.update(feed(misses=(miss(2, 9.0),)))
    assert scene.entities()[1].confidence == pytest.approx(0.95), "a merged id means its winner"


def test_only_the_newest_of_the_archive_are_kept(feed):
    scene = SceneDictionary(SceneConfig(max_archived=2))
    scene.update(feed(updated=tuple(instance(i, (3.0 * i, 0, 0.5)) for i in range(1, 6))))
    for identity in (3, 1, 4):
        archive(scene, feed, identity)
    assert set(scene.entities()) == {1, 2, 4, 5}
    assert scene.counts["pruned"] == 1
    assert scene.delta_since(0)[0].removed == ()  # a new subscriber has never known the entity

"""Tests of movers as entities: they end by their own clock, and followers of a predecessor are updated."""

from __future__ import annotations

import numpy as np

from lodestar.mapping.instances.records import CaptionVote, Instance, InstanceDelta
from lodestar.mapping.movers.mover_tracks import FIRST_TRACK
from lodestar.scene.dictionary import SceneDictionary
from lodestar.scene.mirror import SceneMirror
from lodestar.scene.persistence import scene_from_archive, scene_to_archive
from lodestar.timing.stamps import CarriedStamp


def seen(identity, stamp, label="person", x=1.0):
    place = np.array([x, 1.0, 0.9])
    votes = (CaptionVote(label, label, 1.0),)
    return Instance(
        identity, 300, place, np.eye(3) * 0.1, place - 0.3, place + 0.3, votes, 1.0, 3, True, stamp, stamp
    )


def told(scene, stamp, revision, *instances):
    return scene.update(InstanceDelta(stamp, revision, revision - 1, instances, session_id="a"))


def test_a_person_is_an_entity_also_after_the_clock_went_back():
    scene = SceneDictionary(map_id=1, session_id="a")
    told(scene, 1000.0, 1, seen(5, 1000.0, "chair", 4.0), seen(FIRST_TRACK + 1, 1000.0))
    for k, stamp in enumerate((10.0, 11.0, 12.0), start=2):
        told(scene, stamp, k, seen(FIRST_TRACK + 9, stamp))
        assert set(scene.entities()) == {5, FIRST_TRACK + 9}
    told(scene, 30.0, 9)
    assert set(scene.entities()) == {5}


def test_who_followed_a_dictionary_hears_from_its_successor_that_nobody_is_there_any_more():
    scene, mirror = SceneDictionary(map_id=1, session_id="a"), SceneMirror()
    mirror.apply(told(scene, 10.0, 1, seen(5, 10.0, "chair", 4.0)))
    mirror.apply(told(scene, 11.0, 2, seen(FIRST_TRACK + 1, 11.0)))
    assert FIRST_TRACK + 1 in mirror.entities
    saved = scene_from_archive(scene_to_archive(scene), scene.config, 12.0, resumes=True)
    successor = SceneDictionary(map_id=1, session_id="a")
    successor.resume(saved.state, saved.map_id, saved.session_id)
    told(successor, 12.0, 3, seen(5, 12.0, "chair", 4.0))
    page, _ = successor.delta_since(mirror.revision)
    mirror.take(page)
    assert set(mirror.entities) == {5}
    loaded = scene_from_archive(scene_to_archive(scene), scene.config, 12.0)
    assert set(loaded.state.records) == {5}, "nobody stands in a saved map"


def test_a_person_ends_also_where_no_images_come_any_more_and_others_hear_of_it():
    scene, mirror = SceneDictionary(map_id=1, session_id="a"), SceneMirror()
    mirror.apply(told(scene, 10.0, 1, seen(5, 10.0, "chair", 4.0), seen(FIRST_TRACK + 1, 10.0)))
    assert mirror.apply(scene.expire_movers(10.0 + scene.config.mover_life))
    assert FIRST_TRACK + 1 in mirror.entities
    assert mirror.apply(scene.expire_movers(10.1 + scene.config.mover_life))
    assert set(mirror.entities) == {5}


def test_a_person_stays_whatever_the_cameras_clock_and_ends_when_nothing_more_comes(monkeypatch):
    """For a camera that is hours off, or a bag without a clock, only the time since the last image counts."""
    steady = [7.0]
    monkeypatch.setattr(CarriedStamp.__init__, "__defaults__", (lambda: steady[0],))
    scene = SceneDictionary(map_id=1, session_id="a")
    assert not scene.expire_movers().removed
    for k in range(10):
        told(scene, 1e6 + k, k + 1, seen(FIRST_TRACK + 1, 1e6 + k))
        steady[0] += 1.0
        assert not scene.expire_movers().removed
        assert FIRST_TRACK + 1 in scene.entities()
    steady[0] += scene.config.mover_life
    assert scene.expire_movers().removed
    assert FIRST_TRACK + 1 not in scene.entities()

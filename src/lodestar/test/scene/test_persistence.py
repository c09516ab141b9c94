"""Tests of scene files: nothing is lost, a voxel map can continue them, and invalid files are refused."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from scene_builders import Feed, camera_at, instance, sighting

from lodestar.geometry.poses import planar_transform
from lodestar.mapping.follower import pages_of
from lodestar.mapping.instances.records import Absence, Merge
from lodestar.scene.config import SceneConfig
from lodestar.scene.dictionary import SceneDictionary
from lodestar.scene.enrichment import Enrichment
from lodestar.scene.export import entities_to_json
from lodestar.scene.mirror import SceneMirror
from lodestar.scene.persistence import BadScene, scene_from_archive, scene_to_archive
from lodestar.scene.records import EntityState

CONFIG = SceneConfig()


def lively(session="abc"):
    """Return a scene with entities in every state, and the feed that continues it."""
    scene, feed = SceneDictionary(map_id=4), Feed()
    common = {"map_id": 4, "session_id": session}
    things = tuple(instance(i, (0.8 * i, 0, 0.5), caption=f"red chair {i}") for i in range(1, 7))
    scene.update(feed(updated=things, **common))
    look = sighting(2, stamp=2.0, pose=camera_at(-2, 0, 0))
    featured = sighting(3, stamp=2.0)
    featured = type(featured)(
        **{**vars(featured), "feature": np.arange(1, 6, dtype=np.float32), "feature_model": "eyes"}
    )
    scene.update(feed(observations=(sighting(1, stamp=2.0), look, featured), **common))
    scene.update(feed(merges=(Merge(5, 6),), **common))
    for _ in range(3):
        scene.update(feed(absences=(Absence(4, 3.0, 1.0),), **common))
    scene.assign_regions(np.ones((100, 100), np.uint16), (-5.0, -5.0), 0.1, [(1, 100.0, (0.0, 0.0), ())])
    scene.take_enrichments(9)
    scene.enrich(Enrichment(1, "chair", "", "m", np.eye(7)[2]))
    while scene.flush().updated:
        pass
    return scene, feed


def go_on(scene, archive, now=1e9):
    saved = scene_from_archive(archive, CONFIG, now)
    return scene.replace(saved.state, saved.map_id, saved.session_id)


def restored(scene, now=1e9, **options):
    other = SceneDictionary(**options)
    go_on(other, scene_to_archive(scene), now)
    while other.flush().updated:
        pass
    return other


def test_nothing_is_lost(assert_same_entity):
    scene, _ = lively()
    other = restored(scene)
    assert other.revision > scene.revision and (other.map_id, other.session_id) == (4, "abc")
    assert set(other.entities()) == {1, 2, 3, 4, 6}
    for identity, entity in scene.entities().items():
        assert_same_entity(other.entities()[identity], entity)
    assert other.resolve(5) == 6
    assert other.entities()[4].state == EntityState.ARCHIVED
    assert other.entities()[1].embeddings["caption"].model == "m"
    assert other.entities()[3].embeddings["appearance"].model == "eyes"


@pytest.fixture
def assert_same_entity():
    def check(found, given):
        for name, value in vars(given).items():
            other = getattr(found, name)
            if name == "views":
                assert [(v.stamp, v.box, v.keyframe_id, v.quality) for v in other] == [
                    (v.stamp, v.box, v.keyframe_id, v.quality) for v in value
                ]
                assert all(np.allclose(a.map_from_camera, b.map_from_camera) for a, b in zip(other, value))
            elif name == "embeddings":
                assert other.keys() == value.keys()
                assert all(np.allclose(other[key].vector, value[key].vector) for key in value)
            elif isinstance(value, np.ndarray):
                assert np.array_equal(other, value), name
            elif isinstance(value, dict):
                assert other == pytest.approx(value), name
            else:
                assert other == value, name

    return check


def test_followers_of_the_loaded_scene_page_everything():
    scene, _ = lively()
    other = restored(scene)
    mirror = SceneMirror()
    pages = list(pages_of(other.delta_since, size=2))
    assert len(pages) == 3
    for page in pages:
        mirror.take(page)
    assert set(mirror.entities) == set(other.entities())
    assert mirror.resolve(5) == 6


def test_a_follower_of_what_was_before_starts_anew():
    scene, _ = lively("old")
    mirror = SceneMirror()
    mirror.take(scene.delta_since(0)[0])
    loaded = restored(lively()[0])
    delta = loaded.update(Feed()(map_id=4, session_id="abc+1", updated=(instance(9),)))
    assert not mirror.apply(delta)
    assert mirror.entities, "what was known stays until the pages have come"
    mirror.take(loaded.delta_since(0)[0])
    assert set(mirror.entities) == set(loaded.entities())


def test_the_voxel_map_goes_on_under_the_next_name_of_its_session():
    other = restored(lively()[0])
    feed = Feed()
    delta = other.update(feed(map_id=4, session_id="abc+1", updated=(instance(9),)))
    assert delta.removed == () and 1 in other.entities() and 9 in other.entities()
    other.update(feed(map_id=4, session_id="abc+1", observations=(sighting(1, stamp=50.0),)))
    assert other.entities()[1].last_seen == 50.0
    other.update(feed(map_id=4, session_id="xyz", updated=(instance(1),)))
    assert set(other.entities()) == {1}, "a session that does not go on with it clears it"


def test_a_dictionary_that_was_started_again_goes_on_where_it_was():
    """Voxel map and odometry went on meanwhile, in the same session; a jump since then is followed."""
    scene, feed = lively()
    moved = planar_transform(0.5, 0.0, 0.0)
    scene.update(feed(map_id=4, session_id="abc", observations=(sighting(1, stamp=5.0),)))
    saved = scene_from_archive(scene_to_archive(scene), CONFIG, np.inf, resumes=True)
    other = SceneDictionary()
    other.resume(saved.state, saved.map_id, saved.session_id)
    assert set(other.entities()) == set(scene.entities())
    for identity, entity in scene.entities().items():
        found = other.entities()[identity]
        assert (found.caption, found.state, found.last_seen) == (
            entity.caption,
            entity.state,
            entity.last_seen,
        )
    before = other.entities()[3].mean
    delta = other.update(
        feed(map_id=4, session_id="abc", observations=(sighting(1, stamp=6.0),), map_from_odom=moved)
    )
    assert delta.removed == ()
    assert other.entities()[3].mean - before == pytest.approx([0.5, 0.0, 0.0])
    other.update(Feed()(map_id=4, session_id="abc+1", updated=(instance(1),)))
    assert other.counts["source_restarts"] == 1 and set(other.entities()) == set(scene.entities())


@pytest.mark.parametrize("known", [False, True])
def test_late_deltas_of_the_session_before_do_not_clear_what_was_loaded(known):
    running, feed = SceneDictionary(), Feed()
    if known:
        running.update(feed(session_id="run", updated=(instance(8),)))
    take_back = go_on(running, scene_to_archive(lively()[0]))
    if not known:
        running.retire("run")
    running.flush()
    assert running.update(feed(session_id="run", updated=(instance(8),))).removed == ()
    assert 8 not in running.entities() and 1 in running.entities()
    take_back()
    assert 8 in {
        entity.id for entity in running.update(feed(session_id="run", updated=(instance(8),))).updated
    }


def test_a_map_that_is_loaded_again_goes_on_in_the_session_after():
    running, feed = SceneDictionary(map_id=4), Feed()
    running.update(feed(map_id=4, session_id="abc+1", updated=(instance(8),)))
    go_on(running, scene_to_archive(lively()[0]))
    running.flush()
    assert running.update(feed(map_id=4, session_id="abc+1", updated=(instance(8),))).updated == ()
    delta = running.update(feed(map_id=4, session_id="abc+2", updated=(instance(9),)))
    assert delta.removed == () and {1, 2, 9} <= set(running.entities())


def test_a_load_that_is_taken_back_leaves_what_was():
    running, feed = lively("run")
    before, names = running.entities(), (running.map_id, running.session_id, running.revision)
    take_back = go_on(running, scene_to_archive(lively()[0]))
    running.flush()
    take_back()
    assert (running.map_id, running.session_id, running.revision) == names
    assert running.entities().keys() == before.keys()
    delta = running.update(feed(map_id=4, session_id="run", updated=(instance(9),)))
    assert 9 in {entity.id for entity in delta.updated}, "the voxel map's session is not over"


def test_nothing_was_seen_in_the_future():
    scene, _ = lively()
    stamp = max(e.last_seen for e in scene.entities().values())
    other = restored(scene, now=1.0)
    assert max(e.last_seen for e in other.entities().values()) <= 1.0
    first, later = scene.entities(), other.entities()
    assert later[1].last_seen - later[1].first_seen == pytest.approx(first[1].last_seen - first[1].first_seen)
    assert stamp > 1.0


@pytest.mark.parametrize(
    "harm",
    [
        lambda meta, arrays: arrays.pop("texts"),
        lambda meta, arrays: meta.pop("stamp"),
        lambda meta, arrays: meta.update(region_names=[["lab", float("nan"), 0.0]]),
        lambda meta, arrays: arrays.update(region_mask=np.zeros(3, np.uint16)),
        lambda meta, arrays: arrays.update(ids=arrays["ids"][:2]),
        lambda meta, arrays: arrays.update(ids=np.zeros_like(arrays["ids"])),
        lambda meta, arrays: arrays.update(texts=arrays["texts"][:10]),
        lambda meta, arrays: arrays.update(view_owners=arrays["view_owners"] + 1000),
        lambda meta, arrays: arrays.update(forward=np.array([[5, 6], [6, 5]])),
        lambda meta, arrays: arrays.update(centroids=arrays["centroids"][:1]),
    ],
)
def test_what_is_no_scene_is_refused(harm):
    archive = scene_to_archive(lively()[0])
    harm(archive.meta, archive.arrays)
    with pytest.raises(BadScene):
        scene_from_archive(archive, CONFIG, 1e9)


def test_an_empty_scene_there_and_back():
    other = restored(SceneDictionary(map_id=3))
    assert other.entities() == {} and other.map_id == 3


def test_json_of_entities_and_regions_can_be_read_by_anyone():
    scene, _ = lively()
    content = json.loads(entities_to_json(scene.entities().values(), scene.regions.values()))
    assert (content["format"], content["version"], content["frame"]) == ("lodestar-entities", 1, "map")
    assert [e["id"] for e in content["entities"]] == sorted(scene.entities())
    first = content["entities"][0]
    entity = scene.entities()[1]
    assert first["caption"] == entity.caption and first["state"] == "ACTIVE"
    assert np.allclose(first["box_min"], entity.box_min) and np.array(first["covariance"]).shape == (3, 3)
    assert first["embeddings"] == [{"channel": "caption", "model": "m", "dimension": 7}]
    assert np.array(first["views"][0]["map_from_camera"]).shape == (4, 4)
    assert content["regions"][0]["id"] == 1


def test_a_feature_of_another_model_starts_the_channel_anew():
    scene, feed = lively()
    for model, vector in (("eyes", np.eye(5)[1]), ("other", np.eye(3)[2]), ("other", np.eye(3)[2])):
        look = replace(sighting(3, stamp=3.0), feature=vector.astype(np.float32), feature_model=model)
        scene.update(feed(observations=(look,), map_id=4, session_id="abc"))
    kept = restored(scene).entities()[3].embeddings["appearance"]
    assert kept.model == "other" and np.allclose(kept.vector, [0.0, 0.0, 1.0])

"""Tests of deltas, pages and sessions, by which others follow the dictionary."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from scene_builders import Feed, archive, instance, sighting

from lodestar.geometry.poses import planar_transform
from lodestar.mapping.follower import pages_of
from lodestar.mapping.instances.records import Absence, Merge
from lodestar.scene.dictionary import SceneConfig, SceneDictionary
from lodestar.scene.mirror import SceneMirror


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


def test_a_voxel_map_that_was_started_again_takes_nothing_along(scene, feed):
    """The voxel map's process died: its next session may know less, and no entity is removed for that."""
    scene.update(
        feed(session_id="abc", updated=(instance(1), instance(2, (3, 0, 0)), instance(3, (6, 0, 0))))
    )
    again = Feed()
    delta = scene.update(again(session_id="abc+1", updated=(instance(1),)))
    assert delta.removed == () and set(scene.entities()) == {1, 2, 3}
    assert scene.counts["source_restarts"] == 1
    scene.update(again(session_id="abc+1", updated=(instance(2, (3, 0, 0), stamp=9.0),)))
    assert scene.entities()[2].last_seen == 9.0, "ids mean the same things"


def test_what_the_voxel_map_has_lost_is_taken_over_by_the_same_thing_seen_again(scene, feed):
    scene.update(
        feed(session_id="abc", updated=(instance(1), instance(2, (3, 0, 0)), instance(3, (6, 0, 0))))
    )
    again = Feed()
    scene.update(again(session_id="abc+1", updated=(instance(1),)))
    scene.claim("abc", [])  # late pages of the previous session are ignored
    assert scene.counts["orphans"] == 0
    scene.claim("abc+1", [1])
    assert scene.counts["orphans"] == 2 and set(scene.entities()) == {1, 2, 3}
    twin = instance(12, (3.1, 0, 0), stamp=9.0)
    other = instance(13, (6, 0, 0), label="table", caption="table", stamp=9.0)
    beside = instance(14, (0.1, 0, 0.5), stamp=9.0)
    delta = scene.update(again(session_id="abc+1", updated=(twin, other, beside)))
    assert Merge(2, 12) in delta.merges and scene.resolve(2) == 12
    assert set(scene.entities()) == {1, 3, 12, 13, 14}, (
        "what has an instance is nobody's twin, nor is another kind"
    )
    scene.update(again(session_id="abc+1", updated=(instance(3, (6, 0, 0), stamp=10.0),)))
    later = scene.update(again(session_id="abc+1", updated=(instance(15, (6.1, 0, 0), stamp=11.0),)))
    assert not later.merges, "one that was seen again under its own id is no orphan any more"


def test_what_is_seen_again_before_the_voxel_maps_list_has_come_takes_over_too(scene, feed):
    """The list is paged; on a busy machine new instances are confirmed before it arrives."""
    scene.update(feed(session_id="abc", updated=(instance(1), instance(2, (3, 0, 0)))))
    again = Feed()
    twin = instance(12, (3.1, 0, 0), stamp=9.0)
    other = instance(13, (9, 0, 0), stamp=9.0)
    scene.update(again(session_id="abc+1", updated=(twin, other)))
    assert set(scene.entities()) == {1, 2, 12, 13}
    mirror = SceneMirror()
    mirror.take(scene.delta_since(0)[0])
    delta = scene.claim("abc+1", [12])  # the list was written before 13 was confirmed
    assert delta.merges == (Merge(2, 12),) and scene.resolve(2) == 12
    assert set(scene.entities()) == {1, 12, 13} and scene.counts["orphans"] == 2
    assert mirror.apply(delta) and set(mirror.entities) == {1, 12, 13}
    beside = instance(14, (9.1, 0, 0), stamp=10.0)
    later = scene.update(again(session_id="abc+1", updated=(beside,)))
    assert not later.merges, "what is new has an instance"


def test_what_a_voxel_map_has_kept_takes_no_lost_neighbour(scene, feed):
    scene.update(feed(session_id="abc", updated=(instance(1), instance(2, (0.1, 0, 0.5)))))
    again = Feed()
    scene.update(again(session_id="abc+1", updated=(instance(1, stamp=9.0),)))
    assert not scene.claim("abc+1", [1]).merges
    assert set(scene.entities()) == {1, 2}


def test_another_session_removes_everything(scene, feed):
    scene.update(feed(updated=(instance(1), instance(2))))
    delta = scene.update(feed(session_id="next", updated=(instance(1),)))
    assert set(delta.removed) >= {2}
    assert set(scene.entities()) == {1}
    assert scene.entities()[1].session_id == "next"


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
    pages = list(pages_of(scene.delta_since, size=10))
    assert [len(page.updated) for page in pages] == [10, 10, 5]
    assert [e.id for page in pages for e in page.updated] == list(range(1, 26))


def test_paging_since_a_revision_by_ids_and_without_archived(scene, feed):
    scene.update(feed(updated=(instance(1), instance(2, (3, 0, 0)), instance(3, (6, 0, 0)))))
    revision = scene.revision
    scene.update(feed(updated=(instance(2, (3, 0, 0), stamp=7.0),)))
    assert [e.id for e in scene.delta_since(revision)[0].updated] == [2]
    assert [e.id for e in scene.delta_since(0, ids=(3, 99))[0].updated] == [3]
    archive(scene, feed, 1)
    assert {e.id for e in scene.delta_since(0, include_archived=False)[0].updated} == {2, 3}


def test_a_follower_with_a_gap_catches_up_by_paging(scene, feed):
    mirror = SceneMirror()
    assert mirror.apply(scene.update(feed(updated=(instance(1), instance(2, (3, 0, 0))))))
    scene.update(feed(merges=(Merge(1, 2),)))
    late = scene.update(feed(updated=(instance(3, (6, 0, 0)),)))
    assert not mirror.apply(late)
    assert set(mirror.entities) == {1, 2}
    mirror.take(scene.delta_since(mirror.revision)[0])
    assert mirror.revision == scene.revision
    assert set(mirror.entities) == {2, 3}
    assert mirror.get(1).id == 2


def test_a_session_that_was_over_before_does_not_come_back(scene, feed):
    old = feed(session_id="first", updated=(instance(1), instance(2, (3, 0, 0))))
    scene.update(old)
    scene.update(feed(session_id="second", updated=(instance(7),)))
    assert scene.update(feed(session_id="first", updated=(instance(1),))).updated == ()
    assert set(scene.entities()) == {7}
    assert scene.counts["stale_deltas"] == 1


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

"""Tests that snapshots stay correct while keyframes come and go and the scene changes."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from snapshot_scenes import CAMERA, FIRST, PAIR, camera_at, delta, holds, shot, snapshot_of, thing, upkeep

from lodestar.mapping.instances.records import Merge
from lodestar.memory.snapshots.cluster_upkeep import SNAPSHOT_QUALITY_WEIGHT
from lodestar.memory.snapshots.clusters import cover_clusters
from lodestar.memory.snapshots.upkeep import SnapshotUpkeep
from lodestar.perception.frames import ImageBox
from lodestar.scene.records import EntityState


def test_things_seen_together_share_an_image_and_its_words():
    made = upkeep(PAIR, (FIRST,))
    news = made.commit(5.0)
    assert (news.revision, news.previous_revision, news.removed, news.stamp) == (1, 0, (), 5.0)
    (snapshot,) = news.updated
    assert (snapshot.keyframe_id, snapshot.entity_ids) == (1, {1, 2})
    assert "chair" in snapshot.caption and "table" in snapshot.caption
    again = made.commit(6.0)
    assert (again.revision, again.previous_revision, again.updated, again.removed) == (1, 1, (), ())
    holds(made)


def test_instances_that_are_linked_before_their_entity_is_known_count_when_it_is():
    made = upkeep((), (FIRST,))
    assert made.commit(1.0).updated == () and made.revision == 0
    made.apply(delta(*PAIR))
    assert made.commit(2.0).updated[0].entity_ids == {1, 2}


def test_a_nearer_image_replaces_a_farther_one_and_the_old_one_goes():
    far = shot(1, camera_at(-1.4, 0.0, 0.0), PAIR)
    made = upkeep(PAIR, (far,))
    (old,) = made.commit(1.0).updated
    made.put_keyframe(shot(2, camera_at(0.6, 0.0, 0.0), PAIR))
    news = made.commit(2.0)
    assert news.removed == (old.id,) and news.updated[0].keyframe_id == 2
    assert made.wanted == {2}
    holds(made)


def test_a_sight_from_afar_counts_only_until_there_is_a_near_one():
    rack = thing(1, 6.0, 0.0, size=3.0)
    made = upkeep((rack,), (shot(1, camera_at(0.0, 0.0, 0.0), (rack,)),))
    made.commit(1.0)
    assert made.wanted == {1}, "4.5 m away, but nothing nearer shows it"
    made.put_keyframe(shot(2, camera_at(2.0, 0.0, 0.0), (rack,)))
    made.commit(2.0)
    assert made.wanted == {2} and not made.sights().get(1)
    made.drop_keyframe(2)
    made.commit(3.0)
    assert made.wanted == {1}


def test_a_keyframe_that_is_gone_is_replaced_by_the_next_best_or_by_none():
    second = shot(2, camera_at(0.3, 0.1, 0.0), PAIR)
    made = upkeep(PAIR, (FIRST, second))
    made.commit(1.0)
    (best,) = made.wanted
    made.drop_keyframe(best)
    made.commit(2.0)
    assert made.wanted == {1, 2} - {best}
    holds(made)
    made.keep_only(())
    news = made.commit(3.0)
    assert len(news.removed) == 1 and not made.snapshots and snapshot_of(made, 1) is None
    made.drop_keyframe(99)
    assert made.commit(4.0).revision == news.revision


def test_what_moved_out_of_the_image_is_no_longer_shown_by_it():
    made = upkeep(PAIR, (FIRST,))
    made.commit(1.0)
    moved = thing(1, -3.0, 0.3)
    made.apply(delta(moved))
    news = made.commit(2.0)
    assert news.updated[0].entity_ids == {2} and snapshot_of(made, 1) is None
    assert "chair" not in news.updated[0].caption
    made.put_keyframe(shot(2, camera_at(-1.0, 0.0, math.pi), (moved,)))
    made.commit(3.0)
    assert snapshot_of(made, 1).keyframe_id == 2
    holds(made)


@pytest.mark.parametrize(("x", "y"), [(2.0, 1.3), (2.0, -1.2), (-2.0, 0.3)])
def test_what_moved_to_another_part_of_the_image_is_not_where_the_image_shows_it(x, y):
    made = upkeep(PAIR, (FIRST,))
    made.commit(1.0)
    made.apply(delta(thing(1, x, y)))
    assert made.commit(2.0).updated[0].entity_ids == {2}


def test_one_better_image_of_one_thing_takes_it_from_no_shared_image():
    made = upkeep(PAIR, (FIRST,))
    made.commit(1.0)
    closer = shot(2, camera_at(0.9, 0.3, 0.0), PAIR)
    made.put_keyframe(replace(closer, instances={1: closer.instances[1]}))
    assert made.commit(2.0).updated == () and made.wanted == {1}, "the table needs the first image anyway"


def test_the_words_of_an_image_lose_what_is_archived_also_where_it_is_at_home_elsewhere():
    shared = shot(1, camera_at(0.0, 0.0, 0.0), PAIR)
    closer = shot(2, camera_at(0.9, 0.3, 0.0), (PAIR[0], thing(3, 2.0, 0.8, label="lamp")))
    made = upkeep((*PAIR, thing(3, 2.0, 0.8, label="lamp")), (shared, closer))
    made.commit(1.0)
    assert snapshot_of(made, 1).keyframe_id == 2 and "chair" in snapshot_of(made, 2).caption
    made.apply(delta(replace(PAIR[0], state=EntityState.ARCHIVED)))
    made.commit(2.0)
    assert "chair" not in snapshot_of(made, 2).caption


def test_a_small_step_within_the_image_changes_nothing():
    made = upkeep(PAIR, (FIRST,))
    made.commit(1.0)
    made.apply(delta(thing(1, 2.1, 0.35)))
    assert made.commit(2.0).updated == ()


def test_an_image_counts_again_when_the_thing_is_back():
    made = upkeep(PAIR, (FIRST,))
    made.commit(1.0)
    for x, known in ((-3.0, False), (2.0, True)):
        made.apply(delta(thing(1, x, 0.3)))
        made.commit(2.0)
        assert (snapshot_of(made, 1) is not None) == known
    holds(made)


def test_a_merged_entity_lives_on_in_its_winner():
    made = upkeep(PAIR, (FIRST,))
    made.commit(1.0)
    both = thing(2, 2.0, 0.0, size=1.0)
    made.apply(delta(both, merges=(Merge(1, 2),)))
    (snapshot,) = made.commit(2.0).updated
    assert snapshot.entity_ids == {2} and snapshot_of(made, 2) == snapshot
    made.put_keyframe(shot(2, camera_at(0.4, 0.0, 0.0), PAIR))  # still lists objects 1 and 2
    made.commit(3.0)
    holds(made)
    assert snapshot_of(made, 2).entity_ids == {2}
    made.apply(delta(merges=(Merge(1, 2), Merge(2, 2))))
    made.apply(delta(thing(1, 2.0, 0.3)))  # a late update of the merged entity
    assert made.commit(4.0).updated == ()
    holds(made)


def test_all_archived_leaves_no_snapshot_and_they_come_back():
    made = upkeep(PAIR, (FIRST,))
    (snapshot,) = made.commit(1.0).updated
    made.apply(delta(*(replace(each, state=EntityState.ARCHIVED) for each in PAIR)))
    news = made.commit(2.0)
    assert news.removed == (snapshot.id,) and news.updated == () and made.wanted == frozenset()
    made.apply(delta(*(replace(each, state=EntityState.UNCERTAIN) for each in PAIR)))
    assert made.commit(3.0).updated[0].entity_ids == {1, 2}
    made.apply(delta(removed=(1, 2)))
    assert not made.snapshots or made.commit(4.0).removed
    holds(made)


def test_a_renamed_entity_renames_its_snapshot_and_the_region_is_that_of_most():
    made = upkeep(PAIR, (FIRST,))
    made.commit(1.0)
    made.apply(delta(thing(1, 2.0, 0.3, label="stool", region=4)))
    (snapshot,) = made.commit(2.0).updated
    assert "stool" in snapshot.caption and snapshot.region_id == 4


def test_the_same_facts_twice_change_nothing():
    made = upkeep(PAIR, (FIRST,))
    made.commit(1.0)
    made.put_keyframe(FIRST)
    made.apply(delta(*PAIR, *PAIR))
    assert made.commit(2.0).revision == 1


def test_a_corrected_pose_is_taken_in():
    made = upkeep(PAIR, (FIRST,))
    made.commit(1.0)
    made.put_keyframe(replace(FIRST, map_from_camera=camera_at(0.0, 0.0, math.pi)))
    assert len(made.commit(2.0).removed) == 1, "it looks the other way"


def test_an_instance_that_is_unlinked_is_not_shown_any_more():
    made = upkeep(PAIR, (FIRST,))
    made.commit(1.0)
    made.put_keyframe(replace(FIRST, instances={2: FIRST.instances[2]}))
    assert made.commit(2.0).updated[0].entity_ids == {2}


@pytest.mark.parametrize(
    "box", [ImageBox(0, 0, 0, 0), ImageBox(400, 10, 20, 20), ImageBox(-50, 0, 20, 20), ImageBox(0, 0, -5, 10)]
)
def test_an_empty_box_or_one_outside_the_image_shows_nothing(box):
    made = upkeep(PAIR, (replace(FIRST, instances={1: box}),))
    assert made.commit(1.0).updated == ()


def test_boxes_and_poses_that_are_no_numbers_are_left_out():
    broken = replace(thing(1, 2.0, 0.3), box_max=np.array([np.nan, 0.5, 0.6]))
    lost = replace(FIRST, id=2, map_from_camera=np.full((4, 4), np.nan))
    made = upkeep((broken, PAIR[1]), (FIRST, lost))
    assert made.commit(1.0).updated[0].entity_ids == {2} and made.refused == 1
    made.apply(delta(PAIR[0]))
    assert made.commit(2.0).updated[0].entity_ids == {1, 2}, "known again when its box is"
    holds(made)


def test_nothing_at_all():
    made = SnapshotUpkeep()
    made.apply(delta())
    news = made.commit(1.0)
    assert (news.revision, news.updated, news.removed, made.wanted) == (0, (), (), frozenset())
    assert made.since(1.0, 0).updated == () and made.since(1.0, 7).previous_revision == 0


def test_a_late_subscriber_gets_the_changes_or_everything(monkeypatch):
    monkeypatch.setattr("lodestar.memory.snapshots.upkeep.SNAPSHOT_HISTORY", 1)
    made = upkeep(PAIR, (FIRST,))
    known = {}
    for _ in range(2):
        made.commit(1.0)
        since = made.since(9.0, 0)
        known = {snapshot.id: snapshot for snapshot in since.updated}
        assert known == made.snapshots and since.previous_revision == 0
    revision = made.revision
    made.put_keyframe(shot(2, camera_at(0.6, 0.0, 0.0), PAIR))
    made.commit(2.0)
    change = made.since(9.0, revision)
    assert (change.previous_revision, change.revision) == (revision, made.revision)
    for identity in change.removed:
        del known[identity]
    known.update({snapshot.id: snapshot for snapshot in change.updated})
    assert known == made.snapshots
    for _ in range(2):  # more removals than are remembered
        made.keep_only(())
        made.commit(3.0)
        made.put_keyframe(FIRST)
        made.commit(4.0)
    assert made.since(9.0, revision).previous_revision == 0, "too long ago: everything"


def test_another_map_begins_with_nothing():
    made = upkeep(PAIR, (FIRST,))
    made.commit(1.0)
    revision, there = made.revision, set(made.snapshots)
    made.restart()
    change = made.commit(2.0)
    assert (set(change.removed), change.updated) == (there, ()), (
        "a follower is told that the old ones are gone"
    )
    assert change.revision == revision + 1 and not made.snapshots
    made.apply(delta(*PAIR))
    made.put_keyframe(FIRST)
    assert there.isdisjoint(one.id for one in made.commit(3.0).updated), "ids are not given again"


def test_things_that_a_whole_scene_does_not_name_are_gone():
    made = upkeep(PAIR, (FIRST,))
    made.commit(1.0)
    made.keep_entities({PAIR[0].id: PAIR[0]}.get)
    assert [one.entity_ids for one in made.commit(2.0).updated] == [frozenset({PAIR[0].id})]


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["see", "drop", "move", "archive", "merge", "remove", "back"]),
        st.integers(1, 8),
        st.integers(1, 8),
    ),
    max_size=40,
)


@settings(max_examples=60, deadline=None)
@given(STEPS)
def test_whatever_happens_the_snapshots_are_true_and_few(steps):
    things = {i: thing(i, 1.5 * (i % 3), 1.2 * (i // 3), label=f"thing {i}") for i in range(1, 9)}
    made = upkeep(things.values())
    revision, mirror, merged = 0, {}, set()
    for number, (what, a, b) in enumerate(steps):
        if what == "see":
            pose = camera_at(-1.0 + 0.5 * a, 0.4 * b, 0.7 * (a - b))
            made.put_keyframe(shot(number % 12 + 1, pose, things.values()))
        elif what == "drop":
            made.drop_keyframe(a)
        elif what == "move" and a not in merged:
            things[a] = thing(a, 0.6 * b, 0.4 * a)
            made.apply(delta(things[a]))
        elif what == "archive" and a not in merged:
            made.apply(delta(replace(things[a], state=EntityState.ARCHIVED)))
        elif what == "merge" and not {a, b} & merged and a != b:
            merged.add(a)
            made.apply(delta(merges=(Merge(a, b),)))
        elif what == "remove":
            made.apply(delta(removed=(a,)))
        elif what == "back" and a not in merged:
            made.apply(delta(things[a]))
        news = made.commit(float(number))
        assert news.previous_revision == revision
        revision = news.revision
        for identity in news.removed:
            del mirror[identity]
        mirror.update({snapshot.id: snapshot for snapshot in news.updated})
        assert mirror == made.snapshots, "who follows the deltas has the same"
        holds(made)
    visible = {entity for scores in made.sights().values() for entity in scores}
    batch = cover_clusters(visible, made.sights(), SNAPSHOT_QUALITY_WEIGHT)
    assert len(made.snapshots) <= 2 * len(batch) + 1


def test_an_update_costs_the_change_and_not_the_scene(monkeypatch):
    """Counts the sights that an update reads, in a long corridor and in a short one."""
    counts = []
    for length in (20, 60):
        things = [thing(i + 1, 1.0 * i, 1.0) for i in range(length)]
        made = upkeep(things, (shot(i + 1, camera_at(1.0 * i, -1.0, 1.57), things) for i in range(length)))
        made.commit(1.0)
        looked = []
        import lodestar.memory.snapshots.cluster_upkeep as module

        def counted(entities, sights, *rest, looked=looked):
            looked.append(sum(len(scores) for scores in sights.values()))
            return cover_clusters(entities, sights, *rest)

        monkeypatch.setattr(module, "cover_clusters", counted)
        made.put_keyframe(shot(length + 1, camera_at(5.2, -1.1, 1.57), things))
        made.commit(2.0)
        monkeypatch.undo()
        counts.append(looked)
    assert counts[0] == counts[1] and 0 < counts[0][0] < 200
    assert CAMERA.width == 320

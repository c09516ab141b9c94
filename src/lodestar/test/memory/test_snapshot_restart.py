"""Tests of snapshots after a restart: restored, and updated by changes made meanwhile."""

from __future__ import annotations

import json

import pytest
from snapshot_scenes import FIRST, PAIR, camera_at, delta, shot, snapshot_of, thing, upkeep

from lodestar.memory.snapshots.upkeep import SnapshotUpkeep


def successor(made, things, keyframes):
    """Return the state as restored by a new process, which receives keyframes and objects one by one."""
    again = SnapshotUpkeep()
    again.restore(json.loads(json.dumps(made.state())))
    for keyframe in keyframes:
        again.put_keyframe(keyframe)
        assert not again.commit(9.0).updated, "nothing is told before all is known"
    for one in things:
        again.apply(delta(one))
        assert not again.commit(9.0).removed
    again.release()
    return again


def test_after_a_restart_the_snapshots_are_what_they_were():
    things = [thing(i, 1.5 + 0.3 * (i % 3), 0.8 * (i // 3) - 1.0, label=f"thing {i}") for i in range(1, 7)]
    shots = [shot(i, camera_at(0.2 * i, 0.1 * i, 0.0), things) for i in range(1, 6)]
    made = upkeep()
    for one, image in zip(things, [*shots, shots[0]]):  # one by one, so that the clusters have a history
        made.apply(delta(one))
        made.put_keyframe(image)
        made.commit(1.0)
    again = successor(made, things, shots)
    change = again.commit(9.0)
    assert (change.updated, change.removed, again.revision) == ((), (), made.revision)
    assert again.snapshots == made.snapshots and again.snapshots
    late = again.since(9.0, 0)
    assert {one.id: one for one in late.updated} == made.snapshots, "whoever comes late gets all of them"
    assert again.since(9.0, made.revision).updated == ()
    assert again.since(9.0, made.revision - 1).previous_revision == 0, "an older follower gets everything"


def test_after_a_restart_what_changed_meanwhile_is_told():
    made = upkeep(PAIR, (FIRST,))
    made.commit(1.0)
    (before,) = made.snapshots
    gone = successor(made, PAIR, ()).commit(9.0)
    assert (gone.removed, gone.updated) == ((before,), ()), "its image was deleted"
    less = successor(made, PAIR[:1], (FIRST,)).commit(9.0)
    assert [one.entity_ids for one in less.updated] == [frozenset({PAIR[0].id})], "a thing has vanished"
    second = shot(2, camera_at(0.6, 0.0, 0.0), [*PAIR, thing(9, 3.0, 0.5)])
    more = successor(made, [*PAIR, thing(9, 3.0, 0.5)], (FIRST, second))
    more.commit(9.0)
    assert snapshot_of(more, 9) is not None and before in more.snapshots
    more.drop_keyframe(2)
    more.commit(9.5)
    assert snapshot_of(more, 9) is None


@pytest.mark.parametrize("state", [{}, {"snapshots": 3}, {"snapshots": [[1]], "revision": 1, "next_id": 2}])
def test_a_state_that_is_none_is_refused_and_nothing_changes(state):
    made = upkeep(PAIR, (FIRST,))
    made.commit(1.0)
    before = dict(made.snapshots)
    with pytest.raises(ValueError, match="no snapshots"):
        made.restore(state)
    assert made.snapshots == before and not made.is_held

"""Tests of the order in which changed entities are published: oldest first, and each within a bounded time."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from lodestar.scene.journal import Journal

steps = st.lists(st.lists(st.tuples(st.integers(1, 40), st.booleans()), max_size=12), max_size=12)


def publish(journal: Journal, limit: int) -> list[int]:
    batch = journal.pending(limit)
    journal.publish(0.0, batch, lambda identity: identity, (), (), (1, "a"))  # type: ignore[arg-type, return-value]
    return batch


@settings(max_examples=100, deadline=None)
@given(steps, st.integers(1, 16))
def test_each_change_is_published_once_and_a_delta_is_as_full_as_it_may_be(rounds, limit):
    journal, dirty = Journal(), set()
    for marks in rounds:
        for identity, seen in marks:
            journal.mark(identity, seen=seen)
            dirty.add(identity)
        batch = publish(journal, limit)
        assert len(batch) == len(set(batch)) == min(limit, len(dirty)) and set(batch) <= dirty
        dirty -= set(batch)
    for _ in range(len(dirty)):
        dirty -= set(publish(journal, limit))
    assert not dirty and not publish(journal, limit)


def test_what_is_seen_does_not_wait_for_thousands_that_a_correction_moved_and_these_do_not_wait_for_ever():
    journal, moved, seen = Journal(), set(range(1, 5001)), set()
    for identity in moved:
        journal.mark(identity)
    for frame in range(100):
        for identity in range(4000 + frame, 4200 + frame):  # more entities than fit into one delta
            journal.mark(identity, seen=True)
            seen.add(identity)
        batch = publish(journal, 100)
        assert set(batch[:75]) <= seen and len(set(batch) - seen) >= 25
        moved, seen = moved - set(batch), seen - set(batch)
    assert len(moved) <= 5000 - 100 * 25

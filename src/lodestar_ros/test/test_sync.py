"""Tests of streams paired by stamps, joined with companions, and waiting for transforms."""

from __future__ import annotations

import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from lodestar_ros.frame_tree import Cause, TransformUnavailable
from lodestar_ros.sync import Companions, PoseQueue, StampPairer


@pytest.fixture
def pairs():
    found = []
    pairer = StampPairer(("depth", "labels"), lambda stamp, parts: found.append((stamp, parts)), capacity=3)
    pairer.found = found
    return pairer


def test_pairs_exact_stamps_in_any_order(pairs):
    for name, stamp in (("depth", 1.0), ("labels", 1.1), ("labels", 1.0), ("depth", 1.1)):
        pairs.add(name, stamp, f"{name}{stamp}")
    assert [parts["labels"] for _, parts in pairs.found] == ["labels1.0", "labels1.1"]
    assert pairs.unmatched == {"depth": 0, "labels": 0}


def test_pairs_within_the_tolerance_and_not_beyond(pairs):
    pairs.add("depth", 1.0, "d")
    pairs.add("labels", 1.015, "l")
    assert pairs.found == [(1.0, {"depth": "d", "labels": "l"})]
    pairs.add("depth", 2.0, "d")
    pairs.add("labels", 2.03, "l")
    assert len(pairs.found) == 1


def test_what_finds_no_partner_is_counted_and_bounded(pairs):
    for tick in range(10):
        pairs.add("labels", float(tick), "l")
    assert pairs.unmatched["labels"] == 7
    assert not pairs.found


def test_a_moment_gives_up_older_ones(pairs):
    pairs.add("depth", 1.0, "d")
    pairs.add("depth", 2.0, "d")
    pairs.add("labels", 2.0, "l")
    assert pairs.unmatched == {"depth": 1, "labels": 0}
    pairs.add("labels", 1.0, "l")
    assert len(pairs.found) == 1, "the older moment is over"


class Poses:
    """Fake source of transforms, available up to a stamp."""

    def __init__(self):
        self.until = 0.0
        self.cause = Cause.FUTURE

    def __call__(self, item):
        if item > self.until:
            raise TransformUnavailable(self.cause, "missing")
        return item


class Joined:
    """Collector of the output of `Companions`, with a clock controlled by the test."""

    def __init__(self):
        self.now, self.out = 0.0, []
        self.companions = Companions(lambda item, with_it: self.out.append((item, with_it)), lambda: self.now)


@pytest.mark.parametrize("first", ["item", "companion"])
def test_an_item_goes_on_with_its_companion_whichever_comes_first(first):
    joined = Joined()
    joined.companions.add_companion(0.9, "old")
    for stamp in (1.0, 1.1, 1.2):
        calls = [
            lambda s=stamp: joined.companions.add(s, s),
            lambda s=stamp: joined.companions.add_companion(s + 0.01, "c"),
        ]
        for call in calls if first == "item" else calls[::-1]:
            call()
    assert joined.out == [(1.0, "c"), (1.1, "c"), (1.2, "c")]
    assert (joined.companions.joined, joined.companions.alone) == (3, 0)


def test_without_companions_nothing_waits():
    joined = Joined()
    for stamp in range(5):
        joined.companions.add(float(stamp), stamp)
    assert joined.out == [(i, None) for i in range(5)] and joined.companions.alone == 5


def test_no_item_is_lost_or_overtaken_when_companions_stop_or_skip():
    joined = Joined()
    joined.companions.add_companion(1.0, "a")
    joined.companions.add(1.0, 1)
    joined.companions.add(1.1, 2)
    assert joined.out == [(1, "a")]  # a companion of 2 may still arrive
    joined.companions.add(1.2, 3)
    joined.companions.add_companion(1.2, "b")
    assert joined.out == [(1, "a"), (2, None), (3, "b")]  # a later companion shows that one was skipped
    joined.companions.add(1.3, 4)
    joined.now = 5.0
    joined.companions.expire()
    for stamp in (1.4, 1.5, 1.6, 1.7):
        joined.companions.add(stamp, stamp)
    assert [item for item, _ in joined.out] == [1, 2, 3, 4, 1.4]  # the rest still waits
    joined.companions.add(3.0, 3.0)  # no companions for long: the stream has stopped
    joined.now = 6.0
    joined.companions.expire()
    assert [item for item, _ in joined.out] == [1, 2, 3, 4, 1.4, 1.5, 1.6, 1.7, 3.0]


def test_a_frame_waits_for_its_transform_and_keeps_its_order():
    poses, delivered, dropped = Poses(), [], []
    queue = PoseQueue(poses, delivered.append, dropped.append, capacity=3)
    queue.add(1.0)
    queue.add(2.0)
    assert delivered == []
    poses.until = 1.5
    queue.retry()
    assert delivered == [1.0]
    poses.until = 2.0
    queue.retry()
    assert (delivered, dropped) == ([1.0, 2.0], [])


def test_frames_that_wait_too_long_are_dropped():
    poses, delivered, dropped = Poses(), [], []
    queue = PoseQueue(poses, delivered.append, dropped.append, capacity=2)
    for stamp in (1.0, 2.0, 3.0, 4.0):
        queue.add(stamp)
    assert (len(dropped), delivered) == (2, [])


def test_a_frame_whose_transform_will_never_come_is_dropped_at_once():
    poses, delivered, dropped = Poses(), [], []
    poses.cause = Cause.NO_FRAME
    PoseQueue(poses, delivered.append, dropped.append).add(1.0)
    assert len(dropped) == 1

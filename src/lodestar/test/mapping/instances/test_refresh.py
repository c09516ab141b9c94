"""Tests of the order in which instances are measured again: the nearest first, and each within a bounded time."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from lodestar.mapping.config import VOXEL_CONFIRM, VoxelConfig
from lodestar.mapping.instances.presence import Looks
from lodestar.mapping.instances.refresh import RefreshQueue
from lodestar.mapping.instances.tracks import Track, Tracks


def tracks_at(places) -> Tracks:
    """Return instances whose boxes are points along x."""
    tracks = Tracks()
    for number, x in enumerate(places):
        point = np.array([x, 0.0, 0.0])
        tracks.add(Track(number + 1, 0.0, 0.0, point, point))
    return tracks


@settings(max_examples=60, deadline=None)
@given(st.lists(st.floats(-50.0, 50.0), min_size=1, max_size=120), st.integers(2, 20), st.integers(0, 30))
def test_every_instance_is_measured_in_bounded_time_whatever_keeps_changing(places, count, busy):
    tracks, queue = tracks_at(places), RefreshQueue()
    near = sorted(tracks, key=lambda i: abs(places[i - 1]))[:busy]
    left, calls = set(tracks), 0
    queue.add(tracks)
    while left:
        chosen = queue.take(count, tracks, np.zeros(3))
        assert len(chosen) == len(set(chosen)) <= count
        left -= set(chosen)
        queue.add(near)  # objects near the robot change all the time
        calls += 1
        assert calls <= -(-len(places) // max(count // 2, 1))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(-500, 500), min_size=12, max_size=60, unique=True), st.integers(-500, 500))
def test_half_of_what_is_taken_is_what_waits_nearest_to_the_camera(places, x):
    tracks, queue = tracks_at(places), RefreshQueue()
    queue.add(tracks)
    chosen = queue.take(10, tracks, np.array([x, 0.0, 0.0]))
    assert chosen[:5] == [1, 2, 3, 4, 5]  # these have waited longest
    rest = sorted((i for i in tracks if i > 5), key=lambda i: (abs(places[i - 1] - x), i))
    assert sorted(abs(places[i - 1] - x) for i in chosen[5:]) == [abs(places[i - 1] - x) for i in rest[:5]]


def test_what_was_removed_is_not_measured_and_what_shows_is():
    tracks, queue, config = tracks_at(range(300)), RefreshQueue(), VoxelConfig(batch=20, round_robin=4)
    inside, hidden = np.zeros(301, np.int32), np.zeros(301, np.int32)
    inside[[7, 200, 250]] = 10
    hidden[250] = 10  # hidden, so no change of it can have been seen
    queue.add([9])
    tracks.pop(9)
    looks = Looks(inside, np.zeros(301, np.int32), hidden)
    batch, expired = queue.choose(tracks, looks, {30, 9}, 1.0, np.zeros(3), config)
    assert set(batch[:3]) == {30, 7, 200} and len(batch) == 3 + 4 and not expired and not len(queue)


def test_what_was_never_confirmed_expires_though_thousands_are_known():
    tracks, queue, config = tracks_at(range(3000)), RefreshQueue(), VoxelConfig(round_robin=4, forget=5.0)
    for identity in range(11, 3001):
        tracks[identity].observation_count = VOXEL_CONFIRM
    none = np.zeros(3001, np.int32)
    gone: list[int] = []
    for frame in range(3):
        batch, expired = queue.choose(
            tracks, Looks(none, none, none), set(), 10.0 + frame, np.zeros(3), config
        )
        assert set(expired) <= set(batch) and len(expired) <= 4
        gone += expired
        for identity in expired:
            tracks.pop(identity)
    assert gone == list(range(1, 11))

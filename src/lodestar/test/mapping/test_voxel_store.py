"""The pool of voxels against a dictionary."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lodestar.mapping.voxel_store import GONE, VoxelStore

TOP = 12


@given(st.integers(0, 10_000))
@settings(max_examples=25, deadline=None)
def test_votes_removals_and_growth_agree_with_a_dictionary(seed):
    rng = np.random.default_rng(seed)
    store, truth = VoxelStore(0.05, 40_000), {}
    for mark in range(1, 30):
        points = rng.integers(-12, 12, (int(rng.integers(1, 900)), 3)).astype(np.int32)
        voter = int(rng.integers(1, 4))
        store.vote(points, np.full(len(points), voter, np.int32), 4, 2, TOP, mark)
        for point in {tuple(p) for p in points.tolist()}:
            votes = truth.setdefault(point, {})
            votes[voter] = votes.get(voter, 0) + 4
        if mark % 3 == 0 and store.live:
            places = np.flatnonzero(store.owner[: store.used] != GONE)
            gone = rng.choice(places, size=len(places) // 3, replace=False)
            for point in store.coords[gone].tolist():
                del truth[tuple(point)]
            store.remove(gone)
        assert store.live == len(truth)
    everywhere = np.array(list(truth), np.int32).reshape(-1, 3)
    owners = store.owners(everywhere)
    for point, owner in zip(truth, owners.tolist()):
        assert truth[point][owner] == max(truth[point].values())
    outside = np.array([[100, 0, 0], [-100, 5, 5]], np.int32)
    assert store.owners(outside).tolist() == [0, 0]


def one_voxel(*votes):
    store = VoxelStore(0.05, 100)
    point = np.zeros((1, 3), np.int32)
    for mark, (voter, weight) in enumerate(votes, 1):
        store.vote(point, np.array([voter], np.int32), weight, 2, TOP, mark)
    return store, point


def test_a_voxel_counts_one_vote_per_frame():
    store, point = one_voxel()
    store.vote(np.repeat(point, 50, 0), np.full(50, 7, np.int32), 4, 2, TOP, 1)
    assert store.weights[0].max() == 4 and store.occupancy[0] == 2


def test_background_outvotes_but_does_not_create():
    store, point = one_voxel((0, 1))
    assert store.live == 0
    store, point = one_voxel((5, 4), *[(0, 1)] * 5)
    assert store.owners(point).tolist() == [0]


def test_counts_saturate_without_turning_the_majority():
    store, point = one_voxel(*[(5, 4)] * 300, *[(6, 4)] * 20)
    assert store.owners(point).tolist() == [5]
    assert store.weights[0].max() <= 255


def test_a_fifth_voter_wears_down_the_weakest():
    store, point = one_voxel((1, 40), (2, 20), (3, 20), (4, 8), *[(9, 4)] * 20)
    assert store.owners(point).tolist() == [9]


def test_renaming_joins_votes():
    store, point = one_voxel((1, 12), (2, 8), (3, 16))
    assert store.rename(2, 1) == 1
    assert store.owners(point).tolist() == [1]
    store.drop(1)
    assert store.live == 0


@pytest.mark.parametrize("seed", [0, 1])
def test_room_of_removed_voxels_is_used_again(seed):
    store = VoxelStore(0.05, 64)
    rng = np.random.default_rng(seed)
    for mark in range(1, 20):
        points = np.stack([np.arange(64), rng.integers(0, 9, 64), np.full(64, mark)], 1).astype(np.int32)
        store.vote(points, np.ones(64, np.int32), 4, 2, TOP, mark)
        assert store.live == 64
        store.remove(np.flatnonzero(store.owner[: store.used] != GONE))
    assert store.refused == 0 and store.used == 64

"""Tests of the voxel store against a dictionary."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lodestar.mapping.voxels.voxel_store import GONE, Labelled, VoxelStore

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


def deny(store, outlined, mark, depth=0.5, label=0):
    """Look along +z from (0.025, 0.025, -0.475): the voxel at the origin is 0.5 m ahead; label 1 is a mask."""
    camera_from_voxels = np.eye(4)
    camera_from_voxels[:3, 3] = -0.025, -0.025, 0.475
    image = np.full((40, 40), depth, np.float32)
    masks = np.full(65536, -1, np.int32)
    masks[1] = 0
    labels = np.full(image.shape, label, np.uint16)
    said = Labelled(labels, masks, outlined, 1, 4, 2, TOP)
    return store.look(
        image, (40.0, 40.0, 19.5, 19.5), camera_from_voxels, 0.1, 5.0, (0.1, 0.02), mark, 9, said
    )


def test_a_voxel_counts_one_vote_per_frame():
    store, point = one_voxel()
    store.vote(np.repeat(point, 50, 0), np.full(50, 7, np.int32), 4, 2, TOP, 1)
    assert store.weights[0].max() == 4 and store.occupancy[0] == 2


def test_votes_for_nobody_create_no_voxel():
    store, _ = one_voxel()
    deny(store, [5], 1)
    assert store.live == 0


@pytest.mark.parametrize(
    ("outlined", "frames"), [([], 9), ([0], 9), ([6, 999_999], 9), ([5], 3), ([6, 5, 0], 3)]
)
def test_a_voxel_outside_of_its_instances_mask_is_lost_sooner_than_an_overlooked_one(outlined, frames):
    store, point = one_voxel((5, 4), (5, 4))
    for mark in range(3, 3 + frames - 1):
        deny(store, outlined, mark)
        assert store.owners(point).tolist() == [5]
    deny(store, outlined, 2 + frames)
    assert store.owners(point).tolist() == [0] and store.live == 1


@pytest.mark.parametrize(
    "case", [{"mark": 1}, {"label": 1}, {"depth": 0.3}, {"depth": np.nan}, {"depth": 0.0}]
)
def test_a_voxel_that_the_frame_shows_in_a_mask_or_hides_is_not_denied(case):
    store, point = one_voxel((5, 4))
    for mark in range(2, 6):
        deny(store, [5], **{"mark": mark, **case})
    assert store.owners(point).tolist() == [5]


def test_weights_against_an_instance_are_checked():
    store, _ = one_voxel((5, 4))
    image = np.ones((4, 4), np.float32)
    said = Labelled(np.zeros((4, 4), np.uint16), np.full(65536, -1, np.int32), [5], 1, 128, 2, TOP)
    with pytest.raises(ValueError, match="weighs"):
        store.look(image, (4.0, 4.0, 2.0, 2.0), np.eye(4), 0.1, 5.0, (0.1, 0.02), 2, 9, said)


@given(st.integers(0, 10_000))
@settings(max_examples=25, deadline=None)
def test_votes_for_and_against_agree_with_a_count(seed):
    rng = np.random.default_rng(seed)
    store, point = one_voxel((5, 4))
    votes, owner = {0: 0, 5: 4, 6: 0}, 5
    for mark in range(2, 40):
        voter = int(rng.choice([0, 5, 6]))  # 0 = a vote against: no mask contains the voxel
        outlined = rng.choice([0, 5, 6], 2).tolist()
        if voter:
            store.vote(point, np.array([voter], np.int32), 4, 2, TOP, mark)
            votes[voter] += 4
        else:
            votes[0] += 4 if owner and owner in outlined else 1
        deny(store, outlined, mark)
        owner = int(store.owners(point)[0])
        most = max(votes[5], votes[6])
        assert owner == 0 if votes[0] > most else votes[owner] == most


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


def random_store(seed, rounds=12, capacity=40_000):
    """Return a store of overlapping votes, and all votes cast per voxel: voter -> weight."""
    rng = np.random.default_rng(seed)
    store, truth = VoxelStore(0.05, capacity), {}
    for mark in range(1, rounds + 1):
        points = rng.integers(-10, 10, (400, 3)).astype(np.int32)
        voter = int(rng.integers(1, 9))
        store.vote(points, np.full(len(points), voter, np.int32), 4, 2, TOP, mark)
        for point in {tuple(p) for p in points.tolist()}:
            votes = truth.setdefault(point, {})
            votes[voter] = votes.get(voter, 0) + 4
    return store, truth


def check_lists(store):
    """Check that every voxel is in its owner's list, once, and in no other."""
    ids = np.arange(1, 40)
    places, start = store.members(ids)
    assert sorted(places.tolist()) == store.owned().tolist()
    assert (store.owner[places] == np.repeat(ids, np.diff(start))).all()


@given(st.integers(0, 10_000), st.integers(1, 8), st.integers(1, 12))
@settings(max_examples=20, deadline=None)
def test_posteriors_and_owners_agree_with_every_vote_cast(seed, old, new):
    store, truth = random_store(seed)
    # more than four voters are truncated to the strongest
    whole = [len(votes) <= 4 for votes in truth.values()]
    if old != new:
        store.rename(old, new)
        for votes in truth.values():
            if old in votes:
                votes[new] = votes.get(new, 0) + votes.pop(old)
    points = np.array(list(truth), np.int32)
    ids, probability, remaining = store.posterior(points)
    owners = store.owners(points)
    np.testing.assert_allclose(probability.sum(1) + remaining, 1.0, atol=1e-5)
    for n, votes in enumerate(truth.values()):
        if whole[n]:
            shares = {i: w / (sum(votes.values()) + store.prior) for i, w in votes.items()}
            known = {int(i): p for i, p in zip(ids[n], probability[n]) if i > 0}
            assert known.keys() == shares.keys()
            np.testing.assert_allclose([known[i] for i in shares], list(shares.values()), rtol=1e-5)
        assert probability[n][ids[n] == owners[n]] == probability[n].max()
    check_lists(store)


@given(st.integers(0, 10_000))
@settings(max_examples=10, deadline=None)
def test_lists_of_instances_survive_everything_that_changes_owners(seed):
    rng = np.random.default_rng(seed)
    store, _ = random_store(seed)
    for step in range(12):
        what = step % 4
        if what == 0:
            store.rename(int(rng.integers(1, 9)), int(rng.integers(9, 20)))
        elif what == 1:
            places, _ = store.members(np.array([int(rng.integers(1, 20))]))
            if len(places):
                owner = int(store.owner[places[0]])
                store.reassign(places[::2], owner, 25)
        elif what == 2:
            # some voxels are removed already
            store.remove(rng.choice(store.used, store.used // 8, replace=False))
        else:
            store.drop(int(rng.integers(1, 20)))
        check_lists(store)
    points = store.coords[: store.used][store.owner[: store.used] != GONE]
    assert store.live == len(points)
    assert (store.owners(points) != GONE).all()


def test_a_place_without_a_voxel_has_nobody_in_it():
    store, point = one_voxel((3, 4))
    ids, probability, remaining = store.posterior(point + 1)
    assert ids.tolist() == [[0] * 4] and probability.sum() == 0 and remaining.tolist() == [1.0]
    assert store.members(np.array([0, 3, 999_999]))[1].tolist() == [0, 0, 1, 1]


@pytest.mark.parametrize("weight", [0, 128, -3])
def test_a_vote_that_would_break_the_counts_is_refused(weight):
    store, point = one_voxel()
    with pytest.raises(ValueError, match="weighs"):
        store.vote(point, np.ones(1, np.int32), weight, 2, TOP, 1)


def look(store, depth, mark, far=5.0):
    """Carve along +z from the origin with a 40 x 40 image."""
    image = np.full((40, 40), depth, np.float32)
    return store.look(image, (40.0, 40.0, 19.5, 19.5), np.eye(4), 0.1, far, (0.1, 0.02), mark, 9)


def test_voxels_are_carved_where_depth_passes_them_and_nowhere_else():
    store = VoxelStore(0.05, 100)
    ahead, beside = [0, 0, 20], [0, 60, 20]
    for mark in range(1, 4):
        store.vote(np.array([ahead, beside], np.int32), np.array([5, 6], np.int32), 4, 2, TOP, mark)
    inside, empty, hidden = look(store, 0.5, 10)  # an obstacle in front of the voxels
    assert (inside[5], empty[5], hidden[5], inside[6]) == (1, 0, 1, 0)
    assert look(store, 1.05, 11)[1][5] == 0  # the object's own surface
    for mark in range(12, 19):
        assert store.live == 2 and look(store, 3.0, mark)[1][5] == 1
    assert store.live == 1 and store.owners(np.array([ahead, beside], np.int32)).tolist() == [0, 6]
    assert look(store, 3.0, 30)[0].sum() == 0


def test_a_store_goes_on_from_its_arrays(tmp_path):
    store, truth = random_store(4)
    store.remove(np.arange(0, store.used, 5))
    np.savez(tmp_path / "voxels.npz", **store.to_arrays())
    with np.load(tmp_path / "voxels.npz") as arrays:
        again = VoxelStore.from_arrays(arrays, 40_000)
    points = np.array(list(truth), np.int32)
    assert again.live == store.live
    check_lists(again)
    for kept, read in zip(store.posterior(points), again.posterior(points)):
        np.testing.assert_array_equal(kept, read)
    for each in (store, again):
        each.vote(points[:50], np.full(50, 3, np.int32), 4, 2, TOP, 99)
        each.rename(3, 11)
    np.testing.assert_array_equal(store.owners(points), again.owners(points))


@pytest.mark.parametrize(
    ("how", "match"),
    [
        ({"version": np.array(99)}, "version 99"),
        ({"ids": np.zeros((3, 4), np.int32)}, "ids is"),
        ({"weights": None}, "missing"),
        ({"occupancy": np.zeros(2, np.float64)}, "occupancy is"),
        ({"coords": np.zeros((2, 3), np.int32)}, "twice"),
        ({"errors": np.full((2, 4), 200, np.uint8)}, "out of range"),
    ],
)
def test_arrays_that_are_no_store_are_refused(how, match):
    store = VoxelStore(0.05, 10)
    store.vote(np.array([[0, 0, 0], [9, 9, 9]], np.int32), np.array([1, 2], np.int32), 4, 2, TOP, 1)
    arrays = {**store.to_arrays(), **how}
    with pytest.raises(ValueError, match=match):
        VoxelStore.from_arrays({k: v for k, v in arrays.items() if v is not None}, 10)
    with pytest.raises(ValueError, match="room"):
        VoxelStore.from_arrays(store.to_arrays(), 1)

"""Tests of the ranked instances per grid cell."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from lodestar.mapping.instances.pillars import RANKS, build_pillars


@given(st.integers(0, 10_000))
@settings(max_examples=30, deadline=None)
def test_each_cell_ranks_its_instances_by_voxels(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 400))
    points = rng.uniform(-1, 1, (n, 3)).astype(np.float32)
    ids = rng.integers(1, 8, n).astype(np.int32)
    pillars = build_pillars(points, ids, 0.5, 3)
    assert pillars.ids.shape == pillars.counts.shape and pillars.ids.shape[0] == RANKS
    cells = np.floor((points[:, :2].astype(np.float64) - pillars.origin) / 0.5 + 1e-9).astype(int)
    for row in range(pillars.ids.shape[1]):
        for column in range(pillars.ids.shape[2]):
            here = ids[(cells[:, 0] == column) & (cells[:, 1] == row)]
            values, counts = np.unique(here, return_counts=True)
            found = pillars.counts[:, row, column]
            expected = np.sort(counts)[::-1][:RANKS]
            assert found[: len(expected)].tolist() == expected.tolist()
            assert not found[len(expected) :].any() and not pillars.ids[len(expected) :, row, column].any()
            for identity, count in zip(pillars.ids[:, row, column], found):
                assert count == 0 or count == counts[values == identity][0]


def test_a_cup_on_a_table_keeps_its_place():
    table = np.stack(np.meshgrid(np.arange(0, 1, 0.05), np.arange(0, 1, 0.05), [0.7]), -1).reshape(-1, 3)
    cup = np.array([[0.51, 0.51, 0.8], [0.51, 0.51, 0.85]])
    pillars = build_pillars(np.vstack([table, cup]), np.r_[np.ones(len(table), int), [2, 2]], 0.1)
    assert pillars.ids[:2, 5, 5].tolist() == [1, 2]
    assert pillars.counts[:2, 5, 5].tolist() == [4, 2]


def test_nothing_gives_an_empty_map():
    pillars = build_pillars(np.zeros((0, 3), np.float32), np.zeros(0, np.int32), 0.1)
    assert pillars.ids.shape == (RANKS, 0, 0)

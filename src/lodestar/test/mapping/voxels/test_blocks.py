"""Tests of blocks by coordinate against a dictionary, and of touched blocks against a check of every voxel."""

import mmap

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lodestar.geometry.poses import inverse
from lodestar.mapping.voxels.blocks import SIDE, TILE, BlockPool, farthest, find, give_back, in_view, reserve


def rotation_of(rng):
    q, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    return q if np.linalg.det(q) > 0 else -q


@given(st.integers(0, 10_000))
@settings(max_examples=30, deadline=None)
def test_blocks_come_and_go_as_in_a_dictionary(seed):
    rng = np.random.default_rng(seed)
    pool, truth = BlockPool(600), {}
    for _ in range(20):
        coords = rng.integers(-5, 5, (int(rng.integers(1, 60)), 3)).astype(np.int32)
        for coord, place in zip(coords.tolist(), pool.insert(coords).tolist()):
            assert truth.setdefault(tuple(coord), place) == place
        for coord in list(truth)[:: int(rng.integers(2, 5))]:
            give_back(pool.table, pool.coords, pool.free, pool.state, truth.pop(coord))
        assert pool.live == len(truth) and sorted(truth.values()) == pool.places().tolist()
    for x, y, z in np.ndindex(12, 12, 12):
        coord = (x - 6, y - 6, z - 6)
        assert find(pool.table, pool.coords, *coord) == truth.get(coord, -1)


def test_a_full_pool_refuses_and_counts():
    pool = BlockPool(4)
    places = pool.insert(np.array([[i, 0, 0] for i in range(6)], np.int32))
    assert places.tolist() == [0, 1, 2, 3, -1, -1]
    assert (pool.live, pool.used, pool.refused) == (4, 4, 2)


@given(st.integers(0, 10_000), st.booleans())
@settings(max_examples=40, deadline=None)
def test_every_block_with_a_voxel_that_shows_is_found_and_what_is_behind_walls_is_not(seed, walled):
    rng = np.random.default_rng(seed)
    slack = 0.2
    pool, size = BlockPool(2000), 0.05
    pool.insert(rng.integers(-8, 8, (1500, 3)).astype(np.int32))
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = rotation_of(rng), rng.uniform(-1.5, 1.5, 3)
    back = inverse(pose)
    camera, shape, near, far = (95.0, 90.0, 75.0, 62.0), (120, 160), 0.2, 2.5
    depth = np.full(shape, 9.0, np.float32)
    if walled:  # a wall per part of the image, with some parts unmeasured
        depth = (
            rng.choice([0.0, 0.4, 0.9, 1.6, np.nan], (3, 4)).astype(np.float32).repeat(40, 0).repeat(40, 1)
        )
    tiles = farthest(depth)
    result = np.empty(pool.live, np.int32)
    count = in_view(
        pool.table, pool.coords, SIDE * size, shape, camera, np.ascontiguousarray(back[:3, :3]),
        np.ascontiguousarray(back[:3, 3]), near, far, tiles, slack, result,
    )  # fmt: skip
    found = set(result[:count].tolist())
    assert len(found) == count
    cells = np.stack(np.meshgrid(*[np.arange(SIDE)] * 3, indexing="ij"), -1).reshape(-1, 3)
    for place in pool.places().tolist():
        points = ((pool.coords[place] * SIDE + cells + 0.5) * size) @ back[:3, :3].T + back[:3, 3]
        z = points[:, 2]
        good = (z >= near) & (z <= far)
        z, u, v = z[good], points[good, 0] / z[good] * 95.0 + 75.5, points[good, 1] / z[good] * 90.0 + 62.5
        inside = (u >= 0) & (u < 160) & (v >= 0) & (v < 120)
        measured = depth[v[inside].astype(int), u[inside].astype(int)]
        if (measured >= z[inside] - slack).any():
            assert place in found
    assert count < pool.live
    if walled and not np.nan_to_num(depth).any():
        assert count == 0


def test_a_wall_hides_the_blocks_of_the_room_behind_it():
    pool = BlockPool(64)
    pool.insert(np.array([[0, 0, z] for z in range(12)], np.int32))
    result = np.empty(12, np.int32)
    lens = (60.0, 60.0, 40.0, 30.0)

    def seen(distance):
        tiles = farthest(np.full((60, 80), distance, np.float32))
        view = (60, 80), lens, np.eye(3), np.zeros(3), 0.1, 5.0, tiles, 0.2, result
        return in_view(pool.table, pool.coords, 0.4, *view)

    assert seen(9.0) == 12 and seen(1.5) <= 6


@given(st.integers(0, 10_000), st.integers(1, 70), st.integers(1, 70))
@settings(max_examples=30, deadline=None)
def test_tiles_hold_the_greatest_depth_of_any_image(seed, rows, columns):
    rng = np.random.default_rng(seed)
    depth = rng.uniform(0.1, 6.0, (rows, columns)).astype(np.float32)
    depth[rng.random(depth.shape) < 0.3] = rng.choice([0.0, np.nan, -1.0, np.inf])
    tiles = farthest(depth)
    for row, column in np.ndindex(*tiles.shape):
        part = depth[row * TILE : (row + 1) * TILE, column * TILE : (column + 1) * TILE]
        assert tiles[row, column] == max([0.0, *part[part > 0.0].tolist()])
    assert tiles.shape == (-(-rows // TILE), -(-columns // TILE))


def test_a_view_from_beyond_the_map_touches_nothing():
    pool = BlockPool(8)
    pool.insert(np.zeros((1, 3), np.int32))
    result = np.empty(1, np.int32)
    for away, seen in ((0.0, 1), (1e4, 0), (1e9, 0), (np.inf, 0)):
        offset = np.array([away, 0.0, 0.0])
        lens, open_view = (4.0, 4.0, 2.0, 2.0), np.full((1, 1), 9.0, np.float32)
        view = (4, 4), lens, np.eye(3), offset, 0.1, 5.0, open_view, 0.2, result
        assert in_view(pool.table, pool.coords, 0.4, *view) == seen


@pytest.mark.parametrize("capacity", [1, 3, 1000])
def test_the_table_has_room_for_every_block(capacity):
    pool = BlockPool(capacity)
    assert len(pool.table) >= 2 * capacity
    assert (pool.insert(np.arange(3 * capacity, dtype=np.int32).reshape(-1, 3)) >= 0).all()


def test_a_pool_larger_than_the_memory_takes_only_what_is_written():
    pool = reserve((1 << 22, 4096), np.float32)  # 64 GiB of address space
    before = resident()
    pool[::65536, 0] = 1.0
    assert pool[65536].sum() == 1.0 and not pool[1].any()
    assert resident() - before < 1 << 20
    assert reserve((0, 3), np.int32).shape == (0, 3)


def resident() -> int:
    """Return the RAM of this process in bytes."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * mmap.PAGESIZE

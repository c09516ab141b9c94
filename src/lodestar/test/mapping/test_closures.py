"""Tests of map layers after a loop closure: each part moves with its submap, both sides stay distinct (ADR 0095)."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lodestar.geometry.camera import PinholeCamera
from lodestar.geometry.closure_config import ClosureConfig, closures_as
from lodestar.geometry.map_correction import MapCorrection
from lodestar.geometry.poses import BODY_FROM_OPTICAL, inverse, planar_transform
from lodestar.grid.occupancy import OCCUPIED
from lodestar.mapping.config import GeometryConfig, OctoMapConfig, ScanGridConfig
from lodestar.mapping.occupancy.octomap import OctoMapper
from lodestar.mapping.occupancy.scan_grid import ScanGridMapper
from lodestar.mapping.voxels.submaps import BlockSubmaps
from lodestar.mapping.voxels.tsdf import TsdfVolume
from lodestar.mapping.voxels.voxel_store import VoxelStore


@pytest.fixture(autouse=True)
def slow_to_believe(monkeypatch):
    """Never count a loop as closed without a jump: the drives back are long, and the jump comes at their end."""
    monkeypatch.setattr("lodestar.geometry.trajectory.CLOSURE_PROOF", math.inf)
    with closures_as(ClosureConfig()):
        yield


LENGTH, STEP = 80, 0.5
SHIFT = 0.6  # m, sideways drift at the far end of the corridor


def corridor(half: float = 1.0) -> np.ndarray:
    """Return the hits (N, 3), sensor frame, of the walls at both sides, without the floor."""
    along, up = np.meshgrid(np.arange(-1.0, 1.0, 0.05), np.arange(0.15, 0.6, 0.1))
    along, up = along.ravel(), up.ravel() - 0.5
    return np.concatenate([np.column_stack([along, np.full(len(along), side), up]) for side in (-half, half)])


def there_and_back() -> list[np.ndarray]:
    """Return true poses of a sensor that drives 20 m out, and back along the same corridor."""
    out = [planar_transform(STEP * k, 0.0, 0.0, z=0.5) for k in range(LENGTH // 2)]
    return out + [planar_transform(STEP * k, 0.0, math.pi, z=0.5) for k in reversed(range(LENGTH // 2))]


def drifted(poses: list[np.ndarray]) -> list[np.ndarray]:
    """Return the same path with a sideways drift of up to SHIFT at its end."""
    sides = [SHIFT * k / (len(poses) - 1) for k in range(len(poses))]
    return [planar_transform(0.0, side, 0.0) @ pose for side, pose in zip(sides, poses)]


def walls(grid) -> set[float]:
    """Return the y of rows in which most of the corridor's columns are occupied."""
    rows = (grid.cells == OCCUPIED).mean(axis=1)
    return {round(float(grid.points_of(np.array([[r, 0]]))[0, 1]), 2) for r in np.flatnonzero(rows > 0.4)}


@pytest.mark.parametrize("kind", ["octree", "scan"])
def test_a_corridor_that_was_seen_twice_has_two_walls_again_after_the_closure(kind):
    poses = there_and_back()
    if kind == "octree":
        mapper = OctoMapper(OctoMapConfig(max_range=3.0))
        add = lambda pose: mapper.insert_points(corridor(), pose)  # noqa: E731
    else:
        mapper = ScanGridMapper(ScanGridConfig(max_range=3.0))
        angles = np.linspace(-math.pi, math.pi, 360, endpoint=False)
        ranges = np.minimum(1.0 / np.maximum(np.abs(np.sin(angles)), 1e-9), 3.0)
        add = lambda pose: mapper.insert_scan(ranges, -math.pi, math.pi / 180.0, 3.0, pose)  # noqa: E731
    for stamp, pose in enumerate(drifted(poses)):
        mapper.follow(np.eye(4), pose, float(stamp))
        add(pose)
    before = mapper.project(1.0)
    back = inverse(planar_transform(0.0, SHIFT, 0.0))
    assert mapper.follow(back, drifted(poses)[-1], float(len(poses)))
    add(poses[-1])
    after = mapper.project(2.0)
    assert kind == "scan" or (before.cells == OCCUPIED).sum() > (after.cells == OCCUPIED).sum()
    assert not walls(before) or kind == "scan"
    for row in walls(after):
        assert abs(abs(row) - 1.0) <= 0.16
    assert any(row > 0 for row in walls(after)) and any(row < 0 for row in walls(after))


def test_an_undone_closure_gives_the_octree_back():
    poses = drifted(there_and_back())
    mapper = OctoMapper(OctoMapConfig(max_range=3.0))
    for stamp, pose in enumerate(poses):
        mapper.follow(np.eye(4), pose, float(stamp))
        mapper.insert_points(corridor(), pose)
    before = mapper.project(1.0)
    assert mapper.follow(planar_transform(0.0, -0.4, 0.0), poses[-1], 90.0)
    assert mapper.follow(np.eye(4), poses[-1], 91.0)
    after = mapper.project(2.0)
    one, other = (grid.points_of(np.argwhere(grid.cells == OCCUPIED)) for grid in (before, after))
    gaps = np.linalg.norm(one[:, None] - other[None], axis=2)
    assert (gaps.min(axis=1) <= 0.15).mean() >= 0.95  # moved twice, each time by at most half a cell
    assert (gaps.min(axis=0) <= 0.15).mean() >= 0.95


def test_a_map_without_corrections_is_the_same_with_a_way_and_without():
    plain, tracked = OctoMapper(OctoMapConfig(max_range=3.0)), OctoMapper(OctoMapConfig(max_range=3.0))
    for stamp, pose in enumerate(there_and_back()):
        for mapper, when in ((plain, None), (tracked, float(stamp))):
            mapper.follow(np.eye(4), pose, when)
            mapper.insert_points(corridor(), pose)
    np.testing.assert_array_equal(plain.project(1.0).cells, tracked.project(1.0).cells)
    plain_tree, tracked_tree = (mapper.to_arrays()["octree"] for mapper in (plain, tracked))
    np.testing.assert_array_equal(plain_tree, tracked_tree)


def test_a_saved_octree_is_bent_as_the_live_one():
    poses = drifted(there_and_back())
    mapper = OctoMapper(OctoMapConfig(max_range=3.0))
    for stamp, pose in enumerate(poses):
        mapper.follow(np.eye(4), pose, float(stamp))
        mapper.insert_points(corridor(), pose)
    arrays = mapper.to_arrays()
    later = OctoMapper.from_arrays(arrays, mapper.config)
    later.anchor.resume(np.eye(4))
    older = OctoMapper.from_arrays(
        {k: v for k, v in arrays.items() if not k.startswith(("trajectory", "submap"))}, mapper.config
    )
    assert not older.is_empty  # a map in the older format
    assert later.follow(inverse(planar_transform(0.0, SHIFT, 0.0)), poses[-1], float(len(poses)))
    assert {abs(abs(row) - 1.0) <= 0.16 for row in walls(later.project(3.0))} == {True}


def correction(moves: list[np.ndarray]) -> MapCorrection:
    count = len(moves)
    places = np.column_stack([np.arange(count), np.zeros((count, 2))]).astype(float)
    return MapCorrection(moves[-1], np.arange(count), np.arange(count, dtype=float), places, np.array(moves))


def test_voxels_move_with_the_node_that_saw_them_first_and_meet():
    store = VoxelStore(0.1, 1000)
    store.vote(np.array([[0, 0, 0], [5, 0, 0]], np.int32), np.array([1, 1]), 10, 1, 10, 1, node=1)
    store.vote(np.array([[2, 0, 0], [9, 3, 0]], np.int32), np.array([2, 2]), 10, 1, 10, 2, node=2)
    from lodestar.mapping.closures import bend_voxels
    from lodestar.mapping.instances.extraction import SurfacePoints

    surface = SurfacePoints(1000)
    met = bend_voxels(store, surface, correction([np.eye(4), planar_transform(-0.2, 0.0, 0.0)]))
    assert dict(met) == {(1, 2): 1}
    assert store.live == 3
    np.testing.assert_array_equal(
        store.owners(np.array([[5, 0, 0], [7, 3, 0], [9, 3, 0], [2, 0, 0]], np.int32)), [1, 2, 0, 0]
    )
    assert store.owners(np.zeros((1, 3), np.int32))[0] in (1, 2)


def wall_ahead(volume: TsdfVolume, pose: np.ndarray, node: tuple[int, int], distance: float) -> None:
    camera = PinholeCamera(64, 48, 40.0, 40.0, 31.5, 23.5)
    depth = np.full((48, 64), distance, np.float32)
    map_from_camera = pose @ planar_transform(0.0, 0.0, 0.0, z=1.0) @ BODY_FROM_OPTICAL
    volume.integrate(depth, camera, map_from_camera, None, node)


def test_a_surface_that_was_seen_from_both_sides_is_one_after_the_closure():
    volume = TsdfVolume(GeometryConfig(capacity=4000))
    for _ in range(4):
        wall_ahead(volume, planar_transform(0.0, 0.0, 0.0), (0, 0), 2.0)
    for _ in range(4):
        wall_ahead(volume, planar_transform(0.3, 0.0, 0.0), (50, 45), 2.0)
    moves = [np.eye(4)] * 45 + [planar_transform(-0.3, 0.0, 0.0)] * 6
    assert volume.bend(correction(moves)) > 0
    centres, _ = volume.surface()
    assert len(centres) and np.abs(centres[:, 0] - 2.0).max() <= 0.12


def test_copies_of_blocks_are_bounded():
    submaps = BlockSubmaps(100, 0.0, most=10)
    for serial in range(50):
        voxels = np.arange(100, dtype=np.int64) * 512
        old, serials = submaps.begun_before(voxels, 2 * serial, 2 * serial)
        assert len(old) == (100 if serial else 0)
        submaps.keep(old, serials, np.zeros((len(old), 512), np.int16))
        assert submaps.memory <= 10


@given(
    st.integers(0, 99), st.lists(st.integers(1, 12), min_size=2, max_size=6), st.sampled_from([0.0, math.nan])
)
@settings(max_examples=25, deadline=None)
def test_what_was_kept_of_blocks_comes_back_as_it_was(seed: int, lengths: list[int], empty: float) -> None:
    """Each step sees some blocks; those that a former submap has seen are kept."""
    rng, submaps = np.random.default_rng(seed), BlockSubmaps(12, empty)
    log_odds = rng.choice([math.nan, -math.nan, 0.0, -0.0, 1.5], (12, 512)).astype(np.float32)
    colors = rng.choice([0, 0, 0, 255], (12, 512, 3)).astype(np.uint8)
    told: dict[int, list[tuple[np.ndarray, np.ndarray]]] = {}
    for step, length in enumerate(lengths):
        seen = np.sort(rng.choice(12, length, replace=False))
        old, serials = submaps.begun_before(seen * 512, 20 * step, 20 * step - 10)
        submaps.keep(old, serials, log_odds[old], *([] if math.isnan(empty) else [colors[old]]))
        for place in old.tolist():
            told.setdefault(place, []).append((log_odds[place].copy(), colors[place].copy()))
        log_odds[seen], colors[seen] = np.nan if step % 2 else float(step), step
    moves = [planar_transform(0.1 * i, 0.0, 0.0) for i in range(20 * len(lengths) + 2)]
    sides = submaps.told_apart(correction(moves), np.zeros((12, 3), np.int32), 0.4, 0.01)
    assert sides.blocks.tolist() == list(told)
    found = sides.states(
        *(one[sides.blocks] for one in ((log_odds, colors) if empty == 0.0 else (log_odds,)))
    )
    rows = [state for place, kept in told.items() for state in (*kept, (log_odds[place], colors[place]))]
    for one, expected in zip(found, zip(*rows)):
        np.testing.assert_array_equal(one, np.array(expected).reshape(one.shape))

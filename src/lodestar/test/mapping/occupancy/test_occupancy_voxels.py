"""Tests of occupancy voxels against OctoMap, and of their streams against its reader and writer."""

from __future__ import annotations

import tempfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lodestar.mapping.occupancy import occupancy_voxels
from lodestar.mapping.occupancy.occupancy_kernels import UNSEEN
from lodestar.mapping.occupancy.occupancy_voxels import OccupancyVoxels

pyoctomap = pytest.importorskip("pyoctomap", reason="pyoctomap is not installed (pip install pyoctomap)")

RANGE = 3.0


class Reference:
    """OctoMap's own tree, given the same scans as the voxels."""

    def __init__(self, resolution: float):
        self.tree = pyoctomap.OcTree(resolution)

    def insert(self, points, origin, max_range=RANGE):
        self.tree.insertPointCloud(points, origin, max_range=max_range, lazy_eval=True, discretize=True)

    def file(self) -> bytes:
        self.tree.updateInnerOccupancy()
        return self.tree.write()


def read_by_octomap(data: bytes, resolution: float):
    with tempfile.NamedTemporaryFile(suffix=".ot") as file:
        file.write(data)
        file.flush()
        return pyoctomap.OcTree(resolution).read(file.name)


def data_of(stream: bytes) -> bytes:
    return stream.partition(b"\ndata\n")[2]


def scan(rng: np.random.Generator, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return an origin and points around it, some beyond the range, in one voxel, or along an axis."""
    origin = rng.uniform(-2.0, 2.0, 3)
    points = origin + rng.normal(0.0, 2.5, (count, 3))
    points[: count // 10] = points[-1] + rng.uniform(-0.05, 0.05, (count // 10, 3))
    points[-1, 1:] = origin[1:]
    return points, origin


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from([0.05, 0.1, 0.25]), st.integers(1, 6))
def test_states_values_and_files_are_octomaps(seed, resolution, scans):
    rng = np.random.default_rng(seed)
    voxels, reference = OccupancyVoxels(resolution), Reference(resolution)
    for _ in range(scans):
        points, origin = scan(rng, int(rng.integers(1, 300)))
        voxels.insert(points, origin, RANGE)
        reference.insert(points, origin)
    file = reference.file()
    assert voxels.to_bytes() == file
    binary = read_by_octomap(file, resolution).writeBinary()
    assert voxels.binary_data() == data_of(binary)
    asked = rng.uniform(-4.0, 4.0, (3000, 3))
    assert np.array_equal(voxels.labels(asked), reference.tree.getLabels(asked))
    low, high = reference.tree.getMetricMin()[2], reference.tree.getMetricMax()[2]
    assert voxels.heights() == pytest.approx((low, high))


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_changed_are_the_voxels_whose_state_is_another(seed):
    rng = np.random.default_rng(seed)
    voxels = OccupancyVoxels(0.1)
    axis = (np.arange(-60, 60) + 0.5) * 0.1
    everywhere = np.stack(np.meshgrid(axis, axis, axis, indexing="ij"), axis=-1).reshape(-1, 3)
    before = np.full(len(everywhere), UNSEEN)
    for _ in range(4):
        changed = voxels.insert(*scan(rng, 200), RANGE)
        after = voxels.labels(everywhere)
        expected = np.floor(everywhere[before != after] / 0.1).astype(int)
        assert set(map(tuple, changed)) == set(map(tuple, expected))
        before = after


def test_a_map_of_thousands_of_blocks_is_that_of_the_reference():
    rng = np.random.default_rng(3)
    voxels, reference = OccupancyVoxels(0.05), Reference(0.05)
    for step in range(6):
        points, origin = scan(rng, 500)
        shift = np.array([20.0 * step, 0.0, 0.0])
        points = origin + 4.0 * (points - origin) + shift
        voxels.insert(points, origin + shift, 12.0)
        reference.insert(points, origin + shift, 12.0)
    assert voxels._pool.used > 1 << 12
    assert voxels.to_bytes() == reference.file()


@pytest.mark.parametrize("near", [2, 3, 5])
def test_rays_that_leave_the_table_about_the_sensor_mark_the_same(near, monkeypatch):
    rng = np.random.default_rng(near)
    voxels, wide = OccupancyVoxels(0.05), OccupancyVoxels(0.05)
    for _ in range(3):
        points, origin = scan(rng, 400)
        changed = wide.insert(points, origin, RANGE)
        with monkeypatch.context() as patch:
            patch.setattr(occupancy_voxels, "_NEAR", near)
            assert set(map(tuple, voxels.insert(points, origin, RANGE))) == set(map(tuple, changed))
    assert len(voxels._around) == 2 * near + 1 < len(wide._around)
    assert voxels.to_bytes() == wide.to_bytes()


def test_a_long_range_costs_no_table_of_its_cube():
    voxels = OccupancyVoxels(0.05)
    voxels.insert(np.array([[150.0, 3.0, 1.0]]), np.zeros(3), 200.0)
    assert voxels._around.nbytes < 8 << 20 and voxels.labels(np.array([[150.0, 3.0, 1.0]]))[0] == 1


def test_rays_beyond_the_borders_of_the_tree_change_nothing():
    voxels, reference = OccupancyVoxels(0.1), Reference(0.1)
    for tree in (voxels, reference):
        tree.insert(np.array([[3276.9, 0.0, 0.0], [3276.0, 0.5, 0.0]]), np.array([3275.0, 0.0, 0.0]), RANGE)
    assert len(voxels.insert(np.array([[1.0, 0.0, 0.0]]), np.array([-9000.0, 0.0, 0.0]), RANGE)) == 0
    assert voxels.binary_data()
    assert voxels.to_bytes() == reference.file()


def test_a_file_goes_on_as_it_was():
    rng = np.random.default_rng(5)
    voxels, loaded = OccupancyVoxels(0.1), OccupancyVoxels(0.1)
    voxels.insert(*scan(rng, 300), RANGE)
    loaded.read(voxels.to_bytes())
    assert loaded.to_bytes() == voxels.to_bytes()
    points, origin = scan(rng, 300)
    for each in (voxels, loaded):
        each.insert(points, origin, RANGE)
    assert loaded.to_bytes() == voxels.to_bytes()


def test_a_pruned_file_of_octomap_is_read():
    tree = pyoctomap.OcTree(0.1)
    axis = np.arange(16) * 0.1 + 0.05
    cube = np.stack(np.meshgrid(axis, axis, axis, indexing="ij"), axis=-1).reshape(-1, 3)
    tree.updateNodes(np.ascontiguousarray(cube), True)
    tree.updateNodes(np.ascontiguousarray(cube[:1] - [1.0, 0.0, 0.0]), False)
    voxels = OccupancyVoxels(0.1)
    voxels.read(tree.write())
    assert len(data_of(tree.write())) < 1000, "pruned"
    around = np.concatenate([cube, cube - [1.0, 0.0, 0.0], cube + np.array([0.0, 1.6, 0.0])])
    assert np.array_equal(voxels.labels(around), tree.getLabels(np.ascontiguousarray(around)))


def test_an_empty_map_is_written_and_read():
    voxels = OccupancyVoxels(0.1)
    assert voxels.binary_data() == b""
    assert voxels.heights() == (0.0, 0.0)
    other = OccupancyVoxels(0.1)
    other.read(voxels.to_bytes())
    assert other.labels(np.zeros((1, 3))).tolist() == [UNSEEN]


def corrupted(file: bytes) -> dict[str, bytes]:
    head, _, data = file.partition(b"\ndata\n")
    nodes = len(data) // 5
    whole = np.frombuffer(data, np.uint8).reshape(-1, 5).copy()
    leafless, childless, nan = whole.copy(), whole.copy(), whole.copy()
    leafless[-1, 4] = 1
    childless[0, 4] = 0
    nan[0, :4] = np.frombuffer(np.float32(np.nan).tobytes(), np.uint8)
    one = head.replace(b"size %d" % nodes, b"size 1")
    return {
        "nothing": b"",
        "no data": head,
        "cut": file[:-3],
        "too deep": head + b"\ndata\n" + leafless.tobytes(),
        "ends at the root": head + b"\ndata\n" + childless.tobytes(),
        "one leaf for everything": one + b"\ndata\n" + childless[:1].tobytes(),
        "not finite": head + b"\ndata\n" + nan.tobytes(),
        "another tree": file.replace(b"id OcTree", b"id ColorOcTree"),
        "binary": b"\xff" * 100,
    }


@pytest.mark.parametrize("how", list(corrupted(b"size 1\ndata\n" + bytes(5))))
def test_a_file_that_is_none_is_refused_and_the_map_stays(how):
    voxels = OccupancyVoxels(0.1)
    voxels.insert(*scan(np.random.default_rng(1), 50), RANGE)
    before = voxels.to_bytes()
    with pytest.raises(ValueError, match="OctoMap file"):
        voxels.read(corrupted(before)[how])
    assert voxels.to_bytes() == before


def test_a_full_pool_tells_it_and_goes_on_with_the_blocks_that_it_has():
    rng = np.random.default_rng(4)
    small, wide = OccupancyVoxels(0.1, capacity=40), OccupancyVoxels(0.1)
    assert not small.shortage
    for turn in range(6):
        points = rng.normal(0.0, 1.0 + turn, (300, 3))
        changed, reference = (each.insert(points, np.zeros(3), 8.0) for each in (small, wide))
        assert set(map(tuple, changed.tolist())) <= set(map(tuple, reference.tolist()))
    kept = {tuple(block) for block in small._pool.coords[: small._pool.used].tolist()}
    assert len(kept) == 40 and "40 of 40 blocks of occupancy" in small.shortage
    assert "were refused" in small.shortage and "mapping.octomap.blocks" in small.shortage
    voxels, values = wide._known()
    inside = np.array([tuple(voxel) in kept for voxel in (voxels >> 3).tolist()])
    own, own_values = small._known()
    assert dict(zip(map(tuple, own.tolist()), own_values.tolist())) == dict(
        zip(map(tuple, voxels[inside].tolist()), values[inside].tolist())
    )
    with pytest.raises(ValueError, match="there is room for 40"):
        small.read(wide.to_bytes())

"""Tests of surfaces from depth images of box worlds."""

import sys

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lodestar.geometry.poses import inverse, planar_transform
from lodestar.mapping.voxels.cell_devices import make_cells
from lodestar.mapping.voxels.cells import ProcessorCells
from lodestar.mapping.voxels.mesh import extract_mesh
from lodestar.mapping.voxels.tsdf import GeometryConfig, TsdfVolume, at_surfaces

CONFIG = GeometryConfig()


def look(volume, world, poses, rgb=None, **kwargs):
    for i, pose in enumerate(poses):
        frame, _ = world.frame(1.0 + i, *pose, **kwargs)
        volume.integrate(frame.depth, frame.camera, frame.map_from_camera, rgb)


@pytest.fixture
def crate(box):
    return box("crate", (-0.4, -0.4, 0.0), (0.4, 0.4, 0.8))


def cells_on(device, config=CONFIG):
    """Return the device that holds a volume's voxels; skip the test without such a device."""
    if device == "processor":
        return ProcessorCells(config)
    from lodestar.mapping.voxels.cells_torch import TorchCells, has_cuda

    if device == "cuda" and not has_cuda():
        pytest.skip("torch finds no CUDA device")
    return TorchCells(config, device)


ON_TORCH = [
    pytest.param("cpu", marks=pytest.mark.torch),
    pytest.param("cuda", marks=[pytest.mark.torch, pytest.mark.cuda]),
]


@pytest.fixture(params=["processor", *ON_TORCH])
def make_volume(request):
    return lambda config=CONFIG: TsdfVolume(config, cells_on(request.param, config))


def distances(volume, points):
    """Return signed distances over truncation at points (N, 3), from the volume's snapshot; NaN = unseen."""
    arrays = volume.snapshot()
    places = {tuple(block): i for i, block in enumerate(arrays["coords"].tolist())}
    voxels = np.floor(np.asarray(points) / volume.config.voxel).astype(int)
    found = np.full(len(voxels), np.nan)
    for i, voxel in enumerate(voxels):
        block, (x, y, z) = places.get(tuple((voxel >> 3).tolist())), (voxel & 7).tolist()
        cell = (x * 8 + y) * 8 + z
        if block is not None and arrays["weight"][block, cell] > 0:
            found[i] = arrays["distance"][block, cell]
    return found


@pytest.fixture
def seen(make_volume, box_world, crate, orbit):
    volume, world = make_volume(), box_world([crate])
    look(volume, world, orbit((0, 0), 2.0, 0, 360, 24))
    return volume, world


def test_the_distance_is_signed_metric_and_zero_at_the_surface(seen):
    volume, _ = seen
    centres = np.arange(0.275, 0.60, 0.05)  # x of voxel centres across the crate's side at 0.4
    found = distances(volume, np.stack([centres, np.zeros(7), np.full(7, 0.4)], 1)) * 0.20
    np.testing.assert_allclose(found[:4], centres[:4] - 0.4, atol=0.03)
    # farther out the distance is measured along slanting rays, which makes it longer
    assert (np.diff(found) > 0).all()


@given(st.integers(0, 1000))
@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_walls_of_a_room_are_where_they_are_whatever_the_pose(make_volume, box_world, seed):
    rng = np.random.default_rng(seed)
    world, volume = box_world([], room=((-2.0, -2.0, 0.0), (2.0, 2.0, 2.0))), make_volume()
    look(volume, world, [(*rng.uniform(-0.8, 0.8, 2), yaw) for yaw in rng.uniform(-3.1, 3.1, 12)])
    vertices = extract_mesh(volume).vertices
    to_wall = np.minimum(np.abs(vertices - world.room[0]), np.abs(vertices - world.room[1])).min(1)
    assert len(vertices) > 1000
    assert np.percentile(to_wall, 50) < 0.01 and np.percentile(to_wall, 95) < 0.04


def blocks_of_the_crate(volume):
    coords = volume.to_arrays()["coords"]
    return int(((coords >= (-1, -1, 1)) & (coords <= (0, 0, 1))).all(1).sum())


def test_a_surface_that_is_gone_fades_after_a_few_looks_and_its_blocks_are_given_back(seen, orbit):
    volume, world = seen
    inside = np.array([[0.38, 0.0, 0.4]])
    assert abs(distances(volume, inside)[0]) < 0.3 and blocks_of_the_crate(volume) == 4
    world.boxes.clear()
    look(volume, world, orbit((0, 0), 2.0, 0, 360, 72))
    assert np.isnan(distances(volume, inside)[0])
    assert blocks_of_the_crate(volume) == 0


def test_three_looks_empty_a_place_that_was_seen_once(make_volume, box_world, crate):
    volume, world = make_volume(), box_world([crate])
    look(volume, world, [(-2.0, 0.0, 0.0)])
    front = np.array([[-0.39, 0.0, 0.4]])
    assert abs(distances(volume, front)[0]) < 0.3
    world.boxes.clear()
    look(volume, world, [(-2.0, 0.0, 0.0)] * 3)
    assert distances(volume, front)[0] > 0.5


def test_what_is_hidden_stays(seen, box):
    volume, world = seen
    before = distances(volume, np.array([[-0.38, 0.0, 0.4]]))
    world.boxes = [box("screen", (-1.2, -1.0, 0.0), (-1.1, 1.0, 2.0))]
    look(volume, world, [(-2.0, 0.0, 0.0)] * 20)
    np.testing.assert_array_equal(distances(volume, np.array([[-0.38, 0.0, 0.4]])), before)


def test_places_of_blocks_are_used_again_and_clean(make_volume, box_world, box):
    volume = make_volume()
    for k in range(12):
        world = box_world([box("crate", (0.8, -0.4 + 0.1 * (k % 2), 0.0), (1.6, 0.4, 0.8))])
        look(volume, world, [(-0.5, 0.0, 0.0)] * 8)
        world.boxes.clear()
        look(volume, world, [(-0.5, 0.0, 0.0)] * 8)
    assert volume.blocks.used < 2 * volume.blocks.live
    arrays = volume.to_arrays()
    free = np.setdiff1d(np.arange(volume.blocks.used), volume.blocks.places())
    assert not volume._cells.read(free)[1].any() and len(arrays["coords"]) == volume.blocks.live


def test_colour_is_that_of_the_surface(make_volume, box_world, crate, orbit):
    volume, world = make_volume(), box_world([crate])
    red = np.full((world.camera.height, world.camera.width, 3), (200, 30, 10), np.uint8)
    look(volume, world, orbit((0, 0), 2.0, 0, 360, 8), rgb=red)
    arrays = volume.to_arrays()
    near = np.abs(arrays["distance"]) < 6000
    assert (arrays["color"][near & (arrays["weight"] > 0)] == (200, 30, 10)).all()


def test_without_colour_no_memory_of_colours_is_written(seen):
    assert not seen[0]._cells.read(np.arange(seen[0].blocks.used))[2].any()


@pytest.mark.parametrize("bad", ["shape", "rgb", "pose"])
def test_images_that_do_not_fit_are_refused_and_change_nothing(seen, bad):
    volume, world = seen
    frame, _ = world.frame(99.0, 1.0, 1.0, 0.5)
    before = volume.to_arrays()
    depth = frame.depth[:-1] if bad == "shape" else frame.depth
    rgb = np.zeros((5, 5, 3), np.uint8) if bad == "rgb" else None
    pose = np.full((4, 4), np.nan) if bad == "pose" else frame.map_from_camera
    with pytest.raises(ValueError):
        volume.integrate(depth, frame.camera, pose, rgb)
    for name, array in volume.to_arrays().items():
        np.testing.assert_array_equal(array, before[name])


def test_invalid_depth_says_nothing(seen):
    volume, world = seen
    frame, _ = world.frame(99.0, -2.0, 0.0, 0.0)
    before = volume.to_arrays()
    for value in (np.nan, 0.0, -1.0, -np.inf):
        volume.integrate(np.full_like(frame.depth, value), frame.camera, frame.map_from_camera)
    after = volume.to_arrays()
    for name, array in before.items():
        np.testing.assert_array_equal(array, after[name])


def test_depth_beyond_range_shows_free_space_up_to_it(make_volume, box_world, crate):
    volume, world = make_volume(), box_world([crate])
    look(volume, world, [(-2.0, 0.0, 0.0)] * 2)
    frame, _ = world.frame(9.0, -2.0, 0.0, 0.0)
    for _ in range(4):
        volume.integrate(np.full_like(frame.depth, 30.0), frame.camera, frame.map_from_camera)
    assert not (np.abs(distances(volume, np.array([[-0.39, 0.0, 0.4]]))) < 0.5)


def test_a_camera_ten_kilometres_away_maps_there_and_a_lost_one_is_harmless(seen):
    volume, world = seen
    before = volume.blocks.live
    frame, _ = world.frame(99.0, -2.0, 0.0, 0.0)
    volume.integrate(frame.depth, frame.camera, planar_transform(1e4, 0.0, 0.0) @ frame.map_from_camera)
    points = frame.camera.backproject(frame.depth)[frame.depth.ravel() < 4.0]
    pose = planar_transform(1e4, 0.0, 0.0) @ frame.map_from_camera
    assert np.isfinite(distances(volume, points @ pose[:3, :3].T + pose[:3, 3])).mean() > 0.95
    assert volume.blocks.live > before


def test_a_full_volume_refuses_blocks_counts_them_and_goes_on(make_volume, box_world, crate, orbit):
    volume = make_volume(GeometryConfig(capacity=40))
    look(volume, box_world([crate]), orbit((0, 0), 2.0, 0, 360, 8))
    assert volume.blocks.live <= 40 and volume.blocks.refused > 0


def test_a_volume_goes_on_from_its_arrays(make_volume, seen, tmp_path, orbit):
    volume, world = seen
    np.savez(tmp_path / "geometry.npz", **volume.to_arrays())
    with np.load(tmp_path / "geometry.npz") as arrays:
        again = TsdfVolume.from_arrays(arrays, CONFIG, make_volume()._cells)
    for each in (volume, again):
        look(each, world, orbit((0.3, 0), 2.0, 0, 90, 4))
    for (name, kept), read in zip(volume.to_arrays().items(), again.to_arrays().values()):
        np.testing.assert_array_equal(kept, read, err_msg=name)


@pytest.mark.parametrize(
    ("how", "match"),
    [
        ({"version": np.array(7)}, "version 7"),
        ({"grid": np.array([0.04, 0.2])}, "voxels of"),
        ({"weight": np.zeros((1, 3), np.uint8)}, "weight is"),
        ({"color": None}, "missing"),
    ],
)
def test_arrays_that_are_no_volume_are_refused(seen, how, match):
    arrays = {**seen[0].to_arrays(), **how}
    with pytest.raises(ValueError, match=match):
        TsdfVolume.from_arrays({k: v for k, v in arrays.items() if v is not None})
    with pytest.raises(ValueError, match="room"):
        TsdfVolume.from_arrays(seen[0].to_arrays(), GeometryConfig(capacity=5))


def test_arrays_with_a_block_twice_are_refused(seen):
    arrays = seen[0].to_arrays()
    twice = {name: a if name in ("version", "grid") else np.repeat(a, 2, 0) for name, a in arrays.items()}
    with pytest.raises(ValueError, match="twice"):
        TsdfVolume.from_arrays(twice)


def test_the_map_does_not_depend_on_where_it_starts(make_volume, box_world, crate, orbit):
    """Blocks at negative coordinates behave like others."""
    volumes = make_volume(), make_volume()
    shift = planar_transform(-8.0 * 0.4, 16.0 * 0.4, 0.0)
    for volume, pose in zip(volumes, (np.eye(4), shift)):
        for x in orbit((0, 0), 2.0, 0, 90, 4):
            frame, _ = box_world([crate]).frame(1.0, *x)
            volume.integrate(frame.depth, frame.camera, pose @ frame.map_from_camera)
    points = np.random.default_rng(0).uniform(-1, 1, (500, 3))
    moved = points @ inverse(shift)[:3, :3] + shift[:3, 3]
    first, second = distances(volumes[0], points), distances(volumes[1], moved)
    np.testing.assert_allclose(first, second, atol=0.02)


@pytest.mark.parametrize("device", ON_TORCH)
def test_every_device_builds_the_same_map(box_world, box, orbit, device):
    """With colour, removed objects, and surfaces seen empty; rounding may shift a voxel by one pixel."""
    rng = np.random.default_rng(3)
    volumes = TsdfVolume(CONFIG, cells_on("processor")), TsdfVolume(CONFIG, cells_on(device))
    for x in (0.0, 0.4, 0.9):
        world = box_world([box("crate", (-0.4 + x, -0.4, 0.0), (0.4 + x, 0.4, 0.8))], seed=5)
        for i, pose in enumerate(orbit((0, 0), 2.0, 0, 360, 12)):
            frame, _ = world.frame(1.0 + i, *pose, depth_noise=0.01)
            rgb = rng.integers(0, 255, (*frame.depth.shape, 3)).astype(np.uint8) if i % 3 else None
            found = [v.integrate(frame.depth, frame.camera, frame.map_from_camera, rgb) for v in volumes]
            assert abs(found[0] - found[1]) <= 2
    first, second = (v.to_arrays() for v in volumes)
    coords = [{tuple(c): i for i, c in enumerate(a["coords"].tolist())} for a in (first, second)]
    common = sorted(set(coords[0]) & set(coords[1]))
    assert len(common) >= 0.99 * max(map(len, coords)) > 100
    one, other = ([c[k] for k in common] for c in coords)
    for name, tolerance in (("distance", 40), ("weight", 0), ("color", 1)):
        gap = np.abs(first[name][one].astype(int) - second[name][other].astype(int))
        assert (gap > tolerance).mean() < 2e-3, name
    assert (first["weight"] > 0).mean() > 0.3


def test_a_device_that_is_not_there_is_refused_and_none_is_needed():
    with pytest.raises(ValueError, match="cpu or cuda"):
        make_cells(GeometryConfig(device="tpu"))


def test_the_processor_needs_no_torch(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    assert isinstance(make_cells(GeometryConfig()), ProcessorCells)
    with pytest.raises(ValueError, match="make setup EXTRAS=torch"):
        make_cells(GeometryConfig(device="cuda"))


@pytest.mark.torch
def test_torchs_device_is_taken_where_it_is_asked_for():
    import torch

    assert isinstance(make_cells(CONFIG), ProcessorCells)
    if torch.cuda.is_available():
        assert not isinstance(make_cells(GeometryConfig(device="cuda")), ProcessorCells)
    else:
        with pytest.raises(ValueError, match="finds none"):
            make_cells(GeometryConfig(device="cuda"))


@pytest.mark.torch
def test_slabs_are_taken_as_blocks_come():
    cells = cells_on("cpu")
    cells.clear(np.array([5]))
    assert len(cells._slabs) == 1
    cells.write(np.array([2047, 2048]), *(np.ones((2, 512, *shape), t) for shape, t in
                (((), np.int16), ((), np.uint8), ((3,), np.uint8))))  # fmt: skip
    assert len(cells._slabs) == 2
    distance, weight, color = cells.read(np.array([2048, 0, 2047]))
    assert distance[:, 0].tolist() == weight[:, 0].tolist() == color[:, 7, 1].tolist() == [1, 0, 1]


def test_the_surface_is_at_the_crate_in_its_colour_and_without_gaps(make_volume, box_world, crate, orbit):
    volume, world = make_volume(), box_world([crate])
    red = np.full((world.camera.height, world.camera.width, 3), (200, 30, 10), np.uint8)
    look(volume, world, orbit((0, 0), 2.0, 0, 360, 24), rgb=red)
    centres, colors = volume.surface()
    assert centres.dtype == np.float32 and len(centres) == len(colors)
    painted = (colors == (200, 30, 10)).all(axis=1)
    assert painted.mean() > 0.99 and not colors[~painted].any()
    side = centres[(np.abs(centres[:, 0] - 0.4) < 0.06) & (np.abs(centres[:, 1]) < 0.3)]
    cells = [(int(y), int(z)) for y, z in np.floor(side[:, 1:] / CONFIG.voxel) if 2 <= z < 14]
    assert len(set(cells)) == 12 * 12, "blocks meet without a seam"
    assert len(cells) <= 1.2 * 12 * 12, "about one layer"
    empty, none = make_volume().surface()
    assert empty.shape == none.shape == (0, 3)


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, 10**6))
def test_what_is_at_a_surface_does_not_depend_on_blocks(seed):
    rng = np.random.default_rng(seed)
    dense = rng.integers(-9, 10, (24, 16, 24)).astype(np.int16)
    coords = np.argwhere(rng.random((3, 2, 3)) < 0.8).astype(np.int64)
    for block in np.argwhere(np.ones((3, 2, 3), bool)):
        if not (coords == block).all(axis=1).any():
            x, y, z = 8 * block
            dense[x : x + 8, y : y + 8, z : z + 8] = 0
    expected = np.zeros(dense.shape, bool)
    for cell in np.argwhere(dense):
        for axis in range(3):
            after = cell + np.eye(3, dtype=int)[axis]
            if after[axis] < dense.shape[axis] and int(dense[tuple(cell)]) * int(dense[tuple(after)]) < 0:
                closer = abs(dense[tuple(cell)]) <= abs(dense[tuple(after)])
                expected[tuple(cell if closer else after)] = True
    cubes = [dense[x : x + 8, y : y + 8, z : z + 8] for x, y, z in 8 * coords]
    found = at_surfaces(np.array(cubes, np.int16).reshape(-1, 8, 8, 8), coords - 5)
    for (x, y, z), cube in zip(8 * coords, found):
        np.testing.assert_array_equal(cube, expected[x : x + 8, y : y + 8, z : z + 8])

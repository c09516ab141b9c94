"""Tests of OctoMap and its projection against a room with known walls."""

from __future__ import annotations

import tempfile
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lodestar.geometry.camera import PinholeCamera
from lodestar.geometry.poses import BODY_FROM_OPTICAL, make_transform, planar_transform
from lodestar.grid.occupancy import FREE, OCCUPIED, UNKNOWN
from lodestar.mapping.config import FloorConfig
from lodestar.mapping.occupancy import floor as floor_module
from lodestar.mapping.occupancy.octomap import MapExtentError, OctoMapConfig, OctoMapper
from lodestar.perception.frames import RgbdFrame

pyoctomap = pytest.importorskip("pyoctomap", reason="pyoctomap is not installed (pip install pyoctomap)")

FLAT = OctoMapConfig(floor=FloorConfig(enabled=False))  # projects a fixed band of heights above z = 0
ROOM_HIGH = np.array([4.03, 3.03, 2.6])
ROOM_LOW = np.array([-4.03, -3.03, 0.0])
BOX_LOW, BOX_HIGH = np.array([1.5, -0.5, 0.0]), np.array([2.0, 0.5, 0.4])


def directions() -> np.ndarray:
    azimuth = np.linspace(-np.pi, np.pi, 360, endpoint=False)
    elevation = np.radians(np.linspace(-35, 30, 24))[:, None]
    x, y = np.cos(elevation) * np.cos(azimuth), np.cos(elevation) * np.sin(azimuth)
    z = np.broadcast_to(np.sin(elevation), x.shape)
    return np.stack([x, y, z], axis=-1).reshape(-1, 3)


def cast(origin: np.ndarray, rays: np.ndarray) -> np.ndarray:
    """Return the points (N, 3) at which rays from inside the room hit its walls, floor, ceiling or the box."""
    with np.errstate(divide="ignore", invalid="ignore"):
        wall = np.where(rays > 0, (ROOM_HIGH - origin) / rays, (ROOM_LOW - origin) / rays)
        near, far = (BOX_LOW - origin) / rays, (BOX_HIGH - origin) / rays
        enter, leave = np.minimum(near, far).max(axis=1), np.maximum(near, far).min(axis=1)
    reach = np.nanmin(np.where(rays == 0, np.inf, wall), axis=1)
    hit = (enter > 0) & (enter < leave)
    return origin + rays * np.where(hit, np.minimum(enter, reach), reach)[:, None]


def mapped_room(config: OctoMapConfig | None = None, scans: int = 2) -> OctoMapper:
    mapper = OctoMapper(config or FLAT)
    map_from_lidar = planar_transform(0.0, 0.0, 0.7, z=0.5)
    rays_map = directions() @ map_from_lidar[:3, :3].T
    points = cast(map_from_lidar[:3, 3], rays_map)
    points_sensor = (points - map_from_lidar[:3, 3]) @ map_from_lidar[:3, :3]
    for _ in range(scans):
        mapper.insert_points(points_sensor, map_from_lidar)
    return mapper


def tree_from_binary(data: bytes, resolution: float):
    """Return OctoMap's tree, parsed from the data of a binary octomap message."""
    codes = np.frombuffer(data, np.uint8)[:, None] >> np.array([0, 2, 4, 6], np.uint8) & 3  # 2 bits per child
    node_count = 1 + int(np.count_nonzero(codes))
    header = f"# Octomap OcTree binary file\nid OcTree\nsize {node_count}\nres {resolution}\ndata\n"
    tree = pyoctomap.OcTree(resolution)
    with tempfile.NamedTemporaryFile(suffix=".bt") as file:
        file.write(header.encode() + data)
        file.flush()
        assert tree.readBinary(file.name)
    return tree


def state_at(grid, x: float, y: float) -> int:
    row, column = grid.cells_of(np.array([x, y]))
    return int(grid.cells[row, column])


def test_walls_and_box_are_occupied_floor_is_free_and_the_outside_unknown():
    grid = mapped_room().project(stamp=3.0)
    assert state_at(grid, 0.0, 3.05) == OCCUPIED
    assert state_at(grid, -4.05, 0.0) == OCCUPIED
    assert state_at(grid, 1.55, 0.0) == OCCUPIED
    assert state_at(grid, 1.0, 0.0) == FREE
    assert state_at(grid, -2.0, 2.0) == FREE
    assert state_at(grid, 0.0, 3.15) == UNKNOWN  # behind the wall
    assert grid.stamp == 3.0
    inside = grid.points_of(np.argwhere(grid.free))
    assert (np.abs(inside) < [4.1, 3.1]).all()
    assert grid.free_area == pytest.approx(8.06 * 6.06 - 0.5, rel=0.06)


def test_floor_and_ceiling_are_no_obstacles():
    grid = mapped_room().project(0.0)
    occupied = grid.points_of(np.argwhere(grid.occupied))
    on_wall = (np.abs(occupied) > [3.9, 2.9]).any(axis=1)
    on_box = ((occupied > BOX_LOW[:2] - 0.1) & (occupied < BOX_HIGH[:2] + 0.1)).all(axis=1)
    assert (on_wall | on_box).all()


def test_incremental_projection_equals_one_from_scratch():
    mapper = mapped_room(scans=1)
    mapper.project(0.0)
    map_from_lidar = planar_transform(-1.0, 1.0, 0.0, z=0.5)
    origin = map_from_lidar[:3, 3]
    mapper.insert_points(cast(origin, directions()) - origin, map_from_lidar)
    incremental = mapper.project(1.0)
    mapper._dirty[:] = True
    assert np.array_equal(incremental.cells, mapper.project(1.0).cells)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**32 - 1), st.booleans())
def test_projecting_what_changed_equals_projecting_everything(seed, jumps):
    rng = np.random.default_rng(seed)
    mapper = OctoMapper(replace(FLAT, max_range=4.0))
    mapper.follow(np.eye(4), np.eye(4))
    correction = np.eye(4)
    for number in range(6):
        if jumps and number == 3:
            correction = turned_about(
                *rng.uniform(-5.0, 5.0, 2), rng.uniform(0.1, 3.0), rng.uniform(-1, 1, 2)
            )
            assert mapper.follow(correction, np.eye(4))
        pose = correction @ planar_transform(*rng.uniform(-2.0, 2.0, 2), rng.uniform(-3.0, 3.0), z=0.3)
        mapper.insert_points(rng.normal(0.0, [3.0, 3.0, 0.3], (150, 3)), pose)
        incremental = mapper.project(1.0).cells
        copy = OctoMapper.from_arrays(mapper.to_arrays(), mapper.config)
        copy._dirty[:] = True
        assert np.array_equal(incremental, copy.project(1.0).cells)


def test_a_place_seen_empty_again_becomes_free():
    mapper = mapped_room()
    origin = np.array([0.0, 0.0, 0.25])
    y, z = np.meshgrid(np.linspace(-1.2, 1.2, 60), np.linspace(0.0, 0.6, 30))
    through_box = np.stack([np.full(y.size, 3.9), y.ravel(), z.ravel()], axis=1)
    assert state_at(mapper.project(0.0), 1.55, 0.0) == OCCUPIED
    for _ in range(15):
        mapper.insert_points(through_box - origin, make_transform(np.eye(3), origin))
    assert state_at(mapper.project(1.0), 1.55, 0.0) == FREE


def test_binary_message_is_read_back_with_the_same_occupancy_and_leaves_the_map_alone():
    mapper = mapped_room()
    before = mapper.to_arrays()["octree"]
    data = mapper.binary_data()
    assert np.array_equal(mapper.to_arrays()["octree"], before)
    tree = tree_from_binary(data, 0.1)
    grid = mapper.project(0.0)
    for x, y in ((0.0, 3.05), (1.55, 0.0), (1.0, 0.0), (-2.0, 2.0)):
        column = np.array([[x, y, z] for z in (0.15, 0.25, 0.35, 0.45, 0.55)])
        labels = tree.getLabels(column)
        assert (labels == 1).any() == (state_at(grid, x, y) == OCCUPIED)


def test_depth_images_map_too(monkeypatch):
    monkeypatch.setattr("lodestar.mapping.occupancy.octomap.OCTOMAP_DEPTH_STRIDE", 4)
    camera = PinholeCamera(320, 240, 190.0, 190.0, 159.5, 119.5)
    body = planar_transform(0.0, 0.0, 0.0, z=0.45)
    map_from_camera = body @ BODY_FROM_OPTICAL
    rays_map = camera.rays().reshape(-1, 3).astype(float) @ map_from_camera[:3, :3].T
    points = cast(map_from_camera[:3, 3], rays_map)
    depth = ((points - map_from_camera[:3, 3]) @ map_from_camera[:3, :3])[:, 2].reshape(240, 320)
    mapper = OctoMapper()
    used = mapper.insert_depth(RgbdFrame(0.0, camera, depth.astype(np.float32), map_from_camera))
    grid = mapper.project(0.0)
    assert used == 60 * 80
    assert state_at(grid, 1.55, 0.0) == OCCUPIED
    assert state_at(grid, 1.0, 0.2) == FREE


@settings(max_examples=15, deadline=None)
@given(st.floats(-np.pi, np.pi), st.floats(0.3, 3.0), st.floats(-5.0, 5.0))
def test_a_robot_without_a_lidar_stands_on_known_floor(yaw, wall, x):
    """The camera, 0.3 m ahead of the robot's centre, sees a wall only, and no floor under or beside the robot."""
    mapper = OctoMapper(OctoMapConfig(floor=FloorConfig(enabled=True)))
    camera = PinholeCamera(64, 48, 40.0, 40.0, 32.0, 24.0)
    base = planar_transform(x, 1.0, yaw, FloorConfig().base_height)
    pose = base @ planar_transform(0.3, 0.0, 0.0, 0.1) @ BODY_FROM_OPTICAL
    frame = RgbdFrame(0.0, camera, np.full((48, 64), wall, np.float32), pose)
    mapper.insert_depth(frame, base)
    grid = mapper.project(0.0)
    for ahead, aside in ((0.0, 0.0), (0.25, 0.1), (-0.25, -0.1)):
        c, s = np.cos(yaw), np.sin(yaw)
        place = x + c * ahead - s * aside, 1.0 + s * ahead + c * aside
        assert state_at(grid, *place) == FREE


@pytest.mark.parametrize("value", [0.0, np.nan, np.inf])
def test_empty_or_broken_depth_changes_nothing(value):
    camera = PinholeCamera(32, 24, 20.0, 20.0, 15.5, 11.5)
    mapper = OctoMapper()
    assert mapper.insert_depth(RgbdFrame(0.0, camera, np.full((24, 32), value, np.float32), np.eye(4))) == 0
    assert mapper.project(0.0).cells.tolist() == [[UNKNOWN]]


def test_a_pose_far_away_is_refused_and_the_map_stays():
    mapper = mapped_room(OctoMapConfig(max_cells=100_000))
    before = mapper.project(0.0)
    with pytest.raises(MapExtentError, match="is the pose of the sensor right"):
        mapper.insert_points(np.array([[1.0, 0.0, 0.0]]), planar_transform(10_000.0, 0.0, 0.0))
    assert np.array_equal(before.cells, mapper.project(0.0).cells)


def turned_about(x: float, y: float, angle: float, shift=(0.0, 0.0)) -> np.ndarray:
    """Return a correction that turns the map about a place in it."""
    there, back = planar_transform(x, y, 0.0), planar_transform(-x, -y, 0.0)
    return planar_transform(*shift, 0.0) @ there @ planar_transform(0.0, 0.0, angle) @ back


@pytest.mark.parametrize(
    "jump", [turned_about(6.0, -3.0, np.radians(5.0)), planar_transform(0.53, -0.2, 0.0)]
)
def test_the_map_moves_with_a_jump_of_the_correction(jump):
    mapper = mapped_room()
    before = mapper.project(1.0)
    assert not mapper.follow(np.eye(4), np.eye(4))
    assert mapper.follow(jump, np.eye(4))
    after = mapper.project(2.0)
    for x, y in ((0.0, 3.05), (-4.05, 0.0), (1.7, 0.0), (0.5, 0.5), (-2.0, 1.0)):
        moved = jump @ [x, y, 0.0, 1.0]
        assert state_at(after, *moved[:2]) == state_at(before, x, y), (x, y)
    assert after.free_area == pytest.approx(before.free_area, rel=0.05)
    walls = jump[:2, :2] @ np.array([np.linspace(-3.9, 3.9, 100), np.full(100, 3.05)]) + jump[:2, 3:]
    offsets = 0.06 * np.array([[0, 0], [1, 0], [-1, 0], [0, 1], [0, -1]])
    near = [after.cells_of(walls.T + offset) for offset in offsets]
    assert all(any(after.occupied[tuple(cells[i])] for cells in near) for i in range(100)), (
        "the wall has no gaps"
    )


def test_small_corrections_leave_the_map_where_it_is():
    mapper = mapped_room()
    before = mapper.project(1.0)
    mapper.follow(np.eye(4), np.eye(4))
    assert not mapper.follow(planar_transform(0.05, 0.0, np.radians(1.0)), np.eye(4))
    assert np.array_equal(mapper.project(2.0).cells, before.cells)


def test_a_turn_about_the_far_origin_of_odom_counts_by_what_it_does_to_the_sensor():
    mapper = mapped_room()
    mapper.follow(np.eye(4), planar_transform(30.0, 0.0, 0.0))
    assert mapper.follow(planar_transform(0.0, 0.0, np.radians(1.0)), planar_transform(30.0, 0.0, 0.0))


def test_rays_after_a_jump_fall_on_what_moved():
    mapper, jump = mapped_room(), turned_about(5.0, 0.0, np.radians(10.0))
    mapper.follow(np.eye(4), np.eye(4))
    mapper.follow(jump, np.eye(4))
    pose = jump @ planar_transform(0.0, 0.0, 0.7, z=0.5)
    rays = directions() @ planar_transform(0.0, 0.0, 0.7)[:3, :3].T
    points = cast(np.array([0.0, 0.0, 0.5]), rays)
    before = mapper.project(1.0).occupied.sum()
    mapper.insert_points((points - [0.0, 0.0, 0.5]) @ planar_transform(0.0, 0.0, 0.7)[:3, :3], pose)
    assert mapper.project(2.0).occupied.sum() == pytest.approx(before, rel=0.02), "no second wall"


def test_the_message_after_a_jump_lies_along_the_axes_of_the_map():
    mapper, jump = mapped_room(), turned_about(5.0, 0.0, np.radians(10.0))
    mapper.follow(np.eye(4), np.eye(4))
    mapper.follow(jump, np.eye(4))
    mapper.project(1.0)
    tree = tree_from_binary(mapper.binary_data(), mapper.config.resolution)
    wall, inside = (jump @ np.array([x, y, 0.45, 1.0]) for x, y in ((0.0, 3.05), (0.5, 1.0)))
    around = np.array([wall[:3] + 0.1 * np.array([i, j, 0]) for i in (-1, 0, 1) for j in (-1, 0, 1)])
    assert (np.asarray(tree.getLabels(around)) == 1).any()
    assert np.asarray(tree.getLabels(inside[None, :3].copy()))[0] == 0


@pytest.mark.parametrize("config", [FLAT, OctoMapConfig()])
def test_what_was_saved_goes_on(config):
    mapper, jump = mapped_room(config), planar_transform(0.5, 0.2, 0.3)
    mapper.follow(np.eye(4), np.eye(4))
    mapper.follow(jump, np.eye(4))
    loaded = OctoMapper.from_arrays(mapper.to_arrays(), config)
    assert np.array_equal(loaded.project(2.0).cells, mapper.project(2.0).cells)
    assert loaded.project(2.0).origin == mapper.project(2.0).origin
    for each in (mapper, loaded):
        each.insert_points(np.array([[2.0, 0.1, 0.2]]), planar_transform(0.0, 0.0, 0.0, z=0.3))
    assert np.array_equal(loaded.project(3.0).cells, mapper.project(3.0).cells)
    assert loaded.binary_data() == mapper.binary_data()


def test_a_map_that_resumes_follows_a_jump_that_came_meanwhile():
    mapper = OctoMapper(OctoMapConfig())
    sensor = make_transform(np.eye(3), np.array([0.0, 0.0, 0.5]))
    mapper.follow(np.eye(4), sensor)
    mapper.insert_points(cast(sensor[:3, 3], directions()) - sensor[:3, 3], sensor)
    jump = planar_transform(1.0, 0.0, 0.0)
    for resumes in (True, False):
        other = OctoMapper.from_arrays(mapper.to_arrays())
        if resumes:
            other.anchor.resume(mapper.anchor.last)
        assert other.follow(jump, sensor) == resumes


def test_an_empty_map_is_saved_too():
    loaded = OctoMapper.from_arrays(OctoMapper().to_arrays())
    assert loaded.project(0.0).cells.tolist() == [[UNKNOWN]]
    assert loaded.insert_points(np.array([[2.0, 0.1, 0.2]]), np.eye(4)) == 1


def test_arrays_that_do_not_fit_are_refused():
    arrays = mapped_room().to_arrays()
    with pytest.raises(ValueError, match="voxels"):
        OctoMapper.from_arrays(arrays, OctoMapConfig(resolution=0.2))
    with pytest.raises(ValueError, match="do not fit"):
        OctoMapper.from_arrays({**arrays, "dirty": arrays["dirty"][:-1]})
    with pytest.raises(ValueError, match="finite"):
        OctoMapper.from_arrays({**arrays, "map_from_tree": np.full((4, 4), np.nan)})


# --- loop closures -----------------------------------------------------------------------------------------


CLOSURE = planar_transform(0.7, -0.4, 0.3)


def _seen(config=None):
    mapper = OctoMapper(config or OctoMapConfig())
    rng = np.random.default_rng(3)
    for x in (0.0, 0.5):
        points = rng.uniform((-2.0, -2.0, -0.4), (2.0, 2.0, 1.0), (400, 3))
        base = planar_transform(x, 0.0, 0.0)
        mapper.follow(np.eye(4), planar_transform(x, 0.0, 0.0, 0.4))
        mapper.insert_points(points, planar_transform(x, 0.0, 0.0, 0.4), base)
        mapper.project(0.0)
    return mapper


def _same(first, second):
    return first.keys() == second.keys() and all(
        np.array_equal(first[name], second[name], equal_nan=first[name].dtype.kind == "f") for name in first
    )


def test_a_loop_closure_that_fails_anywhere_moves_nothing_and_comes_again(monkeypatch):
    sensor = planar_transform(0.5, 0.0, 0.0, 0.4)
    clean = _seen()
    clean.follow(CLOSURE, sensor)
    real, calls = floor_module.moved_cells, []

    def failing(*arguments):
        calls.append(1)
        if len(calls) == at:
            raise MemoryError
        return real(*arguments)

    for at in range(1, 50):
        mapper, calls = _seen(), []
        # large enough not to grow during the test
        mapper._extend(np.array([-100, -100]), np.array([100, 100]))
        before = mapper.to_arrays()
        with monkeypatch.context() as patched:
            patched.setattr(floor_module, "moved_cells", failing)
            try:
                mapper.follow(CLOSURE, sensor)
            except MemoryError:
                assert _same(mapper.to_arrays(), before), f"layer {at}"
        if len(calls) < at:
            break
        assert mapper.follow(CLOSURE, sensor), "it comes again"
        assert mapper.project(1.0).free_area == pytest.approx(clean.project(1.0).free_area)
        np.testing.assert_allclose(mapper.to_arrays()["map_from_tree"], CLOSURE)
    assert at > 3


def test_a_loop_closure_out_of_bounds_moves_nothing_and_the_map_goes_on():
    mapper = _seen(OctoMapConfig(max_cells=40_000))
    before = mapper.to_arrays()
    far = planar_transform(500.0, 0.0, 0.0)
    for _ in range(2):
        with pytest.raises(MapExtentError):
            mapper.follow(far, np.eye(4))
        assert _same(mapper.to_arrays(), before)
    assert not mapper.follow(np.eye(4), np.eye(4)), "the wrong correction was taken back"

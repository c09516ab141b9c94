"""Tests of the floor's height and edges, on grounds with a known closed form."""

from __future__ import annotations

import numpy as np
import pytest

from lodestar.geometry.poses import make_transform, planar_transform
from lodestar.grid.occupancy import FREE, OCCUPIED, UNKNOWN
from lodestar.mapping.occupancy.floor import FloorConfig
from lodestar.mapping.occupancy.octomap import OctoMapConfig, OctoMapper

LIDAR = 0.5  # m above the ground
WALL = 5.0  # m, half the side of the surrounding square room
ON, OFF = OctoMapConfig(), OctoMapConfig(floor=FloorConfig(enabled=False))


def directions() -> np.ndarray:
    azimuth = np.linspace(-np.pi, np.pi, 240, endpoint=False)
    elevation = np.radians(np.linspace(-35, 30, 24))[:, None]
    x, y = np.cos(elevation) * np.cos(azimuth), np.cos(elevation) * np.sin(azimuth)
    return np.stack([x, y, np.broadcast_to(np.sin(elevation), x.shape)], axis=-1).reshape(-1, 3)


def level(points):
    return np.zeros(len(points))


def stairs(points):
    """Return heights of stairs that descend from x = 2 on, 0.17 m every 0.3 m, over a width of 1.4 m."""
    steps = np.floor((points[:, 0] - 2.0) / 0.3) + 1.0
    return np.where((points[:, 0] > 2.0) & (np.abs(points[:, 1]) < 0.7), -0.17 * np.clip(steps, 0, 8), 0.0)


def ramp(points):
    """Return heights of a ramp that rises by 5 degrees from x = 1 on."""
    return np.clip(points[:, 0] - 1.0, 0.0, None) * np.tan(np.radians(5.0))


def sill(points):
    return np.where(np.abs(points[:, 0] - 1.5) < 0.05, 0.03, 0.0)


def returns(ground, origin: np.ndarray, rays: np.ndarray) -> np.ndarray:
    """Return the points (N, 3) at which rays from inside the room hit its ground or walls."""
    with np.errstate(divide="ignore"):
        reach = np.where(
            rays[:, :2] > 0, (WALL - origin[:2]) / rays[:, :2], (-WALL - origin[:2]) / rays[:, :2]
        )
    reach = np.minimum(np.nanmin(np.where(rays[:, :2] == 0, np.inf, reach), axis=1), 12.0)
    falling = np.flatnonzero(rays[:, 2] < 0.1)
    for length in np.arange(0.3, 7.5, 0.02):
        falling = falling[length < reach[falling]]
        ends = origin + rays[falling] * length
        reach[falling[ends[:, 2] < ground(ends)]] = length
    return origin + rays * reach[:, None]


def look(mapper, ground, x, y, base_height=0.0, below=0.0, pitch=0.0, base=True):
    """Insert one LiDAR scan of a robot at (x, y); the whole scene lies `below` metres under z = 0."""
    z = float(ground(np.array([[x, y]]))[0]) - below
    c, s = np.cos(pitch), np.sin(pitch)
    tilt = make_transform(np.array([[c, 0, -s], [0, 1, 0], [s, 0, c]]), (x, y, z))
    map_from_lidar = tilt @ planar_transform(0, 0, 0, LIDAR)
    rays = directions() @ map_from_lidar[:3, :3].T
    points = returns(lambda p: ground(p) - below, map_from_lidar[:3, 3], rays) - map_from_lidar[:3, 3]
    map_from_base = tilt @ planar_transform(0, 0, 0, base_height) if base else None
    mapper.insert_points(points @ map_from_lidar[:3, :3], map_from_lidar, map_from_base)


def walked(ground, places, **how) -> OctoMapper:
    height = how.get("base_height", 0.0)
    mapper = OctoMapper(OctoMapConfig(floor=FloorConfig(base_height=height)))
    for x, y in places:
        look(mapper, ground, x, y, **how)
        mapper.project(0.0)
    return mapper


def line(first, last, y=0.0, step=0.15):
    return [(x, y) for x in np.arange(first, last + 1e-6, step)]


def states(grid, xs, y=0.0) -> np.ndarray:
    cells = grid.cells_of(np.array([[x, y] for x in xs]))
    return grid.cells[cells[:, 0], cells[:, 1]]


def test_floor_lies_where_the_feet_stand_and_not_at_zero():
    grid = walked(level, line(-2.0, 1.0), base_height=0.32, below=0.8).project(0.0)
    assert (states(grid, np.arange(-3.0, 3.0, 0.1)) == FREE).all()
    as_ever = walked(level, line(-2.0, 1.0)).project(0.0)
    known = (grid.cells != UNKNOWN) | (as_ever.cells != UNKNOWN)
    assert (grid.cells == as_ever.cells)[known].mean() > 0.99


def test_without_a_place_that_it_stood_on_the_floor_is_what_lies_at_zero():
    grid = walked(level, line(-2.0, 1.0), base=False).project(0.0)
    assert (states(grid, np.arange(-2.0, 2.0, 0.1)) == FREE).all()


def test_a_ramp_of_five_degrees_is_free_to_its_top():
    grid = walked(ramp, line(-1.0, 0.9), base_height=0.32).project(0.0)
    assert (states(grid, np.arange(-0.5, 2.8, 0.1)) == FREE).all()
    mapper = walked(ramp, line(-1.0, 0.9))
    for x in np.arange(1.2, 3.5, 0.15):
        look(mapper, ramp, x, 0.0, pitch=np.radians(5.0))
    assert (states(mapper.project(1.0), np.arange(-0.5, 4.5, 0.1)) == FREE).all()


def test_a_sill_of_three_centimetres_is_free():
    grid = walked(sill, line(-1.0, 0.9)).project(0.0)
    assert (states(grid, np.arange(-0.5, 3.0, 0.1)) == FREE).all()


@pytest.mark.parametrize(("far_bridge", "within"), [(FloorConfig().far_bridge, 3.0), (0.0, np.inf)])
def test_stairs_that_lead_down_are_at_no_time_free_and_their_edge_is_an_obstacle(far_bridge, within):
    """Within 3 m by default; at any distance if no floor is assumed from afar."""
    mapper = OctoMapper(OctoMapConfig(floor=FloorConfig(far_bridge=far_bridge)))
    xs, ys = np.meshgrid(np.arange(2.15, 4.3, 0.1), np.arange(-0.55, 0.6, 0.1))
    for x, y in line(-1.0, 1.3) + line(-1.0, 3.0, y=1.5):
        look(mapper, stairs, x, y)
        grid = mapper.project(0.0)
        points = np.stack([xs.ravel(), ys.ravel()], axis=1)
        cells = grid.cells_of(points[np.hypot(points[:, 0] - x, points[:, 1] - y) <= within])
        cells = cells[grid.contains(cells)]
        assert not grid.free[cells[:, 0], cells[:, 1]].any(), (x, y)
    assert (states(grid, np.arange(2.15, 4.2, 0.1)) == OCCUPIED).all()
    assert (states(grid, np.arange(0.0, 1.75, 0.1)) == FREE).all(), (
        "the floor two cells before the edge stays"
    )
    assert (states(grid, np.arange(1.0, 4.0, 0.1), y=1.5) == FREE).all(), "there is a way beside them"


def test_floor_that_no_ray_met_is_unknown_though_the_space_over_it_is_empty():
    mapper = OctoMapper(ON)
    ahead = np.array(
        [[x, y, z] for x in (3.0,) for y in np.linspace(-1, 1, 81) for z in np.linspace(-0.2, 0.1, 31)]
    )
    for _ in range(3):
        mapper.insert_points(ahead, planar_transform(0, 0, 0, 0.4), planar_transform(0, 0, 0))
    grid = mapper.project(0.0)
    assert (states(grid, np.arange(0.6, 2.8, 0.1)) == UNKNOWN).all()
    assert (states(grid, np.arange(0.0, 0.3, 0.1)) == FREE).all(), "it stands there"


def test_a_mirror_image_in_a_glossy_floor_is_no_hole():
    mapper = walked(level, line(-1.0, 0.5))
    before = mapper.project(0.0)
    mirrored = np.array([[2.5, y, -1.2] for y in np.linspace(-0.5, 0.5, 41)])
    mapper.insert_points(mirrored, planar_transform(0.5, 0, 0, LIDAR), planar_transform(0.5, 0, 0))
    after = mapper.project(1.0)
    assert np.array_equal(before.occupied, after.occupied)


def test_a_floor_that_is_gone_is_noticed():
    mapper = walked(level, line(-1.0, 0.9))
    assert (states(mapper.project(0.0), [2.3, 2.6]) == FREE).all()
    for _ in range(40):
        look(mapper, stairs, 1.0, 0.0)
    assert (states(mapper.project(1.0), np.arange(2.45, 3.5, 0.1)) != FREE).all()


def test_the_floor_moves_with_a_jump_and_is_saved():
    mapper = walked(stairs, line(-1.0, 1.3))
    jump = planar_transform(0.5, 0.3, 0.0, 0.2)
    mapper.follow(np.eye(4), np.eye(4))
    before = mapper.project(0.0)
    assert mapper.follow(jump, np.eye(4))
    after = mapper.project(1.0)
    xs = np.arange(0.0, 4.0, 0.1)
    assert np.array_equal(states(before, xs), states(after, xs + 0.5, y=0.3))
    loaded = OctoMapper.from_arrays(mapper.to_arrays(), ON)
    assert np.array_equal(loaded.project(2.0).cells, after.cells)


def test_a_map_of_0_1_0_is_loaded_with_its_floor_at_zero():
    mapper = walked(level, line(-1.0, 1.0))
    arrays = {name: layer for name, layer in mapper.to_arrays().items() if not name.startswith("floor_")}
    loaded, before = OctoMapper.from_arrays(arrays, ON).project(0.0), mapper.project(0.0)
    assert (states(loaded, np.arange(-1.0, 2.0, 0.1)) == FREE).all()
    assert np.array_equal(loaded.occupied, before.occupied)


def test_layers_of_another_shape_are_refused():
    arrays = walked(level, line(0.0, 0.2)).to_arrays()
    with pytest.raises(ValueError, match="floor does not fit"):
        OctoMapper.from_arrays({**arrays, "floor_height": arrays["floor_height"][:-1]}, ON)


def test_switched_off_the_floor_is_zero_and_nowhere_ends():
    off, without = OctoMapper(OFF), OctoMapper(OFF)
    for x, y in line(-1.0, 1.3):
        look(off, stairs, x, y)
        look(without, stairs, x, y, base=False)
    grid = off.project(0.0)
    assert np.array_equal(grid.cells, without.project(0.0).cells), "the feet say nothing"
    assert (states(grid, np.arange(2.15, 3.0, 0.1)) == FREE).any(), "stairs that lead down are not seen"
    assert not off.sees_drop_offs
    assert not any(name.startswith("floor_") for name in off.to_arrays())


def test_a_map_with_a_floor_layer_goes_on_without_it_as_if_it_had_never_had_one():
    on, off = OctoMapper(ON), OctoMapper(OFF)
    for x, y in line(-1.0, 0.9):
        for mapper in (on, off):
            look(mapper, ramp, x, y)
            mapper.project(0.0)
    assert on.sees_drop_offs
    loaded = OctoMapper.from_arrays(on.to_arrays(), OFF)
    assert not loaded.sees_drop_offs
    assert np.array_equal(loaded.project(1.0).cells, off.project(1.0).cells)

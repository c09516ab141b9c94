"""Tests of the grid from planar scans of a square room."""

import math

import numpy as np
import pytest

from lodestar.geometry.poses import inverse, planar_transform
from lodestar.grid.occupancy import FREE, OCCUPIED, UNKNOWN
from lodestar.mapping.occupancy.scan_grid import ScanGridConfig, ScanGridMapper

BEAMS = 720
ANGLES = -np.pi + np.arange(BEAMS) * 2 * np.pi / BEAMS


def room_scan(x, y, yaw, half=3.0):
    """Return the ranges in a square room with walls at +-half."""
    direction = np.stack([np.cos(ANGLES + yaw), np.sin(ANGLES + yaw)], 1)
    with np.errstate(divide="ignore"):
        to_walls = np.where(direction > 0, half - np.array([x, y]), -half - np.array([x, y])) / direction
    return to_walls.min(1)


def insert(mapper, ranges, x=0.0, y=0.0, yaw=0.0):
    mapper.insert_scan(ranges, -np.pi, 2 * np.pi / BEAMS, 20.0, planar_transform(x, y, yaw))


def cell(grid, x, y):
    row, column = grid.cells_of(np.array([[x, y]]))[0]
    return grid.cells[row, column]


@pytest.mark.parametrize("pose", [(0.0, 0.0, 0.0), (1.2, -0.7, 2.1)])
def test_a_room_is_free_inside_occupied_at_its_walls_unknown_beyond(pose):
    mapper = ScanGridMapper()
    for _ in range(3):
        insert(mapper, room_scan(*pose), *pose)
    grid = mapper.project(7.0)
    assert grid.stamp == 7.0
    assert grid.free_area == pytest.approx(36.0, rel=0.08)
    for along in np.arange(-2.5, 2.5, 0.3):
        assert cell(grid, along, along) == FREE
        assert OCCUPIED in {cell(grid, 2.98, along), cell(grid, 3.02, along)}
        assert cell(grid, 3.5, along) == UNKNOWN


def test_growth_keeps_every_cell():
    mapper = ScanGridMapper(ScanGridConfig(growth=1.0))
    insert(mapper, room_scan(0, 0, 0))
    before = mapper.project()
    known = np.argwhere(before.cells != UNKNOWN)
    far = np.full(BEAMS, 2.0)
    for x, y in ((-30, 5), (10, -40), (8, 33)):
        insert(mapper, far, x, y)
    after = mapper.project()
    assert after.cells.shape > before.cells.shape
    moved = after.cells_of(before.points_of(known))
    np.testing.assert_array_equal(
        after.cells[moved[:, 0], moved[:, 1]], before.cells[known[:, 0], known[:, 1]]
    )


def test_beams_without_return_are_free_only_where_the_driver_is_trusted_and_nan_beams_are_nothing():
    ranges = np.full(BEAMS, np.inf)
    ranges[ANGLES < 0] = np.nan
    ranges[0] = 1.0
    for trusted, state in ((False, UNKNOWN), (True, FREE)):
        mapper = ScanGridMapper(ScanGridConfig(max_range=5.0, growth=6.0, free_without_return=trusted))
        insert(mapper, ranges)
        grid = mapper.project()
        assert cell(grid, 0.5, 4.0) == state
        assert cell(grid, 0.5, -1.0) == UNKNOWN


def test_what_moved_away_is_freed_and_what_came_is_seen():
    mapper = ScanGridMapper()
    with_chair = room_scan(0, 0, 0)
    with_chair[np.abs(ANGLES) < 0.2] = 1.0
    for _ in range(20):
        insert(mapper, with_chair)
    assert cell(mapper.project(), 1.02, 0.0) == OCCUPIED
    for _ in range(10):
        insert(mapper, room_scan(0, 0, 0))
    assert cell(mapper.project(), 1.02, 0.0) == FREE


def test_the_mapper_refuses_a_pose_that_is_not_finite_and_a_grid_too_large(monkeypatch):
    monkeypatch.setattr("lodestar.mapping.occupancy.scan_grid.SCAN_GRID_MAX_CELLS", 100_000)
    mapper = ScanGridMapper()
    with pytest.raises(ValueError, match="finite"):
        mapper.insert_scan(np.ones(4), 0.0, 0.1, 20.0, np.full((4, 4), np.nan))
    insert(mapper, room_scan(0, 0, 0))
    with pytest.raises(ValueError, match="larger than 100000"):
        insert(mapper, room_scan(0, 0, 0), 1e5, 0.0)
    assert cell(mapper.project(), 0.0, 0.0) == FREE


def test_the_grid_moves_with_a_jump_of_the_correction():
    mapper = ScanGridMapper()
    for _ in range(3):
        insert(mapper, room_scan(0.0, 0.0, 0.0))
    before = mapper.project()
    there = planar_transform(4.0, -6.0, 0.0)
    jump = there @ planar_transform(0.4, 0.0, math.radians(5.0)) @ inverse(there)
    assert not mapper.follow(np.eye(4), np.eye(4))
    assert mapper.follow(jump, np.eye(4))
    after = mapper.project()
    for x, y in ((0.0, 0.0), (1.0, -2.0), (-2.0, 2.0), (3.6, 3.6)):
        assert cell(after, *(jump @ [x, y, 0.0, 1.0])[:2]) == cell(before, x, y)
    assert after.free_area == pytest.approx(before.free_area, rel=0.03)
    assert after.occupied.sum() == pytest.approx(before.occupied.sum(), rel=0.15)
    assert not mapper.follow(jump, np.eye(4))


def test_what_was_saved_goes_on():
    mapper = ScanGridMapper()
    insert(mapper, room_scan(0.0, 0.0, 0.0))
    loaded = ScanGridMapper.from_arrays(mapper.to_arrays())
    for each in (mapper, loaded):
        insert(each, room_scan(1.0, 0.5, 0.3), 1.0, 0.5, 0.3)
    assert np.array_equal(loaded.project().cells, mapper.project().cells)
    assert loaded.project().origin == mapper.project().origin
    with pytest.raises(ValueError, match="measure"):
        ScanGridMapper.from_arrays({**mapper.to_arrays(), "resolution": np.array([0.05])})
    with pytest.raises(KeyError):
        ScanGridMapper.from_arrays({})

"""Tests of the layer of low objects: pallets are obstacles; mats, walls and drifting floor are not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.ndimage import binary_dilation
from test_floor import ON, level, line, look, sill, walked

from lodestar.geometry.poses import planar_transform
from lodestar.grid.occupancy import FREE, OCCUPIED
from lodestar.mapping.occupancy.octomap import OctoMapper

WAY = line(-0.6, 3.0, step=0.3)


def box(x0, x1, y0, y1, height):
    """Return a level floor with one box on it, metres."""

    def ground(points):
        inside = (points[:, 0] > x0) & (points[:, 0] < x1) & (points[:, 1] > y0) & (points[:, 1] < y1)
        return np.where(inside, height, 0.0)

    return ground


def cells_in(grid, x0, x1, y0, y1, near=False):
    """Return whether the cells with centres in a rectangle are occupied, or with `near` one beside each."""
    columns, rows = np.meshgrid(np.arange(grid.cells.shape[1]), np.arange(grid.cells.shape[0]))
    x, y = (columns + 0.5) * grid.resolution + grid.origin[0], (rows + 0.5) * grid.resolution + grid.origin[1]
    occupied = binary_dilation(grid.occupied, np.ones((3, 3))) if near else grid.occupied
    return occupied[(x > x0) & (x < x1) & (y > y0) & (y < y1)]


@settings(max_examples=6, deadline=None)
@given(
    x=st.floats(0.5, 1.5),
    y=st.floats(0.4, 0.9),
    size=st.tuples(st.floats(0.2, 1.2), st.floats(0.2, 0.8)),
    height=st.floats(0.1, 0.18),
    left=st.booleans(),
)
def test_a_low_box_beside_the_way_is_an_obstacle_where_it_stands_and_nowhere_else(x, y, size, height, left):
    x0, x1 = x, x + size[0]
    y0, y1 = (y, y + size[1]) if left else (-y - size[1], -y)
    grid = walked(box(x0, x1, y0, y1, height), WAY).project(0.0)
    near = (max(y0, -1.2), min(y1, 1.2))  # the part that the robot may hit from its path
    assert cells_in(grid, x0, x1, *near, near=True).all()
    around = (
        cells_in(grid, -2.0, 4.0, -2.0, 2.0).sum()
        - cells_in(grid, x0 - 0.1, x1 + 0.1, y0 - 0.1, y1 + 0.1).sum()
    )
    assert around == 0


@pytest.mark.parametrize("ground", [level, sill, box(1.0, 2.0, 0.5, 1.0, 0.05)], ids=["level", "sill", "mat"])
def test_what_the_robot_steps_over_is_none(ground):
    grid = walked(ground, WAY).project(0.0)
    assert not cells_in(grid, -2.0, 4.0, -2.0, 2.0).any()


@pytest.mark.parametrize("drift", [-0.11, -0.08, 0.08, 0.11])
def test_floor_that_a_drifting_pose_shows_elsewhere_is_no_thing_and_a_thing_stays_one(drift):
    """The height of odometry drifts, and the robot returns on its own path."""
    ground = box(1.2, 1.8, 0.4, 0.8, 0.18)
    mapper = walked(ground, WAY)
    for x, y in WAY[::-1]:
        look(mapper, ground, x, y, below=-drift)
        grid = mapper.project(0.0)
        grid = replace(grid, cells=np.where(mapper._floor.state().low, OCCUPIED, FREE).astype(np.int8))
        thing = cells_in(grid, 1.1, 1.9, 0.3, 0.9).sum()
        assert thing >= 5, "it stays"
        around = cells_in(grid, -4.5, 4.5, -4.5, 4.5).sum() - thing
        assert around <= 4, "cells whose height follows later; without a rule up to 1,600"


@pytest.mark.parametrize("higher", [0.22, 0.29])
def test_what_lies_on_a_low_thing_for_one_scan_does_not_hide_it(higher):
    """A foot, dust or a stray hit must not erase the low object's record."""
    mapper = walked(box(1.2, 1.8, 0.4, 0.8, 0.15), WAY)

    def marks():
        return cells_in(replace(mapper.project(0.0), cells=mapper._floor.state().low.astype(np.int8) * OCCUPIED),
                        1.25, 1.75, 0.45, 0.75)  # fmt: skip

    known = marks()
    assert known.sum() >= 5
    for height in (higher, 0.15, 0.15, 0.15):
        look(mapper, box(1.2, 1.8, 0.4, 0.8, height), *WAY[5])
        assert (marks() & known).sum() >= 0.8 * known.sum()


def test_a_low_box_that_was_taken_away_is_gone_after_a_few_scans():
    mapper = walked(box(1.2, 1.8, 0.4, 0.8, 0.15), WAY)
    assert cells_in(mapper.project(0.0), 1.25, 1.75, 0.45, 0.75).all()
    for x, y in reversed(WAY):
        look(mapper, level, x, y)
    assert not cells_in(mapper.project(1.0), 1.0, 2.0, 0.3, 0.9).any()


def test_rays_that_pass_lower_clear_what_no_ray_ends_in():
    """A cell between two rings of a standing LiDAR, whose own floor gives no hits."""
    mapper = walked(level, line(0.0, 0.5))
    floor = mapper._floor
    row, column = mapper.project(0.0).cells_of(np.array([[1.72, 0.0]]))[0]
    floor.top[row, column], floor.tops[row, column] = 0.25, 8
    for _ in range(8):
        look(mapper, level, 0.5, 0.0)
    assert floor.tops[row, column] == 0 or floor.top[row, column] < 0.05


def test_it_moves_with_a_jump_and_is_saved():
    mapper = walked(box(1.2, 1.8, 0.4, 0.8, 0.15), WAY)
    mapper.follow(np.eye(4), np.eye(4))
    assert mapper.follow(planar_transform(0.5, 0.3, 0.0, 0.2), np.eye(4))
    moved = mapper.project(1.0)
    assert cells_in(moved, 1.85, 2.15, 0.85, 1.0).all() and not cells_in(moved, 1.2, 1.6, 0.3, 0.6).any()
    loaded = OctoMapper.from_arrays(mapper.to_arrays(), ON).project(2.0)
    assert np.array_equal(loaded.cells, moved.cells)


def test_a_map_without_the_layer_is_loaded_and_learns_it():
    mapper = walked(box(1.2, 1.8, 0.4, 0.8, 0.15), WAY)
    arrays = {
        name: layer for name, layer in mapper.to_arrays().items() if name not in ("floor_top", "floor_tops")
    }
    loaded = OctoMapper.from_arrays(arrays, ON)
    for x, y in WAY:
        look(loaded, box(1.2, 1.8, 0.4, 0.8, 0.15), x, y)
    assert cells_in(loaded.project(0.0), 1.25, 1.75, 0.45, 0.75).all()


def test_what_is_higher_is_left_to_the_octree():
    """Otherwise a cell with a wall in one corner would stay occupied, while rays through the rest clear it."""
    grounds = [box(1.2, 1.8, 0.45, 0.95, height) for height in (0.29, 0.6)]
    for mapper in (walked(ground, WAY) for ground in grounds):
        assert mapper._floor.state().low.sum() <= 4
    assert walked(box(1.2, 1.8, 0.45, 0.95, 0.15), WAY)._floor.state().low.sum() >= 20

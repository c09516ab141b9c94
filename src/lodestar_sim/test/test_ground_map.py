"""Tests of ramps, sills and descending stairs: height and tilt of the robot, its LiDAR map, and falls."""

from __future__ import annotations

import math

import numpy as np
import pytest
from ground_scenes import BODY, opening, simulator

from lodestar.geometry.poses import planar_transform
from lodestar.mapping.occupancy.floor import FloorConfig
from lodestar.mapping.occupancy.octomap import OctoMapConfig, OctoMapper
from lodestar_sim.worlds import world_from_spec


def mapped(sim, poses, base_height=0.0) -> OctoMapper:
    mapper = OctoMapper(OctoMapConfig(floor=FloorConfig(base_height=base_height)))
    for pose in poses:
        sim.robot.pose = np.array(pose, float)
        sim.robot.step(0.02, sim._rasters[0], [])
        base = sim.map_from_base
        lidar = base @ sim.base_from_ground @ planar_transform(0, 0, 0, sim.config.sensors.lidar.z)
        mapper.insert_points(sim.lidar(), lidar, base)
        mapper.project(0.0)
    return mapper


def cells_at(grid, points) -> np.ndarray:
    cells = grid.cells_of(np.asarray(points, float))
    return grid.cells[cells[:, 0], cells[:, 1]]


@pytest.mark.parametrize("base_height", [0.0, BODY])
def test_the_map_of_a_ramp_is_free_up_to_the_upper_hall(ramp, base_height):
    sim = simulator(ramp, (-2.0, 0.0, 0.0), base_height)
    grid = mapped(sim, [(x, 0.0, 0.0) for x in np.arange(-2.0, 4.5, 0.15)], base_height).project(0.0)
    way = np.column_stack([np.arange(-2.0, 6.0, 0.1), np.zeros(80)])
    assert (cells_at(grid, way) == 0).all()
    assert grid.occupied[tuple(grid.cells_of(np.array([7.05, 0.0])))], "the wall at its end"


def test_a_doorway_with_a_sill_is_free_and_the_body_goes_over_it():
    world = world_from_spec("apartment?sills=1", 4)
    boards = [wall for wall in world.walls if 0.0 < wall.z1 <= 0.05]
    assert boards and world.terrain.height[~world.terrain.drops].max() == pytest.approx(0.03)
    board = boards[0]
    middle = np.array([(board.x0 + board.x1) / 2.0, (board.y0 + board.y1) / 2.0])
    along_x = board.x1 - board.x0 < board.y1 - board.y0  # direction through the doorway
    way = np.array([1.0, 0.0]) if along_x else np.array([0.0, 1.0])
    yaw = math.atan2(way[1], way[0])
    sim = simulator(world, (*(middle - way), yaw))
    grid = mapped(sim, [(*(middle + s * way), yaw) for s in np.arange(-0.9, 0.1, 0.1)]).project(0.0)
    assert (cells_at(grid, [middle + s * way for s in np.arange(-0.5, 0.5, 0.1)]) == 0).all()
    assert sim.falls == 0


def test_the_stairs_are_never_free_nearby_and_their_rim_keeps_frontiers_away(stairs):
    low, high = opening(stairs)
    y = (low[1] + high[1]) / 2.0
    sim = simulator(stairs, (low[0] - 1.0, y, 0.0))
    mapper = mapped(sim, [(low[0] - 0.9, y + s, 0.0) for s in np.arange(-0.3, 0.31, 0.15)])
    grid = mapper.project(0.0)
    xs, ys = np.meshgrid(
        np.arange(low[0] + 0.15, low[0] + 2.0, 0.1), np.arange(low[1] + 0.15, high[1] - 0.1, 0.1)
    )
    inside = np.column_stack(
        [xs.ravel(), ys.ravel()]
    )  # except a rim of one cell, where the shaft's wall is visible
    assert not (cells_at(grid, inside) == 0).any()
    rim = inside[inside[:, 0] < low[0] + 0.5]
    assert (cells_at(grid, rim) == 100).mean() > 0.9, "a wall around unseen ground: no frontier lies on it"

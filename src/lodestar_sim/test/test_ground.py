"""Tests of ramps, sills and descending stairs: height and tilt of the robot, falls, and paths around them."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from ground_scenes import BODY, opening, simulator

from lodestar.geometry.poses import planar_transform
from lodestar_sim.worlds import World, WorldError, world_from_spec
from lodestar_sim.worlds.checks import check_world
from lodestar_sim.worlds.truth import truth_of


def test_the_robot_pitches_and_rises_on_a_ramp_of_five_degrees(ramp):
    sim = simulator(ramp, (-1.0, 0.0, 0.0), BODY)
    heights, pitches = [], []
    for _ in range(80):
        sim.set_command(0.8, 0.0, 0.0)
        sim.step(0.1)
        base = sim.robot.world_from_base
        heights.append(base[2, 3])
        pitches.append(math.degrees(math.asin(base[2, 0])))
    assert sim.collisions == 0 and sim.falls == 0
    assert max(pitches) == pytest.approx(5.0, abs=1.5)
    assert heights[-1] - BODY == pytest.approx(3.0 * math.tan(math.radians(5.0)), abs=0.02)
    assert sim.map_from_base[2, 3] == pytest.approx(heights[-1]), "localisation tells of it"


def test_sills_are_ground_that_the_body_goes_over():
    world = world_from_spec("apartment?sills=1", 4)
    boards = [wall for wall in world.walls if 0.0 < wall.z1 <= 0.05]
    assert boards and world.terrain.height[~world.terrain.drops].max() == pytest.approx(0.03)
    board = boards[0]
    middle = np.array([(board.x0 + board.x1) / 2.0, (board.y0 + board.y1) / 2.0])
    along_x = board.x1 - board.x0 < board.y1 - board.y0  # direction through the doorway
    way = np.array([1.0, 0.0]) if along_x else np.array([0.0, 1.0])
    sim = simulator(world, (*(middle - way), math.atan2(way[1], way[0])))
    for _ in range(40):
        sim.set_command(0.8, 0.0, 0.0)
        sim.step(0.1)
        if (sim.true_pose[:2] - middle) @ way > 0.5:
            break
    assert (sim.true_pose[:2] - middle) @ way > 0.5
    assert sim.falls == 0


def test_a_robot_that_is_driven_over_the_edge_falls_once_and_lies_there(stairs):
    low, high = opening(stairs)
    sim = simulator(stairs, (low[0] - 0.6, (low[1] + high[1]) / 2.0, 0.0))
    for _ in range(40):
        sim.set_command(0.8, 0.0, 0.0)
        sim.step(0.1)
    assert sim.falls == 1
    assert sim.true_pose[0] < high[0]
    there = sim.true_pose.copy()
    sim.set_command(-0.8, 0.0, 0.0)
    sim.step(0.5)
    assert np.array_equal(there, sim.true_pose)


def test_the_shortest_way_leads_around_the_stairs(stairs):
    low, high = opening(stairs)
    truth = truth_of(stairs)
    middle = (low + high) / 2.0
    assert not np.isfinite(truth.lengths(stairs.start[:2])[tuple(truth.grid.cells_of(middle))])


def test_worlds_with_other_grounds_are_saved_and_checked(ramp, tmp_path):
    check_world(ramp)
    ramp.save(tmp_path / "world.json")
    assert World.load(tmp_path / "world.json").ramps == ramp.ramps
    with pytest.raises(WorldError, match="ramp"):
        check_world(replace(ramp, ramps=(replace(ramp.ramps[0], along="z"),)))
    with pytest.raises(WorldError, match="stairs"):
        world_from_spec("laboratory?stairs=1")


def test_level_worlds_have_no_terrain_and_stay_as_they_were():
    world = world_from_spec("apartment", 3)
    assert world.terrain is None
    sim = simulator(world, None)
    assert np.array_equal(sim.map_from_base, planar_transform(*sim.true_pose))

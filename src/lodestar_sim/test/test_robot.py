"""Tests of the simulated base: limits, contacts, odometry and localisation."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from lodestar.geometry.poses import yaw_of
from lodestar_sim.robot import ROBOT_ACCELERATION, ROBOT_TURN_ACCELERATION, LocalizationConfig, RobotConfig
from lodestar_sim.simulator import PHYSICS_STEP, SimConfig, Simulator

LIMITS = RobotConfig()


def _drive(sim: Simulator, command, seconds: float) -> np.ndarray:
    """Drive with a command and return the velocities (N, 3) at every physics step."""
    velocities = []
    for _ in range(round(seconds / PHYSICS_STEP)):
        sim.set_command(*command)
        sim.step()
        velocities.append(sim.velocity.copy())
    return np.array(velocities)


def test_speed_and_acceleration_keep_their_limits(empty_room):
    sim = Simulator(empty_room, seed=1, start=(-3.0, 0.0, 0.0))
    velocities = _drive(sim, (5.0, 3.0, 9.0), 1.2)
    assert velocities[:, 0].max() == pytest.approx(LIMITS.max_forward)
    assert velocities[:, 1].max() == pytest.approx(LIMITS.max_lateral)
    assert velocities[:, 2].max() == pytest.approx(LIMITS.max_turn)
    change = np.diff(velocities, axis=0, prepend=np.zeros((1, 3))) / PHYSICS_STEP
    assert np.hypot(change[:, 0], change[:, 1]).max() <= ROBOT_ACCELERATION + 1e-9
    assert np.abs(change[:, 2]).max() <= ROBOT_TURN_ACCELERATION + 1e-9


def test_it_stands_half_a_second_after_the_last_command(empty_room):
    sim = Simulator(empty_room, seed=1, start=(-3.0, 0.0, 0.0))
    _drive(sim, (0.8, 0.0, 0.6), 1.5)
    assert sim.velocity[0] == pytest.approx(0.8)
    sim.step(0.2)
    assert sim.velocity[0] == pytest.approx(0.8)  # a delay below the timeout has no effect
    sim.step(0.3)
    assert not sim.velocity.any()
    place = sim.true_pose.copy()
    sim.step(1.0)
    np.testing.assert_array_equal(sim.true_pose, place)


@pytest.mark.parametrize("bad", [(math.nan, 0.0, 0.0), (0.5, math.inf, 0.0)])
def test_a_command_that_is_no_number_stops(empty_room, bad):
    sim = Simulator(empty_room, seed=1, start=(-3.0, 0.0, 0.0))
    _drive(sim, (0.5, 0.0, 0.0), 1.0)
    _drive(sim, bad, 0.5)
    assert not sim.velocity.any()
    assert np.isfinite(sim.true_pose).all()


def test_a_wall_stops_it_and_counts_once(empty_room):
    sim = Simulator(empty_room, seed=1, start=(2.0, 0.0, 0.0))
    _drive(sim, (0.6, 0.0, 0.0), 6.0)
    assert sim.collisions == 1
    assert sim.true_pose[0] == pytest.approx(4.0 - LIMITS.length / 2, abs=0.04)
    _drive(sim, (-0.4, 0.0, 0.0), 2.0)
    _drive(sim, (0.6, 0.0, 0.0), 4.0)
    assert sim.collisions == 2


def test_it_slides_along_a_wall(empty_room):
    sim = Simulator(empty_room, seed=1, start=(-2.0, 2.4, 0.0))
    _drive(sim, (0.4, 0.3, 0.0), 5.0)
    assert sim.true_pose[0] > -0.5
    assert sim.true_pose[1] + LIMITS.width / 2 <= 3.0 + 1e-9
    assert sim.collisions == 1


def test_turning_beside_a_wall_is_blocked(empty_room):
    sim = Simulator(empty_room, seed=1, start=(0.0, 2.80, 0.0))
    _drive(sim, (0.0, 0.0, 1.0), 3.0)
    assert abs(sim.true_pose[2]) < 0.6
    assert sim.collisions == 1


def test_furniture_is_an_obstacle_only_between_belly_and_back(furnished_room):
    chair = furnished_room.objects[0]
    hung = replace(chair, pose=(1.5, 0.0, 0.6, 0.0), mounted=True)
    for thing, hits in ((chair, True), (hung, False)):
        sim = Simulator(replace(furnished_room, objects=(thing,)), seed=1, start=(-1.0, 0.0, 0.0))
        _drive(sim, (0.6, 0.0, 0.0), 4.0)
        assert (sim.collisions > 0) is hits
        assert (sim.true_pose[0] > 1.3) is not hits


def test_odometry_drifts_and_localisation_undoes_it(empty_room):
    sim = Simulator(empty_room, seed=3, start=(-2.0, 0.5, 0.3))
    assert sim.robot.odometry == pytest.approx([0.0, 0.0, 0.0])
    for _ in range(8):
        _drive(sim, (0.5, 0.0, 0.5), 2.0)
        _drive(sim, (0.5, 0.0, -0.5), 2.0)
        _drive(sim, (-0.5, 0.0, 0.0), 3.0)
    start = np.array([-2.0, 0.5])
    c, s = math.cos(0.3), math.sin(0.3)
    by_odometry = start + np.array([[c, -s], [s, c]]) @ sim.robot.odometry[:2]
    error = np.hypot(*(by_odometry - sim.true_pose[:2]))
    assert 0.01 < error < 0.2 * sim.path_length
    assert sim.map_from_base[:2, 3] == pytest.approx(sim.true_pose[:2], abs=1e-9)
    assert yaw_of(sim.map_from_base) == pytest.approx(math.remainder(sim.true_pose[2], math.tau), abs=1e-9)
    np.testing.assert_allclose(sim.map_from_odom @ sim.odom_from_base, sim.map_from_base, atol=1e-12)


def test_a_correction_moves_the_belief_by_what_it_says_and_not_the_robot(empty_room):
    sim = Simulator(empty_room, seed=3, start=(1.0, 0.5, 2.0))
    _drive(sim, (0.5, 0.0, 0.2), 1.0)
    before, truth, odometry = sim.map_from_base, sim.true_pose.copy(), sim.odom_from_base
    sim.robot.shift_belief(0.3, -0.2, 0.1)
    after = sim.map_from_base
    assert after[:2, 3] - before[:2, 3] == pytest.approx([0.3, -0.2])
    assert yaw_of(after) - yaw_of(before) == pytest.approx(0.1)
    np.testing.assert_array_equal(sim.true_pose, truth)
    np.testing.assert_array_equal(sim.odom_from_base, odometry)


def test_localisation_error_grows_and_a_loop_closure_takes_it_away(empty_room):
    localization = LocalizationConfig(error_per_meter=0.1, yaw_error_per_meter=0.02, correction_every=10.0)
    sim = Simulator(empty_room, SimConfig(localization=localization), seed=2, start=(-3.0, 0.0, 0.0))
    _drive(sim, (0.5, 0.0, 0.1), 9.9)
    assert np.hypot(*(sim.map_from_base[:2, 3] - sim.true_pose[:2])) > 0.02
    sim.step(0.2)
    assert sim.map_from_base[:2, 3] == pytest.approx(sim.true_pose[:2], abs=0.02)


def test_pushing_out_of_an_overlap_is_allowed(eventful_room):
    """The robot can leave an object that appears at its own position."""
    sim = Simulator(eventful_room, seed=1, start=(1.4, 0.0, 0.0))
    sim.step(3.1)
    _drive(sim, (-0.5, 0.0, 0.0), 3.0)
    assert sim.true_pose[0] < 0.9

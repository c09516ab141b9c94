"""Tests of the SLAM stand-in: drift between loop closures, and correction by a closure."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lodestar.geometry.poses import planar_transform
from lodestar_sim.robot import GO2_DRIFT, LocalizationConfig
from lodestar_sim.simulator import SimConfig, Simulator
from lodestar_sim.slam import SLAM_MATCH, SlamConfig, SlamStandIn
from lodestar_sim.worlds import WorldError, world_from_spec


def ring(side: float, more: float) -> np.ndarray:
    """Return true poses (N, 3) around a square of `side` metres plus `more` metres, one every 0.25 m."""
    ways = np.arange(0.0, 4.0 * side + more, 0.25)
    turns = (ways // side).astype(int)
    corners = np.array([(0.0, 0.0), (side, 0.0), (side, side), (0.0, side)])
    headings = turns * math.pi / 2.0
    along = (ways % side)[:, None] * np.column_stack([np.cos(headings), np.sin(headings)])
    return np.column_stack([corners[turns % 4] + along, headings])


def odometry(poses: np.ndarray, scale: float, veer: float) -> np.ndarray:
    found = [poses[0]]
    for before, now in pairwise(poses):
        c, s = math.cos(before[2]), math.sin(before[2])
        dx, dy = (now - before)[:2]
        ahead, left = (c * dx + s * dy) * (1.0 + scale), (-s * dx + c * dy) * (1.0 + scale)
        x, y, yaw = found[-1]
        c, s = math.cos(yaw), math.sin(yaw)
        turn = now[2] - before[2] + veer * math.hypot(dx, dy)
        found.append(np.array([x + c * ahead - s * left, y + s * ahead + c * left, yaw + turn]))
    return np.array(found)


@settings(deadline=None, max_examples=8)
@given(st.floats(8.0, 15.0), st.floats(-0.02, 0.02), st.floats(-0.0044, 0.0044))
def test_a_closure_makes_the_newest_pose_right_and_leaves_the_start(side, scale, veer):
    poses = ring(side, 3.0)
    drifted = odometry(poses, scale, veer)
    slam = SlamStandIn(SlamConfig(enabled=True, matches=False), np.random.default_rng(1))
    before = slam.map_from_odom
    for true, measured in zip(poses, drifted):
        slam.take(true, measured)
        if slam.closures == 0:
            np.testing.assert_array_equal(slam.map_from_odom, before)  # unchanged until a loop is closed
    assert slam.closures > 0
    believed = slam.map_from_odom @ planar_transform(*drifted[-1])
    assert np.linalg.norm(believed[:2, 3] - poses[-1, :2]) < 0.25
    np.testing.assert_allclose(slam._poses[0], poses[0])


def test_without_closures_nothing_is_corrected():
    poses = ring(10.0, 3.0)
    slam = SlamStandIn(SlamConfig(enabled=True, closes=False, matches=False), np.random.default_rng(1))
    for true, measured in zip(poses, odometry(poses, 0.02, 0.004)):
        assert not slam.take(true, measured)
    np.testing.assert_allclose(slam.map_from_odom, np.eye(4))


def test_a_simulator_with_slam_believes_what_odometry_says_between_closures():
    world = world_from_spec("office?ring=1", 21)
    slam = LocalizationConfig(slam=SlamConfig(enabled=True, matches=False))
    simulator = Simulator(world, SimConfig(odometry=GO2_DRIFT, localization=slam), 1)
    start = simulator.map_from_odom
    for _ in range(40):
        simulator.set_command(0.3, 0.0, 0.3)
        simulator.step(0.1)
    np.testing.assert_allclose(simulator.map_from_odom, start, atol=1e-9)
    np.testing.assert_allclose(simulator.map_from_base, start @ simulator.odom_from_base, atol=1e-9)


def ends(slam: SlamStandIn, poses: np.ndarray, drifted: np.ndarray) -> tuple[np.ndarray, np.ndarray, int]:
    """Return the errors (N,), metres, of all poses before and after their SLAM update, and index of the closure."""
    off, closed = [], len(poses)
    for k, (true, measured) in enumerate(zip(poses, drifted)):
        before = slam.map_from_odom @ planar_transform(*measured)
        if slam.take(true, measured):
            closed = min(closed, k)
        now = slam.map_from_odom @ planar_transform(*measured)
        off.append([np.linalg.norm(place[:2, 3] - true[:2]) for place in (before, now)])
    return *np.array(off).T, closed


@settings(deadline=None, max_examples=10)
@given(st.integers(0, 2**32 - 1), st.floats(-0.03, 0.03), st.floats(-0.009, 0.009))
def test_matches_keep_no_scale_of_odometry_and_drift_by_tenths_of_a_metre(seed, scale, veer):
    poses = ring(25.0, 5.0)
    drifted = odometry(poses, scale, veer)  # drift up to twice that of a Go2
    slam = SlamStandIn(SlamConfig(enabled=True), np.random.default_rng(seed))
    before, after, closed = ends(slam, poses, drifted)
    assert 360 <= closed < 420, "at 100 m the robot is back"
    assert before[:closed].max() < 0.8
    assert after[closed:].max() < 0.3  # error of the matches remains
    np.testing.assert_array_equal(slam._poses[0], poses[0])


def test_matches_err_as_a_random_walk():
    """The mean error after 100 m on a square is 0.05 to 0.3 m; on a straight path it is larger and grows."""
    straight = np.column_stack([np.arange(0.0, 100.0, 0.25), np.zeros(400), np.zeros(400)])
    found = {}
    for name, poses in (("round", ring(25.0, -1.0)), ("straight", straight)):
        runs = [
            ends(
                SlamStandIn(SlamConfig(enabled=True, closes=False), np.random.default_rng(seed)), poses, poses
            )
            for seed in range(12)
        ]
        found[name] = np.mean([after for _, after, _ in runs], axis=0)
    assert 0.05 < found["round"][-1] < 0.3
    assert found["straight"][-1] > 2.0 * found["straight"][100] > 4.0 * SLAM_MATCH / 2.0
    assert found["straight"][-1] > found["round"][-1]


def test_a_match_is_not_sought_farther_than_slam_toolbox_seeks():
    poses = ring(25.0, -90.0)
    slipped = poses.copy()
    slipped[20:, 0] += 0.6  # one sudden slip
    slam = SlamStandIn(SlamConfig(enabled=True), np.random.default_rng(1))
    _, after, _ = ends(slam, poses, slipped)
    assert after[18] < 0.1 and after[-1] > 0.4, "what slipped farther than the search stays wrong"
    slipped[20:, 0] -= 0.45
    _, after, _ = ends(SlamStandIn(SlamConfig(enabled=True), np.random.default_rng(1)), poses, slipped)
    assert after[-1] < 0.15


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_corridor_of_a_ring_leads_round_its_core(seed):
    from lodestar_sim.worlds.truth import truth_of

    world = world_from_spec("office?ring=1", seed)
    halls = [np.array(room.polygon) for room in world.rooms if room.label == "corridor"]
    assert len(halls) == 4
    lengths = truth_of(world).lengths(world.start[:2])
    grid = truth_of(world).grid
    for hall in halls:
        cells = np.argwhere(np.isfinite(lengths))
        places = grid.points_of(cells)
        inside = ((places >= hall.min(axis=0)) & (places <= hall.max(axis=0))).all(axis=1)
        assert inside.any(), "every side is reached"


@pytest.mark.parametrize("spec", ["apartment?ring=1", "warehouse?ring=1", "office?ring=1&locked=1"])
def test_only_an_office_has_a_ring(spec):
    with pytest.raises(WorldError):
        world_from_spec(spec, 1)

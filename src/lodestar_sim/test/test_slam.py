"""The stand-in for SLAM: it drifts as odometry does, and a closure makes the newest pose right."""

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
from lodestar_sim.slam import SlamConfig, SlamStandIn
from lodestar_sim.worlds import WorldError, world_from_spec


def ring(side: float, more: float) -> np.ndarray:
    """True poses (N, 3) round a square, one each 0.25 m."""
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
    slam = SlamStandIn(SlamConfig(enabled=True), np.random.default_rng(1))
    before = slam.map_from_odom
    for true, measured in zip(poses, drifted):
        slam.take(true, measured)
        if slam.closures == 0:
            np.testing.assert_array_equal(slam.map_from_odom, before)  # nothing moves before a loop is closed
    assert slam.closures > 0
    believed = slam.map_from_odom @ planar_transform(*drifted[-1])
    assert np.linalg.norm(believed[:2, 3] - poses[-1, :2]) < 0.25
    np.testing.assert_allclose(slam._poses[0], poses[0])


def test_without_closures_nothing_is_corrected():
    poses = ring(10.0, 3.0)
    slam = SlamStandIn(SlamConfig(enabled=True, closes=False), np.random.default_rng(1))
    for true, measured in zip(poses, odometry(poses, 0.02, 0.004)):
        assert not slam.take(true, measured)
    np.testing.assert_allclose(slam.map_from_odom, np.eye(4))


def test_a_simulator_with_slam_believes_what_odometry_says_between_closures():
    world = world_from_spec("office?ring=1", 21)
    slam = LocalizationConfig(slam=SlamConfig(enabled=True))
    simulator = Simulator(world, SimConfig(odometry=GO2_DRIFT, localization=slam), 1)
    start = simulator.map_from_odom
    for _ in range(40):
        simulator.set_command(0.3, 0.0, 0.3)
        simulator.step(0.1)
    np.testing.assert_allclose(simulator.map_from_odom, start, atol=1e-9)
    np.testing.assert_allclose(simulator.map_from_base, start @ simulator.odom_from_base, atol=1e-9)


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

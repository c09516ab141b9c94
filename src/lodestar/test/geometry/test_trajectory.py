"""Tests of the map's motion at a jump of map <- odom, on generated paths with loops (ADR 0095)."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lodestar.geometry.closure_config import ClosureConfig, closures_as
from lodestar.geometry.corrections import Anchor
from lodestar.geometry.map_correction import MapCorrection, spread
from lodestar.geometry.poses import inverse, planar_transform
from lodestar.geometry.trajectory import CLOSURE_WAY_DRIFT, Trajectory

STEP = 0.5  # metres between poses, one per second


def ring(width: float, depth: float, more: float = 0.0) -> list[np.ndarray]:
    """Return true poses (4, 4) along a rectangle, one each 0.5 m and second, `more` metres beyond one round."""
    poses, way = [], 0.0
    sides = (width, depth, width, depth)
    while way < 2.0 * (width + depth) + more:
        left, x, y = way % (2.0 * (width + depth)), 0.0, 0.0
        for k, side in enumerate(sides):
            heading = k * math.pi / 2.0
            here = min(left, side)
            x, y = x + here * math.cos(heading), y + here * math.sin(heading)
            left -= here
            if left <= 0.0:
                break
        poses.append(planar_transform(x, y, heading))
        way += STEP
    return poses


def drifted(poses: list[np.ndarray], scale: float, veer: float) -> list[np.ndarray]:
    """Return the same path by odometry: lengths times 1 + scale, `veer` rad/m."""
    found = [poses[0]]
    for before, now in pairwise(poses):
        step = inverse(before) @ now
        away = np.linalg.norm(step[:2, 3])
        step[:2, 3] *= 1.0 + scale
        found.append(found[-1] @ step @ planar_transform(0.0, 0.0, veer * away))
    return found


def driven(odometry: list[np.ndarray], anchor: Anchor | None = None) -> Anchor:
    anchor = anchor or Anchor()
    for stamp, pose in enumerate(odometry):
        with anchor.correction(np.eye(4), pose, float(stamp)) as correction:
            assert correction is None
    return anchor


def corrected(
    anchor: Anchor, map_from_odom: np.ndarray, odom: np.ndarray, stamp: float
) -> MapCorrection | None:
    with anchor.correction(map_from_odom, odom, stamp) as correction:
        return correction


def errors(poses, odometry, correction) -> np.ndarray:
    ends = [correction.at(float(k)) @ pose for k, pose in enumerate(odometry)]
    return np.array([np.linalg.norm(a[:2, 3] - b[:2, 3]) for a, b in zip(ends, poses)])


@settings(deadline=None, max_examples=40)
@given(
    st.floats(10.0, 30.0), st.floats(8.0, 20.0), st.floats(-0.02, 0.02), st.floats(-0.0044, 0.0044)
)  # sides of the ring in metres, and a Go2's drift
def test_a_closed_loop_is_bent_to_where_it_was(width, depth, scale, veer):
    poses = ring(width, depth)
    odometry = drifted(poses, scale, veer)
    anchor = driven(odometry)
    map_from_odom = poses[-1] @ inverse(odometry[-1])
    correction = corrected(anchor, map_from_odom, odometry[-1], float(len(poses)))
    if correction is None:
        return  # the drift is smaller than a jump
    assert not correction.is_rigid
    before = np.array([np.linalg.norm(a[:2, 3] - b[:2, 3]) for a, b in zip(odometry, poses)])
    after = errors(poses, odometry, correction)
    np.testing.assert_allclose(correction.jump, map_from_odom, atol=1e-9)
    np.testing.assert_array_equal(correction.at(0.0), np.eye(4))  # the start does not move
    # on a rectangle a wrong scale cancels out, and a closure cannot distribute an error that it does not show
    assert after.max() <= 0.1 + before.max()
    rigid = np.array([np.linalg.norm((map_from_odom @ a)[:2, 3] - b[:2, 3]) for a, b in zip(odometry, poses)])
    assert after.mean() <= 0.05 + rigid.mean()


@pytest.mark.parametrize("veer", [-0.0044, 0.002, 0.0044])
def test_a_drift_of_the_heading_is_taken_out(veer):
    poses = ring(20.0, 12.0)
    odometry = drifted(poses, 0.0, veer)
    correction = corrected(driven(odometry), poses[-1] @ inverse(odometry[-1]), odometry[-1], 500.0)
    assert correction is not None and not correction.is_rigid
    before = np.array([np.linalg.norm(a[:2, 3] - b[:2, 3]) for a, b in zip(odometry, poses)])
    assert errors(poses, odometry, correction).max() <= 0.2 * before.max()


@settings(deadline=None, max_examples=40)
@given(st.integers(2, 60), st.integers(0, 2**32 - 1), st.floats(-0.5, 0.5), st.floats(-2.0, 2.0))
def test_what_is_spread_is_rigid_for_each_node_and_smooth(count, seed, turn, shift):
    rng = np.random.default_rng(seed)
    places = np.cumsum(rng.uniform(-0.5, 0.5, (count, 3)), axis=0)
    bends = rng.uniform(0.0, 1.0, (count - 1, 2))
    target = places[-1] + np.array([shift, -shift, 0.1 * shift])
    moves = spread(places, bends, np.array([0.0, 0.0, turn]), target)
    for move in moves:
        np.testing.assert_allclose(move[:3, :3] @ move[:3, :3].T, np.eye(3), atol=1e-9)
    np.testing.assert_array_equal(moves[0], np.eye(4))
    np.testing.assert_allclose(moves[-1][:3, :3] @ places[-1] + moves[-1][:3, 3], target, atol=1e-9)
    assert np.arctan2(moves[-1][1, 0], moves[-1][0, 0]) == pytest.approx(turn)


@pytest.mark.parametrize("shift", [(0.0, 30.0, 0.0), (20.0, 0.0, 0.0), (1.0, 0.5, 2.0)])
def test_what_no_drift_explains_moves_everything(shift):
    odometry = drifted(ring(20.0, 10.0), 0.0, 0.0)
    anchor = driven(odometry)
    jump = planar_transform(*shift)
    correction = corrected(anchor, jump @ np.eye(4), odometry[-1], 200.0)
    assert correction is not None and correction.is_rigid
    np.testing.assert_allclose(correction.at(3.0), jump)
    np.testing.assert_allclose(anchor.map_from_part, jump)


def test_a_jump_that_meets_no_old_way_moves_everything():
    odometry = [planar_transform(STEP * k, 0.0, 0.0) for k in range(100)]
    correction = corrected(driven(odometry), planar_transform(0.5, 0.5, 0.0), odometry[-1], 100.0)
    assert correction is not None and correction.is_rigid


def test_heights_that_have_drifted_are_spread_over_the_loop():
    poses = ring(20.0, 10.0)
    odometry = [
        planar_transform(0.0, 0.0, 0.0, z=0.5 * k / (len(poses) - 1)) @ pose for k, pose in enumerate(poses)
    ]
    correction = corrected(driven(odometry), planar_transform(0.0, 0.0, 0.0, z=-0.5), odometry[-1], 500.0)
    assert correction is not None and not correction.is_rigid
    heights = [(correction.at(float(k)) @ pose)[2, 3] for k, pose in enumerate(odometry)]
    np.testing.assert_allclose(heights, 0.0, atol=ClosureConfig.still)


def test_the_way_on_another_storey_is_not_met():
    below, above = (
        ring(20.0, 10.0),
        [planar_transform(0.0, 0.0, 0.0, z=3.0) @ pose for pose in ring(20.0, 10.0)[:30]],
    )
    anchor = driven([*below, *above])
    correction = corrected(anchor, planar_transform(0.5, 0.3, 0.0), above[-1], 500.0)
    assert correction is not None and correction.is_rigid


def test_what_lies_before_the_loop_stays():
    tail = [planar_transform(-20.0 + STEP * k, 0.0, 0.0) for k in range(40)]
    poses = [*tail, *ring(20.0, 10.0)]
    odometry = drifted(poses, 0.01, 0.002)
    correction = corrected(driven(odometry), poses[-1] @ inverse(odometry[-1]), odometry[-1], 500.0)
    assert correction is not None and not correction.is_rigid
    for stamp in range(30):
        np.testing.assert_array_equal(correction.at(float(stamp)), np.eye(4))


@settings(deadline=None, max_examples=20)
@given(st.floats(0.2, 1.5), st.floats(-0.1, 0.1), st.integers(0, 6))
def test_a_correction_that_is_undone_leaves_the_map_as_it_was(shift, turn, more):
    odometry = ring(20.0, 10.0)
    anchor = driven(odometry)
    wrong = planar_transform(shift, 0.0, turn)
    first = corrected(anchor, wrong, odometry[-1], 200.0)
    assert first is not None
    last = odometry[-1]
    for k in range(more):
        last = last @ planar_transform(STEP, 0.0, 0.0)
        assert corrected(anchor, wrong, last, 201.0 + k) is None
    second = corrected(anchor, np.eye(4), last, 210.0)
    assert second is not None
    for stamp in range(0, len(odometry), 3):
        np.testing.assert_allclose(second.at(float(stamp)) @ first.at(float(stamp)), np.eye(4), atol=1e-6)
    np.testing.assert_allclose(anchor.map_from_part, np.eye(4), atol=1e-9)


def test_a_second_closure_at_the_same_place_leaves_the_closed_loop_alone():
    poses = ring(20.0, 10.0, more=8.0)
    odometry = drifted(poses, 0.01, 0.003)
    at = next(k for k, pose in enumerate(poses) if k * STEP >= 60.0)
    anchor = driven(odometry[:at])
    first = poses[at - 1] @ inverse(odometry[at - 1])
    assert corrected(anchor, first, odometry[at - 1], float(at)) is not None
    for k in range(at, len(poses)):
        assert corrected(anchor, first, odometry[k], float(k)) is None
    second = corrected(anchor, planar_transform(0.3, 0.2, 0.0) @ first, odometry[-1], 500.0)
    assert second is not None and not second.is_rigid
    moved = [np.linalg.norm((second.at(float(k)) @ poses[k] - poses[k])[:2, 3]) for k in range(at - 4)]
    assert max(moved) < 0.12  # metres; the jump is 0.36 m


@settings(deadline=None, max_examples=10)
@given(st.integers(0, 2**32 - 1))
def test_a_correction_each_second_keeps_everything_finite_and_rigid(seed):
    rng = np.random.default_rng(seed)
    odometry = ring(12.0, 8.0, more=40.0)
    anchor, map_from_odom = Anchor(), np.eye(4)
    for k, pose in enumerate(odometry):
        shift = rng.normal(0.0, 0.2, 2)
        map_from_odom = (
            planar_transform(*shift, rng.normal(0.0, 0.03), z=rng.normal(0.0, 0.1)) @ map_from_odom
        )
        correction = corrected(anchor, map_from_odom, pose, float(k))
        if correction is not None:
            assert np.isfinite(correction.moves).all()
            turns = correction.moves[:, :3, :3]
            np.testing.assert_allclose(
                turns @ turns.transpose(0, 2, 1), np.tile(np.eye(3), (len(turns), 1, 1)), atol=1e-9
            )
            np.testing.assert_allclose(correction.at(float(k)), correction.jump)


def test_anchors_of_a_comparison_move_everything():
    odometry = drifted(ring(20.0, 10.0), 0.01, 0.002)
    with closures_as(ClosureConfig(enabled=False)):
        anchor = driven(odometry)
    correction = corrected(anchor, ring(20.0, 10.0)[-1] @ inverse(odometry[-1]), odometry[-1], 200.0)
    assert correction is not None and correction.is_rigid


def test_a_long_way_is_thinned_and_still_found():
    trajectory = Trajectory(ClosureConfig(most=128))
    for k in range(1000):
        trajectory.note(float(k), np.eye(4), planar_transform(STEP * k, 0.0, 0.0))
    assert len(trajectory) <= 128 and trajectory.way == pytest.approx(499.5)
    assert trajectory.serial == 999 and 970 <= trajectory.submap <= 985


def test_a_way_that_is_thinned_keeps_the_drift_between_its_nodes():
    trajectory = Trajectory(ClosureConfig(most=128))
    rng = np.random.default_rng(5)
    for k, x in enumerate(np.cumsum(0.5 + 2.0 * rng.random(300))):
        trajectory.note(float(k), np.eye(4), planar_transform(float(x), 0.0, 0.0))
    nodes = trajectory.to_arrays()
    drift = CLOSURE_WAY_DRIFT * np.diff(nodes["trajectory_way"])
    np.testing.assert_allclose(nodes["trajectory_bends"][1:, 0], drift, rtol=1e-9)


def test_nodes_go_on_from_a_file():
    odometry = drifted(ring(20.0, 10.0), 0.01, 0.002)
    anchor = driven(odometry)
    after = Anchor()
    after.trajectory.read(anchor.trajectory.to_arrays())
    after.resume(np.eye(4))
    true = ring(20.0, 10.0)[-1] @ inverse(odometry[-1])
    one, other = (corrected(each, true, odometry[-1], 200.0) for each in (anchor, after))
    assert one is not None and other is not None
    np.testing.assert_allclose(one.at(50.0), other.at(50.0), atol=1e-9)
    with pytest.raises(ValueError):
        after.trajectory.read({**anchor.trajectory.to_arrays(), "trajectory_way": np.zeros(3)})

"""Tests of many small corrections of map <- odom: SLAM matches scans on the path and places each new node by them."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lodestar.geometry.corrections import Anchor
from lodestar.geometry.map_correction import MapCorrection
from lodestar.geometry.poses import inverse, planar_transform

STEP = 0.25  # metres between two poses
NODE = 2  # poses between two nodes of SLAM


class Matched:
    """Robot whose odometry drifts and slips, and a SLAM that adds a node every half metre at the matched pose.

    true, odometry: poses (4, 4). believed: SLAM's estimates of the newest poses, a random walk about the truth plus
    the noise of each match. links: map <- odom at each pose.
    """

    def __init__(
        self, true: list[np.ndarray], seed: int, scale: float, veer: float, slips: float = 0.0
    ) -> None:
        rng = np.random.default_rng(seed)
        self.true, self.odometry = true, [true[0]]
        for before, now in pairwise(true):
            step = inverse(before) @ now
            away = float(np.linalg.norm(step[:2, 3]))
            step[:2, 3] *= 1.0 + scale
            if rng.random() < 0.02:
                step[:2, 3] += rng.uniform(-slips, slips, 2)
            self.odometry.append(self.odometry[-1] @ step @ planar_transform(0.0, 0.0, veer * away))
        self.links, walk = [np.eye(4)], np.zeros(3)
        for k in range(1, len(true)):
            link = self.links[-1]
            if k % NODE == 0:
                walk = walk + rng.normal(size=3) * (0.0036, 0.0036, 0.00055)
                noise = rng.normal(size=3) * (0.02, 0.02, 0.003)
                turn = planar_transform(0.0, 0.0, walk[2])
                believed = planar_transform(*walk[:2], 0.0) @ turn @ true[k] @ planar_transform(*noise)
                link = believed @ inverse(self.odometry[k])
            self.links.append(link)
        self.places = [(link @ pose)[:2, 3] for link, pose in zip(self.links, self.odometry)]


class Followed:
    """Anchor and the places of objects seen at each pose, moved with the map."""

    def __init__(self) -> None:
        self.anchor, self.stamps, self.places = Anchor(), list[float](), list[np.ndarray]()
        self.moves: list[MapCorrection] = []

    def take(self, link: np.ndarray, pose: np.ndarray, stamp: float) -> MapCorrection | None:
        with self.anchor.correction(link, pose, stamp) as correction:
            if correction is not None:
                self.moves.append(correction)
                moved = correction.at_stamps(np.array(self.stamps))
                self.places = [move @ place for move, place in zip(moved, self.places)]
        self.stamps.append(stamp)
        self.places.append((link @ pose)[:, 3])
        return correction

    def drive(self, run: Matched, every: int, until: int | None = None) -> None:
        for k in range(0, len(run.true[:until]), every):
            self.take(run.links[k], run.odometry[k], float(k))

    def errors(self, true: list[np.ndarray]) -> np.ndarray:
        """Return the distances in metres from the truth, of the objects seen at each used pose."""
        return np.array([
            np.linalg.norm(place[:2] - true[int(stamp)][:2, 3]) for stamp, place in zip(self.stamps, self.places)
        ])  # fmt: skip


def about(place: np.ndarray, x: float, y: float, yaw: float) -> np.ndarray:
    """Return a move (4, 4) in map that shifts, and turns about a place (2,)."""
    return planar_transform(*place, 0.0) @ planar_transform(x, y, yaw) @ planar_transform(*(-place), 0.0)


def winding(length: float) -> list[np.ndarray]:
    """Return a wave-shaped path, which never comes close to itself."""
    x = np.arange(0.0, length, STEP)
    return [planar_transform(v, 2.0 * math.sin(v / 6.0), math.atan(math.cos(v / 6.0) / 3.0)) for v in x]


def rectangle(width: float, depth: float) -> list[np.ndarray]:
    found = []
    for way in np.arange(0.0, 2.0 * (width + depth), STEP):
        left, x, y = float(way), 0.0, 0.0
        for k, side in enumerate((width, depth, width, depth)):
            here, heading = min(left, side), k * math.pi / 2.0
            x, y, left = x + here * math.cos(heading), y + here * math.sin(heading), left - here
            if left <= 0.0:
                break
        found.append(planar_transform(x, y, heading))
    return found


DRIFTS = st.floats(-0.03, 0.03), st.floats(-0.009, 0.009)  # twice the drift of a Go2
EVERY = st.integers(1, 20)  # poses between two updates of a consumer, up to 5 m


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 2**32 - 1), *DRIFTS, EVERY)
def test_what_matches_take_back_moves_nothing_that_was_mapped(seed, scale, veer, every):
    """On a path without a loop every part stays where SLAM placed it, however rarely a consumer updates."""
    run, followed = Matched(winding(60.0), seed, scale, veer), Followed()
    followed.drive(run, every)
    assert not followed.moves
    np.testing.assert_array_equal(followed.anchor.map_from_part, np.eye(4))
    laid = followed.anchor.trajectory.to_arrays()["trajectory_poses"][:, :2, 3]
    gaps = np.linalg.norm(laid[:, None] - np.array(run.places)[None], axis=2).min(axis=1)
    assert gaps.max() < 1e-9


@settings(deadline=None, max_examples=20)
@given(st.integers(0, 2**32 - 1), st.floats(0.1, 0.16))
def test_a_slip_that_the_next_match_takes_back_moves_nothing_either(seed, slips):
    run, followed = Matched(winding(60.0), seed, 0.01, 0.002, slips), Followed()
    followed.drive(run, 1)
    assert not followed.moves


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 2**32 - 1), *DRIFTS, st.integers(1, 6), st.floats(12.0, 30.0), st.floats(8.0, 20.0))
def test_a_closure_after_many_matches_moves_the_end_fully_and_the_start_not(
    seed, scale, veer, every, width, depth
):
    run, followed = Matched(rectangle(width, depth), seed, scale, veer), Followed()
    followed.drive(run, every)
    assert not any(move.is_rigid for move in followed.moves)
    last = int(followed.stamps[-1])
    before, first = followed.errors(run.true), list(followed.places)
    link = run.true[last] @ inverse(run.odometry[last])
    closed = followed.take(link, run.odometry[last], last + 1.0)
    np.testing.assert_allclose(followed.places[-1][:2], run.true[last][:2, 3], atol=1e-9)
    if closed is None:
        return  # the closure corrects less than a jump
    assert not closed.is_rigid
    np.testing.assert_array_equal(closed.at(0.0), np.eye(4))
    np.testing.assert_allclose(closed.jump, link @ inverse(run.links[last]), atol=1e-9)
    moved = np.linalg.norm(np.array(followed.places)[: len(first), :2] - np.array(first)[:, :2], axis=1)
    size = max(before[-1], 0.1)
    assert moved.max() <= 2.5 * size, "no part moves much farther than the loop was open"
    followed.stamps[-1] = float(last)
    assert followed.errors(run.true).mean() <= before.mean() + 0.5 * size


@settings(deadline=None, max_examples=20)
@given(st.integers(0, 2**32 - 1), *DRIFTS, st.integers(0, 30), st.floats(0.3, 1.0), st.floats(-0.05, 0.05))
def test_a_false_closure_is_undone_although_matches_have_moved_the_robot_since(
    seed, scale, veer, more, shift, turn
):
    """SLAM undoes a closure some metres later: map <- odom differs, but the map is as before."""
    true = rectangle(20.0, 10.0)
    run, followed = Matched([*true, *true[1:40]], seed, scale, veer), Followed()
    at = len(true) - 1
    followed.drive(run, 1, at)
    before, moves = list(followed.places), len(followed.moves)
    wrong = about(run.places[at], shift, 0.0, turn)
    for k in range(at, at + more + 1):
        followed.take(wrong @ run.links[k], run.odometry[k], float(k))
    if len(followed.moves) != moves + 1:
        return  # a match on the old path was as large as a jump
    k = at + more
    followed.take(run.links[k], run.odometry[k], k + 0.5)
    assert len(followed.moves) == moves + 2
    np.testing.assert_allclose(np.array(followed.places)[: len(before)], np.array(before), atol=1e-6)


@pytest.mark.parametrize("shift", [(0.5, 0.0, 0.0), (20.0, 0.0, 0.0), (0.0, 0.0, 0.3)])
def test_what_no_match_can_be_moves_everything_on_a_way_without_a_loop(shift):
    run, followed = Matched(winding(40.0), 1, 0.0, 0.0), Followed()
    followed.drive(run, 1)
    at = run.places[-1]
    correction = followed.take(about(at, *shift) @ run.links[-1], run.odometry[-1], 1000.0)
    assert correction is not None and correction.is_rigid


@settings(deadline=None, max_examples=30)
@given(st.floats(0.11, 0.25), st.integers(2, 30), st.floats(-math.pi, math.pi))
def test_a_robot_that_stands_is_moved_by_one_match_and_then_with_its_map(size, often, direction):
    """Views from before and after differ at most by one match plus a jump below the threshold."""
    run, followed = Matched(winding(40.0), 1, 0.0, 0.0), Followed()
    followed.drive(run, 1)
    link, step = run.links[-1], size * np.array([math.cos(direction), math.sin(direction)])
    before = len(followed.places) - 1
    for k in range(often):
        link = planar_transform(*step, 0.0) @ link
        followed.take(link, run.odometry[-1], 1000.0 + k)
    gap = np.linalg.norm(followed.places[before][:2] - followed.places[-1][:2])
    assert gap <= 0.25 + 0.15 * 0.5 + 0.1


def test_a_match_each_second_that_goes_wrong_by_as_much_as_it_is_sought_destroys_nothing():
    rng, followed, link = np.random.default_rng(3), Followed(), np.eye(4)
    for k, pose in enumerate(winding(60.0)):
        link = planar_transform(*rng.uniform(-0.12, 0.12, 2), 0.0) if k % NODE == 0 else link
        followed.take(link, pose, float(k))
    assert not followed.moves and np.isfinite(np.array(followed.places)).all()

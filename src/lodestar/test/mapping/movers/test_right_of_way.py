"""Tests of the right of way: the robot yields to invented people, and never for nothing."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from lodestar.grid.config import Footprint
from lodestar.mapping.movers.mover_tracks import MoverTrack
from lodestar.mapping.movers.right_of_way import ARM, FRESH, TOUCH, permitted

BODY, NOW, RADIUS = Footprint(), 100.0, 0.25
METRES = st.floats(-4.0, 4.0)
SPEEDS = st.floats(-1.5, 1.5)
POSES = st.builds(lambda x, y, yaw: np.array([x, y, yaw]), METRES, METRES, st.floats(-math.pi, math.pi))
WALKS = st.tuples(METRES, METRES, SPEEDS, SPEEDS)
WANTED = st.tuples(st.floats(-0.8, 0.8), st.floats(-0.4, 0.4), st.floats(-1.2, 1.2))


def person(x, y, vx=0.0, vy=0.0, stamp=NOW):
    size = np.array([2.0 * RADIUS, 2.0 * RADIUS, 1.7])
    return MoverTrack(1, "", "", np.array([x, y, 0.0]), np.array([vx, vy]), size, 0.0, stamp, stamp)


def gap(pose, one, after=0.0):
    place = one.place[:2] + after * one.velocity
    return float(BODY.gaps(np.asarray(pose)[None], place[None])[0, 0]) - RADIUS


def driven(pose, velocity, seconds):
    c, s = math.cos(pose[2]), math.sin(pose[2])
    vx, vy, turn = velocity
    return pose + seconds * np.array([c * vx - s * vy, s * vx + c * vy, turn])


def test_metres_from_an_outline_are_those_to_its_nearest_side():
    pose, outline = np.array([[1.0, 2.0, math.pi / 2.0]]), Footprint(0.7, 0.3)
    places = np.array([[1.0, 3.0], [2.0, 2.0], [1.1, 2.2], [1.0, 2.0]])
    assert outline.gaps(pose, places)[0] == pytest.approx([0.65, 0.85, -0.05, -0.15])


@given(WANTED, POSES, st.lists(WALKS, max_size=4))
def test_a_velocity_keeps_its_direction_and_says_why_it_is_slower(wanted, pose, walks):
    passed, why = permitted(wanted, pose, [person(*walk) for walk in walks], NOW, BODY)
    share = np.linalg.norm(passed) / max(np.linalg.norm(wanted), 1e-12)
    assert share <= 1.0 + 1e-9 and passed == pytest.approx(tuple(share * v for v in wanted), abs=1e-9)
    assert bool(why) is (passed != wanted)


@given(WANTED, POSES, st.floats(0.0, 1.1), st.floats(0.0, 2.0 * math.pi), SPEEDS, SPEEDS)
def test_within_an_arms_length_it_does_not_move_towards_anybody(wanted, pose, away, way, vx, vy):
    one = person(pose[0] + away * math.cos(way), pose[1] + away * math.sin(way), vx, vy)
    assume(gap(pose, one) <= ARM)
    passed, _ = permitted(wanted, pose, [one], NOW, BODY)
    for seconds in (0.1, 0.2, 0.4):
        assert gap(driven(pose, passed, seconds), one) >= gap(pose, one) - 1e-6
    if gap(pose, one, 0.01) < gap(pose, one) - 0.001 and any(passed):
        assert gap(driven(pose, passed, 0.01), one) > gap(pose, one), "it comes, and the motion leads away"
    assert gap(pose, one) > TOUCH or not any(passed), "it stands for one who overtakes it or walks through it"


@given(WANTED, POSES, WALKS)
def test_it_stands_an_arms_length_away_by_the_time_that_somebody_is_there(wanted, pose, walk):
    """The robot drives for 0.4 s more and brakes with 1 m/s^2, and the walker goes on."""
    one, wanted = person(*walk), (*wanted[:2], 0.0)
    assume(gap(pose, one) > ARM)
    passed, _ = permitted(wanted, pose, [one], NOW, BODY)
    nears = (gap(pose, one) - gap(driven(pose, passed, 0.01), one)) / 0.01
    comes = max(gap(pose, one) - gap(pose, one, 0.01), 0.0) / 0.01
    if nears > 1e-6:
        needed = nears * 0.4 + nears**2 / 2.0 + comes * (0.4 + nears)
        assert needed <= gap(pose, one) - ARM + 0.01


@given(st.floats(0.05, 0.75), st.floats(0.0, 2.0 * math.pi), st.floats(0.2, 3.0), SPEEDS, SPEEDS)
def test_motion_away_is_never_hindered(speed, way, away, vx, vy):
    """The robot's middle moves along the line from the person, and the person may come."""
    pose = np.zeros(3)
    one = person(-away * math.cos(way), -away * math.sin(way), vx, vy)
    assume(gap(pose, one) > TOUCH)
    wanted = (speed * math.cos(way), speed * math.sin(way), 0.0)
    assume(gap(driven(pose, wanted, 0.01), one) > gap(pose, one) + 0.0003)
    assert permitted(wanted, pose, [one], NOW, BODY) == (wanted, "")


@given(WANTED, st.sampled_from([math.nan, math.inf]), st.integers(0, 3))
def test_tracks_that_are_old_or_not_finite_have_no_effect(wanted, nonsense, which):
    walk = [0.8, 0.0, -1.0, 0.0]
    assert permitted(wanted, np.zeros(3), [], NOW, BODY) == (wanted, "")
    assert permitted(wanted, np.zeros(3), [person(*walk, stamp=NOW - FRESH - 0.01)], NOW, BODY) == (
        wanted,
        "",
    )
    assert permitted(wanted, np.zeros(3), [person(*walk, stamp=NOW + FRESH + 0.01)], NOW, BODY) == (
        wanted,
        "",
    )
    walk[which] = nonsense
    assert permitted(wanted, np.zeros(3), [person(*walk)], NOW, BODY) == (wanted, "")


def test_the_person_is_where_they_are_now():
    """A track of 0.4 s ago has walked on into an arm's length."""
    one = person(1.65, 0.0, -1.0, 0.0, NOW - 0.4)
    passed, why = permitted((0.5, 0.0, 0.0), np.zeros(3), [one], NOW, BODY)
    assert passed == (0.0, 0.0, 0.0) and why == "yields to a person 0.6 m away"

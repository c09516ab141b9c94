"""Movers in the turns of a range sensor: whoever walks is followed all around, and what stands is nobody."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lodestar.geometry.poses import planar_transform
from lodestar.mapping.config import RangeMoverConfig
from lodestar.mapping.range_movers import RangeMovers, _Turn
from lodestar.perception.config import MoverConfig

STEP = 0.25
BEAMS = 720


def scan(pose, posts, room=(-6.0, -4.0, 6.0, 4.0), walls=()):
    """Returns (N, 3) in the sensor's frame of a scan from a pose (3,): a room, and in it posts (x, y, radius) and walls
    (low x, low y, high x, high y).
    """
    angles = np.linspace(-math.pi, math.pi, BEAMS, endpoint=False) + pose[2]
    ways = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    with np.errstate(divide="ignore", over="ignore"):
        edges = [(edge - pose[i % 2]) / ways[:, i % 2] for i, edge in enumerate(room)]
        far = np.min([np.where(edge > 0.0, edge, np.inf) for edge in edges], axis=0)
        for wall in walls:
            reached = (np.reshape(wall, (2, 1, 2)) - pose[:2]) / ways
            first, last = reached.min(axis=0).max(axis=1), reached.max(axis=0).min(axis=1)
            far = np.where((first > 0.0) & (first < last), np.minimum(far, first), far)
    for x, y, radius in posts:
        to = np.array([x, y]) - pose[:2]
        along = ways @ to
        inside = radius**2 - (to @ to - along**2)
        first = along - np.sqrt(np.maximum(inside, 0.0))
        far = np.where((inside > 0.0) & (first > 0.0), np.minimum(far, first), far)
    local = ways * far[:, None]
    c, s = math.cos(pose[2]), math.sin(pose[2])
    return np.column_stack([local @ [[c, -s], [s, c]], np.zeros(BEAMS)])


def follow(
    steps, robot=lambda now: (0.0, 0.0, 0.0), posts=lambda now: [], noise=0.01, correction=None, walls=(), rings=1,
    every=1, late=0.0,
):  # fmt: skip
    """Feed turns of rings of beams one above the other; return the movers and the tracks after each turn.

    every: of the beams that are kept; late: s, standard deviation of the stamp at which the pose is taken.
    """
    movers, told, rng = RangeMovers(RangeMoverConfig(), MoverConfig()), [], np.random.default_rng(5)
    for k in range(steps):
        pose = np.array(robot(STEP * k))
        seen = scan(pose, posts(STEP * k), walls=walls)[::every]
        shift = rng.normal(0.0, noise, (rings, len(seen), 3)) * (1, 1, 0)
        points = (seen + shift + [[[0.0, 0.0, 0.15 * ring]] for ring in range(rings)]).reshape(-1, 3)
        correction = np.eye(4) if correction is None else correction
        told_at = np.array(robot(STEP * k + (rng.normal(0.0, late) if late else 0.0)))
        movers.take(STEP * k, points, planar_transform(*told_at), correction)
        told.append(movers.tracks())
    return movers, told


@settings(max_examples=40, deadline=None)
@given(
    st.floats(-math.pi, math.pi), st.floats(1.0, 2.5), st.floats(-math.pi, math.pi), st.floats(0.5, 1.2),
    st.floats(-0.5, 0.5), st.floats(-0.5, 0.5),
)  # fmt: skip
def test_whoever_walks_is_followed_all_around_also_by_a_robot_that_drives_and_turns(
    bearing, away, heading, speed, drive, spin
):
    start = np.array([math.cos(bearing), math.sin(bearing)]) * away
    way = speed * np.array([math.cos(heading), math.sin(heading)])

    def person(now):
        return start + way * (now - 1.5)  # the first turns show an empty room

    def robot(now):
        return (drive * now, 0.0, spin * now)

    def posts(now):
        return [(*person(now), 0.22)] if now >= 1.5 else []

    _, told = follow(13, robot, posts)
    near = [np.linalg.norm(person(STEP * k) - robot(STEP * k)[:2]) for k in range(6, 13)]
    if min(near) < 0.6 or max(near) > 4.5 or np.abs(person(3.0)).max() > 3.5:
        return  # it walks through the sensor, or away
    assert len(told[-1]) == 1
    track = told[-1][0]
    assert np.linalg.norm(track.place[:2] - person(3.0)) < 0.4
    assert np.linalg.norm(track.velocity - way) < 0.45
    assert track.label == ""


def room_with_posts(seed, count):
    rng = np.random.default_rng(seed)
    return [(*rng.uniform((-5.0, -3.5), (5.0, 3.5)), float(rng.uniform(0.02, 0.4))) for _ in range(count)]


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.integers(0, 25), st.floats(-0.7, 0.7), st.floats(-1.0, 1.0))
def test_furniture_is_nobody_however_the_robot_drives(seed, count, drive, spin):
    path = sorted((0.0, drive * 6.0))
    posts = [
        p for p in room_with_posts(seed, count) if math.hypot(p[0] - np.clip(p[0], *path), p[1]) > 0.5 + p[2]
    ]
    _, told = follow(24, lambda now: (drive * now, 0.0, spin * now), lambda now: posts)
    assert not any(told)


@settings(max_examples=100, deadline=None)
@given(
    st.floats(-0.6, 0.6), st.floats(-1.5, 1.5), st.floats(0.7, 1.4), st.floats(0.04, 0.3), st.floats(-0.8, 0.3),
    st.floats(0.0, 0.4), st.floats(-1.0, 1.0), st.sampled_from((0.0, 0.01, 0.02)),
)  # fmt: skip
def test_walls_along_which_beams_graze_are_nobody(x, y, opening, thick, begin, drive, spin, late):
    """A robot that turns in a doorway: beams 1 degree apart miss the end of a wall in one turn and meet it in the next,
    and a stamp may be off.
    """
    walls = [(x, -4.0, x + thick, y - opening / 2), (x, y + opening / 2, x + thick, 4.0)]
    robot = lambda now: (x + begin + drive * now, y, spin * now)  # noqa: E731
    _, told = follow(24, robot, walls=walls, rings=6, every=2, late=late)
    assert not any(told)


def test_a_chair_that_is_pushed_once_is_over_within_seconds():
    def posts(now):
        return [(1.5, min(max(now - 1.5, 0.0), 1.0) * 1.0 - 0.5, 0.25)]  # 1 m in 1 s

    _, told = follow(40, posts=posts)
    assert any(told[: int(4.0 / STEP)])
    config = RangeMoverConfig()
    assert not any(told[int((2.5 + config.memory + config.life) / STEP) + 1 :])


def test_who_walks_out_of_sight_ends_and_who_is_seen_through_ends_at_once():
    def posts(now):
        return [(1.5, -1.5 + 0.8 * now, 0.22)] if 1.0 <= now < 3.0 else []

    _, told = follow(24, posts=posts)
    assert told[int(2.5 / STEP)] and not told[int(4.0 / STEP)]


def test_the_map_may_be_corrected_and_a_track_goes_with_it():
    def posts(now):
        return [(1.5, -1.0 + 0.8 * now, 0.22)] if now >= 1.0 else []

    shift = planar_transform(10.0, -3.0, math.pi / 2.0)
    _, told = follow(12, posts=posts, correction=shift)
    x, y, _ = posts(STEP * 11)[0]
    assert told[-1][0].place[:2] == pytest.approx((10.0 - y, -3.0 + x), abs=0.4)
    assert told[-1][0].velocity == pytest.approx((-0.8, 0.0), abs=0.3)


def test_turns_that_are_late_empty_or_no_numbers_change_nothing_and_a_clock_may_go_back():
    def posts(now):
        return [(1.5, -1.0 + 0.8 * now, 0.22)] if now >= 1.0 else []

    movers, told = follow(12, posts=posts)
    now = STEP * 11
    pose = planar_transform(0.0, 0.0, 0.0)
    movers.take(now - 0.5, scan(np.zeros(3), []), pose, np.eye(4))
    movers.take(now + 0.1, scan(np.zeros(3), []), np.full((4, 4), np.nan), np.eye(4))
    assert movers.tracks() is told[-1]
    movers.take(now + 0.2, np.zeros((0, 3)), pose, np.eye(4))
    assert len(movers.tracks()) == 1
    movers.take(now + 0.3, np.full((9, 3), np.nan), pose, np.eye(4))
    movers.take(1.0, scan(np.zeros(3), []), pose, np.eye(4))
    assert movers.tracks() == ()


def walker(now):
    return [(1.5, -1.0 + 0.8 * now, 0.22)] if now >= 1.0 else []


class Mid(RangeMovers):
    """Calls `then` in the middle of a turn, as another thread may."""

    then = None

    def _follow(self, *given):
        super()._follow(*given)
        if self.then is not None:
            self.then()
            self.then = None


@settings(max_examples=20, deadline=None)
@given(st.floats(1.5, 2000.0), st.integers(0, 8))
def test_a_clock_that_restarts_while_a_turn_is_taken_leaves_nothing_of_before(back, restart):
    movers, pose, rng = (
        Mid(RangeMoverConfig(), MoverConfig()),
        planar_transform(0.0, 0.0, 0.0),
        np.random.default_rng(3),
    )
    begin = 3000.0
    for k in range(9):
        if k == restart:
            movers.then = movers.restart_clock
        points = scan(np.zeros(3), walker(STEP * k)) + rng.normal(0.0, 0.01, (BEAMS, 3)) * (1, 1, 0)
        movers.take(begin + STEP * k, points, pose, np.eye(4))
        if k == restart:
            assert movers.tracks() == (), "no mover of the former clock"
            break
    begin -= back
    for k in range(30):
        movers.take(begin + STEP * k, scan(np.zeros(3), walker(STEP * k)), pose, np.eye(4))
        stamps = [turn.stamp for turn in movers._turns]
        newest = begin + STEP * k
        assert all(newest - RangeMoverConfig().memory <= stamp <= newest for stamp in stamps), (
            "no turn of before"
        )
        assert len(stamps) <= RangeMoverConfig().memory / STEP + 1


def test_a_mover_is_followed_on_however_many_bodies_come_into_view():
    """New bodies beyond the limit are dropped before one that is known to move."""
    motion = MoverConfig(most=4)
    movers, pose = RangeMovers(RangeMoverConfig(), motion), planar_transform(0.0, 0.0, 0.0)
    told = []
    for k in range(14):
        now = STEP * k
        crowd = [(-3.0, y, 0.15) for y in np.linspace(-3.0, 3.0, 7)] if now >= 2.5 else []
        movers.take(now, scan(np.zeros(3), walker(now) + crowd), pose, np.eye(4))
        told.append({track.id for track in movers.tracks()})
    known = told[int(2.25 / STEP)]
    assert known and all(known <= each for each in told[int(2.5 / STEP) :])


def test_the_cost_of_a_turn_hardly_depends_on_how_dense_it_is():
    """The returns that are tested against the remembered turns are one of each cell."""
    rng, pose, tested = np.random.default_rng(1), planar_transform(0.0, 0.0, 0.0), []

    class Counted(RangeMovers):
        def _is_new(self, *given):
            self._turns[:] = [Watched(**vars(turn)) for turn in self._turns]
            return super()._is_new(*given)

    class Watched(_Turn):
        def passed(self, points, *within):
            tested.append(len(points))
            return super().passed(points, *within)

    movers = Counted(RangeMoverConfig(), MoverConfig())
    for k in range(4):
        places = rng.uniform((-3.0, -3.0, 0.0), (3.0, 3.0, 1.0), (130_000, 3))
        movers.take(STEP * k, places, pose, np.eye(4))
    assert tested and max(tested) <= (6.0 / 0.05 + 1) ** 2

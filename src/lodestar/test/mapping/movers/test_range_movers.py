"""Tests of movers in range scans: walkers are followed all around, and standing objects are not."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lodestar.geometry.poses import planar_transform
from lodestar.grid.config import Footprint
from lodestar.mapping.config import RangeMoverConfig
from lodestar.mapping.movers.range_movers import RANGE_MOVER_MEMORY, RangeMovers, _Turn
from lodestar.perception.config import MoverConfig

STEP = 0.25
BODY = Footprint()
BEAMS = 720


def scan(pose, posts, room=(-6.0, -4.0, 6.0, 4.0), walls=()):
    """Return the hits (N, 3), sensor frame, of a scan from a pose (3,) in a room with posts (x, y, radius) and walls
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
    every=1, late=0.0, parts=lambda now: [],
):  # fmt: skip
    """Feed scans of stacked rings of beams; return the movers, and the tracks after each scan.

    every: keep every n-th beam; late: s, standard deviation of the stamp at which the pose is looked up; parts: posts
    fixed to the robot, in its frame.
    """
    movers, told, rng = (
        RangeMovers(RangeMoverConfig(), MoverConfig(), BODY, None),
        [],
        np.random.default_rng(5),
    )
    for k in range(steps):
        pose = np.array(robot(STEP * k))
        c, s = math.cos(pose[2]), math.sin(pose[2])
        own = [(pose[0] + c * x - s * y, pose[1] + s * x + c * y, radius) for x, y, radius in parts(STEP * k)]
        seen = scan(pose, [*posts(STEP * k), *own], walls=walls)[::every]
        shift = rng.normal(0.0, noise, (rings, len(seen), 3)) * (1, 1, 0)
        points = (seen + shift + [[[0.0, 0.0, 0.15 * ring]] for ring in range(rings)]).reshape(-1, 3)
        correction = np.eye(4) if correction is None else correction
        told_at = np.array(robot(STEP * k + (rng.normal(0.0, late) if late else 0.0)))
        at = planar_transform(*told_at)
        movers.take(STEP * k, points, at, correction, at)
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
        return start + way * (now - 1.5)  # absent until 1.5 s: the first scans show an empty room

    def robot(now):
        return (drive * now, 0.0, spin * now)

    def posts(now):
        return [(*person(now), 0.22)] if now >= 1.5 else []

    _, told = follow(13, robot, posts)
    near = [np.linalg.norm(person(STEP * k) - robot(STEP * k)[:2]) for k in range(6, 13)]
    if min(near) < 0.6 or max(near) > 4.5 or np.abs(person(3.0)).max() > 3.5:
        return  # the path leads through the sensor, or out of range
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
    """A robot turns in a doorway: beams hit and miss a wall's end in turn, and stamps may be off."""
    walls = [(x, -4.0, x + thick, y - opening / 2), (x, y + opening / 2, x + thick, 4.0)]
    robot = lambda now: (x + begin + drive * now, y, spin * now)  # noqa: E731
    _, told = follow(24, robot, walls=walls, rings=6, every=2, late=late)
    assert not any(told)


def test_a_chair_that_is_pushed_once_is_over_within_seconds():
    def posts(now):
        return [(1.5, min(max(now - 1.5, 0.0), 1.0) * 1.0 - 0.5, 0.25)]  # 1 m within 1 s

    _, told = follow(40, posts=posts)
    assert any(told[: int(4.0 / STEP)])
    assert not any(told[int((2.5 + RANGE_MOVER_MEMORY + RangeMoverConfig.life) / STEP) + 1 :])


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
    movers.take(now - 0.5, scan(np.zeros(3), []), pose, np.eye(4), pose)
    movers.take(now + 0.1, scan(np.zeros(3), []), np.full((4, 4), np.nan), np.eye(4), pose)
    assert movers.tracks() is told[-1]
    movers.take(now + 0.2, np.zeros((0, 3)), pose, np.eye(4), pose)
    assert len(movers.tracks()) == 1
    movers.take(now + 0.3, np.full((9, 3), np.nan), pose, np.eye(4), pose)
    movers.take(1.0, scan(np.zeros(3), []), pose, np.eye(4), pose)
    assert movers.tracks() == ()


def walker(now):
    return [(1.5, -1.0 + 0.8 * now, 0.22)] if now >= 1.0 else []


class Mid(RangeMovers):
    """Calls `then` in the middle of a scan, as another thread may."""

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
        Mid(RangeMoverConfig(), MoverConfig(), BODY, None),
        planar_transform(0.0, 0.0, 0.0),
        np.random.default_rng(3),
    )
    begin = 3000.0
    for k in range(9):
        if k == restart:
            movers.then = movers.restart_clock
        points = scan(np.zeros(3), walker(STEP * k)) + rng.normal(0.0, 0.01, (BEAMS, 3)) * (1, 1, 0)
        movers.take(begin + STEP * k, points, pose, np.eye(4), pose)
        if k == restart:
            assert movers.tracks() == (), "no mover of the former clock"
            break
    begin -= back
    for k in range(30):
        movers.take(begin + STEP * k, scan(np.zeros(3), walker(STEP * k)), pose, np.eye(4), pose)
        stamps = [turn.stamp for turn in movers._turns]
        newest = begin + STEP * k
        assert all(newest - RANGE_MOVER_MEMORY <= stamp <= newest for stamp in stamps), "no turn of before"
        assert len(stamps) <= RANGE_MOVER_MEMORY / STEP + 1


def test_a_mover_is_followed_on_however_many_bodies_come_into_view():
    """New bodies beyond the limit are dropped before known movers."""
    motion = MoverConfig(most=4)
    movers, pose = RangeMovers(RangeMoverConfig(), motion, BODY, None), planar_transform(0.0, 0.0, 0.0)
    told = []
    for k in range(14):
        now = STEP * k
        crowd = [(-3.0, y, 0.15) for y in np.linspace(-3.0, 3.0, 7)] if now >= 2.5 else []
        movers.take(now, scan(np.zeros(3), walker(now) + crowd), pose, np.eye(4), pose)
        told.append({track.id for track in movers.tracks()})
    known = told[int(2.25 / STEP)]
    assert known and all(known <= each for each in told[int(2.5 / STEP) :])


def test_the_cost_of_a_turn_hardly_depends_on_how_dense_it_is():
    """Only one hit per cell is tested against the remembered scans."""
    rng, pose, tested = np.random.default_rng(1), planar_transform(0.0, 0.0, 0.0), []

    class Counted(RangeMovers):
        def _is_new(self, *given):
            self._turns[:] = [Watched(**vars(turn)) for turn in self._turns]
            return super()._is_new(*given)

    class Watched(_Turn):
        def passed(self, points, *within):
            tested.append(len(points))
            return super().passed(points, *within)

    movers = Counted(RangeMoverConfig(), MoverConfig(), BODY, None)
    for k in range(4):
        places = rng.uniform((-3.0, -3.0, 0.0), (3.0, 3.0, 1.0), (130_000, 3))
        movers.take(STEP * k, places, pose, np.eye(4), pose)
    assert tested and max(tested) <= (6.0 / 0.05 + 1) ** 2


# --- the robot itself -------------------------------------------------------------------------------------------

PATHS = st.tuples(st.floats(-0.6, 0.6), st.floats(-1.2, 1.2), st.floats(0.0, 1.0), st.floats(0.5, 3.0))


def path(drive, spin, swing, rate):
    """Return the poses of a robot that drives, turns, and swings its heading."""
    return lambda now: (drive * now, 0.0, spin * now + swing * math.sin(rate * now))


@settings(max_examples=40, deadline=None)
@given(
    PATHS, st.lists(st.tuples(st.floats(-math.pi, math.pi), st.floats(0.22, 0.5), st.floats(0.02, 0.06)), max_size=4)
)  # fmt: skip
def test_what_the_robot_carries_is_no_mover_however_it_moves(way, posts):
    parts = [(math.cos(bearing) * far, math.sin(bearing) * far, radius) for bearing, far, radius in posts]
    _, told = follow(40, path(*way), parts=lambda now: parts)
    assert not any(told)


@settings(max_examples=30, deadline=None)
@given(PATHS, st.floats(0.05, 0.15), st.floats(0.5, 3.5), st.floats(0.14, 0.24))
def test_legs_that_swing_are_no_movers(way, swing, gait, aside):
    def legs(now):
        sway = swing * math.sin(2.0 * math.pi * gait * now)
        return [
            (x + side * turned * sway, side * aside, 0.03)
            for x, turned in ((0.19, 1), (-0.19, -1))
            for side in (-1, 1)
        ]

    _, told = follow(40, path(*way), parts=legs)
    assert not any(told)


@settings(max_examples=30, deadline=None)
@given(st.floats(0.75, 1.6), st.floats(0.4, 1.0), st.sampled_from((-1, 1)))
def test_who_keeps_pace_beside_a_robot_that_carries_a_post_is_followed(aside, speed, side):
    """The legs come into view at 1.5 s, and do not move relative to the robot."""

    def posts(now):
        return [(-3.0 + speed * now, side * aside, 0.2)] if now >= 1.5 else []

    _, told = follow(
        14, lambda now: (-3.0 + speed * now, 0.0, 0.0), posts, parts=lambda now: [(0.3, 0.0, 0.04)]
    )
    assert len(told[-1]) == 1
    assert told[-1][0].velocity == pytest.approx((speed, 0.0), abs=0.4)


def test_returns_at_heights_over_the_ground_count_wherever_the_sensor_is():
    """A walker is seen from sensors at 0.2 and 0.9 m, on a base at 0.32 m; motion on the floor does not count."""
    cases = (0.2, 0.4, 1.6, True), (0.9, 0.4, 1.6, True), (0.9, 0.0, 0.3, False), (0.2, 1.8, 2.4, False)
    for height, low, high, is_told in cases:
        movers = RangeMovers(RangeMoverConfig(), MoverConfig(), BODY, 0.32)
        base = planar_transform(0.0, 0.0, 0.0, 0.32 + 5.0)  # a base on an upper floor in odom
        sensor = planar_transform(0.0, 0.0, 0.0, height + 5.0)
        for k in range(14):
            plane = scan(np.zeros(3), walker(STEP * k))
            points = np.concatenate(
                [plane + np.array([0.0, 0.0, up - height]) for up in np.linspace(low, high, 4)]
            )
            movers.take(STEP * k, points, sensor, np.eye(4), base)
        assert bool(movers.tracks()) == is_told, (height, low, high)


@settings(max_examples=25, deadline=None)
@given(
    st.floats(0.7, 1.4),
    st.floats(-0.9, 0.9),
    st.floats(0.4, 0.9),
    st.sampled_from((-1, 1)),
    st.floats(0.4, 0.8),
)
def test_flat_returns_that_move_are_nobody_and_who_moves_with_a_height_is(aside, drive, speed, side, up):
    """Rings of beams on a table give hits that move with or against the robot, but have no height."""
    for high, is_told in ((0.0, False), (1.0, True)):
        movers = RangeMovers(RangeMoverConfig(), MoverConfig(), BODY, 0.0)
        for k in range(14):
            x, gone = drive * STEP * k, speed * STEP * (k - 6)
            at = planar_transform(x, 0.0, 0.0)
            plane = scan((x, 0.0, 0.0), [])
            points = [plane + np.array([0.0, 0.0, 0.5])]
            if k >= 6:
                body = scan((x, 0.0, 0.0), [(gone, side * aside, 0.2)])
                away = np.linalg.norm(body[:, :2] - (gone - x, side * aside), axis=1)
                points += [
                    body[away < 0.25] + np.array([0.0, 0.0, up + rise]) for rise in np.linspace(0.0, high, 4)
                ]
            movers.take(STEP * k, np.concatenate(points), at, np.eye(4), at)
        assert bool(movers.tracks()) == is_told, high


# --- crowds -------------------------------------------------------------------------------------------------------


@settings(max_examples=40, deadline=None)
@given(
    st.integers(3, 6), st.floats(0.5, 0.75), st.floats(0.0, math.pi / 2.0), st.floats(0.6, 1.1), st.floats(-0.4, 0.4),
    st.floats(-0.5, 0.5),
)  # fmt: skip
def test_a_crowd_is_seen_abreast_in_line_or_aslant(count, gap, slant, speed, drive, spin):
    """slant: angle between their line and their motion, 0 = one behind the other, a right angle = abreast."""
    line = np.array([-math.sin(slant), math.cos(slant)]) * gap
    middle = np.arange(count) - (count - 1) / 2.0

    def people(now):
        return [(2.2 + a * line[0], -2.2 + speed * (now - 1.0) + a * line[1], 0.22) for a in middle]

    _, told = follow(
        18, lambda now: (drive * now, 0.0, spin * now), lambda now: people(now) if now >= 1.0 else []
    )
    late = told[8:]
    assert sum(bool(one) for one in late) >= len(late) - 2
    for k in range(8, 18):
        for track in (one for one in told[k] if one.last_seen == one.stamp):
            assert min(math.dist(track.place[:2], one[:2]) for one in people(STEP * k)) < 0.8


# --- beams without a return ---------------------------------------------------------------------------------------


def test_in_a_hall_beyond_the_range_walkers_are_seen_where_no_return_counts_as_free():
    for counts in (True, False):
        movers, told = RangeMovers(RangeMoverConfig(), MoverConfig(), BODY, None), 0
        pose, rng = planar_transform(0.0, 0.0, 0.0), np.random.default_rng(2)
        for k in range(34):
            ends = scan(np.zeros(3), walker(STEP * k), room=(-90.0, -90.0, 90.0, 90.0))
            far = np.hypot(*ends[:, :2].T)
            met = far < 12.0
            noisy = ends[met] + rng.normal(0.0, 0.01, (int(met.sum()), 3)) * (1, 1, 0)
            passed = ends[~met] * (12.0 / far[~met, None]) if counts else None
            movers.take(STEP * k, noisy, pose, np.eye(4), pose, passed)
            told += bool(movers.tracks())
        assert (told >= 10) == counts and (told == 0) != counts

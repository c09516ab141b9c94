"""Tests of the walk over a flight of stairs."""

import math
from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from lodestar.floors.records import Passage, PassageKind
from lodestar.floors.stair_walk import STAIR_WALK_LOST, StairWalk, Stance, WalkStatus, approach_of

SLOPE, RUN = 0.52, 5.0
TICK = 0.1


def flight(yaw: float) -> Passage:
    head = RUN * math.cos(yaw), RUN * math.sin(yaw)
    return Passage(1, PassageKind.STAIRS, (0.0, 0.0), head, yaw, lower=1, upper=2, slope=SLOPE)


def stance(pose: np.ndarray, yaw: float, slope: float = SLOPE) -> Stance:
    """Return the stance at a pose on a floor, a flight of RUN metres, or the next floor. slope: true slope."""
    way = float(pose[:2] @ (math.cos(yaw), math.sin(yaw)))
    on = 0.0 < way < RUN
    return Stance(pose, slope * min(max(way, 0.0), RUN), math.atan(slope) if on else 0.0)


def walk_it(
    walk: StairWalk, pose: np.ndarray, yaw: float, slope: float = SLOPE, stuck: float = math.inf
) -> np.ndarray:
    for tick in range(1000):
        command = walk.update(tick * TICK, stance(pose, yaw, slope))
        if walk.status is not WalkStatus.WALKING:
            assert not command.any()
            break
        c, s = math.cos(pose[2]), math.sin(pose[2])
        moved = (
            np.array([c * command[0] - s * command[1], s * command[0] + c * command[1], command[2]]) * TICK
        )
        way = float((pose + moved)[:2] @ (math.cos(yaw), math.sin(yaw)))
        pose = pose + (moved if way < stuck else 0.0)
    return pose


@given(
    yaw=st.floats(-math.pi, math.pi), down=st.booleans(), beside=st.floats(-0.2, 0.2),
    turned=st.floats(-0.35, 0.35), before=st.floats(-0.15, 0.15),
)  # fmt: skip
@settings(max_examples=40, deadline=None)
def test_it_ends_level_behind_the_flight_and_near_its_line(yaw, down, beside, turned, before) -> None:
    passage, floor = flight(yaw), 2 if down else 1
    walk = StairWalk(passage, floor)
    entry = passage.entry(floor)
    side = np.array([-math.sin(entry[2]), math.cos(entry[2])])
    pose = approach_of(entry) + np.array([*(beside * side), turned])
    pose[:2] += before * np.array([math.cos(entry[2]), math.sin(entry[2])])
    pose = walk_it(walk, pose, yaw)
    assert walk.status is WalkStatus.DONE
    offset = pose[:2] - entry[:2]
    assert (
        abs(offset @ side) < 0.15
        and RUN + 0.3 < offset @ (math.cos(entry[2]), math.sin(entry[2])) < RUN + 0.7
    )


@given(yaw=st.floats(-math.pi, math.pi), stuck=st.floats(0.2, 4.5))
@settings(max_examples=15, deadline=None)
def test_it_stands_and_says_why_where_stairs_end_in_a_wall(yaw, stuck) -> None:
    walk = StairWalk(flight(yaw), 1)
    walk_it(walk, approach_of(flight(yaw).entry(1)), yaw, stuck=stuck)
    assert walk.status is WalkStatus.FAILED and "in the way" in walk.why


def test_it_stops_where_there_are_no_stairs_or_they_are_too_steep() -> None:
    level, steep = StairWalk(flight(0.0), 1), StairWalk(flight(0.0), 1)
    walk_it(level, approach_of(flight(0.0).entry(1)), 0.0, slope=0.0)
    assert level.status is WalkStatus.FAILED and "no flight" in level.why
    end = walk_it(steep, approach_of(flight(0.0).entry(1)), 0.0, slope=0.9)
    assert steep.status is WalkStatus.FAILED and "steep" in steep.why and end[0] < 0.1


@given(turned=st.floats(0.2, 3.0))
@settings(max_examples=15, deadline=None)
def test_it_never_turns_on_the_spot_on_the_steps(turned) -> None:
    walk = StairWalk(flight(0.0), 1)
    for tick, way in enumerate((-0.1, 0.3, 0.8, 1.2)):
        command = walk.update(tick * TICK, stance(np.array([way, 0.0, 0.0]), 0.0))
    command = walk.update(1.0, stance(np.array([1.3, 0.0, turned]), 0.0))
    assert walk.is_on_flight and (command[0] > 0.0 or walk.status is WalkStatus.FAILED)


@given(way=st.floats(-0.7, 4.5), age=st.floats(0.5, 50.0), kind=st.sampled_from(["old", "nan"]))
@settings(max_examples=25, deadline=None)
def test_it_stands_while_no_pose_comes_and_gives_up_in_the_end(way: float, age: float, kind: str) -> None:
    walk = StairWalk(flight(0.0), 1)
    walk.update(99.0, stance(np.array([way, 0.0, 0.0]), 0.0))
    stamp = 100.0 - age if kind == "old" else None
    pose = np.array([math.nan if kind == "nan" else way, 0.0, 0.0])
    for tick in range(20):
        lost = replace(stance(pose, 0.0), stamp=stamp)
        assert not walk.update(100.0 + tick * TICK, lost).any()
    for tick in range(20, round(STAIR_WALK_LOST / TICK) + 3):
        assert not walk.update(100.0 + tick * TICK, lost).any()
    assert walk.status is WalkStatus.FAILED and "where I am" in walk.why


@given(
    gaps=st.lists(st.tuples(st.floats(-0.2, 4.0), st.floats(0.0, 20.0)), min_size=1, max_size=6),
    finds=st.booleans(),
)
@settings(max_examples=25, deadline=None)
def test_its_own_stops_on_a_busy_computer_do_not_end_it(gaps, finds) -> None:
    walk, now, way = StairWalk(flight(0.0), 1), 0.0, -0.5
    for at, seconds in sorted(gaps):
        while way < at:
            now, way = now + TICK, way + 0.25 * TICK
            walk.update(now, stance(np.array([way, 0.0, 0.0]), 0.0))
        now += seconds  # the process stood; the clock is heard before the transforms, or after them
        if finds:
            walk.update(now, replace(stance(np.array([way, 0.0, 0.0]), 0.0), stamp=now - seconds))
        walk.update(now, stance(np.array([way, 0.0, 0.0]), 0.0))
    assert walk.status in (WalkStatus.WALKING, WalkStatus.DONE), walk.why


@given(
    yaw=st.floats(-math.pi, math.pi), wrong=st.floats(-0.25, 0.25), down=st.booleans(), seed=st.integers(0, 99),
    rolls=st.floats(0.0, 0.06),
)  # fmt: skip
@settings(max_examples=40, deadline=None)
def test_a_flight_that_was_seen_some_degrees_off_is_walked_by_its_slope(
    yaw, wrong, down, seed, rolls
) -> None:
    true = flight(yaw)
    entry, rng = true.entry(2 if down else 1), np.random.default_rng(seed)
    if down:  # the edge where it begins is right
        low = entry[:2] - RUN * np.array([math.cos(yaw + wrong), math.sin(yaw + wrong)])
        seen = replace(true, low=tuple(low), heading=yaw + wrong)
    else:
        seen = replace(true, heading=yaw + wrong)
    walk, pose, worst = StairWalk(seen, 2 if down else 1), approach_of(np.add(entry, (0.0, 0.0, wrong))), 0.0
    side, way = np.array([-math.sin(yaw), math.cos(yaw)]), np.array([math.cos(yaw), math.sin(yaw)])
    for tick in range(1000):
        here = stance(pose, yaw)
        leans = -math.sin(here.tilt) * way + rng.normal(0.0, rolls, 2) * (here.tilt > 0.0)
        command = walk.update(tick * TICK, replace(here, downhill=leans))
        if walk.status is not WalkStatus.WALKING:
            break
        c, s = math.cos(pose[2]), math.sin(pose[2])
        moved = np.array([c * command[0] - s * command[1], s * command[0] + c * command[1], command[2]])
        pose = pose + moved * TICK
        worst = max(worst, abs(float((pose[:2] - entry[:2]) @ side)))
    assert walk.status is WalkStatus.DONE, walk.why
    assert worst <= 0.3  # of the approach, 0.75 m before the edge on the line that was seen
    assert abs(float((pose[:2] - entry[:2]) @ side)) <= 0.1


@given(beside=st.floats(0.3, 2.0), right=st.booleans(), turned=st.floats(-3.0, 3.0))
@settings(max_examples=25, deadline=None)
def test_a_pose_that_jumps_off_the_line_stops_it_on_the_steps(beside, right, turned) -> None:
    walk = StairWalk(flight(0.0), 1)
    for tick, way in enumerate((-0.1, 0.3, 0.8, 1.2)):
        walk.update(tick * TICK, stance(np.array([way, 0.0, 0.0]), 0.0))
    jumped = np.array([1.3, -beside if right else beside, turned])
    assert not walk.update(1.0, stance(jumped, 0.0)).any()
    assert walk.status is WalkStatus.FAILED and "off the line" in walk.why


@given(
    reached=st.floats(-0.7, 4.0), back=st.floats(0.55, 3.0), seconds=st.floats(0.3, 3.0), yaw=st.floats(-3.0, 3.0)
)  # fmt: skip
@settings(max_examples=40, deadline=None)
def test_a_robot_that_slides_back_is_told_and_stands(reached, back, seconds, yaw) -> None:
    walk, now = StairWalk(flight(yaw), 1), 0.0
    along = np.array([math.cos(yaw), math.sin(yaw), 0.0])

    def stand(way: float) -> np.ndarray:
        return walk.update(now, stance(way * along + (0.0, 0.0, yaw), yaw))

    for way in np.arange(-0.75, reached, 0.05):
        now += 2.0 * TICK
        stand(float(way))
    assert walk.status is WalkStatus.WALKING
    steps = max(round(seconds / TICK), 1)
    for step in range(steps):
        now += TICK
        command = stand(reached - back * (step + 1) / steps)
    assert walk.status is WalkStatus.FAILED and "slid back" in walk.why and not command.any()
    assert not stand(reached).any(), "nor does it go on by itself"


def test_only_stairs_are_walked() -> None:
    lift = Passage(1, PassageKind.LIFT, (0.0, 0.0), (0.0, 0.0), 0.0, 1, 2)
    try:
        StairWalk(lift, 1)
    except ValueError:
        return
    raise AssertionError("a lift was walked")

"""Tests of corrections of map <- odom: plans, passages and loaded maps of all floors move with their part."""

import math
from copy import deepcopy
from dataclasses import replace

import numpy as np
import pytest
from floor_walker import MOUNT, STEP, Walker, saved
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import ndimage

from lodestar.assembly.config import MappingConfig
from lodestar.assembly.floor_stack import FloorStack
from lodestar.assembly.plan_chain import PlanChain
from lodestar.floors.config import FloorsConfig
from lodestar.floors.records import Hint, Passage, PassageKind
from lodestar.geometry.poses import planar_transform
from lodestar.geometry.trajectory import CLOSURE_MATCHED, CLOSURE_SLACK
from lodestar.storage.saved_map import GRID


@given(st.floats(40.0, 150.0), st.floats(-0.01, 0.01), st.floats(-0.1, 0.1))
@settings(max_examples=8, deadline=None)
def test_a_plan_stays_where_it_is_while_odometry_drifts_on_another_floor(
    metres: float, turn: float, share: float
) -> None:
    """Drifts by up to 85 degrees and 15 m, corrected a little by each scan match, as by SLAM Toolbox."""
    robot = Walker()
    robot.stay(1)
    first = robot.plan.mapper
    robot.climb(3.0, 2)
    second, before = robot.plan.mapper, first.project(robot.now)
    robot.drift(metres, turn, share)
    robot.climb(-3.0, 1)
    assert robot.plan.mapper is first
    walls = ndimage.binary_dilation(before.occupied, iterations=2)
    now = first.project(robot.now)
    cells = before.cells_of(now.points_of(np.argwhere(now.occupied)))
    assert walls[cells[:, 0], cells[:, 1]].mean() > 0.95, "no wall stands where none was"
    robot.climb(3.0, 2)
    assert robot.plan.mapper is second and len(robot.stack.building.floors) == 2


@given(st.floats(-0.9, 0.9), st.floats(-0.9, 0.9), st.integers(8, 30))
@settings(max_examples=8, deadline=None)
def test_a_closure_moves_the_plan_of_another_floor_as_it_moves_what_lies_there(
    x: float, y: float, steps: int
) -> None:
    """The closed loop leads over the second floor, whose plan was begun there."""
    assume(math.hypot(x, y) > 0.3)
    robot = Walker()
    robot.stay(1)
    robot.climb(3.0, 2)
    middle = robot.x + 0.25 * steps
    for end in (2 * steps, 0):
        for i in range(2 * steps):
            robot.be(middle - 0.25 * steps + 0.25 * (i if end else 2 * steps - i), robot.z, walls=2)
    robot.climb(-3.0, 1)
    stack, now = robot.stack, planar_transform(x, y, 0.0)
    pose, stamp = planar_transform(robot.x, 0.0, 0.0, robot.z + 0.5), robot.now + STEP
    whole, other = (deepcopy(one) for one in (stack._anchor, stack._mappers[2].anchor))
    with whole.correction(now, pose, stamp) as expected, other.correction(now, pose, stamp) as moved:
        assert expected is not None and moved is not None and not expected.is_rigid and not moved.is_rigid
        for place in ((middle + s * 0.25 * steps, 0.0, 3.0) for s in (-1.0, 0.0, 1.0)):
            np.testing.assert_allclose(moved.at_place(place), expected.at_place(place), atol=0.05)


@given(st.floats(-0.9, 0.9), st.floats(-0.9, 0.9), st.floats(-0.3, 0.3))
@settings(max_examples=20, deadline=None)
def test_ways_between_floors_move_with_the_map(x: float, y: float, turn: float) -> None:
    stack = FloorStack(FloorsConfig(stairs=True, lifts=True), PlanChain(MappingConfig()))
    stack.observe(0.0, np.eye(4))
    stack.name(Passage(0, PassageKind.STAIRS, (3.0, 1.0), (7.0, 1.0), 0.0, lower=1, slope=0.5))
    stack.name(Passage(0, PassageKind.LIFT, (1.0, 2.0), (1.0, 2.0), 3.0, lower=1))
    stack.building = replace(stack.building, hints=(Hint(1, (2.0, -1.0)),))
    before, jump = stack.building, planar_transform(x, y, turn)
    assert not stack.follow(np.eye(4), np.eye(4), 1.0) and stack.building is before
    assert not stack.follow(np.full((4, 4), np.nan), np.eye(4), 1.5)
    moved = stack.follow(jump, np.eye(4), 2.0)
    # a smaller jump counts as a scan match, which moves the robot alone
    assert moved == (math.hypot(x, y) > CLOSURE_MATCHED or abs(turn) > CLOSURE_SLACK)
    expected = jump if moved else np.eye(4)
    for was, now in zip(before.passages, stack.building.passages):
        for entry, then in (
            (was.entry(1), now.entry(1)),
            ([*was.high, was.heading], [*now.high, now.heading]),
        ):
            after = expected @ planar_transform(*entry)
            np.testing.assert_allclose(planar_transform(*then), after, atol=1e-9)
    np.testing.assert_allclose(
        stack.building.hints[0].place, (expected @ [2.0, -1.0, 0.0, 1.0])[:2], atol=1e-9
    )


def test_all_floors_of_a_predecessor_go_on_with_the_same_odometry() -> None:
    """Plans of all floors and their passages move by SLAM's corrections of the time without mapping."""
    robot = Walker()
    robot.stay(1)
    robot.climb(3.0, 2)
    robot.stack.name(Passage(0, PassageKind.LIFT, (2.0, 0.0), (2.0, 0.0), 0.0, lower=1))
    archive = saved(robot).parts[GRID]
    robot.map_from_odom = planar_transform(3.0, 0.0, 0.0)
    other = Walker()
    other.stack.resume(archive, robot.now)
    before = {i: one.project(0.0) for i, one in other.stack._mappers.items()}
    odom = planar_transform(robot.x - 3.0, 0.0, 0.0, robot.z)
    other.stack.follow(robot.map_from_odom, odom @ MOUNT, robot.now + STEP)
    other.stack.observe(robot.now + STEP, robot.map_from_odom @ odom)
    assert other.stack.building.passages[-1].low == pytest.approx((5.0, 0.0))
    aside = other.stack._mappers[1].project(0.0)
    shift = np.argwhere(aside.occupied).mean(0) * aside.resolution + aside.origin[::-1]
    was = np.argwhere(before[1].occupied).mean(0) * aside.resolution + before[1].origin[::-1]
    assert shift - was == pytest.approx((0.0, 3.0), abs=0.1)


def test_a_loaded_building_is_not_moved_by_another_odometry() -> None:
    robot = Walker()
    robot.stay(1)
    robot.stack.name(Passage(0, PassageKind.LIFT, (2.0, 0.0), (2.0, 0.0), 0.0, lower=1))
    held = saved(robot)
    other = Walker()
    other.map_from_odom = planar_transform(5.0, 0.0, 0.0)
    other.stay(1)
    held.load([other.stack.part(lambda: other.now)])
    other.map_from_odom = np.eye(4)
    other.stay(1)
    (lift,) = other.stack.building.passages
    assert lift.low == (2.0, 0.0)

"""Tests of floors by the robot's poses: the mapper in use, and the maps that must never be lost."""

import math
from dataclasses import replace

import numpy as np
import pytest
from floor_walker import SLOPE, Walker, kept, saved
from hypothesis import given, settings
from hypothesis import strategies as st

from lodestar.assembly.floor_archive import SavedFloors
from lodestar.assembly.floor_stack import FLOORS_SAME, FLOORS_TRIES
from lodestar.floors.config import FloorsConfig
from lodestar.floors.records import UNKNOWN, Passage, PassageKind
from lodestar.storage.archive import ForeignFile
from lodestar.storage.saved_map import GRID, SavedMap


@given(st.floats(2.2, 4.0), st.booleans())
@settings(max_examples=6, deadline=None)
def test_each_floor_has_its_mapper_and_gets_it_back(rise: float, down: bool) -> None:
    robot, rise = Walker(), -rise if down else rise
    robot.stay(1)
    first = robot.plan.mapper
    robot.climb(rise, 2)
    building = robot.stack.building
    assert len(building.floors) == 2 and building.here is not None
    assert building.here.level == (-1 if down else 1)
    assert robot.plan.mapper is not first
    second = robot.plan.mapper
    robot.climb(-rise, 1)
    assert robot.plan.mapper is first and robot.stack.building.active == 1 and not robot.stack.building.note
    robot.climb(rise, 2)
    assert robot.plan.mapper is second and len(robot.stack.building.floors) == 2


def test_a_known_floor_that_looks_otherwise_is_told_and_its_map_is_kept() -> None:
    robot = Walker()
    robot.stay(1)
    first = robot.plan.mapper
    before = first.project(0.0)
    robot.climb(3.0, 2)
    came = robot.now
    robot.climb(-3.0, 77)  # objects of another building, at the first floor's height
    building = robot.stack.building
    assert building.since > came, "the grid of the second floor is none of the third"
    assert "does not fit" in building.note and len(building.floors) == 3
    assert robot.plan.mapper is not first
    assert kept(first.project(0.0), before)


def test_in_an_empty_hall_it_says_that_it_cannot_tell_the_floor_until_it_sees_enough() -> None:
    robot = Walker()
    robot.stay(1)
    robot.climb(3.0, 2)
    robot.things = 0  # all objects were removed
    robot.climb(-3.0, 1)
    robot.stay(1, 10.0)
    building = robot.stack.building
    assert len(building.floors) == 2 and building.here is None and "too little to tell" in building.note
    robot.things = 60
    robot.stay(1, 10.0)
    assert robot.stack.building.active == 1 and len(robot.stack.building.floors) == 2


@given(st.floats(1.1, 1.8))
@settings(max_examples=6, deadline=None)
def test_between_two_floors_it_stands_and_says_so(rise: float) -> None:
    robot = Walker()
    robot.stay(1)
    first = robot.plan.mapper
    before = first.project(0.0)
    for i in range(10):  # a lift that stops between floors
        robot.be(robot.x, rise * (i + 1) / 10, walls=1)
    robot.stay(2)
    assert robot.stack.building.active == UNKNOWN and "know of no floor" in robot.stack.building.note
    assert robot.stack.rests and len(robot.stack.building.floors) == 1
    assert kept(first.project(0.0), before)
    for i in range(10):
        robot.be(robot.x, rise * (9 - i) / 10, walls=1)
    robot.stay(1)
    assert robot.stack.building.active == 1 and robot.plan.mapper is first


@given(st.floats(0.3, 1.9), st.sampled_from([SLOPE, 0.0]), st.booleans())
@settings(max_examples=10, deadline=None)
def test_on_the_steps_it_is_on_no_floor_however_the_walk_ends(height: float, tilt: float, down: bool) -> None:
    robot, sign = Walker(), -1.0 if down else 1.0
    robot.stay(1)
    first = robot.plan.mapper
    flight = robot.stack.name(
        Passage(0, PassageKind.STAIRS, (0.5, 0.0), (5.5, 0.0), 0.0, lower=1, slope=0.52)
    )
    robot.stack.cross(flight)
    steps = round(height / 0.05)
    for i in range(1, steps + 1):
        robot.be(robot.x + 0.1, sign * height * i / steps, SLOPE, 1)
    robot.stack.cross(None)  # interrupted, for example by STOP, a pause or a person
    level = tilt == 0.0 and height < FLOORS_SAME  # at a tilt and height like the floor's
    for _ in range(20):
        assert robot.stack.rests and robot.stack.building.active == UNKNOWN
        robot.be(robot.x, sign * height, tilt if not level else SLOPE, 1)
    for i in range(1, steps + 1):  # a person carries the robot back
        robot.be(robot.x - 0.1, sign * height * (steps - i) / steps, SLOPE, 1)
    robot.stay(1)
    building = robot.stack.building
    assert building.active == 1 and robot.plan.mapper is first and not building.note
    assert building.passages == (flight,)


def test_a_robot_that_is_lifted_while_it_compares_a_floor_begins_none() -> None:
    robot = Walker()
    robot.stay(1)
    robot.climb(3.0, 2)
    first, second = (floor.id for floor in robot.stack.building.floors)
    for i in range(1, 60):  # walks back to the first floor, where the comparison begins ...
        robot.be(robot.x, 3.0 - 0.05 * i, SLOPE, 2)
    for _ in range(8):
        robot.be(robot.x, 0.0, 0.0, 1)
    assert "look whether" in robot.stack.building.note
    for i in range(20):  # ... and is lifted by a person
        robot.be(robot.x, 0.1 * i, 0.0, 1)
    assert robot.stack.building.active == UNKNOWN
    assert {floor.id for floor in robot.stack.building.floors} == {first, second}


def test_a_pose_that_is_not_finite_makes_no_floor() -> None:
    robot = Walker()
    robot.stack.observe(0.0, np.full((4, 4), np.nan))
    robot.stay(1)
    assert [floor.height for floor in robot.stack.building.floors] == [0.0]


def test_a_robot_that_is_carried_upstairs_begins_a_floor_and_keeps_the_other() -> None:
    robot = Walker()
    robot.stay(1)
    first = robot.plan.mapper
    before = first.project(0.0)
    for i in range(20):
        robot.be(robot.x, 3.0 * (i + 1) / 20, walls=1)
    robot.stay(2)
    assert robot.stack.building.here is not None and robot.stack.building.here.level == 1
    assert kept(first.project(0.0), before)


@given(st.floats(-0.5, 0.5))
@settings(max_examples=6, deadline=None)
def test_heights_that_drift_make_no_floor(drift: float) -> None:
    robot = Walker()
    for i in range(200):
        robot.be(0.1 * i, drift * i / 200, 0.01, 1)
    assert len(robot.stack.building.floors) == 1 and robot.stack.building.active == 1


def test_a_passage_that_failed_twice_is_refused_and_one_that_was_taken_joins_its_floors() -> None:
    robot = Walker()
    robot.stay(1)
    flight = robot.stack.name(
        Passage(0, PassageKind.STAIRS, (0.5, 0.0), (5.5, 0.0), 0.0, lower=1, slope=0.52)
    )
    robot.stack.failed(flight.id, "it ends in a wall")
    assert robot.stack.building.ways_from(1)
    robot.stack.cross(flight)
    robot.climb(2.8, 2)
    (joined,) = robot.stack.building.passages
    assert (joined.lower, joined.upper) == (1, 2) and abs(joined.rise - 2.8) < 0.15
    robot.stack.failed(flight.id, "it ends in a wall")
    assert not robot.stack.building.ways_from(2)


def test_a_lift_that_is_named_again_is_the_same_one_and_may_be_taken_again() -> None:
    robot = Walker()
    robot.stay(1)
    lift = Passage(0, PassageKind.LIFT, (3.0, 0.0), (3.0, 0.0), 0.0, lower=1)
    first = robot.stack.name(lift)
    for _ in range(FLOORS_TRIES):
        robot.stack.failed(first.id, "nobody told me that the door is open")
    assert robot.stack.building.passages[0].refused
    again = robot.stack.name(replace(lift, low=(3.2, 0.1), high=(3.2, 0.1)))
    assert again.id == first.id and robot.stack.building.passages == (again,) and not again.refused
    robot.stack.failed(first.id, "somebody is in it")
    assert not robot.stack.building.passages[0].refused
    robot.stack.name(replace(lift, low=(3.0, 4.0), high=(3.0, 4.0)))
    assert len(robot.stack.building.passages) == 2


def test_failures_of_a_passage_are_not_those_of_a_loaded_map() -> None:
    robot = Walker()
    robot.stay(1)
    robot.stack.name(Passage(0, PassageKind.LIFT, (3.0, 0.0), (3.0, 0.0), 0.0, lower=1))
    saved = SavedFloors(robot.plan.mapper, robot.stack.building, {1: robot.plan.mapper})
    robot.stack.failed(1, "the door closes")
    back = robot.stack.use(saved, lambda: robot.now)
    robot.stack.failed(1, "the door closes")
    assert not robot.stack.building.passages[0].refused
    back()
    robot.stack.failed(1, "the door closes")
    assert robot.stack.building.passages[0].refused


def test_a_person_says_the_level_and_all_levels_follow() -> None:
    robot = Walker()
    robot.stay(1)
    robot.climb(3.0, 2)
    robot.stack.say_level(3)
    assert [floor.level for floor in robot.stack.building.floors] == [2, 3]


NO_LEVELS = (-21, 201, True, None, "1", 1.5, math.inf, [], {})


@given(told=st.one_of(st.integers(-25, 205), st.integers(), st.sampled_from(NO_LEVELS)))
@settings(max_examples=15, deadline=None)
def test_a_level_that_the_building_does_not_have_changes_nothing(told) -> None:
    robot = Walker()
    robot.stay(1)
    robot.climb(3.0, 2)
    building, mapper = robot.stack.building, robot.plan.mapper
    has = isinstance(told, int) and not isinstance(told, bool) and -20 <= told <= 200
    for say in (robot.stack.say_level, lambda level: robot.stack.arrive(robot.now, level)):
        if has and told > -20:  # the floor below needs a valid level too
            say(told)
            assert robot.stack.building.here is not None and robot.stack.building.here.level == told
        else:
            with pytest.raises(ValueError):
                say(told)
            assert robot.stack.building is building and robot.plan.mapper is mapper
            break


@pytest.mark.parametrize("level", [-1, 3])
def test_the_operator_says_which_levels_the_building_has(level) -> None:
    robot = Walker(config=FloorsConfig(stairs=True, lowest=0, highest=2))
    robot.stay(1)
    with pytest.raises(ValueError, match="0 to 2"):
        robot.stack.arrive(robot.now, level)
    with pytest.raises(ValueError, match="0 to 2"):
        robot.stack.say_level(level)
    robot.climb(3.0, 2)
    with pytest.raises(ValueError):
        robot.stack.say_level(0)  # the floor below would then be a basement
    assert [floor.level for floor in robot.stack.building.floors] == [0, 1]


def test_all_floors_of_a_saved_map_come_back() -> None:
    robot = Walker()
    robot.stay(1)
    robot.climb(3.0, 2)
    held, other = saved(robot), Walker()
    held.load([other.stack.part(lambda: 7.0)])
    building, grid = other.stack.building, other.plan.grid
    assert building.since == 7.0 and grid is not None and grid.stamp >= 7.0, "older grids are another map's"
    assert [f.level for f in other.stack.building.floors] == [0, 1] and other.stack.building.active == 2
    np.testing.assert_array_equal(other.plan.mapper.project(0.0).cells, robot.plan.mapper.project(0.0).cells)
    other.be(robot.x, 0.0)  # a new session of odometry
    other.climb(-3.0, 1)
    assert other.stack.building.active == 1 and len(other.stack.building.floors) == 2


def test_a_map_of_before_is_the_one_floor_of_one_building() -> None:
    robot, other = Walker(), Walker()
    robot.stay(1)
    before = SavedMap.of([robot.plan.part(lambda: robot.now)])  # the map in the format without floors
    assert before.parts[GRID].meta == saved(robot).parts[GRID].meta
    before.load([other.stack.part(lambda: 0.0)])
    other.stay(1)
    assert len(other.stack.building.floors) == 1 and other.stack.building.active == 1


def test_a_map_that_lacks_a_floors_plan_is_refused_and_changes_nothing() -> None:
    robot, other = Walker(), Walker()
    robot.stay(1)
    robot.climb(3.0, 2)
    other.stay(5)
    mapper, building = other.plan.mapper, other.stack.building
    whole = saved(robot).parts[GRID]
    kept_arrays = {name: one for name, one in whole.arrays.items() if not name.startswith("floor1.")}
    foreign = {**whole.meta, "building": {"floors": [], "passages": [], "active": 4}}
    for broken in (replace(whole, arrays=kept_arrays), replace(whole, meta=foreign)):
        with pytest.raises(ForeignFile):
            SavedMap({GRID: broken}).load([other.stack.part(lambda: 0.0)])
        assert other.plan.mapper is mapper and other.stack.building is building


def test_a_person_says_where_a_lift_let_it_out() -> None:
    robot = Walker()
    robot.stay(1)
    first = robot.plan.mapper
    robot.stack.arrive(robot.now, 3)
    assert robot.stack.building.here is not None and robot.stack.building.here.level == 3
    assert robot.plan.mapper is not first
    robot.stay(2)
    robot.stack.arrive(robot.now, 0)
    robot.stay(1)
    assert robot.plan.mapper is first and robot.stack.building.active == 1

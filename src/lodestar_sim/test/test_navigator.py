"""Tests of the navigator: goals reached around obstacles, and every kind of failure."""

from __future__ import annotations

import math

import numpy as np
import pytest
from navigator_drives import Drive, blocked, free_room

from lodestar.grid.occupancy import UNKNOWN
from lodestar_sim.navigator import PROGRESS_TIME, Navigator, NavigatorError, NavigatorStatus
from lodestar_sim.path_follower import MAX_FORWARD, MAX_LATERAL, MAX_TURN, SLOW_SPEED


@pytest.mark.parametrize("direction", np.arange(8) * math.pi / 4)
def test_a_step_aside_is_a_step_without_turning(direction):
    """Turning could press the robot against an obstacle missing from the grid."""
    start = np.array([4.0, 3.0, -1.05])
    goal = start + 0.48 * np.array([math.cos(direction), math.sin(direction), 0.0])
    drive = Drive(start, free_room())
    assert drive.to(goal).status is NavigatorStatus.SUCCEEDED
    assert np.abs(np.array(drive.track)[:, 2] - start[2]).max() < 0.1


@pytest.mark.parametrize("goal", [(6.5, 4.5, 1.0), (1.0, 4.8, -2.5), (1.3, 1.0, 3.1), (1.0, 1.0, -1.5)])
def test_it_reaches_a_pose_within_the_tolerances(goal):
    drive = Drive((1.0, 1.0, 0.0), free_room())
    result = drive.to(goal)
    assert result.status is NavigatorStatus.SUCCEEDED
    assert result.error_code == 0
    assert math.hypot(*(drive.pose[:2] - goal[:2])) <= 0.15
    assert abs(math.remainder(drive.pose[2] - goal[2], math.tau)) <= 0.15
    assert not result.command.any()


def test_it_goes_around_what_stands_in_the_way_and_faces_its_motion():
    grid = blocked(free_room(), 3.5, 0.0, 4.0, 4.6)
    drive = Drive((1.0, 1.0, 0.0), grid)
    assert drive.to((7.0, 1.0, 0.0)).status is NavigatorStatus.SUCCEEDED
    assert max(pose[1] for pose in drive.track) > 4.6
    assert drive.touched() == 0
    commands = np.array(drive.commands)
    fast = np.hypot(commands[:, 0], commands[:, 1]) > 0.4
    assert (commands[fast, 0] > np.abs(commands[fast, 1])).mean() > 0.95


def test_it_passes_a_door_of_0_9_metres():
    grid = blocked(blocked(free_room(), 3.9, 0.0, 4.1, 2.6), 3.9, 3.5, 4.1, 6.0)
    drive = Drive((1.0, 1.0, 1.5), grid)
    assert drive.to((7.0, 5.0, 0.0)).status is NavigatorStatus.SUCCEEDED
    assert drive.touched() == 0


def test_it_is_slower_beside_obstacles():
    free, narrow = Drive((1.0, 3.0, 0.0), free_room()), Drive((1.0, 3.0, 0.0), blocked(blocked(
        free_room(), 2.0, 0.0, 6.0, 2.6), 2.0, 3.4, 6.0, 6.0))  # fmt: skip
    for drive in (free, narrow):
        assert drive.to((7.0, 3.0, 0.0)).status is NavigatorStatus.SUCCEEDED
    assert narrow.now > 1.3 * free.now


def test_speed_and_turn_stay_in_their_limits():
    drive = Drive((1.0, 1.0, 3.0), free_room())
    drive.to((6.5, 4.5, 1.0))
    commands = np.array(drive.commands)
    assert np.abs(commands[:, 0]).max() <= MAX_FORWARD + 1e-9
    assert np.abs(commands[:, 1]).max() <= MAX_LATERAL + 1e-9
    assert np.abs(commands[:, 2]).max() <= MAX_TURN + 1e-9


def test_it_never_enters_unknown_space():
    grid = blocked(free_room(), 3.5, 0.0, 4.0, 4.6, UNKNOWN)
    drive = Drive((1.0, 1.0, 0.0), grid)
    assert drive.to((7.0, 1.0, 0.0)).status is NavigatorStatus.SUCCEEDED
    x, y = np.array(drive.track)[:, 0], np.array(drive.track)[:, 1]
    assert not ((x > 3.52) & (x < 3.98) & (y < 4.58)).any()  # tolerance of 2 cm at the corner
    assert y.max() > 4.6


def test_it_replans_when_a_new_obstacle_appears():
    drive = Drive((1.0, 3.0, 0.0), free_room())
    drive.navigator.set_goal((7.0, 3.0, 0.0))
    while drive.pose[0] < 2.5:
        drive.step()
    drive.grid = blocked(free_room(), 4.5, 1.5, 5.0, 4.5)
    assert drive.until_done().status is NavigatorStatus.SUCCEEDED
    assert drive.touched() == 0


def test_it_gets_out_of_the_inflation_it_starts_in():
    grid = blocked(free_room(), 3.0, 2.0, 5.0, 4.0)
    drive = Drive((4.0, 1.78, 0.0), grid)  # parallel to the block, 0.27 m from the centres of its cells
    assert drive.to((1.0, 5.0, 0.0)).status is NavigatorStatus.SUCCEEDED
    assert drive.touched() == 0


# --- keep-out zones ------------------------------------------------------------------------------------


def test_feedback_counts_down_and_carries_the_path():
    drive = Drive((1.0, 3.0, 0.0), free_room())
    drive.navigator.set_goal((7.0, 3.0, 0.0))
    first = drive.step()
    assert first.distance_remaining == pytest.approx(6.0, abs=0.3)
    assert first.path[-1] == pytest.approx([7.0, 3.0])
    for _ in range(100):
        later = drive.step()
    assert later.distance_remaining < first.distance_remaining - 2.0


def test_of_a_way_that_is_not_planned_it_says_nothing():
    drive = Drive((1.0, 3.0, 0.0), free_room())
    drive.navigator.set_goal((7.0, 3.0, 0.0))
    waiting = drive.navigator.update(drive.now, None, drive.pose, np.zeros(3))
    assert waiting.status is NavigatorStatus.ACTIVE and np.isnan(waiting.distance_remaining)
    assert drive.step().distance_remaining > 5.0


def test_cancel_stops_at_once():
    drive = Drive((1.0, 3.0, 0.0), free_room())
    drive.navigator.set_goal((7.0, 3.0, 0.0))
    for _ in range(40):
        drive.step()
    drive.navigator.cancel()
    result = drive.step()
    assert result.status is NavigatorStatus.CANCELED
    assert not result.command.any()
    assert not drive.navigator.active


def test_a_new_goal_takes_the_place_of_the_old_one():
    drive = Drive((1.0, 3.0, 0.0), free_room())
    drive.navigator.set_goal((7.0, 3.0, 0.0))
    for _ in range(60):
        drive.step()
    assert drive.to((1.0, 1.0, 0.0)).status is NavigatorStatus.SUCCEEDED
    assert math.hypot(*(drive.pose[:2] - (1.0, 1.0))) <= 0.15


@pytest.mark.parametrize("goal", [(math.nan, 1.0, 0.0), (1.0, 2.0), (1.0, math.inf, 0.0)])
def test_a_goal_that_is_no_pose_is_refused(goal):
    with pytest.raises(ValueError, match="finite"):
        Navigator().set_goal(goal)


def _codes():
    room = free_room()
    walled = blocked(room, 3.9, 0.0, 4.1, 6.0)
    boxed = room
    for x0, y0, x1, y1 in (
        (0.3, 0.3, 1.7, 0.9),
        (0.3, 1.1, 1.7, 1.7),
        (0.3, 0.9, 0.6, 1.1),
        (1.4, 0.9, 1.7, 1.1),
    ):
        boxed = blocked(boxed, x0, y0, x1, y1)
    return {
        NavigatorError.NO_VALID_PATH: (walled, (1.0, 1.0, 0.0), (7.0, 1.0, 0.0)),
        NavigatorError.GOAL_OCCUPIED: (blocked(room, 5.0, 2.0, 7.0, 4.0), (1.0, 1.0, 0.0), (6.0, 3.0, 0.0)),
        NavigatorError.GOAL_OUTSIDE_MAP: (room, (1.0, 1.0, 0.0), (30.0, 1.0, 0.0)),
        NavigatorError.START_OUTSIDE_MAP: (room, (-3.0, 1.0, 0.0), (3.0, 1.0, 0.0)),
        NavigatorError.START_OCCUPIED: (blocked(room, 0.0, 0.0, 2.5, 2.5), (1.0, 1.0, 0.0), (6.0, 3.0, 0.0)),
    }


@pytest.mark.parametrize("code", list(_codes()), ids=lambda code: code.name)
def test_the_planner_gives_up_with_its_reason(code):
    grid, start, goal = _codes()[code]
    drive = Drive(start, grid)
    result = drive.to(goal)
    assert result.status is NavigatorStatus.ABORTED
    assert result.error_code == code
    assert result.error_msg
    assert not result.command.any()
    assert np.array_equal(drive.pose, np.array(start, float))


def test_a_heading_that_does_not_fit_is_a_goal_that_is_occupied():
    grid = blocked(blocked(free_room(), 0.0, 0.0, 8.0, 2.7), 0.0, 3.3, 8.0, 6.0)  # a corridor of 0.6 m
    across, along = Drive((1.0, 3.0, 0.0), grid), Drive((1.0, 3.0, 0.0), grid)
    assert across.to((5.0, 3.0, math.pi / 2)).error_code == NavigatorError.GOAL_OCCUPIED
    assert along.to((5.0, 3.0, 0.0)).status is NavigatorStatus.SUCCEEDED


def test_a_robot_that_does_not_move_makes_no_progress():
    drive = Drive((1.0, 1.0, 0.0), free_room(), stuck=True)
    result = drive.to((6.0, 4.0, 0.0))
    assert result.error_code == NavigatorError.FAILED_TO_MAKE_PROGRESS
    assert PROGRESS_TIME <= drive.now < PROGRESS_TIME + 2.0


def test_a_robot_that_is_closed_in_has_no_valid_control():
    drive = Drive((4.0, 3.0, 0.0), free_room())
    drive.navigator.set_goal((7.0, 3.0, 0.0))
    for _ in range(10):
        drive.step()
    x, y = drive.pose[:2]
    grid = drive.grid
    sides = ((-0.7, -0.5, 0.7, -0.3), (-0.7, 0.3, 0.7, 0.5), (-0.7, -0.5, -0.5, 0.5), (0.5, -0.5, 0.7, 0.5))
    for x0, y0, x1, y1 in sides:
        grid = blocked(grid, x + x0, y + y0, x + x1, y + y1)
    drive.grid, drive.track = grid, []
    result = drive.until_done()
    assert result.status is NavigatorStatus.ABORTED
    assert result.error_code in (
        NavigatorError.NO_VALID_CONTROL, NavigatorError.NO_VALID_PATH, NavigatorError.START_OCCUPIED
    )  # fmt: skip
    assert drive.touched() == 0


@pytest.mark.parametrize(
    ("lost", "planned", "code"),
    [
        ("grid", False, NavigatorError.PLANNER_TIMEOUT),
        ("pose", False, NavigatorError.PLANNER_TF_ERROR),
        ("pose", True, NavigatorError.CONTROLLER_TF_ERROR),
    ],
)
def test_missing_inputs_stop_it_and_then_end_the_goal(lost, planned, code):
    drive = Drive((1.0, 1.0, 0.0), free_room())
    drive.navigator.set_goal((6.0, 4.0, 0.0))
    if planned:
        for _ in range(30):
            drive.step()
    inputs = {"grid": (None, drive.pose), "pose": (drive.grid, None)}[lost]
    for k in range(200):
        result = drive.navigator.update(drive.now + 0.05 * k, *inputs, np.zeros(3))
        assert not result.command.any()
        if result.status is not NavigatorStatus.ACTIVE:
            break
    assert result.status is NavigatorStatus.ABORTED
    assert result.error_code == code


def test_a_short_loss_of_the_pose_is_survived():
    drive = Drive((1.0, 1.0, 0.0), free_room())
    drive.navigator.set_goal((6.0, 4.0, 0.0))
    for _ in range(30):
        drive.step()
    for _ in range(20):
        assert not drive.navigator.update(drive.now, drive.grid, None, np.zeros(3)).command.any()
        drive.now += 0.05
    assert drive.until_done().status is NavigatorStatus.SUCCEEDED


def test_codes_are_those_of_nav2():
    """Error codes equal those of Nav2 in Jazzy and Kilted."""
    numbers = {
        "UNKNOWN_CONTROLLER": 100, "CONTROLLER_TF_ERROR": 102, "FAILED_TO_MAKE_PROGRESS": 105,
        "NO_VALID_CONTROL": 106, "UNKNOWN_PLANNER": 200, "PLANNER_TF_ERROR": 202, "START_OUTSIDE_MAP": 203,
        "GOAL_OUTSIDE_MAP": 204, "START_OCCUPIED": 205, "GOAL_OCCUPIED": 206, "PLANNER_TIMEOUT": 207,
        "NO_VALID_PATH": 208, "UNKNOWN": 9000, "TF_ERROR": 9002, "NONE": 0,
    }  # fmt: skip
    assert {error.name: int(error) for error in NavigatorError} == numbers


def test_it_drives_the_simulated_robot_without_touching_anything(furnished_room):
    """Test the whole loop: true dynamics, a grid from the scan, localisation."""
    from lodestar.geometry.poses import planar_transform, yaw_of
    from lodestar.mapping.occupancy.scan_grid import ScanGridMapper
    from lodestar_sim.simulator import Simulator

    sim, mapper, navigator = (
        Simulator(furnished_room, seed=3, start=(-3.0, 0.0, 0.0)),
        ScanGridMapper(),
        Navigator(),
    )

    def look():
        scan = sim.scan()
        sensor = sim.map_from_base @ planar_transform(0.0, 0.0, 0.0, 0.28)
        mapper.insert_scan(scan.ranges, scan.angle_min, scan.angle_increment, scan.range_max, sensor)
        return mapper.project(sim.time)

    for goal in ((3.0, -2.0, 1.0), (2.6, 2.2, 0.0), (-3.0, 1.5, 3.0)):
        grid = look()
        navigator.set_goal(goal)
        for k in range(800):
            pose = (*sim.map_from_base[:2, 3], yaw_of(sim.map_from_base))
            step = navigator.update(sim.time, grid, pose, sim.velocity)
            if step.status is not NavigatorStatus.ACTIVE:
                break
            sim.set_command(*step.command)
            sim.step(0.06)
            if k % 4 == 0:
                grid = look()
        assert step.status is NavigatorStatus.SUCCEEDED, (goal, step)
        assert math.hypot(*(sim.true_pose[:2] - goal[:2])) < 0.25
    assert sim.collisions == 0


@pytest.mark.parametrize("yaw", np.arange(8) * math.pi / 4)
@pytest.mark.parametrize("final", [-2.0, 0.0, 2.0])
def test_with_room_it_turns_while_it_walks(yaw, final):
    """Both turns happen during the drive, so they add little to the time of the straight path."""
    drive = Drive((1.0, 3.0, yaw), free_room())
    assert drive.to((6.0, 3.0, final)).status is NavigatorStatus.SUCCEEDED
    turns = (abs(math.remainder(yaw, math.tau)) + abs(final)) / MAX_TURN
    straight = Drive((1.0, 3.0, 0.0), free_room())
    straight.to((6.0, 3.0, 0.0))
    assert drive.now <= straight.now + 0.6 * turns + 0.3
    assert drive.touched() == 0


@pytest.mark.parametrize("seed", range(6))
def test_without_room_to_turn_it_walks_out_sideways_or_backwards(seed):
    """From a niche barely wide enough, in any orientation that fits, the robot leaves at slow speed without turning."""
    rng = np.random.default_rng(seed)
    width = float(rng.uniform(0.8, 0.95))
    grid = blocked(blocked(free_room(), 5.0, 0.0, 7.9, 3.0 - width / 2.0), 5.0, 3.0 + width / 2.0, 7.9, 6.0)
    drive = Drive((6.5, 3.0, float(rng.uniform(-0.2, 0.2))), grid)
    assert drive.to((3.0, 3.0, 3.0)).status is NavigatorStatus.SUCCEEDED
    assert drive.touched() == 0
    assert drive.now <= 3.5 / SLOW_SPEED + 4.0

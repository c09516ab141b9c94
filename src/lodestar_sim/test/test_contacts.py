"""Tests of contacts with obstacles missing from the grid: detection by pushing, memory, detours."""

from __future__ import annotations

import math

import numpy as np
import pytest
from navigator_drives import Drive, blocked, free_room

from lodestar.geometry.poses import yaw_of
from lodestar.grid.occupancy import FREE, OCCUPIED, OccupancyGrid2D
from lodestar_sim.clearance import LENGTH, WIDTH, Clearance
from lodestar_sim.contacts import CONTACT_MEMORY, Contacts
from lodestar_sim.navigator import Navigator, NavigatorConfig, NavigatorError, NavigatorStatus
from lodestar_sim.path_follower import PathFollower
from lodestar_sim.simulator import Simulator

AHEAD = np.array([0.3, 0.0, 0.0])
HERE = np.array([4.0, 3.0, 0.0])
STILL = np.zeros(3)


def pushed(
    command=AHEAD, seconds: float = 3.0, moves=(0.0, 0.0, 0.0), contacts: Contacts | None = None, start=0.0
):
    """Return the contacts after a constant command while the robot moves at velocity `moves`, and detection times."""
    contacts = contacts or Contacts()
    found = []
    for k in range(round(seconds / 0.1)):
        if contacts.observe(
            start + 0.1 * k, HERE + 0.1 * k * np.array(moves), STILL, np.array(command), free_room()
        ):
            found.append(round(start + 0.1 * k, 1))
    return contacts, found


def marked(contacts: Contacts, now: float = 3.0) -> np.ndarray:
    """Return the centres (N, 2), metres, of cells that are occupied because of contacts only."""
    grid = free_room()
    seen = contacts.on(grid, now)
    return grid.points_of(np.argwhere(seen.occupied & ~grid.occupied))


def test_what_stops_a_drive_is_marked_right_before_the_body():
    contacts, found = pushed()
    points = marked(contacts)
    assert found[0] == pytest.approx(1.0, abs=0.11), "0.30 m at 0.3 m/s"
    assert (points[:, 0] > HERE[0] + LENGTH / 2.0).all() and (
        points[:, 0] < HERE[0] + LENGTH / 2.0 + 0.25
    ).all()
    assert (np.abs(points[:, 1] - HERE[1]) <= WIDTH / 2.0 + 0.05).all() and 3 <= len(points) <= 10


@pytest.mark.parametrize("way", [1.0, -1.0])
def test_what_stops_a_turn_is_marked_on_the_sides_that_swing(way):
    contacts, found = pushed((0.0, 0.0, 0.8 * way))
    points = marked(contacts) - HERE[:2]
    assert found[0] == pytest.approx(1.0, abs=0.11), "0.8 rad at 0.8 rad/s"
    assert len(points) and (np.sign(points[:, 0] * points[:, 1]) == way).all(), (
        "front left and rear right, or the others"
    )


def test_who_moves_or_stands_as_told_touches_nothing():
    for command, moves in (
        (AHEAD, AHEAD),
        (AHEAD, (0.05, 0.0, 0.0)),
        ((0.0, 0.0, 0.8), (0.0, 0.0, 0.8)),
        (np.zeros(3),) * 2,
    ):
        contacts, found = pushed(command, moves=moves)
        grid = free_room()
        assert not found and contacts.on(grid, 3.0) is grid


def test_what_was_told_in_vain_is_kept_until_the_robot_moves():
    contacts, found = pushed(seconds=2.5)
    assert len(found) == len(contacts.held) == 2 and (contacts.held[0] == AHEAD).all()
    contacts.observe(9.0, HERE + np.array([0.1, 0.0, 0.0]), STILL, AHEAD, free_room())
    assert not contacts.held


@pytest.mark.parametrize("held", [AHEAD, (0.0, 0.2, 0.0), (0.0, 0.0, 1.0), (-0.2, 0.0, -0.5)])
def test_it_breaks_free_by_a_motion_unlike_all_that_failed(held):
    follower, clearance = PathFollower(), Clearance(free_room())
    tried = [np.array(held)]
    for _ in range(3):
        follower.reset()
        follower.break_free(HERE, tried, clearance)
        follower.take(path := np.array([[4.0, 3.0], [6.0, 3.0]]))
        command, _ = follower.follow(path, np.array([6.0, 3.0, 0.0]), HERE, clearance)
        alike = [float(unit(command) @ unit(other)) for other in tried]
        assert max(alike) < 0.7 and (len(tried) > 1 or alike[0] < -0.7), "the first attempt leads back"
        tried.append(command)


def unit(command) -> np.ndarray:
    """Return a command as a unit vector, its turn rate weighted by the distance of the body's corners."""
    motion = np.array(command) * (1.0, 1.0, math.hypot(0.70, 0.32) / 2.0)
    return motion / np.linalg.norm(motion)


def test_motion_before_a_pause_does_not_count():
    contacts, found = pushed(seconds=0.9)
    contacts.forget_motion()
    assert not found and not pushed(seconds=0.9, contacts=contacts, start=1.0)[1]


def test_it_is_forgotten_after_a_while_and_lies_on_every_grid_until_then():
    contacts, _ = pushed(seconds=1.3)
    wider = OccupancyGrid2D(np.full((100, 100), FREE, np.int8), 0.1, (-1.0, -1.0))
    assert contacts.on(wider, 1.3).occupied.sum() == len(marked(contacts)) > 0
    assert not wider.occupied.any(), "the grid that was given stays as it is"
    elsewhere = OccupancyGrid2D(np.full((20, 20), FREE, np.int8), 0.1, (-9.0, -9.0))
    assert not contacts.on(elsewhere, 3.0).occupied.any()
    assert contacts.on(wider, 59.0) is not wider
    assert contacts.on(wider, 1.3 + CONTACT_MEMORY) is wider


def test_a_simulation_that_starts_again_knows_of_nothing():
    contacts, _ = pushed(seconds=1.3)
    contacts.forget_motion()
    assert contacts.on(grid := free_room(), 0.0) is grid


def test_poses_that_come_late_are_no_contact():
    contacts = Contacts()
    for k in range(30):
        assert not contacts.observe(0.1 * k, HERE, np.array([0.4, 0.0, 0.0]), AHEAD, free_room())


def test_the_command_that_was_in_vain_is_blamed_and_not_the_next():
    contacts, found = pushed(seconds=0.95)
    assert not found
    turn = np.array([0.0, 0.0, 0.8])
    assert any(contacts.observe(stamp, HERE, STILL, turn, free_room()) for stamp in (1.0, 1.1))
    assert (contacts.held[-1] == AHEAD).all() and (marked(contacts)[:, 0] > HERE[0] + 0.35).all()


def doorway() -> OccupancyGrid2D:
    """Return the grid of two rooms connected by a door of 0.9 m at x = 4."""
    return blocked(blocked(free_room(), 4.0, 0.1, 4.2, 2.6), 4.0, 3.5, 4.2, 5.9)


@pytest.mark.parametrize("after", [0.0, 30.0])
def test_a_door_in_which_something_was_touched_is_tried_again(after):
    """A contact in the only doorway, such as a person, must not make goals behind it fail."""
    drive = Drive((3.4, 3.05, 0.0), doorway(), stuck=True)
    drive.navigator.set_goal((6.0, 3.0, 0.0))
    while not drive.navigator._contacts._found:
        assert drive.step().status is NavigatorStatus.ACTIVE and drive.now < 6.0
    drive.stuck, drive.now = False, drive.now + after
    for goal in ((6.0, 3.0, 0.0), (2.0, 3.0, 0.0), (6.5, 4.0, 0.0)):
        assert drive.to(goal).status is NavigatorStatus.SUCCEEDED
    assert drive.touched() == 0


def test_the_same_grid_is_marked_once_until_something_new_is_touched():
    contacts, _ = pushed(seconds=1.3)
    grid = free_room()
    first = contacts.on(grid, 1.3)
    assert contacts.on(grid, 1.3) is first
    pushed((-0.3, 0.0, 0.0), 3.0, contacts=contacts, start=5.0)
    second = contacts.on(grid, 8.0)
    assert second is not first and second.occupied.sum() > first.occupied.sum()


def drive(world, config: NavigatorConfig, goal) -> tuple[Simulator, NavigatorStatus, int]:
    """Drive to a goal with true dynamics, on a grid without objects; return simulator, status and error code."""
    cells = np.full((62, 82), FREE, np.int8)
    cells[[0, -1]] = cells[:, [0, -1]] = OCCUPIED
    grid = OccupancyGrid2D(cells, 0.1, (-4.1, -3.1))
    sim, navigator = Simulator(world, seed=3, start=(-1.0, 0.0, 0.0)), Navigator(config)
    navigator.set_goal(goal)
    for _ in range(1500):
        step = navigator.update(
            sim.time, grid, (*sim.map_from_base[:2, 3], yaw_of(sim.map_from_base)), sim.velocity
        )
        if step.status is not NavigatorStatus.ACTIVE:
            break
        sim.set_command(*step.command)
        sim.step(0.06)
    return sim, step.status, step.error_code


def test_a_robot_gets_around_what_its_grid_does_not_show(furnished_room, monkeypatch):
    goal = (3.0, 0.0, 0.0)  # pose behind a chair
    sim, status, _ = drive(furnished_room, NavigatorConfig(), goal)
    assert status is NavigatorStatus.SUCCEEDED and math.dist(sim.true_pose[:2], goal[:2]) < 0.25
    monkeypatch.setattr("lodestar_sim.contacts.CONTACT_DRIVEN", math.inf)
    monkeypatch.setattr("lodestar_sim.contacts.CONTACT_TURNED", math.inf)
    sim, status, code = drive(furnished_room, NavigatorConfig(), goal)
    assert status is NavigatorStatus.ABORTED and code == NavigatorError.FAILED_TO_MAKE_PROGRESS


def test_a_robot_that_is_held_altogether_still_gives_up():
    held = Drive((1.0, 1.0, 0.0), blocked(free_room(), 3.0, 0.1, 3.4, 2.0), stuck=True)
    assert held.to((6.0, 4.0, 0.0)).status is NavigatorStatus.ABORTED
    assert held.now < 15.0

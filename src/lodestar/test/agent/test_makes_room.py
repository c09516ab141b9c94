"""Tests that a robot that people hold up in a narrow place lets them pass, and then goes on."""

from __future__ import annotations

import numpy as np
import pytest
from agent_fakes import World, entity, exploring, find, proposal, room

from lodestar.agent.errands.commands import RecordOutcome, SendGoal
from lodestar.grid.occupancy import OCCUPIED, OccupancyGrid2D
from lodestar.mapping.movers.mover_tracks import FIRST_TRACK, MoverTrack
from lodestar.selection.decisions import Outcome
from lodestar.worldmodel.outcomes import Result

BEYOND = (8.0, 5.0, 0.0)


def with_door() -> OccupancyGrid2D:
    """Return a room with a wall at x = 5 m and a door of 0.9 m in it, at y = 5 m."""
    grid = room(resolution=0.05)
    cells = grid.cells.copy()
    cells[:, 99:102] = OCCUPIED
    cells[91:109, 99:102] = 0
    return OccupancyGrid2D(cells, 0.05, (0.0, 0.0))


def person(x: float, stamp: float, speed: float = 0.0) -> MoverTrack:
    size = np.array([0.5, 0.5, 1.7])
    place, velocity = np.array([x, 5.0, 0.9]), np.array([speed, 0.0])
    return MoverTrack(1, "person", "person", place, velocity, size, 0.0, stamp, stamp)


class Held(World):
    """World in which a person stands in the door's other room, and the robot does not drive while one is near."""

    person_x: float | None = 6.6
    old = 0.0  # s by which tracks are older than the pose

    def advance(self) -> None:
        tracks = () if self.person_x is None else (person(self.person_x, self.now - self.old),)
        self.loop.on_movers(tracks)
        super().advance()

    def _drive(self) -> None:
        near = self.person_x is not None and 0.0 < self.person_x - self.pose[0] < 2.0
        if self.goal is None or not (near and self.goal[0] > self.pose[0]):
            super()._drive()


def made(**changes) -> Held:
    world = Held(answers={"frontier": exploring(BEYOND)}, grid=with_door())
    for name, value in changes.items():
        setattr(world, name, value)
    world.pose = np.array([4.6, 5.0, 0.0])
    world.loop.on_pose(world.pose, 0.0)
    world.loop.start(find(), 0.0)
    return world


def asides(world: World) -> list[SendGoal]:
    return [one for one in world.of(SendGoal) if "room for a person" in one.rationale]


def test_it_steps_aside_waits_and_drives_on_once_they_have_passed() -> None:
    world = made()
    world.run(5.0, until=lambda: asides(world))
    (aside,) = asides(world)
    assert aside.goal[0] < 4.7 and abs(aside.goal[1] - 5.0) > 0.2
    assert 1.4 <= world.now <= 4.0
    world.run(3.5)
    assert world.goal is None  # it waits where it let them pass
    world.person_x = None
    world.run(12.0, until=lambda: world.pose[0] > 7.0)
    assert world.pose[0] > 7.0 and len(asides(world)) == 1


def test_while_they_stay_it_tries_again_and_then_treats_the_way_as_blocked() -> None:
    world = made()
    world.run(60.0)
    assert 1 <= len(asides(world)) <= 2
    ends = [one.outcome for one in world.of(RecordOutcome)]
    assert Result.ROLLED_BACK in {one.result for one in ends}  # the drive that was held up
    assert len({one.trace_id for one in ends}) == len(ends)  # every action ends once


def test_the_decision_that_they_interrupt_ends_as_preempted() -> None:
    world = made()
    world.run(5.0, until=lambda: asides(world))
    (decision,) = world.decisions
    assert decision.outcome is Outcome.PREEMPTED


def test_whom_it_goes_to_it_does_not_avoid() -> None:
    track = FIRST_TRACK + 1
    goal = proposal(*BEYOND, entity_id=track)
    world = made(answers={"semantic_map": goal})
    world.mirror.put(entity(track, 6.6, 5.0, "person"))
    world.targets.scores[track] = 0.9
    world.run(8.0)
    assert not asides(world)


@pytest.mark.parametrize("changes", [{"person_x": None}, {"old": 1.5}])
def test_without_fresh_tracks_it_drives_on(changes) -> None:
    world = made(**changes)
    world.run(8.0)
    assert not asides(world)


def test_a_robot_that_drives_is_not_turned_aside() -> None:
    world = made(person_x=8.5)
    world.pose = np.array([2.0, 5.0, 0.0])
    world.run(1.4)
    assert not asides(world) and world.pose[0] > 2.5

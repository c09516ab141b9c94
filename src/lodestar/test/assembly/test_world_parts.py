"""Tests of the world model in one process: amendments reach the scene, blocked paths the grid, events the memory."""

from __future__ import annotations

import math

import numpy as np
import pytest

from lodestar.agent.errands.commands import RecordOutcome
from lodestar.assembly.config import MappingConfig, RobotConfig, changed
from lodestar.assembly.range_turns import ScannerTurn
from lodestar.assembly.robot import HeadlessRobot
from lodestar.geometry.poses import planar_transform
from lodestar.mapping.instances.records import CaptionVote, Instance, InstanceDelta
from lodestar.memory.records import EventKind
from lodestar.models.phrases import PhraseBook
from lodestar.scene.records import EntityState
from lodestar.worldmodel.amendments import Amendment, Change, ClosedWay
from lodestar.worldmodel.outcomes import ActionOutcome, Result

BEAMS = 360
ANGLES = -math.pi, 2.0 * math.pi / BEAMS
WAY = ClosedWay((2.0, -0.5), (2.0, 0.5), 50.0, "DOOR_CLOSED")
GONE = Amendment(Change.ARCHIVE, "depth passes", "recovery", 1)


def chair():
    centre = np.array([1.0, 1.0, 0.5])
    return Instance(
        1, 100, centre, np.eye(3) * 0.01, centre - 0.2, centre + 0.2, (CaptionVote("chair", "red chair", 3.0),),
        occupancy_probability=0.9, observation_count=5, confirmed=True, first_seen=0.5, last_seen=1.0,
    )  # fmt: skip


def turn(robot, stamp, distance=3.0):
    """Insert a scan of a round room, late enough after the last one for the filter."""
    pose = planar_transform(0.0, 0.0, 0.0)
    robot.take_pose(np.zeros(3), stamp)
    if robot.map.wants_turn(stamp, pose):
        robot.map.take_turn(ScannerTurn(stamp, np.full(BEAMS, distance), ANGLES, 20.0, pose, np.eye(4), pose))


def outcome(*amendments):
    return ActionOutcome("q-t1", 2.0, Result.ROLLED_BACK, amendments=amendments)


@pytest.fixture
def robot():
    config = changed(RobotConfig(), mapping=MappingConfig(source="scan"))
    robot = HeadlessRobot(config, PhraseBook(), remembers=True)
    robot.map.tell(*robot.map.scene.take_instances(InstanceDelta(1.0, 1, 0, (chair(),))))
    turn(robot, 1.0)
    yield robot
    robot.close()


def occupied(robot, x=2.0, y=0.0):
    row, column = robot.grid.cells_of(np.array([[x, y]]))[0]
    return robot.grid.cells[row, column] >= robot.grid.occupied_from


def test_the_loops_outcomes_amend_the_scene_and_its_followers_hear_it(robot, monkeypatch):
    monkeypatch.setattr(robot.loop, "tick", lambda now: [RecordOutcome(outcome(GONE))])
    robot.tick(2.0)
    assert robot.map.mirror.entities[1].state is EntityState.ARCHIVED


def test_an_unknown_entity_is_refused_and_the_robot_goes_on(robot):
    robot.world.take_outcome(outcome(Amendment(Change.ARCHIVE, "", "recovery", 99)))
    robot.tick(2.0)
    assert robot.map.mirror.entities[1].state is EntityState.ACTIVE


def test_a_closed_way_is_on_the_grid_until_rays_pass_through_it(robot):
    robot.world.take_outcome(outcome(Amendment(Change.CLOSE_WAY, "stuck", "recovery", way=WAY)))
    assert not occupied(robot)
    robot.tick(2.0)
    assert occupied(robot) and robot.world.ways == (WAY,)
    for stamp in range(3, 9):
        turn(robot, float(stamp), distance=1.0)  # an obstacle 1 m away
        robot.tick(float(stamp))
    assert occupied(robot)
    for stamp in range(9, 16):
        turn(robot, float(stamp))
        robot.tick(float(stamp))
    assert not occupied(robot) and robot.world.ways == ()


def test_a_closed_way_expires(robot):
    way = ClosedWay(WAY.start, WAY.end, 5.0, seen_free_opens=False)
    robot.world.take_outcome(outcome(Amendment(Change.CLOSE_WAY, "a person", "recovery", way=way)))
    for stamp, closed in ((3.0, True), (6.0, False)):
        turn(robot, stamp)
        robot.tick(stamp)
        assert occupied(robot) == closed


def test_the_memory_hears_what_is_believed(robot):
    kept = []
    robot.take_pose(np.zeros(3), 2.0)
    robot.memory._keep = lambda memory: kept.append(memory) or 1
    robot.world.take_outcome(outcome(GONE, Amendment(Change.CLOSE_WAY, "stuck", "recovery", way=WAY)))
    told = [memory for memory in kept if memory.event is EventKind.BELIEF]
    assert [memory.facts["change"] for memory in told] == ["ARCHIVE", "CLOSE_WAY"]
    assert told[0].text == "A red chair (entity 1) is gone (depth passes)." and told[0].facts["entry"] == "1"
    assert told[1].facts["position"] == "2.00 0.00"

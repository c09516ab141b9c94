"""Tests that a current goal and the places to return to move with the part of the map that contains them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from agent_fakes import World, exploring, find

from lodestar.agent.errands.commands import SendGoal, State
from lodestar.agent.loop.following import moved_pose
from lodestar.geometry.map_correction import MapCorrection
from lodestar.geometry.poses import planar_transform
from lodestar.language.directive import Directive, Pose, Step, StepKind


def driving(goal=(2.0, 8.0, 0.0)) -> World:
    """Return a world whose robot drives to an explorer's goal, with a known map <- odom."""
    world = World(answers={"frontier": exploring(goal)})
    world.loop.start(find(), 0.0)
    world.run(until=lambda: bool(world.of(SendGoal)) and world.pose[1] > 2.5)
    told(world, np.eye(4))
    return world


def told(world: World, map_from_odom: np.ndarray, stamp: float | None = None) -> None:
    odom = np.linalg.inv(map_from_odom) @ planar_transform(*world.pose)
    world.loop.on_correction(map_from_odom, odom, world.now if stamp is None else stamp)


def bent(goal_moves: np.ndarray) -> MapCorrection:
    """Return a correction that moves the part around the goal, but neither the robot nor the start."""
    moves, places = np.array([np.eye(4), goal_moves]), np.array([(2.0, 2.0, 0.0), (2.0, 8.0, 0.0)])
    return MapCorrection(np.eye(4), np.arange(2), np.arange(2.0), places, moves)


def test_a_goal_moves_with_its_part_of_the_map_and_is_sent_anew():
    world, move = driving(), planar_transform(0.5, 0.2, 0.0)
    before = world.of(SendGoal)[-1]
    home = world.loop._context.facts.home.copy()
    world.loop._following._move(bent(move))
    world.advance()
    after = world.of(SendGoal)[-1]
    np.testing.assert_allclose(after.goal, [2.5, 8.2, 0.0], atol=1e-9)
    assert after.epoch > before.epoch and after.expert == before.expert
    np.testing.assert_array_equal(world.loop._context.facts.home, home)


def test_a_jump_of_the_whole_map_moves_the_first_place():
    world, jump = driving(), planar_transform(0.6, 0.3, 0.1)
    home = world.loop._context.facts.home.copy()
    world.pose = moved_pose(world.pose, MapCorrection(jump))
    told(world, jump)
    np.testing.assert_allclose(
        world.loop._context.facts.home, moved_pose(home, MapCorrection(jump)), atol=1e-9
    )


def test_a_goal_that_hardly_moves_stays():
    world = driving()
    sent = len(world.of(SendGoal))
    world.loop._following._move(bent(planar_transform(0.15, 0.0, 0.0)))
    world.advance()
    assert len(world.of(SendGoal)) == sent


@pytest.mark.parametrize("heading", [None, 0.0])
@pytest.mark.parametrize("steps", [1, 2])
def test_a_place_that_was_named_as_numbers_is_come_to_where_the_map_has_it_now(steps, heading):
    """The same holds for the place of a later step, and on arrival: the robot does not drive to the old place again."""
    world, move = World(), planar_transform(0.5, 0.2, 0.0)
    first = Step(StepKind.GO, pose=Pose(2.0, 3.0))
    named = Step(StepKind.GO, pose=Pose(2.0, 8.0, heading))
    world.loop.start(Directive("go there", (first, named)[2 - steps :]), 0.0)
    world.run(until=lambda: bool(world.of(SendGoal)))
    world.loop._following._move(bent(move))
    world.run()
    assert world.result.success
    np.testing.assert_allclose(world.pose[:2], [2.5, 8.2], atol=1e-6)
    assert not any(np.allclose(one.goal[:2], (2.0, 8.0)) for one in world.of(SendGoal)[1:])
    if heading is not None:
        assert world.pose[2] == pytest.approx(heading)


def test_the_first_place_is_come_back_to_where_the_map_has_it_now():
    world = World()
    steps = Step(StepKind.GO, pose=Pose(2.0, 8.0)), Step(StepKind.RETURN)
    world.loop.start(Directive("go there and come back", steps), 0.0)
    world.run(until=lambda: len(world.of(SendGoal)) == 2 and world.pose[1] < 6.0)
    moves, places = (
        np.array([np.eye(4), planar_transform(0.6, 0.0, 0.0)]),
        np.array([(2.0, 8.0, 0.0), (2.0, 2.0, 0.0)]),
    )
    world.loop._following._move(MapCorrection(np.eye(4), np.arange(2), np.arange(2.0), places, moves))
    world.run()
    assert world.result.success
    np.testing.assert_allclose(world.pose[:2], [2.6, 2.0], atol=1e-6)


def test_small_moves_of_a_goal_add_up():
    world = driving()
    sent = len(world.of(SendGoal))
    for _ in range(3):
        world.loop._following._move(bent(planar_transform(0.15, 0.0, 0.0)))
        world.advance()
    np.testing.assert_allclose(world.of(SendGoal)[sent].goal, [2.45, 8.0, 0.0], atol=1e-9)
    world.advance()
    assert len(world.of(SendGoal)) == sent + 1


def test_a_goal_that_may_not_lie_where_it_has_moved_is_decided_on_anew():
    world = driving()
    sent = len(world.of(SendGoal))
    outside = planar_transform(0.0, 100.0, 0.0)
    world.loop._following._move(bent(outside))
    world.advance()
    assert world.loop.state is State.DECIDING and "map was corrected" in world.loop.feedback().text
    assert len(world.of(SendGoal)) == sent


def test_a_pose_that_is_not_finite_moves_nothing():
    world = driving()
    sent = len(world.of(SendGoal))
    world.loop.on_correction(np.full((4, 4), np.nan), np.eye(4), 1.0)
    world.advance()
    assert len(world.of(SendGoal)) == sent


@pytest.mark.parametrize("place", [0, 1])
def test_a_pose_moves_with_the_nearest_part(place):
    moves = np.array([np.eye(4), planar_transform(1.0, 0.0, math.pi / 2)])
    places = np.array([(0.0, 0.0, 0.0), (10.0, 0.0, 0.0)])
    correction = MapCorrection(moves[1], np.arange(2), np.arange(2.0), places, moves)
    pose = np.array([10.0 * place, 1.0, 0.0])
    expected = pose if place == 0 else [0.0, 10.0, math.pi / 2]
    np.testing.assert_allclose(moved_pose(pose, correction), expected, atol=1e-9)

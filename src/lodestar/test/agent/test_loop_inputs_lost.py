"""Tests of a lost pose, camera, battery or navigator in the loop, and of failures in any order."""

from __future__ import annotations

import math

import numpy as np
import pytest
from agent_fakes import FACING, entity
from hypothesis import example, given, settings
from hypothesis import strategies as st
from recovery_world import (
    NO_PATH,
    abort,
    archive,
    block,
    every_action_has_one_end,
    known_chair_world,
    outcomes_of,
)

from lodestar.agent.errands.commands import NavigationEvent, NavigationKind, SendGoal, State
from lodestar.agent.facts.config import LoopConfig, RecoveryConfig
from lodestar.agent.facts.errors import ErrorCode
from lodestar.grid.energy import EnergyBudget
from lodestar.worldmodel.outcomes import Cause, Result


def test_a_pose_that_jumped_is_noticed_and_the_goal_chosen_anew():
    world = known_chair_world()
    world.run(until=lambda: world.pose[0] > 4.0)
    world.pose = world.pose + np.array([0.0, 1.5, 0.0])
    world.run(1.0)
    found = outcomes_of(world, Result.ROLLED_BACK)[0]
    assert found.diagnosis.cause is Cause.LOCALISATION_LOST and found.recovery == "relocalise"
    world.run()
    assert world.result.success


def test_a_pose_that_does_not_fit_the_map_ends_the_directive():
    world = known_chair_world()
    world.run(until=lambda: world.pose[0] > 4.0)
    world.pose = world.pose + np.array([0.0, 1.5, 0.0])
    for row in range(8):  # walls all around the robot
        block(world, 3.0, 6.5, 2.0 + row, 2.2 + row)
    world.run(60.0)
    assert world.result.error_code is ErrorCode.TF_ERROR
    assert "does not know where it is" in world.result.error_msg


def test_a_camera_that_falls_silent_is_noticed_before_the_arrival():
    world = known_chair_world()
    world.loop.on_sight(world.now)
    world.sees = False
    world.run(60.0)
    assert world.result.error_code is ErrorCode.NO_EXPERT
    assert outcomes_of(world, Result.ROLLED_BACK)[0].diagnosis.cause is Cause.SENSOR_FAULT
    assert math.dist(world.pose[:2], FACING[:2]) > 0.5  # the robot did not drive there without sensors


@pytest.mark.parametrize(
    ("pose_comes", "cause", "code"),
    [(False, Cause.LOCALISATION_LOST, ErrorCode.TF_ERROR), (True, Cause.SENSOR_FAULT, ErrorCode.NO_MAP)],
)
@pytest.mark.parametrize("state", [State.NAVIGATING, State.VERIFYING, State.DIAGNOSING])
def test_a_pose_or_a_lidar_that_falls_silent_is_diagnosed(pose_comes, cause, code, state):
    world = known_chair_world(config=LoopConfig(stuck_time=60.0, verify_time=60.0))
    if state is State.VERIFYING:
        world.sees = False
        world.run(until=lambda: world.loop.state is state)
    elif state is State.DIAGNOSING:
        world.run(until=lambda: world.pose[0] > 3.0)
        block(world, 5.0, 5.4, 3.0, 5.8)
        abort(world, *NO_PATH)
        world.run(0.2)
    assert world.loop.state is state
    world.goal = None
    while world.result is None:
        world.now += 0.1
        if pose_comes:
            world.loop.on_pose(world.pose, world.now)
            world.loop.on_sight(world.now)
        if state is State.DIAGNOSING:  # the robot stands and looks
            world.loop._context.run.under_way.case.until = world.now + 1.0
        world.commands += world.loop.tick(world.now)
    last = outcomes_of(world, Result.ROLLED_BACK)[-1]
    assert last.is_final and last.diagnosis.cause is cause and not last.amendments
    assert world.result.error_code is code


def test_an_empty_battery_and_a_dead_navigator_are_told():
    world = known_chair_world()
    world.run(until=lambda: world.pose[0] > 3.0)
    world.loop.on_energy(EnergyBudget(6.0))
    world.run()
    assert world.result.error_code is ErrorCode.ENERGY
    assert outcomes_of(world, Result.ROLLED_BACK)[0].diagnosis.cause is Cause.OUT_OF_ENERGY
    world = known_chair_world()
    world.goal = None
    world.navigates = False
    world.loop.on_navigation(NavigationEvent(NavigationKind.UNAVAILABLE))
    world.run(60.0)
    assert world.result.error_code is ErrorCode.NAVIGATOR_UNAVAILABLE
    assert outcomes_of(world, Result.ROLLED_BACK)[0].diagnosis.cause is Cause.NAVIGATOR_DOWN


def test_without_recovery_a_failure_is_left_out_as_ever():
    world = known_chair_world(config=LoopConfig(recovery=RecoveryConfig(enabled=False)))
    world.run(until=lambda: world.pose[0] > 3.0)
    abort(world, *NO_PATH)
    world.run(until=lambda: len(world.of(SendGoal)) > 1)
    assert all(one.diagnosis is None for one in outcomes_of(world))
    assert world.of(SendGoal)[1].goal != pytest.approx(world.of(SendGoal)[0].goal)


_FAILURES = st.lists(
    st.tuples(
        st.sampled_from([(208, "no way"), (105, "no progress"), (206, "occupied"), (0, "?"), (9000, "?")]),
        st.sampled_from(["nothing", "crate", "person", "archive"]),
        st.floats(0.5, 6.0),
    ),
    min_size=1,
    max_size=6,
)


def _left_out(run) -> tuple:
    chances = tuple(known.retries for known in run.errand.goals._exclusions)
    return (
        frozenset(run.errand.excluded),
        run.errand.goals.active(),
        frozenset(run.errand.forgiven),
        run.errand.tried_again,
        chances,
    )


@example([(NO_PATH, "nothing", 1.0)] * 4)
@given(_FAILURES)
@settings(max_examples=25, deadline=None)
def test_the_same_action_is_never_done_twice_on_the_same_beliefs(failures):
    """Beliefs: the grid, the scene, the excluded goals and entities, and those that had their second, last chance."""
    world = known_chair_world()
    done: set[tuple] = set()
    sent = 0

    def check() -> None:
        nonlocal sent
        for command in world.of(SendGoal)[sent:]:
            run = world.loop._context.run
            grid = world.loop._context.facts.grid
            beliefs = () if run is None else _left_out(run)
            key = (
                tuple(np.round(command.goal, 3)),
                command.entity_id,
                grid.cells.tobytes(),
                world.mirror_key,
                beliefs,
            )
            assert key not in done, f"{command} was sent twice on the same beliefs"
            done.add(key)
        sent = len(world.of(SendGoal))

    world.mirror_key = ()
    for (code, message), change, seconds in failures:
        end = world.now + seconds
        while world.now < end and world.result is None:
            world.advance()
            world.mirror_key = tuple((e.id, e.state) for e in world.mirror.entities.values())
            check()
        if world.result is not None or world.loop.state is not State.NAVIGATING:
            continue
        if change in ("crate", "person"):
            block(world, 5.0, 5.4, 3.2, 4.4)
        if change == "person":
            world.mirror.put(entity(30, 5.2, 4.8, "red person", first_seen=world.now))
        if change == "archive" and 7 in world.mirror.entities:
            archive(world, 7)
        abort(world, code, message)
    while world.now < 400.0 and world.result is None:
        world.advance()
        check()
    assert world.result is not None
    every_action_has_one_end(world)

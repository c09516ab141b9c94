"""Failed actions in the loop: diagnosed, believed anew, and never repeated on the same beliefs."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from agent_fakes import FACING, TARGET, World, entity, exploring, find, proposal, room, towards_target
from hypothesis import example, given, settings
from hypothesis import strategies as st

from lodestar.agent.errands.commands import (
    NavigationEvent,
    NavigationKind,
    RecordOutcome,
    RecordTrace,
    SendGoal,
    State,
)
from lodestar.agent.facts.config import LoopConfig, RecoveryConfig
from lodestar.agent.facts.errors import ErrorCode
from lodestar.grid.energy import EnergyBudget
from lodestar.scene.records import EntityState
from lodestar.worldmodel.amendments import Change
from lodestar.worldmodel.outcomes import Cause, Look, Result
from lodestar.worldmodel.records import Belief, Trace

NO_PATH = (208, "no way")
NEVER_SEEN = -100.0  # stamp of a former session


def _outcomes(world: World, *results: Result):
    found = [command.outcome for command in world.of(RecordOutcome)]
    return [one for one in found if not results or one.result in results]


def _world(**changes) -> World:
    """A room with a red chair that a former session saw, and the robot on its way to it."""
    world = World(answers={"semantic_map": towards_target, "frontier": exploring((2.0, 8.0, 0.0))}, **changes)
    world.mirror.put(replace(TARGET, first_seen=NEVER_SEEN, last_seen=NEVER_SEEN))
    world.targets.scores[7] = 0.9
    world.now = 0.1
    world.loop.on_pose(world.pose, world.now)
    world.loop.start(find(), world.now)
    world.run(until=lambda: world.loop.state is State.NAVIGATING)
    return world


def _abort(world: World, code: int, message: str = "the test says so") -> None:
    world.goal = None
    world.loop.on_navigation(NavigationEvent(NavigationKind.ABORTED, code, message))


def _block(world: World, x0: float, x1: float, y0: float, y1: float) -> None:
    """Put an obstacle on the grid."""
    grid = world.loop._context.facts.grid
    cells = grid.cells.copy()
    cells[round(y0 * 10) : round(y1 * 10), round(x0 * 10) : round(x1 * 10)] = 100
    world.loop.on_grid(replace(grid, cells=cells))


def _archive(world: World, identity: int) -> None:
    known = world.mirror.entities[identity]
    world.mirror.put(replace(known, state=EntityState.ARCHIVED))
    world.targets.scores[identity] = 0.0


def _every_action_has_one_end(world: World) -> None:
    traces = [command.trace.id for command in world.of(RecordTrace)]
    final = [one.trace_id for one in _outcomes(world) if one.is_final]
    assert sorted(final) == sorted(traces) and len(set(final)) == len(final)


def _turning(world: World) -> Trace:
    """Let the robot stand before a second one, turn to the place of the first, and return the trace of the turn."""
    world.sees = False
    world.mirror.put(entity(8, 8.0, 6.5, first_seen=1e9, last_seen=1e9))
    world.targets.scores |= {7: 0.7, 8: 0.95}
    world.answers["semantic_map"] = lambda request: proposal(7.2, 6.5, 0.0, 0.9, 8)
    world.run(until=lambda: world.loop.feedback().expert == "look")
    assert world.loop.state is State.NAVIGATING
    return world.of(RecordTrace)[-1].trace


@pytest.mark.parametrize(
    ("how", "result"),
    [("arrives", Result.COMMITTED), ("fails", Result.ROLLED_BACK), ("paused", Result.CANCELLED),
     ("cancelled", Result.CANCELLED), ("no navigator", Result.CANCELLED)],
)  # fmt: skip
def test_a_look_is_an_action_that_ends_once(how, result):
    world = _world()
    look = _turning(world)
    assert world.loop.feedback().constraint.startswith("INTERRUPTED(")
    if how == "fails":
        world.targets.scores = {}  # so that nothing is faced
        _abort(world, 105)
    elif how == "paused":
        world.loop.pause(True, world.now)
        world.advance()
        world.loop.pause(False, world.now)
    elif how == "cancelled":
        world.loop.cancel(world.now)
    elif how == "no navigator":
        world.goal = None
        world.loop.on_navigation(NavigationEvent(NavigationKind.UNAVAILABLE))
    world.run(5.0, until=lambda: any(one.trace_id == look.id for one in _outcomes(world)))
    assert [one.result for one in _outcomes(world) if one.trace_id == look.id] == [result]
    if how == "arrives":
        assert world.loop.feedback().constraint == "INTERRUPTED(entity:8)"
    world.sees = True
    world.run()
    _every_action_has_one_end(world)


def test_every_action_ends_once_and_a_found_target_commits_it():
    world = _world()
    world.run()
    assert world.result.success
    _every_action_has_one_end(world)
    assert _outcomes(world)[-1].result is Result.COMMITTED


def test_a_person_in_the_way_is_waited_for_and_the_same_goal_goes_on():
    world = _world()
    before = world.goal.copy()
    world.run(until=lambda: world.pose[0] > 3.0)
    _block(world, 5.0, 5.4, 3.0, 5.8)
    world.mirror.put(entity(30, 5.2, 4.8, "red person", first_seen=world.now))
    _abort(world, *NO_PATH)
    world.run(3.0)
    assert world.loop.state is State.DIAGNOSING and world.goal is None
    diagnosis = _outcomes(world, Result.ROLLED_BACK)[-1]
    assert diagnosis.diagnosis.cause is Cause.WAY_BLOCKED_MOVING
    assert diagnosis.recovery == "wait_then_go_round"
    assert [one.change for one in diagnosis.amendments] == [Change.CLOSE_WAY]
    world.loop.on_grid(room())
    world.mirror.remove(30)
    world.run(until=lambda: world.goal is not None)
    assert world.goal == pytest.approx(before)
    world.run()
    assert world.result.success


def test_whoever_stands_there_for_too_long_is_gone_round():
    world = _world()
    world.run(until=lambda: world.pose[0] > 3.0)
    _block(world, 5.0, 5.4, 3.0, 5.8)
    world.mirror.put(entity(30, 5.2, 4.8, "red person", first_seen=world.now))
    first = world.goal.copy()
    _abort(world, *NO_PATH)
    stopped = world.now
    world.run(60.0, until=lambda: world.goal is not None)
    waited = world.now - stopped
    assert RecoveryConfig().person_patience <= waited < RecoveryConfig().person_patience + 5.0
    assert world.goal != pytest.approx(first)


def test_what_cannot_be_told_apart_is_looked_at_first():
    world = _world()
    world.run(until=lambda: world.pose[0] > 3.0)
    _block(world, 5.0, 5.4, 3.0, 5.8)
    _abort(world, *NO_PATH)
    stopped = world.now
    world.run(1.0)
    first = _outcomes(world, Result.ROLLED_BACK)[-1]
    assert first.diagnosis.look is Look.WAIT and first.recovery == "" and not first.amendments
    assert world.loop.state is State.DIAGNOSING
    world.mirror.put(entity(31, 5.2, 4.8, "brown box", first_seen=world.now))
    world.run(20.0, until=lambda: _outcomes(world)[-1].is_final)
    assert world.now - stopped >= RecoveryConfig().wait
    last = _outcomes(world, Result.ROLLED_BACK)[-1]
    assert last.trace_id == first.trace_id and last.diagnosis.cause is Cause.WAY_BLOCKED_STATIC


def test_a_thing_that_is_gone_ends_the_search_with_where_it_was():
    world = _world(config=LoopConfig(recovery=RecoveryConfig(search_time=20.0)))
    world.run(until=lambda: world.pose[0] > 4.0)
    _archive(world, 7)
    world.run(120.0)
    assert world.result.error_code is ErrorCode.TARGET_GONE
    found = _outcomes(world, Result.ROLLED_BACK)[0]
    assert found.diagnosis.cause is Cause.TARGET_REMOVED
    assert [(one.change, one.entity_id) for one in found.amendments] == [(Change.ARCHIVE, 7)]
    assert "is gone: it was last seen at (8.0, 5.0)" in world.result.error_msg
    assert "% of the floor" in world.result.error_msg
    assert 0.0 < world.result.searched_share <= 1.0


def test_a_pause_does_not_count_against_the_search():
    world = _world(config=LoopConfig(recovery=RecoveryConfig(search_time=60.0)))
    world.answers["frontier"] = exploring(*((2.0 + i % 7, 8.0 - i % 3, 0.0) for i in range(90)))
    world.run(until=lambda: world.pose[0] > 4.0)
    _archive(world, 7)
    world.run(10.0)
    assert world.result is None and world.loop._context.run.errand.gone
    world.loop.pause(True, world.now)
    world.run(90.0)
    world.loop.pause(False, world.now)
    resumed = world.now
    world.run(200.0)
    assert world.result.error_code is ErrorCode.TARGET_GONE
    assert world.now - resumed > 40.0


def test_a_paused_robot_is_about_nothing():
    world = _world()
    assert world.loop.feedback().constraint == "APPROACHING(entity:7)"
    world.loop.pause(True, world.now)
    assert world.loop.feedback().constraint == "HELD"
    world.loop.pause(False, world.now)
    assert world.loop.feedback().constraint == "IDLE"
    world.run(until=lambda: world.loop.state is State.NAVIGATING)
    assert world.loop.feedback().constraint == "APPROACHING(entity:7)"
    world.loop.pause(True, world.now)
    world.loop.cancel(world.now)
    assert world.loop.feedback().constraint == "IDLE"


def test_a_thing_that_was_never_known_is_not_found_and_not_gone():
    world = World(answers={"frontier": exploring((2.0, 8.0, 0.0), (8.0, 8.0, 0.0))})
    world.loop.start(find(), 0.0)
    world.run()
    assert world.result.error_code is ErrorCode.TARGET_NOT_FOUND
    assert "% of the floor" in world.result.error_msg
    assert 0.0 < world.result.searched_share <= 1.0


def test_a_thing_first_seen_since_the_directive_that_vanishes_is_not_gone_either():
    """A false detection must not end a search of an unknown building early."""
    world = World(answers={"semantic_map": towards_target, "frontier": exploring((2.0, 8.0, 0.0))})
    world.loop.start(find(), 0.0)
    world.run(1.0)
    world.mirror.put(replace(TARGET, first_seen=world.now, last_seen=world.now))
    world.targets.scores[7] = 0.9
    world.run(until=lambda: any(goal.entity_id == 7 for goal in world.of(SendGoal)))
    _archive(world, 7)
    world.run()
    assert world.result.error_code is ErrorCode.TARGET_NOT_FOUND


def test_a_thing_that_moved_is_found_in_its_new_place():
    world = _world()
    world.run(until=lambda: world.pose[0] > 4.0)
    _archive(world, 7)
    world.mirror.put(entity(8, 5.0, 8.0, first_seen=world.now, last_seen=world.now))
    world.targets.scores[8] = 0.9
    world.answers["semantic_map"] = lambda request: proposal(5.0, 7.2, math.pi / 2, 0.9, 8)
    world.run()
    assert world.result.success and world.result.entity_ids == (8,)
    assert _outcomes(world, Result.ROLLED_BACK)[0].diagnosis.cause is Cause.TARGET_MOVED


@pytest.mark.parametrize("comes", [True, False])
def test_what_has_come_beside_the_target_since_is_unexpected(comes):
    """The crate (9) stood there before; the bin (10) comes on the way, and the thing is not seen again."""
    world = World(answers={"semantic_map": towards_target, "frontier": exploring((2.0, 8.0, 0.0))})
    world.mirror.put(replace(TARGET, first_seen=NEVER_SEEN, last_seen=NEVER_SEEN))
    world.mirror.put(entity(9, 9.0, 5.0, "brown crate"))
    world.targets.scores[7] = 0.9
    world.sees = False
    world.loop.start(find(), 0.0)
    world.run(until=lambda: world.pose[0] > 4.0)
    if comes:
        world.mirror.put(entity(10, 8.0, 6.0, "blue bin"))
    world.run(30.0, until=lambda: bool(_outcomes(world, Result.ROLLED_BACK)))
    found = _outcomes(world, Result.ROLLED_BACK)[0].diagnosis.discrepancy
    assert found.unexpected == ((Belief("NextTo", ("entity:7", "entity:10")),) if comes else ())


def test_a_thing_that_is_found_elsewhere_after_it_was_missed_has_moved():
    world = _world()
    world.run(until=lambda: world.pose[0] > 4.0)
    _archive(world, 7)
    world.run(5.0)
    assert _outcomes(world, Result.ROLLED_BACK)[0].diagnosis.cause is Cause.TARGET_REMOVED
    world.mirror.put(entity(8, 5.0, 8.0, first_seen=world.now, last_seen=world.now))
    world.targets.scores[8] = 0.9
    world.answers["semantic_map"] = lambda request: proposal(5.0, 7.2, math.pi / 2, 0.9, 8)
    world.run()
    assert world.result.success and "is no longer at (8.0, 5.0)" in world.result.report
    assert _outcomes(world)[-1].diagnosis.cause is Cause.TARGET_MOVED


def test_something_else_than_it_was_taken_for_gives_way_to_the_next():
    world = _world()
    world.mirror.put(entity(8, 2.0, 8.0, first_seen=NEVER_SEEN, last_seen=NEVER_SEEN))
    world.targets.scores[8] = 0.7
    world.run(until=lambda: world.loop.state is State.VERIFYING)
    world.targets.scores[7] = 0.1
    world.mirror.put(replace(world.mirror.entities[7], caption="red bin"))
    world.answers["semantic_map"] = lambda request: (
        proposal(2.0, 7.2, math.pi / 2, 0.9, 8) if 7 in request.excluded_entities else towards_target(request)
    )
    world.run()
    assert world.result.success and world.result.entity_ids == (8,)
    causes = [one.diagnosis.cause for one in _outcomes(world, Result.ROLLED_BACK) if one.diagnosis]
    assert causes == [Cause.TARGET_MISLABELLED]


def test_a_second_one_is_told_of():
    world = _world()
    world.run(until=lambda: world.pose[0] > 5.0)
    world.mirror.put(entity(8, 8.0, 7.0, first_seen=world.now, last_seen=world.now))
    world.targets.scores[8] = 0.9
    world.run()
    assert world.result.success
    last = _outcomes(world)[-1]
    assert last.result is Result.COMMITTED and last.diagnosis.cause is Cause.DUPLICATE_APPEARED
    assert "Another one that fits has appeared" in world.result.report


def test_a_pose_that_jumped_is_noticed_and_the_goal_chosen_anew():
    world = _world()
    world.run(until=lambda: world.pose[0] > 4.0)
    world.pose = world.pose + np.array([0.0, 1.5, 0.0])
    world.run(1.0)
    found = _outcomes(world, Result.ROLLED_BACK)[0]
    assert found.diagnosis.cause is Cause.LOCALISATION_LOST and found.recovery == "relocalise"
    world.run()
    assert world.result.success


def test_a_pose_that_does_not_fit_the_map_ends_the_directive():
    world = _world()
    world.run(until=lambda: world.pose[0] > 4.0)
    world.pose = world.pose + np.array([0.0, 1.5, 0.0])
    for row in range(8):  # walls everywhere around
        _block(world, 3.0, 6.5, 2.0 + row, 2.2 + row)
    world.run(60.0)
    assert world.result.error_code is ErrorCode.TF_ERROR
    assert "does not know where it is" in world.result.error_msg


def test_a_camera_that_falls_silent_is_noticed_before_the_arrival():
    world = _world()
    world.loop.on_sight(world.now)
    world.sees = False
    world.run(60.0)
    assert world.result.error_code is ErrorCode.NO_EXPERT
    assert _outcomes(world, Result.ROLLED_BACK)[0].diagnosis.cause is Cause.SENSOR_FAULT
    assert math.dist(world.pose[:2], FACING[:2]) > 0.5  # it did not drive there blindly


@pytest.mark.parametrize(
    ("pose_comes", "cause", "code"),
    [(False, Cause.LOCALISATION_LOST, ErrorCode.TF_ERROR), (True, Cause.SENSOR_FAULT, ErrorCode.NO_MAP)],
)
@pytest.mark.parametrize("state", [State.NAVIGATING, State.VERIFYING, State.DIAGNOSING])
def test_a_pose_or_a_lidar_that_falls_silent_is_diagnosed(pose_comes, cause, code, state):
    world = _world(config=LoopConfig(verify_time=60.0))
    if state is State.VERIFYING:
        world.sees = False
        world.run(until=lambda: world.loop.state is state)
    elif state is State.DIAGNOSING:
        world.run(until=lambda: world.pose[0] > 3.0)
        _block(world, 5.0, 5.4, 3.0, 5.8)
        _abort(world, *NO_PATH)
        world.run(0.2)
    assert world.loop.state is state
    world.goal = None
    while world.result is None:
        world.now += 0.1
        if pose_comes:
            world.loop.on_pose(world.pose, world.now)
            world.loop.on_sight(world.now)
        if state is State.DIAGNOSING:  # it stands and looks
            world.loop._context.run.under_way.case.until = world.now + 1.0
        world.commands += world.loop.tick(world.now)
    last = _outcomes(world, Result.ROLLED_BACK)[-1]
    assert last.is_final and last.diagnosis.cause is cause and not last.amendments
    assert world.result.error_code is code


def test_an_empty_battery_and_a_dead_navigator_are_told():
    world = _world()
    world.run(until=lambda: world.pose[0] > 3.0)
    world.loop.on_energy(EnergyBudget(6.0))
    world.run()
    assert world.result.error_code is ErrorCode.ENERGY
    assert _outcomes(world, Result.ROLLED_BACK)[0].diagnosis.cause is Cause.OUT_OF_ENERGY
    world = _world()
    world.goal = None
    world.navigates = False
    world.loop.on_navigation(NavigationEvent(NavigationKind.UNAVAILABLE))
    world.run(60.0)
    assert world.result.error_code is ErrorCode.NAVIGATOR_UNAVAILABLE
    assert _outcomes(world, Result.ROLLED_BACK)[0].diagnosis.cause is Cause.NAVIGATOR_DOWN


def test_without_recovery_a_failure_is_left_out_as_ever():
    world = _world(config=LoopConfig(recovery=RecoveryConfig(enabled=False)))
    world.run(until=lambda: world.pose[0] > 3.0)
    _abort(world, *NO_PATH)
    world.run(until=lambda: len(world.of(SendGoal)) > 1)
    assert all(one.diagnosis is None for one in _outcomes(world))
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
    """Beliefs: the grid, the scene, which goals and entities are left out, and which had their second, last chance."""
    world = _world()
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
            _block(world, 5.0, 5.4, 3.2, 4.4)
        if change == "person":
            world.mirror.put(entity(30, 5.2, 4.8, "red person", first_seen=world.now))
        if change == "archive" and 7 in world.mirror.entities:
            _archive(world, 7)
        _abort(world, code, message)
    while world.now < 400.0 and world.result is None:
        world.advance()
        check()
    assert world.result is not None
    _every_action_has_one_end(world)

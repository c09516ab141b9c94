"""Tests of known objects that cannot be reached, and of other objects at their places."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from agent_fakes import FACING, TARGET, entity, exploring, proposal, room
from recovery_world import NEVER_SEEN, NO_PATH, abort, archive, block, known_chair_world, outcomes_of

from lodestar.agent.errands.commands import State
from lodestar.agent.facts.config import LoopConfig, RecoveryConfig
from lodestar.agent.facts.errors import ErrorCode
from lodestar.experts.protocol import Rejection, RejectionReason
from lodestar.worldmodel.outcomes import Cause


def test_a_thing_that_was_thought_gone_and_is_seen_again_is_gone_to():
    world = known_chair_world()
    world.run(until=lambda: world.pose[0] > 4.0)
    world.sees = False
    archive(world, 7)
    world.run(3.0)
    assert world.loop._context.run.errand.gone
    world.mirror.put(replace(TARGET, first_seen=NEVER_SEEN, last_seen=world.now))
    world.targets.scores[7] = 0.9
    world.sees = True
    world.run()
    assert world.result.success and world.result.entity_ids == (7,)
    assert "is no longer" not in world.result.report


def test_a_thing_that_is_seen_again_elsewhere_has_moved():
    world = known_chair_world()
    world.run(until=lambda: world.pose[0] > 4.0)
    world.sees = False
    archive(world, 7)
    world.run(3.0)
    moved = entity(7, 5.0, 8.0, first_seen=NEVER_SEEN, last_seen=world.now)
    world.mirror.put(moved)
    world.targets.scores[7] = 0.9
    world.sees = True
    world.answers["semantic_map"] = lambda request: proposal(5.0, 7.2, math.pi / 2, 0.9, 7)
    world.run()
    assert world.result.success and "is no longer at (8.0, 5.0)" in world.result.report
    assert outcomes_of(world)[-1].diagnosis.cause is Cause.TARGET_MOVED


def test_a_jump_while_the_robot_verifies_is_no_occlusion():
    """The walls are mapped a second time, also before the target; this must not count as an occlusion."""
    world = known_chair_world()
    world.sees = False
    world.run(until=lambda: world.loop.state is State.VERIFYING)
    world.pose = world.pose + np.array([0.0, -1.2, 0.0])
    block(world, 7.4, 7.6, 4.0, 6.0)
    world.run(20.0)
    told = [one.diagnosis.cause for one in outcomes_of(world) if one.diagnosis is not None]
    assert told[0] is Cause.LOCALISATION_LOST


def test_a_second_one_is_not_taken_for_the_first_before_its_place_was_looked_at():
    """A look-alike stands beside the path; the robot turns to the place of the first object, and sees it there."""
    world = known_chair_world()
    world.sees = False
    world.run(until=lambda: world.pose[0] > 3.0)
    world.mirror.put(entity(8, 6.0, 3.4, first_seen=world.now, last_seen=world.now))
    world.targets.scores |= {7: 0.7, 8: 0.95}
    world.answers["semantic_map"] = lambda request: proposal(6.0, 2.6, math.pi / 2, 0.9, 8)
    world.run(until=lambda: world.loop.state is State.VERIFYING)
    world.run(1.5)
    world.mirror.put(replace(world.mirror.entities[8], last_seen=world.now))
    world.run(10.0, until=lambda: abs(world.pose[2] - math.atan2(2.2, 1.8)) < 0.2)
    assert world.loop.state is State.DIAGNOSING and world.result is None
    world.mirror.put(replace(world.mirror.entities[7], last_seen=world.now))
    world.sees = True
    world.run()
    assert world.result.success
    told = [one.diagnosis.cause for one in outcomes_of(world) if one.diagnosis is not None]
    assert told[0] is Cause.TARGET_MOVED and told[1] is told[-1] is Cause.DUPLICATE_APPEARED
    assert "Another one that fits has appeared" in world.result.report


def _no_viewpoint(request):
    return Rejection(
        "semantic_map", request.epoch, RejectionReason.NO_VIEWPOINT, "no reachable place near it"
    )


def test_a_known_thing_to_which_no_way_leads_ends_the_search_in_time():
    """The explorer always has another goal."""
    world = known_chair_world(config=LoopConfig(recovery=RecoveryConfig(search_time=20.0)))
    world.answers["semantic_map"] = _no_viewpoint
    spots = [(2.0 + 0.5 * i, 8.0, 0.0) for i in range(12)]
    world.answers["frontier"] = exploring(*spots)
    world.loop._transitions.redecide(world.loop._context.run)
    world.run(100.0)
    assert world.result.error_code is ErrorCode.TARGET_UNREACHABLE
    assert 20.0 <= world.now < 40.0
    assert "the way to it is shut" in world.result.error_msg


def test_a_way_that_opens_in_time_is_taken():
    world = known_chair_world(config=LoopConfig(recovery=RecoveryConfig(search_time=20.0)))
    towards = world.answers["semantic_map"]
    world.answers["semantic_map"] = _no_viewpoint
    world.answers["frontier"] = exploring(*[(2.0 + 0.5 * i, 8.0, 0.0) for i in range(12)])
    world.loop._transitions.redecide(world.loop._context.run)
    world.run(10.0)
    world.answers["semantic_map"] = towards
    world.run()
    assert world.result.success


def test_a_goal_that_is_refused_as_out_of_reach_is_left_out_and_another_side_is_taken():
    """Without the exclusion, its expert would propose the same goal in every epoch."""
    world = known_chair_world()
    asked = []
    towards = world.answers["semantic_map"]
    world.answers["semantic_map"] = lambda request: asked.append(request) or towards(request)
    for x0, x1, y0, y1 in (
        (6.8, 6.9, 4.6, 5.4),
        (7.5, 7.6, 4.6, 5.4),
        (6.8, 7.6, 4.6, 4.7),
        (6.8, 7.6, 5.3, 5.4),
    ):
        block(world, x0, x1, y0, y1)
    world.loop._transitions.redecide(world.loop._context.run)
    world.run(60.0)
    assert world.result.success and math.dist(world.pose[:2], FACING[:2]) > 0.5
    refused = [any(math.dist(goal[:2], FACING[:2]) < 0.1 for goal in one.excluded_goals) for one in asked]
    assert not refused[0] and all(refused[1:])


def _shut(world) -> list[bool]:
    """Abort each drive to the target while the returned list holds True."""
    is_shut, drive = [True], world._drive

    def abort_near_the_target() -> None:
        is_near = world.goal is not None and math.dist(world.goal[:2], TARGET.mean[:2]) < 1.2
        world.abort_with = NO_PATH if is_shut[0] and is_near else None
        drive()

    world._drive = abort_near_the_target
    return is_shut


def _world_of_a_shut_thing():
    world = known_chair_world(config=LoopConfig(recovery=RecoveryConfig(search_time=20.0)))
    is_shut = _shut(world)
    world.answers["frontier"] = exploring(*[(2.0 + 0.5 * i, 8.0, 0.0) for i in range(12)])
    return world, is_shut


def test_what_was_given_up_is_tried_once_more_before_the_search_ends():
    world, is_shut = _world_of_a_shut_thing()
    run = world.loop._context.run
    world.run(until=lambda: run.errand.tried_again)
    assert run.errand.tried_again and world.result is None
    is_shut[0] = False
    world.run()
    assert world.result.success and world.result.entity_ids == (7,)


def test_what_stays_shut_ends_the_search_after_one_more_try():
    world, _ = _world_of_a_shut_thing()
    world.run(290.0)
    assert world.result.error_code is ErrorCode.TARGET_UNREACHABLE
    assert world.now < 200.0 and "the way to it is shut" in world.result.error_msg


def _door(world, is_shut: bool) -> None:
    """Put a wall at x = 5 m with a door of 1 m at y = 5 m, closed or open."""
    grid = world.loop._context.facts.grid
    cells = room().cells.copy()
    cells[:45, 50] = cells[55:, 50] = 100
    cells[45:55, 50] = 100 if is_shut else 0
    world.loop.on_grid(replace(grid, cells=cells))


def test_a_door_that_was_shut_is_looked_at_again_before_the_search_ends():
    """The search went on elsewhere, so the robot did not see the door open."""
    world = known_chair_world(config=LoopConfig(recovery=RecoveryConfig(search_time=20.0)))
    towards = world.answers["semantic_map"]
    run = world.loop._context.run
    _door(world, is_shut=True)
    abort(world, *NO_PATH)
    world.answers["semantic_map"] = _no_viewpoint
    world.answers["frontier"] = exploring(*[(1.0 + 3.0 * (i % 2), 8.0 + 0.1 * i, 0.0) for i in range(7)])
    world.run(60.0, until=lambda: run.errand.tried_again)
    assert run.errand.tried_again and world.result is None
    assert "looking once more at what shut the way to a red chair" in run.text
    world.run(30.0, until=lambda: world.loop.state is State.WAITING)
    assert 0.9 < math.dist(world.pose[:2], (5.0, 5.0)) < 2.3
    world.run(5.0)
    assert world.loop.state is State.WAITING and "Waiting for the way to a red chair" in run.text
    _door(world, is_shut=False)
    world.answers["semantic_map"] = towards
    world.run()
    assert world.result.success and world.result.entity_ids == (7,)


def test_a_door_that_stays_shut_ends_the_search():
    world = known_chair_world(config=LoopConfig(recovery=RecoveryConfig(search_time=20.0)))
    _door(world, is_shut=True)
    abort(world, *NO_PATH)
    world.answers["semantic_map"] = _no_viewpoint
    world.answers["frontier"] = exploring(*[(1.0 + 3.0 * (i % 2), 8.0 + 0.1 * i, 0.0) for i in range(7)])
    world.run(120.0)
    assert world.result.error_code is ErrorCode.TARGET_UNREACHABLE
    assert "the way to it is shut" in world.result.error_msg


def test_the_shut_door_is_looked_at_again_where_everything_else_is_explored():
    world = known_chair_world(config=LoopConfig(recovery=RecoveryConfig(search_time=500.0)))
    towards = world.answers["semantic_map"]
    run = world.loop._context.run
    _door(world, is_shut=True)
    abort(world, *NO_PATH)
    world.answers["semantic_map"] = _no_viewpoint
    world.answers["frontier"] = exploring((3.0, 8.0, 0.0))
    world.run(90.0, until=lambda: run.errand.tried_again)
    assert run.errand.tried_again and world.result is None
    _door(world, is_shut=False)
    world.answers["semantic_map"] = towards
    world.run()
    assert world.result.success

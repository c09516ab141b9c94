"""Tests of the ends of errands: no state passes to the next errand, and no goal is sent for ever."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from agent_fakes import World, entity, exploring, find, proposal, room, thing, towards_target
from test_loop_places import know_rooms

from lodestar.agent.errands.commands import CancelGoal, SendGoal, State
from lodestar.agent.facts.config import LOOP_PLACE_TRIES, LoopConfig
from lodestar.agent.facts.errors import ErrorCode
from lodestar.agent.loop.navigating import LOOP_MAX_NAVIGATION_FAILURES
from lodestar.experts.protocol import Rejection, RejectionReason
from lodestar.grid.energy import EnergyBudget
from lodestar.language.directive import UNTIL_CANCELLED, Directive, Pose, Scope, Step, StepKind
from lodestar.worldmodel.records import TraceError, Verdict


def do(*steps: Step, **changes) -> Directive:
    return Directive("a directive", steps, **changes)


def once(goal):
    """Return an explorer that has one goal, and reports on a review that nothing is left there."""
    asked = []

    def answer(request):
        asked.append(request)
        return goal if len(asked) == 1 else None

    return answer


def stops_short(world: World, beyond: float, at: float) -> None:
    """Make the navigator report success for goals with x > beyond, with the robot at x = at."""
    carry_out = world._carry_out

    def stopped(command):
        if isinstance(command, SendGoal) and command.goal[0] > beyond:
            command = replace(command, goal=np.array([at, *command.goal[1:]]))
        carry_out(command)

    world._carry_out = stopped


@pytest.mark.parametrize(
    "then", [Step(StepKind.WAIT, seconds=20.0), Step(StepKind.ASK, question="where is the mug?")]
)
def test_a_step_that_ends_takes_its_goal_back(then):
    world = World(answers={"frontier": once(proposal(8.0, 8.0))})
    world.loop.start(do(Step(StepKind.EXPLORE), then, Step(StepKind.GO, pose=Pose(2.0, 3.0))), 0.0)
    world.run(until=lambda: world.loop.state is State.WAITING)
    assert world.goal is None and world.of(CancelGoal)
    world.run(100.0)
    assert world.result is not None and "transition" not in world.result.error_msg
    assert math.dist(world.pose[:2], (2.0, 3.0)) < 0.5


def test_a_goal_is_watched_while_the_next_one_is_decided_on():
    # the second answer is to a review of the current goal
    said = iter([proposal(8.0, 8.0), RejectionReason.EXPLORED])

    def answer(request):
        one = next(said, RejectionReason.NO_PROPOSAL)
        if not isinstance(one, RejectionReason):
            return one
        return Rejection("frontier", request.epoch, one, "stands too near an obstacle")

    world = World(config=LoopConfig(stuck_time=3.0, no_expert_timeout=60.0), answers={})
    world._answer = lambda name, request: (
        replace(found, epoch=request.epoch, expert=name)
        if name == "frontier" and (found := answer(request)) is not None
        else Rejection(name, request.epoch, RejectionReason.NO_PROPOSAL, "nothing")
    )
    world.loop.start(find(), 0.0)
    world.run(until=lambda: world.loop.state is State.NAVIGATING)
    world.run(until=lambda: world.loop.state is State.DECIDING)
    world._drive = lambda: None  # from now on the robot is held, without navigation events
    world.run(10.0, until=lambda: world.goal is None)
    assert world.goal is None and world.result is None


def test_a_late_answer_to_an_earlier_stop_is_dropped():
    world = World()
    world.mirror.put(entity(7, 8.0, 5.0), entity(9, 2.0, 8.0, "green table"))
    world.targets.scores = {7: 0.9}
    asked = []
    world.answers = {
        "semantic_map": lambda request: towards_target(request) if "chair" in request.step.target else None,
        "ego_vlm": lambda request: asked.append(request) or "silent",
        "frontier": exploring((5.0, 8.0, 0.0), (8.0, 8.0, 0.0), (2.0, 5.0, 0.0)),
    }
    world.loop.start(do(Step(StepKind.PATROL, stops=(thing("red chair"), thing("green table")))), 0.0)
    world.run(until=lambda: world.loop._context.run.errand.number == 1)
    sent = len(world.of(SendGoal))
    late = proposal(7.2, 5.0, confidence=0.95, entity_id=7)
    world.loop.on_answer(replace(late, epoch=asked[0].epoch, expert="ego_vlm"))
    world.run(60.0)
    assert all(command.entity_id != 7 for command in world.of(SendGoal)[sent:])


def test_a_patrol_goes_on_after_six_failed_drives_to_one_stop():
    world = World(step=0.2)
    world.mirror.put(entity(7, 8.0, 5.0), entity(9, 2.0, 8.0, "green table"))
    world.targets.scores = {9: 0.9}
    asked = set()

    def answer(request):
        asked.add(request.step.target)
        n = len(world.of(SendGoal))
        return proposal(3.0 + 0.5 * (n % 8), 2.0 + 0.5 * (n // 8))

    world.answers, world.abort_with = {"frontier": answer}, (208, "no valid path")
    world.loop.start(do(Step(StepKind.PATROL, stops=(thing("red chair"), thing("green table")))), 0.0)
    world.run()
    assert asked == {"red chair", "green table"} and world.result.error_code is ErrorCode.NAVIGATION_FAILED


def test_a_charger_that_is_never_come_to_ends_the_directive():
    world = World(answers={"frontier": exploring((8.0, 8.0, 0.0), (2.0, 8.0, 0.0))}, step=0.25)
    carry_out = world._carry_out

    def stopped(command):
        if isinstance(command, SendGoal) and command.expert == "charger":
            command = replace(command, goal=np.array([3.5, 2.0, 0.0]))
        carry_out(command)

    world._carry_out = stopped
    world.loop.on_energy(EnergyBudget(range_left=12.0, charger=(2.5, 2.0), reserve=2.0))
    world.loop.start(do(Step(StepKind.EXPLORE), times=UNTIL_CANCELLED), 0.0)
    world.run(600.0)
    assert world.result.error_code is ErrorCode.ENERGY and "Could not come back" in world.result.error_msg
    assert sum(command.expert == "charger" for command in world.of(SendGoal)) == LOOP_PLACE_TRIES


@pytest.mark.parametrize(
    "kind", [StepKind.GO, StepKind.PATROL, StepKind.LIST, StepKind.COUNT, StepKind.EXPLORE]
)
def test_a_room_that_is_never_come_into_is_given_up(kind):
    world = World(step=0.2)
    know_rooms(world)
    stops_short(world, beyond=5.0, at=4.9)
    bedroom, scope = thing("bedroom"), Scope(rooms=thing("bedroom").best)
    step = {
        StepKind.GO: Step(StepKind.GO, bedroom),
        StepKind.PATROL: Step(StepKind.PATROL),
        StepKind.COUNT: Step(StepKind.COUNT, thing("mug"), scope=scope),
    }.get(kind, Step(kind, scope=scope))
    world.loop.start(do(step), 0.0)
    world.run(400.0)
    assert world.result.error_code is ErrorCode.TARGET_UNREACHABLE
    assert len(world.of(SendGoal)) <= 2 * LOOP_PLACE_TRIES


def test_a_goal_in_a_zone_is_refused_with_the_words_of_the_validator():
    grid = room()
    zone = np.zeros(grid.cells.shape, bool)
    zone[55:75, 55:75] = True
    world = World(grid=replace(grid, keep_out=zone))
    world.loop.start(do(Step(StepKind.GO, pose=Pose(6.5, 6.5))), 0.0)
    world.run(30.0)
    assert not world.of(SendGoal) and "keep-out zone" in world.result.error_msg


def test_after_the_clock_went_back_nothing_seen_before_counts_as_seen_again():
    world = World(answers={"semantic_map": towards_target}, step=0.1)
    world.targets.scores = {7: 0.9}
    world.mirror.put(entity(7, 8.0, 5.0, last_seen=990.0))
    world.now = 1000.0
    world.loop.on_pose(world.pose, 1000.0)
    world.loop.on_sight(1000.0)
    world.loop.restart_clock(0.0)
    world.now, world.sees = 0.0, False
    world.loop.on_pose(world.pose, 0.01)
    world.loop.start(find(), 0.0)
    world.run(120.0)
    assert world.result is not None and not world.result.success


def test_a_new_directive_finds_nothing_driven_before_backtracking():
    world = World(step=0.2, answers={"frontier": exploring((8.0, 8.0, 0.0), (2.0, 8.0, 0.0))})
    world.loop.start(do(Step(StepKind.EXPLORE)), 0.0)
    world.run()
    builder = world.loop._context.ledger.builder
    assert builder.backtracks((5.0, 5.0, 0.0))
    world.loop.start(find(), world.now)
    assert not builder.backtracks((5.0, 5.0, 0.0))


def test_the_way_back_round_a_wall_is_planned():
    grid = room(side=20.0)
    grid.cells[:185, 98:102] = 100
    world = World(grid=grid)
    world.pose = np.array([11.5, 1.5, 0.0])
    world.loop.on_pose(world.pose, 0.01)
    world.answers = {"frontier": exploring((11.5, 4.0, 0.0), (15.0, 4.0, 0.0))}
    world.loop.on_energy(EnergyBudget(range_left=30.0, charger=(8.5, 1.5), reserve=5.0))
    world.loop.start(do(Step(StepKind.EXPLORE)), 0.05)
    world.run(5.0, until=lambda: world.of(SendGoal))
    assert world.of(SendGoal)[0].expert == "charger", "35 m of way are longer than the battery lasts"


def test_failed_drives_and_short_arrivals_at_one_place_add_up():
    """A short arrival does not reset the count of failed drives before it."""
    world = World(step=0.2)
    carry_out, sent = world._carry_out, []

    def carried_out(command):
        if isinstance(command, SendGoal) and command.expert == "place":
            sent.append(command)
            falls_short = len(sent) % 3 == 0
            world.abort_with = None if falls_short else (208, "no valid path")
            command = replace(command, goal=np.array([3.0, 3.0, 0.0])) if falls_short else command
        elif isinstance(command, SendGoal):
            world.abort_with = None
        carry_out(command)

    world._carry_out = carried_out
    world.loop.start(do(Step(StepKind.GO, pose=Pose(8.0, 8.0))), 0.0)
    world.run(600.0)
    assert world.result.error_code is ErrorCode.NAVIGATION_FAILED
    assert len(sent) <= LOOP_PLACE_TRIES + LOOP_MAX_NAVIGATION_FAILURES - 1


class Strict:
    """Validator that records accepted traces, and rejects all once `is_shut`."""

    def __init__(self, validator):
        self._validator, self.accepted, self.is_shut = validator, [], False

    def check(self, trace, now=None):
        verdict = self._validator.check(trace, now)
        if self.is_shut:
            return Verdict(TraceError.INCONSISTENT, "shut")
        if verdict.accepted:
            self.accepted.append(np.array(trace.action.goal))
        return verdict

    def fits(self, pose):
        return self._validator.fits(pose)

    def way_back(self, grid, place):
        return self._validator.way_back(grid, place)


@pytest.mark.parametrize("shuts", [False, True], ids=["open", "shut after the first goal"])
@pytest.mark.parametrize(
    "code", [(208, "no valid path"), (106, "stuck"), (0, "")], ids=["no way", "stuck", "fine"]
)
def test_no_goal_leaves_the_loop_without_the_validators_word(code, shuts):
    """Steps aside, looks and resent goals are validated too."""
    world = World(step=0.2, answers={"semantic_map": towards_target, "frontier": exploring((2.0, 8.0, 0.0))})
    world.mirror.put(entity(7, 8.0, 5.0))
    world.targets.scores = {7: 0.9}
    world.abort_with = code if code[0] else None
    strict = world.loop._context.validator = Strict(world.loop._context.validator)
    world.loop.start(do(Step(StepKind.FIND, thing("red chair")), Step(StepKind.RETURN)), 0.0)
    checked, end = 0, world.now + 120.0
    while world.result is None and world.now < end:
        world.advance()
        for command in world.of(SendGoal)[checked:]:
            assert any(np.allclose(command.goal, goal) for goal in strict.accepted), command.expert
            assert not strict.is_shut
        checked = len(world.of(SendGoal))
        strict.is_shut = shuts and checked > 0
    assert world.result is not None and world.result.error_code is not ErrorCode.UNKNOWN
    kinds = {command.expert for command in world.of(SendGoal)}
    assert shuts or not code[0] or "retreat" in kinds

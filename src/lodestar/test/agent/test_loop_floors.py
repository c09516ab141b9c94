"""Tests of the loop between floors: no goals while the floor is unknown, and none of a floor that was left."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from agent_fakes import World, exploring, find
from hypothesis import given, settings
from hypothesis import strategies as st

from lodestar.agent.errands.commands import CancelSkill, PassageFailed, SendGoal, SkillEnd, State, TakePassage
from lodestar.agent.facts.config import LoopConfig
from lodestar.agent.facts.errors import ErrorCode
from lodestar.floors.config import FloorsConfig
from lodestar.floors.records import Building, Floor, Passage, PassageKind
from lodestar.grid.energy import EnergyBudget
from lodestar.language.directive import Directive, Scope, Step, StepKind
from lodestar.language.items import EVERY_LEVEL

FLIGHT = Passage(1, PassageKind.STAIRS, (6.0, 5.0), (11.0, 5.0), 0.0, lower=1, upper=2, slope=0.52, rise=2.8)
FLOORS = (Floor(1, 0, 0.0), Floor(2, 1, 2.8))
FIRST = Building(FLOORS, (FLIGHT,), active=1)
SECOND, BETWEEN = replace(FIRST, active=2), replace(FIRST, active=0, note="I am between two floors")
FAR = ((8.0, 8.0, 0.0), (8.0, 2.0, 0.0), (2.0, 8.0, 0.0), (5.0, 5.0, 0.0))


def world(building: Building = FIRST, stairs: bool = True) -> World:
    made = World(answers={"frontier": exploring(*FAR)}, config=LoopConfig(floors=FloorsConfig(stairs=stairs)))
    made.loop.on_building(building)
    return made


def to_level(level: int) -> Directive:
    step = find().steps[0]
    return Directive(f"find it on level {level}", (replace(step, scope=Scope(level=level)),))


def cross(made: World) -> TakePassage:
    """Run until the robot takes the flight of stairs; return the command."""
    made.run(until=lambda: made.loop.state is State.CROSSING)
    made.advance()
    return made.of(TakePassage)[-1]


@given(seconds=st.floats(0.3, 12.0), energy=st.sampled_from([math.inf, 14.0, 6.0]))
@settings(max_examples=15, deadline=None)
def test_it_has_no_goal_while_its_floor_is_not_known(seconds: float, energy: float) -> None:
    made = world()
    if math.isfinite(energy):
        made.loop.on_energy(EnergyBudget(range_left=energy, charger=(2.0, 2.0), reserve=2.0))
    made.loop.start(find(), 0.0)
    made.run(seconds)
    if made.result is not None:
        return
    made.loop.on_building(BETWEEN)
    made.advance()
    assert made.goal is None
    sent = len(made.of(SendGoal))
    made.run(60.0)
    assert len(made.of(SendGoal)) == sent
    assert made.result.error_code is ErrorCode.OTHER_FLOOR and "between two floors" in made.result.error_msg


def test_each_time_without_a_floor_has_its_own_patience() -> None:
    made = world()
    made.loop.start(find(), 0.0)
    for _ in range(3):
        made.run(1.0)
        made.loop.on_building(BETWEEN)
        made.run(15.0)
        made.loop.on_building(FIRST)
        made.run(1.0)
    assert made.result is None


def test_who_was_carried_to_another_floor_has_no_goal_of_the_former_one() -> None:
    made = world()
    made.loop.start(find(), 0.0)
    made.run(2.0)
    errand = made.loop._context.run.errand
    for building in (BETWEEN, SECOND):
        made.loop.on_building(building)
        made.run(1.0)
    assert made.loop._context.run.errand is not errand
    assert made.goal is not None and "second floor" in made.loop._context.run.report[-1]


def test_a_pause_on_the_steps_ends_the_walk_and_no_goal_follows() -> None:
    made = world()
    made.loop.start(to_level(1), 0.0)
    ticket = cross(made).ticket
    made.loop.on_building(BETWEEN)
    sent = len(made.of(SendGoal))
    made.loop.pause(True, made.now)
    assert not made.loop.motion_allowed
    made.advance()
    assert [one.ticket for one in made.of(CancelSkill)] == [ticket]
    made.loop.pause(False, made.now)
    made.run(60.0)
    assert len(made.of(SendGoal)) == sent and len(made.of(TakePassage)) == 1
    assert made.result.error_code is ErrorCode.OTHER_FLOOR


def test_the_time_limit_does_not_leave_it_on_the_steps() -> None:
    made = world()
    made.loop.start(to_level(1), 0.0, time_limit=20.0)
    command = cross(made)
    made.loop.on_building(BETWEEN)
    made.run(30.0)
    assert made.loop.state is State.CROSSING and made.loop.motion_allowed
    made.loop.on_skill(command.ticket, SkillEnd(True, ""))
    made.loop.on_building(SECOND)
    made.run(10.0)
    assert made.result.error_code is ErrorCode.TIME_LIMIT


@pytest.mark.parametrize("way", ["cancel", "hold", "pose"])
def test_whatever_stops_it_on_the_steps_cancels_the_walk(way: str) -> None:
    made = world()
    made.loop.start(to_level(1), 0.0)
    ticket = cross(made).ticket
    if way == "cancel":
        made.loop.cancel(made.now)
    elif way == "hold":
        made.loop.hold(True, made.now)
    else:
        for command in made.loop.tick(made.now + 6.0):  # ticks without any new pose
            made.commands.append(command)
    assert not made.loop.motion_allowed
    made.advance()
    assert [one.ticket for one in made.of(CancelSkill)] == [ticket]


def back() -> Directive:
    return Directive("come back", (Step(StepKind.RETURN),))


def test_it_comes_back_to_the_floor_where_it_started() -> None:
    made = world()
    down = replace(FLIGHT, low=(14.0, 5.0), high=(8.0, 5.0), heading=math.pi)
    made.run(0.5)
    for building in (BETWEEN, SECOND):
        made.loop.on_building(replace(building, passages=(down,)))
    made.loop.start(back(), made.now)
    assert cross(made).passage == down
    made.loop.on_building(BETWEEN)
    made.loop.on_skill(made.of(TakePassage)[-1].ticket, SkillEnd(True, ""))
    made.pose = np.array([8.0, 8.0, 0.0])
    made.loop.on_building(FIRST)
    made.run(60.0)
    assert made.result.success and math.dist(made.pose[:2], (2.0, 2.0)) < 0.3


def test_without_a_way_back_it_says_so() -> None:
    for stairs in (True, False):
        made = world(replace(FIRST, passages=()), stairs)
        made.answers = {}
        made.run(0.5)
        made.loop.on_building(replace(SECOND, passages=()))
        made.loop.start(back(), made.now)
        made.run(60.0)
        assert not made.result.success and not made.of(SendGoal)
        assert "cannot come" in made.result.error_msg or "no way" in made.result.error_msg


def test_a_charger_on_another_floor_is_not_gone_to_on_this_one() -> None:
    made = world(replace(FIRST, passages=()))
    made.run(0.5)
    made.loop.on_building(replace(SECOND, passages=()))
    made.loop.on_energy(EnergyBudget(range_left=3.0, charger=(4.0, 2.0), reserve=2.0))
    made.loop.start(find(), made.now)
    made.run(60.0)
    assert made.result.error_code is ErrorCode.ENERGY and "another floor" in made.result.error_msg
    assert not [one for one in made.of(SendGoal) if one.expert == "charger"]


@given(
    x=st.floats(2.5, 7.5),
    left=st.floats(3.0, 40.0),
    kind=st.sampled_from(list(PassageKind)),
    others=st.booleans(),
)
@settings(max_examples=25, deadline=None)
def test_the_way_back_takes_nothing_that_the_operator_does_not_allow(x, left, kind, others) -> None:
    """This holds for walks and for the battery's way back; the robot reports the reason."""
    down = replace(FLIGHT, kind=kind, low=(14.0, 5.0), high=(8.0, 5.0), heading=math.pi)
    stairs = kind is not PassageKind.STAIRS and others
    made = World(
        answers={"frontier": exploring(*FAR)},
        config=LoopConfig(floors=FloorsConfig(stairs=stairs, lifts=kind is not PassageKind.LIFT and others)),
    )
    made.loop.on_building(FIRST)
    made.run(0.5)
    made.loop.on_energy(EnergyBudget(range_left=left, charger=(4.0, 2.0), reserve=2.0))
    made.pose = np.array([x, 5.0, 0.0])
    for building in (BETWEEN, SECOND):
        made.loop.on_building(replace(building, passages=(down,)))
    made.run(0.5)
    facts = made.loop._context.facts
    assert facts.energy.charger == (4.0, 2.0) and facts.energy.range_left == pytest.approx(left, abs=x)
    made.loop.on_energy(EnergyBudget(range_left=2.5, charger=(4.0, 2.0), reserve=2.0))
    made.loop.start(find(), made.now)
    made.run(60.0)
    assert not made.of(TakePassage) and not [one for one in made.of(SendGoal) if one.expert == "charger"]
    assert made.result.error_code is ErrorCode.ENERGY and "another floor" in made.result.error_msg
    word = "stairs" if kind is PassageKind.STAIRS or not others else "lifts"
    assert f"I may not take {word}" in made.result.error_msg
    assert not any(line.startswith("Going back") for line in made.result.report.splitlines())


@given(level=st.one_of(st.integers(-9, -1), st.integers(3, 300)), kind=st.sampled_from(list(PassageKind)))
@settings(max_examples=15, deadline=None)
def test_a_level_that_the_building_does_not_have_is_neither_sought_nor_ridden_to(level, kind) -> None:
    """A lift would lead to any level, so people would be asked to press the button."""
    config = FloorsConfig(stairs=True, lifts=True, lowest=0, highest=2)
    made = World(answers={"frontier": exploring(*FAR)}, config=LoopConfig(floors=config))
    made.loop.on_building(replace(FIRST, passages=(replace(FLIGHT, kind=kind),)))
    made.loop.start(to_level(level), 0.0)
    made.run(20.0)
    assert made.result.error_code is ErrorCode.OTHER_FLOOR and "has no" in made.result.error_msg
    assert not made.of(TakePassage) and not made.of(SendGoal)


def test_a_level_between_two_floors_is_no_reason_to_go_to_and_fro() -> None:
    made = world(replace(FIRST, floors=(Floor(1, 0, 0.0), Floor(2, 2, 6.0))))
    made.answers = {}
    made.loop.start(to_level(1), 0.0)
    made.run(60.0)
    assert not made.of(TakePassage) and made.result.error_code is ErrorCode.OTHER_FLOOR


def test_a_passage_that_fails_is_given_up_and_the_directive_ends() -> None:
    made = world()
    made.answers = {}
    made.loop.start(to_level(1), 0.0)
    while made.now < 300.0 and made.result is None:
        taken = len(made.of(TakePassage))
        made.run(until=lambda taken=taken: len(made.of(TakePassage)) > taken)
        if len(made.of(TakePassage)) == taken:
            break
        made.loop.on_skill(made.of(TakePassage)[-1].ticket, SkillEnd(False, "somebody is in the way"))
        made.advance()
        made.advance()
        if len(made.of(PassageFailed)) >= 2:
            made.loop.on_building(replace(FIRST, passages=(replace(FLIGHT, refused="somebody stood there"),)))
    assert made.result.error_code is ErrorCode.OTHER_FLOOR and "somebody stood there" in made.result.error_msg


@given(left=st.floats(8.0, 60.0), x=st.floats(2.0, 8.0))
@settings(max_examples=20, deadline=None)
def test_the_way_back_to_a_charger_on_another_floor_leads_over_the_flight(left: float, x: float) -> None:
    made = world()
    made.run(0.5)
    made.loop.on_energy(EnergyBudget(range_left=left, charger=(4.0, 2.0), reserve=2.0))
    down = replace(FLIGHT, low=(14.0, 5.0), high=(8.0, 5.0), heading=math.pi)
    facts = made.loop._context.facts
    before = facts.energy
    made.pose = np.array([x, 5.0, 0.0])
    for building in (BETWEEN, SECOND):
        made.loop.on_building(replace(building, passages=(down,)))
    made.run(0.5)
    assert facts.energy.charger == pytest.approx((8.0, 5.0))
    run = 2.8 / 0.52
    beyond = min(run + math.dist(down.low, (4.0, 2.0)), before.range_left)
    assert facts.energy.range_left <= before.range_left - beyond + 1e-6
    made.loop.on_building(replace(FIRST, passages=(down,)))
    made.run(0.5)
    assert facts.energy.charger == (4.0, 2.0)


def test_a_patrol_of_all_floors_goes_to_the_next_one() -> None:
    made = world()
    made.answers = {}
    patrol = Step(StepKind.PATROL, scope=Scope(level=EVERY_LEVEL))
    made.loop.start(Directive("patrol all floors", (patrol,)), 0.0)
    assert cross(made).passage == FLIGHT
    made.loop.on_building(BETWEEN)
    made.loop.on_skill(made.of(TakePassage)[-1].ticket, SkillEnd(True, ""))
    made.loop.on_building(SECOND)
    made.run(60.0)
    # no passage was taken again, as no third floor is known
    assert made.result is not None and len(made.of(TakePassage)) == 1

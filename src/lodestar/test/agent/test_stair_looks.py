"""Tests that each possible staircase is looked at from near before the robot reports that it knows no way."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from agent_fakes import World, entity, exploring, find
from hypothesis import given, settings
from hypothesis import strategies as st

from lodestar.agent.errands.commands import SendGoal, TakePassage
from lodestar.agent.facts.config import LoopConfig
from lodestar.agent.facts.errors import ErrorCode
from lodestar.floors.config import FloorsConfig
from lodestar.floors.records import Building, Floor, Hint, Passage, PassageKind
from lodestar.language.directive import Directive, Scope

GROUND = Building((Floor(1, 0, 0.0),), active=1, is_told=True)
PLACES = st.lists(st.tuples(st.floats(3.5, 8.5), st.floats(1.5, 8.5)), min_size=1, max_size=4)


def made(places, stairs: bool = True, answers=None) -> World:
    world = World(answers=answers or {}, config=LoopConfig(floors=FloorsConfig(stairs=stairs)))
    hints = tuple(Hint(1, place) for place in places)
    world.loop.on_building(replace(GROUND, hints=hints))
    return world


def upstairs() -> Directive:
    return Directive("find it on level 1", (replace(find().steps[0], scope=Scope(level=1)),))


def looked_at(world: World, place) -> bool:
    """Return whether a goal of the robot faced a place from near."""
    for goal in (np.asarray(one.goal) for one in world.of(SendGoal)):
        bearing = math.atan2(place[1] - goal[1], place[0] - goal[0])
        turned = abs(math.remainder(bearing - goal[2], math.tau))
        if math.dist(goal[:2], place) < 2.5 and turned < math.radians(60.0):
            return True
    return False


@given(places=PLACES, named=st.booleans())
@settings(max_examples=12, deadline=None)
def test_every_hint_is_looked_at_before_it_says_that_it_knows_of_no_way(places, named) -> None:
    for directive in (upstairs(), find()):
        world = made(() if named else places)
        if named:
            for i, place in enumerate(places):
                world.mirror.put(entity(50 + i, *place, "wooden stairs"))
        world.loop.start(directive, 0.0)
        world.run(600.0)
        assert world.result is not None and not world.result.success
        assert all(looked_at(world, place) for place in places)
        sent = [tuple(np.round(one.goal, 2)) for one in world.of(SendGoal)]
        assert len(sent) <= len(places)  # each place is visited once, as none was confirmed


@given(places=PLACES)
@settings(max_examples=6, deadline=None)
def test_a_robot_that_may_take_no_stairs_decides_as_without_hints(places) -> None:
    goals = []
    for hints in ((), places):
        world = made(hints, stairs=False, answers={"frontier": exploring((8.0, 8.0, 0.0))})
        world.loop.start(find(), 0.0)
        world.run(30.0)
        goals.append([(one.expert, *np.round(one.goal, 6)) for one in world.of(SendGoal)])
    assert goals[0] == goals[1]


def test_a_look_that_shows_a_flight_leads_to_it() -> None:
    world = made([(8.0, 5.0)])
    world.loop.start(upstairs(), 0.0)
    world.run(until=lambda: looked_at(world, (8.0, 5.0)) and world.goal is None)
    flight = Passage(1, PassageKind.STAIRS, (8.0, 5.0), (12.0, 5.0), 0.0, lower=1, slope=0.5)
    world.loop.on_building(replace(GROUND, passages=(flight,)))
    world.run(60.0, until=lambda: bool(world.of(TakePassage)))
    assert world.of(TakePassage)[-1].passage == flight


def test_a_hint_that_no_way_leads_to_ends_nothing() -> None:
    world = made([(40.0, 40.0)])
    world.loop.start(upstairs(), 0.0)
    world.run(120.0)
    assert world.result.error_code is ErrorCode.OTHER_FLOOR and not world.of(SendGoal)


def test_a_flight_that_may_be_too_steep_is_looked_at_once_and_a_steep_one_never() -> None:
    for slope, shown, looks in ((0.60, 1.2, 1), (0.60, 4.0, 1), (0.60, 9.0, 0), (0.80, 1.2, 0)):
        flight = Passage(
            1, PassageKind.STAIRS, (8.0, 5.0), (8.0 + shown, 5.0), 0.0, lower=1, slope=slope, refused="steep"
        )
        world = made([(8.0, 5.0)] if looks else [])  # hints as published for doubtful stairs
        world.mirror.put(entity(50, 8.3, 5.0, "stairs"))
        world.loop.on_building(replace(world.loop._context.facts.building, passages=(flight,)))
        world.loop.start(upstairs(), 0.0)
        world.run(300.0)
        assert looked_at(world, (8.0, 5.0)) is bool(looks) and not world.of(TakePassage)
        assert world.result.error_code is ErrorCode.OTHER_FLOOR

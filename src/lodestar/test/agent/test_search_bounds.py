"""Tests of a search while the known object is behind a blocked path: it ends in time, and no look costs too much."""

from __future__ import annotations

import math

import numpy as np
import pytest
from agent_fakes import TARGET, exploring, proposal, room, thing, towards_target
from hypothesis import given, settings
from hypothesis import strategies as st
from recovery_world import NO_PATH, known_chair_world
from test_absence import EVERYWHERE, cut_room, looked_from

from lodestar.agent.errands.commands import SendGoal
from lodestar.agent.errands.errand import LOOP_MAX_VIEWPOINTS, LOOP_SECOND_VIEWPOINTS, Errand
from lodestar.agent.facts.config import LoopConfig, RecoveryConfig
from lodestar.agent.facts.errors import ErrorCode
from lodestar.experts.absence import ABSENCE_LOOK_TIME, AbsenceJudge
from lodestar.experts.protocol import Rejection, RejectionReason
from lodestar.language.directive import Step, StepKind
from lodestar.models.category_priors import CategoryPriors

CHAIR = Step(StepKind.FIND, thing("red chair"))
DRIVE = 20.0  # s, the longest drive through the room, including its look


def no_viewpoint(request):
    return Rejection(
        "semantic_map", request.epoch, RejectionReason.NO_VIEWPOINT, "no reachable place near it"
    )


def shut_world(recovery: RecoveryConfig, limit: float = 900.0):
    """Return a world whose robot drives to the known chair; every drive near to it fails."""
    world = known_chair_world(config=LoopConfig(recovery=recovery))
    world.loop._context.run.time_limit = limit
    drive = world._drive

    def abort_near_the_target():
        is_near = world.goal is not None and math.dist(world.goal[:2], TARGET.mean[:2]) < 1.2
        world.abort_with = NO_PATH if is_near else None
        drive()

    world._drive = abort_near_the_target
    return world


def endless(seed: int):
    """Return an explorer that always has another goal, at random places that show little."""
    rng = np.random.default_rng(seed)
    return lambda request: proposal(*rng.uniform(1.0, 6.0, 2), float(rng.uniform(-math.pi, math.pi)))


@settings(max_examples=8, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    shut=st.lists(st.booleans(), min_size=1, max_size=6),
    limit=st.sampled_from((40.0, 900.0)),
    least=st.sampled_from((0.0, RecoveryConfig().least_shown)),
)
def test_a_search_behind_a_shut_way_ends_within_its_bound_whatever_is_proposed(seed, shut, limit, least):
    """The known object's expert finds a false path for one question and none for the next."""
    recovery = RecoveryConfig(search_time=10.0, shut_patience=5.0, last_try=20.0, least_shown=least)
    world = shut_world(recovery, limit)
    asked = iter(range(10**9))
    world.answers["semantic_map"] = lambda request: (
        no_viewpoint(request) if shut[next(asked) % len(shut)] else towards_target(request)
    )
    world.answers["frontier"] = endless(seed)
    world.loop._transitions.redecide(world.loop._context.run)
    world.run(1000.0)
    attempts = LOOP_MAX_VIEWPOINTS + LOOP_SECOND_VIEWPOINTS
    bound = recovery.search_time + recovery.shut_patience + (attempts + 2) * DRIVE
    assert world.result.error_code is ErrorCode.TARGET_UNREACHABLE
    assert world.result.duration <= min(limit + 1.0, bound)


def test_without_a_price_it_goes_on_and_with_it_what_shows_nothing_is_not_gone_to():
    """The explorer proposes places that were looked at before, repeatedly."""
    ended = {}
    for least in (0.0, RecoveryConfig().least_shown):
        world = shut_world(RecoveryConfig(search_time=150.0, shut_patience=5.0, least_shown=least))
        world.answers["semantic_map"] = no_viewpoint
        world.answers["frontier"] = endless(1)
        world.loop._transitions.redecide(world.loop._context.run)
        world.run(1000.0)
        assert world.result.error_code is ErrorCode.TARGET_UNREACHABLE
        ended[least] = world.result.duration, len(world.of(SendGoal))
    (dear, many), (cheap, few) = ended.values()
    assert cheap < 0.75 * dear and few < 0.75 * many


def test_a_look_that_shows_much_is_made_though_the_way_is_shut():
    world = shut_world(RecoveryConfig())
    world.answers["semantic_map"] = no_viewpoint
    far = (8.5, 8.5, 0.0)
    world.answers["frontier"] = exploring(far)
    world.loop._transitions.redecide(world.loop._context.run)
    world.run(400.0)
    assert any(math.dist(sent.goal[:2], far[:2]) < 0.1 for sent in world.of(SendGoal))


def test_the_directives_time_ends_a_search_with_what_it_knows():
    """The limit is reached while the robot still searches for another object."""
    world = shut_world(RecoveryConfig(last_try=0.0, least_shown=0.0), limit=30.0)
    world.answers["semantic_map"] = no_viewpoint
    world.answers["frontier"] = endless(2)
    world.loop._transitions.redecide(world.loop._context.run)
    world.run(100.0)
    assert world.result.error_code is ErrorCode.TARGET_UNREACHABLE
    assert (
        "the way to it is shut" in world.result.error_msg and "time limit of 30 s" in world.result.error_msg
    )


@pytest.mark.parametrize("places", [EVERYWHERE[:1], EVERYWHERE[:4], EVERYWHERE])
def test_what_a_look_shows_is_bounded_by_what_is_left_and_falls_with_its_way(places):
    judge = AbsenceJudge(CategoryPriors())
    facts, searched = looked_from(places)
    near = judge.shown_per_second(CHAIR, facts, searched, [facts.pose])
    goals = [np.array([x, y, 0.0]) for x, y in EVERYWHERE]
    rates = [judge.shown_per_second(CHAIR, facts, searched, [goal]) for goal in goals]
    left = judge.belief(CHAIR, facts, searched).missed * 96.0
    assert near == pytest.approx(0.0, abs=0.15), "it was looked at from here, 0.3 m ahead"
    assert all(0.0 <= rate * ABSENCE_LOOK_TIME <= left + 1.0 for rate in rates)
    assert judge.shown_per_second(CHAIR, facts, searched, goals) == pytest.approx(max(rates))


def test_a_place_without_a_way_to_it_shows_nothing():
    facts, searched = looked_from(((2.0, 2.0),), cut_room())
    judge = AbsenceJudge(CategoryPriors())
    assert judge.shown_per_second(CHAIR, facts, searched, [np.array([5.0, 8.0, 0.0])]) == 0.0
    assert judge.shown_per_second(CHAIR, facts, searched, [np.array([8.0, 2.0, 0.0])]) > 0.1


@given(st.lists(st.tuples(st.booleans(), st.floats(0.0, 30.0)), max_size=20))
def test_the_time_behind_a_shut_way_is_the_sum_of_its_intervals(told):
    errand = Errand(LoopConfig())
    now = expected = 0.0
    for is_barred, seconds in told:
        errand.note_barred(is_barred, now)
        now += seconds
        expected += seconds if is_barred else 0.0
        assert errand.barred_for(now) == pytest.approx(expected)


def test_the_room_of_these_tests_is_as_large_as_they_say():
    assert room().free.sum() * 0.01 == pytest.approx(96.0, abs=0.1)

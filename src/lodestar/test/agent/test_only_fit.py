"""Tests of the only thing that fits: taken for the target where its neighbour may have been overlooked."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from agent_fakes import (
    ACCEPT,
    FACING,
    TARGET,
    FakeMirror,
    World,
    camera_at,
    entity,
    exploring,
    proposal,
    room,
)
from hypothesis import given
from hypothesis import strategies as st

from lodestar.agent.decisions.only_fit import ONLY_FIT_INTERVAL, OnlyFit, unmet_neighbours
from lodestar.agent.facts.config import LoopConfig
from lodestar.agent.facts.newest import Facts, Odometer
from lodestar.experts.searched_floor import SearchedFloor
from lodestar.grid.config import LookConfig
from lodestar.language.directive import Directive, Item, Step, StepKind
from lodestar.language.query_graph import Predicate, QueryGraph, QueryVariable
from lodestar.models.category_priors import CategoryPriors
from lodestar.query.targets import TargetView
from lodestar.query.verdict import Candidate

EYES = LookConfig(eyes="nanodet_objectron")  # a third of all suitcases is never seen by them
CORNERS = tuple((float(x), float(y)) for x in (2.0, 5.0, 8.0) for y in (2.0, 5.0, 8.0))


def step_of(relation: str = "NextTo", negated: bool = False, anchor: str = "suitcase", **more) -> Step:
    variables = QueryVariable("red chair", "chair"), QueryVariable(anchor, anchor)
    graph = QueryGraph(variables, (Predicate(relation, (0, 1), negated=negated),))
    return Step(StepKind.FIND, Item(((graph,),)), **more)


def candidate(
    number: int, own: float = 1.0, relation: float = 0.0, name: str = "NextTo suitcase"
) -> Candidate:
    return Candidate(number, 0.1, own, {"red": 1.0, name: relation})


def looked_from(places, limits: LookConfig = EYES, things=(TARGET,)):
    """Return facts and the floor after a turn at each of the places."""
    grid, mirror = room(), FakeMirror()
    mirror.put(*things)
    facts, searched, stamp = Facts(Odometer(LoopConfig())), SearchedFloor(limits), 0.0
    facts.grid, facts.mirror, facts.pose = grid, mirror, np.array([*places[0], 0.0])
    for x, y in places:
        for heading in np.linspace(-math.pi, math.pi, 8, endpoint=False):
            stamp += 1.0
            pose = np.array([x, y, heading])
            searched.note(camera_at(pose), pose, stamp, grid)
    return facts, searched


def judged(step, candidates, facts, searched, explored=False):
    return OnlyFit(CategoryPriors()).of(step, (1, 1), candidates, (), facts, searched, 10.0, explored, ACCEPT)


def test_the_only_chair_is_meant_once_the_rest_was_looked_at_by_eyes_that_overlook_suitcases():
    step, chair = step_of(), candidate(TARGET.id)
    assert judged(step, [chair], *looked_from(((2.0, 2.0),))) is None, (
        "another chair may stand in the unseen part"
    )
    assert judged(step, [chair], *looked_from(CORNERS)) is chair


def test_with_good_eyes_a_chair_without_the_suitcase_is_not_meant():
    assert judged(step_of(), [candidate(TARGET.id)], *looked_from(CORNERS, LookConfig())) is None


@pytest.mark.parametrize(
    ("step", "one"),
    [
        (step_of(negated=True), candidate(TARGET.id, name="not NextTo suitcase")),
        (step_of(), candidate(TARGET.id, own=ACCEPT - 0.1)),
        (step_of(), candidate(TARGET.id, name="InRegion kitchen")),
        (step_of(), candidate(TARGET.id, relation=1.0)),
    ],
    ids=["must not stand there", "another colour", "another room", "no neighbour is missing"],
)
def test_what_does_not_hold_by_itself_is_not_meant(step, one):
    assert judged(step, [one], *looked_from(CORNERS)) is None


@pytest.mark.parametrize(
    "excluded", [(), (TARGET.id,)], ids=["both may be chosen", "one was looked at in vain"]
)
def test_of_two_equal_chairs_none_is_meant(excluded):
    facts, searched = looked_from(CORNERS, things=(TARGET, entity(8, 3.0, 3.0)))
    both, only = [candidate(TARGET.id), candidate(8)], OnlyFit(CategoryPriors())
    assert only.of(step_of(), (1, 1), both, excluded, facts, searched, 10.0, False, ACCEPT) is None


def test_a_neighbour_that_would_have_been_seen_refutes_it_beside_one_that_would_not():
    variables = [QueryVariable(f"{kind}", kind) for kind in ("chair", "suitcase", "television")]
    near = tuple(Predicate("NextTo", (0, i)) for i in (1, 2))
    facts, searched = looked_from(CORNERS)
    only, chances = OnlyFit(CategoryPriors()), []
    for count in (1, 2):
        graph = QueryGraph(tuple(variables[: count + 1]), near[:count])
        both = Candidate(TARGET.id, 0.1, 1.0, {f"NextTo {v.phrase}": 0.0 for v in variables[1 : count + 1]})
        step = Step(StepKind.FIND, Item(((graph,),)))
        chances.append(only._chances(step, [both], facts, searched, ACCEPT)[TARGET.id])
    assert chances[1] < chances[0]


def test_only_the_neighbour_that_is_missing_counts():
    variables = tuple(QueryVariable(kind, kind) for kind in ("chair", "suitcase", "television"))
    graph = QueryGraph(variables, (Predicate("NextTo", (0, 1)), Predicate("NextTo", (0, 2))))
    for missing, kind in (("NextTo suitcase", "suitcase"), ("NextTo television", "television")):
        scores = {"NextTo suitcase": 0.9, "NextTo television": 0.9, missing: 0.0}
        assert unmet_neighbours(Candidate(TARGET.id, 0.1, 1.0, scores), graph, ACCEPT) == [kind]


def test_of_things_of_several_kinds_none_is_presumed():
    step = step_of()
    other = QueryGraph((QueryVariable("mug", "mug"),))
    either = Step(StepKind.FIND, Item(((step.graphs[0],), (other,))))
    assert judged(either, [candidate(TARGET.id)], *looked_from(CORNERS)) is None


def test_where_nothing_is_left_to_explore_a_lower_probability_will_do(monkeypatch):
    facts, searched = looked_from(CORNERS)
    monkeypatch.setattr(OnlyFit, "_chances", lambda *_: {TARGET.id: 0.55})
    assert judged(step_of(), [candidate(TARGET.id)], facts, searched) is None
    assert judged(step_of(), [candidate(TARGET.id)], facts, searched, explored=True) is not None


def test_a_drive_to_it_that_fails_is_not_taken_for_another_thing():
    world = presuming()
    context = world.loop._context
    world.loop.start(Directive("find the red chair next to the suitcase", (step_of(),)), 0.0)
    world.run(600.0, until=lambda: context.search.look(context.run).presumed and world.goal is not None)
    world.abort_with = (1, "blocked")
    world.advance()
    world.abort_with = None
    world.run(600.0)
    assert world.result.success and world.result.entity_ids == (TARGET.id,)
    assert "another thing" not in world.result.report and "mistaken" not in world.result.report


@given(st.lists(st.sampled_from(CORNERS), min_size=1, max_size=9), st.integers(1, 4), st.floats(0.0, 0.59))
def test_the_probabilities_of_candidates_never_exceed_one(places, count, true):
    things = [entity(i, 2.0 * i, 5.0) for i in range(1, count + 1)]
    facts, searched = looked_from(places, things=things)
    ones = [candidate(i, relation=true) for i in range(1, count + 1)]
    chances = OnlyFit(CategoryPriors())._chances(step_of(), ones, facts, searched, ACCEPT)
    assert set(chances) == {one.entity_id for one in ones}
    assert all(0.0 <= chance <= 1.0 for chance in chances.values()) and sum(chances.values()) <= 1.0


def test_it_is_judged_again_after_a_while_and_forgotten_when_excluded():
    only, (facts, searched) = OnlyFit(CategoryPriors()), looked_from(CORNERS)
    step, chair = step_of(), candidate(TARGET.id)
    ask = lambda now, one, *excluded: only.of(  # noqa: E731
        step, (1, 1), [one], excluded, facts, searched, now, False, ACCEPT
    )
    assert ask(0.0, chair) is chair
    assert ask(0.1, chair, TARGET.id) is None, "excluded meanwhile"
    assert ask(0.1, candidate(TARGET.id, own=0.1)) is None, "it does not match any more"
    searched.restart_clock()
    assert ask(0.2, chair) is chair and ask(0.2 + ONLY_FIT_INTERVAL, chair) is None


def presuming() -> World:
    """Return a world in which the robot looks around in a room with one red chair and no suitcase."""
    world = World(config=LoopConfig(look_limits=EYES), speed=2.0, step=0.5)
    world.mirror.put(TARGET)
    shown = [(x + 0.4 * i, y, i * math.pi / 4) for x, y in CORNERS for i in range(8)]
    world.answers = {"frontier": exploring(*shown), "semantic_map": proposal(*FACING, entity_id=TARGET.id)}
    one = candidate(TARGET.id)
    world.targets.look = lambda mirror, step: TargetView((one,) if TARGET.id in mirror.entities else ())
    return world


def test_the_robot_goes_there_claims_it_and_says_what_it_did_not_see():
    world = presuming()
    world.loop.start(Directive("find the red chair next to the suitcase", (step_of(),)), 0.0)
    world.run(600.0)
    assert world.result.success and world.result.entity_ids == (TARGET.id,)
    assert "I saw no suitcase where you said, and may have missed it" in world.result.report
    beliefs = [trace.beliefs for trace in map(_trace, world.commands) if trace is not None]
    assert not any(beliefs), "no relation is claimed that was not seen"


def _trace(command):
    return getattr(command, "trace", None)


def test_a_question_whether_it_is_there_is_not_answered_by_it():
    world = World(config=LoopConfig(look_limits=EYES), speed=2.0, step=0.5)
    world.mirror.put(TARGET)
    world.answers = {"frontier": exploring(*((x, y, 0.0) for x, y in CORNERS))}
    world.targets.look = lambda mirror, step: TargetView((candidate(TARGET.id),))
    asked = replace(step_of(), kind=StepKind.CHECK, question="is there a red chair next to the suitcase")
    world.loop.start(Directive("check", (asked,)), 0.0)
    world.run(700.0)
    assert not world.result.entity_ids

"""Tests of the trace of an action: its beliefs, and the conditions that must hold afterwards."""

from __future__ import annotations

from agent_fakes import TARGET, World, entity, proposal

from lodestar.agent.errands.context import trace_of
from lodestar.language.directive import Item, Step, StepKind
from lodestar.language.query_graph import Predicate, QueryGraph, QueryVariable
from lodestar.query.targets import TargetView
from lodestar.query.verdict import Candidate
from lodestar.worldmodel.records import Belief

BESIDE, LEFT = (Belief(name, ("entity:7", "entity:9")) for name in ("NextTo", "LeftOf"))


def test_relations_must_hold_afterwards_except_those_of_a_point_of_view():
    world = World()
    world.mirror.put(TARGET, entity(9, 9.0, 5.0, "brown desk"))
    variables = (QueryVariable("red chair", "chair"), QueryVariable("desk", "desk"))
    graph = QueryGraph(variables, (Predicate("NextTo", (0, 1)), Predicate("LeftOf", (0, 1))))
    step = Step(StepKind.FIND, Item(((graph,),)))
    candidate = Candidate(7, 0.9, 0.9, bindings={1: 9})
    going = proposal(7.2, 5.0, 0.0, 0.9, 7)
    trace = trace_of(world.loop._context, step, going, 1, TargetView((candidate,), (candidate,)))
    assert trace.beliefs == (BESIDE, LEFT) and trace.expectation.beliefs == (BESIDE,)
    unsure = trace_of(world.loop._context, step, going, 1, TargetView((candidate,)))
    assert unsure.beliefs == unsure.expectation.beliefs == ()

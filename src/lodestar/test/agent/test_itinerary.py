"""Tests of the order of errands: sequence, repetition, stops, and going to an object."""

from __future__ import annotations

import pytest
from agent_fakes import thing

from lodestar.agent.errands.run import Itinerary, errand_of
from lodestar.language.directive import Directive, Item, Pose, Scope, Step, StepKind
from lodestar.language.query_graph import Predicate, QueryGraph, QueryVariable

KITCHEN, CHAIR, LAB = thing("kitchen"), thing("chair"), thing("lab")
GO, FIND, EXPLORE, RETURN, PATROL = (
    StepKind.GO, StepKind.FIND, StepKind.EXPLORE, StepKind.RETURN, StepKind.PATROL,
)  # fmt: skip


def walked(directive: Directive, most: int = 20) -> list[str]:
    itinerary = Itinerary(directive)
    found = [itinerary.errand]
    while not itinerary.is_last and len(found) < most:
        itinerary.advance()
        found.append(itinerary.errand)
    return [f"{errand.kind.name} {errand.target}".strip() for errand in found]


def test_steps_are_done_as_often_as_they_say():
    steps = (Step(EXPLORE, times=2), Step(RETURN))
    assert walked(Directive("t", steps)) == ["EXPLORE", "EXPLORE", "RETURN"]
    assert walked(Directive("t", steps, times=2)) == ["EXPLORE", "EXPLORE", "RETURN"] * 2


def test_a_patrol_is_its_stops_round_by_round():
    patrol = Step(PATROL, stops=(KITCHEN, CHAIR), times=2)
    assert walked(Directive("t", (patrol, Step(RETURN)))) == [*(["GO kitchen", "FIND chair"] * 2), "RETURN"]


def test_what_goes_on_for_ever_has_no_last_errand():
    endless = Directive("t", (Step(PATROL, stops=(KITCHEN,), times=0),))
    assert len(walked(endless)) == 20 and endless.is_endless
    assert Directive("t", (Step(EXPLORE),), times=0).is_endless
    assert Directive("t", (Step(StepKind.WAIT),)).is_endless
    assert not Directive("t", (Step(StepKind.WAIT, seconds=3.0),)).is_endless


def test_the_last_step_alone_is_left_of_a_directive_that_failed():
    itinerary = Itinerary(Directive("t", (Step(EXPLORE, times=0), Step(RETURN)), times=3))
    itinerary.go_to_last()
    assert itinerary.errand.kind is RETURN and itinerary.is_last


def spot(category: str) -> Item:
    variables = (QueryVariable("the front", category), QueryVariable("sofa", "sofa"))
    return Item(((QueryGraph(variables, (Predicate("InFrontOf", (0, 1)),)),),))


@pytest.mark.parametrize(
    ("step", "kind"),
    [
        (Step(GO, KITCHEN), GO),
        (Step(GO, CHAIR), FIND),
        (Step(GO, LAB), GO),  # an operator has given a room this name
        (Step(GO, thing("laboratory bench")), FIND),
        (Step(GO, spot("spot")), GO),
        (Step(GO, spot("lamp")), FIND),
        (Step(GO, pose=Pose(1.0, 2.0)), GO),
        (Step(RETURN), RETURN),
        (Step(RETURN, KITCHEN), GO),
        (Step(RETURN, CHAIR), FIND),
        (Step(GO, Item(images=(b"png",))), FIND),
    ],
)
def test_going_to_a_thing_is_to_find_it(step, kind):
    assert errand_of(step, {"lab"}).kind is kind


def test_a_room_in_the_scope_alone_is_where_to_go():
    step = Step(GO, scope=Scope(KITCHEN.graphs))
    assert errand_of(step, ()).item.phrase == "kitchen" and not errand_of(step, ()).scope

"""Closed ways lie on the floor that they say, however they come."""

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from lodestar.assembly.config import MappingConfig
from lodestar.assembly.floor_stack import FloorStack
from lodestar.assembly.plan_chain import PlanChain
from lodestar.floors.config import FloorsConfig
from lodestar.floors.records import Building, Floor
from lodestar.worldmodel.amendments import ClosedWay, closed_area


def shut(x: float) -> ClosedWay:
    return ClosedWay((x, 0.0), (x + 1.0, 0.0))


@given(
    ways=st.lists(st.tuples(st.integers(0, 3), st.sampled_from([0.0, 1.0]), st.booleans()), max_size=6),
    active=st.integers(0, 2),
)
@settings(max_examples=60, deadline=None)
def test_ways_lie_on_their_own_floor_however_many_come_at_once_and_whichever_was_before(ways, active) -> None:
    """As those of a loaded map, one alone too, and a new one like another that has just gone."""
    stack = FloorStack(FloorsConfig(stairs=True), PlanChain(MappingConfig()))
    stack.building = Building((Floor(1, 0, 0.0), Floor(2, 1, 3.0)), active=active)
    made = [
        replace(closed_area(((x, 0.0), (x + 3.0, 0.0), (x, 2.0)), "wet") if area else shut(x), floor=floor)
        for floor, x, area in ways
    ]
    for told in (made, made[::-1], made[:1], made[1:]):
        here = stack.ways_here(told)
        # of no floor: those of maps of before; of a floor that is not known: of a building that was forgotten
        assert list(here) == [way for way in told if active == 0 or way.floor in (0, 3, active)]

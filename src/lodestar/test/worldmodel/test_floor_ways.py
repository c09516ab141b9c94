"""Tests that closed passages apply on their own floor, in whatever order they arrive."""

from dataclasses import replace

from closed_areas import closed_area
from hypothesis import given, settings
from hypothesis import strategies as st

from lodestar.floors.records import Building, Floor
from lodestar.worldmodel.amendments import ClosedWay
from lodestar.worldmodel.closed_ways import ways_here


def shut(x: float) -> ClosedWay:
    return ClosedWay((x, 0.0), (x + 1.0, 0.0))


@given(
    ways=st.lists(st.tuples(st.integers(0, 3), st.sampled_from([0.0, 1.0]), st.booleans()), max_size=6),
    active=st.integers(0, 2),
)
@settings(max_examples=60, deadline=None)
def test_ways_lie_on_their_own_floor_however_many_come_at_once_and_whichever_was_before(ways, active) -> None:
    """Passages arrive as from a loaded map, singly or together, also one equal to a passage just removed."""
    building = Building((Floor(1, 0, 0.0), Floor(2, 1, 3.0)), active=active)
    made = [
        replace(closed_area(((x, 0.0), (x + 3.0, 0.0), (x, 2.0)), "wet") if area else shut(x), floor=floor)
        for floor, x, area in ways
    ]
    for told in (made, made[::-1], made[:1], made[1:]):
        here = ways_here(told, building)
        # no floor: from maps of an older version; unknown floor: from a building that was dropped
        assert list(here) == [way for way in told if active == 0 or way.floor in (0, 3, active)]

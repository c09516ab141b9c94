"""Closed ways belong to the floor on which they came, also when the map is corrected."""

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from lodestar.worldmodel.amendments import ClosedWay, closed_area
from lodestar.worldmodel.way_floors import WayFloors

POINTS = st.tuples(st.floats(-20.0, 20.0), st.floats(-20.0, 20.0))


@st.composite
def ways(draw) -> ClosedWay:
    x, y = draw(POINTS)
    if draw(st.booleans()):
        return closed_area(
            ((x, y), (x + 3.0, y), (x + 3.0, y + 2.0)), draw(st.sampled_from(["wet", "party"]))
        )
    return ClosedWay((x, y), (x + 1.0, y), draw(st.floats(10.0, 99.0)), "DOOR_CLOSED")


@given(
    came=st.lists(st.tuples(ways(), st.integers(1, 3)), min_size=1, max_size=5, unique_by=lambda one: one[0].start),
    shift=st.tuples(st.floats(-1.0, 1.0), st.floats(-1.0, 1.0)),
    active=st.integers(1, 3),
)  # fmt: skip
@settings(max_examples=60, deadline=None)
def test_a_way_lies_on_the_floor_on_which_it_came(came, shift, active) -> None:
    floors, told = WayFloors(), []
    floors.follow((), 1)
    for way, floor in came:
        told.append(way)
        floors.follow(told, floor)
    assert set(floors.here(active)) == {way for way, floor in came if floor == active}
    assert set(floors.here(0)) == set(told)

    def moved(way: ClosedWay) -> ClosedWay:
        points = [(x + shift[0], y + shift[1]) for x, y in (way.start, way.end, *way.area)]
        return replace(way, start=points[0], end=points[1], area=tuple(points[2:]))

    if len({(way.cause, way.expires) for way in told}) == len(told):  # else the nearest is taken
        floors.follow([moved(way) for way in told], active)
        assert set(floors.here(active)) == {moved(way) for way, floor in came if floor == active}
    floors.follow(told[1:], active)
    assert told[0] not in floors.here(0) or told[0] in told[1:]


@given(st.lists(ways(), min_size=2, max_size=5, unique=True), st.integers(1, 3))
@settings(max_examples=20, deadline=None)
def test_ways_of_a_loaded_map_lie_on_every_floor(loaded, active) -> None:
    floors = WayFloors()
    floors.follow((), 1)
    floors.follow(loaded, 1)
    assert set(floors.here(active)) == set(loaded)
    fresh = WayFloors()
    fresh.follow(loaded[:1], 2)  # the first list that a node hears
    assert fresh.here(active) == (loaded[0],)

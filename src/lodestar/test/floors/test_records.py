"""Tests of the records of floors and passages."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lodestar.floors.records import (
    UNKNOWN,
    Building,
    Floor,
    Passage,
    PassageKind,
    from_json,
    level_name,
    to_json,
)

_COORDINATE = st.floats(-50.0, 50.0)


@st.composite
def buildings(draw: st.DrawFn) -> Building:
    count = draw(st.integers(1, 5))
    gaps = draw(st.lists(st.floats(2.0, 6.0), min_size=count, max_size=count))
    lowest = draw(st.integers(-2, 2))
    floors = tuple(Floor(i + 1, lowest + i, float(sum(gaps[: i + 1])), str(i + 1)) for i in range(count))
    ends = st.integers(UNKNOWN, count)
    passages = tuple(
        Passage(
            i + 1, draw(st.sampled_from(PassageKind)), (draw(_COORDINATE), draw(_COORDINATE)),
            (draw(_COORDINATE), draw(_COORDINATE)), draw(st.floats(-3.0, 3.0)), draw(ends), draw(ends), 0.5,
            draw(st.one_of(st.just(math.nan), st.floats(2.0, 6.0))),
        )
        for i in range(draw(st.integers(0, 3)))
    )  # fmt: skip
    return Building(floors, passages, draw(ends))


@given(buildings())
def test_records_come_back_as_they_were_written(building: Building) -> None:
    again = from_json(to_json(building))
    assert again.floors == building.floors and again.active == building.active
    # compared as text, because NaN is not equal to itself
    assert str(again.passages) == str(building.passages)


@given(buildings(), st.floats(0.0, 1.4))
def test_a_thing_belongs_to_the_floor_under_it(building: Building, up: float) -> None:
    for floor in building.floors:
        assert building.at(floor.height + up) == floor


@given(buildings(), st.floats(0.01, 0.45), st.floats(0.2, 1.2))
def test_a_thing_under_a_ceiling_belongs_to_the_floor_from_which_it_was_seen(building, under, eye) -> None:
    for below, above in itertools.pairwise(building.floors):
        hangs = above.height - under
        assert building.at(hangs, below.height + eye) == below
        assert building.at(hangs, above.height + eye) == above  # despite a drifted height
        # an object seen through a stairwell
        assert building.at(above.height + under, below.height + eye) == above


@given(buildings(), st.data())
def test_records_with_foreign_ids_are_refused(building: Building, data: st.DataObject) -> None:
    given_records = to_json(building)
    given_records["active"] = data.draw(st.integers(90, 99))
    with pytest.raises(ValueError, match="no record"):
        from_json(given_records)
    twice = to_json(building)
    twice["floors"] = [*twice["floors"], twice["floors"][0]]
    with pytest.raises(ValueError, match="distinct"):
        from_json(twice)


def test_a_flight_is_entered_upwards_from_below_and_downwards_from_above() -> None:
    flight = Passage(1, PassageKind.STAIRS, (0.0, 0.0), (5.0, 0.0), 0.0, lower=1, upper=2)
    np.testing.assert_allclose(flight.entry(1), [0.0, 0.0, 0.0])
    np.testing.assert_allclose(np.abs(flight.entry(2)), [5.0, 0.0, math.pi])
    assert flight.beyond(1) == 2 and flight.beyond(2) == 1


def test_floors_are_named_as_people_name_them() -> None:
    assert [level_name(level) for level in (-2, -1, 0, 1, 12)] == [
        "basement level 2", "basement", "first floor", "second floor", "floor 13",
    ]  # fmt: skip

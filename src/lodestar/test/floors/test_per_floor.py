"""Tests that a part of one floor is restored on the same floor, and never on another."""

from __future__ import annotations

from itertools import count

from hypothesis import given
from hypothesis import strategies as st

from lodestar.floors.per_floor import PerFloor
from lodestar.floors.records import UNKNOWN, Building, Floor


def known(ids: set[int], active: int, since: float = 0.0) -> Building:
    return Building(tuple(Floor(i, i, 3.0 * i) for i in ids), active=active, since=since)


@given(st.lists(st.tuples(st.sets(st.integers(1, 4), min_size=1), st.integers(0, 4)), max_size=20))
def test_each_floor_has_one_as_long_as_it_is_known(walk) -> None:
    numbers = count()
    one = PerFloor(lambda: next(numbers))
    model: dict[int, int] = {}
    here = one.here
    assert here == 0
    for ids, active in walk:
        floor = active if active in ids else UNKNOWN
        changed = one.follow(known(ids, floor))
        if floor == UNKNOWN:
            assert not changed and one.here == here
            continue
        if not model:
            model[floor] = 0  # the initial part belongs to the first floor
        model = {i: number for i, number in model.items() if i in ids}
        assert one.here == model.setdefault(floor, one.here)
        assert len(set(model.values())) == len(model), "no two floors share one"
        assert changed == (one.here != here)
        here = one.here
        assert sorted(one.all) == sorted(model.values())


def test_where_nobody_tells_of_floors_there_is_one() -> None:
    one = PerFloor(object)
    before = one.here
    assert not one.follow(Building()) and one.here is before and one.all == (before,)


@given(st.lists(st.tuples(st.integers(0, 3), st.floats(1.0, 9.0)), min_size=1, max_size=12), st.booleans())
def test_what_comes_late_belongs_to_the_floor_on_which_it_was_taken(walk, restarts) -> None:
    """walk: stays on floors, 0 = between two, with their seconds."""
    numbers = count()
    one, now, stays = PerFloor(lambda: next(numbers)), 0.0, [(-1.0, 0)]
    for floor, seconds in walk:
        one.follow(known({1, 2, 3}, floor, now))
        if one.here != stays[-1][1]:
            stays.append((now, one.here))
        now += seconds
    for (since, here), (end, _) in zip(stays, [*stays[1:], (now, 0)]):
        assert one.at((since + end) / 2.0) == here
    if restarts:
        one.restart_clock()
        assert one.at(0.0) == one.here


def test_what_was_taken_on_a_floor_that_is_known_no_longer_belongs_to_none() -> None:
    one = PerFloor(object)
    for ids, active, since in (({1, 2}, 1, 0.0), ({1, 2}, 2, 10.0), ({2}, 2, 10.0)):
        one.follow(known(ids, active, since))
    assert one.at(5.0) is None and one.at(11.0) is one.here

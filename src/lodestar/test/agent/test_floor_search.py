"""Tests of the choice of the floor to search: the robot does not go to and fro, whatever numbers the floors give."""

from __future__ import annotations

import math
from collections.abc import Callable
from types import SimpleNamespace

import numpy as np
from agent_fakes import find
from hypothesis import given, settings
from hypothesis import strategies as st

from lodestar.agent.activities.floor_search import FloorSearch
from lodestar.agent.errands.run import FloorRest, FloorTour
from lodestar.experts.absence import FloorLeft
from lodestar.floors.records import Building, Floor, Passage, PassageKind

PERIOD = 5.0  # s between two decisions
GOALS = [np.zeros(3)]


class Search:
    """Search without a find over floors in a row. left: returns a floor's remaining area by the time spent there."""

    def __init__(self, floors: int, way: float, left: Callable[[int, float], FloorLeft]) -> None:
        records = tuple(Floor(i + 1, i, 3.0 * i) for i in range(floors))
        ways = tuple(
            Passage(i, PassageKind.STAIRS, (0.0, 0.0), (5.0, 0.0), 0.0, i, i + 1, 0.5, 3.0)
            for i in range(1, floors)
        )
        self.building = Building(records, ways, active=1)
        self.context = SimpleNamespace(
            now=0.0,
            searched=None,
            facts=SimpleNamespace(building=self.building, grid=SimpleNamespace(free_area=0.0)),
            search=None,
        )
        trip = SimpleNamespace(
            allowed=lambda: list(self.context.facts.building.ways_from(self.here)), barred=lambda run: frozenset(),
            seconds_to=lambda passage: way, looks=SimpleNamespace(best=lambda run: None, goes=lambda *_: False),
        )  # fmt: skip
        transitions = SimpleNamespace(redecide=lambda run: None)
        self.way, self._left = way, left
        self.typical = 0.0  # m^2 of another floor, as last passed to the judge
        self.search = FloorSearch(self.context, transitions, trip)
        self.run = SimpleNamespace(
            step=find().steps[0], step_index=0, floors=FloorTour(), started=0.0, text="", constraints=()
        )
        self.stays: dict[int, float] = dict.fromkeys(range(1, floors + 1), 0.0)  # s of search by floor
        self.crossings: list[tuple[int, int, bool]] = []  # (from, to, floor was explored completely)

    @property
    def here(self) -> int:
        return self.context.facts.building.active

    def until_over(self, limit: float) -> None:
        """Decide until all floors are explored, or `limit` seconds have passed."""
        judge = SimpleNamespace(left=lambda *told: self._told(told[-1]))
        while self.context.now < limit:
            left = self._left(self.here, self.stays[self.here])
            explored = left.unseen <= 0.0
            if explored and not self.search.next_floor(self.run):
                return
            if explored or self.search.leaves(self.run, judge, GOALS):
                self.cross(self.run.floors.goal, explored)
            self.context.now += PERIOD
            self.stays[self.here] += PERIOD

    def _told(self, typical: float) -> FloorLeft:
        self.typical = typical
        left = self._left(self.here, self.stays[self.here])
        self.context.facts.grid.free_area = left.area - left.hidden
        return left

    def cross(self, level: int, explored: bool) -> None:
        self.crossings.append((self.here, level + 1, explored))
        self.context.facts.building = Building(self.building.floors, self.building.passages, active=level + 1)
        self.context.now += self.way
        self.context.facts.grid.free_area = 0.0
        self.run.floors.goal, self.run.floors.since = None, self.context.now
        self.run.floors.progress.clear()


@given(
    areas=st.lists(st.floats(5.0, 300.0), min_size=2, max_size=3), seed=st.integers(0, 999), way=st.floats(1.0, 120.0),
    pace=st.floats(0.02, 2.0), noise=st.floats(0.0, 1.0),
)  # fmt: skip
@settings(max_examples=60, deadline=None)
def test_a_floor_is_left_at_most_once_before_it_is_explored(areas, seed, way, pace, noise) -> None:
    rng = np.random.default_rng(seed)

    def left(floor: int, stayed: float) -> FloorLeft:
        area = areas[floor - 1]
        unseen = max(area * math.exp(-pace * stayed / area) * (1.0 + noise * rng.normal() / 4.0), 0.0)
        unseen = 0.0 if stayed > 1500.0 else min(unseen, area)
        return FloorLeft(area, unseen, 0.0, max(rng.normal(pace / 3.0, noise), 0.0))

    search = Search(len(areas), way, left)
    search.until_over(20000.0)
    early = [start for start, _, explored in search.crossings if not explored]
    assert len(early) == len(set(early))
    whole = [start for start, _, explored in search.crossings if explored]
    assert len(whole) == len(set(whole))
    assert len(search.crossings) <= 2 * len(areas) - 1


@given(
    area=st.floats(40.0, 250.0), share=st.floats(0.05, 0.5), way=st.floats(30.0, 120.0), rate=st.floats(0.02, 0.4),
    ratio=st.floats(1.0, 5.0),
)  # fmt: skip
@settings(max_examples=60, deadline=None)
def test_it_goes_back_to_what_is_left_only_where_that_is_found_faster_than_the_rest_here(
    area, share, way, rate, ratio
) -> None:
    unseen = area * share
    there = FloorRest(unseen, unseen / rate)
    for more in (0.5, 1.0, 2.0):
        here = FloorRest(unseen * more, unseen * more / (rate * ratio))
        # this floor is explored as fast or faster, so going back gains nothing
        assert not here.is_slower(there, way)
    slow = FloorRest(unseen, unseen / rate + 2.0 * way + 1.0)
    assert slow.is_slower(there, way)


@given(unseen=st.floats(0.0, 100.0), other=st.floats(0.0, 100.0), way=st.floats(0.0, 100.0))
@settings(max_examples=40, deadline=None)
def test_a_floor_that_showed_nothing_any_more_draws_nobody_back(unseen, other, way) -> None:
    empty = FloorRest(other, math.inf)
    here = FloorRest(unseen, math.inf)
    assert not here.is_slower(empty, way) or (unseen == 0.0 and other > 0.0)


def test_a_barren_floor_is_left_for_a_new_one_and_one_that_shows_much_is_not() -> None:
    for rate, crosses in ((0.0, True), (3.0, False)):
        search = Search(2, 40.0, lambda floor, stayed, rate=rate: FloorLeft(100.0, 30.0, 0.0, rate))
        search.until_over(300.0)
        assert bool(search.crossings) is crosses


@given(
    area=st.floats(100.0, 400.0), rest=st.floats(0.1, 0.4), pace=st.floats(0.4, 2.0), way=st.floats(30.0, 100.0),
    slow=st.floats(0.05, 0.3),
)  # fmt: skip
@settings(max_examples=60, deadline=None)
def test_a_floor_that_was_just_come_to_is_as_large_as_the_other_one(area, rest, pace, way, slow) -> None:
    """The new floor's map is small at first, so its small unseen rest must not count as a small floor."""

    def left(floor: int, stayed: float) -> FloorLeft:
        known = min(5.0 + pace * stayed, area)
        most = (1.0 - rest) * area if floor == 1 else 0.95 * area
        hidden = max(60.0 - known, search.typical - known, 0.0)
        unseen = area - min(known, most) if floor == 1 else 0.05 * known
        rate = pace if known < most else slow
        return FloorLeft(known + hidden if floor > 1 else area, unseen + hidden, hidden, rate)

    search = Search(2, way, left)
    while search.context.now < 2000.0:
        before = search.stays[2]
        search.until_over(search.context.now + PERIOD)
        if search.here == 1 and before > 0.0:
            break
    if len(search.crossings) > 1:
        assert pace * search.stays[2] > 0.6 * area


@given(pace=st.floats(0.2, 3.0), way=st.floats(30.0, 100.0))
@settings(max_examples=30, deadline=None)
def test_the_pace_of_the_floor_before_counts_until_that_of_the_new_one_is_known(pace, way) -> None:
    def left(floor: int, stayed: float) -> FloorLeft:
        unseen = max(300.0 - pace * stayed, 30.0)
        return FloorLeft(300.0, unseen, 0.0, pace if unseen > 30.0 else 0.0)

    search = Search(2, way, left)
    while search.here == 1:
        search.until_over(search.context.now + PERIOD)
    found, _ = search.search._paces(search.run, FloorLeft(300.0, 300.0, 295.0, 0.0))
    assert 0.6 * pace < found < 1.2 * pace, "some seconds show nothing before the floor is left"

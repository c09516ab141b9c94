"""Tests that likely places of the target weigh more, and that the frontier expert goes there first."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from expert_worlds import request, thing
from hypothesis import given
from hypothesis import strategies as st
from scipy import ndimage
from test_likely_places import KETTLE, Kitchenware, beside

from lodestar.experts.config import BeliefConfig
from lodestar.experts.frontier import FrontierExpert
from lodestar.experts.room_belief import BELIEF_ANCHOR_WEIGHT, Belief, RoomBelief, _grown
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.language.directive import Item, StepKind
from lodestar.language.query_graph import Predicate, QueryVariable
from lodestar.models.phrases import PhraseBook
from lodestar.scene.mirror import SceneMirror
from lodestar.scene.records import Region, SceneDelta
from lodestar.scene.regions import RegionMap


def scene(*things, regions=()) -> SceneMirror:
    """Return a scene. regions: labels of the hall's west half (1) and its east half (2)."""
    mirror = SceneMirror()
    mirror.apply(SceneDelta(0.0, 1, 0, tuple(things)))
    if regions:
        mask = np.ones((60, 240), np.int64)
        mask[:, 120:] = 2
        mirror.rooms = RegionMap(0.5)
        mirror.rooms.set_mask(mask, (0.0, 0.0), 0.1)
        mirror.regions = mirror.rooms.regions = {region.id: region for region in regions}
    return mirror


def half(identity: int, label: str = "", plates: tuple[str, ...] = (), named: bool = False) -> Region:
    centre = np.array([12.0 * identity - 6.0, 3.0])
    return Region(identity, label, 0.5, 72.0, centre, plates=plates, named=named)


DEFAULTS = BeliefConfig()


def hall() -> OccupancyGrid2D:
    """Return a hall of 24 x 6 m whose middle is known and whose ends are unknown."""
    cells = np.zeros((60, 240), np.int8)
    cells[0], cells[-1], cells[:, 0], cells[:, -1] = 100, 100, 100, 100
    cells[1:-1, 1:60] = cells[1:-1, 180:-1] = -1
    return OccupancyGrid2D(cells, 0.1, (0.0, 0.0))


def weights(*things, item=KETTLE, book=None, config=DEFAULTS, **changes):
    found = belief(*things, item=item, book=book, config=config, **changes)
    return None if found is None else found.weights


def belief(*things, item=KETTLE, book=None, config=DEFAULTS, regions=(), **changes):
    book = PhraseBook(Kitchenware()) if book is None else book
    asked = request((12.0, 3.0, 0.0), item, **changes)
    return RoomBelief(book, config).over(asked, hall(), scene(*things, regions=regions))


FRIDGE, BED = thing(1, 6.0, 3.0, "refrigerator"), thing(2, 18.0, 3.0, "bed")


def test_cells_near_the_refrigerator_weigh_more_than_those_near_the_bed():
    found = weights(FRIDGE, BED)
    assert found.shape == (60, 240)
    assert found[30, 50] > 1.1 > 0.9 > found[30, 190]
    assert found[30, 120] == pytest.approx(1.0, abs=0.1)  # neutral weight, as nothing is known of its objects
    low, high = BeliefConfig().bounds
    assert low <= found.min() and found.max() <= high


def test_where_the_task_says_it_stands_weighs_much():
    by_the_bed = beside("bed")
    found, before = weights(FRIDGE, BED, item=by_the_bed), weights(FRIDGE, BED)
    assert found[30, 180] > 2.0 and before[30, 180] < 1.0
    assert found[30, 120] == pytest.approx(before[30, 120], abs=0.3)


def test_around_what_may_be_it_weighs_much_until_its_surroundings_are_known():
    (graph,) = KETTLE.graphs
    red = replace(graph, predicates=(*graph.predicates, Predicate("HasAttribute", (0,), "red")))
    asked = Item(((replace(red, variables=(*red.variables, QueryVariable("stove", "stove"))),),))
    free = BeliefConfig(bounds=(0.001, 1000.0))
    kettles = thing(1, 18.0, 3.0, "red kettle"), thing(2, 6.0, 3.0, "blue kettle")
    found = weights(*kettles, item=asked, config=free)
    assert found[30, 180] == pytest.approx(found[30, 60] + BELIEF_ANCHOR_WEIGHT, rel=0.05)


def test_it_says_nothing_where_nothing_particular_is_looked_for_or_words_are_missing():
    assert weights() is None
    assert weights(FRIDGE, book=PhraseBook()) is None
    assert weights(FRIDGE, kind=StepKind.EXPLORE) is None
    assert weights(FRIDGE, item=None) is None


def test_things_off_the_grid_do_no_harm():
    assert np.isfinite(weights(thing(1, -40.0, 90.0, "refrigerator"), BED)).all()


def test_the_frontier_expert_goes_to_the_likely_end_first():
    for likely in (6.0, 18.0):
        things = (thing(1, likely, 1.0, "refrigerator"), thing(2, 24.0 - likely, 1.0, "bed"))
        expert = FrontierExpert(phrases=PhraseBook(Kitchenware()))
        expert.set_grid(hall())
        expert.set_scene(scene(*things))
        goal = expert.propose(request((12.0, 3.0, 0.0), KETTLE)).goal
        assert (goal[0] > 12.0) == (likely > 12.0)
        without = FrontierExpert()
        without.set_grid(hall())
        without.set_scene(scene(*things))
        assert without.propose(request((12.0, 3.0, 0.0), KETTLE)).goal is not None


def test_a_room_is_likely_by_its_plate_an_operators_word_or_its_things():
    west, east = half(1), half(2)
    plain = belief(thing(1, 12.0, 3.0, "ball"), regions=(west, east))
    assert plain.rooms[1] == pytest.approx(plain.rooms[2], rel=0.05)
    for first in (half(1, plates=("kitchen",)), half(1, "kitchen", named=True)):
        told = belief(thing(1, 12.0, 3.0, "ball"), regions=(first, east))
        assert told.rooms[1] > 1.05 > told.rooms[2]
        assert told.weights[30, 10] > told.weights[30, 230]
    fridge = replace(FRIDGE, region_id=1)
    assert belief(fridge, regions=(west, east)).rooms[1] > belief(fridge, regions=(west, east)).rooms[2]


def test_a_label_that_is_no_plate_tells_no_more_than_the_things_it_comes_from():
    fridge = replace(FRIDGE, region_id=1)
    plain = belief(fridge, regions=(half(1), half(2)))
    labelled = belief(fridge, regions=(half(1, "kitchen"), half(2)))
    assert labelled.rooms == pytest.approx(plain.rooms)


@given(st.integers(0, 2**31 - 1), st.floats(0.1, 1e4))
def test_shares_are_a_distribution_with_the_rest(seed, rest):
    rng = np.random.default_rng(seed)
    weights, hidden = rng.uniform(0.1, 10.0, (5, 7)).astype(np.float32), rng.uniform(0.0, 1.0, (5, 7))
    shares = Belief(weights).shares(hidden, rest)
    assert (shares >= 0.0).all() and (shares[hidden == 0.0] == 0.0).all()
    assert shares.sum() + rest / ((weights * hidden).sum() + rest) == pytest.approx(1.0)
    assert Belief(weights).shares(np.zeros((5, 7)), rest).sum() == 0.0


@pytest.mark.parametrize("inside", [0, 1])
def test_hundreds_of_kinds_of_things_in_a_room_have_a_belief(inside):
    """Many kinds each change the belief by more than a float32 sum of logarithms can resolve."""
    words = [f"refrigerator {k}" if k % 2 else f"bed {k}" for k in range(1500)]
    things = [
        replace(thing(k, 6.0, 3.0, "x"), label=word, region_id=inside) for k, word in enumerate(words, 1)
    ]
    found = belief(*things, regions=(half(1), half(2)))
    assert np.isfinite(found.weights).all() and np.isfinite([*found.rooms.values()]).all()


def test_things_in_no_room_say_nothing_of_the_building():
    fridge = replace(FRIDGE, region_id=1)
    stray = [replace(thing(k, 18.0, 3.0, f"kettle {k}"), region_id=0) for k in range(2, 40)]
    regions = (half(1), half(2))
    assert belief(fridge, *stray, regions=regions).rooms == pytest.approx(
        belief(fridge, regions=regions).rooms
    )


def test_a_belief_is_told_anew_when_rooms_are_drawn_anew_or_are_named():
    teller, grid = RoomBelief(PhraseBook(Kitchenware()), DEFAULTS), hall()
    mirror = scene(FRIDGE, regions=(half(1, "kitchen"), half(2, "bedroom")))
    asked = request((12.0, 3.0, 0.0), KETTLE)
    first = teller.over(asked, grid, mirror)
    assert teller.over(asked, grid, mirror) is first
    mirror.regions = {1: half(1, "kitchen", named=True), 2: half(2, "bedroom", named=True)}
    named = teller.over(asked, grid, mirror)
    assert named.rooms[1] > first.rooms[1] + 0.05
    mask = np.full((60, 240), 2, np.int64)
    mask[:, 120:] = 1
    mirror.rooms.set_mask(mask, (0.0, 0.0), 0.1)
    assert teller.over(asked, grid, mirror).weights[30, 230] > named.weights[30, 230] + 0.05


def test_each_reading_of_the_task_counts_by_its_weight():
    (kettle,) = KETTLE.graphs
    bed = replace(kettle, variables=(QueryVariable("bed", "bed"),))
    free = BeliefConfig(bounds=(0.001, 1000.0))
    alone = [weights(FRIDGE, BED, item=Item(((graph,),)), config=free) for graph in (kettle, bed)]
    readings = replace(kettle, weight=0.75), replace(bed, weight=0.25)
    both = weights(FRIDGE, BED, item=Item((readings,)), config=free)
    assert np.allclose(both, 0.75 * alone[0] + 0.25 * alone[1], rtol=1e-4)
    assert np.allclose(both, weights(FRIDGE, BED, item=Item((readings[::-1],)), config=free))


@pytest.mark.parametrize(
    "wrong", [{"near_trust": -1.0}, {"room_trust": -1.0}, {"plate_trust": 1.5}, {"bounds": (0.0, 10.0)}]
)
def test_settings_that_make_no_belief_are_refused(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        BeliefConfig(**wrong)


def test_less_trust_brings_every_weight_nearer_to_as_likely_as_anywhere():
    full, less = (
        weights(FRIDGE, BED, config=BeliefConfig(near_trust=t, bounds=(0.001, 1000.0))) for t in (1.0, 0.5)
    )
    assert np.allclose(less, np.sqrt(full), rtol=1e-4)
    assert full.max() > less.max() > 1.0 > less.min() > full.min()


def test_experts_that_share_a_scene_share_its_newest_belief():
    book, told = PhraseBook(Kitchenware()), scene(FRIDGE, BED)
    asked, grid = request((12.0, 3.0, 0.0), KETTLE), hall()
    one, other = (RoomBelief(book, DEFAULTS) for _ in range(2))
    first = one.over(asked, grid, told)
    assert first is not None and other.over(asked, grid, told) is first
    assert RoomBelief(book, replace(DEFAULTS, near_trust=3.0)).over(asked, grid, told) is not first
    assert one.over(asked, grid, scene(FRIDGE, BED)) is not first, "another scene of the same revision"
    told.apply(SceneDelta(1.0, 2, 1, (thing(3, 12.0, 3.0, "kettle"),)))
    again = other.over(asked, grid, told)
    assert again is not first
    fresh = RoomBelief(PhraseBook(Kitchenware()), DEFAULTS).over(asked, grid, told)
    assert np.array_equal(again.weights, fresh.weights), "words that were kept tell the same"


@given(st.integers(0, 10_000), st.integers(0, 9))
def test_a_mask_grows_within_another_as_step_by_step(seed, steps):
    rng = np.random.default_rng(seed)
    within = rng.random((20, 30)) < 0.6
    mask = within & (rng.random(within.shape) < 0.05)
    eight = np.ones((3, 3), bool)
    plain = ndimage.binary_dilation(mask, eight, steps, within) if steps else mask
    assert np.array_equal(_grown(mask, within, steps), plain)

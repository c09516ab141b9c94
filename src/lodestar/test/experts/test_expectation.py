"""Area counts more where what is searched for is likely, and the frontier expert goes there first."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from expert_worlds import request, thing
from test_likely_places import KETTLE, Kitchenware, beside

from lodestar.experts.expectation import Expectation, ExpectedConfig
from lodestar.experts.frontier import FrontierExpert
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.language.directive import Item, StepKind
from lodestar.language.query_graph import Predicate, QueryVariable
from lodestar.models.phrases import PhraseBook
from lodestar.scene.mirror import SceneMirror
from lodestar.scene.records import SceneDelta


def scene(*things) -> SceneMirror:
    mirror = SceneMirror()
    mirror.apply(SceneDelta(0.0, 1, 0, tuple(things)))
    return mirror


DEFAULTS = ExpectedConfig()


def hall() -> OccupancyGrid2D:
    """24 x 6 m of which the middle is known, the ends are not."""
    cells = np.zeros((60, 240), np.int8)
    cells[0], cells[-1], cells[:, 0], cells[:, -1] = 100, 100, 100, 100
    cells[1:-1, 1:60] = cells[1:-1, 180:-1] = -1
    return OccupancyGrid2D(cells, 0.1, (0.0, 0.0))


def weights(*things, item=KETTLE, book=None, config=DEFAULTS, **changes):
    book = PhraseBook(Kitchenware()) if book is None else book
    asked = request((12.0, 3.0, 0.0), item, **changes)
    return Expectation(book, config).over(asked, hall(), scene(*things))


FRIDGE, BED = thing(1, 6.0, 3.0, "refrigerator"), thing(2, 18.0, 3.0, "bed")


def test_cells_near_the_refrigerator_weigh_more_than_those_near_the_bed():
    found = weights(FRIDGE, BED)
    assert found.shape == (60, 240)
    assert found[30, 50] > 1.1 > 0.9 > found[30, 190]
    assert found[30, 120] == pytest.approx(1.0, abs=0.1)  # nothing is known of what stands there
    low, high = ExpectedConfig().bounds
    assert low <= found.min() and found.max() <= high


def test_where_the_task_says_it_stands_weighs_much():
    by_the_bed = beside("bed")
    found, before = weights(FRIDGE, BED, item=by_the_bed), weights(FRIDGE, BED)
    assert found[30, 180] > 2.0 and before[30, 180] < 1.0
    assert found[30, 120] == pytest.approx(before[30, 120], abs=0.1)


def test_around_what_may_be_it_weighs_much_until_its_surroundings_are_known():
    (graph,) = KETTLE.graphs
    red = replace(graph, predicates=(*graph.predicates, Predicate("HasAttribute", (0,), "red")))
    asked = Item(((replace(red, variables=(*red.variables, QueryVariable("stove", "stove"))),),))
    found = weights(thing(1, 18.0, 3.0, "red kettle"), thing(2, 6.0, 3.0, "blue kettle"), item=asked)
    assert found[30, 180] > found[30, 60] + 0.9


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


def test_less_trust_brings_every_weight_nearer_to_as_likely_as_anywhere():
    by_the_bed = beside("bed")
    full, half = (weights(FRIDGE, BED, item=by_the_bed, config=ExpectedConfig(trust=t)) for t in (1.0, 0.5))
    assert np.allclose(
        half[(full > 0.3) & (full < 5.9)], np.sqrt(full[(full > 0.3) & (full < 5.9)]), rtol=1e-4
    )
    assert full.max() > half.max() > 1.0 > half.min() > full.min()

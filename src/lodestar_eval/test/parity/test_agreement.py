"""Tests of the agreement of grids, entities and goals, in which ids do not count."""

from __future__ import annotations

import math

import numpy as np
import pytest

from lodestar.grid.occupancy import FREE, OCCUPIED, UNKNOWN, OccupancyGrid2D
from lodestar.scene.records import Entity, EntityState
from lodestar_eval.live.parity.agreement import entity_agreement, goals_equal, grid_agreement


def grid(cells, origin=(0.0, 0.0), resolution=0.1) -> OccupancyGrid2D:
    return OccupancyGrid2D(np.array(cells, np.int8), resolution, origin)


def entity(identity: int, label: str, x: float, size: float = 0.5, state=EntityState.ACTIVE) -> Entity:
    low = np.array([x, 0.0, 0.0])
    return Entity(identity, label, label, low + size / 2, np.eye(3), low, low + size, state=state)


def test_grids_are_compared_where_either_knows_a_cell():
    live = grid([[FREE, FREE, OCCUPIED, UNKNOWN]])
    headless = grid([[FREE, OCCUPIED, OCCUPIED, UNKNOWN]])
    assert grid_agreement(live, headless) == pytest.approx(2 / 3)
    assert grid_agreement(live, live) == 1.0
    assert math.isnan(grid_agreement(grid([[UNKNOWN]]), grid([[UNKNOWN]])))


def test_what_only_one_grid_covers_is_a_difference():
    live = grid([[FREE, FREE]])
    headless = grid([[FREE, FREE]], origin=(0.1, 0.0))  # shifted by one cell along x
    assert grid_agreement(live, headless) == pytest.approx(1 / 3)


def test_grids_of_other_cells_are_refused():
    with pytest.raises(ValueError, match="cells of"):
        grid_agreement(grid([[FREE]]), grid([[FREE]], resolution=0.05))


def test_entities_match_by_noun_and_place_whatever_their_ids():
    live = [entity(1, "red chair", 0.0), entity(2, "table", 2.0), entity(3, "sofa", 5.0)]
    headless = [entity(9, "chair", 0.1), entity(8, "chair", 2.0), entity(7, "sofa", 6.0)]
    agreement = entity_agreement(live, headless)
    assert (agreement.found, agreement.missed, agreement.spurious) == (1, 2, 2)
    assert agreement.f1 == pytest.approx(1 / 3)


def test_one_thing_matches_once_and_archived_ones_do_not_count():
    live = [entity(1, "chair", 0.0), entity(2, "chair", 0.05)]
    headless = [entity(1, "chair", 0.0), entity(2, "lamp", 3.0, state=EntityState.ARCHIVED)]
    agreement = entity_agreement(live, headless)
    assert (agreement.found, agreement.missed, agreement.spurious) == (1, 1, 0)
    assert entity_agreement([], headless).spurious == 1


def test_flat_things_match_too():
    live, headless = (
        Entity(1, "poster", "poster", np.zeros(3), np.eye(3), np.zeros(3), np.array([1.0, 0.0, 1.0]))
        for _ in range(2)
    )
    assert entity_agreement([live], [headless]).found == 1


@pytest.mark.parametrize(
    ("headless", "equal"),
    [((1.3, 2.3, 3.1), True), ((1.6, 2.0, 3.1), False), ((1.0, 2.0, -3.1), True), ((1.0, 2.0, 2.7), False)],
)
def test_goals_are_equal_within_half_a_metre_and_twenty_degrees(headless, equal):
    assert goals_equal(np.array([1.0, 2.0, 3.1]), np.array(headless)) is equal

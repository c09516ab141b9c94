"""Tests of the stocked building, and of a short tour of a small one by the complete robot."""

from __future__ import annotations

import argparse
from itertools import pairwise

import numpy as np
import pytest
from embedders import LetterEmbedder

from lodestar.models.phrases import PhraseBook
from lodestar_eval.scale_tour import ScaleSettings, ScaleTour
from lodestar_eval.stocked_building import BuildingSize, room_at, stocked_building, tour_of
from lodestar_eval.stocked_map import fill
from lodestar_eval.studies.scale_tour import BENCHMARK
from lodestar_sim.worlds.truth import obstacle_grid


@pytest.fixture(scope="module")
def small() -> BuildingSize:
    return BuildingSize(blocks=2, columns=2, objects=600)


def test_the_building_has_as_many_objects_as_were_asked_for_and_the_same_for_a_seed(small):
    world = stocked_building(small, 3)
    assert len(world.objects) == small.objects and len({one.id for one in world.objects}) == small.objects
    assert world == stocked_building(small, 3) and world != stocked_building(small, 4)
    assert BuildingSize().area == pytest.approx(1800.0) and BuildingSize().rooms == 48


def test_no_two_objects_fill_the_same_space_and_each_lies_on_its_shelf(small):
    world = stocked_building(small, 1)
    things = [one for one in world.objects if one.category != "shelf"]
    low, high = (np.array(corner) for corner in zip(*(world.box(one) for one in things)))
    shared = np.minimum(high[:, None], high[None]) - np.maximum(low[:, None], low[None])
    overlapping = (shared > 1e-3).all(axis=2)
    np.fill_diagonal(overlapping, False)
    assert not overlapping.any()
    for thing in things:
        below, above = world.box(world.object(thing.supported_by))
        own_low, own_high = world.box(thing)
        assert (own_low >= below - 1e-3).all() and (own_high[:2] <= above[:2] + 1e-3).all()


def test_the_tour_touches_nothing_and_comes_into_every_room(small):
    grid, way = obstacle_grid(stocked_building(small, 1)), tour_of(small)
    places = np.array([[one.x, one.y] for one in way])
    for begin, end in pairwise(places):
        points = begin + np.linspace(0.0, 1.0, 50)[:, None] * (end - begin)
        rows, columns = grid.cells_of(points).T
        assert (grid.cells[rows, columns] == 0).all()
    assert sorted({one.rooms for one in way}) == list(range(small.rooms + 1))


def test_a_short_tour_loses_nothing_and_measures_every_mark(tmp_path):
    parser = argparse.ArgumentParser()
    BENCHMARK.add_options(parser)
    options = parser.parse_args(["--blocks", "1", "--columns", "1", "--objects", "200"])
    result = BENCHMARK.run(options, tmp_path, lambda text: None)
    kept = {bar.name: bar.holds for bar in result.bars}
    assert kept["voxels_refused"] and kept["entities_dropped"] and kept["map_mib"] and kept["loaded_alike"]
    assert result.metrics["matched"] > 0.5 * result.metrics["objects"]
    assert result.metrics["entities"] < 1.1 * result.metrics["objects"]
    assert all(result.metrics[f"peak_mib.{at}"] > result.metrics[f"mib.{at}"] for at in (10, 25, 50, 100))
    assert len(result.tables[0].rows) == 4 and not [one for one in tmp_path.iterdir() if one.is_dir()]


def test_a_filled_map_knows_the_things_of_the_rooms_that_nobody_drove_through(tmp_path):
    size = BuildingSize(blocks=1, columns=2, objects=400)
    tour = ScaleTour(ScaleSettings(size, marks=(1.0,)), PhraseBook(LetterEmbedder()), tmp_path)
    filled = fill(tour, range(2, size.rooms))
    things = [one for one in tour.world.objects if room_at(size, *one.xy) in range(2, size.rooms)]
    assert filled >= 0.98 * len(things) > 100
    record = tour.run(rooms=1)
    assert record.matched > filled and record.unknown_to_scene == 0 and record.marks[0].loaded
    assert record.entities < 1.05 * record.matched

"""Tests that operators' room names persist while regions grow and are recomputed, the map jumps, and is saved."""

from __future__ import annotations

import numpy as np
import pytest

from lodestar.geometry.map_correction import MapCorrection
from lodestar.geometry.poses import planar_transform
from lodestar.grid.occupancy import FREE, OccupancyGrid2D
from lodestar.scene.dictionary import SceneDictionary
from lodestar.scene.records import Region
from lodestar.scene.region_names import BadRegionName, RegionNames, UnknownRegion
from lodestar.scene.regions import RegionMap, is_called


def rooms(split: int = 20) -> RegionMap:
    """Return regions 1 and 2, 4 m high, left and right of `split` cells of 0.1 m."""
    mask = np.ones((40, 40), np.uint16)
    mask[:, split:] = 2
    found = RegionMap(0.3)
    found.set_mask(mask, (0.0, 0.0), 0.1)
    found.regions = {i: Region(i, "", 0.0, 8.0, np.array([i * 2.0 - 1.0, 2.0])) for i in (1, 2)}
    return found


def labels(found) -> list[str]:
    return [region.label for region in found]


def test_a_region_goes_by_its_word_after_it_was_found_anew():
    names, before = RegionNames(), rooms()
    named = names.name(before, 2, None, " Lab 3 ")
    assert (named.label, named.named, named.label_weight) == ("Lab 3", True, 1.0)
    assert before.regions[2].label == "Lab 3"
    after = rooms(split=25)
    assert labels(names.applied(after, tuple(after.regions.values()))) == ["", "Lab 3"]
    assert is_called(named, ("lab 3",)) and not is_called(named, ("lab",))


def test_a_point_names_the_region_it_lies_in_and_a_new_word_takes_the_place_of_the_old():
    names, found = RegionNames(), rooms()
    names.name(found, 0, np.array([0.5, 1.0, 0.0]), "canteen")
    names.name(found, 1, None, "kitchen")
    assert len(names) == 1 and found.regions[1].label == "kitchen"
    names.name(found, 1, None, "")
    assert len(names) == 0 and not found.regions[1].named


@pytest.mark.parametrize(
    ("region", "point", "label", "why"),
    [
        (9, None, "lab", "no such region"),
        (0, np.array([90.0, 1.0]), "lab", "no such region"),
        (1, None, "!!!", "needs a letter"),
        (1, None, "a" * 61, "61 characters"),
    ],
)
def test_what_names_nothing_is_refused(region, point, label, why):
    names, found = RegionNames(), rooms()
    with pytest.raises(BadRegionName, match=why):
        names.name(found, region, point, label)
    assert len(names) == 0
    assert issubclass(UnknownRegion, BadRegionName)


def test_a_centroid_outside_its_region_names_the_region_all_the_same():
    names, found = RegionNames(), rooms()
    found.regions[2] = Region(2, "", 0.0, 8.0, np.array([1.0, 2.0]))
    names.name(found, 2, None, "hall")
    assert labels(names.applied(found, tuple(found.regions.values()))) == ["", "hall"]


def test_names_move_with_the_map_and_last_in_a_save():
    names, found = RegionNames(), rooms()
    names.name(found, 2, None, "lab")
    jump = planar_transform(1.0, 0.0, 0.0)
    names.move(MapCorrection(jump))
    found.move(MapCorrection(jump))
    again = RegionNames.of_meta({"region_names": names.to_meta()})
    assert labels(again.applied(found, tuple(found.regions.values()))) == ["", "lab"]
    assert len(RegionNames.of_meta({})) == 0
    for rubbish in ([["lab"]], [["lab", "x", 1.0]], [["lab", float("nan"), 1.0]], 7):
        with pytest.raises((ValueError, TypeError)):
            RegionNames.of_meta({"region_names": rubbish})


def test_the_dictionary_keeps_the_word_when_it_finds_its_regions_again():
    scene, mask = SceneDictionary(), np.ones((40, 40), np.uint16)
    grid = OccupancyGrid2D(np.full((40, 40), FREE, np.int8), 0.1, (0.0, 0.0))
    again = lambda: scene.assign_regions(mask, grid.origin, 0.1, [(1, 16.0, (2.0, 2.0), ())])  # noqa: E731
    again()
    scene.name_region(0, np.array([1.0, 1.0]), "lab")
    assert labels(again()) == ["lab"] and scene.regions[1].named

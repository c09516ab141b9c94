"""Tests of the rooms of a floor plan."""

import numpy as np
import pytest

from lodestar.geometry.poses import inverse, planar_transform
from lodestar.grid.correction import moved_cells
from lodestar.grid.occupancy import FREE, OCCUPIED, UNKNOWN, OccupancyGrid2D
from lodestar.grid.regions import RegionConfig, RegionTracker, segment_regions


def three_rooms(door=9):
    """Return two rooms of 4 x 4 m side by side and one below both, joined by doors, with a table in the left room."""
    cells = np.full((84, 84), OCCUPIED, np.int8)
    cells[42:82, 2:41] = FREE
    cells[42:82, 43:82] = FREE
    cells[2:40, 2:82] = FREE
    cells[58 : 58 + door, 41:43] = FREE
    cells[40:42, 60 : 60 + door] = FREE
    cells[58:66, 18:26] = OCCUPIED
    return OccupancyGrid2D(cells, 0.1, (-1.0, 3.0))


def test_rooms_are_parted_at_doors_and_know_their_neighbours():
    grid = three_rooms()
    mask, regions = segment_regions(grid)
    assert mask.dtype == np.uint16 and len(regions) == 3
    left, right, below = mask[70, 10], mask[70, 60], mask[20, 40]
    assert len({left, right, below} - {0}) == 3
    near = {r[0]: set(r[3]) for r in regions}
    assert near[left] == {right} and near[right] == {left, below} and near[below] == {right}
    areas = {r[0]: r[1] for r in regions}
    assert areas[left] == pytest.approx(15.0, abs=0.8)
    assert sum(areas.values()) == pytest.approx(grid.free_area, rel=0.02)


def test_furniture_does_not_part_a_room_and_wide_openings_join():
    mask, _ = segment_regions(three_rooms())
    assert mask[70, 5] == mask[45, 5] == mask[62, 35]
    _, regions = segment_regions(three_rooms(door=20))
    assert len(regions) == 1


def test_centroid_lies_in_metres_of_the_map():
    grid = three_rooms()
    mask, regions = segment_regions(grid)
    below = next(r for r in regions if r[0] == mask[20, 40])
    np.testing.assert_allclose(below[2], (-1.0 + 4.2, 3.0 + 2.1), atol=0.15)


def test_ids_go_on_while_the_map_grows():
    grid = three_rooms()
    partial = grid.cells.copy()
    partial[:, 43:] = UNKNOWN
    partial[partial == OCCUPIED] = OCCUPIED
    first, _ = segment_regions(OccupancyGrid2D(partial, 0.1, grid.origin))
    old = {"left": first[70, 10], "below": first[20, 20]}
    grown = np.full((100, 104), UNKNOWN, np.int8)
    grown[10:94, 20:] = grid.cells
    second, _ = segment_regions(
        OccupancyGrid2D(grown, 0.1, (-3.0, 2.0)), RegionConfig(), (first, grid.origin)
    )
    assert second[80, 30] == old["left"] and second[30, 40] == old["below"]
    assert second[80, 80] not in {0, *old.values()}


@pytest.mark.parametrize("value", [UNKNOWN, OCCUPIED])
def test_a_map_without_free_space_has_no_regions(value):
    mask, regions = segment_regions(OccupancyGrid2D(np.full((20, 20), value, np.int8), 0.1, (0, 0)))
    assert not mask.any() and regions == []


def test_an_id_is_never_given_twice():
    grid, tracker = three_rooms(), RegionTracker()
    first, _ = tracker.segment(grid)
    lost = int(first.max())
    without = np.where(first == lost, np.int8(UNKNOWN), grid.cells)
    tracker.segment(OccupancyGrid2D(without, 0.1, grid.origin))
    tracker.segment(OccupancyGrid2D(np.full((3, 3), UNKNOWN, np.int8), 0.1, grid.origin))
    again, _ = tracker.segment(grid)
    fresh = set(np.unique(again[first == lost]).tolist()) - {0}
    assert fresh and min(fresh) > lost
    assert set(np.unique(again[first != lost]).tolist()) <= set(np.unique(first).tolist()) | fresh


def test_ids_move_with_a_jump_of_the_map():
    tracker = RegionTracker()
    grid = three_rooms()
    _, regions = tracker.segment(grid)
    there = planar_transform(20.0, 5.0, 0.0)
    jump = (
        there @ planar_transform(0.0, 0.0, np.radians(-25.0)) @ inverse(there)
    )  # farther than a room's width
    cells, first = moved_cells(
        grid.cells, np.round(np.array(grid.origin) / grid.resolution).astype(int), 0.1, jump, -1
    )
    tracker.move(jump)
    moved = OccupancyGrid2D(cells, 0.1, (first[0] * 0.1, first[1] * 0.1))
    _, after = tracker.segment(moved)
    assert {region[0] for region in after} == {region[0] for region in regions}
    centroids = {region[0]: region[2] for region in after}
    for identity, _, centroid, _ in regions:
        expected = (jump @ [*centroid, 0.0, 1.0])[:2]
        assert np.linalg.norm(centroids[identity] - expected) < 0.3


def test_ids_go_on_from_what_was_saved():
    tracker, other = RegionTracker(), RegionTracker()
    grid = three_rooms()
    tracker.segment(grid)
    other.restore(*tracker.to_arrays())
    assert np.array_equal(other.segment(grid)[0], tracker.mask) and other.used == tracker.used
    with pytest.raises(ValueError):
        other.restore({"region_origin": [0, 0], "regions_used": 0}, {"region_mask": tracker.mask})


@pytest.mark.parametrize(("door", "rooms"), [(14, 3), (19, 1)])
def test_an_opening_below_a_passage_parts_rooms(door, rooms):
    """The same holds for an opening that the core of a narrow room would fit through. door: cells of 0.1 m."""
    assert len(segment_regions(three_rooms(door))[1]) == rooms


def test_a_narrow_corridor_is_a_region_of_its_own():
    """No cell of the corridor is half a passage width away from its walls."""
    cells = np.full((80, 120), OCCUPIED, np.int8)
    cells[5:45, 5:115] = FREE  # a room of 4 x 11 m
    cells[50:64, 5:115] = FREE  # a corridor of 1.4 m
    cells[45:50, 55:64] = FREE  # a door of 0.9 m
    mask, regions = segment_regions(OccupancyGrid2D(cells, 0.1, (0.0, 0.0)))
    assert len(regions) == 2
    assert mask[25, 60] != mask[57, 20] > 0

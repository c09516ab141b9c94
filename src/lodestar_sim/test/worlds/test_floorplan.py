"""Tests of worlds from occupancy maps."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar_sim.tasks import default_task
from lodestar_sim.worlds import WorldError, world_from_spec
from lodestar_sim.worlds.checks import check_world, overlaps
from lodestar_sim.worlds.floorplan import floor_plan, read_arrays, read_ros_map
from lodestar_sim.worlds.sources import with_kind
from lodestar_sim.worlds.truth import truth_of

FREE, WALL = 254, 0
APARTMENT_ROOMS = (
    "living room", "kitchen", "bathroom", "bedroom", "study", "hall", "storage room", "laundry room",
)  # fmt: skip


def two_rooms() -> np.ndarray:
    """Return a map (70, 130) uint8 at 0.1 m: two rooms of 6 x 6 m joined by a door of 1 m."""
    cells = np.full((70, 130), WALL, np.uint8)
    cells[5:65, 5:65] = FREE
    cells[5:65, 67:127] = FREE
    cells[30:40, 65:67] = FREE
    return cells


def write_arrays(folder: Path, cells: np.ndarray, valid: np.ndarray | None = None) -> str:
    np.save(folder / "occ_map.npy", cells)
    np.save(folder / "valid_space.npy", np.full(cells.shape, 3, np.uint8) if valid is None else valid)
    return str(folder)


def write_ros(folder: Path, cells: np.ndarray, **changes) -> str:
    import cv2

    cv2.imwrite(str(folder / "map.pgm"), cells)
    data = {"image": "map.pgm", "resolution": 0.1, "origin": [2.0, -1.0, 0.0], "negate": 0,
            "occupied_thresh": 0.65, "free_thresh": 0.196, **changes}  # fmt: skip
    path = folder / "map.yaml"
    path.write_text("\n".join(f"{key}: {value}" for key, value in data.items()))
    return str(path)


def rasterised(world) -> OccupancyGrid2D:
    return truth_of(world).grid


def test_arrays_become_two_furnished_rooms(tmp_path):
    world = world_from_spec(write_arrays(tmp_path, two_rooms()), 1)
    assert len(world.rooms) == 2
    assert len(world.objects) > 10
    check_world(world)


def home() -> np.ndarray:
    """Return a map (70, 130) uint8 at 0.1 m: rooms of 36, 24, 5.4 and 5 m2."""
    cells = two_rooms()
    cells[45:47, 67:127] = cells[47:65, 95:97] = WALL
    cells[45:47, 75:84] = cells[52:61, 95:97] = FREE
    return cells


def test_a_map_is_furnished_as_the_kind_of_building_that_it_is(tmp_path):
    path = write_ros(tmp_path, home())
    rooms = {
        kind: sorted(room.label for room in world_from_spec(f"{path}?kind={kind}", 3).rooms)
        for kind in ("apartment", "office", "warehouse")
    }
    assert {"living room", "kitchen", "bathroom"} <= set(rooms["apartment"]), rooms
    assert set(rooms["apartment"]) <= {*APARTMENT_ROOMS}, rooms
    assert not set(rooms["office"]) & {"living room", "bedroom", "bathroom"}
    assert "warehouse" in rooms["warehouse"]
    house = world_from_spec(with_kind(path, "apartment"), 3)
    assert house.kind == "apartment"
    assert {thing.category for thing in house.objects} & {"sofa", "stove", "toilet", "bed", "refrigerator"}
    check_world(house)
    assert world_from_spec(with_kind(path, None), 3) != house


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("{map}?kind=castle", "kind is 'castle'; it is one of apartment, office, warehouse"),
        ("apartment?kind=office", "only maps have a kind"),
        ("laboratory?kind=office", "a world file says itself"),
    ],
)
def test_kinds_that_make_no_sense_are_refused(spec, says, tmp_path):
    path = write_ros(tmp_path, two_rooms())
    with pytest.raises(WorldError, match=says):
        world_from_spec(spec.format(map=path), 1)


def test_only_valid_free_space_is_free(tmp_path):
    valid = np.full((70, 130), 1, np.uint8)
    valid[:, 66:] = 0
    plan = floor_plan(read_arrays(Path(write_arrays(tmp_path, two_rooms(), valid))), np.random.default_rng(0))
    assert plan.free.sum() * 0.01 == pytest.approx(36.0 + 0.1, abs=0.2)
    assert len(plan.labels) == 1


def test_a_ros_map_keeps_its_place_and_its_walls(tmp_path):
    cells = two_rooms()
    cells[10:20, 10:20] = WALL  # top left in the image, i.e. high y
    world = world_from_spec(write_ros(tmp_path, cells), 2)
    assert world.bounds == pytest.approx((1.8, -1.2, 15.2, 6.2))
    grid = rasterised(world)
    row, column = grid.cells_of(np.array([[2.0 + 1.05, -1.0 + 5.9]]))[0]
    assert grid.occupied[row, column]  # border of the pillar
    assert {room.label for room in world.rooms}


def test_a_finer_ros_map_is_the_same_building(tmp_path):
    fine = np.kron(two_rooms(), np.ones((2, 2), np.uint8))
    world = world_from_spec(write_ros(tmp_path, fine, resolution=0.05), 1)
    x0, y0, x1, y1 = world.bounds
    assert (x1 - x0, y1 - y0) == pytest.approx((13.4, 7.4), abs=0.21)
    assert len(world.rooms) == 2


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"resolution": 0}, "resolution"),
        ({"resolution": 5}, "resolution is 5; a world needs 0.01 to 0.5 m"),
        ({"mode": "costmap"}, "mode is 'costmap'; write one of trinary, scale, raw"),
        ({"resolution": "wide"}, "no map_server map"),
        ({"origin": "[0.0, 0.0, 0.7]"}, "yaw"),
        ({"image": "gone.pgm"}, "missing or no image"),
        ({"origin": "[.nan, 0.0, 0.0]"}, "finite"),
    ],
)
def test_bad_ros_maps_say_why(changes, says, tmp_path):
    with pytest.raises(WorldError, match=says):
        world_from_spec(write_ros(tmp_path, two_rooms(), **changes), 1)


def test_a_map_of_humble_is_a_world_of_its_free_floor(tmp_path):
    """With Humble's free_thresh of 0.25, map_saver's grey of unknown cells (205) would count as free."""
    cells = np.where(two_rooms() == FREE, FREE, 205).astype(np.uint8)
    for changes in ({"free_thresh": 0.25}, {"mode": "scale"}, {"mode": "raw"}):
        if changes.get("mode") == "raw":
            cells = np.where(two_rooms() == FREE, 0, 255).astype(np.uint8)
        elif changes.get("mode") == "scale":
            cells = two_rooms()
        path = write_ros(tmp_path, cells, **changes)
        free = read_ros_map(Path(path)).free
        np.testing.assert_array_equal(free, (two_rooms() == FREE)[::-1])
        assert len(world_from_spec(path, 1).rooms) == 2


def test_bad_arrays_say_why(tmp_path):
    with pytest.raises(WorldError, match=r"occ_map\.npy"):
        world_from_spec(str(tmp_path), 1)
    with pytest.raises(WorldError, match="no free floor"):
        world_from_spec(write_arrays(tmp_path, np.zeros((50, 50), np.uint8)), 1)
    with pytest.raises(WorldError, match="one 2-D shape"):
        world_from_spec(write_arrays(tmp_path, two_rooms(), np.ones((3, 3), np.uint8)), 1)


def test_the_campus_floor(campus):
    x0, y0, x1, y1 = campus.bounds
    assert (x1 - x0, y1 - y0) == pytest.approx((79.0, 26.0), abs=0.1)
    assert len(campus.rooms) >= 12
    assert "corridor" in {room.label for room in campus.rooms}
    assert len(campus.objects) > 250
    assert len({t.category for t in campus.objects}) >= 35
    assert list(overlaps(campus)) == []
    assert len(campus.geometry().triangles) < 150_000
    for thing in campus.objects[::10]:
        assert thing.id == campus.charging_station or len(truth_of(campus).views(thing)), thing.caption
    task = default_task(campus, 1)
    assert truth_of(campus).shortest_path(task.start[:2], campus.object(task.target_ids[0])) >= 5.0

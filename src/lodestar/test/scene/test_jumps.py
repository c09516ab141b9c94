"""Tests that map data moves with jumps of map <- odom."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scene_builders import camera_at, instance, sighting

from lodestar.geometry.poses import inverse, planar_transform
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.mapping.instances.records import Absence
from lodestar.scene.records import EntityState


def test_views_are_in_map_and_follow_a_jump_of_the_map(scene, feed):
    scene.update(feed(updated=(instance(1),)))
    scene.update(feed(observations=(sighting(1, pose=camera_at(-2, 0, 0)),)))
    jump = planar_transform(1.0, 0.0, math.pi / 2)
    scene.update(feed(map_from_odom=jump))
    view = scene.entities()[1].views[0]
    assert np.allclose(view.map_from_camera, jump @ camera_at(-2, 0, 0))
    assert scene.counts["jumps"] == 1


def test_small_corrections_leave_the_views_alone(scene, feed):
    scene.update(feed(updated=(instance(1),)))
    scene.update(feed(observations=(sighting(1, pose=camera_at(-2, 0, 0)),)))
    scene.update(feed(map_from_odom=planar_transform(0.05, 0.0, 0.01)))
    assert np.allclose(scene.entities()[1].views[0].map_from_camera, camera_at(-2, 0, 0))


def turned_about(x, y, angle):
    """Return a correction that turns the map about a place in it."""
    there = planar_transform(x, y, 0.0)
    return there @ planar_transform(0.0, 0.0, angle) @ inverse(there)


def test_a_jump_counts_by_how_far_it_moves_the_camera_not_the_origin_of_odometry(scene, feed):
    far = camera_at(38.0, 0.0, 0.0)
    scene.update(feed(updated=(instance(1, (40.0, 0.0, 0.5)),)))
    scene.update(feed(observations=(sighting(1, pose=far),)))
    # moves the map's origin by nothing, the robot's place by 0.7 m
    turn = planar_transform(0.0, 0.0, math.radians(1.0))
    scene.update(feed(map_from_odom=turn, observations=(sighting(1, pose=far),)))
    assert scene.counts["jumps"] == 1
    assert np.allclose(scene.entities()[1].views[0].map_from_camera, turn @ far)


def test_a_turn_about_the_robot_far_from_the_origin_is_no_long_way(scene, feed):
    far = camera_at(38.0, 0.0, 0.0)
    scene.update(feed(observations=(sighting(1, pose=far),)))
    small = turned_about(
        38.0, 0.0, math.radians(0.5)
    )  # moves the origin of odometry by 0.33 m, the robot by nothing
    scene.update(feed(map_from_odom=small, observations=(sighting(1, pose=far),)))
    assert scene.counts["jumps"] == 0


@pytest.mark.parametrize(
    "jump", [turned_about(30.0, -20.0, math.radians(5.0)), planar_transform(0.5, -0.3, 0.0)]
)
def test_everything_that_has_a_place_moves_together(scene, feed, jump):
    places = {1: (5.0, 1.0, 0.5), 2: (-8.0, 4.0, 0.9), 3: (5.5, 1.2, 0.5)}
    scene.update(feed(updated=tuple(instance(i, place) for i, place in places.items())))
    scene.update(feed(observations=(sighting(1, pose=camera_at(3.0, 1.0, 0.0)),)))
    for _ in range(3):
        scene.update(feed(absences=(Absence(2, 2.0, 0.9),)))
    mask = np.zeros((40, 40), np.uint16)
    mask[20:, 20:] = 7
    scene.assign_regions(mask, (-20.0, -20.0), 1.0, ((7, 400.0, (10.0, 10.0), ()),))
    scene.flush()
    before = scene.entities()
    assert before[2].state == EntityState.ARCHIVED and before[1].region_id == 7
    scene.update(feed(map_from_odom=jump))
    after = scene.entities()
    for identity, place in places.items():
        expected = (jump @ [*place, 1.0])[:3]
        assert np.allclose(after[identity].mean, expected)
        assert np.allclose((after[identity].box_min + after[identity].box_max) / 2, expected)
        assert np.allclose(
            after[identity].covariance, jump[:3, :3] @ before[identity].covariance @ jump[:3, :3].T
        )
        assert after[identity].neighbors == before[identity].neighbors
        assert after[identity].is_static
    assert np.allclose(after[1].views[0].map_from_camera, jump @ before[1].views[0].map_from_camera)
    assert np.allclose(scene.regions[7].centroid, (jump @ [10.0, 10.0, 0.0, 1.0])[:2])
    for point in ((0.5, 0.5), (10.0, 18.0), (-3.0, 5.0), (19.5, 0.5)):
        there = (jump @ [*point, 0.0, 1.0])[None, :2]
        assert scene.state.rooms.at(there)[0] == (7 if min(point) > 0 else 0)


def test_an_archived_thing_is_found_again_where_it_stands_after_the_jump(scene, feed):
    jump = turned_about(30.0, -20.0, math.radians(5.0))
    scene.update(feed(updated=(instance(1, (5.0, 1.0, 0.5)),)))
    for _ in range(3):
        scene.update(feed(absences=(Absence(1, 2.0, 0.9),)))
    scene.update(feed(map_from_odom=jump))
    place = (jump @ [5.0, 1.0, 0.5, 1.0])[:3]
    scene.update(feed(map_from_odom=jump, updated=(instance(2, tuple(place), stamp=9.0),)))
    assert scene.counts["restored"] == 1 and scene.resolve(1) == 2


def test_ids_of_regions_go_on_through_a_jump(scene, feed):
    cells = np.full((100, 100), 100, np.int8)
    cells[2:48, 2:98] = cells[52:98, 2:98] = 0
    cells[48:52, 45:54] = 0
    scene.find_regions(OccupancyGrid2D(cells, 0.1, (0.0, 0.0)))
    before = {i: r.centroid for i, r in scene.regions.items()}
    scene.update(feed())
    jump = planar_transform(0.0, 4.9, 0.0)  # by the length of a room
    scene.update(feed(map_from_odom=jump))
    scene.find_regions(OccupancyGrid2D(cells, 0.1, (0.0, 4.9)))
    assert len(before) == 2 and set(scene.regions) == set(before)
    for identity, centroid in before.items():
        assert np.allclose(scene.regions[identity].centroid, np.add(centroid, (0.0, 4.9)), atol=0.2)


def ring_of_cameras():
    """Return camera poses round a square of 20 m, one each half metre and second."""
    corners = np.array([(0.0, 0.0), (20.0, 0.0), (20.0, 20.0), (0.0, 20.0), (0.0, 0.0)])
    places = [
        corners[k] + (corners[k + 1] - corners[k]) * step / 40.0 for k in range(4) for step in range(40)
    ]
    return [camera_at(x, y, 0.0) for x, y in places]


def test_a_closed_loop_moves_what_was_seen_last_and_leaves_what_was_seen_first(scene, feed):
    cameras = ring_of_cameras()
    seen = {1: (2.0, 1.0, 0.5), 2: (19.0, 12.0, 0.5), 3: (1.0, 3.0, 0.5)}
    at = {1: 4, 2: 64, 3: 154}
    for stamp, pose in enumerate(cameras):
        new = tuple(
            instance(i, seen[i], stamp=float(stamp), first_seen=float(stamp)) for i in seen if at[i] == stamp
        )
        looks = tuple(sighting(i, float(stamp), pose) for i in seen if at[i] <= stamp < at[i] + 3) or (
            sighting(99, float(stamp), pose),
        )
        scene.update(feed(stamp=float(stamp), updated=new, observations=looks))
    jump = planar_transform(0.0, -0.8, 0.0)
    last = float(len(cameras))
    told = scene.update(feed(stamp=last, map_from_odom=jump, observations=(sighting(99, last, cameras[0]),)))
    moved = {i: scene.entities()[i].mean - np.array(seen[i]) for i in seen}
    assert np.allclose(moved[1], 0.0, atol=0.05)
    assert 0.05 < np.linalg.norm(moved[2]) < 0.6
    assert np.allclose(moved[3], (0.0, -0.8, 0.0), atol=0.15)
    for i in seen:
        (view, *_) = scene.entities()[i].views
        assert np.allclose(view.map_from_camera[:3, 3] - cameras[int(view.stamp)][:3, 3], moved[i], atol=0.05)
    assert {entity.id for entity in told.updated} <= {1, 2, 3}

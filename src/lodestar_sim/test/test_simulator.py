"""Tests of the simulator: time, events and determinism."""

from __future__ import annotations

import numpy as np
import pytest

from lodestar.geometry.poses import planar_transform
from lodestar_sim.raycast import MISS
from lodestar_sim.simulator import SimConfig, Simulator


def _captions(sim: Simulator) -> set[str]:
    return {entry["caption"] for entry in sim.render(rgb=False, width=320, height=240).label_table.values()}


def test_time_is_a_whole_number_of_steps(empty_room):
    sim = Simulator(empty_room)
    for _ in range(1000):
        sim.step()
    assert sim.time == pytest.approx(20.0, abs=1e-9)
    sim.step(0.25)
    assert sim.time == pytest.approx(20.24, abs=0.011)


def test_events_change_what_is_seen_and_what_is_hit(eventful_room):
    sim = Simulator(eventful_room, seed=1, start=(-1.0, 0.3, 0.0))
    assert _captions(sim) == {"red chair", "blue cabinet"}
    ahead = slice(355, 365)
    near = sim.scan().ranges[ahead].min()
    sim.step(1.02)
    assert sim.scan().ranges[ahead].min() > near + 1.0  # the chair no longer stands ahead
    assert "red chair" in _captions(sim)
    sim.step(1.0)
    assert _captions(sim) == {"red chair"}
    sim.step(1.0)
    assert _captions(sim) == {"red chair", "box"}


def test_a_walking_person_is_where_the_world_says(eventful_room):
    sim = Simulator(eventful_room, seed=1, start=(-3.2, 0.3, 0.0))
    sim.step(5.5)
    x, y = next(thing for thing in eventful_room.objects_at(sim.time) if thing.id == 40).xy
    assert (x, y) == pytest.approx((-2.0, 0.5), abs=0.03)
    frame = sim.render(rgb=True)
    value = next(v for v, entry in frame.label_table.items() if entry["class"] == "person")
    columns = np.argwhere(frame.labels == value)[:, 1]
    camera_x = sim.true_pose[0] + sim.config.sensors.camera.x
    expected = frame.camera.cx - frame.camera.fx * (y - sim.true_pose[1]) / (x - camera_x)
    assert columns.mean() == pytest.approx(expected, abs=40)
    assert frame.depth[frame.labels == value].max() < 2.0


def test_a_walker_waits_before_a_robot_in_its_way_and_goes_on_through_it_in_the_end(eventful_room):
    def along(wait, start, seconds):
        sim = Simulator(eventful_room, SimConfig(walkers_wait=wait), seed=1, start=start)
        sim.step(seconds)
        return next(thing for thing in sim.things if thing.id == 40).xy[1]

    aside, before = (-3.2, 0.3, 0.0), (-2.0, 0.5, 0.0)
    assert along(3.0, aside, 6.5) == along(0.0, before, 6.5) == pytest.approx(-0.5, abs=0.03)
    assert along(3.0, before, 6.5) == pytest.approx(1.4, abs=0.05)
    assert along(3.0, before, 8.5) == pytest.approx(0.5, abs=0.1)


def test_moving_bodies_hit_rays_as_the_still_scene_does(eventful_room):
    """Casting against static scene and movers equals casting against one scene of all geometry."""
    from lodestar_sim.raycast import RaycastWorld, rays_from

    sim = Simulator(eventful_room, seed=1, start=(-3.2, 0.3, 0.0))
    sim.step(5.0)
    whole = RaycastWorld(eventful_room.geometry(sim.time))
    directions = np.random.default_rng(0).normal(size=(4000, 3)).astype(np.float32)
    place = np.eye(4)
    place[:3, 3] = (-0.5, 0.4, 0.8)
    rays = rays_from(directions, place)
    merged, single = sim._raycast.cast(rays), whole.cast(rays)
    np.testing.assert_allclose(merged.distance, single.distance, rtol=1e-4, atol=1e-4)
    hit = single.triangle != MISS
    objects = sim._raycast.objects[merged.triangle[hit]]
    assert (objects == 40).sum() > 20
    assert (objects == whole.objects[single.triangle[hit]]).mean() > 0.999  # but for shared edges


def test_an_image_is_cast_as_its_rays_are(eventful_room):
    """`cast_image`, which interpolates between rays on one triangle, equals casting every ray."""
    sim = Simulator(eventful_room, seed=1)
    camera = sim.config.sensors.camera.pinhole(161, 119)  # odd size: last row and column are cast
    for yaw in np.arange(6.0):
        place = planar_transform(-0.5, 0.4, yaw) @ sim.config.sensors.camera.base_from_optical
        rays = sim._camera_rays(camera, place)
        whole, image = sim._raycast.cast(rays), sim._raycast.cast_image(rays, camera.height, camera.width)
        same = whole.triangle == image.triangle
        assert same.mean() > 0.995
        np.testing.assert_allclose(image.distance[same], whole.distance[same], rtol=1e-5)
        np.testing.assert_allclose(image.normal[same], whole.normal[same], atol=1e-6)
        objects = [np.where(h.triangle == MISS, -1, sim._raycast.objects[h.triangle % len(sim._raycast.objects)])
                   for h in (whole, image)]  # fmt: skip
        assert (objects[0] == objects[1]).mean() > 0.998


def test_a_person_can_be_run_into(eventful_room):
    sim = Simulator(eventful_room, seed=1, start=(-3.3, 2.0, 0.0))
    for _ in range(150):
        sim.set_command(0.5, 0.0, 0.0)
        sim.step()
    assert sim.collisions == 1
    assert sim.true_pose[0] < -2.3


def test_same_seed_same_run_and_another_seed_another(eventful_room):
    def run(seed: int):
        sim = Simulator(eventful_room, seed=seed, start=(-3.2, 0.3, 0.0))
        parts = []
        for k in range(12):
            sim.set_command(0.3, 0.1, 0.4 if k % 2 else -0.4)
            sim.step(0.5)
            frame = sim.render(width=160, height=120)
            parts += [
                frame.rgb,
                frame.depth_mm,
                frame.labels,
                sim.scan().ranges,
                sim.lidar(),
                sim.robot.odometry,
            ]
        return parts, sim

    (first, a), (second, b), (third, c) = run(5), run(5), run(6)
    for x, y in zip(first, second):
        np.testing.assert_array_equal(x, y)
    np.testing.assert_array_equal(a.true_pose, b.true_pose)
    assert not np.array_equal(a.robot.odometry, c.robot.odometry)
    assert not np.array_equal(first[1], third[1])


def test_leaving_a_sensor_out_does_not_change_the_others(furnished_room):
    with_all, with_scan = (Simulator(furnished_room, seed=5) for _ in range(2))
    for _ in range(3):
        with_all.step(0.1)
        with_scan.step(0.1)
        with_all.render(width=160, height=120)
        with_all.lidar()
        np.testing.assert_array_equal(with_all.scan().ranges, with_scan.scan().ranges)


def test_headless_steps_add_up_with_frames_in_between(furnished_room):
    sim = Simulator(furnished_room, seed=5)
    for number in range(1, 13):
        sim.set_command(0.1, 0.0, 0.5)
        sim.step(0.24)
        frame = sim.render(rgb=False, width=64, height=48)
        sim.scan()
        assert sim.time == pytest.approx(0.24 * number)
        assert frame.stamp == sim.time

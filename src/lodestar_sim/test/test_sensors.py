"""Tests of the simulated sensors in a room with known geometry."""

from __future__ import annotations

import math
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest

from lodestar.geometry.poses import inverse, transform_points
from lodestar_sim.sensors import (
    DEPTH_NOISE_DROPOUT,
    DEPTH_NOISE_FADE,
    DEPTH_NOISE_FADE_FROM,
    DEPTH_NOISE_FAR,
    DEPTH_NOISE_SIGMA,
    DEPTH_NOISE_SIGMA_SQUARE,
    LIDAR_SIGMA,
    SensorConfig,
    lidar_directions,
    scan_directions,
)
from lodestar_sim.simulator import SimConfig, Simulator

DEFAULT = SimConfig()


@contextmanager
def exact_depth():
    """Set the depth noise to zero for a while."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("SIGMA", "SIGMA_SQUARE", "DROPOUT", "FADE", "EDGE_DROPOUT", "GRAZING"):
            patch.setattr(f"lodestar_sim.sensors.DEPTH_NOISE_{name}", 0.0)
        yield


def _flat_wall(world, distance: float, config: SimConfig = DEFAULT):
    """Return a simulator whose level camera faces the wall x = 4 at a distance (m)."""
    camera = replace(config.sensors.camera, pitch_up=0.0)
    config = replace(config, sensors=replace(config.sensors, camera=camera))
    return Simulator(world, config, 1, start=(4.0 - distance - camera.x, 0.0, 0.0))


def test_depth_without_noise_is_the_distance_to_the_wall(empty_room):
    with exact_depth():
        frame = _flat_wall(empty_room, 2.0).render(rgb=False)
    assert frame.depth_mm.dtype == np.uint16
    assert frame.depth_mm[240, 200:440] == pytest.approx(2000, abs=1)
    np.testing.assert_allclose(frame.depth, frame.depth_mm / 1000.0, rtol=1e-6)


@pytest.mark.parametrize("distance", [0.6, 2.0, 4.0])
def test_depth_noise_grows_with_the_range_as_configured(empty_room, distance):
    sim = _flat_wall(empty_room, distance)
    values = np.stack([sim.render(rgb=False).depth[200:280, 280:360] for _ in range(8)])
    values = values[values > 0]
    expected = DEPTH_NOISE_SIGMA + DEPTH_NOISE_SIGMA_SQUARE * (distance - 0.4) ** 2
    assert values.mean() == pytest.approx(distance, abs=expected / 5 + 0.0005)
    assert values.std() == pytest.approx(expected, rel=0.12, abs=0.0003)  # rounded to millimetres


def test_depth_drops_out_at_the_configured_share_and_more_far_away(empty_room):
    near = _flat_wall(empty_room, 2.0)
    lost = np.mean([(near.render(rgb=False).depth_mm[200:280, 280:360] == 0).mean() for _ in range(10)])
    assert lost == pytest.approx(DEPTH_NOISE_DROPOUT, abs=0.001)
    far = _flat_wall(empty_room, 7.0)
    share = (7.0 - DEPTH_NOISE_FADE_FROM) / (DEPTH_NOISE_FAR - DEPTH_NOISE_FADE_FROM)
    expected = DEPTH_NOISE_FADE * share + DEPTH_NOISE_DROPOUT
    assert (far.render(rgb=False).depth_mm[230:250, 300:340] == 0).mean() == pytest.approx(expected, abs=0.05)


def test_depth_is_lost_at_the_edge_of_an_object(furnished_room):
    sim = Simulator(furnished_room, SimConfig(), 3, start=(-1.0, 0.0, 0.0))
    with exact_depth():
        clean = Simulator(furnished_room, DEFAULT, 3, start=(-1.0, 0.0, 0.0)).render(rgb=False).depth
    frame = sim.render(rgb=False)
    jump = np.abs(np.diff(clean, axis=1, prepend=clean[:, :1])) > 0.5
    assert jump.sum() > 100
    assert (frame.depth[jump] == 0).mean() > 0.3
    assert (frame.depth[~jump & (clean > 0)] == 0).mean() < 0.15


def test_nothing_is_measured_beyond_the_range(empty_room, monkeypatch):
    monkeypatch.setattr("lodestar_sim.sensors.DEPTH_NOISE_FAR", 1.5)
    frame = _flat_wall(empty_room, 2.0).render(rgb=False)
    assert frame.depth.max() <= 1.6
    assert (frame.depth_mm[200:280, 280:360] == 0).all()


def test_depth_frames_back_project_onto_the_world(furnished_room):
    sim = Simulator(furnished_room, DEFAULT, 0, start=(0.0, -0.5, 0.4))
    with exact_depth():
        frame = sim.render(rgb=False, width=320, height=240)
    points = frame.camera.backproject(frame.depth)[frame.depth.ravel() > 0]
    points_map = transform_points(frame.map_from_odom @ frame.odom_from_camera, points.astype(np.float64))
    assert points_map[:, 0].max() == pytest.approx(4.0, abs=0.01)
    assert points_map[:, 2].min() == pytest.approx(0.0, abs=0.01)
    assert np.abs(points_map[:, 1]).max() <= 3.01


def test_labels_name_what_is_in_view_and_nothing_else(furnished_room):
    frame = Simulator(furnished_room, SimConfig(), 5, start=(-1.0, 0.0, 0.2)).render(rgb=False)
    captions = {entry["caption"]: value for value, entry in frame.label_table.items()}
    assert set(captions) == {"red chair", "blue cabinet"}
    assert set(np.unique(frame.labels)) == {0, *captions.values()}
    assert frame.labels.dtype == np.uint16
    chair = np.argwhere(frame.labels == captions["red chair"])
    cabinet = np.argwhere(frame.labels == captions["blue cabinet"])
    assert len(chair) > 2000
    assert chair[:, 1].mean() > cabinet[:, 1].mean()  # cabinet on the left


def test_label_values_are_renumbered_in_every_frame(furnished_room):
    sim = Simulator(furnished_room, SimConfig(), 5, start=(-1.0, 0.0, 0.2))
    values = set()
    for _ in range(10):
        table = sim.render(rgb=False, width=160, height=120).label_table
        values |= {value for value, entry in table.items() if entry["class"] == "chair"}
    assert len(values) == 10


def test_ids_and_names_do_not_reach_the_sensors(furnished_room):
    """Changed ids and order of the objects give the same data, label values included."""
    chair, cabinet = furnished_room.objects
    other = replace(
        furnished_room, objects=(replace(cabinet, id=901), replace(chair, id=12)), name="elsewhere"
    )
    streams = []
    for world in (furnished_room, other):
        sim = Simulator(world, SimConfig(), 11, start=(-1.0, 0.0, 0.2))
        frames = []
        for _ in range(4):
            sim.set_command(0.4, 0.1, 0.2)
            sim.step(0.2)
            frames.append((sim.render(width=160, height=120), sim.scan(), sim.lidar()))
        streams.append(frames)
    for (a, scan_a, lidar_a), (b, scan_b, lidar_b) in zip(*streams):
        np.testing.assert_array_equal(a.labels, b.labels)
        np.testing.assert_array_equal(a.depth_mm, b.depth_mm)
        np.testing.assert_array_equal(a.rgb, b.rgb)
        np.testing.assert_array_equal(scan_a.ranges, scan_b.ranges)
        np.testing.assert_array_equal(lidar_a, lidar_b)
        assert a.label_table == b.label_table


def test_colours_are_those_of_the_captions(furnished_room):
    frame = Simulator(furnished_room, SimConfig(), 5, start=(-1.0, 0.0, 0.2)).render()
    values = {entry["caption"]: value for value, entry in frame.label_table.items()}
    red = frame.rgb[frame.labels == values["red chair"]].mean(axis=0)
    blue = frame.rgb[frame.labels == values["blue cabinet"]].mean(axis=0)
    assert red[0] > 2 * max(red[1], red[2])
    assert blue[2] > 1.5 * max(blue[0], blue[1])


def test_surfaces_are_textured_and_corners_are_darker(empty_room):
    rgb = Simulator(empty_room, SimConfig(), 0, start=(0.0, 0.0, 0.0)).render().rgb.astype(float)
    floor = rgb[470:480, 200:440].mean(axis=2)
    assert floor.std() > 2.0
    looking_into_corner = Simulator(empty_room, SimConfig(), 0, start=(2.2, 1.2, math.pi / 4)).render().rgb
    row = looking_into_corner[200, :, 1].astype(float)
    assert row[300:340].min() < row[100:200].mean() - 8


def test_rendering_a_view_leaves_the_run_as_it_is(furnished_room):
    streams = []
    for look in (False, True):
        sim = Simulator(furnished_room, SimConfig(), 4, start=(-1.0, 0.0, 0.2))
        if look:
            rgb, depth_mm = sim.render_view((0.0, 0.0, 0.0))
            assert rgb.shape == (480, 640, 3)
            assert depth_mm.shape == (480, 640)
            assert (depth_mm > 0).mean() > 0.99
        streams.append(sim.render())
    np.testing.assert_array_equal(streams[0].rgb, streams[1].rgb)
    np.testing.assert_array_equal(streams[0].depth_mm, streams[1].depth_mm)
    assert streams[0].label_table == streams[1].label_table


def test_scan_folds_the_heights_of_the_body(furnished_room):
    config = SimConfig()
    sim = Simulator(furnished_room, config, 2, start=(0.0, 0.0, 0.0))
    frame = sim.scan()
    _, first, step = scan_directions(config.sensors.scan)
    angles = first + step * np.arange(len(frame.ranges))
    assert len(frame.ranges) == 720
    behind = frame.ranges[np.abs(angles - math.pi / 2) < 0.1]
    assert behind == pytest.approx(3.0 / np.sin(angles[np.abs(angles - math.pi / 2) < 0.1]), abs=0.05)
    legs = frame.ranges[np.abs(angles) < 0.15]
    assert legs.min() < 1.8  # seen at one scan height at least; the seat is above two
    assert frame.angle_min + (len(frame.ranges) - 1) * frame.angle_increment < math.pi


def test_scan_without_a_return_is_infinite(empty_room):
    scan = replace(SensorConfig().scan, far=2.5)
    sim = Simulator(empty_room, SimConfig(sensors=SensorConfig(scan=scan)), 0)
    ranges = sim.scan().ranges
    assert np.isinf(ranges).any()
    assert np.isfinite(ranges).sum() == 0  # walls are beyond 2.5 m


def test_lidar_points_lie_on_the_building(empty_room):
    config = SimConfig()
    sim = Simulator(empty_room, config, 2, start=(0.5, -0.5, 0.7))
    points = sim.lidar()
    assert points.dtype == np.float32
    assert 0.97 <= len(points) / (24 * 360) <= 1.0  # dropout of 1 %
    from lodestar.geometry.poses import planar_transform

    world = transform_points(
        planar_transform(0.5, -0.5, 0.7, config.sensors.lidar.z), points.astype(np.float64)
    )
    to_surface = np.minimum.reduce(
        [np.abs(np.abs(world[:, 0]) - 4.0), np.abs(np.abs(world[:, 1]) - 3.0), np.abs(world[:, 2]),
         np.abs(world[:, 2] - 2.5)]
    )  # fmt: skip
    assert np.percentile(to_surface, 99) < 4 * LIDAR_SIGMA


def test_lidar_directions_are_unit_and_cover_the_field():
    directions = lidar_directions()
    assert directions.shape == (24 * 360, 3)
    assert np.linalg.norm(directions, axis=1) == pytest.approx(1.0, abs=1e-6)
    assert math.degrees(math.asin(directions[:, 2].min())) == pytest.approx(-35.0, abs=1e-3)
    assert math.degrees(math.asin(directions[:, 2].max())) == pytest.approx(30.0, abs=1e-3)


def test_camera_looks_up_and_stands_ahead():
    base_from_optical = SensorConfig().camera.base_from_optical
    axis = base_from_optical[:3, 2]
    assert math.degrees(math.asin(axis[2])) == pytest.approx(10.0)
    assert base_from_optical[:3, 3] == pytest.approx([0.30, 0.0, 0.45])
    assert np.allclose(base_from_optical @ inverse(base_from_optical), np.eye(4))

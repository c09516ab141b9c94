"""Tests of marks that stand for the places at their pixels; marks too near or too far are left out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from expert_worlds import CAMERA, Block, photograph

from lodestar.experts.annotations import (
    ANNOTATION_FAR,
    ANNOTATION_NEAR,
    annotated_jpeg,
    draw_points,
    grid_points,
)
from lodestar.geometry.poses import inverse, planar_transform, transform_points
from lodestar.perception.pictures import decode_picture

POSE = (2.0, 4.0, 0.3)


def test_every_mark_projects_to_its_pixel_at_its_depth(monkeypatch):
    frame, _ = photograph(POSE, background=4.0)
    low = grid_points(frame, 5, 0.45)
    monkeypatch.setattr("lodestar.experts.annotations.ANNOTATION_HIGHEST", 9.0)
    points = grid_points(frame, 5, 0.45)
    assert all(p.position[2] <= 2.0 for p in low) and len(low) < len(points)
    assert [p.number for p in points] == list(range(5, 5 + 24))
    positions = np.array([p.position for p in points])
    in_camera = transform_points(inverse(frame.map_from_camera), positions)
    pixels, inside = CAMERA.project(in_camera)
    assert inside.all() and np.allclose(in_camera[:, 2], 4.0, atol=1e-4)
    assert np.allclose(pixels, [p.pixel for p in points], atol=0.01)
    assert points[0].bearing > 0.0 > points[5].bearing  # positive bearings are to the left


def test_near_far_and_invalid_cells_are_pruned():
    frame, _ = photograph(POSE)
    for depth in (0.0, np.nan, np.inf, ANNOTATION_NEAR - 0.1, ANNOTATION_FAR + 0.1):
        assert grid_points(replace(frame, depth=np.full_like(frame.depth, depth)), 1, 0.45) == []
    mixed = np.full_like(frame.depth, 9.0)
    mixed[:60] = 2.0
    assert len(grid_points(replace(frame, depth=mixed), 1, 0.45)) == 12


def test_the_picture_shows_a_disc_at_every_mark():
    frame, _ = photograph(POSE, Block(5.0, 5.0, "chair", "red chair"), background=4.0)
    points = grid_points(frame, 1, 0.45)
    rgb = np.full((240, 320, 3), 90, np.uint8)  # of twice the depth image's resolution
    picture = draw_points(rgb, points, frame.depth.shape, 768)
    assert picture.shape == rgb.shape and (rgb == 90).all()
    for point in points:
        column, row = (int(v * 2) for v in point.pixel)
        assert (picture[row - 4 : row + 5, column - 4 : column + 5] != 90).any()
    assert max(draw_points(rgb, points, frame.depth.shape, 160).shape) == 160
    assert decode_picture(annotated_jpeg(replace(frame, rgb=rgb), points)).shape == rgb.shape
    assert annotated_jpeg(frame, points) == b""


def test_on_an_upper_storey_the_same_places_are_marked():
    frame, _ = photograph(POSE, background=4.0)
    upstairs = replace(frame, map_from_odom=planar_transform(0.0, 0.0, 0.0, 3.0))
    level = grid_points(frame, 1, 0.45)
    assert level and [p.pixel for p in grid_points(upstairs, 1, 0.45)] == [p.pixel for p in level]

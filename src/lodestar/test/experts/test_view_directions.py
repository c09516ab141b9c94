"""Tests that an open direction becomes a goal if the target is likely to be there."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from expert_worlds import CAMERA, camera_pose, request, thing
from hypothesis import given
from hypothesis import strategies as st
from test_likely_places import KETTLE, Kitchenware

from lodestar.experts.config import DirectionConfig, ReachConfig
from lodestar.experts.view_directions import DIRECTION_OPEN_DEPTH, ViewDirections, open_directions
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.language.directive import Scope
from lodestar.language.query_graph import QueryGraph, QueryVariable
from lodestar.models.phrases import PhraseBook
from lodestar.perception.frames import RgbdFrame
from lodestar.scene.mirror import SceneMirror
from lodestar.scene.records import SceneDelta

EASY = DirectionConfig(least=0.02)


def frame(depth: np.ndarray, yaw: float = 0.0) -> RgbdFrame:
    return RgbdFrame(10.0, CAMERA, depth.astype(np.float32), camera_pose(10.0, 3.0, yaw))


def depths(ahead: float) -> np.ndarray:
    """Return depths of 1 m at the sides and `ahead` in the middle of the view."""
    image = np.ones((CAMERA.height, CAMERA.width))
    image[:, 60:100] = ahead
    return image


def corridor(likely_east: bool) -> tuple[OccupancyGrid2D, SceneMirror]:
    """Return a grid of 20 x 6 m with unknown ends, and a scene: a refrigerator at one end, a bed at the other."""
    cells = np.zeros((60, 200), np.int8)
    cells[0], cells[-1], cells[:, 0], cells[:, -1] = 100, 100, 100, 100
    cells[1:-1, 1:60] = cells[1:-1, 140:-1] = -1
    mirror = SceneMirror()
    ends = (5.0, 15.0) if likely_east else (15.0, 5.0)
    mirror.apply(
        SceneDelta(0.0, 1, 0, (thing(1, ends[1], 3.0, "refrigerator"), thing(2, ends[0], 3.0, "bed")))
    )
    return OccupancyGrid2D(cells, 0.1, (0.0, 0.0)), mirror


def proposed(likely_east: bool, view: RgbdFrame, config: DirectionConfig = EASY):
    directions = ViewDirections(config, PhraseBook(Kitchenware()), ReachConfig())
    grid, mirror = corridor(likely_east)
    directions.set_grid(grid)
    yaw = math.atan2(view.map_from_camera[1, 2], view.map_from_camera[0, 2])
    return directions.propose("ego_vlm", request((10.0, 3.0, yaw), KETTLE), view, grid, mirror)


@given(st.floats(-math.pi, math.pi), st.floats(0.3, 8.0))
def test_only_depth_is_open_and_it_lies_where_the_camera_looks(yaw, ahead):
    found = open_directions(frame(depths(ahead), yaw))
    assert bool(found) == any(way.depth >= DIRECTION_OPEN_DEPTH for way in found)
    assert bool(found) or ahead < DIRECTION_OPEN_DEPTH
    # measured along the ray, not along the optical axis
    assert not found or ahead > 0.9 * DIRECTION_OPEN_DEPTH
    for way in found:
        assert way.depth == pytest.approx(ahead, rel=0.1)
        assert math.cos(way.bearing - yaw) > math.cos(math.radians(25.0))


def test_it_goes_along_the_open_direction_with_the_chance_as_confidence():
    goal = proposed(True, frame(depths(4.5)))
    assert goal is not None and goal.goal[0] > 11.0 and 0.0 < goal.confidence <= 1.0
    other = proposed(False, frame(depths(4.5)))
    assert other is None or other.confidence < goal.confidence


def test_a_closed_view_and_an_unlikely_direction_have_no_goal():
    assert proposed(True, frame(depths(1.0))) is None
    assert proposed(False, frame(depths(4.5)), DirectionConfig(least=0.6)) is None
    assert proposed(True, frame(np.zeros((CAMERA.height, CAMERA.width)))) is None


def long_corridor(reach: float, beyond: float, wall: float = 60.0) -> np.ndarray:
    """Return depth in a corridor of 2 m width, from 0.45 m above the middle of the floor; 0 beyond `reach` metres."""
    columns, rows = np.meshgrid(np.arange(CAMERA.width), np.arange(CAMERA.height))
    with np.errstate(divide="ignore"):
        floor = 0.45 * CAMERA.fy / np.maximum(rows - CAMERA.cy, 0.0)
        sides = CAMERA.fx / np.abs(columns - CAMERA.cx)
    image = np.minimum(np.minimum(floor, sides), wall)
    return np.where(image <= reach, image, beyond)


@pytest.mark.parametrize("beyond", [0.0, np.inf, np.nan])
def test_a_corridor_beyond_the_cameras_range_is_open_and_a_wall_without_depth_is_not(beyond):
    (way,) = [w for w in open_directions(frame(long_corridor(6.0, beyond))) if abs(w.bearing) < 0.1]
    assert 4.0 < way.depth <= 6.0
    black = long_corridor(20.0, beyond, wall=2.0)
    black[black == 2.0] = beyond
    assert not open_directions(frame(black))


def test_few_measured_pixels_make_no_direction():
    image = np.zeros((CAMERA.height, CAMERA.width))
    image[60, ::10] = 8.0
    assert not open_directions(frame(image))


def test_only_rooms_of_the_tasks_scope_count():
    directions = ViewDirections(EASY, PhraseBook(Kitchenware()), ReachConfig())
    grid, mirror = corridor(True)
    directions.set_grid(grid)
    asked = request((10.0, 3.0, 0.0), KETTLE)
    (step,) = asked.directive.steps
    elsewhere = replace(step, scope=Scope(rooms=(QueryGraph((QueryVariable("kitchen", "kitchen"),)),)))
    outside = replace(asked, directive=replace(asked.directive, steps=(elsewhere,)))
    assert directions.propose("ego_vlm", asked, frame(depths(4.5)), grid, mirror) is not None
    assert directions.propose("ego_vlm", outside, frame(depths(4.5)), grid, mirror) is None


def test_known_floor_that_no_camera_saw_may_hide_it_too():
    def chance(looked: bool) -> float:
        directions = ViewDirections(EASY, PhraseBook(Kitchenware()), ReachConfig())
        grid, mirror = corridor(True)
        directions.set_grid(grid)
        for yaw in np.arange(0.0, 6.3, 0.5) if looked else (-math.pi / 2.0,):
            for x in (7.0, 10.0, 13.0) if looked else (10.0,):
                directions.set_view(RgbdFrame(9.0, CAMERA, depths(4.5), camera_pose(x, 3.0, yaw)))
        return directions.propose(
            "ego_vlm", request((10.0, 3.0, 0.0), KETTLE), frame(depths(4.5)), grid, mirror
        ).chance

    assert chance(True) > 1.1 * chance(False) > 0.0

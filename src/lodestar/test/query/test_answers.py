"""Tests of the results of a ranking: the question that separates two candidates, and the pose to face a target."""

from __future__ import annotations

import numpy as np
import pytest
from query_builders import room, thing

from lodestar.geometry.poses import BODY_FROM_OPTICAL, planar_transform
from lodestar.grid.config import VIEWPOINT_CAMERA_FORWARD
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.grid.paths import TravelConfig, path_lengths
from lodestar.language.grammar import parse_query
from lodestar.models.phrases import PhraseBook
from lodestar.perception.frames import ImageBox
from lodestar.query.ambiguity import tell_apart
from lodestar.query.answer_pose import AnswerPoseConfig, saved_pose
from lodestar.query.verdict import score_query
from lodestar.scene.records import View

BOOK = PhraseBook()
RESOLUTION = 0.1


def first_two(entities, text="the chair"):
    return score_query(parse_query(text), entities, BOOK)[:2]


def test_two_chairs_are_told_apart_by_color_first():
    entities = {i: room()[i] for i in (1, 2, 3)}
    assert (
        tell_apart(*first_two(entities), entities)
        == "#1 red office chair (red) or #2 blue office chair (blue)"
    )


def test_then_by_what_stands_beside_only_one():
    chairs = {
        1: thing(1, "chair", "chair", (0, 0, 0), (0.5, 0.5, 0.9)),
        2: thing(2, "chair", "chair", (6, 0, 0), (6.5, 0.5, 0.9)),
        3: thing(3, "plant", "plant", (6.8, 0, 0), (7.1, 0.3, 0.9)),
    }
    assert (
        tell_apart(*first_two(chairs), chairs) == "#1 chair (no plant beside it) or #2 chair (beside a plant)"
    )


def test_then_by_size_and_at_last_by_place():
    one = thing(1, "chair", "chair", (0, 0, 0), (0.5, 0.5, 0.9))
    large = thing(2, "chair", "chair", (6, 0, 0), (7.5, 1.5, 1.9))
    like = thing(2, "chair", "chair", (6, 0, 0), (6.5, 0.5, 0.9))
    assert "(the smaller) or" in tell_apart(*first_two({1: one, 2: large}), {1: one, 2: large})
    assert "(at 0.2 0.2) or #2 chair (at 6.2 0.2)" in tell_apart(
        *first_two({1: one, 2: like}), {1: one, 2: like}
    )
    assert tell_apart(*first_two({1: one, 2: like}), {1: one}) == "#1 or #2"


def floor(blocked=()):
    """Return 6 x 6 m of free floor inside walls, from (0, 0); blocked: cells ((row, row), (column, column))."""
    cells = np.zeros((60, 60), np.int8)
    cells[[0, -1]] = cells[:, [0, -1]] = 100
    for (top, bottom), (left, right) in blocked:
        cells[top:bottom, left:right] = 100
    return OccupancyGrid2D(cells, RESOLUTION, (0.0, 0.0))


def camera_at(x, y, yaw):
    """Return the view of a robot whose base is at x, y."""
    forward = VIEWPOINT_CAMERA_FORWARD
    body = planar_transform(x + forward * np.cos(yaw), y + forward * np.sin(yaw), yaw, 0.45)
    return body @ BODY_FROM_OPTICAL


def seen_box(*views):
    return thing(1, "box", "box", (4.0, 2.8, 0), (4.4, 3.2, 0.5), views=tuple(views))


def lengths(grid):
    return path_lengths(grid, np.array([1.0, 1.0]), TravelConfig())


def test_the_best_saved_view_is_the_answer():
    views = [
        View(1.0, camera_at(2.0, 3.0, 0.0), ImageBox(0, 0, 9, 9), 5, 0.4),
        View(2.0, camera_at(4.2, 1.2, np.pi / 2), ImageBox(0, 0, 9, 9), 6, 0.9),
    ]
    grid = floor()
    answer = saved_pose(seen_box(*views), grid, lengths(grid), ())
    assert answer is not None and answer.keyframe_id == 6
    assert answer.pose == pytest.approx([4.2, 1.2, np.pi / 2], abs=1e-6)


def test_a_saved_view_that_is_occupied_or_cut_off_gives_way_to_the_next():
    views = [
        View(1.0, camera_at(2.0, 3.0, 0.0), ImageBox(0, 0, 9, 9), 5, 0.4),
        View(2.0, camera_at(4.2, 1.2, np.pi / 2), ImageBox(0, 0, 9, 9), 6, 0.9),
    ]
    occupied = floor([((9, 16), (39, 46))])
    assert saved_pose(seen_box(*views), occupied, lengths(occupied), ()).keyframe_id == 5
    cut_off = floor([((17, 18), (1, 59))])
    from_above = path_lengths(cut_off, np.array([1.0, 4.0]), TravelConfig())
    assert saved_pose(seen_box(*views), cut_off, from_above, ()).keyframe_id == 5


def test_a_saved_view_that_looks_past_it_is_turned_and_one_that_was_tried_is_left_out():
    past = View(1.0, camera_at(3.2, 3.0, np.radians(35.0)), ImageBox(0, 0, 9, 9), 5, 0.4)
    grid = floor()
    found = saved_pose(seen_box(past), grid, lengths(grid), ())
    assert found is not None and found.pose[2] == pytest.approx(0.0, abs=0.15)
    assert saved_pose(seen_box(past), grid, lengths(grid), [(3.2, 3.1, 2.0)]) is None
    near = AnswerPoseConfig(saved_distance=0.1)
    assert saved_pose(seen_box(past), grid, lengths(grid), (), near) is None


def test_a_view_from_afar_is_no_answer_and_lengths_of_another_grid_are_refused():
    far = seen_box(View(1.0, camera_at(1.0, 3.0, 0.0), ImageBox(0, 0, 9, 9), 5, 0.4))
    grid = floor()
    assert saved_pose(far, grid, lengths(grid), ()) is None
    with pytest.raises(ValueError, match="do not belong"):
        saved_pose(far, grid, np.zeros((3, 3)), ())

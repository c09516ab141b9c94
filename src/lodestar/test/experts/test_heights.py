"""Tests of looked-at space in 3-D: space outside the camera's vertical field of view was not searched."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from expert_worlds import CAMERA, furnished, red_chair, request, thing

from lodestar.experts.coverage import LookedAt
from lodestar.experts.frontier import FrontierConfig, FrontierExpert
from lodestar.experts.heights import BANDS, Lens, SurfaceMap
from lodestar.experts.protocol import Proposal, RejectionReason
from lodestar.geometry.poses import BODY_FROM_OPTICAL, planar_transform
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.perception.frames import ImageBox
from lodestar.scene.mirror import SceneMirror
from lodestar.scene.records import Entity, EntityState, View


def pose_of(x: float, y: float, yaw: float, height: float = 0.4, pitch_up: float = 0.0) -> np.ndarray:
    """Return map_from_camera."""
    c, s = math.cos(pitch_up), math.sin(pitch_up)
    raise_ = np.array([[c, 0.0, -s, 0.0], [0.0, 1.0, 0.0, 0.0], [s, 0.0, c, 0.0], [0.0, 0.0, 0.0, 1.0]])
    return planar_transform(x, y, yaw, height) @ raise_ @ BODY_FROM_OPTICAL


def block(identity: int, low: tuple, high: tuple, label: str) -> Entity:
    """Return an entity that fills the box, standing or hanging."""
    low, high = np.array(low, float), np.array(high, float)
    return replace(thing(identity, 0.0, 0.0, label), mean=(low + high) / 2, box_min=low, box_max=high)


SHELF = block(1, (7.4, 3.0, 0.0), (7.8, 5.0, 1.8), "shelf")
TABLE = block(2, (3.2, 3.2, 0.0), (4.8, 4.8, 0.75), "table")


def look(looked: LookedAt, *pose, **lens) -> None:
    where = pose_of(*pose, **lens)
    told = Lens.of(where, CAMERA)
    looked.look(where[:2, 3], pose[2], told.fov, told)


def looked_in(grid: OccupancyGrid2D, *things: Entity) -> LookedAt:
    looked = LookedAt(4.5)
    looked.set_grid(grid)
    looked.set_entities(things)
    return looked


def unseen_at(looked: LookedAt, grid: OccupancyGrid2D, x: float, y: float, within: float = 4.5) -> bool:
    row, column = grid.cells_of(np.array([x, y]))
    return bool(looked.unseen(within)[row, column])


def test_a_low_camera_sees_a_shelf_top_from_afar_and_not_from_nearby():
    """For a level camera at 0.4 m: a top of 1.8 m is above the image at 0.5 m distance, and in it at 3 m."""
    grid = furnished(SHELF)
    looked = looked_in(grid, SHELF)
    look(looked, 6.9, 4.0, 0.0)
    assert unseen_at(looked, grid, 7.45, 4.0)
    look(looked, 4.2, 4.0, 0.0)
    assert not unseen_at(looked, grid, 7.45, 4.0)
    assert not unseen_at(looked, grid, 7.7, 4.0), "over the edge, to the back of the top"


def test_a_camera_that_looks_up_sees_it_from_nearby():
    grid = furnished(SHELF)
    looked = looked_in(grid, SHELF)
    look(looked, 6.4, 4.0, 0.0, pitch_up=math.radians(30.0))
    assert not unseen_at(looked, grid, 7.45, 4.0)


def test_the_floor_before_the_feet_is_not_in_a_level_image():
    grid = furnished()
    looked = looked_in(grid)
    look(looked, 4.0, 4.0, 0.0)
    assert unseen_at(looked, grid, 4.25, 4.0) and not unseen_at(looked, grid, 5.0, 4.0)
    look(looked, 3.0, 4.0, 0.0)
    assert not unseen_at(looked, grid, 4.25, 4.0)


def test_under_a_table_a_high_camera_has_not_searched_and_a_low_one_has():
    grid = furnished()  # without the legs, which are too thin for the grid
    looked = looked_in(grid, TABLE)
    look(looked, 2.4, 4.0, 0.0, height=1.5, pitch_up=math.radians(-35.0))
    assert not unseen_at(looked, grid, 3.1, 4.0), "the floor before it"
    assert unseen_at(looked, grid, 4.0, 4.0)
    look(looked, 1.5, 4.0, 0.0)
    assert not unseen_at(looked, grid, 4.0, 4.0)


def test_what_stands_behind_furniture_is_not_looked_at_over_it():
    sofa = block(3, (4.0, 2.0, 0.0), (5.0, 6.0, 0.7), "sofa")
    grid = furnished(sofa, SHELF)
    looked = looked_in(grid, sofa, SHELF)
    look(looked, 3.0, 4.0, 0.0)
    assert not unseen_at(looked, grid, 4.05, 4.0)
    assert unseen_at(looked, grid, 6.0, 4.0) and unseen_at(looked, grid, 7.45, 4.0)


def test_tops_that_became_known_later_were_looked_at_before():
    grid = furnished(SHELF)
    looked = looked_in(grid)
    look(looked, 4.2, 4.0, 0.0)
    looked.set_entities([SHELF])
    assert not unseen_at(looked, grid, 7.45, 4.0)
    assert unseen_at(looked, grid, 7.7, 4.0), "the view ended at the front of what was an obstacle then"


def test_what_was_looked_at_keeps_its_heights_when_the_grid_grows():
    grid = furnished(SHELF)
    looked = looked_in(grid, SHELF)
    look(looked, 4.2, 4.0, 0.0)
    before = looked.unseen(4.5)
    cells = np.full((100, 90), -1, np.int8)
    cells[10:90, 5:85] = grid.cells
    looked.set_grid(OccupancyGrid2D(cells, 0.1, (-0.5, -1.0)))
    after = looked.unseen(4.5)[10:90, 5:85]
    assert np.array_equal(before & (grid.cells >= 0), after & (grid.cells >= 0))


def test_small_low_and_very_high_and_archived_things_are_no_surfaces():
    things = (
        block(1, (1.0, 1.0, 0.0), (1.1, 3.0, 1.5), "curtain"), block(2, (2.0, 2.0, 0.0), (3.0, 3.0, 0.1), "rug"),
        block(3, (4.0, 4.0, 0.0), (5.0, 5.0, 2.4), "wardrobe"), replace(SHELF, state=EntityState.ARCHIVED),
    )  # fmt: skip
    assert (SurfaceMap.over(furnished(), things, 0.4).owner == -1).all()
    broken = [block(5, (1.0, 1.0, 0.0), (bad, 3.0, 1.0), "table") for bad in (math.inf, math.nan)]
    assert (SurfaceMap.over(furnished(), broken, 0.4).owner == -1).all()
    outside = block(4, (-30.0, -30.0, 0.0), (-20.0, -20.0, 1.0), "table")
    assert (SurfaceMap.over(furnished(), [outside], 0.4).owner == -1).all()


def around(expert: FrontierExpert, x: float, y: float) -> None:
    for yaw in np.arange(0.0, 2 * math.pi, math.radians(20.0)):
        expert.add_view(pose_of(x, y, yaw), CAMERA)


def mirror_of(*things: Entity) -> SceneMirror:
    mirror = SceneMirror()
    mirror.entities.update({one.id: one for one in things})
    return mirror


def searched_but_for_the_shelf() -> FrontierExpert:
    """Return an expert in a room of which only the surroundings of a shelf were looked at from too near."""
    expert = FrontierExpert(FrontierConfig())
    expert.set_grid(furnished(SHELF))
    for x, y in ((1.5, 1.5), (1.5, 6.5), (2.0, 4.0), (3.0, 2.0), (3.0, 6.0), (6.0, 1.2), (6.0, 6.8)):
        around(expert, x, y)
    for y in (3.2, 4.0, 4.8):
        expert.add_view(pose_of(6.6, y, 0.0), CAMERA)
    return expert


def test_a_search_goes_back_to_where_the_shelf_top_is_in_view_and_is_then_done():
    expert = searched_but_for_the_shelf()
    assert expert.propose(request((6.6, 4.0, 0.0), red_chair())).reason is RejectionReason.EXPLORED
    expert.set_scene(mirror_of(SHELF))
    pose, goals = np.array([6.6, 4.0, 0.0]), []
    for _ in range(8):
        answer = expert.propose(request(pose, red_chair(), excluded_goals=tuple(map(tuple, goals))))
        if not isinstance(answer, Proposal):
            break
        pose = answer.goal
        goals.append(pose)
        expert.add_view(pose_of(*pose), CAMERA)
    assert answer.reason is RejectionReason.EXPLORED
    assert 1 <= len(goals) <= 6
    needed = (1.8 - 0.4) / math.tan(math.atan(60 / 95.0))
    assert math.dist((7.4, np.clip(goals[0][1], 3.0, 5.0)), goals[0][:2]) >= needed


def test_a_top_that_no_pose_can_show_is_not_searched_for():
    """In a closet of at most 2.6 m viewing distance, and for a camera that looks down."""
    cells = furnished(SHELF).cells.copy()
    cells[:, 55:58] = cells[22:25] = cells[55:58] = 100
    expert = FrontierExpert(FrontierConfig())
    expert.set_grid(OccupancyGrid2D(cells, 0.1, (0.0, 0.0)))
    for x, y in ((6.2, 3.0), (6.2, 4.0), (6.2, 5.0), (7.0, 2.8), (7.0, 5.1)):
        around(expert, x, y)
    expert.set_scene(mirror_of(SHELF))
    answer = expert.propose(request((6.6, 4.0, 0.0), red_chair()))
    assert answer.reason is RejectionReason.EXPLORED

    grid = furnished(SHELF)
    looked = looked_in(grid, SHELF)
    look(looked, 4.2, 4.0, 0.0, pitch_up=math.radians(-35.0))
    assert not unseen_at(looked, grid, 7.45, 4.0), "not asked for: it is never in the image"


@pytest.mark.parametrize("pitch", [-40.0, -10.0, 0.0, 10.0, 40.0])
@pytest.mark.parametrize("height", [0.2, 0.45, 1.5])
def test_the_reach_of_a_lens_is_where_the_image_shows_the_band(pitch, height):
    where = pose_of(0.0, 0.0, 0.0, height=height, pitch_up=math.radians(pitch))
    near, far = Lens.of(where, CAMERA).reach()
    inverse = np.linalg.inv(where)
    for band, low, high in zip(BANDS, near, far):
        for ahead in np.arange(0.05, 8.0, 0.1):
            point = inverse @ np.array([ahead, 0.0, band, 1.0])
            row = CAMERA.fy * point[1] / max(point[2], 1e-9) + CAMERA.cy
            shown = bool(point[2] > 0.0 and 0.0 <= row <= CAMERA.height)
            told = bool(low <= ahead <= high)
            assert shown == told or min(abs(ahead - low), abs(ahead - high)) < 0.02


def test_a_look_without_a_lens_sees_all_heights():
    grid = furnished(SHELF)
    looked = looked_in(grid, SHELF)
    looked.look(np.array([6.9, 4.0]), 0.0, 1.4)
    assert not unseen_at(looked, grid, 7.45, 4.0)


def explored(entity: Entity, rise: float) -> np.ndarray:
    """Return the cells not searched by a frontier expert after three looks on a floor `rise` metres up."""
    lift = np.array([0.0, 0.0, rise])
    up = planar_transform(0.0, 0.0, 0.0, rise)
    views = tuple(replace(view, map_from_camera=up @ view.map_from_camera) for view in entity.views)
    raised = replace(
        entity,
        mean=entity.mean + lift,
        box_min=entity.box_min + lift,
        box_max=entity.box_max + lift,
        views=views,
    )
    expert = FrontierExpert()
    expert.set_grid(furnished(entity))
    for x, y, yaw in ((2.0, 2.0, 2.0), (4.2, 4.0, 0.0), (6.9, 4.0, 0.0)):
        expert.add_view(up @ pose_of(x, y, yaw, height=0.45), CAMERA)
        expert.looked.set_entities([raised])
    return expert.looked.unseen(4.5)


@pytest.mark.parametrize("rise", [3.0, -1.0])
@pytest.mark.parametrize("seen_before", [True, False])
def test_what_is_searched_on_an_upper_storey_is_what_is_searched_on_the_ground_floor(rise, seen_before):
    view = View(1.0, pose_of(4.2, 4.0, 0.0, height=0.45), ImageBox(0, 0, 9, 9))
    shelf = replace(SHELF, views=(view,) if seen_before else ())
    level, storey = explored(shelf, 0.0), explored(shelf, rise)
    assert (level == storey).all()
    assert level.any() and not level.all()

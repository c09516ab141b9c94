"""Tests that a target seen from a distance is approached as far as the floor is known."""

from __future__ import annotations

import math

import numpy as np
import pytest
from expert_worlds import Block, camera_pose, photograph, red_chair, request

from lodestar.experts.egocentric import EgocentricConfig, EgocentricExpert
from lodestar.experts.facing_places import place_to_face, place_towards
from lodestar.experts.protocol import ActionKind, Proposal
from lodestar.experts.reach import Reach, ReachConfig
from lodestar.grid.footprint import footprint_free
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.grid.success_pose import is_facing
from lodestar.grid.viewpoints import NoViewpoint, NoViewpointReason, ViewpointConfig
from lodestar.models.phrases import PhraseBook
from lodestar.scene.mirror import SceneMirror
from lodestar.scene.records import Entity, SceneDelta

POSE = (1.0, 4.0, 0.0)
CHAIR = Block(7.0, 4.0, "chair", "red chair")


def half_known(known_until: float) -> OccupancyGrid2D:
    """Return a room of 8 x 8 m that is unknown beyond this x."""
    cells = np.zeros((80, 80), np.int8)
    cells[0], cells[-1], cells[:, 0], cells[:, -1] = 100, 100, 100, 100
    cells[:, int(known_until * 10) :] = -1
    return OccupancyGrid2D(cells, 0.1, (0.0, 0.0))


def propose(grid, **changes):
    expert = EgocentricExpert(EgocentricConfig(), PhraseBook())
    expert.set_grid(grid)
    expert.set_view(*photograph(POSE, CHAIR))
    return expert.propose(request(POSE, red_chair(), **changes))


def test_a_thing_seen_once_from_afar_is_gone_towards():
    proposal = propose(half_known(4.0))
    assert isinstance(proposal, Proposal) and proposal.action is ActionKind.GO
    assert 2.5 < proposal.goal[0] < 4.0
    assert abs(math.atan2(4.0 - proposal.goal[1], 7.0 - proposal.goal[0]) - proposal.goal[2]) < 0.1
    near = propose(half_known(8.0))
    assert near.goal[0] > 5.5 and near.confidence > proposal.confidence > 0.5


def test_a_goal_that_was_excluded_is_not_proposed_again():
    first = propose(half_known(4.0))
    second = propose(half_known(4.0), excluded_goals=(tuple(first.goal),))
    assert math.dist(first.goal[:2], second.goal[:2]) > 0.3


def test_where_no_place_is_nearer_or_none_sees_it_there_is_none():
    grid = half_known(1.6)
    reach = Reach(grid, np.array(POSE), ReachConfig())
    assert place_towards(reach, np.array(POSE), np.array([7.0, 4.0]), ()) is None
    walled = half_known(8.0)
    walled.cells[:, 40] = 100
    reach = Reach(walled, np.array(POSE), ReachConfig())
    assert place_towards(reach, np.array(POSE), np.array([7.0, 4.0]), ()) is None
    blind = place_towards(reach, np.array(POSE), np.array([7.0, 4.0]), (), sight=False)
    assert blind is not None and blind[0] < 4.0


def test_the_robot_fits_at_a_place_on_the_way():
    grid = half_known(8.0)
    grid.cells[33] = grid.cells[46] = (
        100  # two fences: nearest to the target, a robot that faces it would touch one
    )
    here, target = np.array(POSE), np.array([5.0, 7.0])
    pose = place_towards(Reach(grid, here, ReachConfig()), here, target, (), sight=False)
    assert pose is not None and footprint_free(grid, pose)


WARDROBE = (np.array([5.6, 2.1, 0.0]), np.array([6.6, 2.6, 1.9]))  # behind the hall's wall, beside the door


def hall(room_is_known: bool) -> OccupancyGrid2D:
    """Return a hall of 8 x 2 m above a room with a wardrobe; its wall is at y = 3.1, with a door at x = 4.0 to 4.9."""
    cells = np.zeros((60, 80), np.int8)
    cells[0], cells[-1], cells[:, 0], cells[:, -1], cells[31:33] = 100, 100, 100, 100, 100
    cells[31:33, 40:49] = 0
    cells[21:26, 56:66] = 100
    if not room_is_known:
        cells[1:31] = -1
    return OccupancyGrid2D(cells, 0.1, (0.0, 0.0))


def to_face(grid, pose, box=WARDROBE, views=(), excluded=(), mirror=None):
    reach = Reach(grid, np.array(pose), ReachConfig())
    return place_to_face(reach, np.array(pose), box, views, excluded, ViewpointConfig(), mirror)


def test_what_was_seen_through_a_door_is_gone_to_through_the_door():
    seen = [camera_pose(1.5, 5.0, math.atan2(-2.4, 4.1))]  # a view from the hall, past the door post
    place = to_face(hall(False), (2.0, 5.0, 0.0), views=seen)
    assert not place.faces and footprint_free(hall(False), place.pose)
    assert 4.0 < place.pose[0] < 4.9 and 3.0 < place.pose[1] < 4.0, "on the threshold"
    there = math.dist((2.0, 5.0), place.pose[:2])
    assert there + 1.0 < place.path_length < there + 2.5, "the way on to the wardrobe counts"
    across_the_wall = Reach(hall(False), np.array([2.0, 5.0]), ReachConfig())
    assert across_the_wall.viewpoints(*WARDROBE, seen, (), ViewpointConfig())[0].pose[1] > 3.4
    known = to_face(hall(True), (2.0, 5.0, 0.0), views=seen)
    assert known.faces and known.pose[1] < 3.1 and is_facing(known.pose, *WARDROBE)


def test_what_stands_against_a_wall_is_not_faced_through_the_wall():
    grid = hall(True)
    grid.cells[21:26, 56:66] = 0
    grid.cells[26:31, 60:63] = 100
    sink = np.array([6.0, 2.6, 0.0]), np.array([6.3, 3.2, 1.0])  # the target's box reaches into the wall
    grid.cells[16:31, 58] = grid.cells[16:31, 65] = 100  # the target's niche is too narrow for the robot
    seen = [camera_pose(6.1, 0.8, math.pi / 2)]
    here = 6.0, 5.0, 0.0
    assert (
        Reach(grid, np.array(here), ReachConfig()).viewpoints(*sink, (), (), ViewpointConfig())[0].pose[1]
        > 3.4
    )
    place = to_face(grid, here, sink, seen)
    assert place.pose[1] < 3.0, "in the room, not in the hall"


def test_past_furniture_it_is_faced_where_no_place_is_nearer():
    grid = hall(True)
    grid.cells[16:19, 52:79] = 100  # a bench in front of the wardrobe
    grid.cells[19:31, 50:52] = 100  # and no access from the side
    seen = [camera_pose(6.0, 1.0, math.pi / 2)]
    place = to_face(grid, (6.0, 1.0, 1.57), views=seen)
    assert place.faces and place.pose[1] < 1.6 and is_facing(place.pose, *WARDROBE)


def test_what_stands_on_a_table_is_faced_over_the_table():
    grid = half_known(8.0)
    grid.cells[35:45, 60:70] = 100
    lamp = np.array([6.4, 3.9, 0.75]), np.array([6.6, 4.1, 1.1])
    place = to_face(grid, POSE, lamp, [camera_pose(*POSE)])
    assert place.faces and is_facing(place.pose, *lamp)


def test_what_stands_at_the_far_end_of_a_table_is_not_looked_for_from_under_the_table():
    grid = half_known(8.0)  # only the table's legs are occupied
    for x, y in ((4.5, 3.5), (4.5, 4.4), (5.9, 3.5), (5.9, 4.4)):
        row, column = grid.cells_of(np.array([x, y]) + 0.05)
        grid.cells[row, column] = 100
    bag = np.array([5.75, 3.9, 0.74]), np.array([5.95, 4.1, 1.05])
    desk = Entity(7, "desk", "brown desk", np.array([5.25, 4.0, 0.37]), np.eye(3), np.array([4.5, 3.5, 0.0]),
                  np.array([6.0, 4.5, 0.74]))  # fmt: skip
    scene = SceneMirror()
    scene.apply(SceneDelta(0.0, 1, 0, (desk,)))

    def is_under(pose) -> bool:
        return 4.5 < pose[0] + 0.3 * math.cos(pose[2]) < 6.0 and 3.5 < pose[1] + 0.3 * math.sin(pose[2]) < 4.5

    seen = [camera_pose(*POSE)]
    # without the table's entity, the pose is under the table
    assert is_under(to_face(grid, POSE, bag, seen).pose)
    place = to_face(grid, POSE, bag, seen, mirror=scene)
    assert place.faces and is_facing(place.pose, *bag) and not is_under(place.pose)


def test_without_a_look_or_when_all_was_tried_nothing_is_made_up():
    with pytest.raises(NoViewpoint):
        to_face(half_known(1.6), POSE, (np.array([6.8, 3.8, 0.0]), np.array([7.2, 4.2, 1.0])))
    tried, grid, chair = [], half_known(8.0), (np.array([6.8, 3.8, 0.0]), np.array([7.2, 4.2, 1.0]))
    with pytest.raises(NoViewpoint) as none:
        for _ in range(300):
            tried.append(to_face(grid, POSE, chair, excluded=tried).pose)
    assert none.value.reason is NoViewpointReason.EXCLUDED and len(tried) > 5


def test_what_stands_on_a_desk_against_a_wall_is_not_faced_through_the_wall_by_a_door_beside_it():
    cells = np.zeros((80, 120), np.int8)
    cells[0], cells[-1], cells[:, 0], cells[:, -1] = 100, 100, 100, 100
    cells[40] = 100
    cells[40, 58:68] = 0  # a wall at y = 4.0 with a door beside the desk
    cells[32:40, 73:87] = 100
    grid = OccupancyGrid2D(cells, 0.1, (0.0, 0.0))
    low, high = np.array([7.3, 3.2, 0.0]), np.array([8.7, 4.0, 0.74])
    bag = np.array([7.7, 3.56, 0.74]), np.array([7.9, 3.76, 1.05])
    desk = Entity(7, "desk", "brown desk", (low + high) / 2.0, np.eye(3), low, high)
    scene = SceneMirror()
    scene.apply(SceneDelta(0.0, 1, 0, (desk,)))
    seen = [camera_pose(1.9, 5.5, math.atan2(-1.9, 5.9))]
    for here in ((1.9, 5.5, 0.0), (7.8, 5.0, -1.57), (7.8, 1.5, 1.57)):
        assert to_face(grid, here, bag, seen, mirror=scene).pose[1] < 4.0

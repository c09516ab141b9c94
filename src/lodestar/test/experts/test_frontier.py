"""Tests of the frontier expert, which goes where sensors and camera have not looked, until nothing is left."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from expert_worlds import CAMERA, any_of, camera_pose, known_from, red_chair, request, two_rooms

from lodestar.experts.frontier import FrontierConfig, FrontierExpert
from lodestar.experts.protocol import Proposal, RejectionReason
from lodestar.experts.viewpoint_survey import STOP_CLEARANCE
from lodestar.geometry.poses import planar_transform
from lodestar.grid.config import LookConfig
from lodestar.grid.inflation import obstacle_distance
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.grid.paths import path_lengths
from lodestar.language.directive import StepKind

START = (1.0, 1.0, 0.0)


def look_around(expert: FrontierExpert, x: float, y: float) -> None:
    for yaw in np.arange(0.0, 2 * math.pi, math.radians(30.0)):
        expert.add_view(camera_pose(x, y, yaw), CAMERA)


def test_without_views_it_goes_towards_unknown_space():
    truth = two_rooms()
    expert = FrontierExpert()
    expert.set_grid(known_from(truth, [(1.0, 1.0)]))
    proposal = expert.propose(request(START))
    assert isinstance(proposal, Proposal) and proposal.entity_id == 0
    assert math.dist(proposal.goal[:2], (4.0, 2.0)) < 2.5  # the goal is near the door
    heading = math.atan2(2.5 - proposal.goal[1], 6.0 - proposal.goal[0])
    assert abs(proposal.goal[2] - heading) < math.radians(80.0)  # facing the other room
    assert "m2 of unseen area" in proposal.rationale


def test_a_goal_is_reachable_and_clear():
    expert = FrontierExpert()
    grid = known_from(two_rooms(), [(1.0, 1.0)])
    expert.set_grid(grid)
    goal = expert.propose(request(START)).goal
    row, column = grid.cells_of(goal[:2])
    assert np.isfinite(path_lengths(grid, START[:2])[row, column])
    assert obstacle_distance(grid)[row, column] >= STOP_CLEARANCE


def test_a_known_map_without_views_is_explored():
    expert = FrontierExpert()
    expert.set_grid(two_rooms())
    rejection = expert.propose(request(START))
    assert rejection.reason is RejectionReason.EXPLORED


def test_what_the_camera_has_not_looked_at_is_left_to_explore():
    expert = FrontierExpert()
    expert.set_grid(two_rooms())
    look_around(expert, 2.0, 2.0)
    proposal = expert.propose(request((2.0, 2.0, 0.0)))
    assert proposal.goal[0] > 3.0  # in the other room, known to the LiDAR but not looked at
    look_around(expert, 6.0, 2.0)
    explore = request((6.0, 2.0, 0.0), kind=StepKind.EXPLORE)
    assert expert.propose(explore).reason is RejectionReason.EXPLORED


@pytest.mark.parametrize(
    ("kind", "eyes", "again"), [("chair", "", False), ("cup", "", True), ("chair", "nanodet", True)]
)
def test_a_search_looks_again_for_what_its_eyes_may_have_missed(kind, eyes, again):
    expert = FrontierExpert(FrontierConfig(LookConfig(eyes=eyes)))
    expert.set_grid(two_rooms())
    look_around(expert, 2.0, 2.0)
    look_around(expert, 6.0, 2.0)
    answer = expert.propose(request((6.0, 2.0, 0.0), any_of(kind)))
    assert isinstance(answer, Proposal) == again


@pytest.mark.parametrize(
    ("eyes", "kind"), [("nanodet", "chair"), ("nanodet", "backpack"), ("nanodet_objectron", "chair")]
)  # the last eyes see many things from nowhere
def test_a_search_by_weak_eyes_ends_and_looks_at_everything_from_several_sides(eyes, kind):
    expert, pose = FrontierExpert(FrontierConfig(LookConfig(eyes=eyes))), np.array([2.0, 2.0, 0.0])
    expert.set_grid(two_rooms())
    done = []

    def look(stamp):
        place = pose[:2] + 0.3 * np.array([np.cos(pose[2]), np.sin(pose[2])])
        in_the_wall = not two_rooms().free[tuple(two_rooms().cells_of(place))]
        expert.add_view(camera_pose(*(pose[:2] if in_the_wall else place), pose[2]), CAMERA, stamp)

    look(0.0)
    for count in range(1, 200):
        answer = expert.propose(request(pose, any_of(kind), excluded_goals=tuple(done)))
        if not isinstance(answer, Proposal):
            break
        if np.array_equal(
            pose, answer.goal
        ):  # the camera stands before the robot, and sees less than was expected
            done.append(tuple(pose))
            assert len(done) < 5, "from the same place it would miss the same again"
        pose = answer.goal
        look(float(count))
    assert answer.reason is RejectionReason.EXPLORED and 12 < count < 150


def test_exploring_ends_and_covers_both_rooms():
    truth = two_rooms()
    expert = FrontierExpert(FrontierConfig())
    pose, known, visited = np.array(START), [(1.0, 1.0)], []
    for _ in range(40):
        expert.set_grid(known_from(truth, known))
        expert.add_view(camera_pose(*pose), CAMERA)
        answer = expert.propose(request(pose, excluded_goals=tuple(visited)))
        if not isinstance(answer, Proposal):
            break
        pose = answer.goal
        known.append(tuple(pose[:2]))
        visited.append(tuple(pose))
    assert answer.reason is RejectionReason.EXPLORED
    left = expert.looked.unseen(4.5) & truth.free
    assert left.sum() * 0.01 < 1.5  # m2 unseen, of 30
    assert len(visited) < 15


def test_unreachable_space_is_explored_with_a_word_about_it():
    cells = two_rooms().cells.copy()
    cells[15:25, 40] = 100  # closes the door with a wall
    cells[5:35, 50:75] = -1  # and makes space behind it unknown
    expert = FrontierExpert()
    expert.set_grid(OccupancyGrid2D(cells, 0.1, (0.0, 0.0)))
    rejection = expert.propose(request(START))
    assert rejection.reason is RejectionReason.EXPLORED and "unreachable" in rejection.message
    assert all(not f.reachable and math.isinf(f.path_length) and f.reason for f in expert.frontiers())


def test_excluded_goals_are_not_proposed_again():
    expert = FrontierExpert()
    expert.set_grid(known_from(two_rooms(), [(1.0, 1.0)]))
    excluded: list[tuple[float, float, float]] = []
    for _ in range(3):
        answer = expert.propose(request(START, excluded_goals=tuple(excluded)))
        if not isinstance(answer, Proposal):
            break
        for goal in excluded:
            turned = abs((answer.goal[2] - goal[2] + math.pi) % (2 * math.pi) - math.pi)
            assert math.dist(answer.goal[:2], goal[:2]) > 0.35 or turned > math.radians(39.9)
        excluded.append(tuple(answer.goal))
    assert len(excluded) >= 2


def test_it_keeps_its_goal_while_that_is_worth_it_and_no_longer(monkeypatch):
    monkeypatch.setattr("lodestar.experts.viewpoint_survey.STOP_KEEP", 1000.0)
    truth = two_rooms()
    expert = FrontierExpert()
    expert.set_grid(known_from(truth, [(2.0, 1.0)]))
    first = expert.propose(request((2.0, 1.0, 0.0)))
    for pose in ((1.0, 3.0, 0.0), (3.0, 1.0, 2.0)):
        assert np.allclose(expert.propose(request(pose)).goal[:2], first.goal[:2])
    expert.set_grid(known_from(truth, [(2.0, 1.0), tuple(first.goal[:2]), (6.0, 2.0)]))
    answer = expert.propose(request((2.0, 1.0, 0.0)))
    assert not isinstance(answer, Proposal) or not np.allclose(answer.goal, first.goal)


def test_ids_of_frontiers_live_on_while_the_grid_grows():
    truth = two_rooms()
    grid = known_from(truth, [(1.0, 1.0)])
    expert = FrontierExpert()
    expert.set_grid(grid)
    expert.propose(request(START))
    before = {f.id: f.centroid for f in expert.frontiers()}
    cells = np.full((60, 100), -1, np.int8)
    cells[10:50, 10:90] = grid.cells
    expert.set_grid(OccupancyGrid2D(cells, 0.1, (-1.0, -1.0)))
    expert.propose(request(START))
    after = {f.id: f.centroid for f in expert.frontiers()}
    assert len(after) == len(expert.frontiers())  # all ids are distinct
    assert before.keys() == after.keys()
    for identity, centroid in after.items():
        assert math.dist(centroid, before[identity]) < 0.01


def test_what_was_looked_at_survives_a_growing_grid():
    truth = two_rooms()
    expert = FrontierExpert()
    expert.set_grid(truth)
    look_around(expert, 2.0, 2.0)
    seen = truth.free & ~expert.looked.unseen(4.5)
    cells = np.full((60, 100), -1, np.int8)
    cells[10:50, 10:90] = truth.cells
    expert.set_grid(OccupancyGrid2D(cells, 0.1, (-1.0, -1.0)))
    grown = expert.looked.unseen(4.5)[10:50, 10:90]
    assert np.array_equal(truth.free & ~grown, seen)
    assert seen.sum() > 1000


def test_walls_end_a_look():
    expert = FrontierExpert()
    expert.set_grid(two_rooms())
    look_around(expert, 2.0, 0.6)
    looked = ~expert.looked.unseen(4.5)
    assert looked[5:35, 5:35].mean() > 0.9
    assert not (looked & two_rooms().free)[5:10, 45:75].any()


def test_a_camera_that_looks_at_the_floor_explores_nothing():
    expert = FrontierExpert()
    expert.set_grid(two_rooms())
    down = planar_transform(2.0, 2.0, 0.0, 0.45)
    down[:3, 2] = (0.0, 0.0, -1.0)
    expert.add_view(down, CAMERA)
    expert.add_view(np.full((4, 4), np.nan), CAMERA)
    assert expert.looked.count == 0


def test_without_a_grid_or_place_to_stand_it_says_so():
    expert = FrontierExpert()
    assert expert.propose(request(START)).reason is RejectionReason.NO_DATA
    expert.set_grid(OccupancyGrid2D(np.full((20, 20), 100, np.int8), 0.1, (0.0, 0.0)))
    assert expert.propose(request(START)).reason is RejectionReason.NO_PROPOSAL


def test_a_frontier_names_the_keyframe_that_shows_it():
    expert = FrontierExpert()
    grid = known_from(two_rooms(), [(1.0, 1.0)])
    expert.set_grid(grid)
    expert.add_view(camera_pose(2.0, 1.8, 0.2), CAMERA)
    seen = expert.looked.unseen(4.5).sum()
    expert.add_image(camera_pose(2.0, 1.8, 0.2), CAMERA, 5)
    answer = expert.propose(request((2.0, 1.8, 0.2)))
    ahead = answer.goal[:2] + np.array([math.cos(answer.goal[2]), math.sin(answer.goal[2])]) - (2.0, 1.8)
    turned = abs((math.atan2(ahead[1], ahead[0]) - 0.2 + math.pi) % (2 * math.pi) - math.pi)
    assert (answer.evidence_keyframes == (5,)) == (turned < math.radians(40.0))
    expert.add_image(camera_pose(2.0, 1.8, 2.2), CAMERA, 6)
    assert expert.looked.unseen(4.5).sum() == seen, "a kept image is no further view"


@pytest.mark.parametrize("seed", range(3))
def test_the_same_facts_give_the_same_goal(seed):
    rng = np.random.default_rng(seed)
    point = tuple(rng.uniform(0.6, 3.4, 2))
    answers = []
    for _ in range(2):
        expert = FrontierExpert()
        expert.set_grid(known_from(two_rooms(), [point]))
        answers.append(expert.propose(request((*point, 0.0))).goal)
    assert np.array_equal(*answers)


def test_a_search_looks_behind_the_furniture_and_exploring_does_not(monkeypatch):
    monkeypatch.setattr("lodestar.experts.frontier.FRONTIER_CORNER_GAIN", 0.05)
    cells = np.zeros((40, 60), np.int8)
    cells[0], cells[-1], cells[:, 0], cells[:, -1] = 100, 100, 100, 100
    cells[30:36, 45:51] = 100  # a cupboard hides 0.3 m2 of floor from the room's centre
    expert = FrontierExpert(FrontierConfig(look_limits=LookConfig(range=6.0)))
    expert.set_grid(OccupancyGrid2D(cells, 0.1, (0.0, 0.0)))
    look_around(expert, 2.0, 2.0)
    look_around(expert, 4.5, 1.5)
    pose = (2.0, 2.0, 0.0)
    assert expert.propose(request(pose, kind=StepKind.EXPLORE)).reason is RejectionReason.EXPLORED
    answer = expert.propose(request(pose, red_chair()))
    assert isinstance(answer, Proposal) and "hidden corner" in answer.rationale
    expert.add_view(camera_pose(*answer.goal), CAMERA)
    left = expert.looked.unseen(6.0).sum()
    for _ in range(10):
        answer = expert.propose(request(pose, red_chair()))
        if not isinstance(answer, Proposal):
            break
        expert.add_view(camera_pose(*answer.goal), CAMERA)
        assert expert.looked.unseen(6.0).sum() < left
        left = expert.looked.unseen(6.0).sum()
    assert answer.reason is RejectionReason.EXPLORED


def test_looks_count_from_when_the_request_says():
    expert = FrontierExpert()
    expert.set_grid(two_rooms())
    for stamp, (x, y) in enumerate([(2.0, 2.0), (1.0, 3.0), (6.0, 2.0), (7.0, 3.0), (6.0, 1.0)]):
        for yaw in np.arange(0.0, 2 * math.pi, math.radians(30.0)):
            expert.add_view(camera_pose(x, y, yaw), CAMERA, float(stamp))
    asked = replace(request((6.0, 2.0, 0.0), kind=StepKind.EXPLORE), stamp=100.0)
    assert expert.propose(asked).reason is RejectionReason.EXPLORED
    anew = expert.propose(replace(asked, looks_since=2.0))  # the first room was looked at before this time
    assert isinstance(anew, Proposal) and anew.goal[0] < 5.0
    assert expert.propose(replace(asked, looks_since=0.0)).reason is RejectionReason.EXPLORED
    assert isinstance(expert.propose(replace(asked, stamp=10.0)), Proposal), "the clock went back"

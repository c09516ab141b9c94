"""Tests of the frontier expert's rules that keep a robot from leaving near frontiers for far ones."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from expert_worlds import request

from lodestar.experts.frontier import FrontierExpert
from lodestar.experts.protocol import Proposal, RejectionReason
from lodestar.grid.occupancy import FREE, OCCUPIED, UNKNOWN, OccupancyGrid2D
from lodestar.language.directive import Scope, StepKind
from lodestar.language.query_graph import QueryGraph, QueryVariable
from lodestar.scene.mirror import SceneMirror
from lodestar.scene.records import Region
from lodestar.scene.regions import RegionMap

CELL = 0.1  # m, side of a cell


def hall(length: float = 40.0, width: float = 3.0) -> np.ndarray:
    """Return (rows, columns) int8: a free hall along x with walls around, its lower left corner at the origin."""
    cells = np.full((round(width / CELL), round(length / CELL)), FREE, np.int8)
    return np.pad(cells, 1, constant_values=OCCUPIED)


def patch(cells: np.ndarray, x: float, y: float, size_x: float, size_y: float) -> np.ndarray:
    """Return a copy in which a rectangle with lower left corner (x, y) is unknown."""
    cells = cells.copy()
    row, column = round(y / CELL) + 1, round(x / CELL) + 1
    cells[row : row + round(size_y / CELL), column : column + round(size_x / CELL)] = UNKNOWN
    return cells


def propose(expert: FrontierExpert, cells: np.ndarray, pose: tuple[float, float, float]) -> Proposal:
    expert.set_grid(OccupancyGrid2D(cells, CELL, (-CELL, -CELL)))
    answer = expert.propose(request(pose, kind=StepKind.EXPLORE))
    assert isinstance(answer, Proposal)
    return answer


def test_a_goal_under_way_is_finished_before_one_that_is_far_away():
    expert = FrontierExpert()
    far = patch(hall(), 36.0, 0.0, 2.0, 3.0)
    first = propose(expert, patch(far, 8.0, 1.5, 2.0, 1.5), (3.0, 1.0, 0.0))
    assert first.goal[0] < 11.0
    on_the_way = (first.goal[0] - 2.4, 1.0, 0.0)
    # 0.8 m2 of the patch are still unknown
    left = propose(expert, patch(far, 9.0, 2.0, 0.8, 1.0), on_the_way)
    assert left.goal[0] < 12.0
    seen = propose(expert, patch(far, 9.0, 2.0, 0.3, 0.3), on_the_way)  # too small to stay for
    assert seen.goal[0] > 30.0


def test_a_goal_under_way_is_left_for_one_about_as_near():
    expert = FrontierExpert()
    propose(expert, patch(hall(), 8.0, 1.5, 2.0, 1.5), (3.0, 1.0, 0.0))
    small = patch(hall(), 9.0, 2.0, 0.8, 1.0)
    both = patch(small, 0.0, 0.0, 1.0, 3.0)  # and 3 m2 unknown behind the robot
    answer = propose(expert, both, (4.5, 1.0, 0.0))
    assert answer.goal[0] < 5.0 and abs(answer.goal[2]) > np.pi / 2  # the robot turns back


def test_narrow_places_of_a_pass_come_before_the_next_pass(monkeypatch):
    expert, tried = FrontierExpert(), []

    def record(request, grid, lengths, back, look):
        tried.append((look.min_gain, int(np.isfinite(lengths).sum())))

    monkeypatch.setattr(expert, "_best", record)
    cells = hall(10.0, 3.0)
    cells[1:11, 50] = cells[17:-1, 50] = OCCUPIED  # the far half lies behind a gap of 0.6 m
    expert.set_grid(OccupancyGrid2D(cells, CELL, (-CELL, -CELL)))
    answer = expert.propose(request((3.0, 1.5, 0.0), kind=StepKind.EXPLORE))
    assert not isinstance(answer, Proposal)
    easy, possible = tried[0][1], tried[1][1]
    assert possible > 1.5 * easy  # the gap makes the far half reachable
    assert tried == [(2.0, easy), (2.0, possible), (0.5, easy), (0.5, possible)]


def kitchen_at_the_left(cells: np.ndarray) -> SceneMirror:
    """Return a scene in which region 1 is the kitchen, left of x = 15 m; the rest is region 2."""
    mask = np.full(cells.shape, 2, np.uint16)
    mask[:, : round(15.0 / CELL)] = 1
    rooms, mirror = RegionMap(0.3), SceneMirror()
    rooms.set_mask(mask, (-CELL, -CELL), CELL)
    named = [Region(1, "kitchen", 1.0, 40.0, np.zeros(2)), Region(2, "", 0.0, 80.0, np.zeros(2))]
    mirror.set_regions(named, rooms)
    return mirror


def test_in_a_room_only_what_is_left_there_is_explored():
    expert = FrontierExpert()
    both = patch(patch(hall(), 8.0, 1.5, 2.0, 1.5), 18.0, 0.0, 2.0, 3.0)
    expert.set_scene(kitchen_at_the_left(both))
    scope = Scope((QueryGraph((QueryVariable("kitchen", "kitchen"),)),))
    near_the_other = request((14.0, 1.0, 0.0), kind=StepKind.EXPLORE)
    (step,) = near_the_other.directive.steps
    asked = replace(
        near_the_other, directive=near_the_other.directive.with_steps((replace(step, scope=scope),))
    )
    expert.set_grid(OccupancyGrid2D(both, CELL, (-CELL, -CELL)))
    x, _, heading = expert.propose(near_the_other).goal
    assert x > 13.0 and abs(heading) < np.pi / 2, "to the nearer one, without a scope"
    x, _, heading = expert.propose(asked).goal
    assert x < 15.0 and abs(heading) > np.pi / 2
    done = patch(hall(), 18.0, 0.0, 2.0, 3.0)
    expert.set_grid(OccupancyGrid2D(done, CELL, (-CELL, -CELL)))
    assert expert.propose(asked).reason is RejectionReason.EXPLORED

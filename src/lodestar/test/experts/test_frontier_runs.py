"""Tests of complete explorations: the expert covers the reachable floor, does not oscillate, and returns in time."""

from __future__ import annotations

import math

import numpy as np
import pytest
from expert_worlds import known_from, request, two_rooms
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import ndimage

from lodestar.experts.frontier import (
    FRONTIER_AT_CHARGER,
    NO_WAY,
    SHOWS_NOTHING,
    TOO_FAR,
    FrontierConfig,
    FrontierExpert,
)
from lodestar.experts.protocol import Proposal, RejectionReason
from lodestar.grid.energy import EnergyBudget
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.grid.paths import path_lengths, plan_path
from lodestar.grid.visibility import visible_mask
from lodestar.language.directive import StepKind

pytestmark = pytest.mark.slow

LASER = FrontierConfig(fov=2.0 * math.pi, gain_range=6.0)


class Robot:
    """Drives on the true grid with a laser of 6 m, and asks the expert every metre."""

    def __init__(self, truth: OccupancyGrid2D, start, expert: FrontierExpert) -> None:
        self.truth, self.expert = truth, expert
        self.pose = np.array([*start, 0.0])
        self.cells = np.full(truth.cells.shape, -1, np.int8)
        self.driven = 0.0
        self.goals: list[np.ndarray] = []
        self.tried: list[tuple[float, float, float]] = []
        self.look()

    @property
    def grid(self) -> OccupancyGrid2D:
        return OccupancyGrid2D(self.cells.copy(), self.truth.resolution, self.truth.origin)

    def look(self) -> None:
        seen = visible_mask(self.truth, self.pose[:2], 6.0)
        self.cells[seen] = self.truth.cells[seen]

    def ask(self):
        self.expert.set_grid(self.grid)
        kind = StepKind.EXPLORE
        return self.expert.propose(request(self.pose, kind=kind, excluded_goals=tuple(self.tried)))

    def advance(self, goal: np.ndarray, metres: float = 1.0) -> bool:
        """Drive up to `metres` towards the goal; return whether it is reached."""
        path = plan_path(self.grid, self.pose[:2], goal[:2])
        along = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(path, axis=0).T))])
        end = min(metres, along[-1])
        for at in np.linspace(0.0, end, 6)[1:]:
            self.pose[:2] = np.interp(at, along, path[:, 0]), np.interp(at, along, path[:, 1])
            self.look()
        self.driven += end
        if end < along[-1] - 1e-9:
            return False
        self.pose[2] = goal[2]
        return True

    def explore(self, most: int = 150):
        for _ in range(most):
            answer = self.ask()
            if not isinstance(answer, Proposal):
                return answer
            self.goals.append(answer.goal)
            before = (self.cells >= 0).sum()
            if self.advance(answer.goal) and (self.cells >= 0).sum() - before < 5:
                self.tried.append(tuple(answer.goal))
        return None


def rooms(seed: int) -> tuple[OccupancyGrid2D, np.ndarray]:
    """Return 2 x 3 rooms of 4 m, joined by doors of 1 m as a random tree, with clutter; and a start (2,)."""
    rng = np.random.default_rng(seed)
    cells = np.zeros((81, 121), np.int8)
    cells[::40], cells[:, ::40] = 100, 100
    for row in range(2):  # doors between the columns of each row; one door between the rows comes below
        for column in (40, 80):
            at = 40 * row + int(rng.integers(8, 28))
            cells[at : at + 10, column] = 0
    at = 40 * int(rng.integers(0, 3)) + int(rng.integers(8, 24))
    cells[40, at : at + 10] = 0
    for _ in range(6):
        row, column = rng.integers(2, 75), rng.integers(2, 115)
        cells[row : row + 4, column : column + 5] = 100
    grid = OccupancyGrid2D(cells, 0.1, (0.0, 0.0))
    clear = np.argwhere(ndimage.distance_transform_edt(cells == 0) >= 6.0)
    return grid, grid.points_of(clear[rng.integers(len(clear))])


@given(st.integers(0, 100_000))
@settings(max_examples=8, deadline=None)
def test_it_ends_when_nothing_reachable_is_left_and_not_before(seed):
    truth, start = rooms(seed)
    robot = Robot(truth, start, FrontierExpert(LASER))
    answer = robot.explore()
    assert answer is not None and answer.reason is RejectionReason.EXPLORED
    known = robot.grid
    reachable = np.isfinite(path_lengths(known, robot.pose[:2]))
    shown = np.zeros(truth.cells.shape, bool)
    for row, column in np.argwhere(reachable)[::97]:
        shown |= visible_mask(truth, known.points_of(np.array([row, column])), 6.0)
    left = shown & known.unknown & (truth.cells == 0)
    parts, count = ndimage.label(left)
    sizes = ndimage.sum_labels(left, parts, np.arange(1, count + 1)) * 0.01 if count else np.zeros(1)
    assert np.max(sizes) < 2.0  # m^2, largest connected piece that is visible but unknown


def test_it_does_not_waver_between_two_frontiers():
    """A corridor with equal unknown halls at both ends; greedy explorers oscillate in its middle."""
    cells = np.full((60, 260), 100, np.int8)
    cells[25:35, 40:220] = 0
    cells[5:55, 5:40] = cells[5:55, 220:255] = 0
    truth = OccupancyGrid2D(cells, 0.1, (0.0, 0.0))
    robot = Robot(truth, (13.0, 3.0), FrontierExpert(LASER))
    answer = robot.explore()
    assert answer is not None and answer.reason is RejectionReason.EXPLORED
    sides = np.sign(np.array([goal[0] for goal in robot.goals]) - 13.0)
    assert (np.diff(sides) != 0).sum() <= 1  # first one hall, then the other
    assert robot.driven < 45.0  # 9 m to one hall, 18 m to the other and into it, with looks around


def test_noise_in_the_gain_does_not_turn_it_round():
    cells = np.full((60, 260), 100, np.int8)
    cells[25:35, 40:220] = 0
    cells[5:55, 5:40] = cells[5:55, 220:255] = 0
    truth = OccupancyGrid2D(cells, 0.1, (0.0, 0.0))
    expert = FrontierExpert(LASER)
    robot = Robot(truth, (13.0, 3.0), expert)
    rng = np.random.default_rng(0)
    first = robot.ask().goal
    for _ in range(12):
        noisy = robot.grid.cells
        flips = np.argwhere(noisy < 0)
        noisy[tuple(flips[rng.integers(len(flips), size=30)].T)] = 0
        expert.set_grid(OccupancyGrid2D(noisy, 0.1, (0.0, 0.0)))
        goal = expert.propose(request(robot.pose, kind=StepKind.EXPLORE)).goal
        assert np.sign(goal[0] - 13.0) == np.sign(first[0] - 13.0)


def test_it_comes_back_to_the_charger_in_time():
    truth, start = rooms(5)
    for budget in (12.0, 25.0, 150.0):
        expert = FrontierExpert(LASER)
        robot = Robot(truth, start, expert)
        full = EnergyBudget(budget, (float(start[0]), float(start[1])), reserve=3.0)
        home = False
        for _ in range(150):
            expert.set_energy(full.after(robot.driven))
            answer = robot.ask()
            if not isinstance(answer, Proposal):
                break
            home = home or "charger" in answer.rationale
            robot.advance(answer.goal, 0.5)
        assert robot.driven <= budget
        if home:
            assert answer.reason is RejectionReason.NO_PROPOSAL and "charger" in answer.message
            assert math.dist(robot.pose[:2], start) <= FRONTIER_AT_CHARGER
        else:
            assert answer.reason is RejectionReason.EXPLORED
    assert not home  # 150 m suffice for six rooms


def test_what_the_battery_does_not_reach_is_told_and_not_explored():
    expert = FrontierExpert(LASER)
    expert.set_grid(known_from(two_rooms(), [(1.0, 1.0)]))
    pose = (0.6, 0.6, 0.0)
    expert.set_energy(EnergyBudget(1.5, (0.6, 0.6), reserve=0.5))
    answer = expert.propose(request(pose, kind=StepKind.EXPLORE))
    assert answer.reason is RejectionReason.NO_PROPOSAL and "battery" in answer.message
    assert any(f.reason == TOO_FAR for f in expert.frontiers())
    expert.set_energy(EnergyBudget())
    assert isinstance(expert.propose(request(pose, kind=StepKind.EXPLORE)), Proposal)


@pytest.mark.parametrize(
    ("charger", "word"), [(None, "this is the charger"), ((7.0, 2.0), "no way to the charger")]
)
def test_being_there_and_no_way_back_are_said_plainly(charger, word):
    cells = two_rooms().cells.copy()
    cells[15:25, 40] = 100
    expert = FrontierExpert(LASER)
    expert.set_grid(OccupancyGrid2D(cells, 0.1, (0.0, 0.0)))
    expert.set_energy(EnergyBudget(1.0, charger, reserve=5.0))
    answer = expert.propose(request((1.0, 1.0, 0.0), kind=StepKind.EXPLORE))
    assert answer.reason is RejectionReason.NO_PROPOSAL and word in answer.message


def test_a_closed_door_is_remembered_and_tried_again_when_it_opens():
    truth = two_rooms()
    shut = truth.cells.copy()
    shut[15:25, 40] = 100
    shut[5:35, 50:75] = -1
    expert = FrontierExpert(LASER)
    expert.set_grid(OccupancyGrid2D(shut, 0.1, (0.0, 0.0), stamp=1.0))
    ask = request((1.0, 1.0, 0.0), kind=StepKind.EXPLORE)
    assert expert.propose(ask).reason is RejectionReason.EXPLORED
    expert.set_grid(OccupancyGrid2D(shut, 0.1, (0.0, 0.0), stamp=9.0))
    assert expert.propose(ask).reason is RejectionReason.EXPLORED
    assert all(f.reason in (NO_WAY, SHOWS_NOTHING) and f.since == 1.0 for f in expert.frontiers())
    assert any(f.reason == NO_WAY for f in expert.frontiers())
    opened = shut.copy()
    opened[15:25, 40] = 0
    expert.set_grid(OccupancyGrid2D(opened, 0.1, (0.0, 0.0), stamp=12.0))
    answer = expert.propose(ask)
    assert isinstance(answer, Proposal) and any(f.reachable for f in expert.frontiers())

"""Exploration of a floor on its grid alone: sensors, motion along paths, explorers, and coverage curves."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np
from scipy import ndimage

from lodestar.agent.decisions.admission import GoalMemory
from lodestar.agent.facts.config import LOOP_REVIEW_DISTANCE, LoopConfig
from lodestar.assembly import parts
from lodestar.experts.config import FrontierConfig, FrontierExpertConfig
from lodestar.experts.protocol import Proposal, ProposalRequest
from lodestar.experts.registry import FRONTIER
from lodestar.geometry.poses import wrap_angle
from lodestar.grid.config import TravelConfig
from lodestar.grid.inflation import traversable
from lodestar.grid.occupancy import UNKNOWN, OccupancyGrid2D
from lodestar.grid.paths import NoPath, path_lengths, plan_path
from lodestar.grid.visibility import visible_mask
from lodestar.language.directive import Directive, Step, StepKind
from lodestar_eval.floorplans import Floor

EXPLORATION_STEP = 0.2  # metres between two views; chosen
EXPLORATION_REVIEW = 1.0  # metres driven between two reviews of a goal; the decision loop's 2 s at 0.5 m/s
EXPLORATION_TURN = math.radians(30.0)  # radians between two views while turning; chosen
# m^2, least newly seen area of a goal; else it is excluded until the map changes; chosen
EXPLORATION_BARREN = 0.05
EXPLORATION_ENOUGH = 0.999  # share of the floor, 0..1, that ends a run; chosen
EXPLORATION_LONGEST = 1.5  # metres per m^2 of floor after which a run is aborted; chosen

_EIGHT = np.ones((3, 3), bool)
_FULL = 2.0 * math.pi


@dataclass(frozen=True)
class GridSensor:
    """Sensor of the robot: range in metres, field of view in radians about the heading."""

    name: str
    range: float
    fov: float


@dataclass(frozen=True)
class ExplorationConfig:
    """Parameters of path planning and of reviewing goals; the same for every explorer."""

    travel: TravelConfig = field(default_factory=TravelConfig)
    loop: LoopConfig = field(default_factory=LoopConfig)


class Explorer(Protocol):
    """Chooses the next goal. `reviews`: whether it is asked again while the robot drives."""

    name: str
    reviews: bool

    def next_goal(
        self, grid: OccupancyGrid2D, pose: np.ndarray, excluded: tuple[tuple[float, float, float], ...]
    ) -> np.ndarray | None:
        """Return the goal (3,) x, y, yaw; None if no goal is left."""


class ExpertExplorer:
    """Explorer that sends requests like those of the decision loop to a `FrontierExpert`.

    times: processor seconds per answer.
    """

    reviews = True

    def __init__(self, name: str, sensor: GridSensor, config: FrontierConfig) -> None:
        self.name = name
        self.expert = parts.expert(FRONTIER, FrontierExpertConfig(expert=config))
        self.times: list[float] = []
        self._directive = Directive("explore", (Step(StepKind.EXPLORE),))

    def next_goal(
        self, grid: OccupancyGrid2D, pose: np.ndarray, excluded: tuple[tuple[float, float, float], ...]
    ) -> np.ndarray | None:
        """Return the expert's goal."""
        epoch = len(self.times) + 1
        request = ProposalRequest(epoch, float(epoch), self._directive, 0, pose, excluded_goals=excluded)
        began = time.thread_time()
        self.expert.set_grid(grid)
        answer = self.expert.propose(request)
        self.times.append(time.thread_time() - began)
        return np.asarray(answer.goal) if isinstance(answer, Proposal) else None


class NearestFrontier:
    """Baseline (Yamauchi 1997): the nearest frontier by path, chosen again on arrival.

    A frontier is an 8-connected cluster of at least `min_cells` free cells that border on unknown ones. Its
    goal is the cell, nearest by path, that has a frontier cell within `near` metres; the robot arrives facing
    the unknown cells beside that frontier cell. If this goal is excluded, the next cell by path is the goal.
    """

    reviews = False

    def __init__(self, travel: TravelConfig, min_cells: int = 8, near: float = 0.5) -> None:
        self.name = "nearest_frontier"
        self._travel, self._min_cells, self._near = travel, min_cells, near

    def next_goal(
        self, grid: OccupancyGrid2D, pose: np.ndarray, excluded: tuple[tuple[float, float, float], ...]
    ) -> np.ndarray | None:
        """Return the nearest goal (3,) from which a frontier is within reach; None if there is none."""
        border = ndimage.binary_dilation(grid.unknown, _EIGHT) & grid.free
        labels, count = ndimage.label(border, _EIGHT)
        large = np.bincount(labels.ravel(), minlength=count + 1) >= self._min_cells
        large[0] = False
        border = large[labels]
        lengths = path_lengths(grid, pose[:2], self._travel)
        distance, nearest = ndimage.distance_transform_edt(~border, return_indices=True)
        usable = np.isfinite(lengths) & (distance * grid.resolution <= self._near)
        cells = np.argwhere(usable)
        cells = cells[np.argsort(lengths[usable], kind="stable")]
        barred = np.array(excluded).reshape(-1, 3)
        for row, column in cells:
            goal = grid.points_of(np.array([row, column]))
            facing = _unknown_beside(grid, nearest[:, row, column])
            yaw = math.atan2(*(facing - goal)[::-1])
            same = np.hypot(*(barred[:, :2] - goal).T) <= 0.35
            if not (same & (np.abs(wrap_angle(barred[:, 2] - yaw)) <= math.radians(40.0))).any():
                return np.array([*goal, yaw])
        return None


def _unknown_beside(grid: OccupancyGrid2D, cell: np.ndarray) -> np.ndarray:
    """Return the mean position (2,), metres, of the unknown cells around a frontier cell."""
    top, left = np.maximum(cell - 3, 0)
    around = np.argwhere(grid.unknown[top : cell[0] + 4, left : cell[1] + 4]) + np.array([top, left])
    return grid.points_of(around.mean(axis=0))


@dataclass(frozen=True)
class Exploration:
    """Result of a run. distance: (N,) metres driven; covered: (N,) known share of the reachable floor;
    path: (N, 2) metres. finished: whether the explorer had no goal left.
    """

    explorer: str
    distance: np.ndarray
    covered: np.ndarray
    path: np.ndarray
    goals: int
    failed: int
    finished: bool
    known: OccupancyGrid2D

    def distance_at(self, share: float) -> float:
        """Return the metres driven until this share was covered; inf if it never was."""
        reached = np.flatnonzero(self.covered >= share)
        return float(self.distance[reached[0]]) if len(reached) else math.inf

    def area_under(self, end: float) -> float:
        """Return the mean covered share over the first `end` metres; after the run the last share is used."""
        if end <= 0.0:
            return float(self.covered[-1])
        inside = self.distance <= end
        x = np.append(self.distance[inside], end)
        y = np.append(self.covered[inside], np.interp(end, self.distance, self.covered))
        return float(np.sum((y[1:] + y[:-1]) / 2.0 * np.diff(x)) / end)


class Run:
    """One explorer on one floor with one sensor; `explore` drives until no goal is left."""

    _AHEAD = 4.0  # metres of the path that are checked before each step

    def __init__(
        self,
        floor: Floor,
        sensor: GridSensor,
        explorer: Explorer,
        start: np.ndarray,
        config: ExplorationConfig,
    ) -> None:
        self.floor, self.sensor, self.explorer, self.config = floor, sensor, explorer, config
        self.pose = np.array(start, np.float64)
        self._cells = np.full(floor.grid.cells.shape, UNKNOWN, np.int8)
        self._driven = 0.0
        self._curve: list[tuple[float, float, float, float]] = []
        self._goals = GoalMemory(config.loop)
        self._epoch = 0

    @property
    def grid(self) -> OccupancyGrid2D:
        """Return the current grid."""
        truth = self.floor.grid
        return OccupancyGrid2D(self._cells.copy(), truth.resolution, truth.origin, float(len(self._curve)))

    @property
    def covered(self) -> float:
        """Return the known share of the reachable floor."""
        return float(((self._cells == 0) & self.floor.reachable).sum() / self.floor.reachable.sum())

    def explore(self) -> Exploration:
        """Run to the end, starting with one turn in place."""
        self._turn_to(self.pose[2] + _FULL, full=True)
        goals = failed = 0
        finished = False
        limit = EXPLORATION_LONGEST * self.floor.area
        while self.covered < EXPLORATION_ENOUGH and self._driven < limit:
            goal = self._ask()
            if goal is None:
                finished = True
                break
            goals += 1
            failed += not self._pursue(goal)
        curve = np.array(self._curve)
        return Exploration(
            self.explorer.name, curve[:, 0], curve[:, 1], curve[:, 2:], goals, failed, finished, self.grid
        )

    def _ask(self) -> np.ndarray | None:
        grid = self.grid
        self._goals.refresh(grid)
        return self.explorer.next_goal(grid, self.pose.copy(), self._goals.active())

    def _pursue(self, goal: np.ndarray) -> bool:
        """Drive until the goal is reached or a review replaces it; return False if there is no path to it."""
        before, since = self._known(), 0.0
        path: list[np.ndarray] = []
        while True:
            if not path or not self._open(path):
                try:
                    path = self._fine(plan_path(self.grid, self.pose[:2], goal[:2], self.config.travel))
                except NoPath as error:
                    self._goals.exclude(goal, str(error), self.grid)
                    return False
            since += self._step(path.pop(0))
            if not path:
                self._turn_to(goal[2])
                if (self._known() - before) * self.floor.grid.resolution**2 < EXPLORATION_BARREN:
                    self._goals.exclude(goal, "brought nothing", self.grid)
                return True
            if self.explorer.reviews and since >= EXPLORATION_REVIEW:
                since = 0.0
                news = self._ask()
                if news is None or self._moved(goal, news):
                    return True

    def _moved(self, goal: np.ndarray, news: np.ndarray) -> bool:
        """Return whether a review's goal `news` differs from the current goal, by `DecisionLoop`'s limits."""
        far = math.hypot(*(news - goal)[:2]) > LOOP_REVIEW_DISTANCE
        return far or abs(float(wrap_angle(news[2] - goal[2]))) > math.pi / 2.0

    def _open(self, path: list[np.ndarray]) -> bool:
        """Return whether the next metres of the path keep clear of known obstacles."""
        grid, travel = self.floor.grid, self.config.travel
        cells = grid.cells_of(np.array(path[: round(self._AHEAD / EXPLORATION_STEP)]))
        margin = math.ceil(travel.clearance / grid.resolution) + 1
        top, left = np.maximum(cells.min(axis=0) - margin, 0)
        bottom, right = cells.max(axis=0) + margin + 1
        window = replace(grid, cells=self._cells[top:bottom, left:right])
        passable = traversable(window, travel.clearance)
        return bool(passable[cells[1:, 0] - top, cells[1:, 1] - left].all())

    def _fine(self, points: np.ndarray) -> list[np.ndarray]:
        """Return points along a path (N, 2), at most one step apart, without its start."""
        lengths = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(points, axis=0).T))])
        count = max(math.ceil(lengths[-1] / EXPLORATION_STEP), 1)
        at = np.linspace(0.0, lengths[-1], count + 1)[1:]
        return [
            np.array([np.interp(s, lengths, points[:, 0]), np.interp(s, lengths, points[:, 1])]) for s in at
        ]

    def _step(self, point: np.ndarray) -> float:
        away = point - self.pose[:2]
        length = float(np.hypot(*away))
        if length > 1e-6:
            self._turn_to(math.atan2(away[1], away[0]))
        self.pose[:2] = point
        self._driven += length
        self._look()
        return length

    def _turn_to(self, yaw: float, full: bool = False) -> None:
        angle = _FULL if full else float(wrap_angle(yaw - self.pose[2]))
        count = max(math.ceil(abs(angle) / EXPLORATION_TURN), 1)
        start = self.pose[2]
        for k in range(1, count + 1):
            self.pose[2] = float(wrap_angle(start + angle * k / count))
            if full or (self.sensor.fov < _FULL and (k < count or abs(angle) > 0.1)):
                self._look()

    def _look(self) -> None:
        truth = self.floor.grid
        seen = visible_mask(truth, self.pose[:2], self.sensor.range, self.sensor.fov, self.pose[2])
        self._cells[seen] = truth.cells[seen]
        self._curve.append((self._driven, self.covered, self.pose[0], self.pose[1]))

    def _known(self) -> int:
        return int((self._cells >= 0).sum())

"""Baseline searcher: nearest frontier with perfect perception.

It has the same robot, scan and grid, and the camera's field of view and range. It drives to the reachable place
nearest by path that shows unseen space. It chooses again on arrival, when that space has been seen, or when the goal
fails. After all space was seen from the camera's range, it looks again from nearer. As soon as the target is visible
to the camera by ground truth, it takes the shortest true path to a success pose.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from scipy import ndimage

from lodestar.assembly.config import MappingConfig
from lodestar.assembly.plan_chain import PlanChain
from lodestar.experts.coverage import LookedAt
from lodestar.geometry.poses import planar_pose, yaw_of
from lodestar.grid.inflation import obstacle_distance
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.grid.paths import path_lengths
from lodestar_eval.path_split import SHOWS, SIGHT, Sight
from lodestar_eval.range_sensors import RangeSensors
from lodestar_sim.judge import shortest_path_length
from lodestar_sim.navigator import Navigator, NavigatorConfig, NavigatorStatus
from lodestar_sim.sensors import CameraConfig
from lodestar_sim.simulator import SimConfig, Simulator
from lodestar_sim.tasks import Task
from lodestar_sim.worlds.world import World

REFERENCE_FRAME_INTERVAL = 0.25  # simulated seconds between images; that of an episode
REFERENCE_CONTROL_INTERVAL = 0.1  # simulated seconds between steps; that of an episode
# metres from which a cell counts as looked at, one per pass: the camera's range, then as FrontierConfig
REFERENCE_LOOK_RANGES: tuple[float, ...] = (SIGHT, 4.5, 2.5)
REFERENCE_SMALLEST = 8  # cells of the smallest piece of frontier; as FrontierTrackerConfig
REFERENCE_CLEARANCE = 0.40  # metres of a goal from obstacles; chosen
REFERENCE_AHEAD = 1.5  # metres from the goal to the point that the robot turns to; chosen
REFERENCE_CRUISE = 0.5  # m/s on the last path, which is not simulated; chosen

_CAMERA = CameraConfig()
_EIGHT = np.ones((3, 3), bool)


@dataclass(frozen=True)
class ReferenceConfig:
    """Parameters of the reference searcher."""

    time_limit: float = 600.0  # simulated seconds; that of an episode
    excluded: float = 0.5  # metres around a goal that failed or showed nothing; chosen
    simulator: SimConfig = field(default_factory=SimConfig)
    mapping: MappingConfig = field(default_factory=MappingConfig)
    navigator: NavigatorConfig = field(default_factory=NavigatorConfig)


@dataclass(frozen=True)
class ReferenceOutcome:
    """One search. Lengths in metres, time in simulated seconds."""

    success: bool
    path_length: float
    shortest: float
    duration: float
    goals: int


class ReferenceSearcher:
    """One search of one task; `run` returns the outcome, reproducible by seed."""

    def __init__(
        self, world: World, task: Task, seed: int, config: ReferenceConfig = ReferenceConfig()
    ) -> None:
        self.config = config
        self._world, self._task = world, task
        self._targets = [thing for thing in world.objects if thing.id in set(task.target_ids)]
        self._simulator = Simulator(world, config.simulator, seed, start=task.start)
        self._plan = PlanChain(config.mapping)
        self._ranges = RangeSensors(self._simulator, config.mapping)
        self._navigator = Navigator(config.navigator)
        self._looked = LookedAt(max(REFERENCE_LOOK_RANGES))
        self._sight = Sight(world)
        self._fov = 2.0 * math.atan(_CAMERA.width / (2.0 * _CAMERA.fx))
        self._grid: OccupancyGrid2D | None = None
        self._goal: np.ndarray = np.zeros(3)
        self._failed: list[np.ndarray] = []
        self._aim: np.ndarray | None = None  # (n, 2) points of the current frontier piece
        self._level = 0
        self.goals = 0

    def run(self) -> ReferenceOutcome:
        """Search from the start to the target, or until no unseen space is left."""
        config, simulator = self.config, self._simulator
        next_frame, found, lost = 0.0, False, False
        while simulator.time <= config.time_limit and not found and not lost:
            if simulator.time + 1e-9 >= next_frame:
                next_frame += REFERENCE_FRAME_INTERVAL
                found = self._perceive()
                lost = not found and not self._decide()
            self._drive()
            simulator.step(REFERENCE_CONTROL_INTERVAL)
        rest = shortest_path_length(self._world, simulator.true_pose, self._task.target_ids) if found else 0.0
        success = found and math.isfinite(rest)
        rest = rest if success else 0.0
        return ReferenceOutcome(
            success,
            simulator.path_length + rest,
            shortest_path_length(self._world, self._task.start, self._task.target_ids),
            simulator.time + rest / REFERENCE_CRUISE,
            self.goals,
        )

    @property
    def _pose(self) -> np.ndarray:
        return planar_pose(self._simulator.map_from_base)

    def _perceive(self) -> bool:
        """Process a scan and a camera view; return whether the target is visible."""
        base = self._simulator.map_from_base
        self._ranges.give(self._plan)
        self._grid = self._plan.grid
        self._looked.set_grid(self._grid)
        eye = (base @ _CAMERA.base_from_optical)[:2, 3]
        self._looked.look(eye, yaw_of(base), self._fov)
        pose = self._simulator.true_pose
        return any(self._sight.share(thing, pose) >= SHOWS for thing in self._targets)

    def _drive(self) -> None:
        step = self._navigator.update(self._simulator.time, self._grid, self._pose, self._simulator.velocity)
        self._simulator.set_command(*step.command)
        if step.status is NavigatorStatus.SUCCEEDED or step.status is NavigatorStatus.ABORTED:
            if self._aim is not None:
                self._failed.append(self._goal[:2])
            self._aim = None

    def _decide(self) -> bool:
        """Choose a goal; return False if no unseen space is left."""
        assert self._grid is not None
        if self._aim is not None:
            within = REFERENCE_LOOK_RANGES[self._level]
            cells = self._grid.cells_of(self._aim)
            if self._looked.unseen(within)[cells[:, 0], cells[:, 1]].mean() >= 0.5:
                return True
        lengths = path_lengths(self._grid, self._pose[:2], self.config.navigator.travel)
        for level in range(len(REFERENCE_LOOK_RANGES)):
            nearest = self._nearest(lengths, level)
            if nearest is not None:
                self._goal, self._aim = nearest
                self._level = level
                self.goals += 1
                self._navigator.set_goal(self._goal)
                return True
        return False

    def _nearest(self, lengths: np.ndarray, level: int) -> tuple[np.ndarray, np.ndarray] | None:
        """Return the goal (3,) nearest by path at the border of an unseen region, and the region's n unseen
        points (n, 2).
        """
        grid, config = self._grid, self.config
        assert grid is not None
        unseen = self._looked.unseen(REFERENCE_LOOK_RANGES[level])
        border = ndimage.binary_dilation(unseen & ~grid.occupied, _EIGHT) & grid.free
        labels, count = ndimage.label(border, _EIGHT)
        if count == 0:
            return None
        sizes = np.bincount(labels.ravel())
        roomy = np.isfinite(lengths) & (obstacle_distance(grid) >= REFERENCE_CLEARANCE)
        for goal_xy in self._failed:
            rows, columns = np.ogrid[: grid.cells.shape[0], : grid.cells.shape[1]]
            row, column = grid.cells_of(goal_xy[None])[0]
            roomy &= (rows - row) ** 2 + (columns - column) ** 2 > (config.excluded / grid.resolution) ** 2
        reach = round(REFERENCE_AHEAD / grid.resolution)
        big = border & (sizes[labels] >= REFERENCE_SMALLEST)
        near = ndimage.distance_transform_edt(~big, return_distances=False, return_indices=True)
        away = np.hypot(near[0] - np.indices(grid.cells.shape)[0], near[1] - np.indices(grid.cells.shape)[1])
        cost = np.where(roomy & (away <= reach), lengths + away * grid.resolution, np.inf)
        best = np.unravel_index(int(np.argmin(cost)), cost.shape)
        if not big.any() or not np.isfinite(cost[best]):
            return None
        piece = labels[near[0][best], near[1][best]]
        spot = np.array([near[0][best], near[1][best]])
        around = np.argwhere(unseen & ndimage.binary_dilation(labels == piece, _EIGHT))
        around = around[np.hypot(*(around - spot).T) <= reach]
        points, here = grid.points_of(around), grid.points_of(np.array(best))
        offset = points.mean(axis=0) - here
        return np.array([*here, math.atan2(offset[1], offset[0])]), points

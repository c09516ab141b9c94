"""A small navigator that replaces Nav2: plans on the grid, follows the path, and aborts with Nav2's codes.

The same class runs headless and in the `sim_navigator` node.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import Enum, IntEnum

import numpy as np

from lodestar.grid.config import TravelConfig
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.grid.paths import NoPath, NoPathReason, plan_path
from lodestar_sim.clearance import Clearance
from lodestar_sim.contacts import Contacts
from lodestar_sim.courtesy import Courtesy
from lodestar_sim.path_follower import PathFollower

REPLAN_PERIOD = 1.0  # s between two plans; chosen
PLAN_FAILURES = 3  # plans in a row that may fail while the robot drives; chosen
INPUT_PATIENCE = 3.0  # s without a grid or a pose, after which a goal is aborted; chosen
CONTROL_PATIENCE = 3.0  # s without a free motion, after which a goal is aborted; chosen
PROGRESS_TIME = 8.0  # s in which the robot must have moved or turned; chosen
PROGRESS_DISTANCE = 0.15  # m, least motion in PROGRESS_TIME; chosen
PROGRESS_ANGLE = 0.3  # rad, least turn in PROGRESS_TIME; chosen
SLOWEST = 0.15  # m/s, mean speed over the longest plan, below which the goal is aborted after GRACE; chosen
GRACE = 60.0  # s that every goal gets beyond its path at SLOWEST; chosen
ESCAPE_DISTANCE = 0.8  # m, largest distance of a start from free space; chosen


class NavigatorError(IntEnum):
    """Codes of Nav2's FollowPath (1xx), ComputePathToPose (2xx) and NavigateToPose (9xxx)."""

    NONE = 0
    UNKNOWN_CONTROLLER = 100
    CONTROLLER_TF_ERROR = 102
    FAILED_TO_MAKE_PROGRESS = 105
    NO_VALID_CONTROL = 106
    UNKNOWN_PLANNER = 200
    PLANNER_TF_ERROR = 202
    START_OUTSIDE_MAP = 203
    GOAL_OUTSIDE_MAP = 204
    START_OCCUPIED = 205
    GOAL_OCCUPIED = 206
    PLANNER_TIMEOUT = 207
    NO_VALID_PATH = 208
    UNKNOWN = 9000
    TF_ERROR = 9002


class NavigatorStatus(Enum):
    """State of the current or last goal."""

    IDLE = "idle"
    ACTIVE = "active"
    SUCCEEDED = "succeeded"
    ABORTED = "aborted"
    CANCELED = "canceled"


@dataclass(frozen=True)
class NavigatorConfig:
    """Times for which the robot yields to people and passes them, and parameters of its path planning."""

    # s for which the robot lets people pass before it goes on at the slow speed
    comfort_patience: float = 6.0
    # s of slow driving past people, at most; chosen: below `progress_time` of Nav2, and the length of a doorway
    comfort_pass: float = 10.0
    travel: TravelConfig = field(default_factory=TravelConfig)


@dataclass(frozen=True)
class NavigatorStep:
    """Result of an update of the navigator.

    command: (3,) vx, vy, wz in the body frame. path: (N, 2) metres in the grid's frame. distance_remaining:
    metres along the path, NaN if unknown.
    """

    command: np.ndarray
    status: NavigatorStatus
    error_code: int = 0
    error_msg: str = ""
    distance_remaining: float = math.nan
    path: np.ndarray | None = None


_REASONS = {
    NoPathReason.START_OCCUPIED: NavigatorError.START_OCCUPIED,
    NoPathReason.GOAL_OCCUPIED: NavigatorError.GOAL_OCCUPIED,
    NoPathReason.NO_VALID_PATH: NavigatorError.NO_VALID_PATH,
}


class _Abort(Exception):
    def __init__(self, code: NavigatorError, message: str):
        super().__init__(message)
        self.code = code


class Navigator:
    """Drive to one goal at a time; a new goal replaces the current one."""

    def __init__(self, config: NavigatorConfig = NavigatorConfig()):
        self.config = config
        self._follower = PathFollower()
        self._contacts = Contacts()
        self._courtesy = Courtesy(config.comfort_patience, config.comfort_pass)
        self._goal = np.zeros(3)  # x, y, yaw of the last set_goal; valid while `active`
        self._status = NavigatorStatus.IDLE
        self._error: tuple[int, str] = (0, "")
        self._forget()

    def _forget(self) -> None:
        self._path: np.ndarray | None = None
        self._planned_at = -math.inf
        self._planned_on: OccupancyGrid2D | None = None
        self._failures = 0
        self._inputs_at: float | None = None
        self._control_at: float | None = None
        self._progress: tuple[float, np.ndarray] | None = None
        self._started: float | None = None
        self._longest = 0.0  # m, length of the longest plan for this goal
        self._contacts.forget_motion()

    @property
    def active(self) -> bool:
        """Return whether a goal is being pursued."""
        return self._status is NavigatorStatus.ACTIVE

    def warm_up(self) -> None:
        """Compile all numba functions before the first goal. Must not be called with an active goal."""
        grid = OccupancyGrid2D(np.zeros((40, 40), np.int8), 0.1, (0.0, 0.0))
        self.set_goal((3.0, 3.0, 0.0))
        self.update(0.0, grid, np.array([1.0, 1.0, 0.0]), np.zeros(3))
        self.cancel()

    def set_goal(self, pose: Sequence[float] | np.ndarray) -> None:
        """Drive to (x, y, yaw) in the grid's frame. Raises ValueError for a goal that is not finite."""
        goal = np.array(pose, np.float64)
        if goal.shape != (3,) or not np.isfinite(goal).all():
            raise ValueError(f"a goal is three finite numbers (x, y, yaw), not {pose}")
        self._goal = goal
        self._status, self._error = NavigatorStatus.ACTIVE, (0, "")
        self._follower.reset()
        self._forget()

    def cancel(self) -> None:
        """Stop now; the next update returns CANCELED. No effect without an active goal."""
        if self.active:
            self._finish(NavigatorStatus.CANCELED)

    def _finish(self, status: NavigatorStatus, code: int = 0, message: str = "") -> None:
        self._status, self._error = status, (int(code), message)

    def update(
        self,
        now: float,
        grid: OccupancyGrid2D | None,
        pose: Sequence[float] | np.ndarray | None,
        velocity: Sequence[float] | np.ndarray,
        keep_out: np.ndarray | None = None,
    ) -> NavigatorStep:
        """Return the current command.

        pose: (x, y, yaw) in the grid's frame, None = unknown; velocity: (3,) in the body frame.
        keep_out: (rows, columns) bool on the grid, forbidden cells without obstacles; default: the grid's
        own. A robot in such a cell leaves by the shortest path.
        """
        if not self.active:
            return NavigatorStep(np.zeros(3), self._status, *self._error)
        try:
            if grid is None or pose is None:
                self._wait_for_inputs(now, grid)
                self._contacts.forget_motion()
                return NavigatorStep(np.zeros(3), NavigatorStatus.ACTIVE, path=self._path)
            self._inputs_at = now
            if keep_out is not None:
                grid = replace(grid, keep_out=np.asarray(keep_out, bool))
            return self._pursue(now, grid, np.asarray(pose, np.float64), np.asarray(velocity, np.float64))
        except _Abort as abort:
            self._finish(NavigatorStatus.ABORTED, abort.code, str(abort))
            return NavigatorStep(np.zeros(3), self._status, *self._error, path=self._path)

    def _wait_for_inputs(self, now: float, grid: OccupancyGrid2D | None) -> None:
        """Raise _Abort if the grid or the pose has been missing for too long."""
        self._inputs_at = now if self._inputs_at is None else self._inputs_at
        if now - self._inputs_at > INPUT_PATIENCE:
            if grid is None:
                raise _Abort(NavigatorError.PLANNER_TIMEOUT, "no grid comes to plan on; does mapping run?")
            if self._path is None:
                raise _Abort(NavigatorError.PLANNER_TF_ERROR, "the robot's pose in the map is not known")
            raise _Abort(NavigatorError.CONTROLLER_TF_ERROR, "the robot's pose in the map was lost")

    def _pursue(
        self, now: float, grid: OccupancyGrid2D, pose: np.ndarray, velocity: np.ndarray
    ) -> NavigatorStep:
        grid = self._contacts.on(grid, now)
        clearance = Clearance(grid)
        if clearance.closeness(pose[None])[0] > 0.0:  # motion_gate may have stopped the robot for people
            self._contacts.forget_motion()
        if now - self._planned_at >= REPLAN_PERIOD and grid is not self._planned_on:
            self._plan(now, grid, pose, clearance)
        if grid.keep_out is not None:
            clearance = self._leaving(grid, pose, clearance)
        if self._path is None:  # no plan yet: it is tried again without the detected contacts
            return NavigatorStep(np.zeros(3), NavigatorStatus.ACTIVE)
        if self._follower.arrived(pose, self._goal):
            self._finish(NavigatorStatus.SUCCEEDED)
            return NavigatorStep(np.zeros(3), self._status, path=self._path)
        clearance.yields = clearance.yields and self._courtesy.yields(now, grid, pose)
        if clearance.stands_at_people(pose):
            command, remaining = self._follower.step_aside(pose, clearance), math.nan
        else:
            command, remaining = self._follower.follow(self._path, self._goal, pose, clearance)
        waits = self._courtesy.observe(now, clearance.held_back)
        if waits and self._progress is not None:
            self._progress = (now, pose.copy())
        self._watch(now, pose, command is not None or waits)
        if command is None:
            command = np.zeros(3)
            self._planned_on = None  # the obstacle may be on the grid by the next plan
        if self._contacts.observe(now, pose, np.asarray(velocity, np.float64), command, grid):
            self._planned_at, self._planned_on = -math.inf, None  # plan another path at once
            around = Clearance(self._contacts.on(grid, now))
            self._follower.break_free(pose, self._contacts.held, around)
        return NavigatorStep(command, NavigatorStatus.ACTIVE, 0, "", remaining, self._path)

    def _leaving(self, grid: OccupancyGrid2D, pose: np.ndarray, clearance: Clearance) -> Clearance:
        """Return the clearance without the keep-out zone while the robot stands in that zone, so that it can leave."""
        beneath = Clearance(replace(grid, keep_out=None))
        here = pose[None]
        return beneath if clearance.covered(here)[0, 0] > beneath.covered(here)[0, 0] else clearance

    def _plan(self, now: float, grid: OccupancyGrid2D, pose: np.ndarray, clearance: Clearance) -> None:
        self._planned_at, self._planned_on = now, grid
        for point, code, name in (
            (pose, NavigatorError.START_OUTSIDE_MAP, "robot"),
            (self._goal, NavigatorError.GOAL_OUTSIDE_MAP, "goal"),
        ):
            if not grid.contains(grid.cells_of(point[None, :2]))[0]:
                raise _Abort(code, f"the {name} at ({point[0]:.2f}, {point[1]:.2f}) is off the map")
        travel = self.config.travel
        if travel.start_snap < ESCAPE_DISTANCE:
            travel = TravelConfig(**{**vars(travel), "start_snap": ESCAPE_DISTANCE})
        try:
            if clearance.covered(self._goal[None])[0, 0]:
                raise NoPath(NoPathReason.GOAL_OCCUPIED, "the robot does not fit there at that heading")
            self._path = plan_path(grid, pose[:2], self._goal[:2], travel)
        except NoPath as error:
            if self._contacts.forget_places():  # a path through former contacts is better than none
                self._planned_at, self._planned_on = -math.inf, None
                return
            error = self._explained(error, grid, pose, travel)
            self._failures += 1
            if self._path is None or self._failures >= PLAN_FAILURES:
                raise _Abort(_REASONS[error.reason], str(error)) from error
            self._planned_on = None  # try again on the same grid
            return
        self._failures = 0
        self._follower.take(self._path)
        self._longest = max(self._longest, float(np.linalg.norm(np.diff(self._path, axis=0), axis=1).sum()))

    def _explained(
        self, error: NoPath, grid: OccupancyGrid2D, pose: np.ndarray, travel: TravelConfig
    ) -> NoPath:
        """Return the error, or a clearer one if only a keep-out zone blocks the path."""
        if grid.keep_out is None:
            return error
        beneath = replace(grid, keep_out=None)
        if Clearance(beneath).covered(self._goal[None])[0, 0]:
            return error
        try:
            plan_path(beneath, pose[:2], self._goal[:2], travel)
        except NoPath:
            return error
        at_goal = error.reason is NoPathReason.GOAL_OCCUPIED
        text = (
            "the goal lies in a keep-out zone" if at_goal else "every way there leads through a keep-out zone"
        )
        return NoPath(error.reason, text)

    def _watch(self, now: float, pose: np.ndarray, has_control: bool) -> None:
        """Raise _Abort if the robot cannot move or makes no progress."""
        if has_control or self._control_at is None:
            self._control_at = now
        elif now - self._control_at > CONTROL_PATIENCE and not self._contacts.forget_places():
            raise _Abort(NavigatorError.NO_VALID_CONTROL, "every motion would touch an obstacle")
        self._started = now if self._started is None else self._started
        if now - self._started > GRACE + self._longest / SLOWEST:
            raise _Abort(
                NavigatorError.FAILED_TO_MAKE_PROGRESS,
                f"not there after {now - self._started:.0f} s for a path of {self._longest:.1f} m",
            )
        if self._progress is not None:
            since, anchor = self._progress
            moved = math.hypot(pose[0] - anchor[0], pose[1] - anchor[1])
            turned = abs(math.remainder(pose[2] - anchor[2], 2.0 * math.pi))
            if moved < PROGRESS_DISTANCE and turned < PROGRESS_ANGLE:
                if now - since > PROGRESS_TIME:
                    raise _Abort(
                        NavigatorError.FAILED_TO_MAKE_PROGRESS,
                        f"moved {moved:.2f} m in {PROGRESS_TIME:.0f} s",
                    )
                return
        self._progress = (now, pose.copy())

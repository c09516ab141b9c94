"""A room, and a kinematic robot that drives in it, for tests of the navigator."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np
import pytest

from lodestar.grid.occupancy import FREE, OCCUPIED, OccupancyGrid2D
from lodestar_sim.clearance import Clearance
from lodestar_sim.navigator import Navigator, NavigatorStatus

RESOLUTION = 0.1


def free_room(width: float = 8.0, height: float = 6.0) -> OccupancyGrid2D:
    """Return the grid of an empty room with its corner at the origin and walls one cell thick."""
    cells = np.full((round(height / RESOLUTION), round(width / RESOLUTION)), FREE, np.int8)
    cells[[0, -1]] = cells[:, [0, -1]] = OCCUPIED
    return OccupancyGrid2D(cells, RESOLUTION, (0.0, 0.0))


def blocked(grid: OccupancyGrid2D, x0: float, y0: float, x1: float, y1: float, value: int = OCCUPIED):
    """Return a copy of the grid with a rectangle (metres) set to `value`."""
    cells = grid.cells.copy()
    cells[
        round(y0 / RESOLUTION) : round(y1 / RESOLUTION), round(x0 / RESOLUTION) : round(x1 / RESOLUTION)
    ] = value
    return replace(grid, cells=cells)


@dataclass
class Drive:
    """A kinematic robot without dynamics, driven by a navigator; records its track and commands."""

    pose: np.ndarray
    grid: OccupancyGrid2D
    navigator: Navigator = field(default_factory=Navigator)
    now: float = 0.0
    track: list = field(default_factory=list)
    commands: list = field(default_factory=list)
    stuck: bool = False

    def __post_init__(self):
        self.pose = np.array(self.pose, float)

    def step(self, dt: float = 0.05):
        result = self.navigator.update(self.now, self.grid, self.pose, np.zeros(3))
        vx, vy, wz = result.command
        c, s = math.cos(self.pose[2]), math.sin(self.pose[2])
        if not self.stuck:
            self.pose = self.pose + np.array([c * vx - s * vy, s * vx + c * vy, wz]) * dt
        self.now += dt
        self.track.append(self.pose.copy())
        self.commands.append(result.command)
        return result

    def until_done(self, limit: float = 120.0):
        while self.now < limit:
            result = self.step()
            if result.status is not NavigatorStatus.ACTIVE:
                return result
        raise AssertionError(f"still {result.status} after {limit} s at {self.pose}")

    def to(self, goal, **kwargs):
        self.navigator.set_goal(goal)
        return self.until_done(**kwargs)

    def touched(self) -> int:
        """Return the largest number of occupied cells under the unpadded footprint on the track."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("lodestar_sim.clearance.PADDING", 0.0)
            return int(Clearance(self.grid).covered(np.array(self.track))[:, 0].max())

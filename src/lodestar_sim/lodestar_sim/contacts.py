"""What the robot pushed against though its grid shows nothing there: the top of a low table, a chair's foot."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from lodestar.grid.occupancy import OCCUPIED, OccupancyGrid2D
from lodestar_sim.following import Clearance, FollowerConfig, rolled_out

_STILL = 0.03, 0.06  # m, rad: who has moved less while it drove stands
_AHEAD = np.linspace(0.1, 1.0, 4)  # parts of the motion that was stopped, along which something may be


@dataclass(frozen=True)
class ContactConfig:
    """driven: m that were commanded, turned: rad, without a motion to show for it, after which something is in the way.
    reach: m beyond the body, about one cell, in which it is. memory: s for which it is kept out of.
    """

    driven: float = 0.30
    turned: float = 0.80
    reach: float = 0.12
    memory: float = 60.0


class Contacts:
    """Watches commands and poses, and marks what stopped the robot on the grids that it plans and drives on."""

    def __init__(self, config: ContactConfig, follower: FollowerConfig) -> None:
        self._config, self._follower = config, follower
        self._found: list[tuple[float, np.ndarray]] = []  # time, points (N, 2)
        self._marked: tuple[OccupancyGrid2D, OccupancyGrid2D, int] | None = None
        self._latest = -math.inf
        self.forget_motion()

    def forget_motion(self) -> None:
        """What was driven until now says nothing any more: the robot was told to stand, or its pose is not known."""
        self._anchor: np.ndarray | None = None
        self._before: tuple[float, np.ndarray] | None = None
        self._driven = self._turned = 0.0
        self.held: list[np.ndarray] = []

    def forget_places(self) -> None:
        """Nothing is kept out of any more: what was touched may lie elsewhere than was taken for granted."""
        self._found = []

    def observe(self, now: float, pose: np.ndarray, command: np.ndarray, grid: OccupancyGrid2D) -> bool:
        """Whether the robot, which is given `command` (3,) from now on, was just found to be held by something; `held`
        then has what it was told in vain since it last moved, this command last.
        """
        if now < self._latest:  # the simulation started again
            self.forget_motion()
            self.forget_places()
        self._latest = now
        self._found = [(at, points) for at, points in self._found if now - at < self._config.memory]
        if self._before is not None:
            passed, given = now - self._before[0], self._before[1]
            self._driven += float(np.hypot(*given[:2])) * passed
            self._turned += abs(float(given[2])) * passed
        self._before = (now, command.copy())
        if self._anchor is None or self._moved(pose):
            self._anchor, self._driven, self._turned, self.held = pose.copy(), 0.0, 0.0, []
            return False
        if self._driven < self._config.driven and self._turned < self._config.turned:
            return False
        self._driven = self._turned = 0.0
        if not command.any():
            return False
        self.held.append(command.copy())
        if len(points := self._in_the_way(pose, command, grid)):
            self._found.append((now, points))
        return True

    def _moved(self, pose: np.ndarray) -> bool:
        assert self._anchor is not None
        gone = pose - self._anchor
        turned = abs(math.remainder(float(gone[2]), 2.0 * math.pi))
        return bool(math.hypot(gone[0], gone[1]) >= _STILL[0] or turned >= _STILL[1])

    def _in_the_way(self, pose: np.ndarray, command: np.ndarray, grid: OccupancyGrid2D) -> np.ndarray:
        """Centres (N, 2) of the cells that the body would cover next, and does not yet."""
        radius = math.hypot(self._follower.length, self._follower.width) / 2.0
        speed = math.hypot(command[0], command[1]) + radius * abs(command[2])
        clearance = Clearance(grid, self._follower)
        poses = rolled_out(pose, command, _AHEAD * self._config.reach / speed)
        ahead = np.concatenate([clearance.beneath(one) for one in poses])
        here = {tuple(cell) for cell in clearance.beneath(pose).tolist()}
        cells = [cell for cell in dict.fromkeys(map(tuple, ahead.tolist())) if cell not in here]
        return grid.points_of(np.array(cells, np.int64).reshape(-1, 2))

    def on(self, grid: OccupancyGrid2D) -> OccupancyGrid2D:
        """The grid with what was touched as occupied cells; the same one while neither changes."""
        if not self._found:
            return grid
        if self._marked is not None and self._marked[0] is grid and self._marked[2] == self._version:
            return self._marked[1]
        cells = grid.cells.copy()
        touched = grid.cells_of(np.concatenate([points for _, points in self._found]))
        touched = touched[grid.contains(touched)]
        cells[touched[:, 0], touched[:, 1]] = OCCUPIED
        marked = replace(grid, cells=cells)
        self._marked = (grid, marked, self._version)
        return marked

    @property
    def _version(self) -> int:
        return hash(tuple(at for at, _ in self._found))

"""Detection of contacts with obstacles missing from the grid, such as a low table top or a chair's foot."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from lodestar.grid.occupancy import OCCUPIED, OccupancyGrid2D
from lodestar_sim.clearance import LENGTH, WIDTH, Clearance
from lodestar_sim.path_follower import ALIKE, likeness, rolled_out

CONTACT_DRIVEN = 0.30  # metres commanded without motion that indicate a contact; chosen
CONTACT_TURNED = 0.80  # radians commanded without motion that indicate a contact; chosen: as CONTACT_DRIVEN
CONTACT_REACH = 0.12  # metres beyond the body in which the obstacle is assumed; chosen
CONTACT_MEMORY = 60.0  # seconds for which the cells of a contact stay blocked; chosen

_STILL = 0.03, 0.06  # metres, radians: a robot that moves less than this despite commands is blocked ...
_RESTS = 0.05, 0.10  # m/s, rad/s: ... unless its measured velocity is larger (poses may be delayed)
_AHEAD = np.linspace(0.1, 1.0, 4)  # fractions of the blocked motion at which obstacles are assumed


class Contacts:
    """Detect obstacles that stop the robot, by comparing commands with poses, and mark them on grids."""

    def __init__(self) -> None:
        self._found: list[tuple[float, np.ndarray]] = []  # time of the contact, points (N, 2) metres
        self._marked: tuple[OccupancyGrid2D, OccupancyGrid2D, int] | None = None
        self._latest = -math.inf
        self.forget_motion()

    def forget_motion(self) -> None:
        """Discard the commands so far: the robot was stopped, or its pose is unknown."""
        self._anchor: np.ndarray | None = None
        self._before: tuple[float, np.ndarray] | None = None
        # dissimilar commands without effect, each with its share of CONTACT_DRIVEN and CONTACT_TURNED
        self._vain: list[tuple[np.ndarray, float]] = []
        self.held: list[np.ndarray] = []

    def forget_places(self) -> bool:
        """Discard all detected contacts, as the pose may have been wrong; return whether there were any."""
        found, self._found = bool(self._found), []
        return found

    def observe(
        self, now: float, pose: np.ndarray, velocity: np.ndarray, command: np.ndarray, grid: OccupancyGrid2D
    ) -> bool:
        """Return whether an obstacle has just been found to block the robot.

        The attribute `held` then lists the ineffective commands since the last motion, the newest last.
        command: (3,) velocity commanded from now on. velocity: (3,) as measured.
        """
        self._see(now)
        before, self._before = self._before, (now, command.copy())
        if self._anchor is None or self._moved(pose, velocity):
            self._anchor, self._vain, self.held = pose.copy(), [], []
            return False
        if before is not None and before[1].any():
            self._tried(before[1], now - before[0])
        if sum(amount for _, amount in self._vain) < 1.0:
            return False
        told, _ = max(self._vain, key=lambda one: one[1])
        self._vain = []
        self.held.append(told)
        if len(points := self._in_the_way(pose, told, grid)):
            self._found.append((now, points))
        return True

    def _see(self, now: float) -> None:
        """Drop contacts older than CONTACT_MEMORY; drop all contacts and commands if the clock ran back."""
        if now < self._latest:
            self.forget_motion()
            self.forget_places()
        self._latest = now
        self._found = [(at, points) for at, points in self._found if now - at < CONTACT_MEMORY]

    def _tried(self, command: np.ndarray, seconds: float) -> None:
        amount = seconds * math.hypot(command[0], command[1]) / CONTACT_DRIVEN
        amount += seconds * abs(float(command[2])) / CONTACT_TURNED
        for index, (other, before) in enumerate(self._vain):
            if likeness(command[None], other[None])[0, 0] >= ALIKE:
                self._vain[index] = (other, before + amount)
                return
        self._vain.append((command, amount))

    def _moved(self, pose: np.ndarray, velocity: np.ndarray) -> bool:
        assert self._anchor is not None
        if math.hypot(velocity[0], velocity[1]) >= _RESTS[0] or abs(float(velocity[2])) >= _RESTS[1]:
            return True
        gone = pose - self._anchor
        turned = abs(math.remainder(float(gone[2]), 2.0 * math.pi))
        return bool(math.hypot(gone[0], gone[1]) >= _STILL[0] or turned >= _STILL[1])

    def _in_the_way(self, pose: np.ndarray, command: np.ndarray, grid: OccupancyGrid2D) -> np.ndarray:
        """Return the centres (N, 2) of cells that the body would cover next and does not cover yet."""
        radius = math.hypot(LENGTH, WIDTH) / 2.0
        speed = math.hypot(command[0], command[1]) + radius * abs(command[2])
        clearance = Clearance(grid)
        poses = rolled_out(pose, command, _AHEAD * CONTACT_REACH / speed)
        ahead = np.concatenate([clearance.beneath(one) for one in poses])
        here = {tuple(cell) for cell in clearance.beneath(pose).tolist()}
        cells = [cell for cell in dict.fromkeys(map(tuple, ahead.tolist())) if cell not in here]
        return grid.points_of(np.array(cells, np.int64).reshape(-1, 2))

    def on(self, grid: OccupancyGrid2D, now: float) -> OccupancyGrid2D:
        """Return the grid with recent contacts as occupied cells.

        The same object is returned while grid and contacts are unchanged.
        """
        self._see(now)
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

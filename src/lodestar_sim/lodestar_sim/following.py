"""A holonomic path follower that looks where it puts its feet."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numba as nb
import numpy as np

from lodestar.grid.occupancy import OccupancyGrid2D


@dataclass(frozen=True)
class FollowerConfig:
    """Speeds, distances and the body of the robot."""

    length: float = 0.70  # m, footprint
    width: float = 0.32  # m
    padding: float = 0.4  # cells, by which the footprint grows: a cell counts by its centre
    max_forward: float = 0.75  # m/s
    max_lateral: float = 0.35  # m/s
    max_turn: float = 1.0  # rad/s
    deceleration: float = 1.0  # m/s^2, planned for
    lookahead: float = 0.5  # m
    slow_from: float = 0.60  # m to an obstacle, from where the robot slows ...
    slow_at: float = 0.25  # m ... down to `slow_speed`
    slow_speed: float = 0.30  # m/s
    unknown_speed: float = 0.30  # m/s while the footprint would cover unknown cells
    turn_in_place: float = 1.0  # rad off the motion above which the robot only turns
    final_distance: float = 0.45  # m before the goal from where the robot takes the final heading
    position_tolerance: float = 0.15  # m
    yaw_tolerance: float = 0.15  # rad
    look_time: float = 0.6  # s ahead that must be free


@nb.njit(cache=True)
def _covered(cells, occupied_from, origin_x, origin_y, resolution, poses, half_length, half_width):
    """Occupied and unknown cells whose centres lie under the footprint at poses (N, 3). Returns (N, 2)."""
    counts = np.zeros((poses.shape[0], 2), np.int64)
    radius = math.hypot(half_length, half_width)
    for i in range(poses.shape[0]):
        x, y = poses[i, 0], poses[i, 1]
        c, s = math.cos(poses[i, 2]), math.sin(poses[i, 2])
        for row in range(math.floor((y - radius - origin_y) / resolution),
                         math.floor((y + radius - origin_y) / resolution) + 1):  # fmt: skip
            dy = origin_y + (row + 0.5) * resolution - y
            for column in range(math.floor((x - radius - origin_x) / resolution),
                                math.floor((x + radius - origin_x) / resolution) + 1):  # fmt: skip
                dx = origin_x + (column + 0.5) * resolution - x
                if abs(dx * c + dy * s) > half_length or abs(dy * c - dx * s) > half_width:
                    continue
                value = -1
                if 0 <= row < cells.shape[0] and 0 <= column < cells.shape[1]:
                    value = cells[row, column]
                if value < 0:
                    counts[i, 1] += 1
                elif value >= occupied_from:
                    counts[i, 0] += 1
    return counts


@nb.njit(cache=True)
def _nearest_obstacle(cells, occupied_from, origin_x, origin_y, resolution, x, y, reach):
    best = reach
    steps = int(reach / resolution) + 1
    row0, column0 = math.floor((y - origin_y) / resolution), math.floor((x - origin_x) / resolution)
    for row in range(max(row0 - steps, 0), min(row0 + steps + 1, cells.shape[0])):
        for column in range(max(column0 - steps, 0), min(column0 + steps + 1, cells.shape[1])):
            if cells[row, column] >= occupied_from:
                dx = origin_x + (column + 0.5) * resolution - x
                dy = origin_y + (row + 0.5) * resolution - y
                best = min(best, math.hypot(dx, dy))
    return best


class Clearance:
    """What the footprint would stand on, on one grid."""

    def __init__(self, grid: OccupancyGrid2D, config: FollowerConfig):
        pad = config.padding * grid.resolution
        self._size = (config.length / 2.0 + pad, config.width / 2.0 + pad)
        x, y = grid.origin
        self._grid = (grid.cells, grid.occupied_from, float(x), float(y), grid.resolution)

    def covered(self, poses: np.ndarray) -> np.ndarray:
        """(N, 2): occupied and unknown cells under the footprint at poses (N, 3)."""
        return _covered(*self._grid, poses, *self._size)

    def nearest(self, xy, reach: float) -> float:
        """Metres to the centre of the nearest occupied cell, at most `reach`."""
        return float(_nearest_obstacle(*self._grid, xy[0], xy[1], reach))


def _rolled_out(pose: np.ndarray, command: np.ndarray, times: np.ndarray) -> np.ndarray:
    """Poses (N, 3) of a constant body velocity after each time."""
    yaw = pose[2] + command[2] * times
    middle = pose[2] + command[2] * times / 2.0
    c, s = np.cos(middle), np.sin(middle)
    x = pose[0] + (c * command[0] - s * command[1]) * times
    y = pose[1] + (s * command[0] + c * command[1]) * times
    return np.stack([x, y, yaw], axis=1)


class PathFollower:
    """Commands that lead along a path and end in the goal's heading."""

    def __init__(self, config: FollowerConfig):
        self.config = config
        self._times = np.linspace(0.1, config.look_time, 5)
        self.reset()

    def reset(self) -> None:
        """Forget the path."""
        self._lengths: np.ndarray | None = None
        self._index = 0
        self._at_goal = False

    def take(self, path: np.ndarray) -> None:
        """Follow this path (N, 2) from its beginning."""
        steps = np.linalg.norm(np.diff(path, axis=0), axis=1)
        self._lengths = np.concatenate([[0.0], np.cumsum(steps)])
        self._index = 0

    def arrived(self, pose: np.ndarray, goal: np.ndarray) -> bool:
        """Within both tolerances."""
        turn = abs(math.remainder(goal[2] - pose[2], 2.0 * math.pi))
        distance = math.hypot(goal[0] - pose[0], goal[1] - pose[1])
        return distance <= self.config.position_tolerance and turn <= self.config.yaw_tolerance

    def follow(self, path, goal, pose, velocity, clearance: Clearance) -> tuple[np.ndarray | None, float]:
        """The command (3,), or None where every motion is blocked, and the metres that remain."""
        config = self.config
        target, remaining = self._target(path, pose)
        to_goal = math.hypot(goal[0] - pose[0], goal[1] - pose[1])
        self._at_goal = to_goal <= config.position_tolerance * (1.0 if self._at_goal else 0.6)
        dx, dy = target[0] - pose[0], target[1] - pose[1]
        bearing = math.atan2(dy, dx)
        final = remaining < config.final_distance
        heading = goal[2] if final else bearing
        turn = math.remainder(heading - pose[2], 2.0 * math.pi)
        off = abs(math.remainder(bearing - pose[2], 2.0 * math.pi))
        wz = float(np.clip(2.0 * turn, -config.max_turn, config.max_turn))
        if self._at_goal:
            return self._first_free(pose, [(0.0, 0.0, wz), (0.0, 0.0, -wz)], clearance), remaining
        braking = math.sqrt(2.0 * config.deceleration * remaining) + 0.05
        speed = min(self._speed_limit(pose, clearance), braking)
        if final:
            speed = min(speed, config.max_lateral)
        creep = max(0.0, 1.0 - off / config.turn_in_place) if not final else 1.0
        drive = self._body_velocity(bearing - pose[2], speed)
        full = self._body_velocity(bearing - pose[2], min(speed, config.max_lateral))
        options = [
            (drive[0] * creep, drive[1] * creep, wz),
            (drive[0] * creep / 2.0, drive[1] * creep / 2.0, wz / 2.0),
            (full[0] / 2.0, full[1] / 2.0, 0.0),  # no room to turn: go sideways or backwards
            (full[0] / 2.0, full[1] / 2.0, -wz / 2.0),
            (0.0, 0.0, wz),
            (0.0, 0.0, -wz),
        ]
        return self._first_free(pose, options, clearance), remaining

    def _target(self, path: np.ndarray, pose: np.ndarray) -> tuple[np.ndarray, float]:
        """The point to head for and the metres left along the path."""
        window = slice(self._index, self._index + 40)
        offsets = np.linalg.norm(path[window] - pose[:2], axis=1)
        self._index += int(offsets.argmin())
        remaining = float(self._lengths[-1] - self._lengths[self._index])
        ahead = int(np.searchsorted(self._lengths, self._lengths[self._index] + self.config.lookahead))
        target = path[min(ahead, len(path) - 1)]
        if remaining < 0.3:
            remaining = max(remaining, float(np.linalg.norm(path[-1] - pose[:2])))
        return target, remaining

    def _speed_limit(self, pose: np.ndarray, clearance: Clearance) -> float:
        config = self.config
        near = clearance.nearest(pose, config.slow_from)
        share = (near - config.slow_at) / (config.slow_from - config.slow_at)
        return config.slow_speed + min(max(share, 0.0), 1.0) * (config.max_forward - config.slow_speed)

    def _body_velocity(self, direction: float, speed: float) -> tuple[float, float]:
        """A velocity in this direction of the body that keeps the limits of both axes."""
        vx, vy = math.cos(direction), math.sin(direction)
        limit_x = self.config.max_forward if vx > 0.0 else self.config.max_lateral
        scale = min(speed, limit_x / max(abs(vx), 1e-9), self.config.max_lateral / max(abs(vy), 1e-9))
        return vx * scale, vy * scale

    def _first_free(self, pose, options, clearance: Clearance) -> np.ndarray | None:
        """The first motion that touches no more than the robot touches already; slower over unknown cells."""
        here = clearance.covered(pose[None])[0, 0]
        for option in options:
            command = np.array(option)
            ahead = clearance.covered(_rolled_out(pose, command, self._times))
            if ahead[:, 0].max() > here or (here > 0 and ahead[-1, 0] > 0 and ahead[-1, 0] >= here):
                continue
            speed = math.hypot(command[0], command[1])
            if ahead[:, 1].max() > 0 and speed > self.config.unknown_speed:
                command[:2] *= self.config.unknown_speed / speed
            if np.abs(command).max() > 1e-3:
                return command
        return None

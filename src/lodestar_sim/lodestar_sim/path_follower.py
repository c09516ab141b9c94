"""A holonomic path follower that checks its footprint against the grid."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np

from lodestar.grid.config import LookConfig
from lodestar.grid.way_headings import WayHeadings
from lodestar_sim.clearance import Clearance
from lodestar_sim.follower_config import FollowerConfig, aside_angle

_LIMITS = LookConfig()
_ESCAPE_STEPS = 8  # commands for which an escape is continued ...
_BREAK_FREE_STEPS = 16  # ... and one from a contact that the grid does not show
ALIKE = 0.7  # similarity of two commands from which they count as the same attempt
_ESCAPES = np.array(
    [
        (0.15 * math.cos(a), 0.15 * math.sin(a), w)
        for w in (0.0, 0.5, -0.5)
        for a in np.arange(8) * (math.pi / 4)
    ]
    + [(0.0, 0.0, 0.5), (0.0, 0.0, -0.5)]
)
_STOPPING = 1.0  # s ahead in which it comes no nearer to people; chosen: it brakes, and a grid is as old
_AHEAD = _STOPPING * np.array([0.25, 0.5, 1.0])
_ASIDE_TIMES = np.array([0.25, 0.5, 1.0, 1.5])  # s of a step aside that must be free; chosen
_ASIDE = 0.1  # closeness that a step aside must gain; chosen: 0.12 m
_BODIES = 0.65  # closeness from which it steps aside no more: 0.42 m, where bodies touch beside it; chosen
_STAYS_FINAL = 1.5  # m before the goal within which the robot keeps taking its heading; chosen
_MOST_ASIDE = math.radians(
    80.0
)  # between heading and motion, whatever the camera sees; chosen: it still walks ahead
_NUDGE = 0.12  # m/s sideways while turning without room


def rolled_out(pose: np.ndarray, command: np.ndarray, times: np.ndarray) -> np.ndarray:
    """Return the poses (N, 3) reached with a constant body velocity after each time."""
    yaw = pose[2] + command[2] * times
    middle = pose[2] + command[2] * times / 2.0
    c, s = np.cos(middle), np.sin(middle)
    x = pose[0] + (c * command[0] - s * command[1]) * times
    y = pose[1] + (s * command[0] + c * command[1]) * times
    return np.stack([x, y, yaw], axis=1)


def likeness(commands: np.ndarray, others: np.ndarray, config: FollowerConfig) -> np.ndarray:
    """Return cosines (N, M) of the body corners' motions under commands (N, 3) and others (M, 3), all non-zero."""
    arm = np.array([1.0, 1.0, math.hypot(config.length, config.width) / 2.0])
    ours, theirs = commands * arm, others * arm
    scale = np.linalg.norm(ours, axis=1)[:, None] * np.linalg.norm(theirs, axis=1)[None]
    return ours @ theirs.T / scale


class PathFollower:
    """Compute commands that follow a path and end in the goal's heading.

    headings: what it turns to on the way; it wants to be told of each pose.
    """

    def __init__(self, config: FollowerConfig, looks: LookConfig = _LIMITS):
        self.config = config
        # at most half of the view, so that the robot sees where it walks
        aside = min(aside_angle(config), looks.fov / 2.0, _MOST_ASIDE) if config.looks_aside else 0.0
        self.headings = WayHeadings(aside, looks)
        self._times = config.look_time * np.array([0.08, 0.16, 0.25, 0.4, 0.6, 0.8, 1.0])
        self.reset()

    def reset(self) -> None:
        """Forget the path."""
        self._lengths = np.zeros(1)  # metres along the path of each of its points
        self._index = 0
        self._at_goal = False
        self._final = False  # whether it takes the goal's heading, which it goes on to do
        self._escape_left = 0
        self._escape_command = np.zeros(3)
        self._breaks_free = False
        self._blocked: list[float] = []  # directions of blocked turns

    def take(self, path: np.ndarray) -> None:
        """Follow this path (N, 2) from its beginning."""
        steps = np.linalg.norm(np.diff(path, axis=0), axis=1)
        self._lengths = np.concatenate([[0.0], np.cumsum(steps)])
        self._index = 0

    def arrived(self, pose: np.ndarray, goal: np.ndarray) -> bool:
        """Tell whether the pose is within both tolerances of the goal."""
        turn = abs(math.remainder(goal[2] - pose[2], 2.0 * math.pi))
        distance = math.hypot(goal[0] - pose[0], goal[1] - pose[1])
        return distance <= self.config.position_tolerance and turn <= self.config.yaw_tolerance

    def follow(
        self, path: np.ndarray, goal: np.ndarray, pose: np.ndarray, now: float, clearance: Clearance
    ) -> tuple[np.ndarray | None, float]:
        """Return the command (3,), or None if every motion is blocked, and the remaining metres."""
        config = self.config
        target, remaining = self._target(path, pose, clearance)
        to_goal = math.hypot(goal[0] - pose[0], goal[1] - pose[1])
        self._at_goal = to_goal <= config.position_tolerance * (1.0 if self._at_goal else 0.6)
        dx, dy = target[0] - pose[0], target[1] - pose[1]
        bearing = math.atan2(dy, dx)
        left = abs(math.remainder(goal[2] - pose[2], 2.0 * math.pi))
        aside = to_goal <= config.aside and left <= config.aside_turn
        room = clearance.nearest(pose, config.slow_from) >= config.turning_room
        turned_at = left / config.max_turn * config.max_lateral
        final = remaining < max(config.final_distance, room * turned_at) or aside
        final = self._final = final or (self._final and remaining < _STAYS_FINAL)
        heading = goal[2] if final else bearing
        if room and not final and clearance.nearest(target, config.slow_from) >= config.turning_room:
            heading = self.headings.heading(pose, bearing, now)
        turn = math.remainder(heading - pose[2], 2.0 * math.pi)
        wz = self._turn_speed(turn)
        self._breaks_free = self._breaks_free and self._escape_left > 0
        if self._at_goal and not self._breaks_free:
            return self._turn(pose, turn, clearance), remaining
        braking = math.sqrt(2.0 * config.deceleration * remaining) + 0.05
        speed = min(self._speed_limit(pose, clearance), braking)
        if final and not room:
            speed = min(speed, config.max_lateral)
        vx, vy = self._body_velocity(bearing - pose[2], speed)
        options = [
            (vx, vy, wz),
            (vx, vy, wz / 2.0),
            (vx, vy, 0.0),  # no room to turn: move sideways or backwards
            (vx / 2.0, vy / 2.0, wz / 2.0),
            (vx / 2.0, vy / 2.0, -wz / 2.0),
            (0.0, 0.0, wz),
        ]
        command = self._first_free(pose, options, clearance)
        if command is not None and self._escape_left == 0:
            return command, remaining
        return self._escape(pose, target, clearance), remaining

    def break_free(self, pose: np.ndarray, held: Sequence[np.ndarray], clearance: Clearance) -> None:
        """Move for a short time as unlike the blocked commands (3,) as possible, if such a motion is free.

        The commands were blocked by something that the grid does not show.
        """
        same = likeness(_ESCAPES, np.array(held), self.config)
        order = np.argsort(same.mean(axis=1), kind="stable")
        unlike = [_ESCAPES[i] for i in order if same[i].max() < ALIKE]
        command = self._first_free(pose, unlike, clearance)
        if command is not None:
            self._escape_command, self._escape_left, self._breaks_free = command, _BREAK_FREE_STEPS, True

    def step_aside(self, pose: np.ndarray, clearance: Clearance) -> np.ndarray | None:
        """Return the motion over free floor that leads away from people best; None where none gains enough, or where
        somebody is about to touch the robot, who can walk around one that stands.

        All of it leads away, so that it passes through nobody; it does not turn: a robot with legs walks sideways.
        """
        start_closeness, before = clearance.closeness(pose[None])[0], clearance.covered(pose[None])[0]
        if start_closeness >= _BODIES:
            return None
        least, best = float(start_closeness) - _ASIDE, None
        for direction in np.arange(16) * (math.pi / 8.0):
            command = np.array([*self._body_velocity(direction, self.config.max_lateral), 0.0])
            poses = rolled_out(pose, command, _ASIDE_TIMES)
            closeness = clearance.closeness(poses)
            nears = (np.diff(closeness, prepend=start_closeness) >= 0.0) & (closeness > 0.0)
            if closeness[-1] > least or nears.any():
                continue
            if (clearance.covered(poses) > before).any() or not clearance.passable(poses).all():
                continue
            least, best = float(closeness[-1]) - 1e-6, command
        return best

    def _escape(self, pose: np.ndarray, target: np.ndarray, clearance: Clearance) -> np.ndarray | None:
        """Return the free motion that leaves most clearance around the robot; continued for a short time."""
        if self._escape_left > 0 and self._first_free(pose, [self._escape_command], clearance) is not None:
            self._escape_left -= 1
            return self._escape_command
        self._escape_left = 0
        best, best_score = None, -math.inf
        direction = (target[:2] - pose[:2]) / max(float(np.linalg.norm(target[:2] - pose[:2])), 1e-9)
        for candidate in _ESCAPES:
            command = self._first_free(pose, [candidate], clearance)
            if command is None:
                continue
            end = rolled_out(pose, command, self._times[-1:])
            score = float((end[0, :2] - pose[:2]) @ direction) - 0.1 * clearance.covered(end, wide=True)[0, 0]
            if score > best_score:
                best, best_score = command, score
        if best is not None:
            self._escape_command, self._escape_left = best, _ESCAPE_STEPS
        return best

    def _turn(self, pose: np.ndarray, turn: float, clearance: Clearance) -> np.ndarray | None:
        """Turn to the goal's heading; if that direction is blocked, turn the other way and do not reverse again."""
        for _ in range(2 - len(self._blocked)):
            way = math.copysign(1.0, turn) if not self._blocked else -self._blocked[0]
            wz = self._turn_speed(turn) if way * turn > 0.0 else way * self.config.max_turn
            options = [
                (vx * _NUDGE, vy * _NUDGE, wz) for vx, vy in ((0, 0), (1, 0), (-1, 0), (0, 1), (0, -1))
            ]
            command = self._first_free(pose, options, clearance)
            if command is not None:
                return command
            self._blocked.append(way)
        return None

    def _turn_speed(self, turn: float) -> float:
        """Return the turn rate, rad/s, at which the robot can still come to rest after `turn` radians."""
        speed = min(math.sqrt(2.0 * self.config.turn_deceleration * abs(turn)), self.config.max_turn)
        return math.copysign(min(speed, 5.0 * abs(turn)), turn)  # what is left is made in two control steps

    def _target(self, path: np.ndarray, pose: np.ndarray, clearance: Clearance) -> tuple[np.ndarray, float]:
        """Return the target point, to which the straight line is known and free, and the remaining metres."""
        window = slice(self._index, self._index + 40)
        offsets = np.linalg.norm(path[window] - pose[:2], axis=1)
        self._index += int(offsets.argmin())
        remaining = float(self._lengths[-1] - self._lengths[self._index])
        for lookahead in self.config.lookahead * np.array([1.0, 0.6, 0.3, 0.0]):
            ahead = int(np.searchsorted(self._lengths, self._lengths[self._index] + lookahead))
            target = path[min(max(ahead, self._index + 1), len(path) - 1)]
            way = pose[:2] + np.linspace(0.2, 1.0, 6)[:, None] * (target - pose[:2])
            if clearance.passable(way).all():
                break
        if remaining < 0.3:
            remaining = max(remaining, float(np.linalg.norm(path[-1] - pose[:2])))
        return target, remaining

    def _speed_limit(self, pose: np.ndarray, clearance: Clearance) -> float:
        config = self.config
        near = clearance.nearest(pose, config.slow_from)
        share = (near - config.slow_at) / (config.slow_from - config.slow_at)
        share = 0.0 if clearance.closeness(pose[None])[0] > 0.0 else share
        return config.slow_speed + min(max(share, 0.0), 1.0) * (config.max_forward - config.slow_speed)

    def _body_velocity(self, direction: float, speed: float) -> tuple[float, float]:
        """Return a body velocity in this direction within the limits of both axes."""
        vx, vy = math.cos(direction), math.sin(direction)
        limit_x = self.config.max_forward if vx > 0.0 else self.config.max_lateral
        scale = min(speed, limit_x / max(abs(vx), 1e-9), self.config.max_lateral / max(abs(vy), 1e-9))
        return vx * scale, vy * scale

    def _first_free(
        self, pose: np.ndarray, options: Iterable[Sequence[float] | np.ndarray], clearance: Clearance
    ) -> np.ndarray | None:
        """Return the first motion that touches nothing new; slower over unknown cells.

        If the robot already touches something (occupied cells lie under it), a motion that leads out has priority.
        """
        here = clearance.covered(pose[None])[0, 0]
        outside = not clearance.passable(pose[None])[0]
        second = None
        for option in options:
            command = np.array(option)
            if np.abs(command).max() < 1e-3:
                continue
            poses = rolled_out(pose, command, self._times)
            if not (outside or clearance.passable(poses[:4]).all()):
                continue
            ahead = clearance.covered(poses)
            if ahead[:, 0].max() > here:
                continue
            if clearance.yields and clearance.nears(
                np.vstack([pose[None], rolled_out(pose, command, _AHEAD)])
            ):
                continue
            limit = self.config.unknown_speed if here or ahead[:, 1].max() else math.inf
            command[:2] *= min(1.0, limit / max(math.hypot(command[0], command[1]), 1e-9))
            if here == 0 or ahead[-1, 0] < here:
                return command
            second = command if second is None else second
        return second

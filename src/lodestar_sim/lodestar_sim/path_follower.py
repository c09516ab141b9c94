"""A holonomic path follower that checks its footprint against the grid."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np

from lodestar_sim.clearance import LENGTH, WIDTH, Clearance

MAX_FORWARD = 0.75  # m/s forwards; chosen
MAX_LATERAL = 0.35  # m/s sideways; chosen: half of MAX_FORWARD
MAX_TURN = 1.0  # rad/s, turn rate; chosen
DECELERATION = 1.0  # m/s^2, used for planning; chosen
LOOKAHEAD = 0.5  # metres along the path to the point that is driven to; chosen
SLOW_FROM = 0.60  # metres to an obstacle at which the robot begins to slow; chosen
SLOW_AT = 0.25  # metres to an obstacle at which it has SLOW_SPEED; chosen
SLOW_SPEED = 0.30  # m/s beside obstacles; chosen
UNKNOWN_SPEED = 0.30  # m/s while the footprint would cover unknown cells; chosen: as SLOW_SPEED
# metres to the nearest obstacle beyond which the robot turns while it walks; chosen: half of the body's diagonal, and
# a cell
TURNING_ROOM = 0.45
TURN_DECELERATION = 2.0  # rad/s^2, used for planning; chosen
# metres before the goal from which the robot takes the final heading; with room it takes it as soon as the turn
# needs the rest of the way at MAX_LATERAL; chosen
FINAL_DISTANCE = 0.45
SIDESTEP = 0.60  # metres to a goal with a similar heading that is reached without turning; chosen
SIDESTEP_TURN = 0.20  # radians, largest difference of a similar heading; chosen
POSITION_TOLERANCE = 0.15  # metres from a goal that is reached; chosen: three cells of 5 cm
# radians from the heading of a goal that is reached; chosen: below the 30 degrees of success
YAW_TOLERANCE = 0.15
LOOK_TIME = 0.6  # seconds of a motion that must be free; chosen

_ESCAPE_STEPS = 8  # number of commands for which an escape motion is repeated
_BREAK_FREE_STEPS = 16  # likewise, away from an obstacle missing from the grid
ALIKE = 0.7  # `likeness` above which two commands count as the same attempt
_ESCAPES = np.array(
    [
        (0.15 * math.cos(a), 0.15 * math.sin(a), w)
        for w in (0.0, 0.5, -0.5)
        for a in np.arange(8) * (math.pi / 4)
    ]
    + [(0.0, 0.0, 0.5), (0.0, 0.0, -0.5)]
)
_STOPPING = 1.0  # s ahead in which a motion may not near people; chosen: braking time plus age of the grid
_AHEAD = _STOPPING * np.array([0.25, 0.5, 1.0])
_ASIDE_TIMES = np.array([0.25, 0.5, 1.0, 1.5])  # s at which the poses of a step aside are checked; chosen
_ASIDE = 0.1  # closeness by which a step aside must reduce; chosen: 0.12 m
_BODIES = 0.65  # closeness above which it stands still instead: 0.42 m, almost contact; chosen
_STAYS_FINAL = 1.5  # m from the goal within which a turn to the goal's heading is not abandoned; chosen
_NUDGE = 0.12  # m/s along either axis while turning without room


def rolled_out(pose: np.ndarray, command: np.ndarray, times: np.ndarray) -> np.ndarray:
    """Return the poses (N, 3) reached with a constant body velocity after each time."""
    yaw = pose[2] + command[2] * times
    middle = pose[2] + command[2] * times / 2.0
    c, s = np.cos(middle), np.sin(middle)
    x = pose[0] + (c * command[0] - s * command[1]) * times
    y = pose[1] + (s * command[0] + c * command[1]) * times
    return np.stack([x, y, yaw], axis=1)


def likeness(commands: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Return the cosine similarities (N, M) of non-zero body velocities, commands (N, 3) and others (M, 3).

    Turn rates are weighted by the distance of the body's corners from its centre.
    """
    arm = np.array([1.0, 1.0, math.hypot(LENGTH, WIDTH) / 2.0])
    ours, theirs = commands * arm, others * arm
    scale = np.linalg.norm(ours, axis=1)[:, None] * np.linalg.norm(theirs, axis=1)[None]
    return ours @ theirs.T / scale


class PathFollower:
    """Compute commands that follow a path and end in the goal's heading."""

    def __init__(self) -> None:
        self._times = LOOK_TIME * np.array([0.08, 0.16, 0.25, 0.4, 0.6, 0.8, 1.0])
        self.reset()

    def reset(self) -> None:
        """Forget the path."""
        self._lengths = np.zeros(1)  # metres along the path, one per path point
        self._index = 0
        self._at_goal = False
        self._final = False  # whether it is turning to the goal's heading
        self._escape_left = 0
        self._escape_command = np.zeros(3)
        self._breaks_free = False
        self._blocked: list[float] = []  # signs of the turn directions that are blocked

    def take(self, path: np.ndarray) -> None:
        """Set the path (N, 2) to follow from its beginning."""
        steps = np.linalg.norm(np.diff(path, axis=0), axis=1)
        self._lengths = np.concatenate([[0.0], np.cumsum(steps)])
        self._index = 0

    def arrived(self, pose: np.ndarray, goal: np.ndarray) -> bool:
        """Return whether the pose is within the position and yaw tolerances of the goal."""
        turn = abs(math.remainder(goal[2] - pose[2], 2.0 * math.pi))
        distance = math.hypot(goal[0] - pose[0], goal[1] - pose[1])
        return distance <= POSITION_TOLERANCE and turn <= YAW_TOLERANCE

    def follow(
        self, path: np.ndarray, goal: np.ndarray, pose: np.ndarray, clearance: Clearance
    ) -> tuple[np.ndarray | None, float]:
        """Return the command (3,), None if every motion is blocked, and the remaining metres of path."""
        target, remaining = self._target(path, pose, clearance)
        to_goal = math.hypot(goal[0] - pose[0], goal[1] - pose[1])
        self._at_goal = to_goal <= POSITION_TOLERANCE * (1.0 if self._at_goal else 0.6)
        dx, dy = target[0] - pose[0], target[1] - pose[1]
        bearing = math.atan2(dy, dx)
        left = abs(math.remainder(goal[2] - pose[2], 2.0 * math.pi))
        aside = to_goal <= SIDESTEP and left <= SIDESTEP_TURN
        room = clearance.nearest(pose, SLOW_FROM) >= TURNING_ROOM
        turned_at = left / MAX_TURN * MAX_LATERAL
        final = remaining < max(FINAL_DISTANCE, room * turned_at) or aside
        final = self._final = final or (self._final and remaining < _STAYS_FINAL)
        heading = goal[2] if final else bearing
        turn = math.remainder(heading - pose[2], 2.0 * math.pi)
        wz = self._turn_speed(turn)
        self._breaks_free = self._breaks_free and self._escape_left > 0
        if self._at_goal and not self._breaks_free:
            return self._turn(pose, turn, clearance), remaining
        braking = math.sqrt(2.0 * DECELERATION * remaining) + 0.05
        speed = min(self._speed_limit(pose, clearance), braking)
        if final and not room:
            speed = min(speed, MAX_LATERAL)
        vx, vy = self._body_velocity(bearing - pose[2], speed)
        options = [
            (vx, vy, wz),
            (vx, vy, wz / 2.0),
            (vx, vy, 0.0),  # without turning: sideways or backwards
            (vx / 2.0, vy / 2.0, wz / 2.0),
            (vx / 2.0, vy / 2.0, -wz / 2.0),
            (0.0, 0.0, wz),
        ]
        command = self._first_free(pose, options, clearance)
        if command is not None and self._escape_left == 0:
            return command, remaining
        return self._escape(pose, target, clearance), remaining

    def break_free(self, pose: np.ndarray, held: Sequence[np.ndarray], clearance: Clearance) -> None:
        """Schedule a short escape motion: of those that are free, the one least like the blocked commands.

        held: the blocked commands, (3,) each. An obstacle missing from the grid blocked them.
        """
        same = likeness(_ESCAPES, np.array(held))
        order = np.argsort(same.mean(axis=1), kind="stable")
        unlike = [_ESCAPES[i] for i in order if same[i].max() < ALIKE]
        command = self._first_free(pose, unlike, clearance)
        if command is not None:
            self._escape_command, self._escape_left, self._breaks_free = command, _BREAK_FREE_STEPS, True

    def step_aside(self, pose: np.ndarray, clearance: Clearance) -> np.ndarray | None:
        """Return the command (3,) that leads farthest away from people over free floor, or None.

        None if no command gains enough distance, or if a person is so close that standing still is safer: they can
        walk around the robot. The distance grows at every checked pose. The command contains no turn.
        """
        start_closeness, before = clearance.closeness(pose[None])[0], clearance.covered(pose[None])[0]
        if start_closeness >= _BODIES:
            return None
        least, best = float(start_closeness) - _ASIDE, None
        for direction in np.arange(16) * (math.pi / 8.0):
            command = np.array([*self._body_velocity(direction, MAX_LATERAL), 0.0])
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
        """Return the free escape command (3,) with the best progress to the target and clearance, or None.

        The command is repeated for the next `_ESCAPE_STEPS` commands while it stays free.
        """
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
        """Return a command that turns by `turn` radians to the goal's heading; None if both directions are blocked.

        A direction found blocked is not tried again.
        """
        for _ in range(2 - len(self._blocked)):
            way = math.copysign(1.0, turn) if not self._blocked else -self._blocked[0]
            wz = self._turn_speed(turn) if way * turn > 0.0 else way * MAX_TURN
            options = [
                (vx * _NUDGE, vy * _NUDGE, wz) for vx, vy in ((0, 0), (1, 0), (-1, 0), (0, 1), (0, -1))
            ]
            command = self._first_free(pose, options, clearance)
            if command is not None:
                return command
            self._blocked.append(way)
        return None

    def _turn_speed(self, turn: float) -> float:
        """Return the highest turn rate, rad/s, at which the robot can still stop after `turn` radians."""
        speed = min(math.sqrt(2.0 * TURN_DECELERATION * abs(turn)), MAX_TURN)
        return math.copysign(min(speed, 5.0 * abs(turn)), turn)  # spread the rest over control steps

    def _target(self, path: np.ndarray, pose: np.ndarray, clearance: Clearance) -> tuple[np.ndarray, float]:
        """Return the target point, ahead on the path with a free straight line to it, and the remaining metres."""
        window = slice(self._index, self._index + 40)
        offsets = np.linalg.norm(path[window] - pose[:2], axis=1)
        self._index += int(offsets.argmin())
        remaining = float(self._lengths[-1] - self._lengths[self._index])
        for lookahead in LOOKAHEAD * np.array([1.0, 0.6, 0.3, 0.0]):
            ahead = int(np.searchsorted(self._lengths, self._lengths[self._index] + lookahead))
            target = path[min(max(ahead, self._index + 1), len(path) - 1)]
            way = pose[:2] + np.linspace(0.2, 1.0, 6)[:, None] * (target - pose[:2])
            if clearance.passable(way).all():
                break
        if remaining < 0.3:
            remaining = max(remaining, float(np.linalg.norm(path[-1] - pose[:2])))
        return target, remaining

    def _speed_limit(self, pose: np.ndarray, clearance: Clearance) -> float:
        near = clearance.nearest(pose, SLOW_FROM)
        share = (near - SLOW_AT) / (SLOW_FROM - SLOW_AT)
        share = 0.0 if clearance.closeness(pose[None])[0] > 0.0 else share
        return SLOW_SPEED + min(max(share, 0.0), 1.0) * (MAX_FORWARD - SLOW_SPEED)

    def _body_velocity(self, direction: float, speed: float) -> tuple[float, float]:
        """Return the body velocity (vx, vy) in a direction (rad, body frame) within the limits of both axes."""
        vx, vy = math.cos(direction), math.sin(direction)
        limit_x = MAX_FORWARD if vx > 0.0 else MAX_LATERAL
        scale = min(speed, limit_x / max(abs(vx), 1e-9), MAX_LATERAL / max(abs(vy), 1e-9))
        return vx * scale, vy * scale

    def _first_free(
        self, pose: np.ndarray, options: Iterable[Sequence[float] | np.ndarray], clearance: Clearance
    ) -> np.ndarray | None:
        """Return the first of the commands `options` that causes no new contact, or None; slower over unknown cells.

        If occupied cells already lie under the robot, a command that leaves them has priority.
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
            limit = UNKNOWN_SPEED if here or ahead[:, 1].max() else math.inf
            command[:2] *= min(1.0, limit / max(math.hypot(command[0], command[1]), 1e-9))
            if here == 0 or ahead[-1, 0] < here:
                return command
            second = command if second is None else second
        return second

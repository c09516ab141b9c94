"""Simulated side of the Go2's topics, with the faults of real robots, for tests of the driver."""

from __future__ import annotations

import json
import math
from collections import Counter
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

# Mount of the built-in L1 in base_link, upside down, looking forwards and down (go2_description's joint `radar`).
MOUNT_X = 0.28945  # m
MOUNT_Z = -0.046825  # m
MOUNT_PITCH = 2.8782  # rad

DAMP, BALANCE_STAND, STOP_MOVE, STAND_UP, STAND_DOWN, RECOVERY_STAND, MOVE = (
    1001,
    1002,
    1003,
    1004,
    1005,
    1006,
    1008,
)
_STANDING, _LYING = 0.31, 0.09  # m, body above the floor
NOT_SUPPORTED, BAD_PARAMETER = 3203, 3204  # status codes, chosen: Unitree publishes none

Message = TypeVar("Message")


@dataclass(frozen=True)
class TrapConfig:
    """Faults of a real robot and its connection; each can be switched off with 0 or false."""

    clock_offset: float = 4321.5  # s by which the robot's clock is ahead of ours
    height_offset: float = 0.17  # m, of the robot's own z
    late_share: float = 0.15  # of the messages come `late_by` later
    late_by: float = 0.12  # s
    repeated_share: float = 0.01  # of the messages come twice with one stamp
    backwards_share: float = 0.01  # of the stamps run back by 0.03 s
    ignores_zero: bool = True  # a velocity of zero does not stop it: only StopMove does
    upside_down: bool = True  # the LiDAR hangs
    silent_from: float = 0.0  # s after the first message at which the connection drops, 0 = never
    silent_for: float = 3.0  # s


class SportService:
    """Sport service of the robot: sets walking velocity and posture on request."""

    MOVE_LASTS = 1.0  # s after which a velocity is forgotten; chosen, Unitree does not publish it

    def __init__(self, traps: TrapConfig) -> None:
        self._traps = traps
        self._velocity = (0.0, 0.0, 0.0)
        self._since = -math.inf
        self.body_height = _STANDING
        self.counts: Counter[int] = Counter()  # number of requests by API id

    def request(self, api: int, parameter: str, now: float) -> int:
        """Carry out a request. Returns the status code of its response, 0 = done."""
        self.counts[api] += 1
        if api == MOVE:
            return self._move(parameter, now)
        if api in (STOP_MOVE, STAND_DOWN, DAMP):
            self._velocity = (0.0, 0.0, 0.0)
        if api in (STAND_DOWN, DAMP):
            self.body_height = _LYING
        elif api in (STAND_UP, RECOVERY_STAND):
            self.body_height = _STANDING
        elif api not in (STOP_MOVE, BALANCE_STAND):
            return NOT_SUPPORTED
        return 0

    def _move(self, parameter: str, now: float) -> int:
        try:
            given = json.loads(parameter)
            velocity = (float(given["x"]), float(given["y"]), float(given["z"]))
        except (ValueError, KeyError, TypeError):
            return BAD_PARAMETER
        if velocity == (0.0, 0.0, 0.0) and self._traps.ignores_zero:
            return 0
        if self.body_height == _STANDING:
            self._velocity, self._since = velocity, now
        return 0

    def velocity(self, now: float) -> tuple[float, float, float]:
        """Return the current walking velocity (vx, vy, wz), m/s and rad/s."""
        return self._velocity if now - self._since <= self.MOVE_LASTS else (0.0, 0.0, 0.0)


class Connection(Generic[Message]):
    """Transport of one message stream to the driver; delays, repeats and drops messages. Deterministic by `rng`."""

    def __init__(self, traps: TrapConfig, rng: np.random.Generator) -> None:
        self._traps, self._rng = traps, rng
        self._began: float | None = None
        self._waiting: list[tuple[float, Message]] = []

    def is_down(self, now: float) -> bool:
        """Return whether the connection is down now, in both directions."""
        if self._began is None or self._traps.silent_from <= 0.0:
            return False
        begin = self._began + self._traps.silent_from
        return begin <= now < begin + self._traps.silent_for

    def stamp(self, now: float) -> float:
        """Return the stamp, seconds, that the robot's faulty clock shows at the simulation's time `now`."""
        back = 0.03 if self._rng.random() < self._traps.backwards_share else 0.0
        return now + self._traps.clock_offset - back

    def send(self, message: Message, now: float) -> None:
        """Queue a message for delivery."""
        self._began = now if self._began is None else self._began
        if self.is_down(now):
            return
        late = self._traps.late_by if self._rng.random() < self._traps.late_share else 0.0
        self._waiting.append((now + late, message))
        if self._rng.random() < self._traps.repeated_share:
            self._waiting.append((now + late, message))

    def arrived(self, now: float) -> list[Message]:
        """Remove and return the messages due by now, in order of arrival."""
        due = sorted((entry for entry in self._waiting if entry[0] <= now), key=lambda entry: entry[0])
        self._waiting = [entry for entry in self._waiting if entry[0] > now]
        return [] if self.is_down(now) else [message for _, message in due]


def hung(points: np.ndarray, traps: TrapConfig) -> np.ndarray:
    """Return the points (N, 3) rotated from upright axes into those of the LiDAR mounted upside down."""
    if not traps.upside_down:
        return points
    cos, sin = math.cos(MOUNT_PITCH), math.sin(MOUNT_PITCH)
    base_from_sensor = np.array([[cos, 0.0, sin], [0.0, 1.0, 0.0], [-sin, 0.0, cos]], points.dtype)
    return points @ base_from_sensor


def own_body() -> np.ndarray:
    """Return points (N, 3) float32 of the robot's own head and legs, in upright axes, as its LiDAR sees them."""
    corners = [(x, y, z) for x in (0.3, -0.3) for y in (0.14, -0.14) for z in (-0.1, -0.25)]
    return np.asarray(corners, np.float32) - np.array([MOUNT_X, 0.0, MOUNT_Z], np.float32)

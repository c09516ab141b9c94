"""A Go2 as its topics show it, with the faults that real ones have: a stand-in for tests of the driver."""

from __future__ import annotations

import json
import math
from collections import Counter
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

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
NOT_SUPPORTED, BAD_PARAMETER = 3203, 3204  # status codes of responses; ours, Unitree's are not published

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


@dataclass(frozen=True)
class MountConfig:
    """Place of the LiDAR in base_link. The default is that of the built-in L1 (go2_description's joint `radar`)."""

    x: float = 0.28945  # m (go2_description)
    z: float = -0.046825  # m (go2_description)
    pitch: float = 2.8782  # rad (go2_description): it looks forwards and down, upside down


class SportService:
    """The robot's answer to requests: a velocity that it walks with, and a posture."""

    MOVE_LASTS = 1.0  # s after which a velocity is forgotten; chosen, Unitree does not publish it

    def __init__(self, traps: TrapConfig) -> None:
        self._traps = traps
        self._velocity = (0.0, 0.0, 0.0)
        self._since = -math.inf
        self.body_height = _STANDING
        self.counts: Counter[int] = Counter()  # requests by number

    def request(self, api: int, parameter: str, now: float) -> int:
        """Carry out a request; returns the status code of its response, 0 = done."""
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
        """Return the velocity with which it walks now."""
        return self._velocity if now - self._since <= self.MOVE_LASTS else (0.0, 0.0, 0.0)


class Connection(Generic[Message]):
    """The way of one stream to the driver: late, repeated and lost messages. Deterministic by its generator."""

    def __init__(self, traps: TrapConfig, rng: np.random.Generator) -> None:
        self._traps, self._rng = traps, rng
        self._began: float | None = None
        self._waiting: list[tuple[float, Message]] = []

    def is_down(self, now: float) -> bool:
        """Return whether nothing passes now, in neither direction."""
        if self._began is None or self._traps.silent_from <= 0.0:
            return False
        begin = self._began + self._traps.silent_from
        return begin <= now < begin + self._traps.silent_for

    def stamp(self, now: float) -> float:
        """Return the robot's stamp of a moment in our clock."""
        back = 0.03 if self._rng.random() < self._traps.backwards_share else 0.0
        return now + self._traps.clock_offset - back

    def send(self, message: Message, now: float) -> None:
        """Put a message on its way."""
        self._began = now if self._began is None else self._began
        if self.is_down(now):
            return
        late = self._traps.late_by if self._rng.random() < self._traps.late_share else 0.0
        self._waiting.append((now + late, message))
        if self._rng.random() < self._traps.repeated_share:
            self._waiting.append((now + late, message))

    def arrived(self, now: float) -> list[Message]:
        """Return the messages that have arrived by now, in the order of arrival."""
        due = sorted((entry for entry in self._waiting if entry[0] <= now), key=lambda entry: entry[0])
        self._waiting = [entry for entry in self._waiting if entry[0] > now]
        return [] if self.is_down(now) else [message for _, message in due]


def hung(points: np.ndarray, mount: MountConfig, traps: TrapConfig) -> np.ndarray:
    """Return a cloud (N, 3) of an upright sensor as the hanging LiDAR gives it: in the axes of its mount."""
    if not traps.upside_down:
        return points
    cos, sin = math.cos(mount.pitch), math.sin(mount.pitch)
    base_from_sensor = np.array([[cos, 0.0, sin], [0.0, 1.0, 0.0], [-sin, 0.0, cos]], points.dtype)
    return points @ base_from_sensor


def own_body(mount: MountConfig) -> np.ndarray:
    """Return points (N, 3) float32 of the robot's own head and legs, in upright axes, as its LiDAR sees them."""
    corners = [(x, y, z) for x in (0.3, -0.3) for y in (0.14, -0.14) for z in (-0.1, -0.25)]
    return np.asarray(corners, np.float32) - np.array([mount.x, 0.0, mount.z], np.float32)

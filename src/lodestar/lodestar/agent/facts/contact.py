"""Contacts felt through commanded against measured motion (VLM-DEWM B.7 for a robot that walks)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from lodestar.agent.facts.stamps import NEVER, Stamp

_DRIVEN = 0.30  # m commanded in vain that are a contact; as of the simulator's navigator, ours
_TURNED = 0.80  # rad likewise
_MOVES = 0.03, 0.06  # m/s, rad/s: a robot that is slower stands
_TOLD = 0.05, 0.10  # m/s, rad/s: a lower command is none
_AHEAD = 0.45  # m from the robot's middle at which it was held: half its length, and a cell


@dataclass(frozen=True)
class Contact:
    """A place where commands did not move the robot. xy: (x, y) in map, metres, where it was held."""

    stamp: Stamp
    xy: tuple[float, float]


class ContactSense:
    """Sums commands that do not move the robot."""

    def __init__(self) -> None:
        self.last: Contact | None = None
        self.count = 0  # of all contacts
        self._vain = 0.0  # of what is a contact, [0, 1]
        self._stamp = NEVER

    @property
    def is_felt(self) -> bool:
        """Return whether commands and velocities come at all."""
        return self._stamp > NEVER

    def observe(
        self, command: np.ndarray, velocity: np.ndarray, pose: np.ndarray | None, stamp: Stamp
    ) -> None:
        """Take in a command and the velocity that odometry measures, (3,) each: m/s, m/s, rad/s in the body frame."""
        seconds = min(max(stamp - self._stamp, 0.0), 0.5) if self._stamp > NEVER else 0.0
        self._stamp = stamp
        told = math.hypot(command[0], command[1]), abs(float(command[2]))
        moves = math.hypot(velocity[0], velocity[1]) > _MOVES[0] or abs(float(velocity[2])) > _MOVES[1]
        if moves or (told[0] < _TOLD[0] and told[1] < _TOLD[1]):
            self._vain = 0.0
            return
        self._vain += seconds * (told[0] / _DRIVEN + told[1] / _TURNED)
        if self._vain >= 1.0 and pose is not None:
            self._vain = 0.0
            turn = math.atan2(command[1], command[0]) if told[0] >= _TOLD[0] else 0.0
            bearing = float(pose[2]) + turn
            xy = float(pose[0]) + _AHEAD * math.cos(bearing), float(pose[1]) + _AHEAD * math.sin(bearing)
            self.last = Contact(stamp, xy)
            self.count += 1

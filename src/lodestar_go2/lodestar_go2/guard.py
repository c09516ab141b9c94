"""Watchdog in a second process: stops the robot if the process of the base driver has died."""

from __future__ import annotations

import math
from dataclasses import dataclass

from lodestar_go2.sport import STOP, SportApi, SportRequest

GUARD_REPEATS = 10  # stops sent after the timeout, one every check; chosen


@dataclass(frozen=True)
class GuardConfig:
    """Times of the guard, real time; chosen."""

    timeout: float = 0.25  # s without a velocity or stop, after which the base counts as dead

    def __post_init__(self) -> None:
        if self.timeout <= 0.0:
            raise ValueError("timeout must be above 0")


class Guard:
    """Stops the robot if the base's velocities end without a stop. now: seconds of real time."""

    def __init__(self, config: GuardConfig | None = None) -> None:
        self._config = config or GuardConfig()
        self._walked = math.inf  # time of the last velocity; inf = a stop has followed
        self._left = 0
        self.stops = 0  # number of times that the guard stopped the robot

    def on_request(self, request: SportRequest, now: float) -> None:
        """Record a request of the base: a velocity starts the watchdog, others but a gait change end it."""
        if request.api is SportApi.SWITCH_GAIT:
            return
        self._left = 0
        self._walked = now if request.api is SportApi.MOVE else math.inf

    def check(self, now: float) -> list[SportRequest]:
        """Return the stop requests that are due now."""
        if now - self._walked > self._config.timeout:
            self._walked, self._left = math.inf, GUARD_REPEATS
            self.stops += 1
        if not self._left:
            return []
        self._left -= 1
        return [STOP]

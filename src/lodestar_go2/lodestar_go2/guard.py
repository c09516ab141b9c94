"""A second watchdog: stops the robot where the process that walks it has died."""

from __future__ import annotations

import math
from dataclasses import dataclass

from lodestar_go2.sport import STOP, SportApi, SportRequest


@dataclass(frozen=True)
class GuardConfig:
    """Times of the guard, real time; chosen."""

    timeout: float = 0.25  # s after the last velocity, from which nobody walks the robot any more
    repeats: int = 10  # stops that are sent then, one every check

    def __post_init__(self) -> None:
        if self.timeout <= 0.0 or self.repeats < 1:
            raise ValueError("timeout must be above 0 and repeats at least 1")


class Guard:
    """Hears the requests to the sport service. now: seconds of real time."""

    def __init__(self, config: GuardConfig | None = None) -> None:
        self._config = config or GuardConfig()
        self._walked = math.inf  # when the last velocity was sent; inf = it was stopped since
        self._left = 0
        self.stops = 0  # times that the guard had to stop the robot

    def on_request(self, request: SportRequest, now: float) -> None:
        """Take in a request of the base: a velocity starts the watch, everything else ends it."""
        self._left = 0
        self._walked = now if request.api is SportApi.MOVE else math.inf

    def check(self, now: float) -> list[SportRequest]:
        """Return the requests that must be sent now."""
        if now - self._walked > self._config.timeout:
            self._walked, self._left = math.inf, self._config.repeats
            self.stops += 1
        if not self._left:
            return []
        self._left -= 1
        return [STOP]

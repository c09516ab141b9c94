"""The last rule before the base: which velocity may pass, and when the robot must stand."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class GateConfig:
    """How long the gate trusts what it was told, and what may pass. Own choices; ADR 0003 has the reasons.

    Real time, because a stop must work while a simulated clock stands.
    """

    heartbeat_timeout: float = 0.25  # s; five beats of the goal selector's twenty per second
    # s of the clock that the navigator runs on: an overloaded simulator slows both
    command_timeout: float = 0.2
    silence_timeout: float = 2.0  # s of real time without a command, however slow that clock is
    away: float = 1.0  # s without a heartbeat, after which a hold of the goal selector outlives its word
    check_period: float = 0.025  # s
    zero_period: float = 0.1  # s between zeros while nothing may pass
    # s between repeats of a command that may pass, so that the base hears when the gate dies
    repeat_period: float = 0.1
    max_forward: float = 1.0  # m/s; a faster command is cut, not refused
    max_sideways: float = 0.6  # m/s
    max_turn: float = 1.5  # rad/s


Velocity = tuple[float, float, float]
ZERO: Velocity = (0.0, 0.0, 0.0)


class MotionGate:
    """Says at any time which velocity (x, y, yaw rate) may go to the base.

    now: seconds of real time. clock: seconds of the navigator's clock, which is real time without a simulator.
    """

    def __init__(self, config: GateConfig = GateConfig()) -> None:
        self.config = config
        self.held = False  # the gate's own latch
        self._selector_holds = False  # what the goal selector asked for; outlives it
        self._orphaned = False  # the goal selector that asked for it went away
        self._said_held = False
        self._start_id = ""  # of the goal selector's process that was heard last
        self._allowed = False
        self._beat = -math.inf
        self._commanded = self._commanded_clock = -math.inf
        self._command = ZERO

    def hold(self, held: bool) -> None:
        """Set the latch; or release it, and with it what the goal selector asked for."""
        self.held = held
        if not held:
            self._selector_holds = self._orphaned = False

    def on_heartbeat(self, motion_allowed: bool, held: bool, now: float, start_id: str = "") -> bool:
        """The goal selector lives and says whether motion is allowed.

        It may release its own hold, but one that comes after another was away releases nothing. start_id: names the
        start of its process; another one than before is that of a goal selector that has died and come back. It is held
        until a person releases it. Returns whether it has just come back.
        """
        came_back = self._start_id not in ("", start_id)
        if came_back:
            self._orphaned = self._selector_holds = True
        elif now - self._beat > self.config.away:
            self._orphaned = self._selector_holds
        self._start_id = start_id
        if held:
            self._selector_holds, self._orphaned = True, False
        elif not self._orphaned:
            self._selector_holds = False
        self._allowed, self._said_held, self._beat = motion_allowed, held, now
        return came_back

    def selector_must_be_told(self, now: float) -> bool:
        """Return whether a hold is latched here of which the living goal selector does not know."""
        fresh = now - self._beat <= self.config.heartbeat_timeout
        return fresh and (self.held or self._selector_holds) and not self._said_held

    def on_command(self, velocity: Velocity, now: float, clock: float | None = None) -> None:
        """The navigator wants this velocity; one that is not finite counts as none."""
        if all(math.isfinite(v) for v in velocity):
            self._command, self._commanded = velocity, now
            self._commanded_clock = now if clock is None else clock
        else:
            self._command = ZERO

    def blocked_by(self, now: float, clock: float | None = None) -> str:
        """Return why the robot must stand, "" where it may move."""
        if self.held:
            return "held"
        if now - self._beat > self.config.heartbeat_timeout:
            return "no heartbeat"
        if self._selector_holds:
            return "held by the goal selector"
        if not self._allowed:
            return "motion not allowed"
        age = (now if clock is None else clock) - self._commanded_clock
        if (
            not 0.0 <= age <= self.config.command_timeout
            or now - self._commanded > self.config.silence_timeout
        ):
            return "stale command"
        return ""

    def output(self, now: float, clock: float | None = None) -> Velocity:
        """Return the velocity for the base."""
        if self.blocked_by(now, clock):
            return ZERO
        limits = (self.config.max_forward, self.config.max_sideways, self.config.max_turn)
        x, y, turn = (max(-top, min(top, v)) for v, top in zip(self._command, limits))
        return (x, y, turn)

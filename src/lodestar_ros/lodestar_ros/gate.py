"""The last check before the base: which velocity may pass, and when the robot must stop."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class GateConfig:
    """Timeouts and velocity limits of the gate. All values are chosen; ADR 0003 has the reasons.

    Real time, because a stop must work while a simulated clock stands.
    """

    heartbeat_timeout: float = 0.25  # s; five beats of the goal selector's twenty per second
    # s of the navigator's clock without a command; an overloaded simulator slows both
    command_timeout: float = 0.2
    silence_timeout: float = 2.0  # s of real time without a command, however slow that clock is
    away: float = (
        1.0  # s without a heartbeat, after which the goal selector can no longer release its own hold
    )
    # s without a word of the joystick, after which its dead man's switch counts as let go
    joystick_timeout: float = 0.25
    check_period: float = 0.025  # s between two checks
    zero_period: float = 0.1  # s between zero velocities while motion is blocked
    # s between repeats of a permitted command, so that the base notices a dead gate
    repeat_period: float = 0.1
    max_forward: float = 1.0  # m/s; a faster command is limited, not rejected
    max_sideways: float = 0.6  # m/s
    max_turn: float = 1.5  # rad/s


Velocity = tuple[float, float, float]
ZERO: Velocity = (0.0, 0.0, 0.0)


class MotionGate:
    """Decides which velocity (x, y, yaw rate) may go to the base.

    now: seconds of real time. clock: seconds of the navigator's clock, which is real time without a simulator.
    """

    def __init__(self, config: GateConfig = GateConfig()) -> None:
        self.config = config
        self.held = False  # the gate's own latch
        self._selector_holds = False  # hold requested by the goal selector; survives it
        self._orphaned = False  # the requesting goal selector has disappeared
        self._said_held = False
        self._start_id = ""  # of the goal selector's last known process
        self._allowed = False
        self._beat = -math.inf
        self._commanded = self._commanded_clock = -math.inf
        self._command = ZERO
        self._by_hand, self._by_hand_at = ZERO, -math.inf
        self.rival = ""  # who walks the robot past the gate, "" = nobody

    def hold(self, held: bool) -> None:
        """Set the latch, or release it together with the goal selector's hold."""
        self.held = held
        if not held:
            self._selector_holds = self._orphaned = False

    @property
    def is_held(self) -> bool:
        """Return whether a person or the goal selector holds the robot."""
        return self.held or self._selector_holds

    def on_heartbeat(self, motion_allowed: bool, held: bool, now: float, start_id: str = "") -> bool:
        """Record a heartbeat: the goal selector is alive and tells whether motion is allowed.

        It may release its own hold, but a successor of one that disappeared releases nothing. start_id: identifies the
        start of its process; a new one means that the goal selector was restarted, and motion is held until a person
        releases it. Returns whether it was just restarted.
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
        """Return whether the gate has latched a hold that the running goal selector does not know."""
        fresh = now - self._beat <= self.config.heartbeat_timeout
        return fresh and (self.held or self._selector_holds) and not self._said_held

    def on_command(self, velocity: Velocity, now: float, clock: float | None = None) -> None:
        """Record the navigator's velocity; one that is not finite counts as none."""
        if all(math.isfinite(v) for v in velocity):
            self._command, self._commanded = velocity, now
            self._commanded_clock = now if clock is None else clock
        else:
            self._command = ZERO

    def on_joystick(self, velocity: Velocity, now: float) -> None:
        """Record a velocity of a person whose hand is on the dead man's switch: it passes instead of the navigator's.

        The gate latches: once the switch is let go the robot stands, until a person releases it.
        """
        self.held = True
        self._by_hand = velocity if all(math.isfinite(v) for v in velocity) else ZERO
        self._by_hand_at = now

    def is_driven_by_hand(self, now: float) -> bool:
        """Return whether the joystick has spoken just now."""
        return now - self._by_hand_at <= self.config.joystick_timeout

    def blocked_by(self, now: float, clock: float | None = None) -> str:
        """Return why the robot must stop; "" if it may move."""
        if self.is_driven_by_hand(now):
            return ""
        if self.held:
            return "held"
        if self.rival:
            return self.rival
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
        wanted = self._by_hand if self.is_driven_by_hand(now) else self._command
        x, y, turn = (max(-top, min(top, v)) for v, top in zip(wanted, limits))
        return (x, y, turn)

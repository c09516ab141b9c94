"""The last check before the base: limits velocities, and decides when the robot must stop."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from lodestar.mapping.movers.right_of_way import Velocity
from lodestar_ros.motion.authority import JOYSTICK, Kind, MotionAuthority

ENDED = "ENDED"  # state of the last heartbeat of a goal selector that ends properly
ABSURD = 10.0  # m/s, rad/s; a larger velocity is an error of its publisher
AHEAD = 0.05  # s by which the stamp of a command may lie in the future: two computers' clocks; chosen
SILENCE_TIMEOUT = 2.0  # s of real time without a command, however slow the navigator's clock is
JOYSTICK_TIMEOUT = 0.25  # s without a joystick message, after which its switch counts as released


@dataclass(frozen=True)
class GateConfig:
    """Allowed publishers, timeouts and velocity limits of the gate. ADR 0003 has the reasons for the values.

    Times are real time unless stated otherwise, because a stop must work while a simulated clock stands.
    """

    # nodes that may publish `cmd_vel`; the robot stands while another one does
    navigators: tuple[str, ...] = ("velocity_smoother", "collision_monitor", "sim_navigator", "goal_selector")
    joystick: str = ""  # node that may publish `cmd_vel_joy`, "" = none
    heartbeat_timeout: float = 0.25  # s; five beats of the goal selector's twenty per second
    # s of the navigator's clock without a command; an overloaded simulator slows both
    command_timeout: float = 0.2
    max_forward: float = 1.0  # m/s; a faster command is limited, not rejected
    max_sideways: float = 0.6  # m/s
    max_turn: float = 1.5  # rad/s

    def __post_init__(self) -> None:
        require_limits(self)
        if min(self.heartbeat_timeout, self.command_timeout) <= 0.0:
            raise ValueError("heartbeat_timeout and command_timeout must be above 0")


def require_limits(config: Any) -> None:
    """Raise ValueError for a number in a config that is not finite, or for a negative velocity limit."""
    for name, value in asdict(config).items():
        if isinstance(value, float) and not math.isfinite(value):
            raise ValueError(f"{name} must be finite")
    if min(config.max_forward, config.max_sideways, config.max_turn) < 0.0:
        raise ValueError("max_forward, max_sideways and max_turn must not be negative")


ZERO: Velocity = (0.0, 0.0, 0.0)


def limited(velocity: Velocity, limits: Velocity) -> Velocity:
    """Return the velocity scaled to fit the limits: all axes by one factor, so that it keeps its direction.

    An axis whose limit is 0 is set to 0.
    """
    share = min([1.0, *(top / abs(v) for v, top in zip(velocity, limits) if v and top > 0.0)])
    x, y, turn = (share * v if top > 0.0 else 0.0 for v, top in zip(velocity, limits))
    return (x, y, turn)


def is_sane(velocity: Velocity) -> bool:
    """Return whether all components of a velocity are finite and at most `ABSURD`."""
    return all(math.isfinite(v) and abs(v) <= ABSURD for v in velocity)


class MotionGate:
    """Decides which velocity (x, y, yaw rate) may go to the base.

    now: seconds of real time. clock: seconds of the navigator's clock, which is real time without a
    simulator. age: seconds since the stamp of a stamped command. give_way: returns the navigator's velocity,
    reduced near people, and the reason, "" = not reduced.
    """

    def __init__(self, authority: MotionAuthority, config: GateConfig = GateConfig()) -> None:
        self.authority, self.config = authority, config
        self.give_way: Callable[[Velocity], tuple[Velocity, str]] = lambda velocity: (velocity, "")
        self.yields = ""  # why the last output was slower than the command, "" = it was not
        self._allowed = False
        self._follows = -1  # number of the newest record that the goal selector carried out
        self._beat = self._commanded = self._commanded_clock = self._by_hand_at = -math.inf
        self._command = self._by_hand = ZERO
        self._refused = ""  # description of the newest command, if it was refused
        self._hand_hold = 0  # number of the hold that the joystick placed
        self._start_id = ""  # of the goal selector's process; "" = none is known, or it has ended properly
        self.rival = ""  # why another node moves the robot past the gate or the navigator, "" = none does
        self.stick_rival = ""  # why joystick velocities are ignored, "" = they are not

    def on_heartbeat(self, motion_allowed: bool, follows: int, now: float) -> None:
        """Record a heartbeat of the goal selector.

        motion_allowed: it allows motion, and a goal is under way. follows: number of the newest hold or
        release that it has carried out.
        """
        self._allowed, self._follows, self._beat = motion_allowed, follows, now

    def on_start_id(self, start_id: str, ended: bool, wall: float) -> bool:
        """Place a hold if heartbeats come from a new process and the previous one did not end properly.

        Returns whether a hold was placed. ended: this is the last heartbeat of its process. wall: seconds of
        the wall clock.
        """
        before, self._start_id = self._start_id, "" if ended else start_id or self._start_id
        if not before or before == start_id or not start_id:
            return False
        return self.authority.hold_once(
            "another goal_selector was started, and the last one did not end properly", wall
        )

    def on_command(
        self, velocity: Velocity, now: float, clock: float | None = None, age: float = 0.0
    ) -> None:
        """Record the navigator's velocity; an absurd velocity, or an old or future stamp, stops the robot."""
        if not is_sane(velocity) or not -AHEAD <= age <= self.config.command_timeout:
            self._command, self._refused = ZERO, f": {velocity} with a stamp {age:.1f} s old is refused"
            return
        self._command, self._commanded, self._refused = velocity, now, ""
        self._commanded_clock = now if clock is None else clock

    def on_joystick(self, velocity: Velocity, now: float, wall: float, age: float = 0.0) -> bool:
        """Record a joystick velocity, sent while its dead man's switch is pressed; return whether it is used.

        It replaces the navigator's velocity and places a hold, so that the robot stands after the switch is
        released. It is ignored while any other hold or pause stands, or `stick_rival` is set. wall: seconds
        of the wall clock.
        """
        standing = self.authority.standing.records
        if self.stick_rival or any(record.number != self._hand_hold for record in standing):
            return False
        if not standing:
            placed = self.authority.place(Kind.HOLD, JOYSTICK, "driven by hand", wall)
            self._hand_hold = placed.number
        sane = is_sane(velocity) and -AHEAD <= age <= JOYSTICK_TIMEOUT
        self._by_hand, self._by_hand_at = velocity if sane else ZERO, now
        return True

    def is_driven_by_hand(self, now: float) -> bool:
        """Return whether a joystick velocity is at most JOYSTICK_TIMEOUT old and only its own hold stands."""
        fresh = now - self._by_hand_at <= JOYSTICK_TIMEOUT
        standing = self.authority.standing.records
        return fresh and bool(standing) and all(one.number == self._hand_hold for one in standing)

    def blocked_by(self, now: float, clock: float | None = None) -> str:
        """Return why the robot must stop; "" if it may move."""
        if self.is_driven_by_hand(now):
            return ""
        standing = self.authority.standing
        if standing.records:
            return str(standing.records[0])
        if self.rival:
            return self.rival
        if now - self._beat > self.config.heartbeat_timeout:
            return "no heartbeat"
        if self._follows != standing.number:
            return "the goal selector has not heard of the newest hold or release"
        if not self._allowed:
            return "motion not allowed"
        age = (now if clock is None else clock) - self._commanded_clock
        if not 0.0 <= age <= self.config.command_timeout or now - self._commanded > SILENCE_TIMEOUT:
            return f"stale command{self._refused}"
        return ""

    def output(self, now: float, clock: float | None = None) -> Velocity:
        """Return the velocity for the base, within the limits; zero if the robot must stop."""
        self.yields = ""
        if self.blocked_by(now, clock):
            return ZERO
        limits = self.config.max_forward, self.config.max_sideways, self.config.max_turn
        if self.is_driven_by_hand(now):
            return limited(self._by_hand, limits)
        velocity, self.yields = self.give_way(limited(self._command, limits))
        return velocity

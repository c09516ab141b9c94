"""Rules of the base: which requests go to the sport service, and when the robot must stop."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum

from lodestar_go2.sport import CLIMB, STOP, TROT, SportApi, SportRequest, move
from lodestar_go2.stop_test import Phase, StopTest, StopTestConfig

UNHEEDED = "it moves though it was told to stop: a remote control walks it, or it does not obey StopMove"
HELD = "held: release the hold first"
Velocity = tuple[float, float, float]


@dataclass(frozen=True)
class BaseConfig:
    """Limits of the base. Times are real time, because a stop must work whatever the clock does. All are chosen."""

    max_forward: float = 0.8  # m/s; a faster command is limited
    max_sideways: float = 0.4  # m/s
    max_turn: float = 1.2  # rad/s
    command_timeout: float = 0.3  # s without a command, after which the robot is stopped
    stop_period: float = 0.1  # s between two requests to stop while the robot still moves
    stop_limit: float = 3.0  # s for which they are sent
    still_speed: float = 0.05  # m/s and rad/s below which the robot stands
    still_legs: float = 1.0  # rad/s of every joint below which its legs rest, also where it hangs on a stand
    state_timeout: float = 0.5  # s without a state of the robot, after which nothing moves it
    guard_timeout: float = (
        1.0  # s since the guard last heard a request, after which nothing walks; 0 = walk without
    )

    def __post_init__(self) -> None:
        if min(self.max_forward, self.max_sideways, self.max_turn) < 0.0:
            raise ValueError("max_forward, max_sideways and max_turn must not be negative")
        if (
            min(self.command_timeout, self.stop_period, self.stop_limit, self.still_speed, self.state_timeout)
            <= 0.0
        ):
            raise ValueError("the times and still_speed must be above 0")
        if self.guard_timeout < 0.0:
            raise ValueError("guard_timeout must not be negative; 0 walks without a guard")


class Posture(Enum):
    """Postures that the base has asked for."""

    UNKNOWN = "unknown"  # nothing was asked for yet: the robot stands after it was switched on
    STANDING = "standing"
    LYING = "lying"
    LIMP = "limp"


class BaseRules:
    """Turns velocities and requests of people into sport requests. now: seconds of real time."""

    def __init__(self, config: BaseConfig | None = None, test: StopTestConfig | None = None) -> None:
        self.config = config or BaseConfig()
        self.stop_test = StopTest(test)
        self.unheeded = False  # the robot still moved when the requests to stop ended
        self.held = False
        self.gate_holds = False  # the gate is latched; a joystick may walk the robot nevertheless
        self.intruder = ""  # who else commands the robot, "" = nobody
        self.posture = Posture.UNKNOWN
        self._commanded = -math.inf
        self._walked = -math.inf  # when the last velocity was sent
        self._moving = False  # a velocity other than zero was sent, and no stand-still was seen since
        self._stopped = -math.inf  # when the last stop was sent
        self._stopping_since: float | None = None  # when the first stop after a velocity was sent
        self._speed = self._legs = 0.0
        self._state = -math.inf
        self._heard = -math.inf  # when the guard last said that it had heard a request
        self._waiting = False  # the newest velocity was kept back, because the guard has heard nothing
        self._trots_soon = False  # the gait for floors was asked for while the robot walked

    @property
    def moving(self) -> bool:
        """Return whether the robot walks, or may do so."""
        return self._moving or self._speed > self.config.still_speed

    def troubles(self, now: float) -> list[str]:
        """Return in words what is wrong with the stops, and why the robot does not walk; a hold is nothing wrong."""
        found = [UNHEEDED] if self.unheeded else []
        blocked = "" if self.held else self.blocked_by(now)
        if blocked and blocked != self.intruder:
            found.append(f"does not walk: {blocked}")
        return found

    def blocked_by(self, now: float) -> str:
        """Return why nothing may move the robot; "" if it may walk."""
        unfit = self._unfit(now)
        if unfit:
            return unfit
        if self.stop_test.phase is Phase.FAILED:
            return f"the test of the stop {self.stop_test.result}"
        if self.stop_test.config.required and self.stop_test.phase in (Phase.NEVER, Phase.VOID):
            return f"the test of the stop is required, and has {self.stop_test.result}: call ~/test_stop"
        if self._waiting and not self._guarded(now):
            return "go2_guard hears nothing of go2_base: start it; the robot walks only while both run"
        return ""

    def _unfit(self, now: float) -> str:
        """Return why nothing may move the robot, not even the test of the stop."""
        if self.held:
            return "held"
        if self.intruder:
            return self.intruder
        if self.posture in (Posture.LYING, Posture.LIMP):
            return f"the robot is {self.posture.value}: call ~/stand_up"
        if now - self._state > self.config.state_timeout:
            return "no state of the robot"
        return ""

    def _guarded(self, now: float) -> bool:
        """Return whether the guard would notice the death of the base."""
        return self.config.guard_timeout == 0.0 or now - self._heard <= self.config.guard_timeout

    def on_guard(self, now: float) -> None:
        """Take in that the guard heard a request of this base."""
        self._heard = now

    def on_state(self, speed: float, now: float) -> None:
        """Take in that the robot lives. speed: the larger of m/s and rad/s, measured."""
        self._speed, self._state = speed, now
        self.unheeded = self.unheeded and speed > self.config.still_speed
        if self._stopping_since is not None and speed <= self.config.still_speed:
            self._moving, self._stopping_since = False, None

    def on_legs(self, rate: float) -> None:
        """Take in the rate of the fastest joint, rad/s: on a stand the legs step, and the body may report no speed."""
        self._legs = rate

    def on_command(self, velocity: Velocity, now: float) -> list[SportRequest]:
        """Return the requests for a velocity: it, limited, or a stop.

        A zero is a stop, never a velocity of zero, which some firmwares ignore. It is sent for `stop_limit` after the
        last motion; later ones would only work against a person with the remote control. Where the guard has heard
        nothing for `guard_timeout`, a stop goes out in place of a velocity: the guard answers it, and the next
        velocity is passed on.
        """
        if not all(map(math.isfinite, velocity)):
            return self._stop(now)
        if self.stop_test.active:
            if velocity == (0.0, 0.0, 0.0):  # the gate says so all the time
                return []
            self.stop_test.cancel("the navigator drove")
        self._commanded, self._waiting = now, False
        if self.blocked_by(now) or velocity == (0.0, 0.0, 0.0):
            rests = now - self._walked > self.config.stop_limit
            return [] if rests and not self._moving else self._stop(now)
        if not self._guarded(now):
            self._waiting = True
            return self._stop(now)
        limits = (self.config.max_forward, self.config.max_sideways, self.config.max_turn)
        x, y, turn = (max(-top, min(top, value)) for value, top in zip(velocity, limits))
        self._moving, self._stopping_since, self._walked = True, None, now
        return [move((x, y, turn))]

    def check(self, now: float) -> list[SportRequest]:
        """Return what must be sent now: stops where no command came in time, until the robot stands.

        They end after `stop_limit`, so that they do not work against a person with the remote control.
        """
        if self.stop_test.active:
            return self._test(now)
        if waiting := self._trot():
            return waiting
        silent = now - self._commanded > self.config.command_timeout
        if not self._moving or not (silent or self.blocked_by(now) or not self._guarded(now)):
            return []
        if self._stopping_since is not None and now - self._stopping_since > self.config.stop_limit:
            self._moving, self._stopping_since = False, None
            self.unheeded = self._speed > self.config.still_speed
            return []
        return self._stop(now) if now - self._stopped >= self.config.stop_period else []

    def on_gate(self, holds: bool, now: float) -> list[SportRequest]:
        """Take in whether the gate is held: then this base begins no motion of its own, and ends its test."""
        self.gate_holds = holds
        if not holds or not self.stop_test.active:
            return []
        self.stop_test.cancel("held")
        return self._stop(now)

    def hold(self, held: bool, now: float) -> list[SportRequest]:
        """Set or release the latch; the robot is stopped at once."""
        self.held = held
        self.stop_test.cancel("held")
        return self._stop(now) if held else []

    def intrude(self, who: str, now: float) -> list[SportRequest]:
        """Take in who else commands the robot, "" = nobody; it is stopped at once where somebody does."""
        news, self.intruder = who != self.intruder, who
        return self._stop(now) if who and news else []

    def stand_up(self, now: float) -> list[SportRequest] | str:
        """Return the requests to stand up, or why not."""
        if self.held or self.gate_holds:
            return HELD
        if self.moving:
            return "the robot walks: hold it first"
        if self.posture is Posture.LIMP:
            requests = [SportRequest(SportApi.RECOVERY_STAND)]
        else:
            requests = [SportRequest(SportApi.STAND_UP), SportRequest(SportApi.BALANCE_STAND)]
        self.posture = Posture.STANDING
        return requests

    def sit(self, now: float) -> list[SportRequest] | str:
        """Return the requests to lie down, or why not."""
        if self.moving:
            return "the robot walks: hold it first"
        self.posture = Posture.LYING
        return [STOP, SportRequest(SportApi.STAND_DOWN)]

    def climb(self, climbs: bool, now: float) -> list[SportRequest] | str:
        """Return the request for the gait for stairs, or for that for floors again, or why not.

        That for floors waits in `check` until the robot stands: a passage may be ended in the middle of a flight.
        """
        if not climbs:
            self._trots_soon = True
            return self._trot()
        if self.held or self.gate_holds:
            return HELD
        if self.moving:
            return "the robot walks: its gait changes where it stands"
        if unfit := self._unfit(now):
            return unfit
        self._trots_soon = False
        return [CLIMB]

    def _trot(self) -> list[SportRequest]:
        """Return the request for the gait for floors where it waits and the robot stands."""
        if not self._trots_soon or self.moving or self.posture in (Posture.LYING, Posture.LIMP):
            return []
        self._trots_soon = False
        return [TROT]

    def test_stop(self, now: float) -> list[SportRequest] | str:
        """Begin the test of the stop, or return why not. Its requests come from `check`."""
        if self.gate_holds:
            return HELD
        if self.moving:
            return "the robot walks: hold it first"
        unfit = self._unfit(now)
        if unfit:
            return unfit
        self.stop_test.begin(now)
        return []

    def _test(self, now: float) -> list[SportRequest]:
        unfit = self._unfit(now)
        if unfit:
            self.stop_test.cancel(unfit)
            return self._stop(now)
        moving = self._speed > self.config.still_speed or self._legs > self.config.still_legs
        requests = self.stop_test.step(moving, self._guarded(now), now)
        if any(request.api is SportApi.MOVE for request in requests):
            self._moving, self._stopping_since, self._walked, self._commanded = True, None, now, now
        elif requests:
            return self._stop(now)
        return requests

    def damp(self, now: float) -> list[SportRequest] | str:
        """Return the request that makes the motors limp, or why not: a standing robot would fall."""
        if self.posture is not Posture.LYING:
            return "the robot would fall: call ~/sit first"
        self.posture = Posture.LIMP
        return [SportRequest(SportApi.DAMP)]

    def _stop(self, now: float) -> list[SportRequest]:
        self._stopped = now
        if self._moving and self._stopping_since is None:
            self._stopping_since = now
        return [STOP]

"""Rules of the base driver: which requests are sent to the sport service, and when the robot must stop."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum

from lodestar_go2.sport import CLIMB, STOP, TROT, SportApi, SportRequest, move
from lodestar_go2.stop_test import Phase, StopTest, StopTestConfig
from lodestar_ros.motion.authority import UNTOLD, Record, Standing
from lodestar_ros.motion.gate import JOYSTICK, ZERO, Velocity, limited, require_limits

BASE_STOP_PERIOD = 0.1  # s between two requests to stop while the robot still moves; chosen
BASE_STOP_LIMIT = 3.0  # s for which requests to stop are sent; chosen
BASE_STILL_SPEED = 0.05  # m/s and rad/s below which the robot stands; chosen
BASE_STILL_LEGS = 1.0  # rad/s of every joint below which the legs rest, also on a stand; chosen
BASE_STATE_TIMEOUT = 0.5  # s without a state of the robot, after which nothing moves it; chosen
BASE_STANDING_LEGS = 0.18  # m of the legs from which it stands; it lies on 0.11, stands on 0.31; chosen
BASE_POSTURE_HOLDS = 0.3  # s after which another posture is believed: legs fold while they step; chosen

UNHEEDED = "it moves though it was told to stop: a remote control walks it, or it does not obey StopMove"


@dataclass(frozen=True)
class BaseConfig:
    """Limits of the base driver. Times are real time, because a stop must not depend on the ROS clock."""

    max_forward: float = 0.8  # m/s; a faster command is limited
    max_sideways: float = 0.4  # m/s
    max_turn: float = 1.2  # rad/s
    command_timeout: float = 0.3  # s without a command, after which the robot is stopped
    # s since the guard last confirmed a request, after which the robot stands; 0 = walk without a guard
    guard_timeout: float = 1.0

    def __post_init__(self) -> None:
        require_limits(self)
        if self.command_timeout <= 0.0:
            raise ValueError("command_timeout must be above 0")
        if self.guard_timeout < 0.0:
            raise ValueError("guard_timeout must not be negative; 0 walks without a guard")


class Posture(Enum):
    """Posture of the robot, by its joint angles, its own report of being limp, and requests under way."""

    UNKNOWN = "unknown"  # no joint angles were received: requests that move it are refused
    STANDING = "standing"
    LYING = "lying"
    LIMP = "limp"


class BaseRules:
    """Converts velocities and people's requests to sport requests. now: seconds of real time.

    The guard is go2_guard, a second process that stops the robot if this driver dies.
    """

    def __init__(self, config: BaseConfig | None = None, test: StopTestConfig | None = None) -> None:
        self.config = config or BaseConfig()
        self.stop_test = StopTest(test)
        self.unheeded = False  # whether the robot still moved when the stop requests ended
        self.standing = UNTOLD  # holds and pauses in the gate's newest message
        self.intruder = ""  # why another node commands the robot, "" = none does
        self._limp = False  # the robot reports that it is limp
        self._legs_seen, self._legs_at = Posture.UNKNOWN, -math.inf
        self._other_since: float | None = None  # time since which the legs have shown another posture
        self._asked: Posture | None = None  # requested posture, LYING or LIMP, until it is seen or revoked
        self._asked_at = -math.inf  # time of that request
        self._commanded = -math.inf
        self._walked = -math.inf  # time of the last velocity
        # a velocity other than zero was sent, and the robot has not been seen standing since
        self._moving = False
        self._stopped = -math.inf  # time of the last stop request
        # time of the first stop request after a velocity, None = no stop under way
        self._stopping_since: float | None = None
        self._speed = self._legs = 0.0
        self._state = -math.inf
        self._heard = -math.inf  # time at which the guard last confirmed a request
        # the newest velocity was held back, because the guard has not confirmed a request
        self._waiting = False
        self._trots_soon = False  # the gait for floors was requested while the robot walked

    @property
    def seen(self) -> Posture:
        """Return the posture that the robot's own states show."""
        return Posture.LIMP if self._limp else self._legs_seen

    @property
    def posture(self) -> Posture:
        """Return the posture for the rules: a requested one counts as soon as it is requested."""
        return self._asked or self.seen

    @property
    def held(self) -> Record | None:
        """Return the hold or pause that forbids walking, or None; the joystick's own hold permits it."""
        return next((one for one in self.standing.records if one.who != JOYSTICK), None)

    @property
    def moving(self) -> bool:
        """Return whether the robot moves, or may still move after the last velocity."""
        return self._moving or self._speed > BASE_STILL_SPEED

    def troubles(self, now: float) -> list[str]:
        """Return in words a stop without effect, and why the robot does not walk, except holds."""
        found = [UNHEEDED] if self.unheeded else []
        blocked = "" if self.held else self.blocked_by(now)
        if blocked and blocked != self.intruder:
            found.append(f"does not walk: {blocked}")
        return found

    def blocked_by(self, now: float) -> str:
        """Return why the robot must not walk; "" if it may."""
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
        """Return why the robot must not move, not even for the stop test; "" if it may."""
        if self.held:
            return self.held.advice
        if unsure := self._unsure(now):
            return unsure
        if self.posture is not Posture.STANDING:
            return f"the robot is {self.posture.value}: call ~/stand_up"
        return ""

    def _unsure(self, now: float) -> str:
        """Return why requests that move the body or change its posture must not be sent; "" if they may."""
        if self.intruder:
            return self.intruder
        if now - self._state > BASE_STATE_TIMEOUT:
            return "no state of the robot"
        if self.seen is Posture.UNKNOWN or now - self._legs_at > BASE_STATE_TIMEOUT:
            return "its posture is unknown: no state of its motors"
        return ""

    def _guarded(self, now: float) -> bool:
        """Return whether the guard has confirmed a request within `guard_timeout`, or none is needed."""
        return self.config.guard_timeout == 0.0 or now - self._heard <= self.config.guard_timeout

    def on_guard(self, now: float) -> None:
        """Record that the guard has confirmed a request of this base."""
        self._heard = now

    def on_state(self, speed: float, now: float, limp: bool = False) -> None:
        """Record the robot's state. speed: the larger of measured m/s and rad/s. limp: as it reports."""
        self._speed, self._state, self._limp = speed, now, limp
        self.unheeded = self.unheeded and speed > BASE_STILL_SPEED
        if self._stopping_since is not None and speed <= BASE_STILL_SPEED:
            self._moving, self._stopping_since = False, None

    def on_legs(self, rate: float, height: float, now: float) -> None:
        """Record the motors' state.

        height: leg height, m, NaN = unknown. rate: of the fastest joint, rad/s; it shows stepping legs of a
        robot on a stand, whose body may report no speed.
        """
        self._legs, self._legs_at = rate, now
        legs = Posture.STANDING if height >= BASE_STANDING_LEGS else Posture.LYING
        if not math.isfinite(height):
            legs = Posture.UNKNOWN
        if legs is self._legs_seen:
            self._other_since = None
        elif self._other_since is None and self._legs_seen is not Posture.UNKNOWN:
            self._other_since = now
        elif self._other_since is None or now - self._other_since >= BASE_POSTURE_HOLDS:
            self._legs_seen, self._other_since = legs, None
        if self._asked is self._legs_seen:  # it lies as requested: from now on the joint angles decide
            self._asked = None

    def on_command(self, velocity: Velocity, now: float) -> list[SportRequest]:
        """Return the requests for a commanded velocity: the velocity within the limits, or a stop.

        A zero velocity is sent as a stop, because some firmwares ignore zero velocities. Stops are sent for
        `BASE_STOP_LIMIT` after the last motion; later ones would only hinder a person with the remote
        control. If the guard has confirmed nothing for `guard_timeout`, a stop is sent in place of the
        velocity; after the guard has confirmed the stop, the next velocity is sent.
        """
        if not all(map(math.isfinite, velocity)):
            return self._stop(now)
        if self.stop_test.active:
            if velocity == ZERO:  # the gate sends zeros all the time
                return []
            self.stop_test.cancel("the navigator drove")
        self._commanded, self._waiting = now, False
        if self.blocked_by(now) or velocity == ZERO:
            rests = now - self._walked > BASE_STOP_LIMIT
            return [] if rests and not self._moving else self._stop(now)
        if not self._guarded(now):
            self._waiting = True
            return self._stop(now)
        limits = (self.config.max_forward, self.config.max_sideways, self.config.max_turn)
        self._moving, self._stopping_since, self._walked = True, None, now
        return [move(limited(velocity, limits))]

    def check(self, now: float) -> list[SportRequest]:
        """Return the requests that are due now: for the stop test, for a delayed gait, or to stop the robot.

        Stops follow a missing command or a reason not to walk, until the robot stands. They end after
        `BASE_STOP_LIMIT`, so that they do not hinder a person with the remote control.
        """
        if self.stop_test.active:
            return self._test(now)
        if waiting := self._trot():
            return waiting
        if self._stopping_since is not None and now - self._stopping_since > BASE_STOP_LIMIT:
            self._moving, self._stopping_since = False, None
            self.unheeded = self._speed > BASE_STILL_SPEED
        silent = now - self._commanded > self.config.command_timeout
        if not self._moving or not (silent or self.blocked_by(now) or not self._guarded(now)):
            return []
        return self._stop(now) if now - self._stopped >= BASE_STOP_PERIOD else []

    def follow(self, standing: Standing, now: float) -> list[SportRequest]:
        """Record the standing holds and pauses, and return a stop request if one of them stops the robot.

        Any of them forbids posture changes, gait changes and the stop test, and ends a running test. All but
        the joystick's hold stop a walking robot.
        """
        tests, self.standing = self.stop_test.active, standing
        if not standing.records:
            return []
        self.stop_test.cancel("held")
        return self._stop(now) if tests or self.held else []

    def intrude(self, who: str, now: float) -> list[SportRequest]:
        """Record why another node commands the robot, "" = none does; return a stop request if it is new."""
        news, self.intruder = who != self.intruder, who
        return self._stop(now) if who and news else []

    def stand_up(self, now: float) -> list[SportRequest] | str:
        """Return the requests to stand up, or the reason why not."""
        if self.standing.records:
            return self.standing.records[0].advice
        if self.moving:
            return "the robot walks: hold it first"
        if unsure := self._unsure(now):
            return unsure
        limp, self._asked = self.posture is Posture.LIMP, None
        if limp:
            return [SportRequest(SportApi.RECOVERY_STAND)]
        return [SportRequest(SportApi.STAND_UP), SportRequest(SportApi.BALANCE_STAND)]

    def sit(self, now: float) -> list[SportRequest] | str:
        """Return the requests to lie down, or the reason why not."""
        if self.standing.records:
            return self.standing.records[0].advice
        if self.moving:
            return "the robot walks: hold it first"
        if unsure := self._unsure(now):
            return unsure
        self._asked, self._asked_at = Posture.LYING, now
        return [STOP, SportRequest(SportApi.STAND_DOWN)]

    def climb(self, climbs: bool, now: float) -> list[SportRequest] | str:
        """Return the request for the gait for stairs (`climbs`) or for floors, or the reason why not.

        The gait for floors is delayed until the robot stands (see `check`), because a passage may end in the
        middle of stairs.
        """
        if not climbs:
            self._trots_soon = True
            return self._trot()
        if self.standing.records:
            return self.standing.records[0].advice
        if self.moving:
            return "the robot walks: its gait changes where it stands"
        if unfit := self._unfit(now):
            return unfit
        self._trots_soon = False
        return [CLIMB]

    def _trot(self) -> list[SportRequest]:
        """Return the delayed request for the gait for floors, if the robot stands."""
        if not self._trots_soon or self.moving or self.posture is not Posture.STANDING:
            return []
        self._trots_soon = False
        return [TROT]

    def test_stop(self, now: float) -> list[SportRequest] | str:
        """Start the stop test, or return the reason why not. `check` returns its requests."""
        if self.standing.records:
            return self.standing.records[0].advice
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
        moving = self._speed > BASE_STILL_SPEED or self._legs > BASE_STILL_LEGS
        requests = self.stop_test.step(moving, self._guarded(now), now)
        if any(request.api is SportApi.MOVE for request in requests):
            self._moving, self._stopping_since, self._walked, self._commanded = True, None, now, now
        elif requests:
            return self._stop(now)
        return requests

    def damp(self, now: float) -> list[SportRequest] | str:
        """Return the request that makes the motors limp, or the reason why not: a standing robot would fall."""
        if unsure := self._unsure(now):
            return unsure
        if self.seen is not Posture.LYING:
            return "the robot would fall: call ~/sit first"
        self._asked, self._asked_at = Posture.LIMP, now
        return [SportRequest(SportApi.DAMP)]

    def refuse_posture(self, asked_at: float) -> None:
        """Forget the posture that was requested at that time, because the request failed."""
        if self._asked_at == asked_at:
            self._asked = None

    def _stop(self, now: float) -> list[SportRequest]:
        self._stopped = now
        if self._moving and self._stopping_since is None:
            self._stopping_since = now
        return [STOP]

"""Tests of the base's rules: limits, watchdog, hold, postures, other publishers."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lodestar_go2.base import BaseConfig, BaseRules, Posture
from lodestar_go2.sport import CLIMB, STOP, TROT, SportApi, SportRequest, move
from lodestar_go2.stop_test import Phase, StopTestConfig
from lodestar_ros.motion.authority import UNTOLD, Kind, Record, Standing
from lodestar_ros.motion.gate import JOYSTICK

WALK = (0.5, 0.0, 0.2)
STANDS, LIES = 0.31, 0.11  # m, height of the legs
FREE = Standing(0, 0)
HELD = FREE.with_record(Record(1, Kind.HOLD, "console"))
BY_HAND = FREE.with_record(Record(1, Kind.HOLD, JOYSTICK))


class Heard(BaseRules):
    """Rules of a base that hears the motors with every state, and a gate that holds nothing. height: of the legs."""

    height = STANDS

    def __init__(self, *configs) -> None:
        super().__init__(*configs)
        self.follow(FREE, 0.0)

    def on_state(self, speed: float, now: float, limp: bool = False) -> None:
        super().on_state(speed, now, limp)
        self.on_legs(self._legs, self.height, now)

    def folds(self, height: float, begin: float) -> float:
        """Move the legs to a height from a time on; return the time at which it is believed."""
        self.height = height
        for step in range(6):
            self.on_state(0.0, begin + 0.1 * step)
        return begin + 0.5


@pytest.fixture
def rules() -> BaseRules:
    """Return the rules of a robot without guard, with a state received at 0 s."""
    rules = Heard(BaseConfig(guard_timeout=0.0))
    rules.on_state(0.0, 0.0)
    return rules


def velocity_of(request: SportRequest) -> tuple[float, float, float]:
    """Return the velocity in a request, as parsed by the robot."""
    assert request.api is SportApi.MOVE
    given = json.loads(request.parameter)
    return given["x"], given["y"], given["z"]


def test_a_velocity_is_passed_on_and_limited(rules: BaseRules) -> None:
    assert rules.on_command(WALK, 0.1) == [move(WALK)]
    (request,) = rules.on_command((9.0, -9.0, 9.0), 0.2)
    assert velocity_of(request) == pytest.approx((0.4, -0.4, 0.4)), "in its own direction"


@given(st.tuples(*[st.floats(allow_nan=True, allow_infinity=True)] * 3))
def test_no_velocity_is_ever_faster_than_configured(velocity: tuple[float, float, float]) -> None:
    rules = Heard(BaseConfig(max_forward=0.3, max_sideways=0.2, max_turn=0.5))
    rules.on_state(0.0, 0.0)
    for request in rules.on_command(velocity, 0.1):
        if request.api is SportApi.MOVE:
            x, y, turn = velocity_of(request)
            assert abs(x) <= 0.3 and abs(y) <= 0.2 and abs(turn) <= 0.5
        else:
            assert request == STOP


def test_zeros_are_sent_as_stops_and_leave_a_resting_robot_to_the_remote_control(rules: BaseRules) -> None:
    assert rules.on_command((0.0, 0.0, 0.0), 0.05) == []
    rules.on_command(WALK, 0.1)
    assert [rules.on_command((0.0, 0.0, 0.0), 0.2 + 0.1 * i) for i in range(3)] == [[STOP]] * 3
    for i in range(10):
        rules.on_state(0.0, 0.6 + 0.1 * i)
        rules.check(0.6 + 0.1 * i)
    rules.on_command((0.0, 0.0, 0.0), 2.0)
    rules.on_state(0.6, 9.0)
    rules.check(9.0)
    rules.on_state(0.0, 9.1)
    rules.check(9.1)
    assert rules.on_command((0.0, 0.0, 0.0), 9.2) == []


def test_the_watchdog_stops_within_its_time_and_until_the_robot_stands(rules: BaseRules) -> None:
    rules.on_command(WALK, 0.1)
    assert rules.check(0.35) == []
    rules.on_state(0.5, 0.4)
    assert rules.check(0.41) == [STOP]
    assert rules.check(0.45) == []  # at most every 0.1 s
    assert rules.check(0.52) == [STOP]
    rules.on_state(0.01, 0.6)
    assert rules.check(0.65) == []
    rules.on_state(0.5, 0.7)  # a person drives the robot by remote control
    assert rules.check(0.8) == []


def test_the_watchdog_does_not_work_against_a_person_for_ever(rules: BaseRules) -> None:
    rules.on_command(WALK, 0.1)
    sent = 0
    for i in range(100):
        now = 0.45 + 0.05 * i
        rules.on_state(0.6, now)
        sent += len(rules.check(now))
    assert 20 <= sent <= 31


def test_the_zeros_of_a_gate_do_not_work_against_a_person_for_ever(rules: BaseRules) -> None:
    rules.on_command(WALK, 0.1)
    sent = 0
    for i in range(100):
        now = 0.2 + 0.1 * i
        rules.on_state(0.6, now)  # a person drives the robot by remote control
        sent += len(rules.on_command((0.0, 0.0, 0.0), now) + rules.check(now))
    assert 25 <= sent <= 32 and rules.unheeded


def test_nothing_moves_a_robot_that_says_nothing() -> None:
    rules = Heard(BaseConfig(guard_timeout=0.0))
    assert rules.on_command(WALK, 5.0) == []
    assert rules.blocked_by(5.0) == "no state of the robot"
    rules.on_state(0.0, 5.1)
    assert rules.on_command(WALK, 5.2) == [move(WALK)]
    assert rules.on_command(WALK, 5.7) == [STOP]


def test_a_hold_stops_and_refuses_until_it_is_released(rules: BaseRules) -> None:
    rules.on_command(WALK, 0.1)
    for standing in (HELD, FREE.with_record(Record(1, Kind.PAUSE, "agent")), UNTOLD):
        assert rules.follow(standing, 0.2) == [STOP]
        assert rules.on_command(WALK, 0.3) == [STOP]
        assert rules.stand_up(0.3) == rules.standing.records[0].advice
        assert rules.follow(FREE, 0.4) == []
        assert rules.on_command(WALK, 0.4) == [move(WALK)]


def test_a_new_base_is_held_until_the_gate_has_told() -> None:
    rules = BaseRules(BaseConfig(guard_timeout=0.0))
    rules.on_state(0.0, 0.0)
    assert rules.on_command(WALK, 0.1) == [] and "not running: start it" in rules.blocked_by(0.1)
    assert rules.test_stop(0.1) == rules.climb(True, 0.1) == rules.standing.records[0].advice


def test_an_intruder_stops_the_robot_at_once_and_is_told_once(rules: BaseRules) -> None:
    rules.on_command(WALK, 0.1)
    assert rules.intrude("/twist_mux publishes velocities", 0.2) == [STOP]
    assert rules.intrude("/twist_mux publishes velocities", 0.3) == []
    assert rules.on_command(WALK, 0.3) == [STOP]
    assert rules.intrude("", 0.4) == []
    assert rules.on_command(WALK, 0.4) == [move(WALK)]


def test_postures_are_guarded(rules: BaseRules) -> None:
    assert rules.damp(0.1) == "the robot would fall: call ~/sit first"
    rules.on_command(WALK, 0.1)
    assert rules.sit(0.2) == "the robot walks: hold it first"
    rules.check(0.5)
    rules.on_state(0.0, 0.6)
    rules.check(0.7)
    assert rules.sit(0.8) == [STOP, SportRequest(SportApi.STAND_DOWN)]
    assert rules.on_command(WALK, 0.9) == [STOP]
    assert "call ~/stand_up" in rules.blocked_by(0.9)
    assert "would fall" in rules.damp(0.9), "it is told to lie, and was not seen to"
    now = rules.folds(LIES, 0.9)
    assert rules.damp(now) == [SportRequest(SportApi.DAMP)]
    assert rules.posture is Posture.LIMP
    assert rules.stand_up(now) == [SportRequest(SportApi.RECOVERY_STAND)]
    assert rules.on_command(WALK, now) == [STOP], "it does not stand yet"
    now = rules.folds(STANDS, now)
    assert rules.on_command(WALK, now) == [move(WALK)]


def test_a_velocity_that_is_not_finite_is_refused() -> None:
    with pytest.raises(ValueError, match="not finite"):
        move((math.nan, 0.0, 0.0))


@pytest.mark.parametrize("bad", [{"max_turn": -1.0}, {"command_timeout": 0.0}])
def test_limits_that_make_no_sense_are_refused(bad: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="must"):
        BaseConfig(**bad)


def test_nothing_walks_before_the_guard_has_heard_of_the_base() -> None:
    rules = Heard()
    rules.on_state(0.0, 0.0)
    assert rules.blocked_by(0.05) == ""  # no command to walk yet
    assert rules.on_command(WALK, 0.1) == [STOP]
    assert "go2_guard" in rules.blocked_by(0.1)
    rules.on_guard(0.12)
    assert rules.blocked_by(0.13) == ""
    assert rules.on_command(WALK, 0.15) == [move(WALK)]


def test_a_guard_that_falls_silent_stops_the_robot_until_it_is_back() -> None:
    rules = Heard()
    rules.on_guard(0.0)
    for i in range(11):
        rules.on_state(0.5, 0.1 * i)
        assert rules.on_command(WALK, 0.1 * i) == [move(WALK)]
    rules.on_state(0.5, 1.05)
    assert rules.check(1.05) == [STOP]
    assert rules.on_command(WALK, 1.06) == [STOP]
    rules.on_guard(1.2)
    rules.on_state(0.0, 1.2)
    assert rules.on_command(WALK, 1.21) == [move(WALK)]


def test_a_negative_time_of_the_guard_is_refused() -> None:
    with pytest.raises(ValueError, match="guard_timeout"):
        BaseConfig(guard_timeout=-1.0)


class Robot:
    """Fake robot for the stop test: body or legs move on command, and stop 0.2 s after StopMove, or never."""

    def __init__(
        self,
        rules: BaseRules,
        obeys: bool = True,
        by_legs: bool = False,
        stiff: bool = False,
        rests: bool = False,  # pauses between two steps
    ) -> None:
        self.rules, self.obeys, self.by_legs, self.stiff, self.rests = rules, obeys, by_legs, stiff, rests
        self.told = self.told_at = 0.0
        self.requests: list[SportRequest] = []

    def live(self, begin: float, seconds: float, zeros: bool = True) -> None:
        """Run checks, states and, if `zeros`, the gate's zero commands for some seconds."""
        for step in range(round(seconds / 0.02)):
            now = begin + 0.02 * step
            told = self.rules.check(now)
            told += self.rules.on_command((0.0, 0.0, 0.0), now) if zeros and step % 5 == 0 else []
            for request in told:
                if request.api is SportApi.MOVE:
                    self.told = 0.4
                elif self.obeys and self.told:
                    self.told, self.told_at = 0.0, now
            moves = bool(self.told or now - self.told_at < 0.2) and bool(self.requests) and not self.stiff
            moves &= not self.rests or now % 0.4 < 0.2
            self.requests += told
            self.rules.on_state(0.4 if moves and not self.by_legs else 0.0, now)
            self.rules.on_legs(3.0 if moves and self.by_legs else 0.1, STANDS, now)


@pytest.mark.parametrize("by_legs", [False, True], ids=["body", "legs"])
def test_the_test_of_the_stop_passes_where_the_robot_stops(rules: BaseRules, by_legs: bool) -> None:
    robot = Robot(rules, by_legs=by_legs)
    assert rules.test_stop(0.1) == []
    robot.live(0.1, 2.0)
    assert rules.stop_test.phase is Phase.PASSED and "after StopMove" in rules.stop_test.result
    turns = [request for request in robot.requests if request.api is SportApi.MOVE]
    assert len(turns) == pytest.approx(8, abs=1) and robot.requests[-1] == STOP
    assert rules.blocked_by(2.1) == "" and rules.on_command(WALK, 2.1) == [move(WALK)]


@pytest.mark.parametrize(
    ("rests", "seconds"), [(False, "1.0"), (True, "1.1")], ids=["steadily", "with rests between steps"]
)
def test_a_robot_that_does_not_stop_fails_and_never_walks_again(
    rules: BaseRules, rests: bool, seconds: str
) -> None:
    robot = Robot(rules, obeys=False, by_legs=rests, rests=rests)
    rules.test_stop(0.1)
    robot.live(0.1, 3.0)
    assert rules.stop_test.phase is Phase.FAILED
    assert f"it still moved {seconds} s after StopMove" in rules.blocked_by(3.1)
    assert rules.on_command(WALK, 3.1) == [STOP]


def test_a_robot_that_does_not_move_shows_nothing(rules: BaseRules) -> None:
    robot = Robot(rules, stiff=True)
    rules.test_stop(0.1)
    robot.live(0.1, 2.0)
    assert rules.stop_test.result == "no result: it did not move, so that nothing could be stopped"


def test_a_required_test_comes_before_the_first_walk() -> None:
    rules = Heard(BaseConfig(guard_timeout=0.0), StopTestConfig(required=True))
    rules.on_state(0.0, 0.0)
    assert "required" in rules.blocked_by(0.1) and rules.on_command(WALK, 0.1) == []
    assert rules.test_stop(0.1) == []
    Robot(rules).live(0.1, 2.0)
    assert rules.on_command(WALK, 2.1) == [move(WALK)]


def test_the_test_of_the_stop_gives_way_to_a_hold_a_drive_and_a_missing_guard(rules: BaseRules) -> None:
    rules.test_stop(0.1)
    assert rules.follow(HELD, 0.2) == [STOP] and not rules.stop_test.active
    assert rules.test_stop(0.3) == rules.standing.records[0].advice
    rules.follow(FREE, 0.3)
    rules.test_stop(0.3)
    assert rules.on_command(WALK, 0.4) == [move(WALK)]
    assert rules.stop_test.result == "no result: the navigator drove"
    assert rules.test_stop(0.4) == "the robot walks: hold it first"
    guarded = Heard(BaseConfig())
    guarded.on_state(0.0, 0.0)
    guarded.test_stop(0.1)
    robot = Robot(guarded)
    robot.live(0.1, 4.0)
    assert guarded.stop_test.result == "no result: go2_guard hears nothing of go2_base"
    assert set(robot.requests) == {STOP}


def test_a_held_gate_ends_the_test_and_lets_nothing_begin_by_itself(rules: BaseRules) -> None:
    rules.test_stop(0.1)
    robot = Robot(rules)
    robot.live(0.1, 0.4)
    assert rules.follow(BY_HAND, 0.5) == [STOP]
    assert rules.stop_test.result == "no result: held"
    assert rules.test_stop(0.6) == rules.stand_up(0.6) == rules.standing.records[0].advice
    assert rules.on_command(WALK, 0.7) == [move(WALK)], "a joystick walks under its own hold"
    rules.on_command((0.0, 0.0, 0.0), 0.8)
    rules.on_state(0.0, 0.9)
    assert rules.follow(FREE, 1.0) == []
    assert rules.test_stop(1.1) == []


def test_a_robot_that_walks_on_when_the_stops_end_is_told(rules: BaseRules) -> None:
    rules.on_command(WALK, 0.1)
    for step in range(50):
        rules.on_state(0.5, 0.4 + 0.1 * step)
        rules.check(0.45 + 0.1 * step)
    assert rules.unheeded
    rules.on_state(0.0, 9.0)
    assert not rules.unheeded


def test_the_gait_for_stairs_is_asked_for_and_given_back_where_the_robot_stands():
    rules = Heard()
    assert rules.climb(True, 0.0) == "no state of the robot"
    rules.on_state(0.0, 0.0)
    assert rules.climb(True, 0.1) == [CLIMB]
    rules.on_state(0.5, 0.2)
    assert "stands" in rules.climb(True, 0.2)
    assert rules.climb(False, 0.2) == [] and TROT not in rules.check(0.25)
    rules.on_state(0.0, 0.3)
    assert rules.check(0.3) == [TROT] and TROT not in rules.check(0.35)
    rules.follow(HELD, 0.4)
    assert rules.climb(True, 0.4) == rules.standing.records[0].advice and rules.climb(False, 0.4) == [TROT]


def test_a_gait_for_stairs_that_is_asked_for_again_stays():
    rules = Heard()
    rules.on_state(0.5, 0.0)
    assert rules.climb(False, 0.1) == []
    rules.on_state(0.0, 0.2)
    assert rules.climb(True, 0.2) == [CLIMB] and TROT not in rules.check(0.3)


def test_a_robot_that_lies_gets_its_gait_when_it_stands():
    rules = Heard()
    rules.on_state(0.0, 0.0)
    rules.sit(0.0)
    assert rules.climb(False, 0.1) == [] and TROT not in rules.check(0.2)
    now = rules.folds(LIES, 0.3)
    assert TROT not in rules.check(now)
    rules.stand_up(now)
    assert TROT not in rules.check(now)
    assert rules.check(rules.folds(STANDS, now)) == [TROT]


# --- postures ------------------------------------------------------------------------------------------

ASKS = ("stand_up", "sit", "damp", "test_stop", "climb")


def ask(rules: BaseRules, name: str, now: float):
    return rules.climb(True, now) if name == "climb" else getattr(rules, name)(now)


@pytest.mark.parametrize("name", ASKS)
@pytest.mark.parametrize("missing", ["state", "motors", "joints", "gate", "lying", "limp", "intruder"])
def test_what_is_not_known_moves_nothing(name: str, missing: str) -> None:
    """A base that has just begun beside a robot in any posture, of which it hears one thing too few."""
    rules = BaseRules(BaseConfig(guard_timeout=0.0))
    if missing != "gate":
        rules.follow(FREE, 0.0)
    if missing != "state":
        rules.on_state(0.0, 0.0, limp=missing == "limp")
    if missing != "motors":
        height = {"joints": math.nan, "lying": LIES, "limp": LIES}.get(missing, STANDS)
        rules.on_legs(0.0, height, 0.0)
    if missing == "intruder":
        rules.intrude("teleop sends sport requests", 0.0)
    allowed = {"lying": ("stand_up", "sit", "damp"), "limp": ("stand_up", "sit"), "gate": ("damp",)}
    asked = ask(rules, name, 0.1)
    assert not isinstance(asked, str) or name not in allowed.get(missing, ()) or name == "damp"
    if name not in allowed.get(missing, ()):
        assert isinstance(asked, str) and asked
    if missing != "gate":  # a joystick walks beside a held gate
        assert rules.on_command(WALK, 0.1) in ([], [STOP])


@given(
    st.lists(
        st.tuples(st.floats(0.0, 0.4), st.sampled_from([STANDS, LIES, math.nan]), st.booleans()), max_size=40
    )
)
def test_nothing_walks_that_was_not_seen_standing_for_the_last_moments(heard) -> None:
    rules, now = BaseRules(BaseConfig(guard_timeout=0.0)), 0.0
    for wait, height, limp in heard:
        now += wait
        rules.on_state(0.0, now, limp)
        rules.on_legs(0.0, height, now)
        if rules.on_command(WALK, now) == [move(WALK)]:
            assert not limp and rules.seen is Posture.STANDING


def test_a_leg_that_folds_for_a_step_is_no_posture(rules: BaseRules) -> None:
    for step in range(20):
        rules.height = LIES if step % 4 == 0 else STANDS
        rules.on_state(0.5, 0.1 * step)
        assert rules.on_command(WALK, 0.1 * step) == [move(WALK)]


def test_a_posture_that_the_robot_did_not_take_is_not_believed(rules: BaseRules) -> None:
    rules.sit(0.1)
    assert rules.posture is Posture.LYING and rules.seen is Posture.STANDING
    rules.refuse_posture(0.05)  # the time of an older request, such as ~/climb
    assert rules.posture is Posture.LYING
    rules.refuse_posture(0.1)
    assert rules.on_command(WALK, 0.2) == [move(WALK)]


def test_a_limit_that_is_no_number_is_refused_and_a_refusal_says_how_a_hold_is_released():
    with pytest.raises(ValueError, match="finite"):
        BaseConfig(max_turn=float("nan"))
    assert "held by" in HELD.records[0].advice and "lodestar_ros.hold off" in HELD.records[0].advice
    assert UNTOLD.records[0].advice == "held: motion_gate is not running: start it"

"""The ride in a lift with a person's help: who presses the buttons, and says when the door is open and where it is."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum

import numpy as np

from lodestar.floors.records import Passage, PassageKind, level_name
from lodestar.floors.stair_walk import StairWalkConfig, Stance, StanceWatch, WalkStatus


@dataclass(frozen=True)
class LiftConfig:
    """Ways, speeds and patience of a ride."""

    inside: float = (
        1.2  # m from before the door to where the robot stands in the cabin; chosen: a cabin of 1.4 m
    )
    speed: float = 0.25  # m/s; chosen: as on stairs
    turn: float = 0.5  # rad/s, most; chosen
    gain: float = 1.0  # 1/s, of heading and of the way that is left; chosen
    there: float = 0.1  # m, and rad, within which it is where it is to be; chosen
    patience: float = 60.0  # s for which a person's word is waited for; chosen
    stalled: float = 4.0  # s without 5 cm of way after which the door or somebody is in the way; chosen
    fresh: float = StairWalkConfig.fresh  # s for which a stance tells where it is
    lost: float = StairWalkConfig.lost  # s without one, or off its feet, after which the ride is over
    upright: float = StairWalkConfig.begun  # rad of tilt from which it does not stand on a floor


class Stage(Enum):
    """Stages of a ride."""

    CALLING = "waits before the door"
    ENTERING = "drives in"
    RIDING = "stands inside"
    LEAVING = "drives out"


class LiftRide:
    """One ride, which begins before the door and ends there on another floor. It drives only where a person says that
    the door is open.

    status, why: as of `StairWalk`. asks: what the person is asked now, "" = nothing. reached: level that the person
    named, None = not yet.
    """

    def __init__(self, passage: Passage, level: int, config: LiftConfig = LiftConfig()) -> None:
        if passage.kind is not PassageKind.LIFT:
            raise ValueError("only lifts are ridden in")
        self.config, self._level = config, level
        self._heading = passage.heading
        self.status, self.why = WalkStatus.WALKING, ""
        self.stage = Stage.CALLING
        self.reached: int | None = None
        self._door_is_open = False
        self._from: np.ndarray | None = None  # (2,), where the stage began
        self._since: float | None = None
        self._moved = (-math.inf, 0.0)  # s, and m of way then
        self._watch = StanceWatch(config.fresh, config.lost)
        self._fell: float | None = None  # since when it does not stand upright

    @property
    def asks(self) -> str:
        """Return what a person is asked to do and to say."""
        name = level_name(self._level)
        if self.stage is Stage.CALLING:
            return f"Please call the lift for me, to the {name}, hold its door, and say that it is open."
        if self.stage is Stage.RIDING:
            return f"Please press the button of the {name}, and say which floor is reached when the door is open."
        return ""

    def hear(self, door_is_open: bool, level: int | None = None) -> None:
        """A person says whether the door is open, and which level is reached (0 = ground)."""
        self._door_is_open = door_is_open
        if self.stage is Stage.RIDING and level is not None:
            self.reached = level

    def stop(self, why: str) -> None:
        """End the ride where the robot stands."""
        if self.status is WalkStatus.WALKING:
            self.status, self.why = WalkStatus.FAILED, why

    def update(self, now: float, stance: Stance) -> np.ndarray:
        """Return the command (3,) at `now` seconds; zeros while a person is waited for, and once it is over."""
        if self.status is not WalkStatus.WALKING:
            return np.zeros(3)
        problem = self._unfit(now, stance)
        if problem is not None:
            if problem:
                self.stop(problem)
            return np.zeros(3)
        self._since = now if self._since is None else self._since
        self._from = stance.pose[:2].copy() if self._from is None else self._from
        if self.stage in (Stage.CALLING, Stage.RIDING):
            return self._wait(now, stance)
        return self._drive(now, stance)

    def _unfit(self, now: float, stance: Stance) -> str | None:
        """Return None where the robot stands and knows where; else why the ride is over, "" = not yet."""
        if not self._watch.sees(now, stance):
            return "I no longer know where I am" if self._watch.is_lost(now) else ""
        if stance.tilt >= self.config.upright:
            self._fell = now if self._fell is None else self._fell
            return "I do not stand upright" if now - self._fell > self.config.lost else ""
        self._fell = None
        return None

    def _wait(self, now: float, stance: Stance) -> np.ndarray:
        assert self._since is not None
        if now - self._since > self.config.patience:
            where = (
                "the lift has stopped, or nobody told me where it is" if self.stage is Stage.RIDING else ""
            )
            self.stop(where or "nobody told me that the lift's door is open")
            return np.zeros(3)
        rides = self.stage is Stage.RIDING
        if not self._door_is_open or (rides and self.reached is None):
            facing = math.pi if rides else 0.0  # inside it turns to the door meanwhile
            return self._turn(stance, facing)
        if rides and self.reached != self._level:
            self._door_is_open, self.reached = False, None  # another floor on the way
            return np.zeros(3)
        self._begin(Stage.LEAVING if rides else Stage.ENTERING, now)
        return np.zeros(3)

    def _begin(self, stage: Stage, now: float) -> None:
        self.stage, self._since, self._from = stage, now, None
        self._moved = now, 0.0
        if stage is Stage.RIDING:
            self._door_is_open = False

    def _drive(self, now: float, stance: Stance) -> np.ndarray:
        """Drive in or out, straight along the lift's axis, while the door is open."""
        assert self._from is not None
        enters = self.stage is Stage.ENTERING
        yaw = self._heading + (0.0 if enters else math.pi)
        along = np.array([math.cos(yaw), math.sin(yaw)])
        way = float((stance.pose[:2] - self._from) @ along)
        if way >= self.config.inside - self.config.there:
            if enters:
                self._begin(Stage.RIDING, now)
            else:
                self.status = WalkStatus.DONE
            return np.zeros(3)
        if not self._door_is_open:
            self.stop("the lift's door closes while I am in it" if way > 0.3 else "the lift's door closes")
            return np.zeros(3)
        turned = self._turn(stance, 0.0 if enters else math.pi)
        if turned.any() and abs(way) < 0.1:
            self._moved = now, way
            return turned
        if way > self._moved[1] + 0.05:
            self._moved = now, way
        if now - self._moved[0] > self.config.stalled:
            self.stop("something is in the way at the lift's door")
            return np.zeros(3)
        return np.array([self.config.speed, 0.0, turned[2]])

    def _turn(self, stance: Stance, facing: float) -> np.ndarray:
        """Return the turn towards a heading, radians from that into the lift; zeros where the robot has it."""
        error = math.remainder(self._heading + facing - float(stance.pose[2]), math.tau)
        if abs(error) <= self.config.there:
            return np.zeros(3)
        return np.array([0.0, 0.0, min(max(self.config.gain * error, -self.config.turn), self.config.turn)])

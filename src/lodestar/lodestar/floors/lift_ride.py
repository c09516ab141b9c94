"""A lift ride with the help of a person, who presses the buttons and reports the open door and the floor."""

from __future__ import annotations

import math
from enum import Enum

import numpy as np

from lodestar.floors.records import Passage, PassageKind, level_name
from lodestar.floors.stair_walk import (
    STAIR_WALK_BEGUN,
    STAIR_WALK_FRESH,
    STAIR_WALK_LOST,
    Stance,
    StanceWatch,
    WalkStatus,
)

LIFT_INSIDE = 1.2  # m from before the door to where the robot stands in the cabin; chosen: a cabin of 1.4 m
LIFT_SPEED = 0.25  # m/s; chosen: as on stairs
LIFT_TURN = 0.5  # rad/s, most; chosen
LIFT_GAIN = 1.0  # 1/s, gain of the heading error; chosen
LIFT_THERE = 0.1  # m and rad, tolerance of position and heading; chosen
LIFT_PATIENCE = 60.0  # s of waiting for a person's report; chosen
LIFT_STALLED = 4.0  # s without 5 cm of progress after which the robot counts as blocked; chosen


class Stage(Enum):
    """Stages of a ride."""

    CALLING = "waits before the door"
    ENTERING = "drives in"
    RIDING = "stands inside"
    LEAVING = "drives out"


class LiftRide:
    """One ride, from in front of the lift's door to in front of its door on another floor.

    The robot drives only while a person reports an open door. status, why: as in `StairWalk`. asks: current
    request to the person, "" = none. reached: level reported by the person, None = not yet.
    """

    def __init__(self, passage: Passage, level: int) -> None:
        if passage.kind is not PassageKind.LIFT:
            raise ValueError("only lifts are ridden in")
        self._level = level
        self._heading = passage.heading
        self.status, self.why = WalkStatus.WALKING, ""
        self.stage = Stage.CALLING
        self.reached: int | None = None
        self._door_is_open = False
        self._from: np.ndarray | None = None  # (2,), position at the begin of the stage
        self._since: float | None = None
        self._moved = (-math.inf, 0.0)  # seconds of valid stances, and metres driven until then
        self._watch = StanceWatch(STAIR_WALK_FRESH, STAIR_WALK_LOST)
        self._fell: float | None = None  # time since which the robot is not upright

    @property
    def asks(self) -> str:
        """Return the current request to the person, "" = none."""
        name = level_name(self._level)
        if self.stage is Stage.CALLING:
            return f"Please call the lift for me, to the {name}, hold its door, and say that it is open."
        if self.stage is Stage.RIDING:
            return f"Please press the button of the {name}, and say which floor is reached when the door is open."
        return ""

    def hear(self, door_is_open: bool, level: int | None = None) -> None:
        """Store a person's report.

        level: the level that the lift has reached (0 = ground), None = not said.
        """
        self._door_is_open = door_is_open
        if self.stage is Stage.RIDING and level is not None:
            self.reached = level

    def stop(self, why: str) -> None:
        """End the ride as failed, for the reason `why`; no velocity follows. No effect after its end."""
        if self.status is WalkStatus.WALKING:
            self.status, self.why = WalkStatus.FAILED, why

    def update(self, now: float, stance: Stance) -> np.ndarray:
        """Return the velocity command (3,) at `now` seconds.

        It is zero while the robot waits for a person, and after the end.
        """
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
        """Return None if the robot is upright with a known pose, else the reason to end the ride.

        "" = wait: the fault is too short so far to end the ride.
        """
        if not self._watch.sees(now, stance):
            return "I no longer know where I am" if self._watch.is_lost else ""
        if stance.tilt >= STAIR_WALK_BEGUN:
            lasts = self._watch.lasts
            self._fell = lasts if self._fell is None else self._fell
            return "I do not stand upright" if lasts - self._fell > STAIR_WALK_LOST else ""
        self._fell = None
        return None

    def _wait(self, now: float, stance: Stance) -> np.ndarray:
        assert self._since is not None
        if now - self._since > LIFT_PATIENCE:
            where = (
                "the lift has stopped, or nobody told me where it is" if self.stage is Stage.RIDING else ""
            )
            self.stop(where or "nobody told me that the lift's door is open")
            return np.zeros(3)
        rides = self.stage is Stage.RIDING
        if not self._door_is_open or (rides and self.reached is None):
            facing = math.pi if rides else 0.0  # inside, turn to the door while waiting
            return self._turn(stance, facing)
        if rides and self.reached != self._level:
            self._door_is_open, self.reached, self._since = False, None, now  # stopped at a floor on the way
            return np.zeros(3)
        self._begin(Stage.LEAVING if rides else Stage.ENTERING, now)
        return np.zeros(3)

    def _begin(self, stage: Stage, now: float) -> None:
        self.stage, self._since, self._from = stage, now, None
        self._moved = self._watch.lasts, 0.0
        if stage is Stage.RIDING:
            self._door_is_open = False

    def _drive(self, now: float, stance: Stance) -> np.ndarray:
        """Return the command to drive straight in or out along the lift's axis.

        The ride fails if the door closes or the way is blocked.
        """
        assert self._from is not None
        enters = self.stage is Stage.ENTERING
        yaw = self._heading + (0.0 if enters else math.pi)
        along = np.array([math.cos(yaw), math.sin(yaw)])
        way = float((stance.pose[:2] - self._from) @ along)
        if way >= LIFT_INSIDE - LIFT_THERE:
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
            self._moved = self._watch.lasts, way
            return turned
        if way > self._moved[1] + 0.05:
            self._moved = self._watch.lasts, way
        if self._watch.lasts - self._moved[0] > LIFT_STALLED:
            self.stop("something is in the way at the lift's door")
            return np.zeros(3)
        return np.array([LIFT_SPEED, 0.0, turned[2]])

    def _turn(self, stance: Stance, facing: float) -> np.ndarray:
        """Return the command to turn to a heading; zeros when aligned.

        facing: radians from the direction into the lift.
        """
        error = math.remainder(self._heading + facing - float(stance.pose[2]), math.tau)
        if abs(error) <= LIFT_THERE:
            return np.zeros(3)
        return np.array([0.0, 0.0, min(max(LIFT_GAIN * error, -LIFT_TURN), LIFT_TURN)])

"""Tests of a lift ride with a scripted person and door."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lodestar.floors.lift_ride import LIFT_PATIENCE, LiftRide, Stage
from lodestar.floors.records import Passage, PassageKind
from lodestar.floors.stair_walk import STAIR_WALK_LOST, Stance, WalkStatus

TICK = 0.1


class Cabin:
    """Lift with a scripted person for door and floors, and a robot that cannot pass a closed door."""

    def __init__(self, ride: LiftRide, yaw: float) -> None:
        self.ride, self.yaw, self.pose = ride, yaw, np.array([0.0, 0.0, yaw + 0.2])
        self.door, self.now, self.pressed = False, 0.0, False

    @property
    def way(self) -> float:
        return float(self.pose[:2] @ (math.cos(self.yaw), math.sin(self.yaw)))

    def run(self, seconds: float) -> None:
        for _ in range(int(seconds / TICK)):
            self.now += TICK
            command = self.ride.update(self.now, Stance(self.pose, 0.0, 0.0))
            c, s = math.cos(self.pose[2]), math.sin(self.pose[2])
            moved = (
                np.array([c * command[0] - s * command[1], s * command[0] + c * command[1], command[2]])
                * TICK
            )
            before, after = (
                self.way,
                float((self.pose + moved)[:2] @ (math.cos(self.yaw), math.sin(self.yaw))),
            )
            if not self.door and (before - 0.6) * (after - 0.6) <= 0.0 and before != after:
                self.pressed = True  # the robot drives against the door
                moved[:2] = 0.0
            self.pose = self.pose + moved

    def open(self, level: int | None = None) -> None:
        self.door = True
        self.ride.hear(True, level)

    def close(self) -> None:
        self.door = False
        self.ride.hear(False)


def lift(yaw: float) -> Passage:
    return Passage(1, PassageKind.LIFT, (0.0, 0.0), (0.0, 0.0), yaw, lower=1, upper=2)


@given(
    yaw=st.floats(-3.0, 3.0), wait=st.floats(1.0, 40.0), ride=st.floats(1.0, 40.0), stops=st.integers(0, 2)
)
@settings(max_examples=15, deadline=None)
def test_it_goes_in_and_out_by_what_a_person_says(yaw, wait, ride, stops) -> None:
    cabin = Cabin(LiftRide(lift(yaw), 2), yaw)
    cabin.run(wait)
    assert cabin.ride.stage is Stage.CALLING and "hold its door" in cabin.ride.asks and abs(cabin.way) < 0.05
    cabin.open()
    cabin.run(12.0)
    assert cabin.ride.stage is Stage.RIDING and cabin.way > 1.0
    cabin.close()
    for level in range(stops):  # stops at other floors on the ride
        cabin.run(3.0)
        cabin.open(level)
        cabin.run(1.0)
        cabin.close()
        assert cabin.ride.stage is Stage.RIDING
    cabin.run(ride)
    cabin.open(2)
    cabin.run(20.0)
    assert cabin.ride.status is WalkStatus.DONE and cabin.way < 0.2 and not cabin.pressed


@given(st.sampled_from(["never opens", "stops between floors", "closes too soon"]), st.floats(-3.0, 3.0))
@settings(max_examples=12, deadline=None)
def test_it_stands_and_says_why_where_the_lift_does_not_do_its_part(fault, yaw) -> None:
    cabin = Cabin(LiftRide(lift(yaw), 1), yaw)
    cabin.run(2.0)
    if fault != "never opens":
        cabin.open()
    cabin.run(1.0 if fault == "closes too soon" else 12.0)
    cabin.close()
    cabin.run(LIFT_PATIENCE + 5.0)
    assert cabin.ride.status is WalkStatus.FAILED and cabin.ride.why and not cabin.pressed
    before = cabin.pose.copy()
    cabin.run(5.0)
    np.testing.assert_array_equal(cabin.pose, before)


@given(
    kind=st.sampled_from(["fallen", "old", "nan"]),
    stage=st.sampled_from(list(Stage)),
    seconds=st.floats(0.2, 2.5),
)
@settings(max_examples=40, deadline=None)
def test_it_goes_on_only_where_it_stands_and_knows_where(kind, stage, seconds) -> None:
    ride, now = LiftRide(lift(0.0), 2), 0.0
    cabin = Cabin(ride, 0.0)
    cabin.pose[2] = 0.0
    if stage is not Stage.CALLING:
        cabin.open()
        cabin.run(1.0 if stage is Stage.ENTERING else 20.0)
    if stage is Stage.LEAVING:
        cabin.open(2)
        cabin.run(0.2)
    assert ride.stage is stage and ride.status is WalkStatus.WALKING
    cabin.open(2)  # the door opens at the destination
    bad = {
        "fallen": lambda: Stance(cabin.pose, 0.0, 0.9),
        "old": lambda: Stance(cabin.pose, 0.0, 0.0, now - 1.0),
        "nan": lambda: Stance(np.full(3, np.nan), 0.0, 0.0),
    }[kind]
    for _ in range(round(seconds / TICK)):
        cabin.now += TICK
        now = cabin.now
        assert not ride.update(now, bad()).any()
    assert ride.stage is stage and ride.status is WalkStatus.WALKING
    cabin.run(TICK)
    assert ride.status is WalkStatus.WALKING, "it goes on once it stands again"
    for _ in range(round((STAIR_WALK_LOST + 1.0) / TICK)):
        cabin.now += TICK
        now = cabin.now
        assert not ride.update(now, bad()).any()
    assert ride.status is WalkStatus.FAILED and ("upright" if kind == "fallen" else "where I am") in ride.why


def test_stairs_are_no_lift() -> None:
    with pytest.raises(ValueError, match="only lifts"):
        LiftRide(Passage(1, PassageKind.STAIRS, (0.0, 0.0), (5.0, 0.0), 0.0, 1, 2), 1)


@given(stops=st.lists(st.tuples(st.floats(0.0, 6.0), st.floats(0.5, 30.0)), min_size=1, max_size=4))
@settings(max_examples=15, deadline=None)
def test_its_own_stops_on_a_busy_computer_do_not_end_the_way_in(stops) -> None:
    cabin = Cabin(LiftRide(lift(0.0), 2), 0.0)
    cabin.run(1.0)
    cabin.open()
    for after, seconds in stops:
        cabin.run(after)
        cabin.now += seconds  # the process stood, and the gate stopped the robot
    cabin.run(12.0)
    assert cabin.ride.status is WalkStatus.WALKING and cabin.ride.stage is Stage.RIDING, cabin.ride.why

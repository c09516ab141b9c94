"""Tests of a simulated robot that drives ahead while a walker comes straight at it from any side."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from small_building import small_world

from lodestar.assembly.config import MappingConfig
from lodestar.geometry.poses import planar_pose
from lodestar.grid.config import Footprint
from lodestar.mapping.config import RangeMoverConfig
from lodestar.mapping.movers.range_movers import RangeMovers
from lodestar.mapping.movers.right_of_way import permitted
from lodestar.perception.config import MoverConfig
from lodestar.timing.stamps import Periodic
from lodestar_eval.range_sensors import RangeSensors
from lodestar_sim.simulator import Simulator
from lodestar_sim.worlds import Event, Wall
from lodestar_sim.worlds.furnish import Furnisher

BODY, AHEAD, MEET = Footprint(), (0.6, 0.0, 0.0), 5.0  # s: a robot that does not yield is met then
PLACE = np.array([6.0, 6.0])  # of the robot then


class Tracker:
    """Follows the movers in the turns of a LiDAR; takes the place of the whole map."""

    def __init__(self):
        self.movers = RangeMovers(RangeMoverConfig(), MoverConfig(), BODY, 0.0)
        self._due = Periodic(0.25)

    def wants_turn(self, stamp, map_from_sensor):
        return self._due.due(stamp)

    def take_turn(self, turn):
        where = turn.odom_from_sensor, turn.map_from_odom, turn.odom_from_base
        self.movers.take(turn.stamp, turn.points, *where)


def room_with_a_walker(side, speed):
    """Return an empty room of 12 m x 12 m; the walker comes from the side (rad) of the robot and walks on."""
    way = np.array([math.cos(side), math.sin(side)])
    path = tuple(tuple(PLACE + away * way) for away in (MEET * speed, -3.0))
    person = replace(Furnisher(np.random.default_rng(1)).design("person"), id=99, pose=(*path[0], 0.0, 0.0))
    sides = [(0.0, 0.0, 12.0, 0.1), (0.0, 11.9, 12.0, 12.0), (0.0, 0.0, 0.1, 12.0), (11.9, 0.0, 12.0, 12.0)]
    events = Event(0.0, "add", 99, object=person), Event(0.0, "walk", 99, path=path, speed=speed)
    return replace(
        small_world(), bounds=(0.0, 0.0, 12.0, 12.0), rooms=(), objects=(), events=events,
        walls=tuple(Wall(*one, 0.0, 2.4) for one in sides), start=(*(PLACE - (MEET * AHEAD[0], 0.0)), 0.0),
    )  # fmt: skip


def encounter(side, speed, yields=True, seconds=9.0):
    """Return the contacts, the least gap (m) while the robot moved towards the walker, and the metres driven."""
    simulator, tracker = Simulator(room_with_a_walker(side, speed), seed=1), Tracker()
    sensors, nearest = RangeSensors(simulator, MappingConfig()), math.inf
    while simulator.time < seconds:
        before = simulator.true_pose.copy()
        simulator.step(0.1)
        sensors.give(tracker)
        pose, passed = planar_pose(simulator.map_from_base), AHEAD
        if yields:
            passed, _ = permitted(AHEAD, pose, tracker.movers.tracks(), simulator.time, BODY)
        simulator.set_command(*passed)
        places = np.array([one.pose[:2] for one in simulator.things if one.id == 99]).reshape(-1, 2)
        then, now = BODY.gaps(np.array([before, simulator.true_pose]), places)
        nearest = min([nearest, *(now[then - now > 0.005] - 0.25)])
    return simulator.collisions, nearest, simulator.path_length


def test_it_touches_nobody_who_walks_straight_at_it_and_drives_on():
    for side, speed in ((0.0, 0.8), (0.7, 0.7), (2.0, 0.9), (2.8, 1.1), (4.5, 0.8)):
        contacts, nearest, metres = encounter(side, speed)
        assert contacts == 0 and nearest > 0.3, f"from {side:.1f} rad, {nearest:.2f} m"
        assert metres > 1.5
    assert encounter(0.7, 0.8, yields=False)[0] > 0, "a robot that does not yield runs into them"

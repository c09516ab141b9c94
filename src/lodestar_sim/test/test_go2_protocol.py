"""Tests of the Go2 stand-in: it follows requests like the robot, and produces the configured faults."""

from __future__ import annotations

import json
from itertools import pairwise

import numpy as np
import pytest

from lodestar_sim.go2_protocol import (
    BAD_PARAMETER,
    DAMP,
    MOVE,
    NOT_SUPPORTED,
    STAND_DOWN,
    STAND_UP,
    STOP_MOVE,
    Connection,
    SportService,
    TrapConfig,
    hung,
)

WITHOUT_TRAPS = TrapConfig(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, False, False)


def walk(x: float, y: float = 0.0, z: float = 0.0) -> str:
    return json.dumps({"x": x, "y": y, "z": z})


def test_a_velocity_lasts_a_second_and_a_stop_ends_it() -> None:
    service = SportService(TrapConfig())
    assert service.request(MOVE, walk(0.5), 1.0) == 0
    assert service.velocity(1.9) == (0.5, 0.0, 0.0)
    assert service.velocity(2.1) == (0.0, 0.0, 0.0)
    service.request(MOVE, walk(0.5), 3.0)
    service.request(STOP_MOVE, "", 3.1)
    assert service.velocity(3.1) == (0.0, 0.0, 0.0)


@pytest.mark.parametrize(("traps", "speed"), [(TrapConfig(), 0.5), (WITHOUT_TRAPS, 0.0)])
def test_a_velocity_of_zero_stops_only_a_robot_without_that_fault(traps: TrapConfig, speed: float) -> None:
    service = SportService(traps)
    service.request(MOVE, walk(0.5), 0.0)
    service.request(MOVE, walk(0.0), 0.1)
    assert service.velocity(0.2)[0] == speed


@pytest.mark.parametrize("posture", [STAND_DOWN, DAMP])
def test_a_robot_that_lies_does_not_walk(posture: int) -> None:
    service = SportService(TrapConfig())
    service.request(MOVE, walk(0.5), 0.0)
    service.request(posture, "", 0.1)
    service.request(MOVE, walk(0.5), 0.2)
    assert service.velocity(0.2) == (0.0, 0.0, 0.0) and service.body_height < 0.1
    service.request(STAND_UP, "", 0.3)
    service.request(MOVE, walk(0.5), 0.4)
    assert service.velocity(0.4)[0] == 0.5


def test_what_it_does_not_know_is_answered_with_a_code() -> None:
    service = SportService(TrapConfig())
    assert service.request(1030, "", 0.0) == NOT_SUPPORTED
    for text in ("", "{", '{"x": 1}', '{"x": "fast", "y": 0, "z": 0}'):
        assert service.request(MOVE, text, 0.0) == BAD_PARAMETER
    assert service.velocity(0.0) == (0.0, 0.0, 0.0)


def test_messages_come_late_twice_and_out_of_order_as_often_as_asked() -> None:
    traps = TrapConfig(late_share=0.15, late_by=0.12, repeated_share=0.05, backwards_share=0.0)
    connection: Connection[int] = Connection(traps, np.random.default_rng(3))
    heard: list[int] = []
    for i in range(2000):
        connection.send(i, 0.02 * i)
        heard += connection.arrived(0.02 * i)
    heard += connection.arrived(100.0)
    late = sum(later < earlier for earlier, later in pairwise(heard))
    assert sorted(set(heard)) == list(range(2000)), "nothing is lost"
    assert len(heard) - 2000 == pytest.approx(100, abs=40)
    assert late / 2000 == pytest.approx(0.13, abs=0.05)


def test_a_dropped_connection_lets_nothing_through_and_comes_back() -> None:
    connection: Connection[int] = Connection(
        TrapConfig(silent_from=1.0, late_share=0.0), np.random.default_rng(1)
    )
    heard = []
    for i in range(60):
        now = 0.1 * i
        connection.send(i, now)
        heard += [(now, message) for message in connection.arrived(now)]
    times = {round(now, 1) for now, _ in heard}
    assert not times & {round(1.0 + 0.1 * i, 1) for i in range(30)}
    assert {0.9, 4.0, 5.9} <= times


def test_a_robot_without_faults_has_none() -> None:
    connection: Connection[int] = Connection(WITHOUT_TRAPS, np.random.default_rng(1))
    assert connection.stamp(5.0) == 5.0 and not connection.is_down(1e9)
    points = np.array([[1.0, 2.0, 3.0]], np.float32)
    assert hung(points, WITHOUT_TRAPS).tolist() == points.tolist()


def test_the_lidar_hangs_as_the_driver_of_a_go2_expects_it() -> None:
    from lodestar_go2.lidar import LidarConfig, in_base

    driver = LidarConfig()
    points = np.array([[1.0, 2.0, 3.0], [4.0, -1.0, -0.2]])
    place = np.array([driver.x, driver.y, driver.z])
    given = hung(points, TrapConfig())
    assert (given[:, 2] * points[:, 2] < 0.0).all(), "it is upside down"
    assert in_base(given, driver) == pytest.approx(points + place)

"""Tests of the floor plan from ranges, depth or SLAM, as in the mapping node and the headless robot."""

from __future__ import annotations

import numpy as np
import pytest

from lodestar.assembly.config import MappingConfig, changed
from lodestar.assembly.plan_chain import PlanChain
from lodestar.assembly.range_turns import LidarTurn, ScannerTurn
from lodestar.geometry.camera import PinholeCamera
from lodestar.geometry.poses import BODY_FROM_OPTICAL, planar_transform
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.mapping.config import RangeMoverConfig
from lodestar.perception.frames import RgbdFrame
from lodestar.worldmodel.amendments import ClosedWay

FLOOR = np.array([[x, y, -0.5] for x in np.arange(-1.0, 1.1, 0.1) for y in np.arange(-1.0, 1.1, 0.1)])
SENSOR = planar_transform(0.0, 0.0, 0.0, 0.5)
SLAM = OccupancyGrid2D(np.zeros((80, 80), np.int8), 0.1, (-4.0, -4.0), 1.0)


def turn(stamp: float) -> LidarTurn:
    return LidarTurn(stamp, FLOOR, SENSOR, np.eye(4), np.eye(4))


def frame(stamp: float) -> RgbdFrame:
    """Return a frame with a wall 2 m before a camera at 0.5 m."""
    camera = PinholeCamera(64, 48, 40.0, 40.0, 31.5, 23.5)
    return RgbdFrame(stamp, camera, np.full((48, 64), 2.0, np.float32), SENSOR @ BODY_FROM_OPTICAL, np.eye(4))


@pytest.mark.parametrize("floor", [False, True])
def test_the_points_confirm_the_free_floor_of_slams_map_with_the_floor_layer_alone(floor: bool) -> None:
    chain = PlanChain(changed(MappingConfig(source="slam"), octomap__floor__enabled=floor))
    chain.take_slam(SLAM)
    chain.take_turn(turn(1.0))
    assert chain.grid.free[40, 40], "floor that was seen"
    assert chain.grid.free[75, 75] is np.bool_(not floor), "floor that no point has met"


def test_without_slams_map_there_is_no_plan() -> None:
    chain = PlanChain(MappingConfig(source="slam"))
    before = chain.grid
    chain.take_turn(turn(1.0))
    assert chain.waits_for_slam and chain.grid is before
    chain.take_slam(SLAM)
    chain.take_turn(turn(2.0))
    assert not chain.waits_for_slam and chain.grid.free_area > 0.0
    assert not PlanChain(MappingConfig()).waits_for_slam


def test_slams_map_counts_for_its_source_alone() -> None:
    chain = PlanChain(MappingConfig())
    chain.take_slam(SLAM)
    chain.take_turn(turn(1.0))
    assert chain.grid.cells.shape != SLAM.cells.shape


def test_depth_is_taken_at_its_period_and_only_where_it_is_the_source() -> None:
    chain = PlanChain(MappingConfig(source="depth"))
    wanted = [tick for tick in range(10) if chain.wants_depth(tick / 10.0)]
    assert wanted == [0, 3, 6, 9], "every 0.25 s"
    chain.take_depth(frame(1.0))
    assert chain.grid.occupied.any() and chain.grid.stamp == 1.0
    assert not PlanChain(MappingConfig()).wants_depth(0.0)


def test_a_closed_way_is_another_plan_at_once_and_the_same_list_is_none() -> None:
    chain = PlanChain(MappingConfig())
    chain.take_turn(turn(1.0))
    before = chain.grid
    way = ClosedWay((0.8, -0.5), (0.8, 0.5), 100.0)
    chain.follow_ways([way])
    closed = chain.grid
    assert closed is not before and closed.occupied.sum() > before.occupied.sum()
    chain.follow_ways([way])
    assert chain.grid is closed
    chain.follow_ways([])
    assert not chain.grid.occupied.any() and chain.opened_ways == frozenset()


@pytest.mark.parametrize("followed", [False, True])
def test_turns_from_one_place_are_needed_by_movers_alone_and_integrated_now_and_then(
    monkeypatch, followed
) -> None:
    chain, seen, integrated = PlanChain(changed(MappingConfig(), movers__enabled=followed)), [], []
    monkeypatch.setattr(chain.movers, "take", lambda stamp, *_: seen.append(stamp))
    follow = chain.mapper.follow
    monkeypatch.setattr(chain.mapper, "follow", lambda *poses: integrated.append(1) or follow(*poses))
    stamps = [0.25 * tick for tick in range(9)]
    wanted = [
        stamp for stamp in stamps if chain.wants_turn(stamp, SENSOR) and (chain.take_turn(turn(stamp)), True)
    ]
    assert wanted == (stamps if followed else stamps[::2]), "from one place each 0.5 s is enough for the plan"
    assert seen == (stamps if followed else []) and len(integrated) == 5


def test_a_clock_that_goes_back_does_not_stop_the_plan() -> None:
    chain = PlanChain(MappingConfig())
    assert chain.wants_turn(100.0, SENSOR)
    chain.take_turn(turn(100.0))
    assert not chain.is_due(99.9), "a stamp out of order, not a clock that went back"
    chain.restart_clock()
    assert chain.wants_turn(3.0, SENSOR)
    chain.take_turn(turn(3.0))
    assert chain.grid.stamp == 3.0


def test_a_mapper_that_sees_nothing_near_enough_for_a_mover_is_refused() -> None:
    with pytest.raises(ValueError, match="where movers are followed"):
        changed(MappingConfig(), octomap__min_range=6.0)
    changed(MappingConfig(source="depth"), octomap__min_range=6.0)  # a depth plan does not track movers


@pytest.mark.parametrize("source", ["lidar", "scan"])
def test_what_is_too_near_for_the_mapper_is_no_mover_either(
    source: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for least, near in ((0.8, 0.8), (0.05, RangeMoverConfig.near)):
        monkeypatch.setattr("lodestar.assembly.plan_chain.SCAN_GRID_MIN_RANGE", least)
        config = changed(MappingConfig(source=source), octomap__min_range=least)
        assert PlanChain(config).movers.config.near == near


@pytest.mark.parametrize("trusted", [False, True])
def test_beams_that_met_nothing_show_who_walks_where_they_count_as_free(trusted: bool) -> None:
    chain = PlanChain(changed(MappingConfig(source="scan"), scan__free_without_return=trusted))
    step, told = 2.0 * np.pi / 720, 0
    bearings = -np.pi + step * np.arange(720)
    for k in range(24):
        person = np.array([2.0, -2.0 + 0.25 * k])
        off = np.abs(np.angle(np.exp(1j * (bearings - np.arctan2(person[1], person[0])))))
        ranges = np.where(off < 0.2 / np.hypot(*person), np.hypot(*person), np.inf)
        at = np.eye(4)
        chain.take_turn(ScannerTurn(0.25 * k, ranges, (-np.pi, step), 12.0, at, at, at))
        told += bool(chain.movers.tracks())
    assert (told >= 10) if trusted else (told == 0)

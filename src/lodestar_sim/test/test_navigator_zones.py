"""Tests of keep-out zones: avoided, refused as goals, and left by the shortest path."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from navigator_drives import RESOLUTION, Drive, blocked, free_room

from lodestar.grid.occupancy import FREE, OCCUPIED, OccupancyGrid2D
from lodestar_sim.clearance import Clearance
from lodestar_sim.navigator import Navigator, NavigatorError, NavigatorStatus


def _zoned(grid: OccupancyGrid2D, x0: float, y0: float, x1: float, y1: float) -> OccupancyGrid2D:
    """Return a copy of the grid with a rectangular keep-out zone (metres)."""
    zone = blocked(
        OccupancyGrid2D(np.zeros_like(grid.cells), RESOLUTION, (0.0, 0.0)), x0, y0, x1, y1
    ).occupied
    return replace(grid, keep_out=zone)


def _inside(grid: OccupancyGrid2D, track) -> np.ndarray:
    """Return (N,) bool: whether the centre of each pose of the track lies in the zone."""
    cells = grid.cells_of(np.array(track))
    return grid.keep_out[cells[:, 0], cells[:, 1]]


def _covered_zone(grid: OccupancyGrid2D, track) -> int:
    """Return the largest number of zone cells under the unpadded footprint on the track."""
    zone = OccupancyGrid2D(np.where(grid.keep_out, np.int8(OCCUPIED), np.int8(FREE)), RESOLUTION, (0.0, 0.0))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("lodestar_sim.clearance.PADDING", 0.0)
        return int(Clearance(zone).covered(np.array(track))[:, 0].max())


def test_keep_out_zones_are_gone_around_with_the_whole_body():
    grid = _zoned(free_room(), 3.5, 1.0, 4.0, 4.6)
    drive = Drive((1.0, 3.0, 0.0), grid)
    assert drive.to((7.0, 3.0, 0.0)).status is NavigatorStatus.SUCCEEDED
    assert _covered_zone(grid, drive.track) == 0


def test_a_mask_counts_as_the_grids_own_zone():
    grid = _zoned(free_room(), 3.5, 1.0, 4.0, 4.6)
    navigator = Navigator()
    navigator.set_goal((7.0, 3.0, 0.0))
    pose = np.array([1.0, 3.0, 0.0])
    with_mask = navigator.update(0.0, free_room(), pose, np.zeros(3), grid.keep_out).path
    assert not _inside(grid, with_mask).any()


def test_a_goal_in_a_keep_out_zone_is_refused_with_the_reason():
    drive = Drive((1.0, 3.0, 0.0), _zoned(free_room(), 5.0, 2.0, 7.0, 4.0))
    result = drive.to((6.0, 3.0, 0.0))
    assert (result.status, result.error_code) == (NavigatorStatus.ABORTED, NavigatorError.GOAL_OCCUPIED)
    assert "keep-out" in result.error_msg


def test_a_goal_behind_a_keep_out_zone_is_refused_with_the_reason():
    drive = Drive((1.0, 3.0, 0.0), _zoned(free_room(), 4.0, 0.0, 5.0, 6.0))
    result = drive.to((7.0, 3.0, 0.0))
    assert (result.status, result.error_code) == (NavigatorStatus.ABORTED, NavigatorError.NO_VALID_PATH)
    assert "keep-out" in result.error_msg
    walled = Drive((1.0, 3.0, 0.0), blocked(_zoned(free_room(), 1.0, 5.0, 2.0, 6.0), 4.0, 0.0, 5.0, 6.0))
    assert "keep-out" not in walled.to((7.0, 3.0, 0.0)).error_msg


@pytest.mark.parametrize(
    ("start", "leaves_to"), [((3.4, 3.0), "left"), ((5.6, 3.1), "right"), ((4.5, 4.7), "top")]
)
def test_a_robot_in_a_new_keep_out_zone_leaves_it_by_the_shortest_way(start, leaves_to):
    grid = _zoned(free_room(9.0, 7.0), 3.0, 1.0, 6.0, 5.0)
    drive = Drive((*start, math.pi / 2), grid)
    assert drive.to((1.5, 6.2, math.pi)).status is NavigatorStatus.SUCCEEDED
    track = np.array(drive.track)
    inside = _inside(grid, track)
    left_at = int(np.flatnonzero(inside)[-1]) + 1
    assert inside[:left_at].all(), "once out, it stays out"
    x, y = track[left_at, :2]
    assert {"left": x < 3.0, "right": x > 6.0, "top": y > 5.0}[leaves_to]
    way = float(np.linalg.norm(np.diff(track[: left_at + 1, :2], axis=0), axis=1).sum())
    shortest = {"left": start[0] - 3.0, "right": 6.0 - start[0], "top": 5.0 - start[1]}[leaves_to]
    assert way < shortest + 0.3


def test_a_zone_that_comes_over_the_robot_does_not_stop_it():
    drive = Drive((1.0, 3.0, 0.0), free_room())
    drive.navigator.set_goal((7.0, 3.0, 0.0))
    while drive.pose[0] < 3.5:
        drive.step()
    drive.grid = _zoned(drive.grid, 3.0, 2.0, 4.5, 4.0)
    assert drive.until_done().status is NavigatorStatus.SUCCEEDED

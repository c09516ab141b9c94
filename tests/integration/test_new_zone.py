"""Test of a keep-out zone on top of the robot: it enters Nav2's mask in full only after the robot has left it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from nav_msgs.msg import OccupancyGrid

from integration.fakes import FakeRobot
from lodestar.grid.occupancy import HELD_BACK, OCCUPIED
from lodestar_ros import qos
from lodestar_ros.conversions import grid_from_msg

MASK = "scene_dictionary/keep_out_mask"
FENCE = [0.1, -3.0, 3.0, -3.0, 3.0, 3.0, 0.1, 3.0]  # x, y of corners, m; (0, 0) is outside
BODY = math.hypot(0.70, 0.32) / 2.0  # m, circumscribed radius of the robot


@pytest.fixture(scope="module")
def robot(bed, processes):
    robot = bed.on_executor(lambda: FakeRobot(bed))
    bed.hear(OccupancyGrid, MASK, qos.LATCHED)
    processes.start("scene_dictionary", parameters={"scene_dictionary": {"shared.fence.corners": FENCE}})
    bed.until(lambda: bed.diagnosis("scene_dictionary"), "the scene's diagnostics")
    robot.publish_grid()
    return robot


def mask(bed):
    """Return the newest mask as a grid, None if none was received."""
    message = bed.last(MASK)
    return None if message is None else grid_from_msg(message)


def under(grid, pose):
    """Return the set of mask values under the robot's body."""
    places = grid.points_of(np.argwhere(np.ones_like(grid.cells, bool)))
    near = np.hypot(*(places - np.array(pose[:2])).T) <= BODY
    return set(grid.cells.reshape(-1)[near].tolist())


def test_the_zone_waits_until_the_robot_has_left_it_and_says_so(bed, robot, processes):
    first = bed.until(lambda: mask(bed), "a mask")
    assert under(first, robot.pose) <= {0, HELD_BACK} and HELD_BACK in under(first, robot.pose)
    assert OCCUPIED in first.cells, "the rest of the zone is closed"
    bed.until(
        lambda: "stands in a keep-out zone" in bed.diagnosis("scene_dictionary")["message"], "it is told"
    )
    assert float(bed.diagnosis("scene_dictionary")["zones.held_back_m2"]) > 0.1
    for step in range(1, 12):
        robot.pose = (0.1 * step, 0.0, 0.0)
    bed.until(lambda: HELD_BACK not in mask(bed).cells, "the zone is laid in full")
    bed.until(lambda: "laid in full" in processes.log("scene_dictionary"), "it is said")
    robot.pose = (0.3, 0.0, 0.0)  # back at the zone's edge
    seen = len(bed.heard[MASK])
    robot.publish_grid(9.0)
    bed.until(lambda: len(bed.heard[MASK]) > seen, "a mask on the wider grid")
    at_edge = under(mask(bed), robot.pose)
    assert OCCUPIED in at_edge and HELD_BACK not in at_edge, "what was laid is not opened by coming near"

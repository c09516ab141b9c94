"""Test that after a jump of map <- odom the corrected grid is published at once."""

from __future__ import annotations

from nav_msgs.msg import OccupancyGrid

from integration.fakes import FakeRobot
from lodestar.geometry.poses import planar_transform
from lodestar_ros import qos
from lodestar_ros.conversions import grid_from_msg

PERIOD = 600.0  # s between two grids, longer than the test's timeout


def test_the_grid_that_has_moved_does_not_wait_for_the_period(bed, processes):
    robot = bed.on_executor(lambda: FakeRobot(bed))
    bed.hear(OccupancyGrid, "grid", qos.LATCHED)
    processes.start("mapping", parameters={"mapping": {"grid_period": PERIOD}})
    bed.until(lambda: robot.scan() or bed.heard["grid"], "the first grid")
    before = grid_from_msg(bed.last("grid"))
    robot.map_from_odom = planar_transform(3.0, 0.0, 0.0)

    def has_moved():
        robot.scan()
        after = grid_from_msg(bed.last("grid"))
        return after.origin != before.origin or after.cells.shape != before.cells.shape

    bed.until(has_moved, "the grid that has moved")

"""A jump of map <- odom: the grid that has moved goes out at once."""

from __future__ import annotations

from nav_msgs.msg import OccupancyGrid

from integration.fakes import FakeRobot
from lodestar.geometry.poses import planar_transform
from lodestar_ros import qos
from lodestar_ros.conversions import grid_from_msg

PERIOD = 600.0  # s between two grids, longer than the test waits


def test_the_grid_that_has_moved_does_not_wait_for_the_period(bed, processes):
    robot = bed.on_executor(lambda: FakeRobot(bed))
    bed.hear(OccupancyGrid, "grid", qos.LATCHED)
    processes.start("mapping", parameters={"mapping": {"grid_period": PERIOD}})
    bed.until(lambda: robot.scan() or bed.heard["grid"], "the first grid", timeout=90.0)
    before = grid_from_msg(bed.last("grid"))
    bed.forget("grid")
    robot.map_from_odom = planar_transform(3.0, 0.0, 0.0)
    bed.until(lambda: robot.scan() or bed.heard["grid"], "the grid that has moved", timeout=30.0)
    after = grid_from_msg(bed.last("grid"))
    assert after.origin != before.origin or after.cells.shape != before.cells.shape

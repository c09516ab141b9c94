"""Inputs of the goal selector for the decision loop's thread: pose, motion, scene and grid."""

from __future__ import annotations

import numpy as np
from geometry_msgs.msg import Twist, TwistStamped
from nav_msgs.msg import OccupancyGrid, Odometry
from sensor_msgs.msg import CameraInfo

from lodestar.agent.loop.machine import DecisionLoop
from lodestar.floors.records import Building
from lodestar.geometry.poses import planar_pose
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar_interfaces.msg import Look
from lodestar_ros import qos
from lodestar_ros.building_input import BuildingInput
from lodestar_ros.conversions import grid_from_msg, stamp_from_msg, velocity_from_msg
from lodestar_ros.conversions_scene import look_from_msg
from lodestar_ros.keep_out import KeepOutInput
from lodestar_ros.loop_thread import LoopThread
from lodestar_ros.node import FrameNames, LodestarNode
from lodestar_ros.parameters import declare
from lodestar_ros.scene_client import SceneClient

POSE_HOLDS = 1.0  # s for which the newest transform is valid


class PoseInput:
    """The robot's pose from the newest transforms, and its motion. Subscribes: TF, and as `MotionInput`."""

    def __init__(
        self, node: LodestarNode, loop: DecisionLoop, thread: LoopThread, frames: FrameNames
    ) -> None:
        self._node, self._loop, self._thread, self._frames = node, loop, thread, frames
        self._buffer = node.transforms(newest=True).buffer
        MotionInput(node, loop, thread)

    def observe(self) -> np.ndarray:
        """Return the pose (3,) x, y, yaw in map; also pass it to the decision loop. Raises
        TransformUnavailable.
        """
        stamp = self._node.now  # the transforms' clock, because the loop's time may be ahead of it
        pose = planar_pose(self._buffer.lookup_fresh(self._frames.map, self._frames.base, stamp, POSE_HOLDS))
        self._observe_correction(stamp)
        self._thread.post(lambda: self._loop.on_pose(pose, stamp), slot="pose")
        return pose

    def _observe_correction(self, stamp: float) -> None:
        found = self._buffer.find_chain(self._frames.chain, stamp, POSE_HOLDS)
        if found is not None:  # a robot without odometry has no corrections
            self._thread.post(lambda: self._loop.on_correction(*found, stamp), slot="correction")


class MotionInput:
    """Passes commanded and measured velocities to the decision loop, which detects contacts by them, the stamps of the
    camera, by which it detects that the camera has failed, and its looks.

    Subscribes: ``odom``, ``cmd_vel_out``, ``camera_info``, ``looks``. Parameter `cmd_vel_out_stamped`: whether
    ``cmd_vel_out`` is a TwistStamped; the motion gate has the same parameter, with the same value.
    """

    def __init__(self, node: LodestarNode, loop: DecisionLoop, thread: LoopThread) -> None:
        self._loop, self._thread = loop, thread
        self._command: np.ndarray | None = None
        self._stamped = declare(node, "cmd_vel_out_stamped", bool, False)
        node.listen(TwistStamped if self._stamped else Twist, "cmd_vel_out", self._on_command, qos.COMMAND)
        node.listen(Odometry, "odom", self._on_odometry, qos.SENSOR)
        node.listen(CameraInfo, "camera_info", self._on_camera_info, qos.SENSOR)
        node.listen(Look, "looks", self._on_look, qos.EVENT, stamped=True)

    def _on_command(self, message: Twist | TwistStamped) -> None:
        self._command = np.array(velocity_from_msg(message.twist if self._stamped else message))

    def _on_odometry(self, message: Odometry) -> None:
        command = self._command
        if command is None:
            return
        velocity = np.array(velocity_from_msg(message.twist.twist))
        stamp = stamp_from_msg(message.header.stamp)
        self._thread.post(lambda: self._loop.on_motion(command, velocity, stamp), slot="motion")

    def _on_camera_info(self, message: CameraInfo) -> None:
        stamp = stamp_from_msg(message.header.stamp)
        self._thread.post(lambda: self._loop.on_sight(stamp), slot="sight")

    def _on_look(self, message: Look) -> None:
        look = look_from_msg(message)
        self._thread.post(lambda: self._loop.on_look(look.map_from_camera, look.stamp), slot="look")


class SelectorScene:
    """The scene of the robot's floor and of all floors, for the decision loop. Subscribes: as
    `SceneClient`.
    """

    def __init__(self, node: LodestarNode, loop: DecisionLoop, thread: LoopThread) -> None:
        self._loop = loop
        self._client = SceneClient(node, thread.post, archived=True, on_building=self._follow)
        self.floors = self._client.floors
        loop.on_scene(self._client.here, self._client.mirror)

    def _follow(self, building: Building) -> None:
        """Give the decision loop the floors and the scene of the robot's floor. Runs on its thread."""
        self._loop.on_building(building)
        self._loop.on_scene(self._client.here, self._client.mirror)


class GridInput:
    """The grid with the keep-out zones; a late grid of the previous floor is dropped.

    Subscribes: ``grid``, ``costmap_filter_info`` and its mask.
    """

    def __init__(
        self, node: LodestarNode, loop: DecisionLoop, thread: LoopThread, floors: BuildingInput
    ) -> None:
        self._loop, self._thread, self._floors = loop, thread, floors
        self._grid: OccupancyGrid2D | None = None
        self._keep_out = KeepOutInput(node, self._give)
        node.listen(OccupancyGrid, "grid", self._on_grid, qos.LATCHED)

    def _on_grid(self, message: OccupancyGrid) -> None:
        self._grid = grid_from_msg(message)
        self._give()

    def _give(self) -> None:
        grid = self._grid
        if grid is not None:
            self._thread.post(lambda: self._take(grid), slot="grid")

    def _take(self, grid: OccupancyGrid2D) -> None:
        """Give the decision loop a grid with the keep-out zones. Runs on its thread."""
        if self._floors.newest.outdates(grid.stamp):
            return
        zoned = self._keep_out.apply(grid)
        assert zoned is not None
        self._loop.on_grid(zoned)

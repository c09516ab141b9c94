"""ROS shell around `Simulator`: one thread steps it, publishes its data and paces simulated time."""

from __future__ import annotations

import threading
import time
from collections import deque
from functools import partial

import numpy as np
from geometry_msgs.msg import Twist, TwistStamped
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.task import Future

from lodestar_interfaces.msg import SimStatus
from lodestar_interfaces.srv import RenderView
from lodestar_ros import qos
from lodestar_ros.conversions import BadMessage, header, pose_from_msg
from lodestar_ros.conversions_sensors import image_to_msg
from lodestar_ros.executors import main_of
from lodestar_ros.node import LodestarNode
from lodestar_ros.parameters import ParameterError, declare_config
from lodestar_ros.workers import Mailbox
from lodestar_sim.nodes.isaac_publisher import IsaacCameraPublisher
from lodestar_sim.nodes.pacer import Pacer
from lodestar_sim.nodes.publishers import OPTICAL, CameraPublisher, RangePublisher, StatePublisher
from lodestar_sim.simulator import PHYSICS_STEP
from lodestar_sim.starts import SimNodeConfig

SILENCE_TIMEOUT = 0.5  # s of real time without a command, after which the robot is stopped; chosen
CAMERA_RATE = 10.0  # Hz, of images; chosen
LIDAR_RATE = 10.0  # Hz, of points and scan; chosen


class SimNode(LodestarNode):
    """Simulate the building, the robot and its sensors.

    Subscribes: ``cmd_vel_out``. Publishes: ``/clock`` (unless `real_time`), ``odom``, ``/tf``, ``camera/...``,
    ``points``, ``scan`` (unless `isaac_bridge`), ``sim/status``, ``sim/ground_truth``. Serves: ``sim/render_view``.
    """

    def __init__(self, **kwargs):
        super().__init__("sim", **kwargs)
        config = declare_config(self, SimNodeConfig)
        try:
            self._sim = config.make_simulator()
            self._pacer = Pacer(config.real_time_factor)
        except ValueError as error:  # includes WorldError
            raise ParameterError(str(error)) from error
        self._commands: deque[tuple[float, float, float]] = deque(maxlen=1)
        self._commanded = time.monotonic()
        self._views: deque[tuple[np.ndarray, Future]] = deque()
        self._mailbox = Mailbox(self)
        self._render_ms = 0.0
        self._every = tuple(max(1, round(1.0 / (rate * PHYSICS_STEP))) for rate in (CAMERA_RATE, LIDAR_RATE))
        self._real_time = config.real_time
        self._state = StatePublisher(
            self,
            self._sim,
            config.publish_map_to_odom,
            config.publish_robot_frames,
            clock=not config.real_time,
            scans=not config.isaac_bridge,
        )
        camera = IsaacCameraPublisher if config.isaac_bridge else CameraPublisher
        self._camera = camera(self, config.camera_width, config.camera_height)
        self._ranges = RangePublisher(self, LIDAR_RATE, scans=not config.isaac_bridge)
        self._status = self.create_publisher(SimStatus, "sim/status", qos.EVENT)
        if config.cmd_vel_stamped:
            self.listen(TwistStamped, "cmd_vel_out", lambda m: self._on_command(m.twist), qos.COMMAND)
        else:
            self.listen(Twist, "cmd_vel_out", self._on_command, qos.COMMAND)
        group = ReentrantCallbackGroup()  # a request under way must not block the node's other callbacks
        self.create_service(RenderView, "sim/render_view", self._on_render_view, callback_group=group)
        self._running = True
        self._thread = threading.Thread(target=self._run, name="simulation")
        self.on_close(self._stop)
        self._thread.start()

    def _on_command(self, twist: Twist) -> None:
        self._commands.append((twist.linear.x, twist.linear.y, twist.angular.z))

    async def _on_render_view(self, request, response):
        """Render the requested view in the simulation thread, so that the executor is not blocked."""
        try:
            pose = pose_from_msg(request.base_pose)
        except BadMessage as error:
            response.success, response.error_msg = False, str(error)
            return response
        future = Future(executor=self.executor)
        self._views.append((pose, future))
        rgb, depth_mm = await future
        response.success = True
        response.image = image_to_msg(rgb, "rgb8", self._sim.stamp, OPTICAL)
        response.depth = image_to_msg(depth_mm, "16UC1", self._sim.stamp, OPTICAL)
        return response

    def _run(self) -> None:
        try:
            tick = 0
            while self._running and self.context.ok():
                self._step(tick)
                tick += 1
        except Exception as error:
            if self.context.ok():
                self.failed = True
                self.refusal = f"the simulation ended: {error.__class__.__name__}: {error}"

    def _step(self, tick: int) -> None:
        sim, now = self._sim, time.monotonic()
        if self._commands:
            self._commanded = now
            sim.set_command(*self._commands.popleft())
        elif now - self._commanded > SILENCE_TIMEOUT:  # real time, unlike the robot's own timeout
            sim.set_command(0.0, 0.0, 0.0)
        if self._real_time:
            sim.step(self._pacer.behind(sim.time) + PHYSICS_STEP)
        else:
            sim.step()
        self._pacer.wait(sim.time)
        if self._real_time:
            sim.epoch = self.now - sim.time
        self._state.publish(sim)
        muted = sim.muted
        if tick % self._every[0] == 0 and "camera" not in muted:
            start = time.perf_counter()
            if self._camera.publish(sim):
                self._render_ms = (time.perf_counter() - start) * 1000.0
        if tick % self._every[1] == self._every[1] // 2 and "ranges" not in muted:
            self._ranges.publish(sim)
        while self._views:
            pose, future = self._views.popleft()
            view = sim.render_view(pose)
            self._mailbox.post(partial(future.set_result, view))
        factor = self._pacer.report(sim.time)
        if factor is not None:
            self._publish_status(factor)

    def _publish_status(self, factor: float) -> None:
        message = SimStatus(header=header(self._sim.stamp, "map"), world=self._sim.world.name)
        message.real_time_factor = factor
        message.collisions = self._sim.collisions
        message.path_length = self._sim.path_length
        message.render_ms = self._render_ms
        message.overruns = self._pacer.overruns
        self._status.publish(message)

    def _stop(self) -> None:
        self._running = False
        self._thread.join()


main = main_of(SimNode)

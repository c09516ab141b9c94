"""Programmable fakes: Nav2, experts, memory, and a robot with a camera."""

from __future__ import annotations

import json
import math
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from geometry_msgs.msg import TransformStamped, Twist
from nav2_msgs.action import NavigateToPose
from nav_msgs.msg import OccupancyGrid
from rclpy.action import ActionServer, CancelResponse, GoalResponse
from sensor_msgs.msg import CameraInfo, Image, PointCloud2
from std_msgs.msg import String
from tf2_msgs.msg import TFMessage
from waiting import wait_for

from integration.bed import Bed
from lodestar.experts.protocol import Proposal, Rejection, RejectionReason
from lodestar.geometry.camera import PinholeCamera
from lodestar.geometry.poses import BODY_FROM_OPTICAL, make_transform, planar_transform
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.memory.answer import AnswerOutcome
from lodestar.perception.frames import CameraLook
from lodestar_interfaces import msg
from lodestar_interfaces.action import AnswerQuestion, ProposeGoal
from lodestar_ros import qos
from lodestar_ros.conversions import grid_to_msg, header, planar_from_msg, stamp_to_msg, transform_to_msg
from lodestar_ros.conversions_agent import answer_to_result, request_from_goal
from lodestar_ros.conversions_memory import outcome_to_result
from lodestar_ros.conversions_scene import look_to_msg
from lodestar_ros.conversions_sensors import camera_to_msg, cloud_to_msg, image_to_msg


class FakeNav2:
    """Fake `navigate_to_pose` server that pretends to drive, or misbehaves by `mode`.

    mode: "drive" until `arrive` is called, "arrive" at once, "abort", "reject", "ignore" the cancel's effect on
    cmd_vel (a navigator that keeps sending velocities), "silent" (accepts and never responds).
    """

    def __init__(self, bed: Bed) -> None:
        self.mode = "drive"
        self.goals: list[np.ndarray] = []
        self.cancelled = 0
        self._bed = bed
        self._lock = threading.Lock()  # guards the swap of the handle
        self._handle: Any = None
        self._command = bed.node.create_publisher(Twist, "cmd_vel", qos.COMMAND)
        self._server: ActionServer | None = None
        self.up()
        side = bed.mortal
        side.on_executor(lambda: side.node.create_timer(0.05, self._drive))

    def up(self) -> None:
        """Create the action server."""
        side = self._bed.mortal
        self._server = side.on_executor(
            lambda: ActionServer(
                side.node,
                NavigateToPose,
                "navigate_to_pose",
                lambda handle: NavigateToPose.Result(),
                goal_callback=lambda request: (
                    GoalResponse.REJECT if self.mode == "reject" else GoalResponse.ACCEPT
                ),
                handle_accepted_callback=self._on_accepted,
                cancel_callback=self._on_cancel,
            )
        )

    def down(self) -> None:
        """Destroy the action server."""
        self._handle = None
        server, self._server = self._server, None
        if server is not None:
            self._bed.mortal.on_executor(server.destroy)

    @property
    def driving(self) -> bool:
        return self._handle is not None

    def arrive(self) -> None:
        """End the current goal with success."""
        self._conclude("succeed")

    def abort(self, code: int, message: str) -> None:
        self._conclude("abort", NavigateToPose.Result(error_code=code, error_msg=message))

    def _on_accepted(self, handle: Any) -> None:
        self.goals.append(planar_from_msg(handle.request.pose.pose))
        if self._handle is not None:
            self._conclude("abort")
        self._handle = handle
        if self.mode == "arrive":
            self.arrive()
        elif self.mode == "abort":
            self.abort(208, "no valid path found")
        self._bed.poke()

    def _on_cancel(self, handle: Any) -> CancelResponse:
        self.cancelled += 1
        return CancelResponse.ACCEPT

    def _drive(self) -> None:
        handle = self._handle
        if handle is not None and handle.is_cancel_requested:
            self._conclude("canceled")
        if self._handle is None and self.mode != "ignore":
            return
        self._command.publish(_forward())
        handle = self._handle
        if handle is not None and self.mode != "silent":
            handle.publish_feedback(NavigateToPose.Feedback(distance_remaining=2.5))

    def _conclude(self, ending: str, result: Any = None) -> None:
        with self._lock:
            handle, self._handle = self._handle, None
        if handle is None:
            return

        def conclude(handle: Any) -> Any:
            getattr(handle, ending)()
            return result or NavigateToPose.Result()

        handle.execute(conclude)


def _forward() -> Twist:
    twist = Twist()
    twist.linear.x = 0.5
    return twist


class FakeExpert:
    """Fake `propose` server that answers with `answer(request)`; None = no answer before `speak`."""

    def __init__(self, bed: Bed, name: str) -> None:
        self.name = name
        self.requests: list[Any] = []
        self.thinking: list[tuple[Any, Any]] = []  # unanswered (request, handle)
        self.answer: Callable[[Any], Proposal | Rejection | None] = self.nothing
        self._server = ActionServer(
            bed.node,
            ProposeGoal,
            f"{name}_expert/propose",
            lambda handle: ProposeGoal.Result(),
            handle_accepted_callback=self._on_accepted,
            cancel_callback=lambda handle: CancelResponse.ACCEPT,
        )

    def nothing(self, request: Any) -> Rejection:
        return Rejection(self.name, request.epoch, RejectionReason.NO_PROPOSAL, "nothing to propose")

    def explored(self, request: Any) -> Rejection:
        return Rejection(self.name, request.epoch, RejectionReason.EXPLORED, "all explored")

    def goes_to(self, x: float, y: float, yaw: float, entity_id: int = 0) -> None:
        self.answer = lambda request: Proposal(
            self.name, request.epoch, np.array([x, y, yaw]), 0.9, "there", entity_id, stamp=request.stamp
        )

    def _on_accepted(self, handle: Any) -> None:
        request = request_from_goal(handle.request)
        self.requests.append(request)
        answer = self.answer(request)
        if answer is None:
            self.thinking.append((request, handle))
        else:
            self._conclude(handle, answer)

    def speak(self, x: float, y: float, yaw: float) -> None:
        """Answer the oldest pending request with a proposal to go to x, y, yaw."""
        request, handle = self.thinking.pop(0)
        self._conclude(handle, Proposal(self.name, request.epoch, np.array([x, y, yaw]), 0.9, "there"))

    def _conclude(self, handle: Any, answer: Proposal | Rejection) -> None:
        def conclude(handle: Any) -> Any:
            if handle.is_cancel_requested:
                handle.canceled()
            elif isinstance(answer, Proposal):
                handle.succeed()
            else:
                handle.abort()
            return answer_to_result(answer)

        handle.execute(conclude)


class FakeMemory:
    """Fake `memory/answer` server that answers with `answer(question)`; None = no answer."""

    def __init__(self, bed: Bed) -> None:
        self.questions: list[str] = []
        self.cancelled = 0
        self.answer: Callable[[str], AnswerOutcome | None] = lambda question: None
        self._thinking: list[Any] = []
        side = self._side = bed.mortal
        self._server = side.on_executor(
            lambda: ActionServer(
                side.node,
                AnswerQuestion,
                "memory/answer",
                lambda handle: AnswerQuestion.Result(),
                handle_accepted_callback=self._on_accepted,
                cancel_callback=self._on_cancel,
            )
        )

    def down(self) -> None:
        """Destroy the action server."""
        self._side.on_executor(self._server.destroy)

    def _on_accepted(self, handle: Any) -> None:
        self.questions.append(handle.request.question)
        outcome = self.answer(handle.request.question)
        if outcome is None:
            self._thinking.append(handle)
        else:
            self._conclude(handle, outcome)

    def _on_cancel(self, handle: Any) -> CancelResponse:
        self.cancelled += 1
        return CancelResponse.ACCEPT

    def _conclude(self, handle: Any, outcome: AnswerOutcome) -> None:
        def conclude(handle: Any) -> Any:
            handle.succeed() if outcome.is_known else handle.abort()
            return outcome_to_result(outcome)

        handle.execute(conclude)


CAMERA = PinholeCamera(160, 120, 95.0, 95.0, 79.5, 59.5)
OPTICAL = "camera_optical_frame"
BASE_FROM_CAMERA = planar_transform(0.3, 0.0, 0.0, 0.45)


class FakeRobot:
    """Fake robot that publishes TF, a grid, and images of a red box in front of a wall.

    Stamps are real time. `pose` is (x, y, yaw) in odom; map and odom are the same until `map_from_odom` changes.
    looks: publish looks of the camera all the time, in place of `semantic_voxels`.
    """

    def __init__(self, bed: Bed, looks: bool = False) -> None:
        self.pose = (0.0, 0.0, 0.0)
        self.map_from_odom = np.eye(4)
        self.transforms = True
        self.caption = "red box"  # caption that the detector gives the box
        self._bed = bed
        node = bed.node
        self._tf = node.create_publisher(TFMessage, "/tf", qos.TF)
        self._static = node.create_publisher(TFMessage, "/tf_static", qos.LATCHED)
        self._grid = node.create_publisher(OccupancyGrid, "grid", qos.LATCHED)
        self._info = node.create_publisher(CameraInfo, "camera/color/camera_info", qos.SENSOR)
        self._color = node.create_publisher(Image, "camera/color/image_raw", qos.SENSOR)
        self._depth = node.create_publisher(Image, "camera/depth/image_raw", qos.SENSOR)
        self._labels = node.create_publisher(Image, "camera/labels/image_raw", qos.SENSOR)
        self._looks = node.create_publisher(msg.Look, "semantic_voxels/looks", qos.EVENT)
        self._table = node.create_publisher(String, "camera/labels/table", qos.EVENT)
        self._points = node.create_publisher(PointCloud2, "points", qos.SENSOR)
        self._rng = np.random.default_rng(0)
        self._running = threading.Event()
        camera_from_optical = BODY_FROM_OPTICAL
        self._static.publish(
            TFMessage(
                transforms=[
                    stamped("base_link", "camera_link", BASE_FROM_CAMERA, 0.0),
                    stamped("camera_link", OPTICAL, camera_from_optical, 0.0),
                    stamped("base_link", "lidar_link", planar_transform(0, 0, 0, 0.5), 0.0),
                ]
            )
        )
        node.create_timer(0.02, self._publish_transforms)
        if looks:
            node.create_timer(0.2, lambda: self.look(parts=("look",)))

    def _publish_transforms(self) -> None:
        if self.transforms:
            self.publish_transforms(time.time())

    def publish_transforms(self, stamp: float) -> None:
        transforms = [
            stamped("odom", "base_link", planar_transform(*self.pose), stamp),
            stamped("map", "odom", self.map_from_odom, stamp),
        ]
        self._tf.publish(TFMessage(transforms=transforms))

    def publish_grid(self, size: float = 8.0) -> None:
        """Publish the grid of a free square around the origin, with walls."""
        cells = np.zeros((round(size / 0.1),) * 2, np.int8)
        cells[[0, -1], :] = cells[:, [0, -1]] = 100
        self._grid.publish(grid_to_msg(OccupancyGrid2D(cells, 0.1, (-size / 2, -size / 2), time.time())))

    def scene(self) -> tuple[np.ndarray, np.ndarray]:
        """Return depth (H, W) float32, metres, and labels (H, W) of a box of 0.6 m, 2 m ahead, and a wall at 4 m."""
        depth = np.full((CAMERA.height, CAMERA.width), 4.0, np.float32)
        labels = np.zeros(depth.shape, np.uint16)
        half = round(0.3 / 2.0 * CAMERA.fx)
        middle = (round(CAMERA.cy), round(CAMERA.cx))
        window = np.s_[middle[0] - half : middle[0] + half, middle[1] - half : middle[1] + half]
        depth[window], labels[window] = 2.0, 1
        return depth, labels

    def _view(self, stamp: float) -> CameraLook:
        pose = self.map_from_odom @ planar_transform(*self.pose) @ BASE_FROM_CAMERA @ BODY_FROM_OPTICAL
        return CameraLook(stamp, pose, CAMERA)

    def _seen_colours(self, labels: np.ndarray) -> np.ndarray:
        """Return an RGB image for labels (H, W), made unique by random pixels in a corner."""
        image = np.dstack([labels * 200 + 20] * 3).astype(np.uint8)
        image[:8, :16] = self._rng.integers(0, 256, (8, 16, 3))
        return image

    def look(
        self,
        stamp: float | None = None,
        *,
        depth: np.ndarray | None = None,
        encoding: str = "16UC1",
        parts: tuple[str, ...] = ("info", "table", "labels", "depth", "color"),
    ) -> float:
        """Publish one camera frame, or parts of one; return its stamp."""
        stamp = time.time() if stamp is None else stamp
        seen, labels = self.scene()
        depth = seen if depth is None else depth
        value = int(self._rng.integers(1, 60000))
        table = {value: {"class": "box", "caption": self.caption}}
        sent = stamp_to_msg(stamp)
        messages = {
            "look": lambda: self._looks.publish(look_to_msg(self._view(stamp))),
            "info": lambda: self._info.publish(camera_to_msg(CAMERA, stamp, OPTICAL)),
            "table": lambda: self._table.publish(
                String(data=json.dumps({"stamp": [sent.sec, sent.nanosec], "labels": table}))
            ),
            "labels": lambda: self._labels.publish(image_to_msg(labels * value, "mono16", stamp, OPTICAL)),
            "depth": lambda: self._depth.publish(
                image_to_msg(depth * 1000.0 if encoding == "16UC1" else depth, encoding, stamp, OPTICAL)
            ),
            "color": lambda: self._color.publish(
                image_to_msg(self._seen_colours(labels), "rgb8", stamp, OPTICAL)
            ),
        }
        for part in parts:
            messages[part]()
        return stamp

    def watch(self, condition: Callable[[], Any], what: str, **options: Any) -> Any:
        """Publish frames ten times a second until a condition holds; return its value."""
        return wait_for(lambda: condition() or (self.look(**options), None)[1], what, every=0.1)

    def turn(self, condition: Callable[[], Any], what: str | Callable[[], str]) -> Any:
        """Scan ten times a second until a condition holds."""
        return wait_for(lambda: condition() or self.scan(), what, every=0.1)

    def scan(self, stamp: float | None = None, walker: tuple[float, float] | None = None) -> None:
        """Publish a LiDAR scan of a round room of radius 3 m: five rings on the wall, and the floor 0.5 m below.

        walker: x, y of a person, 0.4 m wide, in the sensor's frame.
        """
        angles = np.linspace(-math.pi, math.pi, 720, endpoint=False)
        circle = np.stack([np.cos(angles), np.sin(angles)], axis=1)
        wall = np.full((720, 1), 3.0)
        if walker is not None:
            away = math.hypot(*walker)
            wall[circle @ walker > away * math.cos(math.asin(0.2 / away))] = away - 0.2
        rings = [(wall, z) for z in np.linspace(-0.3, 0.1, 5)] + [(r, -0.5) for r in np.arange(0.5, 3.0, 0.3)]
        points = np.concatenate([np.column_stack([r * circle, np.full(len(circle), z)]) for r, z in rings])
        stamp = time.time() if stamp is None else stamp
        self._points.publish(cloud_to_msg(points.astype(np.float32), stamp, "lidar_link"))


def stamped(parent: str, child: str, transform: np.ndarray, stamp: float) -> TransformStamped:
    return TransformStamped(
        header=header(stamp, parent),
        child_frame_id=child,
        transform=transform_to_msg(make_transform(transform[:3, :3], transform[:3, 3])),
    )

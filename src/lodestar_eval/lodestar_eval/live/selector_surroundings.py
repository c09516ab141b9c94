"""Environment of a running goal selector: robot, navigator, experts, phrase vectors, and scene deltas."""

from __future__ import annotations

import math
import time
import zlib
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from action_msgs.srv import CancelGoal
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import TransformStamped, Twist
from nav2_msgs.action import NavigateToPose
from nav_msgs.msg import OccupancyGrid
from rclpy.action import ActionClient, ActionServer, CancelResponse
from tf2_msgs.msg import TFMessage

from lodestar.experts.protocol import Proposal, Rejection, RejectionReason
from lodestar.experts.registry import FRONTIER, experts
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.mapping.follower import Cursor, page_of
from lodestar.scene.records import Entity, SceneDelta
from lodestar_eval.live.side_node import SideNode
from lodestar_interfaces.action import FollowDirective, ProposeGoal
from lodestar_interfaces.msg import Decision, Heartbeat
from lodestar_interfaces.msg import SceneDelta as SceneDeltaMessage
from lodestar_interfaces.srv import EmbedTexts, GetEntities
from lodestar_ros import qos
from lodestar_ros.conversions import grid_to_msg, header, stamp_from_msg, transform_to_msg
from lodestar_ros.conversions_agent import answer_to_result, request_from_goal
from lodestar_ros.conversions_scene import scene_to_msg
from lodestar_ros.conversions_sensors import vectors_to_msg

SIDE = 16.0  # m, side of the free square that contains the frontier goals
DIMENSION = 384  # of the phrase vectors; that of all-MiniLM-L6-v2
DRIVE_PERIOD = 0.05  # s between the navigator's velocities
TF_PERIOD = 0.05  # s between transforms


class SelectorSurroundings:
    """ROS node around a goal selector under test, on its own thread. Times are monotonic seconds."""

    def __init__(self, domain: int) -> None:
        self.beats: list[tuple[float, float]] = []  # (time of reception, stamp) of the heartbeats
        self.decided: list[float] = []  # seconds from the request to the decision
        self.stopped_at = math.inf  # time of the gate's first zero velocity since the last non-zero one
        self.diagnosis: dict[str, str] = {}
        self._asked: dict[int, float] = {}
        self._goal: Any = None
        self._places = 0
        self._entities: list[Entity] = []
        self._revision = 0
        self._side = SideNode("selector_surroundings", domain)
        self.node = node = self._side.node
        self._tf = node.create_publisher(TFMessage, "/tf", qos.TF)
        self._command = node.create_publisher(Twist, "cmd_vel", qos.COMMAND)
        self._grid = node.create_publisher(OccupancyGrid, "grid", qos.LATCHED)
        self._scene = node.create_publisher(SceneDeltaMessage, "scene_dictionary/entities", qos.EVENT)
        node.create_service(GetEntities, "scene_dictionary/get_entities", self._on_get_entities)
        node.create_service(EmbedTexts, "text_embedder/embed", _on_embed)
        node.create_subscription(Heartbeat, "goal_selector/heartbeat", self._on_beat, qos.COMMAND)
        node.create_subscription(Twist, "cmd_vel_out", self._on_velocity, qos.COMMAND)
        node.create_subscription(Decision, "goal_selector/decision", self._on_decision, qos.EVENT)
        node.create_subscription(DiagnosticArray, "/diagnostics", self._on_diagnostics, qos.EVENT)
        self._navigator = ActionServer(
            node, NavigateToPose, "navigate_to_pose", lambda handle: NavigateToPose.Result(),
            handle_accepted_callback=self._on_goal, cancel_callback=lambda handle: CancelResponse.ACCEPT,
        )  # fmt: skip
        self._experts = [
            ActionServer(
                node, ProposeGoal, f"{spec.node}/propose", lambda handle: ProposeGoal.Result(),
                handle_accepted_callback=lambda handle, name=spec.name: self._on_question(name, handle),
                cancel_callback=lambda handle: CancelResponse.ACCEPT,
            )
            for spec in experts()
        ]  # fmt: skip
        self._follow = ActionClient(node, FollowDirective, "follow_directive")
        node.create_timer(TF_PERIOD, self._publish_transforms)
        node.create_timer(DRIVE_PERIOD, self._drive)
        self._side.start()

    def close(self) -> None:
        self._side.close()

    def until(self, condition: Callable[[], Any], what: str, timeout: float = 120.0) -> None:
        """Wait until a condition is true. Raises TimeoutError with the text `what`."""
        end = time.monotonic() + timeout
        while not condition():
            if time.monotonic() > end:
                raise TimeoutError(f"not within {timeout:.0f} s: {what}")
            time.sleep(0.02)

    # --- actions of the benchmark ---

    def publish_grid(self) -> None:
        cells = np.zeros((round(SIDE / 0.1),) * 2, np.int8)
        cells[[0, -1], :] = cells[:, [0, -1]] = 100
        self._grid.publish(grid_to_msg(OccupancyGrid2D(cells, 0.1, (-SIDE / 2, -SIDE / 2), time.time())))

    def see(self, entities: list[Entity]) -> None:
        """Add or change entities of the scene and publish the delta."""
        now, known = time.time(), len(self._entities)
        fresh = [replace(entity, last_seen=now) for entity in entities]
        for entity in fresh:
            if entity.id <= known:
                self._entities[entity.id - 1] = entity
            else:
                self._entities.append(entity)
        self._revision += 1
        self._scene.publish(
            scene_to_msg(SceneDelta(now, self._revision, self._revision - 1, tuple(fresh)))[0]
        )

    def start(self, text: str) -> Any:
        """Send a directive; return the handle after its acceptance."""
        self.until(self._follow.server_is_ready, "the goal selector serves directives")
        future = self._follow.send_goal_async(FollowDirective.Goal(text=text))
        self.until(future.done, "the directive is accepted")
        return future.result()

    def cancel(self, handle: Any) -> CancelGoal.Response:
        future = handle.cancel_goal_async()
        self.until(future.done, "the cancel is accepted")
        return future.result()

    @property
    def moving(self) -> bool:
        """Return whether a goal is active and the velocity gate has not output zero since the last motion."""
        return math.isinf(self.stopped_at) and bool(self.beats) and self._goal is not None

    # --- callbacks ---

    def _on_beat(self, message: Heartbeat) -> None:
        self.beats.append((time.monotonic(), stamp_from_msg(message.header.stamp)))

    def _on_velocity(self, twist: Twist) -> None:
        if any((twist.linear.x, twist.linear.y, twist.angular.z)):
            self.stopped_at = math.inf
        elif math.isinf(self.stopped_at):
            self.stopped_at = time.monotonic()

    def _on_decision(self, message: Decision) -> None:
        asked = self._asked.pop(message.epoch, None)
        if asked is not None:
            self.decided.append(time.monotonic() - asked)

    def _on_diagnostics(self, message: DiagnosticArray) -> None:
        for status in message.status:
            if status.name.endswith("goal_selector"):
                self.diagnosis = {item.key: item.value for item in status.values}

    def _on_question(self, name: str, handle: Any) -> None:
        request = request_from_goal(handle.request)
        answer: Proposal | Rejection = Rejection(name, request.epoch, RejectionReason.NO_PROPOSAL, "nothing")
        if name == FRONTIER.name:
            self._asked.setdefault(request.epoch, time.monotonic())
            self._places += 1
            angle = 2.4 * self._places  # a new goal each time, so that every review makes a new decision
            goal = np.array([5.0 * math.cos(angle), 5.0 * math.sin(angle), 0.0])
            answer = Proposal(name, request.epoch, goal, 0.9, "there", stamp=request.stamp)

        def conclude(handle: Any) -> Any:
            if handle.is_cancel_requested:
                handle.canceled()
            elif isinstance(answer, Proposal):
                handle.succeed()
            else:
                handle.abort()
            return answer_to_result(answer)

        handle.execute(conclude)

    def _on_goal(self, handle: Any) -> None:
        before, self._goal = self._goal, handle
        if before is not None:
            self._conclude(before, "abort")

    def _drive(self) -> None:
        goal = self._goal
        if goal is None:
            return
        if goal.is_cancel_requested:
            self._goal = None
            self._conclude(goal, "canceled")
            return
        twist = Twist()
        twist.linear.x = 0.3
        self._command.publish(twist)
        goal.publish_feedback(NavigateToPose.Feedback(distance_remaining=2.0))

    def _conclude(self, handle: Any, ending: str) -> None:
        def conclude(handle: Any) -> Any:
            getattr(handle, "canceled" if handle.is_cancel_requested else ending)()
            return NavigateToPose.Result()

        handle.execute(conclude)

    def _publish_transforms(self) -> None:
        now = time.time()
        sway = np.eye(4)
        sway[0, 3] = 0.5 * math.sin(0.5 * now)  # sways the robot, so that it does not count as stuck
        pairs = (("odom", "base_link", sway), ("map", "odom", np.eye(4)))
        self._tf.publish(
            TFMessage(
                transforms=[
                    TransformStamped(
                        header=header(now, parent), child_frame_id=child, transform=transform_to_msg(matrix)
                    )
                    for parent, child, matrix in pairs
                ]
            )
        )

    def _on_get_entities(
        self, request: GetEntities.Request, response: GetEntities.Response
    ) -> GetEntities.Response:
        changed = [(self._revision, entity.id) for entity in self._entities]
        since = Cursor(request.since_revision, request.since_id)
        ids, until = page_of(changed, since, self._revision, request.page_size)
        page = tuple(entity for entity in self._entities if entity.id in set(ids))
        response.delta, _ = scene_to_msg(SceneDelta(time.time(), until.revision, since.revision, page))
        response.until_id = until.id
        return response


def _on_embed(request: EmbedTexts.Request, response: EmbedTexts.Response) -> EmbedTexts.Response:
    """Return a unit vector per phrase: random, and always the same for the same text."""
    seeds = [zlib.crc32(phrase.encode()) for phrase in request.phrases]
    vectors = np.stack([np.random.default_rng(seed).normal(size=DIMENSION) for seed in seeds])
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    response.embeddings, response.model = vectors_to_msg(list(vectors.astype(np.float32))), "hash"
    return response

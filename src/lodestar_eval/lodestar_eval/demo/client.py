"""The demo's ROS client: sends the directive and records messages."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from nav2_msgs.action import NavigateToPose
from nav_msgs.msg import OccupancyGrid, Odometry
from rclpy.action import ActionClient

from lodestar.experts.registry import experts
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.scene.config import SceneConfig
from lodestar.scene.records import Entity
from lodestar.scene.regions import RegionMap
from lodestar.worldmodel.decision_log import values_of
from lodestar_eval.demo.growing_map import GrowingMap
from lodestar_eval.demo.narrator import Progress
from lodestar_eval.live.side_node import SideNode
from lodestar_interfaces.action import FollowDirective, ProposeGoal, SaveMap
from lodestar_interfaces.msg import Decision, RegionArray, SceneDelta, SimStatus
from lodestar_interfaces.srv import EmbedTexts, GetEntities
from lodestar_ros import conversions, qos
from lodestar_ros.client_watch import OwnedGoal
from lodestar_ros.conversions_agent import decision_from_msg
from lodestar_ros.conversions_regions import regions_from_msg
from lodestar_ros.conversions_scene import scene_from_msg
from lodestar_ros.sent_goal import SentGoal

_ACCEPT_TIMEOUT = 20.0  # s of wall time until the goal is accepted or rejected
SAVE_TIMEOUT = 60.0  # s of wall time to save a map
_PATH_INTERVAL = 0.1  # s of simulated time between two kept poses


class DirectiveRejected(RuntimeError):
    """Raised if the goal selector did not accept the directive."""


@dataclass(frozen=True)
class Outcome:
    """Result of the action `follow_directive`.

    searched_share: share of the reachable floor that was looked at; NaN = unknown.
    """

    success: bool
    error_code: int
    error_msg: str
    entity_ids: tuple[int, ...]
    nearest_matches: tuple[int, ...]
    duration: float
    report: str
    searched_share: float = float("nan")


class DemoClient:
    """Receives messages on one thread, from construction to `close`, and keeps the newest of each kind."""

    def __init__(self, domain_id: int) -> None:
        self._side = SideNode("lodestar_demo", domain_id)
        self.node = self._side.node
        self._lock = threading.Lock()
        self._path: list[tuple[float, float, float, float]] = []
        self._decisions: list[dict[str, Any]] = []
        self.decided = float("nan")  # time.monotonic() at the first decision
        self._step_begins: list[tuple[int, float]] = []
        self.ended = float("nan")  # simulated stamp of the result, seconds
        self._entities: dict[int, Entity] = {}
        self._grid: OccupancyGrid2D | None = None
        self._rooms = RegionMap(SceneConfig.region_reach)
        self.grown = GrowingMap()
        self.status: SimStatus | None = None
        self.progress = Progress()
        self.clock = 0.0  # newest simulated stamp, seconds
        self._goal_handle: Any = None
        self._outcome: Outcome | None = None
        self.finished = threading.Event()
        self._connect()
        self._side.start()

    def _connect(self) -> None:
        node = self.node
        node.create_subscription(Odometry, "sim/ground_truth", self._on_truth, qos.EVENT)
        node.create_subscription(SimStatus, "sim/status", self._on_status, qos.EVENT)
        node.create_subscription(OccupancyGrid, "grid", self._on_grid, qos.LATCHED)
        node.create_subscription(SceneDelta, "scene_dictionary/entities", self._on_entities, qos.EVENT)
        node.create_subscription(RegionArray, "scene_dictionary/regions", self._on_regions, qos.LATCHED)
        node.create_subscription(Decision, "goal_selector/decision", self._on_decision, qos.EVENT)
        self._owner = OwnedGoal(node)
        self._follow = ActionClient(node, FollowDirective, "follow_directive")
        self._get_entities = node.create_client(GetEntities, "scene_dictionary/get_entities")
        self._needed: dict[str, Callable[[], bool]] = {
            "goal_selector (follow_directive)": self._follow.server_is_ready,
            "scene_dictionary (get_entities)": self._get_entities.service_is_ready,
            "text_embedder (embed)": node.create_client(EmbedTexts, "text_embedder/embed").service_is_ready,
            "sim_navigator (navigate_to_pose)": ActionClient(
                node, NavigateToPose, "navigate_to_pose"
            ).server_is_ready,
            "sim (ground truth)": lambda: bool(self._path),
            "mapping (grid)": lambda: self._grid is not None,
        }
        for spec in experts():
            client = ActionClient(node, ProposeGoal, f"{spec.node}/propose")
            self._needed[f"{spec.node} (propose)"] = client.server_is_ready

    def missing(self) -> list[str]:
        """Return the nodes whose interfaces have not appeared yet, each named with these interfaces."""
        return [name for name, ready in self._needed.items() if not ready()]

    # --- the directive -------------------------------------------------------------------------------

    def send(self, directive: str, time_limit: float) -> None:
        """Send the directive; `finished` is set when it ends. Raises DirectiveRejected."""
        goal = FollowDirective.Goal(text=directive, time_limit=conversions.duration_to_msg(time_limit))
        answered = threading.Event()
        sent = SentGoal(self._follow, FollowDirective, self._owner.mark(goal), self._on_feedback)
        sent.answer.add_done_callback(lambda _: answered.set())
        if not answered.wait(_ACCEPT_TIMEOUT):
            sent.cancel()
            raise DirectiveRejected(f"the goal selector did not answer within {_ACCEPT_TIMEOUT:.0f} s")
        self._goal_handle = sent.answer.result()
        if not self._goal_handle.accepted:
            raise DirectiveRejected("the goal selector refused the directive; its log says why")
        self._goal_handle.get_result_async().add_done_callback(self._on_result)

    def cancel(self, timeout: float) -> bool:
        """Cancel the directive; return whether it ended within `timeout` seconds."""
        if self._goal_handle is None or self.finished.is_set():
            return True
        self._goal_handle.cancel_goal_async()
        return self.finished.wait(timeout)

    @property
    def outcome(self) -> Outcome | None:
        """Return the action's result; None while it runs."""
        return self._outcome

    # --- facts ---------------------------------------------------------------------------------------

    @property
    def path(self) -> np.ndarray:
        """Return the true poses so far, (N, 4) stamp, x, y, yaw."""
        with self._lock:
            return np.array(self._path, dtype=float).reshape(-1, 4)

    @property
    def grid(self) -> OccupancyGrid2D | None:
        """Return the newest grid."""
        return self._grid

    @property
    def rooms(self) -> RegionMap:
        """Return the newest rooms."""
        return self._rooms

    def room_at(self, place: tuple[float, float] | None) -> str:
        """Return the name of the room at a place (x, y) in map; "" if it has none."""
        rooms = self._rooms
        if place is None or rooms.is_empty:
            return ""
        region = rooms.regions.get(int(rooms.at(np.array([place]))[0]))
        return region.label if region is not None else ""

    @property
    def seen(self) -> dict[int, Entity]:
        """Return the entities by id, from the scene deltas received so far."""
        with self._lock:
            return dict(self._entities)

    @property
    def decisions(self) -> list[dict[str, Any]]:
        """Return every decision record so far, as in the decision log."""
        with self._lock:
            return list(self._decisions)

    @property
    def step_begins(self) -> tuple[tuple[int, float], ...]:
        """Return (index, stamp at which its start was received) of the directive's second and later steps."""
        with self._lock:
            return tuple(self._step_begins)

    def entities(self, timeout: float = 5.0) -> dict[int, Entity]:
        """Return all entities by id, in pages from the scene dictionary; `seen` if it does not answer."""
        collected: dict[int, Entity] = {}
        request = GetEntities.Request()
        while True:
            answered = threading.Event()
            future = self._get_entities.call_async(request)
            future.add_done_callback(lambda _, event=answered: event.set())
            if not answered.wait(timeout) or future.result() is None:
                return self.seen
            page = future.result()
            for one in (*page.delta.removed, *(merge.loser for merge in page.delta.merges)):
                collected.pop(one, None)
            collected.update({entity.id: entity for entity in scene_from_msg(page.delta).updated})
            if page.until_id == GetEntities.Request.ALL:
                return collected
            request = GetEntities.Request(since_revision=page.delta.revision, since_id=page.until_id)

    def save_map(self, folder: Path, timeout: float = SAVE_TIMEOUT) -> str:
        """Make the stack save its map in a folder within `timeout` s; return "" or why that failed."""
        answered = threading.Event()
        client = ActionClient(self.node, SaveMap, "scene_dictionary/save")
        if timeout <= 0.0 or not client.wait_for_server(_ACCEPT_TIMEOUT):
            return "scene_dictionary does not answer"
        sent = SentGoal(client, SaveMap, SaveMap.Goal(path=str(folder), force=True), lambda feedback: None)
        found: list[Any] = []

        def keep(done: Any) -> None:
            found.append(done.result().result)
            answered.set()

        def follow(done: Any) -> None:
            if done.result().accepted:
                done.result().get_result_async().add_done_callback(keep)
            else:
                answered.set()

        sent.answer.add_done_callback(follow)
        if not answered.wait(timeout) or not found:
            return "the map was not saved in time, or another one is being saved"
        return str(found[0].error_msg)

    def close(self) -> None:
        """Stop receiving messages."""
        self._side.close()

    # --- callbacks -----------------------------------------------------------------------------------

    def _on_truth(self, message: Odometry) -> None:
        stamp = conversions.stamp_from_msg(message.header.stamp)
        x, y, yaw = conversions.planar_from_msg(message.pose.pose)
        self.clock = max(self.clock, stamp)
        with self._lock:
            if not self._path or stamp >= self._path[-1][0] + _PATH_INTERVAL:
                self._path.append((stamp, float(x), float(y), float(yaw)))

    def _on_status(self, message: SimStatus) -> None:
        self.status = message

    def _on_grid(self, message: OccupancyGrid) -> None:
        self._grid = conversions.grid_from_msg(message)
        self.grown.take(self._grid)

    def _on_entities(self, message: SceneDelta) -> None:
        delta = scene_from_msg(message)
        with self._lock:
            self._entities.update({entity.id: entity for entity in delta.updated})
            for gone in [*(merge.loser for merge in delta.merges), *delta.removed]:
                self._entities.pop(gone, None)

    def _on_regions(self, message: RegionArray) -> None:
        regions, rooms = regions_from_msg(message, SceneConfig.region_reach)
        rooms.regions = {region.id: region for region in regions}
        self._rooms = rooms

    def _on_decision(self, message: Decision) -> None:
        record = values_of(decision_from_msg(message))
        with self._lock:
            if not self._decisions:
                self.decided = time.monotonic()
            self._decisions.append(record)

    def _on_feedback(self, message: Any) -> None:
        f = message.feedback
        before = self.progress
        self.progress = Progress(
            f.phase, f.expert, f.distance_remaining, f.distance_travelled, f.coverage, f.text, int(f.subtask),
            (f.goal.pose.position.x, f.goal.pose.position.y) if f.goal.header.frame_id else None,
        )  # fmt: skip
        if self.progress.step != before.step:
            with self._lock:
                self._step_begins.append((self.progress.step, self.clock))

    def _on_result(self, future: Any) -> None:
        result = future.result().result
        duration = result.duration.sec + 1e-9 * result.duration.nanosec
        self._outcome = Outcome(
            result.success, result.error_code, result.error_msg, tuple(result.entity_ids),
            tuple(result.nearest_matches), duration, result.report, result.searched_share,
        )  # fmt: skip
        self.ended = self.clock
        self.finished.set()

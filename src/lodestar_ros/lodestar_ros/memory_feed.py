"""Feed of the memory: receives the stack's messages and adds them to a `MemoryChain` on one worker."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from nav_msgs.msg import OccupancyGrid

from lodestar.assembly.config import MemoryConfig
from lodestar.assembly.memory_chain import MemoryChain
from lodestar.assembly.memory_news import decision_news
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.memory.answering.coverage import FloorLooks
from lodestar.memory.answering.shots import Shot
from lodestar.memory.segments import views_of
from lodestar.scene.mirror import SceneMirror
from lodestar.scene.records import SceneDelta
from lodestar.timing.stamps import Phased
from lodestar_interfaces import msg
from lodestar_ros import qos
from lodestar_ros.conversions import grid_from_msg, stamp_from_msg
from lodestar_ros.conversions_agent import decision_from_msg
from lodestar_ros.conversions_news import directive_news_from_msg
from lodestar_ros.conversions_scene import keyframe_from_msg, look_from_msg
from lodestar_ros.conversions_world import event_from_msg
from lodestar_ros.node import FrameNames, LodestarNode
from lodestar_ros.scene_client import SceneClient
from lodestar_ros.workers import QueueWorker

MEMORY_LOOK_PERIOD = 1.0  # s of stamps between looks of the camera that count for coverage; chosen
MEMORY_POSE_PERIOD = 0.2  # s of real time between poses; below SEGMENT_POSE_GAP, also at twice real time
POSE_HOLDS = 1.0  # s for which the newest transform is valid
BACKLOG = 500  # waiting messages above which observations are dropped; chosen: some seconds of all topics


@dataclass(frozen=True)
class Surroundings:
    """Copies of the data that an answer needs beside the store. pose: (3,), None = unknown.

    in_view: entity id -> pixels in the newest image.
    """

    scene: SceneMirror
    grid: OccupancyGrid2D | None
    looks: FloorLooks
    pose: np.ndarray | None
    in_view: dict[int, int]
    shots: tuple[Shot, ...]


class MemoryFeed:
    """Feeds a `MemoryChain`. Callbacks only queue work; one worker converts and stores it.

    Subscribes: ``entities``, ``regions``, ``instances``, ``keyframes``, ``frontiers``, ``decision``,
    ``directive_report``, ``grid``, ``world_events``, ``looks``, TF. Calls: ``get_entities``.
    """

    def __init__(self, node: LodestarNode, config: MemoryConfig, frames: FrameNames) -> None:
        self._node, self._frames = node, frames
        self._lock = threading.Lock()
        self._posted = self._done = 0  # numbers of queued and finished functions
        self._worker: QueueWorker[Callable[[], None]] = QueueWorker(
            "memory", self._work, node.diagnostics.error
        )
        client = SceneClient(node, self.post, self._on_delta, archived=True)
        self.chain = MemoryChain(config, client.mirror)
        self._in_view: dict[int, int] = {}
        self._look_due = node.timed(Phased(MEMORY_LOOK_PERIOD))
        self._buffer = node.transforms(newest=True).buffer
        node.listen(msg.Look, "looks", self._on_look, qos.EVENT, stamped=True)
        node.listen(msg.InstanceArray, "instances", self._on_instances, qos.EVENT, stamped=True)
        node.listen(OccupancyGrid, "grid", self._later(self._take_grid), qos.LATCHED)
        node.listen(msg.Keyframe, "keyframes", self._later(self._take_keyframe), qos.EVENT)
        node.listen(msg.FrontierArray, "frontiers", self._later(self._take_frontiers), qos.LATCHED)
        node.listen(msg.Decision, "decision", self._later(self._take_decision), qos.EVENT)
        node.listen(msg.WorldEvent, "world_events", self._later(self._take_event), qos.EVENT)
        node.listen(msg.DirectiveReport, "directive_report", self._later(self._take_report), qos.EVENT)
        node.steady_timer(MEMORY_POSE_PERIOD, self._find_pose)
        node.diagnostics.value("backlog", lambda: self.backlog)

    # --- the worker ---------------------------------------------------------------------------------------------

    def post(self, work: Callable[[], None]) -> None:
        """Queue a function for the worker. Executor only."""
        self._posted += 1
        self._worker.submit(work)

    @property
    def backlog(self) -> int:
        """Return the number of queued functions."""
        return self._posted - self._done

    def alone(self, work: Callable[[], None]) -> None:
        """Call a function at once on the calling worker's thread, while the feed's own worker is blocked."""
        with self._lock:
            work()

    def scene(self) -> SceneMirror:
        """Return a copy of the current scene. Safe to call from other threads."""
        with self._lock:
            return self.chain.scene.snapshot()

    def surroundings(self) -> Surroundings:
        """Return copies of the current data. Safe to call from other threads."""
        with self._lock:
            chain = self.chain
            return Surroundings(
                chain.scene.snapshot(), chain.grid, chain.looks.snapshot(), chain.pose, dict(self._in_view),
                chain.images.shots(chain.scene),
            )  # fmt: skip

    def _work(self, work: Callable[[], None]) -> None:
        self._done += 1
        with self._lock:
            work()

    def _later(self, take: Callable) -> Callable:
        return lambda message: self.post(partial(take, message))

    def close(self) -> None:
        """Finish the queued work and store it; call this while the store is open."""
        self.post(self.chain.close)
        self._worker.close()

    # --- pose
    # ---------------------------------------------------------------------------------------------------

    def _find_pose(self) -> None:
        stamp = self._node.now
        if stamp <= 0.0:
            return  # the clock has not begun
        pose = self._buffer.find_fresh(self._frames.map, self._frames.base, stamp, POSE_HOLDS)
        self.post(lambda: self.chain.take_pose(stamp, pose))
        if pose is None or (found := self._buffer.find_chain(self._frames.chain, stamp, POSE_HOLDS)) is None:
            return  # a robot without odometry has no corrections
        self.post(lambda: self.chain.take_correction(*found, stamp))

    def _on_look(self, message: msg.Look) -> None:
        if self.backlog <= BACKLOG and self._look_due.due(stamp_from_msg(message.header.stamp)):
            self.post(partial(self._take_look, message))

    def _take_look(self, message: msg.Look) -> None:
        look = look_from_msg(message)
        self.chain.take_look(look.stamp, look.map_from_camera)

    # --- observations and events
    # --------------------------------------------------------------------------------

    def _on_delta(self, delta: SceneDelta, paged: bool) -> None:
        """Apply a delta of the scene to the chain. Runs on the worker."""
        (self.chain.take_page if paged else self.chain.take_delta)(delta)

    def _on_instances(self, message: msg.InstanceArray) -> None:
        if self.backlog > BACKLOG:
            self._node.diagnostics.input("instances").drop("backlog")
            return
        self.post(partial(self._take_instances, message))

    def _take_instances(self, message: msg.InstanceArray) -> None:
        seen = ((stamp_from_msg(one.stamp), one.instance_id, one.pixel_count) for one in message.observations)
        for stamp, pixels in views_of(stamp_from_msg(message.header.stamp), seen):
            self.chain.take_view(stamp, pixels)
            self._in_view = pixels

    def _take_grid(self, message: OccupancyGrid) -> None:
        self.chain.take_grid(grid_from_msg(message))

    def _take_keyframe(self, message: msg.Keyframe) -> None:
        self.chain.take_keyframe(keyframe_from_msg(message))

    def _take_frontiers(self, message: msg.FrontierArray) -> None:
        found = ((int(one.keyframe_id), float(one.information_gain)) for one in message.frontiers)
        self.chain.images.take_frontiers(found)

    def _take_decision(self, message: msg.Decision) -> None:
        self.chain.take_decision(decision_news(decision_from_msg(message)))

    def _take_event(self, message: msg.WorldEvent) -> None:
        self.chain.take_event(event_from_msg(message))

    def _take_report(self, message: msg.DirectiveReport) -> None:
        self.chain.take_directive(directive_news_from_msg(message))

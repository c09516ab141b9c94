"""Feed of the memory: what the running stack says, handed over on one worker."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from nav_msgs.msg import OccupancyGrid
from sensor_msgs.msg import CameraInfo

from lodestar.assembly.config import MemoryConfig
from lodestar.assembly.memory_chain import MemoryChain
from lodestar.assembly.memory_news import decision_news
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.memory.answering.coverage import FloorLooks
from lodestar.memory.answering.shots import Shot
from lodestar.memory.segments import views_of
from lodestar.scene.mirror import SceneMirror
from lodestar.scene.records import SceneDelta
from lodestar_interfaces import msg
from lodestar_ros import qos
from lodestar_ros.conversions import grid_from_msg, stamp_from_msg
from lodestar_ros.conversions_agent import decision_from_msg
from lodestar_ros.conversions_news import directive_news_from_msg
from lodestar_ros.conversions_scene import keyframe_from_msg
from lodestar_ros.conversions_world import event_from_msg
from lodestar_ros.frame_tree import TransformUnavailable
from lodestar_ros.node import FrameNames, LodestarNode
from lodestar_ros.scene_client import SceneClient
from lodestar_ros.workers import QueueWorker

POSE_HOLDS = 1.0  # s for which the newest transform is valid
BACKLOG = 500  # pieces of work that wait, from which images are dropped; chosen: some seconds of all topics


@dataclass(frozen=True)
class Surroundings:
    """Copies that an answer needs beside the store; later messages do not change them. pose: (3,), None = lost.

    in_view: entity id -> pixels of the last image.
    """

    scene: SceneMirror
    grid: OccupancyGrid2D | None
    looks: FloorLooks
    pose: np.ndarray | None
    in_view: dict[int, int]
    shots: tuple[Shot, ...]


class MemoryFeed:
    """Feed a `MemoryChain`. Callbacks only note work; one worker converts and remembers.

    Subscribes: ``entities``, ``regions``, ``instances``, ``keyframes``, ``frontiers``, ``decision``,
    ``directive_report``, ``grid``, ``world_events``, ``camera_info``, TF. Calls: ``get_entities``.
    """

    def __init__(self, node: LodestarNode, config: MemoryConfig, frames: FrameNames) -> None:
        self._node, self._frames = node, frames
        self._lock = threading.Lock()
        self._posted = self._done = 0  # pieces of work; counted on the executor and on the worker
        self._worker: QueueWorker[Callable[[], None]] = QueueWorker(
            "memory", self._work, node.diagnostics.error
        )
        client = SceneClient(node, self.post, self._on_delta, archived=True)
        self.chain = MemoryChain(config, client.mirror)
        self._in_view: dict[int, int] = {}
        self._camera_frame = ""
        self._buffer = node.transforms(newest=True).buffer
        node.listen(CameraInfo, "camera_info", self._on_camera_info, qos.SENSOR)
        node.listen(msg.InstanceArray, "instances", self._on_instances, qos.EVENT, stamped=True)
        node.listen(OccupancyGrid, "grid", self._later(self._take_grid), qos.LATCHED)
        node.listen(msg.Keyframe, "keyframes", self._later(self._take_keyframe), qos.EVENT)
        node.listen(msg.FrontierArray, "frontiers", self._later(self._take_frontiers), qos.LATCHED)
        node.listen(msg.Decision, "decision", self._later(self._take_decision), qos.EVENT)
        node.listen(msg.WorldEvent, "world_events", self._later(self._take_event), qos.EVENT)
        node.listen(msg.DirectiveReport, "directive_report", self._later(self._take_report), qos.EVENT)
        node.steady_timer(config.pose_period, self._find_pose)
        node.steady_timer(config.look_period, self._look)
        node.diagnostics.value("backlog", lambda: self.backlog)

    # --- the worker ---------------------------------------------------------------------------------------------

    def post(self, work: Callable[[], None]) -> None:
        """Do some work on the worker, after what was posted before. On the executor."""
        self._posted += 1
        self._worker.submit(work)

    @property
    def backlog(self) -> int:
        """Return the number of pieces of work that wait."""
        return self._posted - self._done

    def alone(self, work: Callable[[], None]) -> None:
        """Do some work now, while the worker does none; for other workers."""
        with self._lock:
            work()

    def scene(self) -> SceneMirror:
        """Return the scene as it is now, for another thread."""
        with self._lock:
            return self.chain.scene.snapshot()

    def surroundings(self) -> Surroundings:
        """Return what is known now, for another thread."""
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
        """Keep what is under way; call it while the store is open."""
        self.post(self.chain.close)
        self._worker.close()

    # --- where the robot is -------------------------------------------------------------------------------------

    def _find_pose(self) -> None:
        stamp = self._node.now
        if stamp <= 0.0:
            return  # the clock has not begun
        try:
            pose = self._buffer.lookup_fresh(self._frames.map, self._frames.base, stamp, POSE_HOLDS)
        except TransformUnavailable:
            self.post(lambda: self.chain.take_pose(stamp, None))
        else:
            self.post(lambda: self.chain.take_pose(stamp, pose))
            self._find_correction(stamp)

    def _find_correction(self, stamp: float) -> None:
        frames = self._frames
        try:
            map_from_odom = self._buffer.lookup_fresh(frames.map, frames.odom, stamp, POSE_HOLDS)
            odom_from_base = self._buffer.lookup_fresh(frames.odom, frames.base, stamp, POSE_HOLDS)
        except TransformUnavailable:
            return  # a robot without odometry has no corrections
        self.post(lambda: self.chain.take_correction(map_from_odom, odom_from_base, stamp))

    def _on_camera_info(self, message: CameraInfo) -> None:
        self._camera_frame = message.header.frame_id

    def _look(self) -> None:
        stamp = self._node.now
        if not self._camera_frame or stamp <= 0.0:
            return
        try:
            pose = self._buffer.lookup_fresh(self._frames.map, self._camera_frame, stamp, POSE_HOLDS)
        except TransformUnavailable:
            return  # `_find_pose` notes it
        self.post(lambda: self.chain.take_look(stamp, pose))

    # --- what is seen and done ----------------------------------------------------------------------------------

    def _on_delta(self, delta: SceneDelta, paged: bool) -> None:
        """On the worker."""
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

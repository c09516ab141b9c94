"""Replay of a recorded run's sensor messages to the headless robot, in step with the live nodes."""

from __future__ import annotations

import math
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from lodestar.assembly import parts
from lodestar.assembly.config import RobotConfig, changed
from lodestar.assembly.range_turns import LidarTurn
from lodestar.assembly.robot import HeadlessRobot
from lodestar.geometry.camera import PinholeCamera
from lodestar.geometry.poses import planar_pose
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.memory.last_seen import RememberedPlaces
from lodestar.memory.records import map_name_of
from lodestar.models.phrases import PhraseBook
from lodestar.perception.frames import RgbdFrame
from lodestar_eval.live.parity import topics
from lodestar_eval.live.parity.decisions import ComparedGoal, DecisionReplay
from lodestar_eval.live.parity.recording import LiveRecording
from lodestar_ros.conversions import BadMessage, stamp_from_msg
from lodestar_ros.conversions_memory import last_seen_from_msg
from lodestar_ros.conversions_sensors import (
    camera_from_msg,
    cloud_from_msg,
    depth_from_msg,
    image_from_msg,
    rgb_from_msg,
)
from lodestar_ros.frame_tree import TransformUnavailable
from lodestar_ros.labels import parse_table
from lodestar_ros.sync import StampPairer

_POSE_PERIOD = 0.1  # s of the run's clock between two poses
_FASTEST_CLIMB = 1.0  # m/s, greatest plausible rate of the robot's height
_FED = (
    topics.CLOCK, topics.POINTS, topics.INFO, topics.DEPTH, topics.COLOR, topics.LABELS, topics.LABEL_TABLE,
    topics.GRID, topics.ENTITIES, topics.DIRECTIVE, topics.QUESTION, topics.DECISION,
    topics.LAST_SEEN,
)  # fmt: skip


@dataclass
class ReplayedRun:
    """Result of a replay. grid: at the newest live grid's stamp. dropped: unused messages by reason."""

    robot: HeadlessRobot
    grid: OccupancyGrid2D
    goals: list[ComparedGoal] = field(default_factory=list)
    dropped: Counter[str] = field(default_factory=Counter)


class RecordingPlayer:
    """Plays one recording to one headless robot.

    LiDAR scans wait until the live `mapping` node has published a grid that contains them; then the headless grid is
    published too. Live nodes lag behind their sensors, and a decision depends on the data processed so far.
    """

    def __init__(self, recording: LiveRecording, config: RobotConfig, phrases: PhraseBook) -> None:
        # the grid is published with the live one, not periodically
        config = changed(config, mapping__grid_period=0.0)
        self._recording = recording
        self._robot = HeadlessRobot(config, phrases)
        self._decisions = DecisionReplay(recording, self._robot)
        self._detector = parts.ground_truth_detector(config.perception)
        self._pairer = StampPairer(("depth", "labels", "table", "color"), self._on_moment)
        self._camera: PinholeCamera | None = None
        self._run = ReplayedRun(self._robot, self._robot.map.plan.grid)
        self._turns: deque[tuple[float, Any]] = deque()  # scans that no live grid contains yet
        self._height: tuple[float, float] | None = None  # stamp, height in metres
        self._now = self._next_pose = -math.inf
        self._begun = False
        self._remembered: RememberedPlaces | None = None
        self._robot.panel.use_memory(self)

    def remembered(self) -> RememberedPlaces | None:
        """Return the live memory's newest published places, under the headless map's name; None before."""
        return self._remembered

    def play(self) -> ReplayedRun:
        """Replay all messages and compare every live decision."""
        handlers = {
            topics.CLOCK: self._on_clock,
            topics.POINTS: lambda message: self._turns.append(
                (stamp_from_msg(message.header.stamp), message)
            ),
            topics.GRID: self._on_grid,
            topics.ENTITIES: self._decisions.on_live_scene,
            topics.QUESTION: self._decisions.on_question,
            topics.DECISION: self._decisions.on_decision,
            topics.LAST_SEEN: self._on_last_seen,
            topics.INFO: self._on_info,
            topics.DIRECTIVE: self._on_directive,
            topics.DEPTH: lambda message: self._add("depth", message),
            topics.COLOR: lambda message: self._add("color", message),
            topics.LABELS: lambda message: self._add("labels", message),
            topics.LABEL_TABLE: self._on_table,
        }
        try:
            for topic, message in self._recording.messages(*_FED):
                self._guarded(handlers[topic], message)
        finally:
            self._robot.close()
        self._decisions.end()
        self._run.goals = self._decisions.goals
        for name, count in self._pairer.unmatched.items():
            self._run.dropped[f"{name} without its moment"] += count
        return self._run

    def _guarded(self, handler: Callable[[Any], None], message: Any) -> None:
        """Handle a message; count it as dropped if it cannot be used."""
        try:
            handler(message)
        except TransformUnavailable:
            self._run.dropped["no transform"] += 1
        except BadMessage:
            self._run.dropped["malformed"] += 1

    def _on_last_seen(self, message: Any) -> None:
        scene = self._robot.map.mirror
        here = map_name_of(scene.map_id, scene.session_id)
        self._remembered = replace(last_seen_from_msg(message), map=here)

    # --- sensors ------------------------------------------------------------------------------------------

    def _poses(self, frame: str, stamp: float) -> tuple[np.ndarray, np.ndarray]:
        """Return (odom <- sensor, map <- odom). Raises TransformUnavailable."""
        buffer = self._recording.transforms
        return buffer.lookup("odom", frame, stamp), buffer.lookup("map", "odom", stamp)

    def _odom_from_base(self, stamp: float) -> np.ndarray:
        return self._recording.transforms.lookup("odom", "base_link", stamp)

    def _climbs(self, stamp: float) -> bool:
        """Return whether the robot's height has jumped since the last message; such messages are dropped."""
        height = float(self._odom_from_base(stamp)[2, 3])
        before = self._height
        if before is not None and abs(height - before[1]) > _FASTEST_CLIMB * max(stamp - before[0], 0.2):
            self._run.dropped["height jumped"] += 1
            return True
        self._height = (stamp, height)
        return False

    def _on_grid(self, message: Any) -> None:
        """Advance the headless grid to the stamp of a live grid."""
        stamp = stamp_from_msg(message.header.stamp)
        while self._turns and self._turns[0][0] <= stamp + 1e-6:
            self._guarded(self._take_turn, self._turns.popleft()[1])
        self._run.grid = self._robot.map.plan.grid
        self._robot.tick(self._now)  # gives the grid to the experts
        self._decisions.on_live_grid(stamp)

    def _take_turn(self, message: Any) -> None:
        stamp = stamp_from_msg(message.header.stamp)
        odom_from_sensor, map_from_odom = self._poses(message.header.frame_id, stamp)
        if self._climbs(stamp) or not self._robot.map.wants_turn(stamp, map_from_odom @ odom_from_sensor):
            return
        points, base = cloud_from_msg(message), self._odom_from_base(stamp)
        self._robot.map.take_turn(LidarTurn(stamp, points, odom_from_sensor, map_from_odom, base))

    def _on_info(self, message: Any) -> None:
        self._camera = camera_from_msg(message)

    def _add(self, name: str, message: Any) -> None:
        self._pairer.add(name, stamp_from_msg(message.header.stamp), message)

    def _on_table(self, message: Any) -> None:
        stamp, table = parse_table(message.data)
        self._pairer.add("table", stamp, table)

    def _on_moment(self, stamp: float, found: dict[str, Any]) -> None:
        if self._camera is None:
            self._run.dropped["no camera info"] += 1
            return
        odom_from_camera, map_from_odom = self._poses(found["depth"].header.frame_id, stamp)
        if self._climbs(stamp):
            return
        depth, rgb = depth_from_msg(found["depth"]), rgb_from_msg(found["color"])
        frame = RgbdFrame(stamp, self._camera, depth, odom_from_camera, map_from_odom, rgb)
        segmented = self._detector.segment(stamp, image_from_msg(found["labels"]), found["table"])
        self._robot.take_view(frame, segmented, self._odom_from_base(stamp))
        self._decisions.on_view()

    # --- the live robot -------------------------------------------------------------------------------------

    def _on_directive(self, message: Any) -> None:
        if not self._begun and message.text and self._recording.directive is not None:
            self._begun = True
            self._decisions.begin(self._recording.directive, self._now)

    def _on_clock(self, message: Any) -> None:
        self._now = stamp_from_msg(message.clock)
        if self._now < self._next_pose:
            return
        self._next_pose = max(self._next_pose, self._now - _POSE_PERIOD) + _POSE_PERIOD
        pose = planar_pose(self._recording.transforms.lookup("map", "base_link", self._now))
        self._decisions.on_pose(pose, self._now)

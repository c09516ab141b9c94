"""Feeds the sensor messages of a recorded run to the headless robot and lets it decide along."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from lodestar.agent.commands import (
    CancelGoal,
    Command,
    EmbedPhrases,
    NavigationEvent,
    RecordDecision,
    RequestProposals,
    SendGoal,
)
from lodestar.assembly import parts
from lodestar.assembly.config import RobotConfig
from lodestar.assembly.robot import HeadlessRobot
from lodestar.geometry.camera import PinholeCamera
from lodestar.geometry.poses import yaw_of
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.grid.paths import path_lengths
from lodestar.models.phrases import PhraseBook
from lodestar.perception.frames import RgbdFrame
from lodestar.selection.decision_log import Decision, Outcome
from lodestar_eval.live.parity import topics
from lodestar_eval.live.parity.agreement import goals_equal
from lodestar_eval.live.parity.navigation import NavigationReplay, live_goals
from lodestar_eval.live.parity.policy import FollowingPolicy
from lodestar_eval.live.parity.recording import LiveRecording
from lodestar_ros.conversions import (
    BadMessage,
    camera_from_msg,
    cloud_from_msg,
    depth_from_msg,
    image_from_msg,
    rgb_from_msg,
    stamp_from_msg,
)
from lodestar_ros.frame_tree import TransformUnavailable
from lodestar_ros.labels import parse_table
from lodestar_ros.sync import StampPairer

_TICK = 0.1  # s of the run's clock between two ticks of the loop
_TIME_LIMIT = 3600.0  # s: the recording ends the directive
_FASTEST_CLIMB = 1.0  # m/s: a robot whose height changes faster was not there
_LENGTH_PERIOD = 0.5  # s between two measurements of the way that is left
_FED = (
    topics.CLOCK, topics.POINTS, topics.INFO, topics.DEPTH, topics.COLOR, topics.LABELS, topics.LABEL_TABLE,
    topics.DIRECTIVE,
)  # fmt: skip


@dataclass(frozen=True)
class ComparedGoal:
    """One live decision and what the headless robot would have done. headless: None where it decided nothing."""

    live: Decision
    goal: np.ndarray
    headless: np.ndarray | None
    expert: str = ""

    @property
    def equal(self) -> bool:
        """Whether both would have gone to the same place, looking the same way."""
        return self.headless is not None and goals_equal(self.goal, self.headless)


@dataclass
class ReplayedRun:
    """What came of it. grid: of the moment nearest to the live one. dropped: messages not used, by reason."""

    robot: HeadlessRobot
    grid: OccupancyGrid2D
    goals: list[ComparedGoal] = field(default_factory=list)
    dropped: Counter[str] = field(default_factory=Counter)


class RecordingPlayer:
    """Plays one recording to one headless robot."""

    def __init__(self, recording: LiveRecording, config: RobotConfig, phrases: PhraseBook) -> None:
        self._recording, self._phrases = recording, phrases
        self._policy = FollowingPolicy(parts.policy(config.goal_selector), recording.decisions)
        self._robot = HeadlessRobot(config, phrases, self._policy)
        self._detector = parts.ground_truth_detector(config.perception)
        self._navigator = NavigationReplay(live_goals(self._statuses()))
        self._pairer = StampPairer(("depth", "labels", "table", "color"), self._on_moment)
        self._camera: PinholeCamera | None = None
        self._run = ReplayedRun(self._robot, self._robot.map.plan.grid)
        self._goal: np.ndarray | None = None
        self._height: tuple[float, float] | None = None  # stamp, metres
        self._now = self._next_tick = self._next_length = -math.inf
        self._remaining = math.nan
        self._begun = False

    def _statuses(self) -> list[tuple[float, Any]]:
        """Status messages of the navigator with the newest time of the run's clock before each."""
        now, found = 0.0, []
        for topic, message in self._recording.messages(topics.CLOCK, topics.NAVIGATION):
            if topic == topics.CLOCK:
                now = stamp_from_msg(message.clock)
            else:
                found.append((now, message))
        return found

    def play(self) -> ReplayedRun:
        """Everything was fed; live decisions that met no headless one are compared with nothing."""
        handlers = {
            topics.CLOCK: self._on_clock,
            topics.POINTS: self._on_points,
            topics.INFO: self._on_info,
            topics.DIRECTIVE: self._on_directive,
            topics.DEPTH: lambda message: self._add("depth", message),
            topics.COLOR: lambda message: self._add("color", message),
            topics.LABELS: lambda message: self._add("labels", message),
            topics.LABEL_TABLE: self._on_table,
        }
        try:
            for topic, message in self._recording.messages(*_FED):
                try:
                    handlers[topic](message)
                except TransformUnavailable:
                    self._run.dropped["no transform"] += 1
                except BadMessage:
                    self._run.dropped["malformed"] += 1
        finally:
            self._robot.close()
        for decision in self._policy.unmatched:
            goal = _goal_of(decision, decision.chosen)
            if goal is not None:
                self._run.goals.append(ComparedGoal(decision, goal, None))
        self._run.goals.sort(key=lambda compared: compared.live.stamp)
        for name, count in self._pairer.unmatched.items():
            self._run.dropped[f"{name} without its moment"] += count
        return self._run

    # --- sensors ------------------------------------------------------------------------------------------

    def _poses(self, frame: str, stamp: float) -> tuple[np.ndarray, np.ndarray]:
        """(odom <- sensor, map <- odom). Raises TransformUnavailable."""
        buffer = self._recording.transforms
        return buffer.lookup("odom", frame, stamp), buffer.lookup("map", "odom", stamp)

    def _climbs(self, stamp: float) -> bool:
        """Whether the robot's height has jumped since the last message; such a message is dropped and counted."""
        height = float(self._recording.transforms.lookup("odom", "base_link", stamp)[2, 3])
        before = self._height
        if before is not None and abs(height - before[1]) > _FASTEST_CLIMB * max(stamp - before[0], 0.2):
            self._run.dropped["height jumped"] += 1
            return True
        self._height = (stamp, height)
        return False

    def _on_points(self, message: Any) -> None:
        stamp = stamp_from_msg(message.header.stamp)
        odom_from_sensor, map_from_odom = self._poses(message.header.frame_id, stamp)
        if self._climbs(stamp) or not self._robot.map.wants_turn(stamp, map_from_odom @ odom_from_sensor):
            return
        self._robot.map.take_points(stamp, cloud_from_msg(message), odom_from_sensor, map_from_odom)
        live, grid = self._recording.grid, self._robot.map.plan.grid
        if live is not None and abs(grid.stamp - live.stamp) <= abs(self._run.grid.stamp - live.stamp):
            self._run.grid = grid

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
        self._robot.take_view(frame, segmented)

    # --- decisions ----------------------------------------------------------------------------------------

    def _on_directive(self, message: Any) -> None:
        if not self._begun and message.text and self._recording.directive is not None:
            self._begun = True
            self._robot.start(self._recording.directive, self._now, _TIME_LIMIT)

    def _on_clock(self, message: Any) -> None:
        self._now = stamp_from_msg(message.clock)
        if self._now < self._next_tick:
            return
        self._next_tick = max(self._next_tick, self._now - _TICK) + _TICK
        self._policy.now = self._now
        map_from_base = self._recording.transforms.lookup("map", "base_link", self._now)
        pose = np.array([map_from_base[0, 3], map_from_base[1, 3], yaw_of(map_from_base)])
        self._robot.take_pose(pose, self._now)
        self._tell(self._navigator.update(self._now, self._way_left(pose)))
        for command in self._robot.tick(self._now):
            self._carry_out(command)

    def _tell(self, event: NavigationEvent | None) -> None:
        if event is not None:
            self._robot.loop.on_navigation(event)

    def _way_left(self, pose: np.ndarray) -> float:
        """Metres of path to the goal, as a navigator tells."""
        if self._goal is None or self._now < self._next_length:
            return self._remaining
        self._next_length = self._now + _LENGTH_PERIOD
        grid = self._robot.grid
        cell = grid.cells_of(self._goal[:2])
        if grid.contains(cell):
            self._remaining = float(path_lengths(grid, pose[:2])[tuple(cell)])
        return self._remaining

    def _carry_out(self, command: Command) -> None:
        if isinstance(command, RequestProposals):
            for name in command.experts:
                self._robot.loop.on_answer(self._robot.propose(name, command.request))
        elif isinstance(command, EmbedPhrases):
            self._phrases.vectors(command.phrases)
        elif isinstance(command, SendGoal):
            followed = self._policy.followed
            self._goal, self._next_length = command.goal, -math.inf
            self._tell(self._navigator.send(command.epoch, self._now, followed.stamp if followed else None))
        elif isinstance(command, CancelGoal):
            self._tell(self._navigator.cancel())
        elif isinstance(command, RecordDecision) and command.decision.outcome is Outcome.PENDING:
            self._compare(command.decision)

    def _compare(self, decision: Decision) -> None:
        """Keep what the policy itself would have done beside the live decision that was followed."""
        live = self._policy.followed
        if live is None:
            self._run.dropped["decision without a live one"] += 1
            return
        goal = _goal_of(live, live.chosen)
        if goal is not None:
            own = self._policy.own
            self._run.goals.append(ComparedGoal(live, goal, _goal_of(decision, own), own))


def _goal_of(decision: Decision, expert: str) -> np.ndarray | None:
    """(3,) the goal that an arm of a decision proposed."""
    for arm in decision.arms:
        if arm.expert == expert and arm.proposal is not None:
            return np.asarray(arm.proposal.goal, np.float64)
    return None

"""The robot's pose, motion, battery and state as one part of the page, updated ten times a second."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

from nav_msgs.msg import Odometry, Path
from sensor_msgs.msg import BatteryState

from lodestar.geometry.poses import yaw_of
from lodestar_console import protocol
from lodestar_console.board.board import Board
from lodestar_console.intake.convert import number
from lodestar_interfaces.msg import Heartbeat, Holds
from lodestar_ros import qos
from lodestar_ros.frame_tree import TransformUnavailable
from lodestar_ros.motion.authority import UNTOLD, Kind
from lodestar_ros.motion.holds import standing_from_msg
from lodestar_ros.node import FrameNames, LodestarNode

PERIOD = 0.1  # s between two updates
GATE = "motion_gate"
STANDS_BELOW = (0.02, 0.03)  # m/s, rad/s: limits of standing still
STANDS_AFTER = 0.2  # s below both until the robot counts as standing
SILENT = 1.0  # s without odometry after which the motion is unknown
STEP = 0.1  # m between two points of the driven path
MOST_POINTS = 2000  # points of the driven path; beyond it every second is dropped
MOST_PLANNED = 200
NOTED = 0.5  # s (stamps) between two stored poses


class RobotState:
    """Show the page's parts ``robot`` and ``path``.

    Subscribes: TF, ``odom``, ``heartbeat``, ``holds``, ``battery``, ``plan``.

    silent(name): s since a node's newest status. STOP remains shown as held if the motion gate disappears.
    Standing still and ages are measured in real time, as a simulated clock may be paused.
    """

    def __init__(
        self, node: LodestarNode, board: Board, frames: FrameNames, silent: Callable[[str], float]
    ) -> None:
        self._node, self._board, self._frames, self._silent = node, board, frames, silent
        self._buffer = node.transforms(newest=True).buffer
        body = node.shared.body
        half, side = body.length / 2.0, body.width / 2.0
        self._footprint = [(half, side), (half, -side), (-half, -side), (-half, side)]
        self._motion = (math.nan, math.nan)
        self._moved = self._heard_motion = self._beat_at = -math.inf
        self._beat: Heartbeat | None = None
        self.standing = UNTOLD  # holds and pauses, by the motion gate's newest message
        self._battery: protocol.Battery | None = None
        self._driven: list[tuple[float, float]] = []
        self._planned: list[tuple[float, float]] = []
        self._noted = -math.inf  # stamp of the last stored pose
        node.listen(Odometry, "odom", self._on_odometry, qos.RELIABLE)
        node.listen(Heartbeat, "heartbeat", self._on_heartbeat, qos.COMMAND)
        node.listen(Holds, "holds", self._on_holds, qos.LATCHED)
        node.listen(BatteryState, "battery", self._on_battery, qos.SENSOR)
        node.listen(Path, "plan", self._on_plan, qos.EVENT)
        node.steady_timer(PERIOD, self.show)
        node.on_clock_restart(self._begin_anew)

    @property
    def holds(self) -> list[protocol.Hold]:
        """Return the holds and pauses in the motion gate's newest message; none before its first message."""
        return [
            protocol.Hold(
                number=one.number,
                kind="hold" if one.kind is Kind.HOLD else "pause",
                who=one.who,
                why=one.why,
                since=round(one.since, 1),
            )
            for one in (self.standing.records if self.standing.is_told else ())
        ]

    @property
    def pose(self) -> tuple[float, float, float] | None:
        """Return the robot's x, y, yaw in map, None if unknown."""
        try:
            matrix = self._buffer.lookup(self._frames.map, self._frames.base)
        except TransformUnavailable:
            return None
        return float(matrix[0, 3]), float(matrix[1, 3]), yaw_of(matrix)

    def _begin_anew(self) -> None:
        """Clear driven path and stored poses, after a restart of the clock."""
        self._driven.clear()
        self._noted = -math.inf
        for one in (self._board.poses, self._board.shots):
            one.clear()

    def _on_odometry(self, message: Odometry) -> None:
        twist = message.twist.twist
        self._motion = math.hypot(twist.linear.x, twist.linear.y), abs(twist.angular.z)
        now = self._heard_motion = time.monotonic()
        if not (self._motion[0] < STANDS_BELOW[0] and self._motion[1] < STANDS_BELOW[1]):
            self._moved = now

    def _on_heartbeat(self, message: Heartbeat) -> None:
        self._beat, self._beat_at = message, time.monotonic()

    def _on_holds(self, message: Holds) -> None:
        self.standing = standing_from_msg(message)
        self.show()

    def _on_battery(self, message: BatteryState) -> None:
        share = number(message.percentage)
        self._battery = protocol.Battery(
            share=None if share is None else round(share, 2), volts=number(round(message.voltage, 1))
        )

    def _on_plan(self, message: Path) -> None:
        step = max(1, -(-len(message.poses) // MOST_PLANNED))
        poses = [stamped.pose.position for stamped in message.poses[::step]]
        self._planned = [(round(p.x, 2), round(p.y, 2)) for p in poses]

    def stands(self, since: float = -math.inf) -> bool:
        """Return whether odometry received after `since` (s, monotonic) shows the robot standing still."""
        now, heard = time.monotonic(), self._heard_motion
        return heard > since and now - heard < SILENT and now - self._moved > STANDS_AFTER

    def show(self) -> None:
        """Update the page's parts ``robot`` and ``path``."""
        now = time.monotonic()
        beat, pose = self._beat, self.pose
        heard = now - self._heard_motion < SILENT
        holds = self.holds
        held = any(one.kind == "hold" for one in holds) or bool(beat is not None and beat.held)
        state = beat.state if beat is not None else ""
        moving = bool(beat is not None and beat.motion_allowed)
        gate_age = self._silent(GATE)
        if pose is not None:
            self._drive(pose)
            self._note(pose)
        self._board.set(
            "path", protocol.Path(driven=self._driven[:], planned=self._planned if moving else [])
        )
        self._board.set(
            "robot",
            protocol.Robot(
                pose=None if pose is None else (round(pose[0], 3), round(pose[1], 3), 0.0, round(pose[2], 3)),
                speed=number(round(self._motion[0], 2)) if heard else None,
                turn_rate=number(round(self._motion[1], 2)) if heard else None,
                battery=self._battery,
                state="HELD" if held else "PAUSED" if holds else state,
                held=held,
                holds=holds,
                motion_allowed=moving,
                epoch=int(beat.epoch) if beat is not None else 0,
                stands=self.stands(),
                footprint=self._footprint,
                stamp=round(self._node.now, 1),
                heartbeat_age=round(now - self._beat_at) if beat is not None else None,
                gate_age=round(gate_age) if math.isfinite(gate_age) else None,
            ),
        )

    def _note(self, pose: tuple[float, float, float]) -> None:
        if self._node.now - self._noted >= NOTED:
            self._noted = self._node.now
            x, y, yaw = pose
            self._board.poses.put(self._noted, (round(x, 2), round(y, 2), round(yaw, 2)))

    def _drive(self, pose: Any) -> None:
        point = round(pose[0], 2), round(pose[1], 2)
        if not self._driven or math.dist(point, self._driven[-1]) >= STEP:
            self._driven.append(point)
        if len(self._driven) > MOST_POINTS:
            self._driven[:] = self._driven[::2]

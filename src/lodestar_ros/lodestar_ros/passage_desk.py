"""Stairs and lifts in the goal selector: walks the robot over them, and receives a person's statements about floors."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
from geometry_msgs.msg import Twist, TwistStamped
from std_msgs.msg import String
from std_srvs.srv import SetBool

from lodestar.agent.errands.commands import PassageFailed, SkillEnd, TakePassage
from lodestar.agent.loop.machine import DecisionLoop
from lodestar.assembly.passage_driver import PassageDriver
from lodestar.floors.config import FloorsConfig
from lodestar.floors.records import PassageKind
from lodestar.floors.stair_walk import STAIR_WALK_FRESH, approach_of
from lodestar.geometry.poses import yaw_of
from lodestar.language.levels import read_floor_news
from lodestar_ros import qos
from lodestar_ros.conversions import velocity_to_msg
from lodestar_ros.frame_tree import TransformUnavailable
from lodestar_ros.loop_thread import LoopThread
from lodestar_ros.node import FrameNames, LodestarNode
from lodestar_ros.parameters import declare

_GATE = "motion_gate"  # name of the node that passes commands to the base
_PERIOD = 0.05  # s between two commands; the motion gate's `command_timeout` is 0.2 s
_GAIT_PATIENCE = 2.0  # s in which the base must confirm its gait; chosen


class PassageDesk:
    """Executes the decision loop's `TakePassage` commands (stairs, lifts), and reports facts about floors to
    ``mapping``.

    Publishes: ``cmd_vel`` (for the motion gate, while a passage is taken), ``~/passage`` (JSON, for `FloorDesk`).
    Subscribes: ``~/told``: a person's statement, such as "you are on the second floor", "the door is open", "there is a
    lift in front of you". Calls ``go2_base/climb``, the gait for stairs, if it is available. Without
    `shared.floors.stairs` and `.lifts` it moves nothing. `cmd_vel_stamped`: the same value as the motion gate's.
    """

    def __init__(
        self, node: LodestarNode, loop: DecisionLoop, thread: LoopThread, frames: FrameNames
    ) -> None:
        self._node, self._loop, self._thread, self._frames = node, loop, thread, frames
        self._config: FloorsConfig = node.shared.floors
        self._driver = PassageDriver()
        self._buffer = node.transforms(newest=True).buffer
        # not latched: old news would be wrong
        self._news = node.create_publisher(String, "~/passage", qos.EVENT)
        node.listen(String, "~/told", self._on_told, qos.EVENT)
        self._stamped = stamped = declare(node, "cmd_vel_stamped", bool, False)
        # the command that waits for the gait, its start time, the service's answer
        self._waits: tuple[TakePassage, float, Any] | None = None
        if self._config.stairs or self._config.lifts:
            self._out = node.create_publisher(TwistStamped if stamped else Twist, "cmd_vel", qos.COMMAND)
            node.on_close(self.stop)
            self._gait = node.create_client(SetBool, "go2_base/climb")
            node.steady_timer(_PERIOD, self._step)

    def carry_out(self, command: TakePassage | PassageFailed) -> None:
        """Start taking a passage, or report to ``mapping`` that a passage could not be taken."""
        if isinstance(command, PassageFailed):
            self._say(failed=command.passage, why=command.why)
            return
        stairs = command.passage.kind is PassageKind.STAIRS
        if not self._config.permits(command.passage):
            self._end(command.ticket, SkillEnd(False, "the operator has not allowed it"))
            return
        self.stop()  # one passage at a time
        unheard = self._unheard()
        if unheard:
            self._end(command.ticket, SkillEnd(False, unheard))
            return
        self._say(cross=command.passage.id)
        if stairs and self._gait.service_is_ready():
            answer = self._gait.call_async(SetBool.Request(data=True))
            self._waits = command, self._node.now, answer
        else:
            self._driver.take(command)

    def cancel(self, ticket: int) -> None:
        """Cancel the passage with this ticket; the robot stands where it is."""
        waits = self._waits is not None and self._waits[0].ticket == ticket
        if waits or self._driver.cancel(ticket):
            self._over()

    def stop(self) -> None:
        """Cancel the passage under way, if any; the robot stands."""
        if self._waits is not None or self._driver.ticket:
            self._driver.cancel(self._driver.ticket)
            self._over()

    def _unheard(self) -> str:
        """Return why the motion gate would not receive a command; "" if it would, or is not running yet."""
        hearers = self._node.get_subscriptions_info_by_topic("cmd_vel")
        gates = [
            info for info in hearers if info.node_name == _GATE
        ]  # other nodes may subscribe too, such as a recorder
        heard = {info.topic_type for info in gates or hearers}
        own = f"geometry_msgs/msg/{'TwistStamped' if self._stamped else 'Twist'}"
        if not heard or own in heard:
            return ""
        return f"cmd_vel is heard as {', '.join(sorted(heard))}: set cmd_vel_stamped of goal_selector as of motion_gate"

    def _send(self, velocity: np.ndarray) -> None:
        self._out.publish(velocity_to_msg(velocity, self._node.now, self._stamped, self._frames.base))

    def _over(self, done: bool = False) -> None:
        """Send zero velocity, reset the gait and report the end. After success, `mapping` clears the passage
        by itself.
        """
        self._waits = None
        self._send(np.zeros(3))
        if not done:
            self._say(cross=0)
        if self._gait.service_is_ready():
            self._gait.call_async(SetBool.Request(data=False))

    def _step(self) -> None:
        """Send the next velocity of the current passage; zeros while the pose is too old."""
        now = self._node.now
        if self._waits is not None:
            self._await_gait(now)
            return
        if not self._driver.ticket:
            return
        pose, stamp = self._pose(now)
        step = self._driver.update(now, pose, stamp)
        if step is None:
            return
        self._send(step.command)
        asks = self._driver.asks
        if asks:
            self._thread.post(lambda: self._loop.on_asks(asks), slot="asks")
        if step.level is not None:
            self._say(arrived=step.level)
        if step.end is not None:
            self._over(step.end.done)
            self._end(step.ticket, step.end)

    def _await_gait(self, now: float) -> None:
        assert self._waits is not None
        command, since, answer = self._waits
        if answer.done() and answer.exception() is None and answer.result().success:
            self._waits = None
            self._driver.take(command)
        elif answer.done() or now - since > _GAIT_PATIENCE:
            said = (
                answer.result().message
                if answer.done() and answer.exception() is None
                else "it does not answer"
            )
            self._over()
            self._end(
                command.ticket, SkillEnd(False, f"the base has not taken up its gait for stairs: {said}")
            )

    def _pose(self, now: float) -> tuple[np.ndarray, float]:
        """Return the base's pose (4, 4) in map and its stamp; the stamp is -inf if no fresh pose is known."""
        try:
            frames, fresh = self._frames, STAIR_WALK_FRESH
            return self._buffer.lookup_fresh(frames.map, frames.base, now, fresh), now
        except TransformUnavailable:
            return np.eye(4), -math.inf

    def _end(self, ticket: int, end: SkillEnd) -> None:
        self._thread.post(lambda: self._loop.on_skill(ticket, end))

    def _on_told(self, message: String) -> None:
        told = read_floor_news(message.data)
        if self._driver.rides and (told.door is not None or told.level is not None):
            self._driver.hear(told.door, told.level)  # `mapping` still assumes the floor that the robot left
        elif told.is_lift:
            pose, stamp = self._pose(self._node.now)
            if math.isfinite(stamp):  # the robot stands before the door, as in `approach_of`
                before = np.array([pose[0, 3], pose[1, 3], yaw_of(pose)])
                ahead = 2.0 * before - approach_of(before)
                self._say(lift=[*ahead[:2].tolist(), float(before[2])])
        elif told.level is not None:
            self._say(level=told.level)
        else:
            self._node.get_logger().warning(f"~/told says nothing of floors: {message.data[:80]!r}")

    def _say(self, **news: Any) -> None:
        self._news.publish(String(data=json.dumps(news)))

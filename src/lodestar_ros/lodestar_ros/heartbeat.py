"""The goal selector's heartbeat, without which the motion gate stops the robot."""

from __future__ import annotations

import uuid

from lodestar_interfaces import msg
from lodestar_ros import qos
from lodestar_ros.conversions import header
from lodestar_ros.loop_thread import LoopThread
from lodestar_ros.motion.gate import ENDED
from lodestar_ros.node import LodestarNode


class HeartbeatPublisher:
    """Publishes ``~/heartbeat`` with the state of the loop's thread. frame: of the header."""

    def __init__(self, node: LodestarNode, thread: LoopThread, frame: str) -> None:
        self._node, self._thread, self._frame = node, thread, frame
        self._start_id = uuid.uuid4().hex[:12]  # a new id shows clients that the process was restarted
        self._publisher = node.create_publisher(msg.Heartbeat, "~/heartbeat", qos.COMMAND)

    def end(self) -> None:
        """Publish the last heartbeat, at a proper end of the process; without it the gate holds at the next start."""
        stamp = header(self._node.now, self._frame)
        self._publisher.publish(
            msg.Heartbeat(header=stamp, state=ENDED, start_id=self._start_id, held=self._thread.held)
        )

    def beat(self) -> None:
        """Publish one heartbeat; call this regularly, and at once when motion is no longer allowed."""
        thread = self._thread
        self._publisher.publish(
            msg.Heartbeat(
                header=header(self._node.now, self._frame),
                motion_allowed=thread.motion_allowed,
                goal_under_way=thread.status.goal_under_way,
                held=thread.held,
                follows=max(thread.follows, 0),
                state=thread.state.name,
                epoch=thread.status.epoch,
                start_id=self._start_id,
            )
        )

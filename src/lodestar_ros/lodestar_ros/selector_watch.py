"""Supervision of the goal selector that follows a client's directive, by its feedback and heartbeats."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from rclpy.node import Node

from lodestar_interfaces.msg import Heartbeat
from lodestar_ros import qos

SILENCE_TIMEOUT = 4.0  # s of wall time; feedback comes every 0.5 s, heartbeats ten times a second


class SelectorWatch:
    """Supervises one directive at a time. tell: called with each new line of its feedback.

    Subscribes: ``goal_selector/heartbeat``. came_back_held: a restarted goal selector holds the robot.
    """

    def __init__(self, node: Node, tell: Callable[[str], None]) -> None:
        self.came_back_held = False
        self._tell = tell
        self._start_id = ""  # start id of the first goal selector
        node.create_subscription(Heartbeat, "goal_selector/heartbeat", self._on_heartbeat, qos.COMMAND)
        self.begin()

    @property
    def silent(self) -> float:
        """Return the seconds of wall time since the last message about the directive."""
        return time.monotonic() - self._heard

    def begin(self) -> None:
        """Start supervising a directive, at the time of sending it."""
        self._heard, self._followed, self._text, self._unseen = time.monotonic(), False, "", ""

    def accepted(self) -> None:
        """Restart the silence timer, because the directive was accepted."""
        self._heard = time.monotonic()

    def on_feedback(self, message: Any) -> None:
        """Reset the silence timer and report changed texts of the feedback."""
        self._heard, self._followed = time.monotonic(), True
        if message.feedback.unseen != self._unseen:
            self._unseen = message.feedback.unseen
            self._tell(self._unseen or "Everything that it asks for can be seen now.")
        if message.feedback.text != self._text:
            self._text = message.feedback.text
            self._tell(self._text)

    def _on_heartbeat(self, beat: Heartbeat) -> None:
        """Reset the silence timer by heartbeats until feedback comes: a restarted selector sends them without
        the directive.
        """
        self._start_id = self._start_id or beat.start_id
        self.came_back_held = beat.held and beat.start_id != self._start_id
        if not self._followed:
            self._heard = time.monotonic()

"""Notices of restarted nodes in a directive's feedback."""

from __future__ import annotations

import time
from dataclasses import replace

from lodestar.agent.errands.commands import Feedback
from lodestar_interfaces.msg import NodeRestart
from lodestar_ros import qos
from lodestar_ros.node import LodestarNode

SHOWN = 15.0  # s of real time for which feedback mentions a restart


class RestartNotices:
    """Collects the nodes' restarts. Subscribes: ``restarts``."""

    def __init__(self, node: LodestarNode) -> None:
        self._heard: dict[str, tuple[float, str]] = {}
        node.listen(NodeRestart, "restarts", self._on_restart, qos.HISTORY)

    def _on_restart(self, message: NodeRestart) -> None:
        self._heard[message.node] = (time.monotonic(), message.text)

    def beside(self, feedback: Feedback) -> Feedback:
        """Return the feedback with recent restarts in front of its text."""
        now = time.monotonic()
        texts = [text for at, text in self._heard.values() if now - at < SHOWN]
        if not texts:
            return feedback
        return replace(feedback, text=" ".join([*(f"{text}." for text in texts), feedback.text]).strip())

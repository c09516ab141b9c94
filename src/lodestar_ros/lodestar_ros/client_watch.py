"""Watches whether a client that can have sent the directive is still in the graph.

ROS does not tell which client sent a goal. But every client of an action subscribes to its feedback, and the graph
identifies each subscription. The subscriptions at the start of a directive are taken for its clients; after the last
of them has gone, no client is left to cancel the directive or to receive its result.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from rclpy.node import Node


@dataclass(frozen=True)
class ClientConfig:
    """Treatment of a directive whose client is gone."""

    stop_without: bool = True  # False: the directive runs to its end; chosen: stop by default
    # seconds of real time without a client in the graph; chosen. A client that ends properly leaves the graph at once;
    # a killed one stays in it until DDS drops it (Fast DDS: lease of 20 s)
    grace: float = 2.0


class ClientWatch:
    """Watch the clients of one directive at a time."""

    def __init__(
        self,
        node: Node,
        action: str,
        config: ClientConfig = ClientConfig(),
        steady: Callable[[], float] = time.monotonic,
    ) -> None:
        self._node, self._config, self._steady = node, config, steady
        self._topic = f"{action}/_action/feedback"
        self._clients: frozenset[bytes] = frozenset()
        self._seen = 0.0  # time at which a client was last in the graph

    def begin(self) -> None:
        """Start watching a directive; the present clients are taken for its own."""
        self._clients, self._seen = self._present(), self._steady()

    def gone_for(self) -> float:
        """Return the seconds without any of the directive's clients if that ends the directive; else 0."""
        if not self._config.stop_without:
            return 0.0
        now, present = self._steady(), self._present()
        if not self._clients:  # the client was not in the graph yet when the directive began
            self._clients = present
        if self._clients & present:
            self._seen = now
        silent = now - self._seen
        return silent if silent > self._config.grace else 0.0

    def _present(self) -> frozenset[bytes]:
        """Return the identities of the subscriptions to the feedback."""
        name = self._node.resolve_topic_name(self._topic)
        infos = self._node.get_subscriptions_info_by_topic(name)
        return frozenset(bytes(info.endpoint_gid) for info in infos)

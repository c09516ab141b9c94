"""Whether somebody who can have sent a directive is still there.

ROS does not say which client sent a goal. But every client of an action subscribes to its feedback, and the graph
names each subscription by an identity of its own. Those that are there when a directive begins are taken for its
clients; when the last of them has gone, nobody is left who could cancel it or hear how it ended.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from rclpy.node import Node


@dataclass(frozen=True)
class ClientConfig:
    """What happens to a directive whose client is gone."""

    stop_without: bool = True  # False: the directive goes on to its end
    # seconds of real time for which no client may be in the graph. A client that ends properly leaves the graph at
    # once; one that was killed stays in it until DDS gives it up (Fast DDS: its lease of 20 s)
    grace: float = 2.0


class ClientWatch:
    """Watches the clients of one directive at a time."""

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
        self._seen = 0.0  # when one of them was last in the graph

    def begin(self) -> None:
        """A directive begins: the clients that are there now are taken for its own."""
        self._clients, self._seen = self._present(), self._steady()

    def gone_for(self) -> float:
        """Seconds for which none of the directive's clients has been there, where that ends it; else 0."""
        if not self._config.stop_without:
            return 0.0
        now, present = self._steady(), self._present()
        if not self._clients:  # the graph had not caught up with the client when the directive began
            self._clients = present
        if self._clients & present:
            self._seen = now
        silent = now - self._seen
        return silent if silent > self._config.grace else 0.0

    def _present(self) -> frozenset[bytes]:
        """Identities of the subscriptions to the feedback."""
        name = self._node.resolve_topic_name(self._topic)
        infos = self._node.get_subscriptions_info_by_topic(name)
        return frozenset(bytes(info.endpoint_gid) for info in infos)

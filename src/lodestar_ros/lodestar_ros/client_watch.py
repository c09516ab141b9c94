"""Watches whether the owner of a directive is alive, or a client that can have sent it is still in the graph.

A goal may name its owner: a process that publishes on ``owners/NAME``, whose liveliness DDS watches. That is exact,
also where the process is killed. Without an owner it is guessed: ROS does not tell which client sent a goal. But every
client of an action subscribes to its feedback, and the graph identifies each subscription. The subscriptions at the
start of a directive are taken for its clients; after the last of them has gone, no client is left to cancel the
directive or to receive its result.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from rclpy.node import Node
from std_msgs.msg import Empty

from lodestar_ros import qos

try:
    from rclpy.event_handler import SubscriptionEventCallbacks
except ImportError:  # Humble
    from rclpy.qos_event import SubscriptionEventCallbacks


DISCOVERY = 5.0  # s in which DDS discovers an owner that lives, also on a busy machine


@dataclass(frozen=True)
class ClientConfig:
    """Treatment of a directive whose client is gone."""

    stop_without: bool = True  # False: the directive runs to its end; chosen: stop by default
    # seconds of real time without the owner or a client; chosen. A client that ends properly leaves the graph at once;
    # a killed one stays in it until DDS drops it (Fast DDS: lease of 20 s)
    grace: float = 2.0


class OwnedGoal:
    """The owner's side: while this publisher lives, goals that name it are owned. Created once per process."""

    def __init__(self, node: Node, name: str) -> None:
        self.name = name
        self._publisher = node.create_publisher(Empty, owner_topic(name), qos.OWNER)


def owner_topic(name: str) -> str:
    """Return the topic of an owner. Raises ValueError for a name that cannot be one."""
    if not re.fullmatch(r"[a-z][a-z0-9_]{0,60}", name):
        raise ValueError(
            f"owner is {name[:70]!r}; it is a small letter, then at most 60 small letters, digits and _"
        )
    return f"owners/{name}"


class OwnerWatch:
    """The liveliness of one owner, from now until `close`.

    DDS tells a subscription how the liveliness changes from its beginning on. Of an owner that another subscription of
    this process had watched before, it tells nothing while that owner lives: until the first word the graph counts.
    """

    def __init__(self, node: Node, name: str) -> None:
        self._node = node
        self._told: bool | None = None
        self.was_alive = False
        events = SubscriptionEventCallbacks(liveliness=self._on_liveliness)
        self._subscription = node.create_subscription(
            Empty, owner_topic(name), lambda _: None, qos.OWNER, event_callbacks=events
        )

    def _on_liveliness(self, info: Any) -> None:
        self._told = info.alive_count > 0

    def is_alive(self) -> bool:
        """Return whether the owner is there now."""
        told = self._told
        alive = self._node.count_publishers(self._subscription.topic_name) > 0 if told is None else told
        self.was_alive |= alive
        return alive

    def close(self) -> None:
        """Watch no longer."""
        self._node.destroy_subscription(self._subscription)


class ClientWatch:
    """Watch the owner, or the clients, of one directive at a time."""

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
        self._seen = 0.0  # time at which the owner or a client was last there
        self._owner: OwnerWatch | None = None

    def begin(self, owner: str = "") -> None:
        """Start watching a directive. owner: its name; without one the present clients are taken for its own."""
        if self._owner is not None:
            self._owner.close()
        self._owner = OwnerWatch(self._node, owner) if owner and self._config.stop_without else None
        self._clients, self._seen = self._present(), self._steady()

    def gone_for(self) -> float:
        """Return the seconds without the owner, or any of the clients, if that ends the directive; else 0."""
        if not self._config.stop_without:
            return 0.0
        now = self._steady()
        if self._owner.is_alive() if self._owner is not None else self._client_is_there():
            self._seen = now
        silent = now - self._seen
        undiscovered = self._owner is not None and not self._owner.was_alive
        grace = max(self._config.grace, DISCOVERY) if undiscovered else self._config.grace
        return silent if silent > grace else 0.0

    def _client_is_there(self) -> bool:
        present = self._present()
        if not self._clients:  # the client was not in the graph yet when the directive began
            self._clients = present
        return bool(self._clients & present)

    def _present(self) -> frozenset[bytes]:
        """Return the identities of the subscriptions to the feedback."""
        name = self._node.resolve_topic_name(self._topic)
        infos = self._node.get_subscriptions_info_by_topic(name)
        return frozenset(bytes(info.endpoint_gid) for info in infos)

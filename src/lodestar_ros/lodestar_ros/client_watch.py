"""Detection of the loss of a directive's owner, or of every client that can have sent the directive.

A goal may name its owner: a process that publishes on ``owners/NAME``, whose liveliness DDS watches. This is exact,
also if the process is killed. Without an owner it is guessed, because ROS does not reveal which client sent a goal.
But every client of an action subscribes to its feedback, and the graph identifies each subscription. The
subscriptions at the start of a directive are taken for its clients; after the last of them has gone, no client is
left to cancel the directive or to receive its result. Nodes with an owner do not count beside others, as their goals
name it.
"""

from __future__ import annotations

import re
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from rclpy.node import Node
from std_msgs.msg import Empty

from lodestar_ros import qos
from lodestar_ros.motion.rivals import is_bare, names_of
from lodestar_ros.qos import SubscriptionEventCallbacks

G = TypeVar("G", bound=Any)
DISCOVERY = 5.0  # s in which DDS discovers a live owner, also on a busy machine
FORGET = 60.0  # s after which an owner that has gone is no longer listened for
OWNERS = "owners/"  # topics by which owners show that they are alive


@dataclass(frozen=True)
class ClientConfig:
    """Treatment of a directive whose client is gone."""

    stop_without: bool = True  # False: the directive runs to its end; chosen: stop by default
    # seconds of real time without the owner or a client; chosen: with the lease of qos.OWNER at most 3 s. A client
    # without an owner that was killed stays in the graph until DDS drops it (Fast DDS: lease of 20 s)
    grace: float = 2.0


class OwnedGoal:
    """Shows by a publisher that an owner of goals is alive, and marks goals with its name.

    Create one per process. name: "" = a new name, which no other process has.
    """

    def __init__(self, node: Node, name: str = "") -> None:
        self.name = name or f"sender_{uuid.uuid4().hex}"
        self._publisher = node.create_publisher(Empty, owner_topic(self.name), qos.OWNER)

    def mark(self, goal: G) -> G:
        """Set the owner of a goal of `follow_directive` that names none; return the goal."""
        goal.owner = goal.owner or self.name
        return goal


def owner_topic(name: str) -> str:
    """Return the topic of an owner. Raises ValueError for an invalid name."""
    if not re.fullmatch(r"[a-z][a-z0-9_]{0,60}", name):
        raise ValueError(
            f"owner is {name[:70]!r}; it is a small letter, then at most 60 small letters, digits and _"
        )
    return f"{OWNERS}{name}"


class _Liveliness:
    """Liveliness of one owner. used: time of the last question or event.

    DDS reports only changes after the subscription's creation; before the first the graph is used. rclpy's events
    executor crashes if what has event callbacks is destroyed while an event is on its way: `ClientWatch` keeps this
    until the owner has gone and nothing has happened for FORGET seconds.
    """

    def __init__(self, node: Node, name: str, steady: Callable[[], float]) -> None:
        self._node, self._steady = node, steady
        self._told: bool | None = None
        self.used = steady()
        events = SubscriptionEventCallbacks(
            liveliness=self._on_liveliness,
            incompatible_qos=self._on_incompatible,
            use_default_callbacks=False,
        )
        self.subscription = node.create_subscription(
            Empty, owner_topic(name), lambda _: None, qos.OWNER, event_callbacks=events
        )

    def _on_liveliness(self, info: Any) -> None:
        self._told, self.used = info.alive_count > 0, self._steady()

    def _on_incompatible(self, _: Any) -> None:
        self._node.get_logger().warning(f"{self.subscription.topic_name}: its lease is above 0.6 s")

    def is_alive(self) -> bool:
        told, self.used = self._told, self._steady()
        return self._node.count_publishers(self.subscription.topic_name) > 0 if told is None else told


class OwnerWatch:
    """Watches the owner of one goal, from its creation on. steady: seconds of real time."""

    def __init__(self, liveliness: _Liveliness, grace: float, steady: Callable[[], float]) -> None:
        self._liveliness, self._grace, self._steady = liveliness, grace, steady
        self._was_alive = False
        self._seen = steady()  # time at which the owner was last alive, at first of the creation

    def is_alive(self) -> bool:
        """Return whether the owner is alive."""
        alive = self._liveliness.is_alive()
        if alive:
            self._was_alive, self._seen = True, self._steady()
        return alive

    def gone_for(self) -> float:
        """Return the seconds since the owner was last alive if they exceed the grace, else 0.

        The grace of an owner that was never seen alive is at least DISCOVERY seconds.
        """
        silent = 0.0 if self.is_alive() else self._steady() - self._seen
        return silent if silent > (self._grace if self._was_alive else max(self._grace, DISCOVERY)) else 0.0


class ClientWatch:
    """Watches the owner, or the clients, of one directive at a time."""

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
        self._seen = 0.0  # time at which a client was last present
        self._owner: OwnerWatch | None = None
        self._known: dict[str, _Liveliness] = {}  # by owner
        self._newest: tuple[frozenset[bytes], frozenset[bytes]] | None = (
            None  # all subscriptions, and clients'
        )

    def owner(self, name: str) -> OwnerWatch | None:
        """Return a new watch of a goal's owner; None if nothing is to be watched."""
        if not name or not self._config.stop_without:
            return None
        for other, one in list(self._known.items()):
            if other != name and self._steady() - one.used > FORGET and not one.is_alive():
                self._node.destroy_subscription(self._known.pop(other).subscription)
        known = self._known.get(name) or _Liveliness(self._node, name, self._steady)
        return OwnerWatch(self._known.setdefault(name, known), self._config.grace, self._steady)

    def begin(self, owner: OwnerWatch | None = None) -> None:
        """Start watching a directive. owner: without one, all present clients are taken for the directive's."""
        self._owner, self._seen, self._newest = owner, self._steady(), None
        self._clients = frozenset() if owner is not None else self._present()[0]

    def gone_for(self) -> float:
        """Return the seconds without the owner or any client, if that is long enough to end the directive; else 0."""
        if not self._config.stop_without:
            return 0.0
        if self._owner is not None:
            return self._owner.gone_for()
        now = self._steady()
        if self._client_is_there():
            self._seen = now
        silent = now - self._seen
        return silent if silent > self._config.grace else 0.0

    def _client_is_there(self) -> bool:
        present, others = self._present()
        if not self._clients:  # the client was not in the graph yet when the directive began
            self._clients = present
        return bool(self._clients & present) or (not self._clients and others)

    def _present(self) -> tuple[frozenset[bytes], bool]:
        """Return the identities of the subscriptions to the action's feedback, and whether there are others.

        The others are those of nodes with an owner, whose own goals name it.
        """
        node, name = self._node, self._node.resolve_topic_name(self._topic)
        infos = node.get_subscriptions_info_by_topic(name)
        seen = frozenset(bytes(info.endpoint_gid) for info in infos)
        if self._newest is None or self._newest[0] != seen:  # only then is the whole graph searched
            begin = node.resolve_topic_name(f"{OWNERS}x")[:-1]
            owned = {
                owner
                for topic, _ in node.get_topic_names_and_types() if topic.startswith(begin)
                for owner in names_of(node.get_publishers_info_by_topic(topic)) if not is_bare(owner)
            }  # fmt: skip
            clients = [info for info, its in zip(infos, names_of(infos), strict=True) if its not in owned]
            self._newest = seen, frozenset(bytes(info.endpoint_gid) for info in clients)
        return self._newest[1], len(self._newest[1]) < len(seen)

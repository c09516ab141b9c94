"""Places where objects were last seen, published by the memory and received by the experts."""

from __future__ import annotations

import time

from lodestar.assembly.memory_chain import MemoryChain
from lodestar.memory.last_seen import RememberedPlaces
from lodestar.timing.stamps import Periodic
from lodestar_interfaces import msg
from lodestar_ros import qos
from lodestar_ros.conversions import BadMessage
from lodestar_ros.conversions_memory import last_seen_from_msg, last_seen_to_msg
from lodestar_ros.node import LodestarNode


class LastSeenPublisher:
    """Publishes all places on ``~/last_seen`` when one has changed, at most once per `period`."""

    def __init__(self, node: LodestarNode, chain: MemoryChain, period: float) -> None:
        self._node, self._chain, self._period = node, chain, Periodic(period)
        self._publisher = node.create_publisher(msg.SceneDelta, "~/last_seen", qos.LATCHED)
        self._told = 0
        node.diagnostics.value("last_seen.places", lambda: len(chain.last_seen))

    def tell(self) -> None:
        """Publish the places if one has changed. Runs on the feed's worker."""
        if not self._period.due(time.monotonic()):
            return
        remembered = self._chain.remembered()
        if remembered.revision != self._told:
            self._told = remembered.revision
            self._publisher.publish(last_seen_to_msg(remembered, self._node.now))


class LastSeenInput:
    """The newest message of ``last_seen``, decoded when an expert asks for it.

    Without a memory node there are no places. A malformed message is counted, and the previous one is kept.
    """

    def __init__(self, node: LodestarNode) -> None:
        self._node = node
        self._waiting: msg.SceneDelta | None = None
        self._remembered: RememberedPlaces | None = None
        node.listen(msg.SceneDelta, "last_seen", self._on_message, qos.LATCHED)

    def _on_message(self, message: msg.SceneDelta) -> None:
        self._waiting = message

    def remembered(self) -> RememberedPlaces | None:
        """Return the newest places, or None. Runs on the expert's worker."""
        message, self._waiting = self._waiting, None
        if message is not None:
            try:
                self._remembered = last_seen_from_msg(message)
            except BadMessage as error:
                self._node.diagnostics.input("last_seen").drop("malformed")
                self._node.get_logger().warning(f"last_seen: {error}", throttle_duration_sec=5.0)
        return self._remembered

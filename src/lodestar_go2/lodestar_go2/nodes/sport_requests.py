"""Numbered requests to the robot's sport service, and the word of the guard that it heard them."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable

from std_msgs.msg import Int64
from unitree_api.msg import Request

from lodestar_go2 import conversions
from lodestar_go2.sport import ID_BLOCK, SportRequest
from lodestar_ros import qos
from lodestar_ros.node import LodestarNode


class SportRequests:
    """Sends requests. on_heard: called where the guard says that it heard one of them.

    Publishes: ``api/sport/request``. Subscribes: ``go2_guard/heard``.
    """

    def __init__(self, node: LodestarNode, on_heard: Callable[[], None]) -> None:
        # a block of its own, so that the guard's word about an earlier process of the node does not count
        self._first = self._sent = random.getrandbits(40) * ID_BLOCK
        self._on_heard = on_heard
        self._requests = node.create_publisher(Request, "api/sport/request", qos.EVENT)
        node.listen(Int64, "go2_guard/heard", self._hear, qos.COMMAND)

    def send(self, requests: Iterable[SportRequest]) -> None:
        """Send them in their order."""
        for request in requests:
            self._sent += 1
            self._requests.publish(conversions.request_to_msg(request, self._sent))

    def _hear(self, number: Int64) -> None:
        if self._first < number.data <= self._sent:
            self._on_heard()

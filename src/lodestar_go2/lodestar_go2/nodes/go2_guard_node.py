"""ROS shell around the guard: a separate process, because it must outlive the base."""

from __future__ import annotations

import time

from std_msgs.msg import Int64
from unitree_api.msg import Request

from lodestar_go2.conversions import request_from_msg, request_to_msg
from lodestar_go2.guard import Guard, GuardConfig
from lodestar_ros import qos
from lodestar_ros.executors import main_of
from lodestar_ros.node import LodestarNode
from lodestar_ros.parameters import declare_config

CHECK_PERIOD = 0.02  # s of real time between two checks


class Go2GuardNode(LodestarNode):
    """Stops the robot if the base's velocities end without a stop, because the base was killed.

    It publishes the numbers of the requests that it receives: the base walks only while they are confirmed,
    because a guard that has not discovered the base could not detect its death.

    Subscribes: ``api/sport/request``. Publishes: ``api/sport/request``, ``go2_guard/heard`` (numbers of
    requests).
    """

    def __init__(self, **kwargs):
        super().__init__("go2_guard", **kwargs)
        self._guard = Guard(declare_config(self, GuardConfig, "guard."))
        self._own: set[int] = set()
        self._sent = 0
        self._requests = self.create_publisher(Request, "api/sport/request", qos.EVENT)
        self._heard = self.create_publisher(Int64, "go2_guard/heard", qos.COMMAND)
        self.listen(Request, "api/sport/request", self._on_request, qos.EVENT)
        self.steady_timer(CHECK_PERIOD, self._check)
        self.diagnostics.value("stops", lambda: self._guard.stops)

    def _on_request(self, message: Request) -> None:
        identity = message.header.identity.id
        if identity in self._own:  # its own stops come back on the topic
            self._own.discard(identity)
            return
        self._guard.on_request(request_from_msg(message), time.monotonic())
        self._heard.publish(Int64(data=identity))

    def _check(self) -> None:
        for request in self._guard.check(time.monotonic()):
            self._sent -= 1  # negative, unlike the base's numbers
            self._own.add(self._sent)
            self._requests.publish(request_to_msg(request, self._sent))
            self.diagnostics.notice("go2_base died while the robot walked: it was stopped", 60.0)


main = main_of(Go2GuardNode)

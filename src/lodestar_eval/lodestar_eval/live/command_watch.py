"""Watches who commands a Go2: every publisher of velocities and of sport requests, and the order of the requests."""

from __future__ import annotations

import math
import threading
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

import rclpy
from diagnostic_msgs.msg import DiagnosticArray
from rclpy.context import Context
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions
from unitree_api.msg import Request

from lodestar_ros import qos

ALLOWED = {
    "cmd_vel_out": ("/motion_gate",),
    "/api/sport/request": ("/go2_base", "/go2_guard"),
}
ID_BLOCK = 1 << 20  # as `lodestar_go2.sport.ID_BLOCK`
_PERIOD = 0.1  # s between two looks at the graph
_SOUND_FOR = 3.0  # s for which the nodes say that all is well before it counts
_LARGEST_GAP = 50  # requests that may be lost in a row before the next one counts as somebody else's


@dataclass
class RequestOrder:
    """Checks the ids of sport requests: go2_base counts up from 1 within a block that each process of it draws,
    go2_guard down from -1; others do neither.
    """

    strange: int = 0  # requests that belong to neither
    counts: Counter[int] = field(default_factory=Counter)  # all requests by the number of their kind
    _last: dict[bool, int] = field(default_factory=dict)

    def take(self, identity: int, kind: int) -> None:
        """Take in one request by its id and the number of its kind."""
        self.counts[kind] += 1
        number, guards = abs(identity), identity < 0
        last = self._last.get(guards, number - 1)
        restarted = number == 1 if guards else number % ID_BLOCK == 1
        if identity and (restarted or 0 < number - last <= _LARGEST_GAP):
            self._last[guards] = number
        else:
            self.strange += 1


class CommandWatch:
    """Listens in a domain from construction to `close`, on a thread of its own."""

    def __init__(self, domain: int) -> None:
        self._context = Context()
        rclpy.init(context=self._context, domain_id=domain, signal_handler_options=SignalHandlerOptions.NO)
        self._node = Node("lodestar_command_watch", context=self._context, start_parameter_services=False)
        self.order = RequestOrder()
        self._publishers: dict[bytes, tuple[str, str]] = {}  # endpoint -> topic and newest name of its node
        self._node.create_subscription(Request, "/api/sport/request", self._on_request, qos.EVENT)
        self._troubled: dict[str, float] = {}  # node -> until when something was wrong, by our clock
        self._node.create_subscription(DiagnosticArray, "/diagnostics", self._on_diagnostics, qos.EVENT)
        self._node.create_timer(_PERIOD, self._look)
        self._executor = SingleThreadedExecutor(context=self._context)
        self._executor.add_node(self._node)
        self._thread = threading.Thread(target=self._spin, name="command-watch", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop listening."""
        self._executor.shutdown(timeout_sec=2.0)
        self._thread.join(timeout=2.0)
        self._node.destroy_node()
        self._context.try_shutdown()

    def _spin(self) -> None:
        try:
            self._executor.spin()
        except ExternalShutdownException:
            return

    def _on_request(self, message: Request) -> None:
        identity = message.header.identity
        self.order.take(identity.id, identity.api_id)

    @property
    def strangers(self) -> set[str]:
        """Return "node on topic" of everybody else who could command the robot, as they were last named."""
        found = list(self._publishers.values())
        return {f"{name} on {topic}" for topic, name in found if name not in ALLOWED[topic]}

    def unsound(self, names: Iterable[str]) -> list[str]:
        """Return the nodes that have not said for some seconds that all is well with them."""
        sound = time.monotonic() - _SOUND_FOR
        return [name for name in names if self._troubled.get(name, math.inf) > sound]

    def _on_diagnostics(self, message: DiagnosticArray) -> None:
        for status in message.status:
            level = status.level[0] if isinstance(status.level, bytes) else int(status.level)
            if level or status.name not in self._troubled:
                self._troubled[status.name] = time.monotonic()

    def _look(self) -> None:
        for topic in ALLOWED:
            for info in self._node.get_publishers_info_by_topic(topic):
                name = f"{info.node_namespace.rstrip('/')}/{info.node_name}"
                self._publishers[bytes(info.endpoint_gid)] = (
                    topic,
                    name,
                )  # a new one has no name for a moment

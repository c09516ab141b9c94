"""Monitor of a Go2's commands: publishers of velocities and sport requests, and the order of the requests."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from diagnostic_msgs.msg import DiagnosticArray
from unitree_api.msg import Request

from lodestar_eval.live.side_node import SideNode
from lodestar_ros import qos

ALLOWED = {"cmd_vel_out": ("/motion_gate",), "/api/sport/request": ("/go2_base", "/go2_guard")}
ID_BLOCK = 1 << 20  # as `lodestar_go2.sport.ID_BLOCK`
_PERIOD = 0.1  # s between two queries of the ROS graph
_SOUND_FOR = 3.0  # s without trouble in the diagnostics before a node counts as sound
_LARGEST_GAP = 50  # most requests lost in a row; a larger gap in the ids counts as another sender's


@dataclass
class RequestOrder:
    """Counts sport requests, and those whose ids fit neither go2_base nor go2_guard.

    go2_base counts up from 1 within a block of ids that each of its processes draws; go2_guard counts down
    from -1.
    """

    strange: int = 0  # number of requests that match neither sender
    counts: Counter[int] = field(default_factory=Counter)  # number of requests by API id
    _last: dict[bool, int] = field(default_factory=dict)

    def take(self, identity: int, kind: int) -> None:
        """Record one request by its id and API id."""
        self.counts[kind] += 1
        number, guards = abs(identity), identity < 0
        last = self._last.get(guards, number - 1)
        restarted = number == 1 if guards else number % ID_BLOCK == 1
        if identity and (restarted or 0 < number - last <= _LARGEST_GAP):
            self._last[guards] = number
        else:
            self.strange += 1


class CommandWatch:
    """Listens to sport requests, command publishers and diagnostics in a ROS domain on a separate thread,
    from construction to `close`.
    """

    def __init__(self, domain: int) -> None:
        self._side = SideNode("lodestar_command_watch", domain)
        self._node = self._side.node
        self.order = RequestOrder()
        self._publishers: dict[bytes, tuple[str, str]] = {}  # endpoint -> topic and latest name of its node
        self._node.create_subscription(Request, "/api/sport/request", self._on_request, qos.EVENT)
        # node -> last time with a problem, or first report, time.monotonic()
        self._troubled: dict[str, float] = {}
        self._node.create_subscription(DiagnosticArray, "/diagnostics", self._on_diagnostics, qos.EVENT)
        self._node.create_timer(_PERIOD, self._look)
        self._side.start()

    def close(self) -> None:
        """Stop listening."""
        self._side.close()

    def _on_request(self, message: Request) -> None:
        identity = message.header.identity
        self.order.take(identity.id, identity.api_id)

    @property
    def strangers(self) -> set[str]:
        """Return "node on topic" of every unexpected publisher that could command the robot."""
        found = list(self._publishers.values())
        return {f"{name} on {topic}" for topic, name in found if name not in ALLOWED[topic]}

    def unsound(self, names: Iterable[str]) -> list[str]:
        """Return those of `names` that have not been without problems for the last `_SOUND_FOR` seconds."""
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
                )  # a new endpoint has no node name at first

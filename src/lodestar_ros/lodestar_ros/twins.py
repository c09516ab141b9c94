"""Detection of a second stack in one domain and namespace: of two nodes with one full name, the later one ends.

Every node publishes its identity once a second in its diagnostics (`hardware_id`: full name, host, process, token,
seconds since its start). A killed node publishes nothing more, although the middleware lists it for a while: so a
restarted node has no twin. `python -m lodestar_ros.twins NAME ...` looks for running nodes before a stack is started.

Exit status of the command: 0 no such node runs, 3 one runs (it is printed with instructions).
"""

from __future__ import annotations

import os
import socket
import sys
import time
import uuid
from collections.abc import Callable, Collection
from dataclasses import dataclass, field

import rclpy
from diagnostic_msgs.msg import DiagnosticArray
from rclpy.clock import Clock
from rclpy.clock_type import ClockType
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node

from lodestar_ros import qos
from lodestar_ros.executors import init_ros
from lodestar_ros.terminal import command_line

#: Seconds after its start in which a node ends for an older twin; later it stays.
GIVES_WAY = 10.0
#: Seconds in which the middleware discovers all nodes, also on a busy machine.
LOOK = 4.0
#: Further seconds in which a listed node must publish its identity; otherwise it was killed recently.
DOUBT = 4.0
FOUND = 3


@dataclass(frozen=True)
class Identity:
    """Identity of a node's process. uptime: seconds since its start, by its own steady clock."""

    name: str  # full name, with the namespace
    host: str
    pid: int
    token: str
    uptime: float = 0.0

    def text(self) -> str:
        """Return the identity as the text of `hardware_id`."""
        return f"{self.name} {self.host} {self.pid} {self.token} {self.uptime:.2f}"

    @property
    def place(self) -> str:
        """Return host and process as text."""
        return f"process {self.pid} on {self.host}"


def identity_from(text: str) -> Identity | None:
    """Return the identity in a `hardware_id`; None if it has none."""
    parts = text.split(" ")
    if len(parts) != 5 or not parts[0].startswith("/"):
        return None
    try:
        return Identity(parts[0], parts[1], int(parts[2]), parts[3], float(parts[4]))
    except ValueError:
        return None


def advice(other: Identity) -> str:
    """Return instructions for a node that is already running elsewhere."""
    domain = os.environ.get("ROS_DOMAIN_ID", "0")
    return (
        f"{other.name} runs already in ROS domain {domain} ({other.place}): two stacks of one domain and namespace "
        "command one robot. Stop the other, or give this one ROS_DOMAIN_ID=... or namespace:=... of its own"
    )


@dataclass
class Presence:
    """This node's identity, and the check for an older node with its name.

    clock: steady seconds.
    """

    name: str
    clock: Callable[[], float] = time.monotonic
    host: str = field(default_factory=lambda: socket.gethostname().replace(" ", "_"))
    token: str = field(default_factory=lambda: uuid.uuid4().hex[:12])

    def __post_init__(self) -> None:
        self._begun = self.clock()

    @property
    def me(self) -> Identity:
        """Return this node's current identity."""
        return Identity(self.name, self.host, os.getpid(), self.token, self.clock() - self._begun)

    def older_twin(self, text: str) -> Identity | None:
        """Return the identity in a `hardware_id` if it is an older running node of the same full name,
        else None.
        """
        other, me = identity_from(text), self.me
        if other is None or other.name != me.name or other.token == me.token or me.uptime > GIVES_WAY:
            return None
        return other if (other.uptime, other.token) > (me.uptime, me.token) else None


class TwinWatch:
    """Calls on_twin(text) if the diagnostics show an older node with this one's name.

    Subscribes: ``/diagnostics``, for GIVES_WAY seconds.
    """

    def __init__(self, node: Node, presence: Presence, on_twin: Callable[[str], None]) -> None:
        self._node, self._presence, self._on_twin = node, presence, on_twin
        self._subscription = node.create_subscription(
            DiagnosticArray, "/diagnostics", self._on_diagnostics, qos.EVENT, event_callbacks=qos.NO_EVENTS
        )
        self._timer = node.create_timer(GIVES_WAY, self._end, clock=Clock(clock_type=ClockType.STEADY_TIME))

    def _on_diagnostics(self, message: DiagnosticArray) -> None:
        for status in message.status:
            twin = self._presence.older_twin(status.hardware_id)
            if twin is not None:
                self._on_twin(advice(twin))
                return

    def _end(self) -> None:
        self._timer.cancel()
        self._node.destroy_subscription(self._subscription)


def living(names: Collection[str], seconds: float = LOOK) -> Identity | None:
    """Return a running node with one of the full names; None if none publishes within the seconds of real time.

    If the middleware lists one of the names by then, the search takes DOUBT longer.
    """
    context = rclpy.Context()
    init_ros(context=context)
    node = rclpy.create_node(f"lodestar_look_{os.getpid()}", context=context)
    found: list[Identity] = []

    def hear(message: DiagnosticArray) -> None:
        said = (identity_from(status.hardware_id) for status in message.status)
        found.extend(one for one in said if one is not None and one.name in names)

    node.create_subscription(DiagnosticArray, "/diagnostics", hear, qos.EVENT)
    executor = SingleThreadedExecutor(context=context)
    executor.add_node(node)
    for patience in (seconds, DOUBT):
        end = time.monotonic() + patience
        while not found and time.monotonic() < end:
            executor.spin_once(timeout_sec=0.05)
        listed = {f"{space.rstrip('/')}/{name}" for name, space in node.get_node_names_and_namespaces()}
        if found or listed.isdisjoint(names):
            break
    executor.remove_node(node)
    node.destroy_node()
    rclpy.shutdown(context=context)
    return found[0] if found else None


def main(arguments: list[str] | None = None) -> int:
    """Search for running nodes of the given names; return the exit status (see the module)."""
    parser = command_line("twins", __doc__)
    parser.add_argument("names", nargs="+", metavar="NAME", help="full names, such as /go2/motion_gate")
    parser.add_argument("--seconds", type=float, default=LOOK)
    given = parser.parse_args(arguments)
    twin = living(set(given.names), given.seconds)
    if twin is None:
        return 0
    print(advice(twin))
    return FOUND


if __name__ == "__main__":
    sys.exit(main())

"""Finds who else commands the robot: every way past the gate."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol


class Endpoint(Protocol):
    """A publisher or a subscription as the graph describes it."""

    node_name: str
    node_namespace: str


BARE = ("_CREATED_BY_BARE_DDS_APP_", "_NODE_NAME_UNKNOWN_")  # names of participants that are no ROS nodes


def is_bare(name: str) -> bool:
    """Return whether a full name is that of a program without ROS, such as the robot's own."""
    return name.rsplit("/", 1)[-1] in BARE


def others(endpoints: Iterable[Endpoint], allowed: Callable[[str], bool]) -> list[str]:
    """Return the full names of the endpoints' nodes that are not allowed, each once."""
    names = (f"{one.node_namespace.rstrip('/')}/{one.node_name}" for one in endpoints)
    return sorted({name for name in names if not allowed(name)})


class GateRivals:
    """Tells who walks the robot past the gate, by repeated looks at the graph.

    DDS tells the name of a node after its publishers, so a publisher without a name counts from its second look on.
    """

    def __init__(self, gate: str) -> None:
        self._gate = gate
        self._nameless = False  # there was a publisher without a name at the last look

    def look(
        self, writers: Iterable[Endpoint], readers: Iterable[Endpoint], bases: Iterable[Endpoint]
    ) -> str:
        """Return why the robot must stand; "" where nobody passes the gate.

        writers: publishers of the base's velocity topic. readers: subscriptions of the navigator's. bases: publishers
        of odometry, which only a driver of the base is.
        """
        past = others(writers, lambda name: name == self._gate)
        named = [name for name in past if not is_bare(name)]
        before, self._nameless = self._nameless, len(named) < len(past)
        if named or (before and self._nameless):
            who = ", ".join(named) or "a program without a name in ROS"
            return f"{who} publishes velocities past motion_gate: stop it, or remap it to cmd_vel"
        drivers = set(others(bases, is_bare))
        deaf = [name for name in others(readers, is_bare) if name in drivers]
        if deaf:
            return (
                f"{', '.join(deaf)} drives the base and listens to cmd_vel, past motion_gate: remap its input to "
                "cmd_vel_out"
            )
        return ""

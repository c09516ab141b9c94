"""Detection of other nodes that command the robot and bypass the gate or the navigator."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol


class Endpoint(Protocol):
    """A publisher or a subscription in the ROS graph."""

    node_name: str
    node_namespace: str


# names of DDS participants that are not ROS nodes
BARE = ("_CREATED_BY_BARE_DDS_APP_", "_NODE_NAME_UNKNOWN_")


def is_bare(name: str) -> bool:
    """Return whether a full node name stands for a program without ROS, such as the robot's own programs."""
    return name.rsplit("/", 1)[-1] in BARE


def names_of(endpoints: Iterable[Endpoint]) -> list[str]:
    """Return the full name of each endpoint's node."""
    return [f"{one.node_namespace.rstrip('/')}/{one.node_name}" for one in endpoints]


def others(endpoints: Iterable[Endpoint], allowed: Callable[[str], bool]) -> list[str]:
    """Return the full names of the endpoints' nodes that are not allowed, without duplicates."""
    return sorted({name for name in names_of(endpoints) if not allowed(name)})


def doubled(seen: list[str], names: Iterable[str], topic: str) -> str:
    """Return a message if several publishers of a topic have the same one of these names; "" if not.

    seen: full name of each publisher's node. A killed process stays in the graph until its lease ends, with
    Fast DDS for 20 s.
    """
    twice = [
        f"{seen.count(name)} publishers of {topic} are named {name}" for name in names if seen.count(name) > 1
    ]
    return f"{twice[0]}: stop all but one; one that was killed is gone within 20 s" if twice else ""


def strangers(writers: Iterable[Endpoint], place: str, allowed: Iterable[str], topic: str) -> str:
    """Return why a topic's messages must be ignored, "" if they need not.

    Reasons: a node that is not allowed publishes the topic, or two publishers have the same allowed name.
    place: namespace of the gate, without a slash at its end. allowed: names of nodes in it, or full names.
    """
    named = {name if name.startswith("/") else f"{place}/{name}" for name in allowed}
    seen = names_of(writers)
    found = ["a program whose name is not known" if is_bare(n) else n for n in sorted({*seen} - named)]
    if found:
        few = "joystick" if topic == "cmd_vel_joy" else "navigators"
        return f"{', '.join(found)} publishes {topic}: stop it, or name it in `{few}` of motion_gate"
    return doubled(seen, named, topic)


class GateRivals:
    """Detects nodes that command the base without passing the gate, by repeated checks of the graph.

    DDS announces the name of a node after its publishers, so a publisher without a name counts from the
    second check on.
    """

    def __init__(self, gate: str) -> None:
        self._gate = gate
        self.twin = False  # whether another node with the gate's own name publishes velocities for the base
        self._nameless = False  # whether the last check found a publisher without a name

    def look(
        self, writers: Iterable[Endpoint], readers: Iterable[Endpoint], bases: Iterable[Endpoint]
    ) -> str:
        """Return why the robot must stand; "" if no node bypasses the gate.

        writers: publishers of the base's velocity topic. readers: subscriptions of the navigator's velocity
        topic. bases: publishers of odometry; only drivers of the base publish it.
        """
        twin = doubled(names_of(writers), [self._gate], "cmd_vel_out")
        self.twin, past = bool(twin), others(writers, lambda name: name == self._gate)
        named = [name for name in past if not is_bare(name)]
        before, self._nameless = self._nameless, len(named) < len(past)
        if named or (before and self._nameless):
            who = ", ".join(named) or "a program without a name in ROS"
            return f"{who} publishes velocities past motion_gate: stop it, or remap it to cmd_vel"
        if twin:
            return twin
        drivers = set(others(bases, is_bare))
        deaf = [name for name in others(readers, is_bare) if name in drivers]
        if deaf:
            return (
                f"{', '.join(deaf)} drives the base and listens to cmd_vel, past motion_gate: remap its input to "
                "cmd_vel_out"
            )
        return ""

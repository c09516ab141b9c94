"""Finds who else commands the robot: every way past the gate."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol


class Endpoint(Protocol):
    """A publisher as the graph describes it."""

    node_name: str
    node_namespace: str


BARE = ("_CREATED_BY_BARE_DDS_APP_", "_NODE_NAME_UNKNOWN_")  # names of participants that are no ROS nodes


def is_bare(name: str) -> bool:
    """Return whether a full name is that of a program without ROS, such as the robot's own."""
    return name.rsplit("/", 1)[-1] in BARE


def others(endpoints: Iterable[Endpoint], allowed: Callable[[str], bool]) -> list[str]:
    """Return the full names of the publishers that are not allowed, each once."""
    names = (f"{one.node_namespace.rstrip('/')}/{one.node_name}" for one in endpoints)
    return sorted({name for name in names if not allowed(name)})


def intrusion(commands: list[str], requests: list[str]) -> str:
    """Return why the robot must stand; "" where nobody else commands it.

    commands: others that publish on the base's velocity topic. requests: others that publish sport requests.
    """
    if commands:
        return f"{', '.join(commands)} publishes velocities past motion_gate: stop it, or remap it to cmd_vel"
    if requests:
        return f"{', '.join(requests)} sends sport requests past go2_base: stop it"
    return ""

"""The topics that a recording holds, by the names that the nodes give them before their remaps."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from lodestar.experts.registry import experts

#: Inputs of the stack: a replay plays these, and nothing else.
SENSORS = (
    "image",
    "depth",
    "camera_info",
    "labels",
    "label_table",
    "label_instances",
    "points",
    "scan",
    "map",
    "odom",
    "battery",
    "imu",
)
CLOCK, TF, TF_STATIC = "/clock", "/tf", "/tf_static"
PLAYED = (*SENSORS, CLOCK, TF, TF_STATIC)

#: The robot's own streams, from which a fault of the driver can be found.
ROBOT = ("sportmodestate", "lowstate", "utlidar/cloud", "api/sport/request", "api/sport/response")

#: Conclusions of the nodes: to compare a replay with, and to see why the robot did what it did.
CONCLUSIONS = (
    "grid",
    "entities",
    "regions",
    "mapping/building",
    "directive",
    "decision",
    "directive_report",
    "heartbeat",
    "traces",
    "outcomes",
    "world_events",
    "closed_ways",
    "last_seen",
    "goal_selector/question",
    "cmd_vel",
    "cmd_vel_out",
    "cmd_vel_joy",
    "plan",
    "/diagnostics",
    "/rosout",
)


def recorded() -> tuple[str, ...]:
    """Return every topic that a recording holds, those of the experts included."""
    of_experts = tuple(name for spec in experts() for name in spec.recorded)
    return (*PLAYED, *ROBOT, *CONCLUSIONS, *of_experts)


def message_type(name: str) -> Any:
    """Return the class of "package/msg/Name". Raises ImportError or AttributeError where it is not installed."""
    package, _, kind = name.split("/")
    return getattr(import_module(f"{package}.msg"), kind)

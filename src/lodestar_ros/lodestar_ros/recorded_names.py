"""The topics in a recording, by the names that the nodes give them before remaps."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from lodestar.experts.registry import experts

#: Inputs of the stack: a replay plays these topics and no others.
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

#: The robot's own streams, recorded to find faults of the driver.
ROBOT = ("sportmodestate", "lowstate", "utlidar/cloud", "api/sport/request", "api/sport/response")

#: Conclusions of the nodes, recorded for comparison with a replay and to explain the robot's actions.
CONCLUSIONS = (
    "grid",
    "entities",
    "regions",
    "looks",
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


#: Topics that move the robot. They are recorded below /recorded, so that `ros2 bag play` of a recording moves nothing.
MOVING = ("cmd_vel", "cmd_vel_out", "cmd_vel_joy", "heartbeat", "api/sport/request")


def recorded_topic(name: str, topic: str) -> str:
    """Return the name under which a topic is recorded.

    name: its name before remaps; topic: its name after them.
    """
    return f"/recorded{topic}" if name in MOVING else topic


def recorded() -> tuple[str, ...]:
    """Return the names of all recorded topics, including those of the experts."""
    of_experts = tuple(name for spec in experts() for name in spec.recorded)
    return (*PLAYED, *ROBOT, *CONCLUSIONS, *of_experts)


def message_type(name: str) -> Any:
    """Return the class of "package/msg/Name". Raises ImportError or AttributeError if it is not installed."""
    package, _, kind = name.split("/")
    return getattr(import_module(f"{package}.msg"), kind)

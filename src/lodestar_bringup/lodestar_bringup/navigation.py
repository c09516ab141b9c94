"""Adaptation of Nav2's and SLAM Toolbox's files in config/, written for Kilted, to older distributions and a
namespace.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import yaml

DISTRIBUTIONS = ("humble", "jazzy", "kilted")

# Humble's plugin libraries register these classes with a slash.
_SLASHED_IN_HUMBLE = ("nav2_smac_planner", "nav2_behaviors", "nav2_bt_navigator")
_TOPIC = re.compile(r"^(\s*(?:\w*topic|map_name): )/", re.MULTILINE)

# Parameters that differ in Humble from nav2.yaml: node -> path -> value, None = Humble has no such parameter.
# Humble's Nav2 cannot limit MPPI's acceleration, nor let the robot leave a keep-out zone.
_NOT_THERE = None
_HUMBLE: Mapping[str, Mapping[str, Any]] = {
    "bt_navigator": {"navigators": _NOT_THERE},
    "controller_server": {
        "enable_stamped_cmd_vel": _NOT_THERE,
        "costmap_update_timeout": _NOT_THERE,
        "progress_checker_plugins": _NOT_THERE,
        "progress_checker_plugin": "progress_checker",
        **{
            f"{controller}.{name}": _NOT_THERE
            for controller in ("FollowPath", "FollowHeadings")
            for name in ("ax_max", "ax_min", "ay_max", "ay_min", "az_max", "CostCritic.trajectory_point_step")
        },
        "FollowPath.PathAngleCritic.mode": _NOT_THERE,
        "FollowPath.PathAngleCritic.forward_preference": True,
    },
    **{
        costmap: {
            "keepout_filter.override_lethal_cost": _NOT_THERE,
            "keepout_filter.lethal_override_cost": _NOT_THERE,
        }
        for costmap in ("local_costmap", "global_costmap")
    },
    "behavior_server": {
        "enable_stamped_cmd_vel": _NOT_THERE,
        "local_costmap_topic": _NOT_THERE,
        "local_footprint_topic": _NOT_THERE,
        "global_costmap_topic": _NOT_THERE,
        "global_footprint_topic": _NOT_THERE,
        "local_frame": _NOT_THERE,
        "costmap_topic": "local_costmap/costmap_raw",
        "footprint_topic": "local_costmap/published_footprint",
        "global_frame": "odom",  # the frame of the costmap above
    },
    "velocity_smoother": {"enable_stamped_cmd_vel": _NOT_THERE},
}
_OTHERWISE: Mapping[str, Mapping[str, Mapping[str, Any]]] = {"humble": _HUMBLE}

# Ports of navigate_to_pose.xml that older distributions lack; with an unknown port the tree is not loaded.
_PORTS_NOT_THERE: Mapping[str, tuple[str, ...]] = {
    "humble": ("error_code_id", "error_msg"),
    "jazzy": ("error_msg",),
}


def navigation_profile(text: str, distribution: str, namespace: str) -> str:
    """Return a Nav2 parameter file with a distribution's parameters and plugin names, and topics in the namespace.

    Distributions differ in how costmap layers resolve relative topics, so the file contains absolute names, and the
    namespace is prepended here. For an unknown distribution only the namespace is added.
    """
    if distribution == "humble":
        for package in _SLASHED_IN_HUMBLE:
            text = text.replace(f"{package}::", f"{package}/")
    edits = _OTHERWISE.get(distribution, {})
    return _in_namespace(_edited(text, edits) if edits else text, namespace)


def slam_profile(text: str, namespace: str) -> str:
    """Return a SLAM Toolbox parameter file with its absolute scan and map topics in a namespace."""
    return _in_namespace(text, namespace)


def behavior_tree(text: str, distribution: str) -> str:
    """Return a behaviour tree without the ports that the distribution's nodes lack."""
    for port in _PORTS_NOT_THERE.get(distribution, ()):
        text = re.sub(rf'\s{port}="[^"]*"', "", text)
    return text


def _edited(text: str, edits: Mapping[str, Mapping[str, Any]]) -> str:
    profile = yaml.safe_load(text)
    for node, changes in edits.items():
        for path, value in changes.items():
            *parents, name = path.split(".")
            values = profile[f"/**/{node}"]["ros__parameters"]
            for parent in parents:
                values = values[parent]
            if value is _NOT_THERE:
                del values[name]
            else:
                values[name] = value
    return yaml.safe_dump(profile, sort_keys=False)


def _in_namespace(text: str, namespace: str) -> str:
    name = namespace.strip("/")
    return _TOPIC.sub(rf"\g<1>/{name}/", text) if name else text

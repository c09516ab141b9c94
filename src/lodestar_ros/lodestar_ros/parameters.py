"""Parameters from the core's frozen dataclasses: declared with their defaults, read once, checked.

A nested dataclass gives nested names ("fusion.voxel_size"), or those of its field's metadata ("prefix"). Parameters
that several parts share are declared once, under "shared" (`lodestar.assembly.shared`).
Parameters are read-only after the start: a frozen configuration cannot change under a running map.
"""

from __future__ import annotations

from dataclasses import MISSING, Field, fields, is_dataclass
from enum import Enum
from pathlib import Path
from typing import Any, Protocol, TypeVar, get_type_hints

from rcl_interfaces.msg import ParameterDescriptor
from rclpy.exceptions import ParameterAlreadyDeclaredException
from rclpy.node import Node

from lodestar.assembly.parameter_values import ValueRefused, coerce, describe, expressible, nearest
from lodestar.assembly.profiles import home_of
from lodestar.assembly.shared import SharedConfig, is_shared, with_shared

Config = TypeVar("Config")

#: Parameters that ROS itself declares.
ROS_PARAMETERS = ("use_sim_time", "start_type_description_service", "qos_overrides")


class ParameterError(ValueError):
    """Raised for an unknown parameter or an invalid value; the message names it and the valid values."""


def declare_config(
    node: Node, config_type: type[Config], prefix: str = "", defaults: Config | None = None
) -> Config:
    """Return the dataclass with the node's parameters where given and its own defaults elsewhere.

    defaults: used in place of the type's defaults.
    Raises ParameterError for a value of the wrong type or one that the dataclass refuses.
    """
    hints = get_type_hints(config_type)
    values: dict[str, Any] = {}
    for item in fields(config_type):  # type: ignore[arg-type]
        if not item.init or is_shared(item):
            continue
        name = f"{prefix}{item.name}"
        hint = hints[item.name]
        default = _default_of(item) if defaults is None else getattr(defaults, item.name)
        if is_dataclass(hint):
            below = f"{prefix}{item.metadata['prefix']}" if "prefix" in item.metadata else f"{name}."
            values[item.name] = declare_config(node, hint, below, default)  # type: ignore[arg-type]
        elif expressible(hint):
            values[item.name] = declare(node, name, hint, default)
        elif defaults is not None:
            values[item.name] = default  # a value that no profile can express keeps its default
    try:
        return config_type(**values)
    except (TypeError, ValueError) as error:
        raise ParameterError(f"{prefix or config_type.__name__}: {error}") from error


class SharingNode(Protocol):
    """A node that has declared the shared parameters."""

    shared: SharedConfig


def declare_part(node: SharingNode, part_type: type[Config]) -> Config:
    """Return a part of the robot's configuration with the node's parameters and the shared ones that it reads.

    Raises ParameterError as `declare_config` does.
    """
    return with_shared(declare_config(node, part_type), node.shared)


def declare(node: Node, name: str, hint: Any, default: Any) -> Any:
    """Declare one read-only parameter and return its value. Raises ParameterError for a value of another type."""
    descriptor = ParameterDescriptor(read_only=True, dynamic_typing=True, description=describe(hint))
    plain = _to_parameter(default)
    try:
        given = node.declare_parameter(name, plain, descriptor).value
    except ParameterAlreadyDeclaredException:
        given = node.get_parameter(name).value
    same = type(given) is type(plain) and given == plain
    if same or given is None:
        return default
    try:
        return coerce(name, given, hint)
    except ValueRefused as error:
        raise ParameterError(str(error)) from error


def reject_unknown(node: Node) -> None:
    """Raise ParameterError if the node was given an unknown parameter."""
    known = set(node._parameters)
    given = getattr(node, "_parameter_overrides", {})
    unknown = sorted(name for name in given if name not in known and name.split(".")[0] not in ROS_PARAMETERS)
    for name in unknown:
        home = home_of(node.get_name(), name)
        if home is not None:
            raise ParameterError(
                f"{node.get_name()}: {name} is now {home}, which all parts share; set it for all nodes (section /**)"
            )
    if unknown:
        own = sorted(name for name in known if name.split(".")[0] not in ROS_PARAMETERS)
        advice = [f"did you mean {near} for {name}?" for name in unknown if (near := nearest(name, own))]
        if len(advice) == len(unknown):
            raise ParameterError(
                f"{node.get_name()} has no parameter {', '.join(map(repr, unknown))}; {' '.join(advice)}"
            )
        raise ParameterError(
            f"{node.get_name()} has no parameter {', '.join(map(repr, unknown))}; its parameters are {', '.join(own)}"
        )


def _default_of(item: Field) -> Any:
    if item.default is not MISSING:
        return item.default
    if item.default_factory is not MISSING:
        return item.default_factory()
    return None


def _to_parameter(value: Any) -> Any:
    if value is None:
        return ""
    if isinstance(value, Enum):
        return value.name
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, (tuple, list)):
        return list(value)
    return value

"""Common parts of the terminal commands: node, ROS arguments, and advice if no server answers."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import rclpy
from rclpy.action import ActionClient
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions
from rclpy.utilities import remove_ros_args


def parse(
    parser: argparse.ArgumentParser, arguments: list[str] | None
) -> tuple[argparse.Namespace, list[str]]:
    """Return the parsed options, including `namespace`, and all arguments, including those for ROS."""
    parser.add_argument("--namespace", default="", help="namespace that the stack was started in")
    parser.epilog = "ROS arguments may follow: --ros-args -r __ns:=/robot1"
    given = sys.argv[1:] if arguments is None else arguments
    return parser.parse_args(remove_ros_args(given)), given


@contextmanager
def terminal_node(name: str, namespace: str, arguments: list[str]) -> Iterator[Node]:
    """Provide a node during the context; Ctrl-C keeps raising KeyboardInterrupt."""
    rclpy.init(args=arguments, signal_handler_options=SignalHandlerOptions.NO)
    node = rclpy.create_node(name, namespace=namespace.strip("/"), start_parameter_services=False)
    try:
        yield node
    finally:
        for client in [one for one in node.waitables if isinstance(one, ActionClient)]:
            client.destroy()  # a node leaves them, and so DDS threads that crash the interpreter's end
        node.destroy_node()
        rclpy.try_shutdown()


def not_heard(node: Node) -> str:
    """Return possible reasons why a running stack is not found, with the current settings."""
    domain = os.environ.get("ROS_DOMAIN_ID") or "0"
    if os.environ.get("ROS_DISTRO") == "humble":
        reach = f"ROS_LOCALHOST_ONLY={os.environ.get('ROS_LOCALHOST_ONLY') or '0'}, on another machine it must be 0"
    else:
        given = os.environ.get("ROS_AUTOMATIC_DISCOVERY_RANGE") or "SUBNET"
        reach = f"ROS_AUTOMATIC_DISCOVERY_RANGE={given}, for another machine it must be SUBNET on both"
    return (
        "Is the stack running, and as here: "
        f"ROS_DOMAIN_ID={domain}; namespace {node.get_namespace()} (--namespace); {reach}?"
    )

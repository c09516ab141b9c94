"""Common parts of the terminal commands: node, ROS arguments, interrupts, and advice if no server answers."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import rclpy
from rclpy.action import ActionClient
from rclpy.node import Node
from rclpy.utilities import remove_ros_args

from lodestar_ros.executors import init_ros

EXIT_CANCELLED = 130  # exit status of an interrupted command
_POLL = 0.1  # s of wall time
_signals = {"spins": False, "came": False}  # plain values: a handler may interrupt itself


def command_line(name: str, text: str | None) -> argparse.ArgumentParser:
    """Return the parser of `python -m lodestar_ros.NAME`. text: shown as it is, such as the module's docstring."""
    raw = argparse.RawDescriptionHelpFormatter
    return argparse.ArgumentParser(
        prog=f"python -m lodestar_ros.{name}", description=text, formatter_class=raw
    )


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
    """Provide a node during the context. SIGINT, SIGTERM and SIGHUP raise KeyboardInterrupt, which ends the program.

    During a spin they raise it after the spin. A signal that this process was started with ignored stays ignored, as
    SIGHUP under nohup.
    """
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _interrupt)
    init_ros(arguments)
    node = rclpy.create_node(name, namespace=namespace.strip("/"), start_parameter_services=False)
    try:
        yield node
    except KeyboardInterrupt:
        sys.exit(EXIT_CANCELLED)
    finally:
        for client in [one for one in node.waitables if isinstance(one, ActionClient)]:
            # a node does not destroy its clients, and their DDS threads crash the interpreter at exit
            client.destroy()
        node.destroy_node()
        rclpy.try_shutdown()


def _interrupt(number: int, frame: Any) -> None:
    if _signals["came"] or not _signals["spins"]:  # a second one does not wait for a callback that hangs
        raise KeyboardInterrupt
    _signals["came"] = True


@contextmanager
def spinning() -> Iterator[None]:
    """Let a signal that arrives during the context raise its KeyboardInterrupt at the context's end.

    rclpy converts messages in native code, which tells an exception raised meanwhile as a RuntimeError, and Python
    drops one that is raised in a destructor.
    """
    _signals["spins"] = True
    try:
        yield
    except RuntimeError:  # as rclpy tells the exception of a second signal
        if not _signals["came"]:
            raise
    finally:
        came, _signals["spins"], _signals["came"] = _signals["came"], False, False
    if came:
        raise KeyboardInterrupt


def spin_once(node: Node, seconds: float) -> None:
    """Run one callback of the node, waiting at most so long. Raises KeyboardInterrupt; see `spinning`."""
    with spinning():
        rclpy.spin_once(node, timeout_sec=seconds)


def wait(node: Node, future: Any, seconds: float) -> bool:
    """Spin the node until the future is done or time is up; return whether it is done.

    Raises KeyboardInterrupt after a signal, once per signal.
    """
    end = time.monotonic() + seconds
    while not future.done() and (left := end - time.monotonic()) > 0.0:
        with spinning():
            rclpy.spin_until_future_complete(node, future, timeout_sec=min(left, _POLL))
    return bool(future.done())


def not_heard(node: Node) -> str:
    """Return possible reasons why a running stack is not found, with the current settings."""
    domain = os.environ.get("ROS_DOMAIN_ID") or "0"
    given = os.environ.get("ROS_AUTOMATIC_DISCOVERY_RANGE") or "SUBNET"
    reach = f"ROS_AUTOMATIC_DISCOVERY_RANGE={given}, for another machine it must be SUBNET on both"
    if given == "SYSTEM_DEFAULT":  # see keep_to_profile
        profile = os.environ.get("FASTDDS_DEFAULT_PROFILES_FILE", "")
        reach = f"FASTDDS_DEFAULT_PROFILES_FILE={profile}, which names the interfaces"
    elif os.environ.get("ROS_DISTRO") == "humble":
        reach = f"ROS_LOCALHOST_ONLY={os.environ.get('ROS_LOCALHOST_ONLY') or '0'}, on another machine it must be 0"
    return (
        "Is the stack running, and as here: "
        f"ROS_DOMAIN_ID={domain}; namespace {node.get_namespace()} (--namespace); {reach}?"
    )

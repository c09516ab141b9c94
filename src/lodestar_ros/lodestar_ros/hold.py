"""`python -m lodestar_ros.hold on|off`: hold the robot, or release all holds and pauses, from a terminal."""

from __future__ import annotations

import os
import sys
import time
from typing import Any

from rclpy.node import Node

from lodestar_interfaces.msg import Hold, Holds
from lodestar_interfaces.srv import PlaceHold, ReleaseHold
from lodestar_ros import qos
from lodestar_ros.motion.holds import standing_from_msg
from lodestar_ros.terminal import command_line, not_heard, parse, spin_once, terminal_node, wait


def main(arguments: list[str] | None = None) -> int:
    """Hold or release the robot; return exit status 0 if the gate has recorded it, else 1."""
    parser = command_line("hold", __doc__)
    parser.add_argument("state", choices=("on", "off"))
    parser.add_argument("--timeout", type=float, default=5.0, help="seconds to wait for the motion gate")
    options, given = parse(parser, arguments)
    with terminal_node("hold_client", options.namespace, given) as node:
        done = (_hold if options.state == "on" else _release)(node, options.timeout)
        if done is None:
            advice = f"motion_gate did not answer: use the robot's own emergency stop. {not_heard(node)}"
            print(advice, file=sys.stderr)
    return 0 if done else 1


def _hold(node: Node, timeout: float) -> bool | None:
    asked = PlaceHold.Request(kind=Hold.HOLD, who=_who(), why="asked for in a terminal")
    placed = _call(node, PlaceHold, "motion_gate/place_hold", asked, timeout)
    if placed is not None:
        print(f"held: nothing moves until number {placed.number} is released", flush=True)
        if placed.error_msg:
            print(placed.error_msg, file=sys.stderr)
    return None if placed is None else True


def _release(node: Node, timeout: float) -> bool | None:
    """Release all standing holds and pauses and print them; return the success, None without an answer."""
    heard: list[Holds] = []
    node.create_subscription(Holds, "motion_gate/holds", heard.append, qos.LATCHED)
    end = time.monotonic() + timeout
    while not heard and time.monotonic() < end:
        spin_once(node, 0.1)
    if not heard:
        return None
    standing = standing_from_msg(heard[-1]).records
    if not standing:
        print("nothing holds the robot", flush=True)
        return True
    done = True
    for one in standing:
        asked = ReleaseHold.Request(number=one.number, who=_who())
        told = _call(node, ReleaseHold, "motion_gate/release_hold", asked, timeout)
        if told is None:
            return None
        print(told.error_msg or f"released: {one}", flush=True)
        done = done and not told.error_code
    return done


def _who() -> str:
    return f"{os.environ.get('USER') or os.getuid()} in a terminal"  # a user of a container may have no name


def _call(node: Node, kind: Any, server: str, request: Any, timeout: float) -> Any:
    """Return the server's response, None if there is none in time."""
    client = node.create_client(kind, server)
    if not client.wait_for_service(timeout):
        return None
    future = client.call_async(request)
    return future.result() if wait(node, future, timeout) else None


if __name__ == "__main__":
    sys.exit(main())

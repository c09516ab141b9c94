"""`python -m lodestar_ros.hold on|off`: latch or release the robot's stop from a terminal."""

from __future__ import annotations

import argparse
import sys

import rclpy
from rclpy.node import Node
from std_srvs.srv import SetBool

from lodestar_ros.terminal import not_heard, parse, terminal_node

#: Both are called: the gate stops the base at once, the goal selector also cancels the navigator.
SERVERS = ("motion_gate/hold", "goal_selector/hold")


def main(arguments: list[str] | None = None) -> int:
    """Return exit status 0 if the gate accepted: then no velocity passes (or may pass again after `off`)."""
    parser = argparse.ArgumentParser(prog="python -m lodestar_ros.hold", description=__doc__)
    parser.add_argument("state", choices=("on", "off"))
    parser.add_argument("--timeout", type=float, default=5.0, help="seconds to wait for each of the two")
    options, given = parse(parser, arguments)
    taken = {}
    with terminal_node("hold_client", options.namespace, given) as node:
        for server in SERVERS:
            taken[server] = _call(node, server, options.state == "on", options.timeout)
            print(f"{server}: {'hold ' + options.state if taken[server] else 'NO ANSWER'}", flush=True)
        if taken[SERVERS[0]]:
            return 0
        print(
            f"motion_gate did not answer: use the robot's own emergency stop. {not_heard(node)}",
            file=sys.stderr,
        )
    return 1


def _call(node: Node, server: str, hold: bool, timeout: float) -> bool:
    client = node.create_client(SetBool, server)
    if not client.wait_for_service(timeout):
        return False
    future = client.call_async(SetBool.Request(data=hold))
    rclpy.spin_until_future_complete(node, future, timeout_sec=timeout)
    return future.done() and future.result().success


if __name__ == "__main__":
    sys.exit(main())

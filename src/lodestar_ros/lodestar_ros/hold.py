"""`python -m lodestar_ros.hold on|off`: latch or release the robot's stop from a terminal."""

from __future__ import annotations

import argparse
import sys

import rclpy
from std_srvs.srv import SetBool

#: Both are told: the gate stops the base at once, the goal selector also cancels the navigator.
SERVERS = ("motion_gate/hold", "goal_selector/hold")
_TIMEOUT = 5.0  # s of wall time, per server


def main(arguments: list[str] | None = None) -> int:
    """Exit status 0 when the gate took it: then no velocity passes (or may pass again after `off`)."""
    parser = argparse.ArgumentParser(prog="python -m lodestar_ros.hold", description=__doc__)
    parser.add_argument("state", choices=("on", "off"))
    options = parser.parse_args(arguments)
    rclpy.init()
    node = rclpy.create_node("hold_client", start_parameter_services=False)
    taken = {}
    try:
        for server in SERVERS:
            taken[server] = _call(node, server, options.state == "on")
            print(f"{server}: {'hold ' + options.state if taken[server] else 'NO ANSWER'}", flush=True)
    finally:
        node.destroy_node()
        rclpy.shutdown()
    if not taken[SERVERS[0]]:
        print(
            "motion_gate did not answer: use the robot's own emergency stop. "
            "Is the stack running with the same ROS_DOMAIN_ID?",
            file=sys.stderr,
        )
        return 1
    return 0


def _call(node, server: str, hold: bool) -> bool:
    client = node.create_client(SetBool, server)
    if not client.wait_for_service(_TIMEOUT):
        return False
    future = client.call_async(SetBool.Request(data=hold))
    rclpy.spin_until_future_complete(node, future, timeout_sec=_TIMEOUT)
    return future.done() and future.result().success


if __name__ == "__main__":
    sys.exit(main())

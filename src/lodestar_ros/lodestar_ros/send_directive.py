"""`python -m lodestar_ros.send_directive "find the red chair"`: one directive from a terminal.

Ctrl-C cancels it.
"""

from __future__ import annotations

import argparse
import sys

import rclpy
from rclpy.action import ActionClient
from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions

from lodestar_interfaces.action import FollowDirective

_SERVER_TIMEOUT = 15.0  # s of wall time
_CANCEL_TIMEOUT = 5.0  # s of wall time
EXIT_FAILED, EXIT_NO_SERVER, EXIT_CANCELLED = 1, 3, 130


def main(arguments: list[str] | None = None) -> int:
    """Exit status 0 when success was claimed, 1 when not, 3 when no server was there, 130 when cancelled."""
    parser = argparse.ArgumentParser(prog="python -m lodestar_ros.send_directive", description=__doc__)
    parser.add_argument("directive", help='what to do, e.g. "find the red chair next to the desk"')
    parser.add_argument("--time-limit", type=float, default=0.0, help="seconds; 0 = the node's default")
    options = parser.parse_args(arguments)
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    node = rclpy.create_node("send_directive", start_parameter_services=False)
    try:
        return _run(node, options.directive, options.time_limit)
    finally:
        node.destroy_node()
        rclpy.shutdown()


def _run(node: Node, directive: str, time_limit: float) -> int:
    client = ActionClient(node, FollowDirective, "follow_directive")
    if not client.wait_for_server(_SERVER_TIMEOUT):
        print(
            "No follow_directive server answered. Is a stack running, with the same ROS_DOMAIN_ID? "
            "Start one with: python -m lodestar_bringup sim",
            file=sys.stderr,
        )
        return EXIT_NO_SERVER
    goal = FollowDirective.Goal(text=directive, time_limit=Duration(seconds=time_limit).to_msg())
    sent = client.send_goal_async(goal, feedback_callback=_print_new_text())
    rclpy.spin_until_future_complete(node, sent)
    handle = sent.result()
    if not handle.accepted:
        print("The goal selector refused the directive; its log says why.", file=sys.stderr)
        return EXIT_FAILED
    finished = handle.get_result_async()
    try:
        rclpy.spin_until_future_complete(node, finished)
    except KeyboardInterrupt:
        print("Cancelling; the robot stops.", file=sys.stderr)
        handle.cancel_goal_async()
        rclpy.spin_until_future_complete(node, finished, timeout_sec=_CANCEL_TIMEOUT)
        return EXIT_CANCELLED
    result = finished.result().result
    print(result.report or result.error_msg)
    if result.error_code != FollowDirective.Result.NONE:
        print(f"error {result.error_code}: {result.error_msg}", file=sys.stderr)
    return 0 if result.success else EXIT_FAILED


def _print_new_text():
    last = ""

    def show(message) -> None:
        nonlocal last
        if message.feedback.text != last:
            last = message.feedback.text
            print(last, flush=True)

    return show


if __name__ == "__main__":
    sys.exit(main())

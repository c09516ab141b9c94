"""`python -m lodestar_ros.send_directive "find the red chair"`: send one directive from a terminal.

Ctrl-C and a closed terminal cancel it; if this process is killed, it ends within 3 s. Exit status: 0 success was
reported; 1 failure; 3 no goal selector answered, or it is gone; 130 cancelled.
"""

from __future__ import annotations

import sys
import time
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from rclpy.action import ActionClient
from rclpy.duration import Duration
from rclpy.node import Node
from sensor_msgs.msg import CompressedImage

from lodestar_interfaces.action import FollowDirective
from lodestar_ros.client_watch import OwnedGoal
from lodestar_ros.directive_run import RECEIPT_TIMEOUT, DirectiveRun, End
from lodestar_ros.selector_watch import SelectorWatch
from lodestar_ros.terminal import (
    EXIT_CANCELLED,
    command_line,
    not_heard,
    parse,
    spin_once,
    terminal_node,
    wait,
)

# Timeouts in seconds of wall time.
_SERVER_TIMEOUT = 15.0
_RETURN_TIMEOUT = 20.0  # for a goal selector that is restarted after 0.5 s, and starts for some seconds
_POLL = 0.25
EXIT_FAILED, EXIT_GONE = 1, 3


def main(arguments: list[str] | None = None) -> int:
    """Send the directive and wait for its end; return the exit status (see the module)."""
    parser = command_line("send_directive", __doc__)
    parser.add_argument(
        "directive", nargs="?", default="", help='what to do, e.g. "find the red chair next to the desk"'
    )
    parser.add_argument(
        "--answer",
        nargs=2,
        default=("", "0"),
        metavar=("QUESTION", "CHOICE"),
        help="the answer to a question that the robot asked back, instead of a directive",
    )
    parser.add_argument(
        "--image",
        type=Path,
        action="append",
        default=[],
        metavar="FILE",
        help="a picture of the target, or several",
    )
    parser.add_argument("--time-limit", type=float, default=0.0, help="seconds; 0 = the node's default")
    options, given = parse(parser, arguments)
    question, choice = options.answer
    if not choice.isdecimal() or bool(question) == bool(options.directive):
        parser.error("say a directive, or --answer with the question's id and the number of a choice")
    try:
        images = [
            CompressedImage(format=file.suffix.lstrip("."), data=file.read_bytes()) for file in options.image
        ]
    except OSError as error:
        parser.error(f"the picture cannot be read: {error}")
    with terminal_node("send_directive", options.namespace, given) as node:
        goal = FollowDirective.Goal(
            text=options.directive, images=images, question_id=question, choice=int(choice)
        )
        goal.time_limit = Duration(seconds=options.time_limit).to_msg()
        return _Sender(node).run(goal)


class _Sender:
    """Sends one directive, and supervises its goal selector."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._owner = OwnedGoal(node)
        self._client = ActionClient(node, FollowDirective, "follow_directive")
        self._watch = SelectorWatch(node, lambda text: print(text, flush=True))

    def run(self, goal: Any) -> int:
        """Send the goal and wait for its end; return the exit status."""
        run = DirectiveRun(self._client, self._watch, partial(wait, self._node))
        try:
            if not self._client.wait_for_server(_SERVER_TIMEOUT):
                return _complain(
                    f"No follow_directive server answered. {not_heard(self._node)} "
                    "Start one with: python -m lodestar_bringup sim"
                )
            end = run.follow(self._owner.mark(goal))
        except (KeyboardInterrupt, OSError):  # interrupted, or the terminal is closed
            return self._cancel(run)
        if end is End.UNANSWERED:
            return _complain(
                f"The goal selector is gone: it did not answer within {RECEIPT_TIMEOUT:.0f} s. "
                f"{not_heard(self._node)}"
            )
        if end is End.REFUSED:
            print("The goal selector refused the directive; see its log for the reason.", file=sys.stderr)
            return EXIT_FAILED
        if end is End.SILENT:
            return self._lost(run.silent)
        assert run.result is not None
        return _told(run.result)

    def _lost(self, silent: float) -> int:
        """Report that the goal selector sends no feedback any more, and whether it was restarted; return the
        exit status.
        """
        _complain(
            f"The goal selector is gone: nothing heard of it for {silent:.0f} s. The motion gate has stopped the "
            "robot, as it does 0.5 s after the last heartbeat."
        )
        end = time.monotonic() + _RETURN_TIMEOUT
        while not self._watch.came_back_held and time.monotonic() < end:
            spin_once(self._node, _POLL)
        if self._watch.came_back_held:
            return _complain(
                "It died with the directive and came back held; the robot stands. When it may move again: python -m "
                "lodestar_ros.hold off; then send the directive again."
            )
        return _complain(
            "If it is started again it is held until: python -m lodestar_ros.hold off. If only this terminal is cut "
            "off, stop the robot with: python -m lodestar_ros.hold on"
        )

    def _cancel(self, run: DirectiveRun) -> int:
        said = (
            "Cancelled; the robot stops."
            if run.accepted
            else "Interrupted before the goal selector answered."
        )
        with suppress(KeyboardInterrupt):  # a second one waits for no answer
            run.cancel()
        with suppress(OSError):  # the terminal may be closed
            print(said, file=sys.stderr, flush=True)
        return EXIT_CANCELLED


def _told(result: FollowDirective.Result) -> int:
    """Print the result and return the exit status."""
    print(result.report or result.error_msg)
    if result.error_code != FollowDirective.Result.NONE:
        print(f"error {result.error_code}: {result.error_msg}", file=sys.stderr)
    if result.question:
        print(result.question)
        for number, words in enumerate(result.choices, start=1):
            command = f"python -m lodestar_ros.send_directive --answer {result.question_id} {number}"
            print(f"  {number}. {words}: {command}")
    return 0 if result.success else EXIT_FAILED


def _complain(message: str) -> int:
    print(message, file=sys.stderr)
    return EXIT_GONE


if __name__ == "__main__":
    sys.exit(main())

"""`python -m lodestar_ros.correct "that is a stool"`: correct a belief of the robot, or undo a correction.

Exit status: 0 done; 1 refused, with the reason; 2 bad usage; 3 no world model answered; 130 cancelled.
"""

from __future__ import annotations

import sys
from functools import partial

from rclpy.action import ActionClient
from rclpy.node import Node

from lodestar.worldmodel.corrections import EXAMPLES
from lodestar_interfaces.action import CorrectBelief
from lodestar_ros.sent_goal import SentGoal
from lodestar_ros.terminal import EXIT_CANCELLED, command_line, not_heard, parse, terminal_node, wait

# Timeouts in seconds of wall time.
_SERVER_TIMEOUT = 15.0
_ANSWER_TIMEOUT = 20.0
EXIT_REFUSED, EXIT_GONE = 1, 3


def main(arguments: list[str] | None = None) -> int:
    """Correct a belief; return the exit status (see the module)."""
    parser = command_line("correct", __doc__)
    parser.add_argument("words", nargs="?", default="", help=f"such as {EXAMPLES}")
    parser.add_argument(
        "--entity", type=int, default=0, metavar="ID", help='what "that" is; by default what the robot faces'
    )
    parser.add_argument("--undo", type=int, default=0, metavar="N", help="take entry N of the journal back")
    options, given = parse(parser, arguments)
    if bool(options.words.strip()) == bool(options.undo):
        parser.error("say what is wrong in words, or give --undo N")
    if min(options.entity, options.undo) < 0:
        parser.error("ids and numbers of entries are above 0")
    goal = CorrectBelief.Goal(text=options.words, entity_id=options.entity, undo=options.undo)
    with terminal_node("correct_belief", options.namespace, given) as node:
        return _run(node, goal)


def _run(node: Node, goal: CorrectBelief.Goal) -> int:
    client = ActionClient(node, CorrectBelief, "world_model/correct")
    if not client.wait_for_server(_SERVER_TIMEOUT):
        return _gone(node)
    sent = SentGoal(client, CorrectBelief, goal, lambda message: None)
    try:
        if not sent.wait(partial(wait, node), _ANSWER_TIMEOUT):
            return _gone(node)
        handle = sent.answer.result()
        if not handle.accepted:
            print("The world model has too many corrections; try again soon.", file=sys.stderr)
            return EXIT_REFUSED
        finished = handle.get_result_async()
        if not wait(node, finished, _ANSWER_TIMEOUT):
            return _gone(node)
    except KeyboardInterrupt:
        sent.cancel()
        return EXIT_CANCELLED
    result = finished.result().result
    if result.error_code:
        print(f"error {result.error_code}: {result.error_msg}", file=sys.stderr)
        return EXIT_REFUSED
    print(result.report)
    return 0


def _gone(node: Node) -> int:
    print(
        f"No world model answered. {not_heard(node)} Start one with: python -m lodestar_bringup sim",
        file=sys.stderr,
    )
    return EXIT_GONE


if __name__ == "__main__":
    sys.exit(main())

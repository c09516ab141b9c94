"""`python -m lodestar_ros.why`: explain the robot's actions, from a running stack or from a decision log.

Exit status: 0 explained; 1 nothing to explain; 2 bad usage; 3 no goal selector answered.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import rclpy

from lodestar.worldmodel.decision_log import Record, read_records
from lodestar_interfaces import msg
from lodestar_ros import qos
from lodestar_ros.conversions import BadMessage
from lodestar_ros.conversions_agent import decision_from_msg
from lodestar_ros.conversions_world import outcome_from_msg, trace_from_msg
from lodestar_ros.decision_history import Episode, episodes, why
from lodestar_ros.terminal import command_line, not_heard, parse, spin_once, terminal_node

# Timeouts in seconds of wall time.
_LISTEN_AT_MOST = 15.0  # to wait for a goal selector
_QUIET = 0.5  # without a message, after which all kept messages have arrived
_LATE = 5.0  # likewise while the newest action lacks its trace; a refused proposal has none
EXIT_NOTHING, EXIT_USAGE, EXIT_GONE = 1, 2, 3


def main(arguments: list[str] | None = None) -> int:
    """Print the explanation; return the exit status (see the module)."""
    parser = _parser()
    options, given = parse(parser, arguments)
    if options.last < 1:
        parser.error("--last needs a number of 1 or more")
    try:
        moment = None if options.at is None else stamp_of(options.at)
    except ValueError:
        parser.error(f"--at needs seconds, HH:MM or HH:MM:SS, not {options.at!r}")
    if options.log is not None:
        try:
            records = list(read_records(options.log))
        except (OSError, ValueError) as error:
            parser.error(f"the log cannot be read: {error}")
    else:
        with terminal_node("why", options.namespace, given) as node:
            records, answered = _heard(node)
            if not answered:
                print(f"No goal selector answered. {not_heard(node)}", file=sys.stderr)
                return EXIT_GONE
    found = chosen(episodes(records), options.directive, moment, options.last)
    if not found:
        print("There is no decision to explain: none was made, or none fits --directive and --at.")
        return EXIT_NOTHING
    print("\n".join(line for episode in found for line in why(episode)))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = command_line("why", __doc__)
    parser.add_argument(
        "--at", metavar="TIME", help="the decision that held then: seconds, HH:MM or HH:MM:SS"
    )
    parser.add_argument(
        "--directive", type=int, metavar="N", help="only of the Nth directive, counted from 1"
    )
    parser.add_argument("--last", type=int, default=1, metavar="N", help="so many decisions (1)")
    parser.add_argument("--log", type=Path, metavar="FILE", help="a decision log instead of a running stack")
    return parser


def stamp_of(text: str, today: datetime | None = None) -> float:
    """Return the stamp of a time given as seconds, or as a time of day on `today`. Raises ValueError."""
    if ":" not in text:
        return float(text)
    clock = datetime.strptime(text, "%H:%M:%S" if text.count(":") == 2 else "%H:%M")
    return (today or datetime.now()).replace(
        hour=clock.hour, minute=clock.minute, second=clock.second, microsecond=999_999
    ).timestamp()  # fmt: skip


def chosen(found: list[Episode], directive: int | None, moment: float | None, last: int) -> list[Episode]:
    """Return the last actions of a history that began no later than `moment`, of one directive or of all."""
    fitting = [
        one
        for one in found
        if (directive is None or one.number == directive) and (moment is None or one.stamp <= moment)
    ]
    return fitting[-last:]


def _heard(node: rclpy.node.Node) -> tuple[list[Record], bool]:
    """Return the records that the goal selector keeps, and whether there is a goal selector."""
    records: list[Record] = []
    heard_at = [0.0]

    def take(convert: Callable[[Any], Record], message: Any) -> None:
        heard_at[0] = time.monotonic()
        try:
            records.append(convert(message))
        except BadMessage as error:
            print(f"skipped a record: {error}", file=sys.stderr)

    for kind, name, convert in (
        (msg.ReasoningTrace, "goal_selector/traces", trace_from_msg),
        (msg.Decision, "goal_selector/decision", decision_from_msg),
        (msg.TraceOutcome, "goal_selector/outcomes", outcome_from_msg),
    ):
        node.create_subscription(
            kind, name, lambda message, convert=convert: take(convert, message), qos.HISTORY
        )
    begun = time.monotonic()
    while time.monotonic() - begun < _LISTEN_AT_MOST:
        spin_once(node, 0.1)
        whole = all(episode.trace for episode in episodes(records)[-1:])
        if records and time.monotonic() - heard_at[0] > (_QUIET if whole else _LATE):
            break
    there = bool(records) or node.count_publishers("goal_selector/traces") > 0
    return sorted(records, key=lambda record: getattr(record, "epoch", 0)), there


if __name__ == "__main__":
    sys.exit(main())

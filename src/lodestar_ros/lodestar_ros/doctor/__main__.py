"""`python -m lodestar_ros.doctor`: observe a running stack; report in plain words what is wrong and what to do.

The findings are published on /diagnostics too. Exit status, of the last observation: 0 sound; 1 warnings;
2 bad usage; 3 faults.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import asdict
from pathlib import Path

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rclpy.duration import Duration
from std_msgs.msg import Header

from lodestar_ros import qos
from lodestar_ros.doctor.checkup import checkup, worst
from lodestar_ros.doctor.findings import Finding, Level
from lodestar_ros.doctor.graph import GraphObserver
from lodestar_ros.doctor.profile_detector import try_detector
from lodestar_ros.terminal import command_line, parse, terminal_node

EXIT = {Level.NOTE: 0, Level.WARNING: 1, Level.FAULT: 3}
_DELIVERY = 1.0  # s to wait until the subscribers of /diagnostics have received the findings
_MARKS = {Level.NOTE: "note", Level.WARNING: "warning", Level.FAULT: "FAULT"}


def main(arguments: list[str] | None = None) -> int:
    """Print the findings; return the exit status (see the module)."""
    parser = command_line("doctor", __doc__)
    parser.add_argument("--seconds", type=float, default=8.0, help="how long to listen (8)")
    parser.add_argument(
        "--watch",
        type=float,
        default=0.0,
        metavar="SECONDS",
        help="look again after so many seconds, until Ctrl-C",
    )
    parser.add_argument("--json", action="store_true", help="print the findings as JSON")
    parser.add_argument(
        "--detector",
        type=Path,
        metavar="PROFILE",
        help="no stack: load a profile's detector, say what it can see",
    )
    parser.add_argument(
        "--words", nargs="+", default=[], metavar="WORD", help="of --detector: whether it sees these"
    )
    options, given = parse(parser, arguments)
    if options.detector is not None:
        return _try_detector(options)
    if not 1.0 <= options.seconds <= 120.0:
        parser.error("--seconds lies between 1 and 120")
    if options.watch < 0.0:
        parser.error("--watch is not negative")
    status = 0
    try:
        while True:
            status = _look(options, given)
            if not options.watch:
                return status
            time.sleep(options.watch)
    except KeyboardInterrupt:
        return status


def _try_detector(options: argparse.Namespace) -> int:
    """Load the detector of a profile and print the findings; return the exit status."""
    found, report = try_detector(options.detector, options.words)
    said = ""
    if report is not None:
        sees = "any text" if report.is_open else f"{len(report.names)} labels"
        seen = [f"  {one.word}: seen as {one.label}" for one in report.words if one.label]
        said = "\n".join(
            [f"{options.detector}: the detector is {report.detector} and can name {sees}.", *seen]
        )
    _print(found, said, options)
    return EXIT[worst(found)]


def _look(options: argparse.Namespace, given: list[str]) -> int:
    """Observe the stack once, publish and print the findings; return the exit status."""
    with terminal_node("doctor", options.namespace, given) as node:
        publisher = node.create_publisher(DiagnosticArray, "/diagnostics", qos.EVENT)
        seen, inputs = GraphObserver(node, node.get_namespace().rstrip("/")).observe(options.seconds)
        found = checkup(seen, inputs)
        publisher.publish(
            DiagnosticArray(header=Header(stamp=node.get_clock().now().to_msg()), status=[told(found)])
        )
        publisher.wait_for_all_acked(Duration(seconds=_DELIVERY))
    _print(found, f"Looked at {sum(seen.nodes.values())} nodes for {seen.seconds:.0f} s.", options)
    return EXIT[worst(found)]


def _print(found: list[Finding], said: str, options: argparse.Namespace) -> None:
    """Print the findings as JSON, or as text after the line `said`, as the options ask."""
    if options.json:
        print(json.dumps([{**asdict(finding), "level": finding.level.name} for finding in found], indent=2))
    else:
        print("\n".join([*([said] if said else []), *in_words(found)]), flush=True)


def told(found: list[Finding]) -> DiagnosticStatus:
    """Return the findings as one diagnostic status: a value per finding, named by its check."""
    levels = (DiagnosticStatus.OK, DiagnosticStatus.WARN, DiagnosticStatus.ERROR)
    grave = [finding for finding in found if finding.level is not Level.NOTE]
    return DiagnosticStatus(
        name="doctor",
        level=levels[worst(found)],
        message="; ".join(finding.what for finding in grave) or "nothing is wrong",
        values=[KeyValue(key=finding.check, value=f"{finding.what} {finding.do}") for finding in found],
    )


def in_words(found: list[Finding]) -> list[str]:
    """Return the lines of a report."""
    lines: list[str] = []
    for finding in found:
        lines += [f"{_MARKS[finding.level]:<8} {finding.what}", f"{'':<8} -> {finding.do}"]
    if not found:
        lines.append("Nothing is wrong.")
    return lines


if __name__ == "__main__":
    sys.exit(main())

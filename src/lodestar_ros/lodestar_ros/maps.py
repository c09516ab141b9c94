"""`python -m lodestar_ros.maps save|load|export PATH`: save, load or export the map of a running stack."""

from __future__ import annotations

import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

from rclpy.action import ActionClient
from rclpy.node import Node

from lodestar_interfaces.action import ExportMap, LoadMap, SaveMap
from lodestar_ros.sent_goal import SentGoal
from lodestar_ros.terminal import command_line, not_heard, parse, terminal_node, wait

SERVER = "scene_dictionary"
# Timeouts in seconds of wall time.
_SERVER_TIMEOUT = 15.0
_SILENCE = 8.0  # feedback comes twice a second
_POLL = 0.25
EXIT_FAILED, EXIT_NO_SERVER = 1, 3


def main(arguments: list[str] | None = None) -> int:
    """Save, load or export; return the exit status: 0 done, 1 refused, 2 bad usage, 3 no live server."""
    parser = command_line("maps", __doc__)
    parser.add_argument("what", choices=("save", "load", "export"))
    parser.add_argument(
        "path",
        help="a folder for save and load (for load also one of the saves in it, such as MAP/snapshot-000003); "
        "for export a file that ends in .ply, .glb or .json",
    )
    parser.add_argument(
        "--force",
        action="store_true",
        help="save: replace a map that holds much more; export: replace a file that is there",
    )
    options, given = parse(parser, arguments)
    if options.force and options.what == "load":
        parser.error("load replaces nothing on the disk: it knows no --force")
    path = str(Path(options.path).expanduser().absolute())
    form = Path(path).suffix.lstrip(".").lower()
    if options.what == "export" and form not in ("ply", "glb", "json"):
        parser.error("export writes .ply (points by instance), .glb (mesh) or .json (entities)")
    action_type: Any = {"save": SaveMap, "load": LoadMap, "export": ExportMap}[options.what]
    fields: dict[str, Any] = {} if options.what == "load" else {"force": options.force}
    if options.what == "export":
        fields["format"] = form
    goal = action_type.Goal(path=path, **fields)
    with terminal_node("maps_client", options.namespace, given) as node:
        return _run(node, options.what, action_type, goal)


def _run(node: Node, what: str, action_type: Any, goal: Any) -> int:
    client = ActionClient(node, action_type, f"{SERVER}/{what}")
    if not client.wait_for_server(_SERVER_TIMEOUT):
        print(f"{SERVER} did not answer. {not_heard(node)}", file=sys.stderr)
        return EXIT_NO_SERVER
    heard = [time.monotonic()]
    sent = SentGoal(client, action_type, goal, lambda _: heard.append(time.monotonic()))
    if not sent.wait(partial(wait, node), _SILENCE):
        return _gone()
    if not sent.answer.result().accepted:
        print(f"{SERVER} is busy with another map", file=sys.stderr)
        return EXIT_FAILED
    finished = sent.answer.result().get_result_async()
    if not _done(node, finished, heard):
        return _gone()
    result = finished.result().result
    if result.error_code != 0:
        print(f"error {result.error_code}: {result.error_msg}", file=sys.stderr)
        return EXIT_FAILED
    done = {"save": "saved to", "load": "loaded from", "export": "exported to"}[what]
    counted = [f"{result.entity_count} entities"] if hasattr(result, "entity_count") else []
    written = [f"{result.bytes_written / 2**20:.1f} MiB"] if hasattr(result, "bytes_written") else []
    for note in getattr(result, "left_out", ()):
        print(note, file=sys.stderr)
    print(f"{', '.join([*counted, *written])} {done} {goal.path}")
    return 0


def _done(node: Node, future: Any, heard: list[float]) -> bool:
    """Wait for a future; return False if the server falls silent. heard: times of its feedback, ascending."""
    heard.append(time.monotonic())
    while not future.done():
        if not wait(node, future, _POLL) and time.monotonic() - heard[-1] > _SILENCE:
            return False
    return True


def _gone() -> int:
    print(
        f"{SERVER} has said nothing for {_SILENCE:.0f} s: it died or hangs. What was saved before is as it was. "
        "Look at its log, and try again when it is up",
        file=sys.stderr,
    )
    return EXIT_NO_SERVER


if __name__ == "__main__":
    sys.exit(main())

"""`python -m lodestar_ros.maps save|load|export PATH`: the map of a running stack from a terminal."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import rclpy
from rclpy.action import ActionClient
from rclpy.node import Node

from lodestar_interfaces.action import ExportMap, LoadMap, SaveMap
from lodestar_ros.terminal import not_heard, parse, terminal_node

SERVER = "scene_dictionary"
_SERVER_TIMEOUT = 15.0  # s of wall time
EXIT_FAILED, EXIT_NO_SERVER = 1, 3


def main(arguments: list[str] | None = None) -> int:
    """Exit status 0 when it was done, 1 when it was refused, 2 for bad usage, 3 when no server was there."""
    parser = argparse.ArgumentParser(prog="python -m lodestar_ros.maps", description=__doc__)
    parser.add_argument("what", choices=("save", "load", "export"))
    parser.add_argument(
        "path", help="a folder for save and load; for export a file that ends in .ply, .glb or .json"
    )
    options, given = parse(parser, arguments)
    path = str(Path(options.path).expanduser().absolute())
    form = Path(path).suffix.lstrip(".").lower()
    if options.what == "export" and form not in ("ply", "glb", "json"):
        parser.error("export writes .ply (points by instance), .glb (mesh) or .json (entities)")
    action_type: Any = {"save": SaveMap, "load": LoadMap, "export": ExportMap}[options.what]
    goal = action_type.Goal(path=path, **({"format": form} if options.what == "export" else {}))
    with terminal_node("maps_client", options.namespace, given) as node:
        return _run(node, options.what, action_type, goal)


def _run(node: Node, what: str, action_type: Any, goal: Any) -> int:
    client = ActionClient(node, action_type, f"{SERVER}/{what}")
    if not client.wait_for_server(_SERVER_TIMEOUT):
        print(f"{SERVER} did not answer. {not_heard(node)}", file=sys.stderr)
        return EXIT_NO_SERVER
    sent = client.send_goal_async(goal)
    rclpy.spin_until_future_complete(node, sent)
    if not sent.result().accepted:
        print(f"{SERVER} is busy with another map", file=sys.stderr)
        return EXIT_FAILED
    finished = sent.result().get_result_async()
    rclpy.spin_until_future_complete(node, finished)
    result = finished.result().result
    if result.error_code != 0:
        print(f"error {result.error_code}: {result.error_msg}", file=sys.stderr)
        return EXIT_FAILED
    done = {"save": "saved to", "load": "loaded from", "export": "exported to"}[what]
    counted = [f"{result.entity_count} entities"] if hasattr(result, "entity_count") else []
    written = [f"{result.bytes_written / 2**20:.1f} MiB"] if hasattr(result, "bytes_written") else []
    print(f"{', '.join([*counted, *written])} {done} {goal.path}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

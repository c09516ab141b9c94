"""`python -m lodestar_ros.changes BEFORE [AFTER]`: report the changes between two saved maps, or since a map was saved.

Without AFTER, BEFORE is compared with the scene of the running stack, which must have loaded it.
Exit status: 0 reported; 1 the maps cannot be compared; 2 bad usage; 3 no scene dictionary answered.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import rclpy
from rclpy.node import Node

from lodestar.assembly.parts import category_priors
from lodestar.assembly.session_maps import running_session, saved_session
from lodestar.assembly.shared import SharedConfig
from lodestar.models.category_priors import BadPriors, CategoryPriors
from lodestar.models.english import duration_in_words
from lodestar.scene.change_report import report_json, report_lines
from lodestar.scene.mirror import SceneMirror
from lodestar.scene.session_changes import ThingChange, watchings_of
from lodestar.scene.session_sights import CHANGE_ELAPSED, OtherMap, SessionScene, changes_between
from lodestar.storage.archive import ArchiveError
from lodestar.storage.files import write_file
from lodestar.storage.snapshot import BadFolder
from lodestar_interfaces import msg
from lodestar_ros import qos
from lodestar_ros.change_events import events_of
from lodestar_ros.conversions import BadMessage
from lodestar_ros.conversions_regions import regions_from_msg
from lodestar_ros.conversions_scene import scene_from_msg
from lodestar_ros.delta_client import Parts, entities_client
from lodestar_ros.terminal import command_line, not_heard, parse, spin_once, terminal_node

SERVER = "scene_dictionary"
EVENTS = "world_model/events"
_PATIENCE = 15.0  # seconds of wall time for the scene of a running stack
_HEARD = 3.0  # seconds of wall time to wait for a subscriber of the events, and for its acknowledgement
_ROOMS = 1.0  # seconds of wall time to wait for the rooms, after the scene was received
EXIT_APART, EXIT_GONE = 1, 3


def main(arguments: list[str] | None = None) -> int:
    """Print the report; return the exit status (see the module)."""
    parser = _parser()
    options, given = parse(parser, arguments)
    if options.after is None and options.same_frame:
        parser.error(
            "--same-frame is for two saved maps; a running stack is compared with the map that it has loaded"
        )
    if options.after is not None and options.tell:
        parser.error("--tell is for a running stack: leave AFTER out")
    if options.hours is not None and not (math.isfinite(options.hours) and options.hours > 0.0):
        parser.error("--hours needs a number above 0")
    try:
        begins = options.learn and options.priors is not None and not options.priors.expanduser().exists()
        priors = category_priors("" if begins else options.priors or "")
        before = saved_session(options.before)
        if options.after is not None:
            return _report(options, before, saved_session(options.after), priors)
        with terminal_node("changes_client", options.namespace, given) as node:
            mirror = _heard_scene(node)
            if mirror is None:
                print(f"{SERVER} did not answer. {not_heard(node)}", file=sys.stderr)
                return EXIT_GONE
            return _report(options, before, running_session(mirror, time.time()), priors, node)
    except (BadFolder, ArchiveError, BadPriors, OtherMap, OSError) as error:
        print(f"changes: {error}", file=sys.stderr)
        return EXIT_APART


def _parser() -> argparse.ArgumentParser:
    parser = command_line("changes", __doc__)
    parser.add_argument("before", type=Path, help="folder of a saved map, or one of the saves in it")
    parser.add_argument("after", type=Path, nargs="?", help="a later save; without it the running stack")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the report as JSON too")
    parser.add_argument(
        "--hours", type=float, help="between both sessions (default: by the times of the saves)"
    )
    parser.add_argument(
        "--same-frame", action="store_true", help="the maps were built apart, but in one frame of coordinates"
    )
    parser.add_argument(
        "--priors", type=Path, metavar="FILE", help="counts of how often kinds of things move"
    )
    parser.add_argument(
        "--learn", action="store_true", help="add what was observed to the file of --priors, or begin it"
    )
    parser.add_argument(
        "--tell", action="store_true", help=f"publish the changes on {EVENTS}, which the memory keeps"
    )
    return parser


def _report(
    options: argparse.Namespace,
    before: SessionScene,
    after: SessionScene,
    priors: CategoryPriors,
    node: Node | None = None,
) -> int:
    """Print the changes, write them as JSON, update priors and publish events, as the options ask.

    Raises OtherMap, OSError.
    """
    elapsed = after.saved - before.saved if options.hours is None else 3600.0 * options.hours
    if math.isfinite(elapsed) and elapsed <= 0.0:
        print(
            "changes: the second map is not later than the first; their order may be wrong", file=sys.stderr
        )
    known = math.isfinite(elapsed) and elapsed > 0.0
    changes = changes_between(before, after, elapsed, priors, options.same_frame)
    print("\n".join(report_lines(changes, elapsed, after.room_at)))
    if not known:
        print(
            f"The time between them is not known; {duration_in_words(CHANGE_ELAPSED)} are assumed (--hours)."
        )
    if options.json is not None:
        text = json.dumps(report_json(changes, elapsed, after.room_at), indent=1, ensure_ascii=False)
        write_file(options.json, [text.encode() + b"\n"])
    if options.learn and options.priors is not None and known:
        priors.learned(watchings_of(changes, elapsed)).save(options.priors)
        print(f"Learned from {len(watchings_of(changes, elapsed))} things: {options.priors}")
    elif options.learn:
        print("Nothing was learned: --learn needs --priors FILE and a known time (--hours).", file=sys.stderr)
    if options.tell and node is not None:
        _tell(node, changes, after)
    return 0


def _heard_scene(node: Node) -> SceneMirror | None:
    """Return the scene of the running stack with its rooms; None if it was not received."""
    mirror = SceneMirror()
    pages: list[Parts] = []
    entities_client(node, f"{SERVER}/get_entities", pages.append, archived=True)
    regions: list[msg.RegionArray] = []
    node.create_subscription(msg.RegionArray, f"{SERVER}/regions", regions.append, qos.LATCHED)
    begun = time.monotonic()
    while not pages and time.monotonic() - begun < _PATIENCE:
        spin_once(node, 0.1)
    if not pages:
        return None
    begun = time.monotonic()
    while not regions and time.monotonic() - begun < _ROOMS:
        spin_once(node, 0.1)
    try:
        for _, page in pages[0]:
            mirror.take(scene_from_msg(page))
        if regions:
            mirror.set_regions(*regions_from_msg(regions[-1], SharedConfig.region_reach))
    except BadMessage as error:
        print(f"changes: a message of {SERVER} cannot be read: {error}", file=sys.stderr)
        return None
    return mirror


def _tell(node: Node, changes: Sequence[ThingChange], scene: SessionScene) -> None:
    """Publish the changes as events once there is a subscriber; give up after `_HEARD` seconds."""
    publisher = node.create_publisher(msg.WorldEvent, EVENTS, qos.EVENT)
    events = events_of(changes, scene.room_at, node.get_clock().now().nanoseconds * 1e-9)
    begun = time.monotonic()
    while not publisher.get_subscription_count() and time.monotonic() - begun < _HEARD:
        spin_once(node, 0.1)
    if not publisher.get_subscription_count():
        print(f"Nobody listens to {EVENTS}: nothing was told.", file=sys.stderr)
        return
    for event in events:
        publisher.publish(event)
    publisher.wait_for_all_acked(rclpy.duration.Duration(seconds=_HEARD))
    print(f"Told {len(events)} events on {EVENTS}.")


if __name__ == "__main__":
    sys.exit(main())

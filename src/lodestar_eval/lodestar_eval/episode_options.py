"""Command-line options of the benchmark `episodes`."""

from __future__ import annotations

import argparse

from lodestar_eval.options import (
    DETECTORS,
    MEASURED,
    add_reasoner_options,
    add_search_options,
    add_selection_options,
)
from lodestar_eval.trials import SETTINGS, all_rows, core_rows


def policies_of(text: str) -> tuple[str, ...]:
    """Return the policies named by "core", "all" or a comma-separated list."""
    groups = {"core": core_rows(), "all": all_rows()}
    chosen = dict.fromkeys(name for part in text.split(",") for name in groups.get(part, (part,)))
    foreign = [name for name in chosen if name not in all_rows()]
    if foreign:
        raise argparse.ArgumentTypeError(
            f"there is no policy {', '.join(foreign)!r}; there are core, all, {', '.join(all_rows())}"
        )
    return tuple(chosen)


def settings_of(text: str) -> tuple[str, ...]:
    """Return the map settings named in a comma-separated list such as "unexplored,pre-explored"."""
    foreign = [name for name in text.split(",") if name not in SETTINGS]
    if foreign:
        raise argparse.ArgumentTypeError(f"{', '.join(foreign)!r} is none of {', '.join(SETTINGS)}")
    return tuple(dict.fromkeys(SETTINGS[name] for name in text.split(",")))


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the benchmark to a parser."""
    parser.add_argument(
        "--world", "--worlds", default="apartment,office",
        help="apartment, office, warehouse, a world file, a real map; with commas between them "
        "(default apartment,office)",
    )  # fmt: skip
    add_search_options(parser, "1-30", MEASURED, 600.0, of="of buildings of every kind")
    parser.add_argument(
        "--policies", type=policies_of, default="bandit",
        help="core (the bandit, each expert alone, frontier_led, the reference), all, or names (default bandit)",
    )  # fmt: skip
    parser.add_argument(
        "--settings",
        type=settings_of,
        default="unexplored",
        help="unexplored,pre-explored (default unexplored)",
    )
    parser.add_argument(
        "--perception",
        choices=("labels", *DETECTORS),
        default="labels",
        help="labels (default): the simulator's, with --noise; on rendered images alone, nanodet: NanoDet (make "
        "detector); network: the packaged network",
    )
    parser.add_argument(
        "--floor",
        choices=("on", "off"),
        default=None,
        help="the floor layer of the map (default: as config/sim.yaml)",
    )
    parser.add_argument(
        "--world-model",
        choices=("on", "off"),
        default="on",
        help="validation of goals, diagnosis and recovery (default on)",
    )
    parser.add_argument(
        "--drift",
        action="store_true",
        help="odometry drifts as a Go2's does, and SLAM closes loops: map <- odom jumps while the robot searches",
    )
    add_reasoner_options(parser)
    add_selection_options(parser)
    parser.add_argument("--directive", default=None, help="instead of each seed's own")

"""Options of the benchmark `episodes`."""

from __future__ import annotations

import argparse
from pathlib import Path

from lodestar_eval.options import (
    DETECTORS,
    add_reasoner_options,
    add_selection_options,
    positive_int,
    positive_seconds,
    seed_list,
)
from lodestar_eval.trials import SETTINGS, WARM, all_rows, core_rows

NOISE_NAMES = ("none", "mild", "strong", "detector")  # of settings.NOISES, which is slow to import
MEASURED = "detector"  # the default where searches are told: a real detector's errors


def policies_of(text: str) -> tuple[str, ...]:
    """Policies of "core", "all" or names with commas between them."""
    groups = {"core": core_rows(), "all": all_rows()}
    chosen = dict.fromkeys(name for part in text.split(",") for name in groups.get(part, (part,)))
    foreign = [name for name in chosen if name not in (*all_rows(), WARM)]
    if foreign:
        raise argparse.ArgumentTypeError(
            f"there is no policy {', '.join(foreign)!r}; there are core, all, {', '.join((*all_rows(), WARM))}"
        )
    return tuple(chosen)


def settings_of(text: str) -> tuple[str, ...]:
    """Keys of "unexplored,pre-explored"."""
    foreign = [name for name in text.split(",") if name not in SETTINGS]
    if foreign:
        raise argparse.ArgumentTypeError(f"{', '.join(foreign)!r} is none of {', '.join(SETTINGS)}")
    return tuple(dict.fromkeys(SETTINGS[name] for name in text.split(",")))


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument(
        "--world", "--worlds", default="apartment,office",
        help="apartment, office, warehouse, a world file, a real map; with commas between them "
        "(default apartment,office)",
    )  # fmt: skip
    parser.add_argument(
        "--seeds", type=seed_list, default="1-30",
        help="such as 1-30 or 1,4,9-12, of every kind (default 1-30: 60 buildings)",
    )  # fmt: skip
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
        "--warm-seeds", type=seed_list, default=None, metavar="SEEDS",
        help="adds the row bandit_warm, which has worked in these worlds; none of them is evaluated",
    )  # fmt: skip
    parser.add_argument(
        "--limit-time",
        type=positive_seconds,
        default=600.0,
        metavar="S",
        help="simulated seconds per episode",
    )
    parser.add_argument(
        "--jobs", type=positive_int, default=1, help="processes that run episodes (default 1)"
    )
    parser.add_argument(
        "--answer-time", type=positive_seconds, default=None, metavar="S",
        help="simulated seconds that an expert takes to answer (default: what it was measured to take)",
    )  # fmt: skip
    parser.add_argument(
        "--noise", choices=NOISE_NAMES, default=MEASURED, help="of perception (default %(default)s)"
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
    parser.add_argument(
        "--experts",
        choices=("true", "changing"),
        default="true",
        help="changing: map and view claim false places, by a chance of each kind of building, and another one in each "
        "third of the buildings, which come in random order (default true)",
    )
    add_reasoner_options(parser)
    add_selection_options(parser)
    parser.add_argument("--directive", default=None, help="instead of each seed's own")
    parser.add_argument(
        "--log", type=Path, default=None, metavar="FILE", help="all decisions in one file, for replay-log"
    )

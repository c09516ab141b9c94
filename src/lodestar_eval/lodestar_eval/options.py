"""Types of command-line options; each raises ArgumentTypeError with what to write instead."""

from __future__ import annotations

import argparse
import math
from dataclasses import dataclass
from pathlib import Path

from lodestar.selection.config import SelectionConfig
from lodestar.selection.context import FEATURE_SETS
from lodestar.selection.reward import REWARDS

#: Detectors on colour images that benchmarks may use, and the size of their images (width, height), pixels; each has a
#: profile of its name in config/.
DETECTORS = {"nanodet": (640, 480), "network": (320, 240)}


@dataclass(frozen=True)
class SeedList:
    """Seeds in the given order, each once. `text`: as written."""

    text: str
    values: tuple[int, ...]

    @property
    def first(self) -> int:
        """Return the first seed."""
        return self.values[0]

    def __str__(self) -> str:
        return self.text


def seed_list(text: str) -> SeedList:
    """Return the seeds of "1-30" or "1,4,9-12"."""
    seeds: dict[int, None] = {}
    for part in text.split(","):
        first, dash, last = part.strip().partition("-")
        try:
            low = int(first)
            high = int(last) if dash else low
        except ValueError:
            raise argparse.ArgumentTypeError(f"{part!r} is no seed; write 1-30 or 1,4,9-12") from None
        if low < 0 or high < low:
            raise argparse.ArgumentTypeError(
                f"{part!r} is no range of seeds; write the smaller one first, as 1-30"
            )
        seeds.update(dict.fromkeys(range(low, high + 1)))
    return SeedList(text, tuple(seeds))


def positive_int(text: str) -> int:
    """Return a whole number of at least 1."""
    try:
        value = int(text)
    except ValueError:
        value = 0
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least 1")
    return value


def positive_seconds(text: str) -> float:
    """Return a finite time above 0, seconds."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not (math.isfinite(value) and value > 0.0):
        raise argparse.ArgumentTypeError(f"{text!r} is not a time in seconds above 0")
    return value


def add_selection_options(parser: argparse.ArgumentParser) -> None:
    """Add `--features` and `--reward`, with names and defaults of goal_selector's parameters."""
    default = SelectionConfig()
    parser.add_argument(
        "--features", choices=FEATURE_SETS, default=default.features,
        help=f"what the policy learns of: RoboAtlas IV-A or App. A (default {default.features})",
    )  # fmt: skip
    parser.add_argument(
        "--reward", choices=REWARDS, default=default.reward,
        help=f"what it learns from: eq. 5, or App. A for several subtasks (default {default.reward})",
    )  # fmt: skip


def selection_of(options: argparse.Namespace) -> SelectionConfig:
    """Return the configuration of the options of `add_selection_options`."""
    return SelectionConfig(features=options.features, reward=options.reward)


def add_reasoner_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the reasoner that experts ask: how slow it is, and what it sees."""
    parser.add_argument(
        "--think",
        type=positive_seconds,
        default=0.0,
        metavar="S",
        help="simulated seconds that the reasoner takes for an answer, beside the experts as a model does (default 0)",
    )
    parser.add_argument(
        "--late",
        type=positive_seconds,
        default=0.0,
        metavar="S",
        help="simulated seconds for which experts that ask the reasoner keep their answer back (default 0)",
    )
    parser.add_argument(
        "--against-undelayed", action="store_true",
        help="with --think or --late: adds a row without that delay for every policy, and compares the times",
    )  # fmt: skip
    parser.add_argument(
        "--eyes", choices=("none", "view", "pictures"), default="none",
        help="a scripted model judges views by their marks (view), or is shown pictures of frontiers and of the memory "
        "too (pictures)",
    )  # fmt: skip


def add_parts_option(parser: argparse.ArgumentParser) -> None:
    """Add `--parts`."""
    parser.add_argument(
        "--parts", type=Path, metavar="FOLDER",
        help="keeps what is finished of each building there and takes what it finds: a run of the same code and "
        "options goes on where an earlier one ended",
    )  # fmt: skip

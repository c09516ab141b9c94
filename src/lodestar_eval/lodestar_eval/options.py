"""Types of command-line options; each raises ArgumentTypeError with advice for bad input."""

from __future__ import annotations

import argparse
import math
import os
from dataclasses import dataclass
from pathlib import Path

from lodestar.selection.config import SelectionConfig
from lodestar.selection.context import FEATURE_SETS
from lodestar.selection.reward import REWARDS
from lodestar_eval.registry import BadOptions

#: Detectors on colour images that benchmarks may use, with their image size (width, height), pixels; each has a
#: profile of the same name in config/.
DETECTORS = {"nanodet": (640, 480), "network": (320, 240)}

#: Keys of settings.NOISES, repeated here because that module is slow to import.
NOISE_NAMES = ("none", "mild", "strong", "detector", "nanodet", "detector_by_time")
MEASURED = "detector"  # default for reported searches: a real detector's errors


@dataclass(frozen=True)
class SeedList:
    """Distinct seeds in the given order. `text`: as written."""

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


def entity_counts(text: str) -> tuple[int, ...]:
    """Return the sizes of scenes, "300,3000", of at least 25 entities each."""
    if min(sizes := tuple(positive_int(part) for part in text.split(","))) < 25:
        raise argparse.ArgumentTypeError(f"{text!r}: a scene has at least 25 entities")
    return sizes


def positive_seconds(text: str) -> float:
    """Return a finite time above 0, seconds."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not (math.isfinite(value) and value > 0.0):
        raise argparse.ArgumentTypeError(f"{text!r} is not a time in seconds above 0")
    return value


def data_folder(given: Path | None, name: str) -> Path:
    """Return the folder `given`, else folder `name` in $LODESTAR_DATA. Raises BadOptions without either."""
    if given is None and not os.environ.get("LODESTAR_DATA"):
        raise BadOptions(f"give --data FOLDER, or set LODESTAR_DATA to a folder with {name} in it")
    return given or Path(os.environ["LODESTAR_DATA"]) / name


def add_search_options(
    parser: argparse.ArgumentParser,
    seeds: str,
    noise: str,
    limit: float | None = None,
    answer: float | None = None,
    of: str = "of buildings",
) -> None:
    """Add `--seeds`, `--noise` and `--jobs`, and with `limit` also `--limit-time` and `--answer-time`.

    seeds, noise, limit, answer: defaults; limit and answer in simulated seconds, answer None = as measured.
    of: what the seeds select ("of buildings"), for the help text.
    """
    parser.add_argument(
        "--seeds", type=seed_list, default=seeds, help=f"{of}, as 1-30 or 1,4,9 (default {seeds})"
    )
    parser.add_argument(
        "--noise", choices=NOISE_NAMES, default=noise, help="of perception (default %(default)s)"
    )
    add_jobs_option(parser)
    if limit is not None:
        parser.add_argument(
            "--limit-time", type=positive_seconds, default=limit, metavar="S",
            help="simulated seconds of a task (default %(default)s)",
        )  # fmt: skip
        parser.add_argument(
            "--answer-time", type=positive_seconds, default=answer, metavar="S",
            help=f"simulated seconds that an expert takes to answer (default {answer or 'as measured'})",
        )  # fmt: skip


def add_jobs_option(parser: argparse.ArgumentParser) -> None:
    """Add `--jobs`, the number of processes that measure cases."""
    parser.add_argument("--jobs", type=positive_int, default=1, help="processes (default 1)")


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
    """Add options for the experts' reasoner: its delay, and whether it gets images."""
    parser.add_argument(
        "--think",
        type=positive_seconds,
        default=0.0,
        metavar="S",
        help="simulated seconds that the reasoner takes for an answer, beside the experts as a model does (default 0)",
    )
    parser.add_argument(
        "--eyes", choices=("none", "view", "pictures"), default="none",
        help="a scripted model judges views by their marks (view), or is shown pictures of frontiers and of the memory "
        "too (pictures)",
    )  # fmt: skip

"""Study: the console with the simulated stack; real-time factor with and without it, an agent that uses tools."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from lodestar_eval.metrics import mean
from lodestar_eval.options import positive_seconds, seed_list
from lodestar_eval.study import Limit, Number, Row, Rows, Study, Whole, percentile

_START = "start"
_WAYS = (_START, "without", "alone", "read", "agent")


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--world", default="apartment", help="kind of building (default apartment)")
    parser.add_argument("--seeds", type=seed_list, default=seed_list("1-3"), help="default 1-3")
    parser.add_argument(
        "--ways",
        default=",".join(_WAYS),
        help="start: until the page of the demo shows something; without: no console; alone: nobody reads it; "
        "read: a client reads all; agent: drives by tools",
    )
    parser.add_argument("--time-limit", type=positive_seconds, default=300.0, help="s (default 300)")


def _cases(options: argparse.Namespace) -> Iterator[tuple[Any, ...]]:
    for seed in options.seeds.values:
        for way in options.ways.split(","):  # they alternate, so that a machine's load affects all of them
            yield way, options.world, seed, options.time_limit, options.out


def _measure(way: str, world: str, seed: int, limit: float, out: Path) -> list[Row]:
    from lodestar_bringup.places import StackError
    from lodestar_eval.demo.progress import ProgressLine
    from lodestar_eval.live.console_run import run_with_console
    from lodestar_eval.live.console_start import start_of_demo

    folder = out / f"{seed}_{way}"
    try:
        if way == _START:
            return [{"way": way} | asdict(start_of_demo(world, seed, folder))]
        run = run_with_console(way, world, seed, folder, limit, ProgressLine())
    except StackError as error:
        return [{"way": way, "seed": seed, "verdict": str(error).splitlines()[0], "_failed": True}]
    return [asdict(run)]


def _ratio(rows: Rows) -> dict[str, float]:
    """Return the mean ratio of real-time factors, with a client over without a console, seed by seed."""
    factors = {(row["way"], row["seed"]): row["real_time"] for row in rows if "real_time" in row}
    seeds = [seed for way, seed in factors if way == "read" and ("without", seed) in factors]
    ratios = [factors["read", seed] / factors["without", seed] for seed in seeds]
    return {"real_time_ratio": mean(ratios)} if ratios else {}


BENCHMARK = Study(
    "console-live",
    "The console beside the simulated stack: real-time factor with and without it, an agent that finds by tools alone.",
    _add_options,
    _cases,
    _measure,
    numbers=(
        Whole(_ratio),
        Number("console_core", where=lambda row: row["way"] == "read"),
        Number("console_pss_mib", "console_pss", max, lambda row: row["way"] != "without"),
        Number("agent_found", "success", where=lambda row: row["way"] == "agent"),
        Number("failed", lambda row: "_failed" in row, sum),
        Number("states_s", "states", percentile(50)),
        Number("cells_s", "cells", percentile(50)),
    ),
    bars=(
        Limit("failed", 0.0, False, "stacks that failed"),
        Limit("real_time_ratio", 0.95, name="real-time factor with a client over that without a console"),
        Limit("console_core", 0.25, False, "share of a core"),
        Limit("console_pss_mib", 160.0, False, "proportional memory, MiB"),
        Limit("agent_found", 1.0, name="found by an agent's tools alone, by ground truth"),
        Limit("states_s", 5.0, False, "s until the page tells of the nodes, median"),
        Limit("cells_s", 15.0, False, "s until it shows the first cells, median"),
    ),
    columns=(
        "seed", "way", "directive", "success", "verdict", "real_time", "stack_core", "first_decision", "console_core",
        "console_pss", "received", "link", "states", "cells", "ended", "status",
    ),
    notes=(
        "Success: by ground truth, and claimed. Every way runs the same directive from the same start. Times in s; "
        "cores are per simulated second, memory in MiB, received in kB/s.",
        "A real-time factor of a machine that does other work is low in every way; its ratio counts, seed by seed.",
    ),
)  # fmt: skip

"""Benchmark: the console with the simulated stack; real-time factor with and without it, an agent that uses tools."""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from lodestar_eval.metrics import mean
from lodestar_eval.options import positive_seconds, seed_list
from lodestar_eval.registry import Bar, Benchmark, Result, Table

if TYPE_CHECKING:
    from lodestar_eval.live.console_run import ConsoleRun
    from lodestar_eval.live.console_start import ConsoleStart

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


def _run(options: argparse.Namespace, folder: Path, progress: Callable[[str], None]) -> Result:
    from lodestar_bringup.places import StackError
    from lodestar_eval.demo.progress import ProgressLine
    from lodestar_eval.live.console_run import run_with_console
    from lodestar_eval.live.console_start import start_of_demo

    runs: list[ConsoleRun] = []
    starts: list[ConsoleStart] = []
    failed: list[tuple[str, ...]] = []
    for seed in options.seeds.values:
        # the ways alternate, so that a machine's load affects all of them
        for way in options.ways.split(","):
            place = folder / f"{seed}_{way}"
            try:
                if way == _START:
                    starts.append(start_of_demo(options.world, seed, place))
                    progress(", ".join(_start_row(starts[-1])))
                    continue
                run = run_with_console(way, options.world, seed, place, options.time_limit, ProgressLine())
            except StackError as error:
                failed.append((str(seed), way, str(error).splitlines()[0]))
                progress(", ".join(failed[-1]))
                continue
            runs.append(run)
            progress(", ".join(_row(run)))
    return result_of(runs, failed, starts)


def result_of(
    runs: list[ConsoleRun], failed: list[tuple[str, ...]], starts: Sequence[ConsoleStart] = ()
) -> Result:
    """Return the result. failed: (seed, console variant, reason) of every stack that did not come up."""
    ways = {way: [run for run in runs if run.way == way] for way in _WAYS}
    without = {run.seed: run.real_time for run in ways["without"]}
    ratios = [run.real_time / without[run.seed] for run in ways["read"] if run.seed in without]
    served = [run for run in runs if run.way != "without"]
    agents = ways["agent"]
    metrics = {
        "real_time_ratio": mean(ratios),
        "console_core": mean([run.console_core for run in ways["read"]]),
        "console_pss_mib": max((run.console_pss for run in served), default=float("nan")),
        "agent_found": mean([float(run.success) for run in agents]),
        "failed": float(len(failed)),
    }
    bars = [Bar("stacks that failed", metrics["failed"], 0.0, at_least=False)]
    if ratios:
        bars.append(
            Bar(
                "real-time factor with a client over that without a console", metrics["real_time_ratio"], 0.95
            )
        )
    if ways["read"]:
        bars.append(Bar("share of a core", metrics["console_core"], 0.25, at_least=False))
        bars.append(Bar("proportional memory, MiB", metrics["console_pss_mib"], 160.0, at_least=False))
    if agents:
        bars.append(Bar("found by an agent's tools alone, by ground truth", metrics["agent_found"], 1.0))
    tables = []
    if starts:
        metrics["states_s"] = statistics.median(one.states for one in starts)
        metrics["cells_s"] = statistics.median(one.cells for one in starts)
        bars.append(
            Bar("s until the page tells of the nodes, median", metrics["states_s"], 5.0, at_least=False)
        )
        bars.append(Bar("s until it shows the first cells, median", metrics["cells_s"], 15.0, at_least=False))
        title = "The page of the demo, from the command on"
        tables.append(Table(title, _START_COLUMNS, tuple(map(_start_row, starts))))
    rows = tuple(_row(run) for run in runs) + tuple((*one[:2], "", one[2], *[""] * 6) for one in failed)
    tables.append(Table("Each run", _COLUMNS, rows))
    return Result(metrics, tuple(bars), tuple(tables), notes=_NOTES)


_START_COLUMNS = ("seed", "link s", "nodes told s", "first cells s", "ended after Ctrl-C s", "exit status")


def _start_row(start: ConsoleStart) -> tuple[str, ...]:
    times = (start.link, start.states, start.cells, start.ended)
    return (str(start.seed), *(f"{one:.1f}" for one in times), str(start.status))


_COLUMNS = (
    "seed", "way", "directive", "found", "real-time factor", "core of the other nodes per simulated s",
    "first decision s", "core", "PSS MiB", "kB/s",
)  # fmt: skip


def _row(run: ConsoleRun) -> tuple[str, ...]:
    found = "yes" if run.success else f"no: {run.verdict}"
    if run.tools:
        found += f" ({len(run.tools)} calls)"
    values = (
        run.real_time,
        run.stack_core,
        run.first_decision,
        run.console_core,
        run.console_pss,
        run.received,
    )
    return (str(run.seed), run.way, run.directive, found, *("" if v != v else f"{v:.3g}" for v in values))


_NOTES = (
    "Found: by ground truth, and claimed. Every way runs the same directive from the same start.",
    "A real-time factor of a machine that does other work is low in every way; its ratio counts, seed by seed.",
)

BENCHMARK = Benchmark(
    "console-live",
    "The console beside the simulated stack: real-time factor with and without it, an agent that finds by tools alone.",
    _add_options,
    _run,
)

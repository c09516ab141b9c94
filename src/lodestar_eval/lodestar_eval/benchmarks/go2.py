"""Benchmark: the go2 launch from boot to a found target, with a simulator that publishes a Go2's topics."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from lodestar_eval.metrics import mean
from lodestar_eval.options import positive_seconds, seed_list
from lodestar_eval.registry import Bar, Benchmark, Result, Table

if TYPE_CHECKING:
    from lodestar_eval.live.go2_run import Go2Run

_REACHED = 0.9  # bar: share of the seeds that reach the target (issue 18)


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--world", default="apartment", help="kind of building (default apartment)")
    parser.add_argument("--seeds", type=seed_list, default=seed_list("1-10"), help="default 1-10")
    parser.add_argument("--time-limit", type=positive_seconds, default=300.0, help="s (default 300)")


def _run(options: argparse.Namespace, folder: Path, progress: Callable[[str], None]) -> Result:
    from lodestar_bringup.places import StackError
    from lodestar_eval.live.go2_run import run_beside

    runs: list[Go2Run] = []
    failed: dict[int, str] = {}
    for seed in options.seeds.values:
        try:
            run = run_beside(options.world, seed, folder / f"{options.world}_{seed}", options.time_limit)
        except StackError as error:
            failed[seed] = str(error).splitlines()[0]
            progress(f"{options.world} {seed}: {failed[seed]}")
            continue
        runs.append(run)
        progress(f"{options.world} {seed}: {', '.join(_row(run)[1:])}")
    return result_of(runs, failed)


def result_of(runs: list[Go2Run], failed: dict[int, str]) -> Result:
    """Return the result of all seeds. failed: seed -> why the stack did not come up."""
    count = len(runs) + len(failed)
    metrics = {
        "reached": sum(run.success for run in runs) / count if count else float("nan"),
        "past_the_gate": float(sum(run.past_the_gate for run in runs)),
        "requests": float(sum(run.requests for run in runs)),
        "start_up_s": mean([run.start_up for run in runs]),
        "slowest_start_up_s": max((run.start_up for run in runs), default=float("nan")),
        "collisions": float(sum(run.collisions for run in runs)),
        "starts_with_findings": float(sum(bool(run.findings) for run in runs)),
    }
    bars = (
        Bar("share of seeds whose directive was reached, by ground truth", metrics["reached"], _REACHED),
        Bar("commands past the gate", metrics["past_the_gate"], 0.0, at_least=False),
        Bar(
            "starts at which the doctor found something", metrics["starts_with_findings"], 0.0, at_least=False
        ),
    )
    columns = (
        "seed",
        "directive",
        "reached",
        "start-up s",
        "directive s",
        "m",
        "contacts",
        "requests",
        "past",
        "doctor",
        "why",
    )
    rows = [_row(run) for run in runs]
    rows += [(str(seed), "", "no", *[""] * 7, why) for seed, why in failed.items()]
    return Result(
        metrics, bars, (Table("From boot to the end of the directive", columns, tuple(rows)),), (), _NOTES
    )


def _row(run: Go2Run) -> tuple[str, ...]:
    return (
        str(run.seed), run.directive, "yes" if run.success else "no", f"{run.start_up:.0f}", f"{run.duration:.0f}",
        f"{run.path_length:.1f}", str(run.collisions), str(run.requests), str(run.past_the_gate),
        "; ".join(run.findings) or "nothing is wrong",
        "" if run.success else run.verdict,
    )  # fmt: skip


_NOTES = (
    "Two starters in one domain: go2 with its own profile, and go2_stand_in with simulator, stand-in, and what stands "
    "in for SLAM and Nav2. All run in real time. Every trap is on; the connection drops for 3 s after 90 s.",
    "Past: sport requests whose id is neither go2_base's nor go2_guard's next one, and publishers of sport requests or "
    "of cmd_vel_out other than go2_base, go2_guard and motion_gate, looked at ten times a second.",
    "The doctor looks at every stack before its directive. A computer too slow for the rates is a true finding.",
)

BENCHMARK = Benchmark("go2", "A Go2's description against a stand-in for the robot.", _add_options, _run)

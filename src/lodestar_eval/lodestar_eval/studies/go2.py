"""Study: the go2 launch from boot to a found target, with a simulator that publishes a Go2's topics."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from lodestar_eval.options import positive_seconds, seed_list
from lodestar_eval.study import Limit, Number, Row, Study


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--world", default="apartment", help="kind of building (default apartment)")
    parser.add_argument("--seeds", type=seed_list, default=seed_list("1-10"), help="default 1-10")
    parser.add_argument("--time-limit", type=positive_seconds, default=300.0, help="s (default 300)")


def _cases(options: argparse.Namespace) -> Iterable[tuple[Any, ...]]:
    return ((options.world, seed, options.time_limit, options.out) for seed in options.seeds.values)


def _measure(world: str, seed: int, limit: float, folder: Path) -> list[Row]:
    """Return the row of a seed; a stack that does not come up has not reached the target."""
    from lodestar_bringup.places import StackError
    from lodestar_eval.live.go2_run import run_beside

    try:
        run = run_beside(world, seed, folder / f"{world}_{seed}", limit)
    except StackError as error:
        return [{"seed": seed, "success": False, "verdict": str(error).splitlines()[0]}]
    return [asdict(run) | {"past_the_gate": run.past_the_gate}]


BENCHMARK = Study(
    "go2",
    "A Go2's description against a stand-in for the robot.",
    _add_options,
    _cases,
    _measure,
    numbers=(
        Number("reached", "success"),
        Number("past_the_gate", over=sum),
        Number("requests", over=sum),
        Number("start_up_s", "start_up"),
        Number("slowest_start_up_s", "start_up", max),
        Number("collisions", over=sum),
        Number("starts_with_findings", lambda row: bool(row.get("findings")), sum),
    ),
    bars=(
        Limit("reached", 0.9, name="share of seeds whose directive was reached, by ground truth"),
        Limit("past_the_gate", 0.0, at_least=False, name="commands past the gate"),
        Limit("starts_with_findings", 0.0, False, "starts at which the doctor found something"),
    ),
    columns=(
        "seed", "directive", "success", "start_up", "duration", "path_length", "collisions", "requests",
        "past_the_gate", "findings", "verdict",
    ),
    notes=(
        "Two starters in one domain: go2 with its own profile, and go2_stand_in with simulator, stand-in, and what "
        "stands in for SLAM and Nav2. All run in real time. Every trap is on; the connection drops for 3 s after 90 s.",
        "Past the gate: sport requests whose id is neither go2_base's nor go2_guard's next one, and publishers of "
        "sport requests or of cmd_vel_out other than go2_base, go2_guard and motion_gate; looked at 10 times a second.",
        "Findings are the doctor's, which looks at every stack before its directive. A computer too slow for the rates "
        "is a true finding.",
    ),
)  # fmt: skip

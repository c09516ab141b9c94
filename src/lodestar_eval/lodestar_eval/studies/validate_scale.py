"""Study: time to check an action trace, by number of entities, and correctness of the refusals."""

from __future__ import annotations

import argparse
import gc
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from lodestar_eval.options import entity_counts, positive_int
from lodestar_eval.study import EACH, Limit, Number, Row, Study

if TYPE_CHECKING:
    from lodestar.worldmodel.records import Trace
    from lodestar.worldmodel.validation import TraceValidator
    from lodestar_eval.validation_world import ValidationWorld

_SIZES = "300,3000,30000"
_KINDS = 200  # number of different captions


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--sizes", type=entity_counts, default=_SIZES, metavar="N,N", help=f"entities (default {_SIZES})"
    )
    parser.add_argument("--traces", type=positive_int, default=2000, help="per size (default 2000)")
    parser.add_argument("--seed", type=int, default=1, help="of scenes and traces (default 1)")


def _measure(size: int, traces: int, seed: int) -> Iterator[Row]:
    from lodestar.assembly.config import WorldModelConfig
    from lodestar.worldmodel.validation import TraceValidator
    from lodestar_eval.validation_world import make_world, spoiled, trace_of

    rng = np.random.default_rng(seed)
    world = make_world(size, _KINDS, rng)
    gc.collect()
    thresholds = gc.get_threshold()
    gc.set_threshold(thresholds[0], thresholds[1], 10**9)  # as in the goal selector while the robot drives
    validator = TraceValidator(world, WorldModelConfig().validation)
    validator.check(trace_of(world, rng))  # the first call compiles
    times, wrong = [], 0
    for number in range(traces):
        trace = trace_of(world, rng)
        made, code = spoiled(trace, world, rng) if number % 2 else (trace, 0)
        began = time.perf_counter()
        verdict = validator.check(made, now=trace.stamp)
        times.append(time.perf_counter() - began)
        wrong += int(verdict.code) != code
    fresh = [_fresh(validator, world, trace_of(world, rng)) for _ in range(max(20, traces // 10))]
    gc.set_threshold(*thresholds)
    yield {
        "size": size,
        "check_p50_ms": 1e3 * float(np.percentile(times, 50)),
        "check_p95_ms": 1e3 * float(np.percentile(times, 95)),
        "check_max_ms": 1e3 * max(times),
        "fresh_p50_ms": 1e3 * float(np.percentile(fresh, 50)),
        "fresh_p95_ms": 1e3 * float(np.percentile(fresh, 95)),
        "_wrong": wrong,
    }


def _fresh(validator: TraceValidator, world: ValidationWorld, trace: Trace) -> float:
    """Return the seconds to check a trace on a new copy of the grid, for which nothing is cached."""
    assert world.grid is not None
    world.grid = replace(world.grid, cells=world.grid.cells.copy())
    began = time.perf_counter()
    validator.check(trace, now=trace.stamp)
    return time.perf_counter() - began


BENCHMARK = Study(
    "validate-scale",
    "Time of the validation of a trace against the number of entities.",
    _add_options,
    lambda options: ((size, options.traces, options.seed) for size in options.sizes),
    _measure,
    numbers=(Number(EACH, by=("size",)), Number("_wrong", over=sum)),
    bars=(
        Limit("check_p95_ms.{last}", 10.0, False, "check_p95_ms at {last}"),  # DESIGN section 6
        Limit("_wrong", 0.0, False, "wrong verdicts"),
    ),
    notes=(
        "One check of a trace with up to five beliefs, goal, target and expectation, by the class that the "
        "decision loop and the node use, on a hall of 40 x 40 m at 0.1 m. fresh: the first check on a new "
        "grid, for which the connected floor is found anew. Full garbage collections are put off, as the goal "
        "selector does. Half of the traces are spoiled in one of nine ways; a verdict is wrong where its code "
        "is not that of the fault.",
    ),
)

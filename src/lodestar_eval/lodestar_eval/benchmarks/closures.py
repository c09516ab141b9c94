"""Benchmark: map quality under odometry drift and SLAM loop closures, in buildings with a ring of corridors.

A map without drift is compared with four others: without correction; with one rigid correction; with submaps
corrected by the jump of map <- odom alone; with submaps corrected by SLAM's pose graph.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from lodestar_eval.metrics import mean
from lodestar_eval.options import seed_list
from lodestar_eval.registry import Bar, Benchmark, Result, Table

if TYPE_CHECKING:
    from lodestar_eval.closure_trials import ClosureTrial

#: Kinds of buildings, assigned in turn to the seeds from 1 on.
KINDS = ("office?ring=1", "office?ring=1", "warehouse")


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--seeds", type=seed_list, default=seed_list("1-20"), help="of buildings (1-20)")
    parser.add_argument(
        "--searches", type=int, default=1, help="per building and map, afterwards (default 1)"
    )
    parser.add_argument("--searched", default="submaps,rigid", help="maps that are searched (submaps,rigid)")
    parser.add_argument(
        "--no-matches", action="store_true", help="a SLAM that matches no scans between its closures"
    )
    parser.add_argument("--no-large", action="store_true", help="leave out the closure of 1,000 m2")


def _run(options: argparse.Namespace, folder: Path, progress: Callable[[str], None]) -> Result:
    from lodestar_eval.closure_times import large_closure
    from lodestar_eval.closure_trials import ROWS, closure_trial
    from lodestar_eval.phrase_book import phrase_book
    from lodestar_eval.settings import EpisodeSettings
    from lodestar_sim.worlds import world_from_spec

    settings, trials, searches = EpisodeSettings(thinking=0.06), [], dict[str, list[bool]]()
    for seed in options.seeds.values:
        world = world_from_spec(kind_of(seed), seed)
        trial = closure_trial(world, seed, phrase_book(), settings, matches=not options.no_matches)
        for row in options.searched.split(",") if options.searches else ():
            for number in range(options.searches):
                found = _search(trial, row, seed + 1000 * number, settings)
                if found is not None:
                    searches.setdefault(row, []).append(found)
        trial.maps.clear()
        trials.append(trial)
        told = ", ".join(f"{row} {trial.entities[row]:.3f} / {trial.cells[row]:.3f}" for row in ROWS)
        progress(
            f"{world.name} {seed}: {trial.way:.0f} m, {trial.closures} closures, jumps "
            f"{', '.join(f'{jump:.2f}' for jump in trial.jumps[:4])} m, SLAM off by {trial.error:.2f} m; {told}"
            + "".join(f"; {row} found {searches[row][-1]}" for row in searches)
        )
    metrics, bars = _metrics(trials, searches)
    notes: list[str] = []
    if not options.no_large:
        large = large_closure()
        metrics |= {f"large.{name}": value for name, value in large.items()}
        bars += (
            Bar("s of a closure at 1,000 m2 and 3,000 entities", large["seconds"], 1.0, at_least=False),
            Bar("s between heartbeats meanwhile", large["gap"], 0.1, at_least=False),
        )
    return Result(metrics, bars, tables=(_table(trials),), notes=tuple(notes))


def kind_of(seed: int) -> str:
    """Return the kind of building of a seed; it does not depend on the other seeds of a run."""
    return KINDS[(seed - 1) % len(KINDS)]


def _search(trial: ClosureTrial, row: str, seed: int, settings: object) -> bool | None:
    """Return whether a search on the map of variant `row` succeeds; None if the building has no task."""
    from lodestar_eval.episode import EpisodeRunner
    from lodestar_eval.phrase_book import phrase_book
    from lodestar_eval.settings import EpisodeSettings
    from lodestar_sim.tasks import default_task
    from lodestar_sim.worlds.errors import WorldError

    assert isinstance(settings, EpisodeSettings)
    try:
        task = default_task(trial.world, seed)
    except WorldError:
        return None
    run = EpisodeRunner(phrase_book(), settings).run(trial.world, task, seed, trial.maps[row].saved())
    return run.outcome.success


def _metrics(
    trials: list[ClosureTrial], searches: dict[str, list[bool]]
) -> tuple[dict[str, float], tuple[Bar, ...]]:
    from lodestar_eval.closure_trials import EXACT, NONE, RIGID, ROWS, SUBMAPS

    metrics: dict[str, float] = {}
    for row in ROWS:
        metrics[f"{row}.entities"] = mean([t.entities[row] / max(t.entities[EXACT], 1e-9) for t in trials])
        metrics[f"{row}.cells"] = mean([t.cells[row] for t in trials])
        metrics[f"{row}.longest_s"] = max(t.longest[row] for t in trials)
    metrics["slam_error_m"] = mean([t.error for t in trials])
    for row, found in searches.items():
        metrics[f"{row}.success"] = mean([float(one) for one in found])
    for other in (NONE, RIGID):
        better = [t.cells[SUBMAPS] - t.cells[other] for t in trials]
        low = (
            float(np.mean(better) - 1.96 * np.std(better, ddof=1) / np.sqrt(len(better)))
            if len(better) > 1
            else 0.0
        )
        metrics[f"cells_over_{other}"], metrics[f"cells_over_{other}_low"] = float(np.mean(better)), low
    bars: tuple[Bar, ...] = (
        Bar("F1 of entities over that without drift", metrics[f"{SUBMAPS}.entities"], 0.97),
        Bar("F1 of cells over no correction, 95 % bound", metrics[f"cells_over_{NONE}_low"], 0.0),
        Bar("F1 of cells over the rigid move, 95 % bound", metrics[f"cells_over_{RIGID}_low"], 0.0),
    )
    if SUBMAPS in searches:
        bars += (Bar("searches afterwards", metrics[f"{SUBMAPS}.success"], 0.95),)
    return metrics, bars


def _table(trials: list[ClosureTrial]) -> Table:
    from lodestar_eval.closure_trials import ROWS

    columns: tuple[str, ...] = ("building", "m", "closures", "largest jump m", "SLAM off by m", "objects")
    columns += tuple(f"{row}: {what}" for row in ROWS for what in ("entities", "cells", "n"))
    rows = tuple(
        (
            f"{t.world.name} {t.world.seed}", f"{t.way:.0f}", str(t.closures), f"{max(t.jumps, default=0.0):.2f}",
            f"{t.error:.2f}", str(t.objects),
            *(text for row in ROWS for text in (f"{t.entities[row]:.3f}", f"{t.cells[row]:.3f}", str(t.counts[row]))),
        )
        for t in trials
    )  # fmt: skip
    return Table("F1 of entities and of occupied cells, and entities, by building", columns, rows)


BENCHMARK = Benchmark(
    "closures",
    "Odometry that drifts and SLAM that closes loops in ring buildings: entities, cells and searches by four rules.",
    _add_options,
    _run,
)

"""Study: map quality under odometry drift and SLAM loop closures, in buildings with a ring of corridors.

A map without drift is compared with four others: without correction; with one rigid correction; with submaps
corrected by the jump of map <- odom alone; with submaps corrected by SLAM's pose graph.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

from lodestar_eval.options import add_jobs_option, seed_list
from lodestar_eval.study import Limit, Number, Paired, Row, Rows, Study, Whole

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
    add_jobs_option(parser)


def kind_of(seed: int) -> str:
    """Return the kind of building of a seed; it does not depend on the other seeds of a run."""
    return KINDS[(seed - 1) % len(KINDS)]


def _cases(options: argparse.Namespace) -> Iterator[tuple[Any, ...]]:
    searched = options.searched.split(",") if options.searches else []
    for seed in options.seeds.values:
        yield kind_of(seed), seed, searched, options.searches, not options.no_matches
    if not options.no_large:
        yield ("1,000 m2",)


def _measure(
    kind: str, seed: int = 0, searched: Any = (), searches: int = 0, matches: bool = True
) -> Iterator[Row]:
    """Yield a row per map of a building and per search; for the kind of 1,000 m2 that of one large closure."""
    from lodestar_eval.closure_times import large_closure
    from lodestar_eval.closure_trials import EXACT, ROWS, closure_trial
    from lodestar_eval.phrase_book import phrase_book
    from lodestar_eval.settings import EpisodeSettings
    from lodestar_sim.worlds import world_from_spec

    if not seed:
        yield {"building": kind, "_large": large_closure()}
        return
    world, settings = world_from_spec(kind, seed), EpisodeSettings(thinking=0.06)
    trial = closure_trial(world, seed, phrase_book(), settings, matches=matches)
    tour = {
        "building": f"{world.name} {world.seed}", "seed": seed, "m": trial.way, "closures": trial.closures,
        "largest_jump_m": max(trial.jumps, default=0.0), "slam_off_by_m": trial.error, "objects": trial.objects,
    }  # fmt: skip
    for row in ROWS:
        yield tour | {
            "row": row, "entities": trial.entities[row], "cells": trial.cells[row], "n": trial.counts.get(row, 0),
            "longest_s": trial.longest.get(row, 0.0),
            "_entities": trial.entities[row] / max(trial.entities[EXACT], 1e-9),
        }  # fmt: skip
    for row in searched:
        for number in range(searches):
            found = _search(trial, row, seed + 1000 * number, settings)
            if found is not None:
                yield {"building": tour["building"], "seed": seed, "searched": row, "success": found}


def _search(trial: Any, row: str, seed: int, settings: Any) -> bool | None:
    """Return whether a search on the map of variant `row` succeeds; None if the building has no task."""
    from lodestar_eval.episode import EpisodeRunner
    from lodestar_eval.phrase_book import phrase_book
    from lodestar_sim.tasks import default_task
    from lodestar_sim.worlds.errors import WorldError

    try:
        task = default_task(trial.world, seed)
    except WorldError:
        return None
    run = EpisodeRunner(phrase_book(), settings).run(trial.world, task, seed, trial.maps[row].saved())
    return bool(run.outcome.success)


def _large(rows: Rows) -> dict[str, float]:
    return {f"large.{name}": value for row in rows for name, value in row.get("_large", {}).items()}


BENCHMARK = Study(
    "closures",
    "Odometry that drifts and SLAM that closes loops in ring buildings: entities, cells and searches by four rules.",
    _add_options,
    _cases,
    _measure,
    numbers=(
        Number("{row}.entities", "_entities", by=("row",)),
        Number("{row}.cells", "cells", by=("row",)),
        Number("{row}.longest_s", "longest_s", max, by=("row",)),
        Number("slam_error_m", "slam_off_by_m"),
        Number("{searched}.success", "success", by=("searched",)),
        *(Paired(f"cells_over_{other}", "cells", "row", ("submaps", other)) for other in ("none", "rigid")),
        Whole(_large),
    ),
    bars=(
        Limit("submaps.entities", 0.97, name="F1 of entities over that without drift"),
        Limit("cells_over_none_low", 0.0, name="F1 of cells over no correction, 95 % bound"),
        Limit("cells_over_rigid_low", 0.0, name="F1 of cells over the rigid move, 95 % bound"),
        Limit("submaps.success", 0.95, name="searches afterwards"),
        Limit("large.seconds", 1.0, False, "s of a closure at 1,000 m2 and 3,000 entities"),
        Limit("large.gap", 0.1, False, "s between heartbeats meanwhile"),
    ),
    columns=(
        "building", "row", "m", "closures", "largest_jump_m", "slam_off_by_m", "objects", "entities", "cells", "n",
        "searched", "success",
    ),
)  # fmt: skip

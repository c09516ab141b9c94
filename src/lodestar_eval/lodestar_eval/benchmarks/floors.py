"""Benchmark: search in two-storey buildings with one flight of stairs; targets and starts on either storey."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

from lodestar_eval.floor_outcome import FloorOutcome
from lodestar_eval.metrics import mean
from lodestar_eval.options import add_search_options
from lodestar_eval.registry import Bar, Benchmark, Result, Table
from lodestar_eval.report import write_csv

_SUCCESS_BOUND = 0.90  # the bar on the success rate


def _add_options(parser: argparse.ArgumentParser) -> None:
    add_search_options(
        parser,
        "1-20",
        "mild",
        900.0,
        of="of buildings; of four in a row two have start and target on two storeys",
    )


def _run(options: argparse.Namespace, folder: Path, progress: Callable[[str], None]) -> Result:
    from lodestar_eval.floor_trials import run_all
    from lodestar_eval.settings import NOISES, EpisodeSettings, robot_config

    settings = EpisodeSettings(
        robot=robot_config(NOISES[options.noise]),
        time_limit=options.limit_time,
        thinking=options.answer_time,
    )
    outcomes: list[FloorOutcome] = []
    seeds = options.seeds.values
    for outcome in run_all(seeds, settings, options.jobs):
        outcomes.append(outcome)
        progress(
            f"[{len(outcomes):2d}/{len(seeds)}] {outcome.world} seed {outcome.seed}: "
            f"{'found' if outcome.success else 'FAILED'} {outcome.directive!r}, {outcome.crossings} crossings, "
            f"{outcome.falls} falls, {outcome.duration:.0f} s, {outcome.path:.1f} m of {outcome.shortest:.1f} m"
            + ("" if outcome.success else f": {outcome.message}")
        )
    outcomes.sort(key=lambda one: one.seed)
    write_csv(folder / "floors.csv", [asdict(one) for one in outcomes])
    return result_of(outcomes)


def result_of(outcomes: list[FloorOutcome]) -> Result:
    """Return metrics, pass thresholds and the tables."""
    groups = {
        "same storey": [one for one in outcomes if one.start == one.target],
        "another storey": [one for one in outcomes if one.start != one.target],
        "all": outcomes,
    }
    metrics = {
        "searches": len(outcomes),
        "sr": mean([float(one.success) for one in outcomes]),
        "spl": mean([one.spl for one in outcomes]),
        "named": mean([float(one.named) for one in outcomes]),
        "falls": sum(one.falls for one in outcomes),
        "collisions": sum(one.collisions for one in outcomes),
    }
    rows = tuple(
        (
            name, str(len(group)), f"{mean([float(one.success) for one in group]):.2f}",
            f"{mean([one.spl for one in group]):.3f}", f"{mean([one.duration for one in group]):.0f}",
            f"{mean([float(one.crossings) for one in group]):.1f}", f"{sum(one.named for one in group)}/{len(group)}",
            str(sum(one.falls for one in group)), str(sum(one.collisions for one in group)),
        )
        for name, group in groups.items()
        if group
    )  # fmt: skip
    columns = "target", "searches", "found", "SPL", "s", "crossings", "floor named", "falls", "collisions"
    each = tuple(
        (
            one.world, str(one.seed), f"{one.start} to {one.target}", one.directive, "yes" if one.success else "no",
            "yes" if one.named else "no", str(one.crossings), f"{one.duration:.0f}", f"{one.path:.1f}",
            f"{one.shortest:.1f}",
        )
        for one in outcomes
    )  # fmt: skip
    heads = "building", "seed", "storeys", "directive", "found", "named", "crossings", "s", "m", "shortest m"
    return Result(
        metrics,
        (
            Bar("success rate", metrics["sr"], _SUCCESS_BOUND),
            Bar("falls", metrics["falls"], 0.0, at_least=False),
            Bar("reports that name the right floor", metrics["named"], 1.0),
        ),
        (Table("Searches over two storeys", columns, rows), Table("Runs", heads, each)),
    )


BENCHMARK = Benchmark(
    "floors", "searches in buildings of two storeys, joined by one flight of stairs", _add_options, _run
)

"""Benchmark: robots among walkers: traces of walkers in the map, contacts, and the effect of the comfort distance."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from lodestar_eval.metrics import mean
from lodestar_eval.options import seed_list
from lodestar_eval.registry import Bar, Benchmark, Result, Table

if TYPE_CHECKING:
    from lodestar_eval.people_trials import PeopleTrial

KINDS = ("apartment", "office")


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--seeds",
        type=seed_list,
        default=seed_list("501-510"),
        help="buildings, by turns of each kind (501-510)",
    )
    parser.add_argument("--walkers", type=int, default=3, help="people who walk to and fro (default 3)")
    parser.add_argument(
        "--wait",
        type=float,
        default=0.0,
        help="s for which they wait before the robot; 0 = they walk through it (default 0)",
    )
    parser.add_argument("--comfort", type=float, default=1.2, help="m that the robot keeps (default 1.2)")


def _run(options: argparse.Namespace, folder: Path, progress: Callable[[str], None]) -> Result:
    from lodestar_eval.people_trials import people_trial
    from lodestar_eval.phrase_book import phrase_book
    from lodestar_sim.worlds import world_from_spec

    found: dict[bool, list[PeopleTrial]] = {True: [], False: []}
    for index, seed in enumerate(options.seeds.values):
        world = world_from_spec(KINDS[index % len(KINDS)], seed)
        for keeps in (True, False):
            comfort = options.comfort if keeps else 0.0
            trial = people_trial(
                world, seed, phrase_book(), comfort, options.comfort, options.walkers, options.wait
            )
            found[keeps].append(trial)
            progress(
                f"{world.name} {'with' if keeps else 'without'}: {trial.tracked} tracks, {trial.contacts} contacts "
                f"({trial.own} by its own motion), touched {trial.touched} times, "
                f"nearest {trial.nearest:.2f} m, near {trial.near:.1f} of {trial.moving:.0f} s"
            )
    return _result(found[True], found[False])


def _result(kept: list[PeopleTrial], plain: list[PeopleTrial]) -> Result:
    fused = [one.entities + one.instances for one in (*kept, *plain)]
    metrics = {
        "fused": float(sum(fused)),
        "surfaces": mean([float(one.surfaces) for one in kept]),
        "met": mean([float(one.walkers > 0 and one.tracked > 0) for one in kept]),
    }
    for name, runs in (("kept", kept), ("plain", plain)):
        moving = max(sum(one.moving for one in runs), 1e-9)
        metrics |= {
            f"{name}.contacts": float(sum(one.contacts for one in runs)),
            f"{name}.own": float(sum(one.own for one in runs)),
            f"{name}.their": float(sum(one.their for one in runs)),
            f"{name}.touched": float(sum(one.touched for one in runs)),
            f"{name}.nearest": min(one.nearest for one in runs),
            f"{name}.near_share": sum(one.near for one in runs) / moving,
            f"{name}.roomy_share": sum(one.roomy for one in runs) / moving,
            f"{name}.metres": mean([one.metres for one in runs]),
        }
    bars = (
        Bar("share of runs in which it met somebody", metrics["met"], 0.9),
        Bar("people in the map 30 s after they left", metrics["fused"], 0.0, at_least=False),
        Bar("contacts", metrics["kept.contacts"], 0.0, at_least=False),
        Bar(
            "share of its motion nearer by itself though there was room",
            metrics["kept.roomy_share"],
            0.02,
            at_least=False,
        ),
    )
    return Result(metrics, bars, tables=(_table("With the comfort distance", kept), _table("Without", plain)))


def _table(title: str, runs: list[PeopleTrial]) -> Table:
    names = (
        "seed",
        "tracks",
        "in map",
        "surfaces",
        "cells",
        "contacts",
        "own",
        "their",
        "touched",
        "nearest m",
        "moving s",
        "near s",
        "roomy s",
        "m",
    )
    rows = tuple(
        (
            str(one.seed), str(one.tracked), str(one.entities + one.instances), str(one.surfaces), str(one.cells),
            str(one.contacts), str(one.own), str(one.their), str(one.touched), f"{one.nearest:.2f}",
            f"{one.moving:.0f}", f"{one.near:.1f}", f"{one.roomy:.1f}", f"{one.metres:.0f}",
        )
        for one in runs
    )  # fmt: skip
    return Table(title, names, rows)


BENCHMARK = Benchmark(
    "people",
    "Robots among walkers: what stays in the map, contacts, and the comfort distance.",
    _add_options,
    _run,
)

"""Benchmark: instances of the semantic voxel map against the truth of simulated buildings."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from lodestar_eval.options import positive_int, seed_list
from lodestar_eval.registry import Bar, Benchmark, Result, Table

if TYPE_CHECKING:
    from lodestar_eval.instance_metrics import Counts

#: 20 buildings, (world, seed), ordered so that the first few include every kind.
WORLDS = (
    ("apartment", 1), ("office", 1), ("warehouse", 1), ("apartment", 2), ("office", 2), ("apartment", 3),
    ("office", 3), ("apartment", 4), ("apartment", 5), ("office", 4), ("warehouse", 2), ("apartment", 6),
    ("office", 5), ("apartment", 7), ("apartment", 8), ("office", 6), ("warehouse", 3), ("apartment", 9),
    ("office", 7), ("apartment", 10),
)  # fmt: skip
SCENARIOS = ("noise", "jump", "clean")
_F1_BOUND, _CLEAN_BOUND, _DUPLICATES_BOUND, _JUMP_BOUND = 0.85, 0.95, 1.10, 0.05  # bars of the issue


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--worlds", type=positive_int, default=len(WORLDS), help="how many of the 20 buildings (default all)"
    )
    parser.add_argument("--seed-offset", type=int, default=0, help="added to the seeds: other buildings")
    parser.add_argument("--scenarios", default=",".join(SCENARIOS), help="noise, jump, clean (default all)")
    parser.add_argument(
        "--look-alikes", type=seed_list, metavar="SEEDS",
        help="compare features of detections in rooms of look-alikes instead, such as 1-20",
    )  # fmt: skip
    parser.add_argument(
        "--scenes",
        default="alike,colored",
        help="of --look-alikes: alike, colored, office, apartment, warehouse",
    )


def _run(options: argparse.Namespace, folder: Path, progress: Callable[[str], None]) -> Result:
    from lodestar_eval.instance_metrics import Counts
    from lodestar_eval.instance_runs import Building, Noise, Variant
    from lodestar_sim.worlds import world_from_spec

    if options.look_alikes is not None:
        from lodestar_eval.lookalike_tables import SCENES, compare_features

        return compare_features(
            _chosen(options.scenes, SCENES, "scene"), options.look_alikes.values, progress
        )
    variants = [Variant(scenario) for scenario in _chosen(options.scenarios, SCENARIOS, "scenario")]
    totals = {variant: Counts() for variant in variants}
    rows = []
    began = time.perf_counter()
    for number, (kind, seed) in enumerate(WORLDS[: options.worlds], 1):
        world = world_from_spec(kind, seed + options.seed_offset)
        results = Building(world, seed + options.seed_offset, Noise(), variants).run()
        for variant, counts in results.items():
            totals[variant].add(counts)
            rows.append((f"{kind} {seed + options.seed_offset}", variant.scenario, *_cells(counts)))
        best = results.get(variants[0], Counts()).metrics()
        progress(
            f"[{number:2d}/{options.worlds}] {kind} {seed + options.seed_offset}: {best['objects']:.0f} objects, "
            f"F1 {best['f1_0.25']:.3f}, duplicates {best['duplicates']:.3f} ({variants[0].scenario})"
        )
    return _result(totals, rows, repr(Noise()), time.perf_counter() - began)


def _chosen(text: str, known: tuple[str, ...], what: str) -> list[str]:
    from lodestar_eval.registry import BadOptions

    names = [name.strip() for name in text.split(",") if name.strip()]
    for name in names:
        if name not in known:
            raise BadOptions(f"there is no {what} {name!r}; there are {', '.join(known)}")
    if not names:
        raise BadOptions(f"no {what} is given; there are {', '.join(known)}")
    return names


_COLUMNS = (
    "objects", "F1@0.25", "F1@0.5", "precision", "recall", "duplicates", "switches", "per 100 sightings",
    "label right", "ms per frame",
)  # fmt: skip


def _cells(counts: Counts) -> tuple[str, ...]:
    m = counts.metrics()
    return (
        f"{m['objects']:.0f}", f"{m['f1_0.25']:.3f}", f"{m['f1_0.5']:.3f}", f"{m['precision_0.25']:.3f}",
        f"{m['recall_0.25']:.3f}", f"{m['duplicates']:.3f}", f"{m['switches']:.0f}",
        f"{m['switches_per_100']:.2f}", f"{m['label_accuracy']:.3f}", f"{m['fuse_ms']:.1f}",
    )  # fmt: skip


def _small_cells(counts: Counts) -> tuple[str, ...]:
    m = counts.metrics()
    return (
        f"{m['small_objects']:.0f}", f"{m['small_f1_0.25']:.3f}", f"{m['small_f1_0.5']:.3f}",
        f"{m['small_precision_0.25']:.3f}", f"{m['small_recall_0.25']:.3f}",
    )  # fmt: skip


def _result(totals: dict, rows: list, noise: str, wall: float) -> Result:
    metrics: dict[str, float] = {}
    for variant, counts in totals.items():
        for name, value in counts.metrics().items():
            metrics[f"{variant.scenario}.{name}"] = value
    metrics["wall_s"] = wall
    return Result(
        metrics=metrics,
        bars=tuple(_bars(metrics)),
        tables=(
            Table(
                "All buildings",
                ("scenario", *_COLUMNS),
                tuple((v.scenario, *_cells(c)) for v, c in totals.items()),
            ),
            Table(
                "Objects whose longest seen side is below 0.2 m",
                ("scenario", "objects", "F1@0.25", "F1@0.5", "precision", "recall"),
                tuple((v.scenario, *_small_cells(c)) for v, c in totals.items()),
            ),
            Table("Building by building", ("building", "scenario", *_COLUMNS), tuple(rows)),
        ),
        notes=(
            "Truth is the box of the part of each object that showed within 5 m without error, for objects that "
            "showed with 200 pixels in 3 frames. An instance matches an object where their boxes' IoU reaches the "
            "bound (best assignment; each axis counts as at least 0.05 m). Duplicates: confirmed instances per "
            "object that has any, an instance belonging to the object whose pixels it was given most. Switches: an "
            "object was given to another instance than before and that one was not merged into it. "
            "The robot tours the reachable floor and turns round at each stop.",
        ),
        config={"noise": noise},
    )


def _bars(metrics: dict[str, float]) -> list[Bar]:
    bars = []
    noisy, jump, clean = (f"{scenario}." for scenario in SCENARIOS)
    if noisy + "f1_0.25" in metrics:
        bars.append(Bar("F1@0.25 with noise", metrics[noisy + "f1_0.25"], _F1_BOUND))
        bars.append(
            Bar("duplicates per object with noise", metrics[noisy + "duplicates"], _DUPLICATES_BOUND, False)
        )
    if clean + "f1_0.25" in metrics:
        bars.append(Bar("F1@0.25 without noise", metrics[clean + "f1_0.25"], _CLEAN_BOUND))
    if noisy + "f1_0.25" in metrics and jump + "f1_0.25" in metrics:
        lost = metrics[noisy + "f1_0.25"] - metrics[jump + "f1_0.25"]
        bars.append(Bar("F1@0.25 lost to the jump", lost, _JUMP_BOUND, False))
    return bars


BENCHMARK = Benchmark(
    "instances",
    "Instances against the truth of 20 buildings: F1, duplicates and switches.",
    _add_options,
    _run,
)

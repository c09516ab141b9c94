"""Calibration of viewpoints' gains: the area that is predicted in view against the area that comes into view."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from lodestar_eval.metrics import mean
from lodestar_eval.options import seed_list
from lodestar_eval.registry import BadOptions, Bar, Benchmark, Result, Table

if TYPE_CHECKING:
    from lodestar_eval.gain_probe import Shown

_CLEARANCE = 0.32  # m, of the starts; `ReachConfig.ease`


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--worlds", default="apartment,office,warehouse", help="kinds of buildings, with commas between them"
    )
    parser.add_argument("--seeds", type=seed_list, default="11-13", help="of the buildings (default 11-13)")
    parser.add_argument(
        "--sensors", default="laser,camera", help="laser (20 m), camera (5 m), or both (default)"
    )


def _run(options: argparse.Namespace, folder: Path, progress: Callable[[str], None]) -> Result:
    from lodestar_eval.benchmarks.coverage import expert_explorer, sensors
    from lodestar_eval.exploration import ExplorationConfig, Run
    from lodestar_eval.gain_probe import GainProbe, world_floor
    from lodestar_sim.worlds.sources import world_from_spec

    names = [name.strip() for name in options.sensors.split(",")]
    if set(names) - set(sensors()):
        raise BadOptions(f"--sensors takes {', '.join(sensors())}, not {options.sensors!r}")
    metrics: dict[str, float] = {}
    rows = []
    for name in names:
        sensor = sensors()[name]
        for kind in options.worlds.split(","):
            found: list[list[Shown]] = []
            for seed in options.seeds.values:
                floor = world_floor(world_from_spec(kind, seed), _CLEARANCE)
                explorer = expert_explorer(sensor)
                probe = GainProbe(explorer, floor, sensor, np.random.default_rng(seed))
                Run(floor, sensor, probe, floor.starts(1, seed)[0], ExplorationConfig()).explore()
                found.append(probe.shown)
                share = explorer.expert.config.stops.unknown_share
            values = scores(found, share)
            metrics |= {f"{key}.{name}.{kind}": value for key, value in values.items()}
            rows.append((name, kind, *(f"{values[key]:.2f}" for key in _COLUMNS)))
            progress(
                f"{name}, {kind}: {values['share']:.2f} of the area in view is shown, rank {values['rank']:.2f}"
            )
    ranks = [value for key, value in metrics.items() if key.startswith("rank.")]
    bars = (Bar("rank correlation of gains within a decision, mean", mean(ranks), 0.8),)
    return Result(
        metrics | {"rank": mean(ranks)}, bars,
        (Table("Gains", ("sensor", "world", *_COLUMNS.values()), tuple(rows)),), (), _NOTES,
    )  # fmt: skip


_COLUMNS = {
    "candidates": "candidates", "share": "shown of the area in view", "bias": "predicted / shown",
    "error_m2": "mean error, m²", "rank": "rank correlation within a decision",
    "best": "shown by the best predicted / by the best",
}  # fmt: skip
_NOTES = (
    "Candidates are drawn from the lattice of the frontier expert at every fourth decision of an exploration of the "
    "true plan. Shown: the unknown floor that comes into view by turning there. Predicted: the area in view times "
    "`unknown_share`.",
)


def scores(buildings: Sequence[Sequence[Shown]], share: float) -> dict[str, float]:
    """Return the calibration of gains over buildings. share: of the area in view that is predicted to be shown."""
    from scipy.stats import spearmanr

    every = [one for shown in buildings for one in shown]
    area, shown = np.array([one.area for one in every]), np.array([one.shown for one in every])
    ranks, best, most = [], 0.0, 0.0
    for building in buildings:
        for question in sorted({one.question for one in building}):
            own = [one for one in building if one.question == question]
            told, true = [one.area for one in own], [one.shown for one in own]
            if len(own) > 5 and np.std(told) > 0.0 and np.std(true) > 0.0:
                ranks.append(float(spearmanr(told, true).statistic))
            best, most = best + true[int(np.argmax(told))], most + max(true)
    total = max(float(shown.sum()), 1e-9)
    return {
        "candidates": float(len(every)), "share": total / max(float(area.sum()), 1e-9),
        "bias": share * float(area.sum()) / total, "error_m2": float(np.abs(share * area - shown).mean()),
        "rank": mean(ranks), "best": best / max(most, 1e-9),
    }  # fmt: skip


BENCHMARK = Benchmark(
    "gain",
    "Calibration of viewpoints' gains: area predicted in view against area that comes into view.",
    _add_options,
    _run,
)

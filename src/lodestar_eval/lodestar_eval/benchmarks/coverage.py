"""Benchmark: coverage of real floor plans over distance, frontier expert against nearest frontier."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from pathlib import Path

import numpy as np

from lodestar_eval.exploration import (
    ExpertExplorer,
    Exploration,
    ExplorationConfig,
    Explorer,
    GridSensor,
    NearestFrontier,
    Run,
)
from lodestar_eval.metrics import mean
from lodestar_eval.options import data_folder, positive_int
from lodestar_eval.registry import BadOptions, Bar, Benchmark, Plot, Result, Table

# bar of issue 4: relative gain in area under the curve over the rival, mean over the floors
_GAIN_BOUND = 0.10
_SHARE = 0.95  # share of the better explorer's coverage at which the area under the curve ends
_PROPOSE_MS = 150.0  # ms, bar: p95 of a proposal on the largest floor
_CLEARANCE = 0.32  # metres, least clearance of the start poses (REACH_EASE)
_EXPERT, _RIVAL = "frontier", "nearest_frontier"


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--data", type=Path, default=None, help="folder of floors (default: floorplans_kth in $LODESTAR_DATA)"
    )
    parser.add_argument("--starts", type=positive_int, default=3, help="per floor and sensor (default 3)")
    parser.add_argument("--seed", type=int, default=1, help="of the starts (default 1)")
    parser.add_argument(
        "--sensors", default="laser,camera", help="laser (20 m), camera (5 m), or both (default)"
    )


def sensors() -> dict[str, GridSensor]:
    """Return the sensors: a laser with 20 m range all around, and the simulator's depth camera with 5 m range."""
    from lodestar_sim.sensors import CameraConfig

    camera = CameraConfig()
    fov = 2.0 * math.atan(camera.width / (2.0 * camera.fx))
    return {"laser": GridSensor("laser", 20.0, 2.0 * math.pi), "camera": GridSensor("camera", 5.0, fov)}


def expert_explorer(sensor: GridSensor) -> ExpertExplorer:
    """Return the frontier expert with its default settings for a sensor."""
    from lodestar.experts.config import FrontierConfig

    return ExpertExplorer(_EXPERT, sensor, FrontierConfig(gain_range=sensor.range, fov=sensor.fov))


def _run(options: argparse.Namespace, folder: Path, progress: Callable[[str], None]) -> Result:
    from lodestar_eval.curves import save_curves
    from lodestar_eval.floorplans import load_floors

    chosen = [name.strip() for name in options.sensors.split(",")]
    if set(chosen) - set(sensors()):
        raise BadOptions(f"--sensors takes {', '.join(sensors())}, not {options.sensors!r}")
    try:
        floors = load_floors(data_folder(options.data, "floorplans_kth"), _CLEARANCE)
    except FileNotFoundError as error:
        raise BadOptions(str(error)) from error
    config = ExplorationConfig()
    metrics: dict[str, float] = {}
    rows: list[tuple[str, ...]] = []
    pairs: dict[tuple[str, str], list[dict[str, Exploration]]] = {}
    times: dict[str, list[float]] = {floor.name: [] for floor in floors}
    for name in chosen:
        sensor = sensors()[name]
        for floor in floors:
            for start in floor.starts(options.starts, options.seed):
                expert = expert_explorer(sensor)
                explorers: tuple[Explorer, ...] = (expert, NearestFrontier(config.travel))
                runs = {e.name: Run(floor, sensor, e, start, config).explore() for e in explorers}
                pairs.setdefault((name, floor.name), []).append(runs)
                times[floor.name] += expert.times
            values, row = _compare(pairs[name, floor.name])
            metrics |= {f"{key}.{name}.{floor.name}": value for key, value in values.items()}
            rows.append((name, floor.name, f"{floor.area:,.0f}", *row))
            progress(f"{name} on {floor.name}: {values['auc_gain']:+.1%}")
    for name in chosen:
        metrics[f"auc_gain.{name}"] = mean([metrics[f"auc_gain.{name}.{floor.name}"] for floor in floors])
    metrics["auc_gain"] = mean([metrics[f"auc_gain.{name}"] for name in chosen])
    for floor in floors:
        metrics[f"propose_p95_ms.{floor.name}"] = 1e3 * float(np.percentile(times[floor.name], 95))
    largest = max(floors, key=lambda floor: floor.grid.cells.size).name
    file = "coverage.png"
    save_curves(pairs, _EXPERT, _RIVAL, folder / file)
    bars = (
        Bar(
            "area under the curve against the nearest frontier, mean over the floors",
            metrics["auc_gain"],
            _GAIN_BOUND,
        ),
        Bar(
            f"p95 of an answer on {largest}, ms",
            metrics[f"propose_p95_ms.{largest}"],
            _PROPOSE_MS,
            at_least=False,
        ),
    )
    columns = (
        "sensor", "floor", "m²", "area: expert", "nearest", "gain", f"m to {_SHARE:.0%}: expert", "nearest",
        "m to the end: expert", "nearest", "left at the end: expert", "nearest",
    )  # fmt: skip
    table = Table(f"Covered share over distance, mean of {options.starts} starts", columns, tuple(rows))
    plot = Plot(file, "Covered share against distance: each run thin, the mean of a floor's starts bold.")
    return Result(metrics, bars, (table,), (plot,), _NOTES)


_NOTES = (
    "The area is the mean covered share from the start to the distance at which the better one had covered "
    f"{_SHARE:.0%}; its gain is taken per floor from the mean areas over the starts.",
    "Rival: drive to the cell nearest by path from which a cell of a frontier cluster (8-connected, at least 8 "
    "cells) is at most 0.5 m away, arrive facing the unknown beside it, decide anew on arrival. Both have the same "
    "sensor, map, planner and first turn in place; the expert is reviewed every metre, as the decision loop does.",
)


def _compare(runs: list[dict[str, Exploration]]) -> tuple[dict[str, float], tuple[str, ...]]:
    """Return the metrics of one floor and sensor, and their table row."""
    ends = [min(run.distance_at(_SHARE) for run in pair.values()) for pair in runs]
    lengths = [
        end if math.isfinite(end) else max(run.distance[-1] for run in pair.values())
        for end, pair in zip(ends, runs)
    ]
    area = {
        name: mean([pair[name].area_under(end) for pair, end in zip(runs, lengths)])
        for name in (_EXPERT, _RIVAL)
    }
    values = {"auc_gain": area[_EXPERT] / area[_RIVAL] - 1.0}
    texts = [f"{area[_EXPERT]:.3f}", f"{area[_RIVAL]:.3f}", f"{values['auc_gain']:+.1%}"]
    for name in (_EXPERT, _RIVAL):
        values[f"distance_95_{name}"] = mean([pair[name].distance_at(_SHARE) for pair in runs])
        texts.append(f"{values[f'distance_95_{name}']:.0f}")
    for name in (_EXPERT, _RIVAL):
        values[f"distance_{name}"] = mean([float(pair[name].distance[-1]) for pair in runs])
        texts.append(f"{values[f'distance_{name}']:.0f}")
    texts += [
        f"{1.0 - mean([float(pair[name].covered[-1]) for pair in runs]):.1%}" for name in (_EXPERT, _RIVAL)
    ]
    return values, tuple(texts)


BENCHMARK = Benchmark(
    "coverage", "Floors covered by the frontier expert against the nearest frontier.", _add_options, _run
)

"""Study: coverage of real floor plans over distance, frontier expert against nearest frontier."""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from lodestar_eval.exploration import (
    ExpertExplorer,
    ExplorationConfig,
    Explorer,
    GridSensor,
    NearestFrontier,
    Run,
)
from lodestar_eval.floorplans import Floor, load_floors
from lodestar_eval.metrics import mean
from lodestar_eval.options import data_folder, positive_int
from lodestar_eval.registry import BadOptions, Plot
from lodestar_eval.study import Limit, Number, Row, Rows, Study, Whole, percentile

_SHARE = 0.95  # share of the better explorer's coverage at which the area under the curve ends
_CLEARANCE = 0.32  # metres, least clearance of the start poses (REACH_EASE)
_EXPERT, _RIVAL = "frontier", "nearest_frontier"
_BY = ("sensor", "floor")


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


@lru_cache(maxsize=1)
def _floors(data: Path) -> dict[str, Floor]:
    return {floor.name: floor for floor in load_floors(data, _CLEARANCE)}


def _cases(options: argparse.Namespace) -> Iterator[tuple[Any, ...]]:
    chosen = [name.strip() for name in options.sensors.split(",")]
    if set(chosen) - set(sensors()):
        raise BadOptions(f"--sensors takes {', '.join(sensors())}, not {options.sensors!r}")
    data = data_folder(options.data, "floorplans_kth")
    try:
        names = list(_floors(data))
    except FileNotFoundError as error:
        raise BadOptions(str(error)) from error
    for sensor in chosen:
        for floor in names:
            yield sensor, floor, data, options.starts, options.seed


def _measure(name: str, of: str, data: Path, starts: int, seed: int) -> Iterator[Row]:
    """Yield a row per start, with both explorers."""
    sensor, floor, config = sensors()[name], _floors(data)[of], ExplorationConfig()
    for start in floor.starts(starts, seed):
        expert = expert_explorer(sensor)
        explorers: tuple[Explorer, ...] = (expert, NearestFrontier(config.travel))
        runs = {e.name: Run(floor, sensor, e, start, config).explore() for e in explorers}
        end = min(run.distance_at(_SHARE) for run in runs.values())
        end = end if math.isfinite(end) else max(run.distance[-1] for run in runs.values())
        row = {"sensor": name, "floor": of, "m2": floor.area, "_cells": floor.grid.cells.size}
        for explorer, run in runs.items():
            row |= {
                f"area_{explorer}": run.area_under(end), f"distance_95_{explorer}": run.distance_at(_SHARE),
                f"distance_{explorer}": run.distance[-1], f"left_{explorer}": 1.0 - run.covered[-1],
            }  # fmt: skip
        curves = {explorer: (run.distance, run.covered) for explorer, run in runs.items()}
        yield row | {"_ms": [1e3 * seconds for seconds in expert.times], "_curves": curves}


def _gains(rows: Rows) -> dict[str, float]:
    """Return the relative gain in area under the curve: by sensor and floor, by sensor, and the mean."""
    found: dict[str, dict[str, float]] = {}
    for sensor, floor in dict.fromkeys((row["sensor"], row["floor"]) for row in rows):
        own = [row for row in rows if (row["sensor"], row["floor"]) == (sensor, floor)]
        areas = [mean([row[f"area_{explorer}"] for row in own]) for explorer in (_EXPERT, _RIVAL)]
        found.setdefault(sensor, {})[floor] = areas[0] / areas[1] - 1.0
    by_sensor = {sensor: mean(list(gains.values())) for sensor, gains in found.items()}
    each = {
        f"auc_gain.{sensor}.{floor}": gain for sensor, gains in found.items() for floor, gain in gains.items()
    }
    whole = {f"auc_gain.{sensor}": gain for sensor, gain in by_sensor.items()}
    return each | whole | {"auc_gain": mean(list(by_sensor.values()))}


def _bars(rows: Rows) -> list[Limit]:
    """Return the bars: of issue 4, and on the time of a proposal on the largest floor."""
    largest = max(rows, key=lambda row: row["_cells"])["floor"]
    name = "area under the curve against the nearest frontier, mean over the floors"
    slow = f"p95 of an answer on {largest}, ms"
    return [Limit("auc_gain", 0.10, name=name), Limit(f"propose_p95_ms.{largest}", 150.0, False, slow)]


def _plots(rows: Rows, folder: Path) -> Sequence[Plot]:
    from lodestar_eval.curves import save_curves

    pairs: dict[tuple[str, str], list[dict[str, np.ndarray]]] = {}
    for row in rows:
        curves = {name: np.array(curve) for name, curve in row["_curves"].items()}
        pairs.setdefault((row["sensor"], row["floor"]), []).append(curves)
    save_curves(pairs, _EXPERT, _RIVAL, folder / "coverage.png")
    told = "Covered share against distance: each run thin, the mean of a floor's starts bold."
    return [Plot("coverage.png", told)]


_NOTES = (
    "The area is the mean covered share from the start to the distance at which the better one had covered "
    f"{_SHARE:.0%}; its gain is taken per floor from the mean areas over the starts.",
    "Rival: drive to the cell nearest by path from which a cell of a frontier cluster (8-connected, at least 8 "
    "cells) is at most 0.5 m away, arrive facing the unknown beside it, decide anew on arrival. Both have the same "
    "sensor, map, planner and first turn in place; the expert is reviewed every metre, as the decision loop does.",
)


BENCHMARK = Study(
    "coverage",
    "Floors covered by the frontier expert against the nearest frontier.",
    _add_options,
    _cases,
    _measure,
    numbers=(
        Number("_m2", "m2", by=_BY, digits=0),
        *(
            Number(hidden + f"{of}_{explorer}", f"{of}_{explorer}", by=_BY, digits=digits)
            for hidden, of, digits in (
                ("_", "area", 3),
                ("", "distance_95", 0),
                ("", "distance", 0),
                ("_", "left", 3),
            )
            for explorer in (_EXPERT, _RIVAL)
        ),
        Whole(_gains),
        Number("propose_p95_ms", "_ms", percentile(95), by=("floor",), digits=1),
    ),
    bars=_bars,
    notes=_NOTES,
    plots=_plots,
)

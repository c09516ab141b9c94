"""Study: successive searches in one building, by category, description or picture, with and without memory."""

from __future__ import annotations

import argparse
import math
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from lodestar.experts.registry import expert_names
from lodestar_eval.metrics import bootstrap_interval, defined, mean
from lodestar_eval.options import MEASURED, add_search_options, add_selection_options, selection_of
from lodestar_eval.outcomes import EpisodeOutcome
from lodestar_eval.registry import BadOptions, Plot, Table
from lodestar_eval.study import Limit, Number, Row, Rows, Study, Whole, count
from lodestar_eval.time_tables import time_metrics, time_table

_MEMORY = {"both": (True, False), "with": (True,), "without": (False,)}
_COLORS = {"memory": "#0b7a75", "no_memory": "#c2571a"}
_BUILDING = ("world", "seed")


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--worlds",
        default="apartment,office",
        help="kinds, with commas between them (default apartment,office)",
    )
    add_search_options(parser, "1-18", MEASURED, 300.0, of="of buildings of every kind")
    parser.add_argument("--memory", choices=tuple(_MEMORY), default="both", help="which rows (default both)")
    add_selection_options(parser)


def _cases(options: argparse.Namespace) -> Iterator[tuple[Any, ...]]:
    from lodestar.assembly.config import changed
    from lodestar_eval.settings import settings_of
    from lodestar_sim.worlds import WorldError, world_from_spec

    kinds = [kind for kind in options.worlds.split(",") if kind]
    try:
        for kind in kinds:
            world_from_spec(kind, options.seeds.first)
    except WorldError as error:
        raise BadOptions(str(error)) from error
    settings = changed(settings_of(options), robot__goal_selector__selection=selection_of(options))
    for kind in kinds:
        for seed in options.seeds.values:
            for remembers in _MEMORY[options.memory]:
                yield kind, seed, settings, remembers


def _measure(kind: str, seed: int, settings: Any, remembers: bool) -> Iterator[Row]:
    from lodestar_eval.lifelong import lifelong

    for number, (modality, outcome) in enumerate(lifelong(kind, seed, settings, remembers), start=1):
        yield row_of(number, modality, outcome)


def row_of(number: int, modality: str, outcome: EpisodeOutcome) -> Row:
    """Return the row of a subtask, whose policy is "memory" or "no_memory"."""
    told = {"memory": outcome.policy, "subtask": number, "modality": modality, **outcome.row()}
    return told | {"_spl": outcome.spl, "_cpu": outcome.cpu + outcome.setup_cpu, "_outcome": vars(outcome)}


def _outcomes(rows: Rows, memory: str = "") -> list[EpisodeOutcome]:
    return [EpisodeOutcome(**row["_outcome"]) for row in rows if memory in ("", row["memory"])]


def _numbers(by: tuple[str, ...]) -> Iterator[Number]:
    """Yield the numbers of subtasks split by columns. Intervals resample whole buildings."""
    yield Number("subtasks", "subtask", count, by=by, digits=0)
    yield Number("sr", "success", by=by, interval=True, cluster=_BUILDING)
    yield Number("spl", "_spl", by=by, interval=True, cluster=_BUILDING)
    yield Number("spl_left_out", lambda row: math.isnan(row["_spl"]), sum, by=by, digits=0)
    yield Number("_time_s", "duration", by=by, digits=0)
    yield Number("_path_m", "path_length", by=by, digits=1)


def _remembers(row: Row) -> bool:
    return row["memory"] == "memory"


def _difference(rows: Rows) -> dict[str, float]:
    """Return the mean over buildings, with its interval, of the difference in SPL: memory minus no memory."""
    spls: dict[Any, dict[str, list[float]]] = {}
    for row in rows:
        building = spls.setdefault((row["world"], row["seed"]), {})
        building.setdefault(row["memory"], []).append(row["_spl"])
    both = [found for found in spls.values() if len(found) == len(_COLORS)]
    if not both:
        return {}
    differences = defined([mean(found["memory"]) - mean(found["no_memory"]) for found in both])
    low, high = bootstrap_interval(differences, np.random.default_rng(0))
    key = "memory_minus_none"
    return {f"spl.{key}": mean(differences), f"spl_low.{key}": low, f"spl_high.{key}": high}


def _tables(rows: Rows) -> list[Table]:
    timed = {("lifelong", memory): found for memory in _COLORS if (found := _outcomes(rows, memory))}
    return [_allocation(rows), time_table(timed)]


def _allocation(rows: Rows) -> Table:
    from lodestar_eval.arms import allocation

    lines = []
    for memory in dict.fromkeys(row["memory"] for row in rows):
        picks: Counter[str] = Counter()
        driven: Counter[str] = Counter()
        for outcome in _outcomes(rows, memory):
            picks.update(outcome.decisions)
            driven.update(outcome.driven)
        for arm, (number, part, metres, way) in allocation(picks, driven, expert_names()).items():
            lines.append((memory, arm, str(number), f"{100 * part:.1f}", f"{metres:.0f}", f"{100 * way:.1f}"))
    columns = ("memory", "expert", "picks", "picks, %", "path, m", "path, %")
    return Table("Picks and path by expert (as RoboAtlas table VIII)", columns, tuple(lines))


def _plots(rows: Rows, folder: Path) -> list[Plot]:
    """Write a PNG of the mean SPL by the position of a subtask in its episode."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.0, 3.6), dpi=110, facecolor="white", layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    spls: dict[str, dict[int, list[float]]] = {}
    for row in rows:
        spls.setdefault(row["memory"], {}).setdefault(row["subtask"], []).append(row["_spl"])
    for memory, found in spls.items():
        means, color = [mean(values) for values in found.values()], _COLORS[memory]
        axes.plot(list(found), means, marker="o", color=color, label=memory.replace("_", " "))
        for number, values in found.items():
            low, high = bootstrap_interval(defined(values), np.random.default_rng(0))
            axes.plot([number, number], [low, high], color=color, alpha=0.4)
    axes.set(title="SPL by the place of a subtask", xlabel="subtask", ylabel="SPL", ylim=(0.0, 1.02))
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)
    figure.savefig(folder / "lifelong.png")
    return [Plot("lifelong.png", "SPL by the place of a subtask in its episode, with memory and without")]


BENCHMARK = Study(
    "lifelong",
    "One thing after the other in one building, by category, description, picture; with memory and without.",
    _add_options,
    _cases,
    _measure,
    numbers=(
        *_numbers(("memory",)),
        *_numbers(("memory", "modality")),
        Number("sr", "success", where=_remembers),
        Number("spl", "_spl", where=_remembers),
        Number("cpu_s", "_cpu", sum),
        Whole(lambda rows: time_metrics(_outcomes(rows)), ("memory",)),
        Whole(_difference),
    ),
    bars=(Limit("sr", 0.85), Limit("spl", 0.55), Limit("spl_low.memory_minus_none", 1e-6)),
    columns=("memory", "world", "seed", "subtask", "modality", "directive", "success", "spl", "failure"),
    notes=(
        "A subtask begins where the one before ended, done or not, and succeeds within 1.0 m of one of its "
        "things, facing it, in line of sight; the SPL counts the shortest way from there, and a "
        "subtask that begins on a pose of success has none: it is left out and counted in `spl_left_out`. "
        "Intervals are 95 % bootstrap percentiles over buildings, because the subtasks of a building depend on "
        "each other.",
    ),
    left_out="because there is nothing to ask for",
    missing=0,
    tables=_tables,
    plots=_plots,
)

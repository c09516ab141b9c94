"""Benchmark: successive searches in one building, by category, description or picture, with and without memory."""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from lodestar.experts.registry import expert_names
from lodestar_eval.metrics import bootstrap_interval, cluster_interval, defined, mean
from lodestar_eval.options import MEASURED, add_search_options, add_selection_options, selection_of
from lodestar_eval.registry import BadOptions, Bar, Benchmark, Plot, Result, Table
from lodestar_eval.report import number, write_csv
from lodestar_eval.time_tables import time_metrics, time_table
from lodestar_eval.trials import run_jobs

if TYPE_CHECKING:
    from lodestar_eval.lifelong import SubtaskOutcome

_SUCCESS_BOUND, _SPL_BOUND = 0.85, 0.55  # the bars, for searches with memory
_ABOVE_ZERO = 1e-6  # least difference that counts as above 0
_MEMORY = {"both": (True, False), "with": (True,), "without": (False,)}
_KEYS = {True: "memory", False: "no_memory"}
_Worlds = dict[tuple[str, int], list["SubtaskOutcome"]]  # key: kind of world, seed


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--worlds",
        default="apartment,office",
        help="kinds, with commas between them (default apartment,office)",
    )
    add_search_options(parser, "1-18", MEASURED, 300.0, of="of buildings of every kind")
    parser.add_argument("--memory", choices=tuple(_MEMORY), default="both", help="which rows (default both)")
    add_selection_options(parser)


def _run(options: argparse.Namespace, folder: Path, progress: Callable[[str], None]) -> Result:
    from lodestar.assembly.config import changed
    from lodestar_eval.lifelong import lifelong
    from lodestar_eval.settings import NOISES, EpisodeSettings, robot_config
    from lodestar_sim.worlds import WorldError, world_from_spec

    kinds = [kind for kind in options.worlds.split(",") if kind]
    try:
        for kind in kinds:
            world_from_spec(kind, options.seeds.first)
    except WorldError as error:
        raise BadOptions(str(error)) from error
    settings = EpisodeSettings(
        time_limit=options.limit_time, thinking=options.answer_time,
        robot=changed(robot_config(NOISES[options.noise]), goal_selector__selection=selection_of(options)),
    )  # fmt: skip
    jobs = [
        (kind, seed, settings, remembers)
        for seed in options.seeds.values
        for kind in kinds
        for remembers in _MEMORY[options.memory]
    ]
    began, found = time.perf_counter(), []
    for done, outcomes in enumerate(run_jobs(lifelong, jobs, options.jobs), start=1):
        found += outcomes
        progress(_line(outcomes, done, len(jobs)))
    found.sort(key=lambda s: (not s.remembers, s.outcome.world, s.outcome.seed, s.number))
    rows = [
        {"memory": _KEYS[s.remembers], "subtask": s.number, "modality": s.modality, **s.outcome.row()}
        for s in found
    ]
    write_csv(folder / "lifelong.csv", rows, missing=0)
    save_progress(found, folder / "lifelong.png")
    return result_of(found, time.perf_counter() - began, settings)


def _line(outcomes: list[SubtaskOutcome], place: int, count: int) -> str:
    if not outcomes:
        return f"[{place:3d}/{count}] a building without anything to ask for"
    first = outcomes[0]
    spls = [s.outcome.spl for s in outcomes]
    done = sum(s.outcome.success for s in outcomes)
    return (
        f"[{place:3d}/{count}] {first.outcome.world} {first.outcome.seed}, {_KEYS[first.remembers]}: "
        f"{done} of {len(outcomes)} found, SPL {number(round(mean(spls), 2))}"
    )


def result_of(found: Sequence[SubtaskOutcome], wall: float, settings: object = None) -> Result:
    """Return metrics, pass thresholds and tables over subtasks. Intervals resample whole buildings."""
    metrics: dict[str, float] = {}
    rows = []
    by_world = {key: _by_world([s for s in found if _KEYS[s.remembers] == key]) for key in _KEYS.values()}
    for key, worlds in by_world.items():
        if not worlds:
            continue
        everything = [s for subtasks in worlds.values() for s in subtasks]
        for modality in ("all", *sorted({s.modality for s in everything})):
            chosen = {w: [s for s in ss if modality in ("all", s.modality)] for w, ss in worlds.items()}
            metrics |= _numbers(f"{key}.{modality}" if modality != "all" else key, chosen)
            rows.append(_row(key, modality, chosen, metrics))
    timed = {
        key: [s.outcome for subtasks in worlds.values() for s in subtasks]
        for key, worlds in by_world.items()
        if worlds
    }
    metrics |= {
        f"{name}.{key}": value for key, one in timed.items() for name, value in time_metrics(one).items()
    }
    metrics["wall_s"] = wall
    metrics["cpu_s"] = sum(s.outcome.cpu + s.outcome.setup_cpu for s in found)
    bars = []
    if by_world["memory"]:
        metrics |= {name: metrics[f"{name}.memory"] for name in ("sr", "spl")}
        bars = [Bar("sr", metrics["sr"], _SUCCESS_BOUND), Bar("spl", metrics["spl"], _SPL_BOUND)]
    if by_world["memory"] and by_world["no_memory"]:
        metrics |= _difference(by_world["memory"], by_world["no_memory"])
        bars.append(Bar("spl_low.memory_minus_none", metrics["spl_low.memory_minus_none"], _ABOVE_ZERO))
    columns = (
        "memory",
        "modality",
        "subtasks",
        "SR",
        "95 %",
        "SPL",
        "95 %",
        "left out of SPL",
        "time, s",
        "path, m",
    )
    return Result(
        metrics,
        tuple(bars),
        (
            Table("Subtasks by modality (as RoboAtlas tables VI and VII)", columns, tuple(rows)),
            _allocation(found),
            _failures(found),
            time_table({("lifelong", key): outcomes for key, outcomes in timed.items()}),
        ),
        (Plot("lifelong.png", "SPL by the place of a subtask in its episode, with memory and without"),),
        (
            "A subtask begins where the one before ended, done or not, and succeeds within 1.0 m of one of its "
            "things, facing it, in line of sight; the SPL counts the shortest way from there, and a "
            "subtask that begins on a pose of success has none: it is left out and counted in `spl_left_out`. "
            "Intervals are 95 % bootstrap percentiles over buildings, because the subtasks of a building depend on "
            "each other.",
        ),
        {"settings": repr(settings)},
    )


def _by_world(found: Sequence[SubtaskOutcome]) -> _Worlds:
    worlds: _Worlds = {}
    for subtask in found:
        worlds.setdefault((subtask.outcome.world, subtask.outcome.seed), []).append(subtask)
    return worlds


def _numbers(key: str, worlds: _Worlds) -> dict[str, float]:
    """Return success rate `sr.KEY` and `spl.KEY` with intervals, and the number of subtasks."""
    metrics: dict[str, float] = {f"subtasks.{key}": sum(len(subtasks) for subtasks in worlds.values())}
    for name in ("sr", "spl"):
        values = [
            [float(s.outcome.success) if name == "sr" else s.outcome.spl for s in subtasks]
            for subtasks in worlds.values()
        ]
        values = [defined(cluster) for cluster in values]
        low, high = cluster_interval(values, np.random.default_rng(0))
        flat = [value for cluster in values for value in cluster]
        metrics |= {f"{name}.{key}": mean(flat), f"{name}_low.{key}": low, f"{name}_high.{key}": high}
    metrics[f"spl_left_out.{key}"] = metrics[f"subtasks.{key}"] - len(flat)
    return metrics


def _row(key: str, modality: str, worlds: _Worlds, metrics: dict[str, float]) -> tuple[str, ...]:
    name = key if modality == "all" else f"{key}.{modality}"
    outcomes = [s.outcome for subtasks in worlds.values() for s in subtasks]
    cells = [key, modality, str(len(outcomes))]
    for metric in ("sr", "spl"):
        low, high = metrics[f"{metric}_low.{name}"], metrics[f"{metric}_high.{name}"]
        cells += [f"{metrics[f'{metric}.{name}']:.3f}", f"{low:.2f}–{high:.2f}"]
    return (
        *cells, str(metrics[f"spl_left_out.{name}"]),
        f"{mean([o.duration for o in outcomes]):.0f}", f"{mean([o.path_length for o in outcomes]):.1f}",
    )  # fmt: skip


def _difference(ours: _Worlds, theirs: _Worlds) -> dict[str, float]:
    """Return the mean over buildings, with its interval, of the difference in SPL: memory minus no memory."""
    differences = defined(
        [
            mean([s.outcome.spl for s in ours[world]]) - mean([s.outcome.spl for s in theirs[world]])
            for world in ours
            if world in theirs
        ]
    )
    low, high = bootstrap_interval(differences, np.random.default_rng(0))
    key = "memory_minus_none"
    return {f"spl.{key}": mean(differences), f"spl_low.{key}": low, f"spl_high.{key}": high}


def _allocation(found: Sequence[SubtaskOutcome]) -> Table:
    from lodestar_eval.arms import allocation

    rows = []
    for remembers, key in _KEYS.items():
        outcomes = [s.outcome for s in found if s.remembers is remembers]
        picks: Counter[str] = Counter()
        driven: Counter[str] = Counter()
        for outcome in outcomes:
            picks.update(outcome.decisions)
            driven.update(outcome.driven)
        for arm, (count, part, metres, way) in (
            allocation(picks, driven, expert_names()).items() if outcomes else ()
        ):
            rows.append((key, arm, str(count), f"{100 * part:.1f}", f"{metres:.0f}", f"{100 * way:.1f}"))
    columns = ("memory", "expert", "picks", "picks, %", "path, m", "path, %")
    return Table("Picks and path by expert (as RoboAtlas table VIII)", columns, tuple(rows))


def _failures(found: Sequence[SubtaskOutcome]) -> Table:
    rows = [
        (
            _KEYS[s.remembers], s.outcome.world, str(s.outcome.seed), str(s.number), s.modality,
            s.outcome.directive, s.outcome.failure,
        )
        for s in found
        if not s.outcome.success
    ]  # fmt: skip
    columns = ("memory", "world", "seed", "subtask", "modality", "asked", "why it failed")
    return Table("Subtasks that failed", columns, tuple(rows))


def save_progress(found: Sequence[SubtaskOutcome], file: Path) -> None:
    """Write a PNG of the mean SPL by the position of a subtask in its episode."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.0, 3.6), dpi=110, facecolor="white", layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    for remembers, color in ((True, "#0b7a75"), (False, "#c2571a")):
        numbers = sorted({s.number for s in found if s.remembers is remembers})
        spls = [[s.outcome.spl for s in found if (s.remembers, s.number) == (remembers, n)] for n in numbers]
        if not numbers:
            continue
        label = "with memory" if remembers else "without memory"
        axes.plot(numbers, [mean(values) for values in spls], marker="o", color=color, label=label)
        for n, values in zip(numbers, spls):
            low, high = bootstrap_interval(defined(values), np.random.default_rng(0))
            axes.plot([n, n], [low, high], color=color, alpha=0.4)
    axes.set(title="SPL by the place of a subtask", xlabel="subtask", ylabel="SPL", ylim=(0.0, 1.02))
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)
    file.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(file)


BENCHMARK = Benchmark(
    "lifelong",
    "One thing after the other in one building, by category, description, picture; with memory and without.",
    _add_options,
    _run,
)

"""Find something in buildings nobody mapped: success, path length, time, and what it costs."""

from __future__ import annotations

import argparse
import csv
import ctypes
import json
import multiprocessing
import signal
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

import numpy as np

from lodestar_eval.metrics import bootstrap_interval, mean, share
from lodestar_eval.options import positive_int, positive_seconds, seed_list
from lodestar_eval.outcomes import EpisodeOutcome
from lodestar_eval.registry import BadOptions, Bar, Benchmark, Plot, Result, Table
from lodestar_eval.stages import StageClock

_SUCCESS_BOUND = 0.90  # share of episodes, issue's bar
NOISE_NAMES = ("none", "mild", "strong")  # of episode.NOISES, which is slow to import
_SPEED_BOUND = 8.0  # simulated seconds per processor second of the episode


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--world", default="apartment", help="apartment, office, warehouse, a world file, a real map"
    )
    parser.add_argument(
        "--seeds", type=seed_list, default="1-30", help="such as 1-30 or 1,4,9-12 (default 1-30)"
    )
    parser.add_argument(
        "--limit-time",
        type=positive_seconds,
        default=600.0,
        metavar="S",
        help="simulated seconds per episode",
    )
    parser.add_argument(
        "--jobs", type=positive_int, default=1, help="processes that run episodes (default 1)"
    )
    parser.add_argument("--noise", choices=NOISE_NAMES, default="mild", help="of perception (default mild)")
    parser.add_argument("--directive", default=None, help="instead of each seed's own")


def _run(options: argparse.Namespace, folder: Path, progress: Callable[[str], None]) -> Result:
    from lodestar_eval.episode import NOISES, EpisodeSettings
    from lodestar_eval.plots import save_overview
    from lodestar_sim.worlds import WorldError, world_from_spec

    try:
        world_from_spec(options.world, options.seeds.first)
    except WorldError as error:
        raise BadOptions(str(error)) from error
    settings = EpisodeSettings(time_limit=options.limit_time, noise=NOISES[options.noise])
    began = time.perf_counter()
    outcomes: list[EpisodeOutcome] = []
    for outcome in _episodes(options, settings, folder):
        outcomes.append(outcome)
        progress(_line(outcome, len(outcomes), len(options.seeds.values)))
    outcomes.sort(key=lambda outcome: outcome.seed)
    _write_rows(outcomes, folder)
    save_overview(outcomes, folder / "episodes.png")
    return _result(outcomes, settings, time.perf_counter() - began, options.jobs)


def _episodes(options: argparse.Namespace, settings: object, folder: Path) -> Iterator[EpisodeOutcome]:
    """Outcomes as they come; a map of every episode lies in folder/maps."""
    jobs = [(options.world, seed, options.directive, settings, folder) for seed in options.seeds.values]
    if options.jobs == 1:
        for job in jobs:
            yield _one(*job)
        return
    context = multiprocessing.get_context("spawn")  # threads of Open3D and torch do not survive a fork
    with ProcessPoolExecutor(options.jobs, context, initializer=_end_with_parent) as pool:
        futures = [pool.submit(_one, *job) for job in jobs]
        try:
            for future in as_completed(futures):
                yield future.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _end_with_parent() -> None:
    """This worker ends when the benchmark is killed: a pool's workers would wait for ever for another job."""
    pr_set_pdeathsig = 1  # prctl(2)
    ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGKILL)


def _one(world: str, seed: int, directive: str | None, settings: object, folder: Path) -> EpisodeOutcome:
    from lodestar_eval.episode import runner_of
    from lodestar_eval.tasks import prepare

    prepared = prepare(world, seed, directive)
    run = runner_of(settings).run(prepared.world, prepared.task, seed)
    run.save_map(folder / "maps" / f"seed_{seed:03d}.png")
    run.save_decisions(folder / "decisions" / f"seed_{seed:03d}.jsonl")
    return run.outcome


def _line(outcome: EpisodeOutcome, done: int, count: int) -> str:
    found = "found " if outcome.success else "FAILED"
    return (
        f"[{done:3d}/{count}] seed {outcome.seed:3d} {found} {outcome.directive!r}: "
        f"{outcome.duration:.0f} s, {outcome.path_length:.1f} m, SPL {outcome.spl:.2f}, {outcome.speed:.1f}x"
        + ("" if outcome.success else f" — {outcome.failure}")
    )


def metrics_of(outcomes: list[EpisodeOutcome]) -> dict[str, float]:
    """Flat metrics over episodes. `speed`: simulated s per processor s of the episode, set-up apart."""
    rng = np.random.default_rng(0)
    successes = [float(o.success) for o in outcomes]
    spls = [o.spl for o in outcomes]
    found = [o for o in outcomes if o.success]
    claimed = [o for o in outcomes if o.claimed]
    simulated, busy = sum(o.duration for o in outcomes), sum(o.cpu for o in outcomes)
    whole = busy + sum(o.setup_cpu for o in outcomes)
    clock = StageClock.total([o.stages for o in outcomes])
    low, high = bootstrap_interval(successes, rng)
    spl_low, spl_high = bootstrap_interval(spls, rng)
    metrics = {
        "episodes": len(outcomes),
        "sr": mean(successes),
        "sr_low": low,
        "sr_high": high,
        "spl": mean(spls),
        "spl_low": spl_low,
        "spl_high": spl_high,
        "claimed_precision": share(sum(o.success for o in claimed), len(claimed)),
        "reached": mean([float(o.reached) for o in outcomes]),
        "duration_s": mean([o.duration for o in outcomes]),
        "found_duration_s": mean([o.duration for o in found]),
        "path_length_m": mean([o.path_length for o in outcomes]),
        "shortest_m": mean([o.shortest for o in outcomes]),
        "collisions": sum(o.collisions for o in outcomes),
        "coverage": mean([o.coverage for o in outcomes]),
        "epochs": mean([o.epochs for o in outcomes]),
        "speed": share_of(simulated, busy),
        "speed_with_setup": share_of(simulated, whole),
        "frames_rejected": sum(sum(o.rejected.values()) for o in outcomes),
        "cpu_s": busy,
        "setup_cpu_s": whole - busy,
        "simulated_s": simulated,
    }
    frames = max(sum(o.frames for o in outcomes), 1)
    for name, milliseconds in clock.milliseconds_per_call().items():
        metrics[f"stage.{name}_ms"] = milliseconds
        metrics[f"stage.{name}_ms_per_frame"] = 1e3 * clock.seconds[name] / frames
    for expert in sorted({name for o in outcomes for name in o.decisions}):
        metrics[f"decisions.{expert}"] = sum(o.decisions.get(expert, 0) for o in outcomes)
    return metrics


def _yes(value: bool) -> str:
    return "yes" if value else "no"


def share_of(part: float, whole: float) -> float:
    """part / whole, NaN where there is no whole."""
    return part / whole if whole > 0.0 else float("nan")


def _result(outcomes: list[EpisodeOutcome], settings: object, wall: float, jobs: int) -> Result:
    metrics = metrics_of(outcomes)
    metrics["wall_s"] = wall
    rows = tuple(
        (
            str(o.seed), o.directive, _yes(o.success), _yes(o.claimed),
            f"{o.duration:.0f}", f"{o.path_length:.1f}", f"{o.shortest:.1f}", f"{o.spl:.2f}",
            str(o.collisions), f"{o.speed:.1f}", o.failure,
        )
        for o in outcomes
    )  # fmt: skip
    columns = (
        "seed",
        "directive",
        "found",
        "claimed",
        "s",
        "m",
        "shortest m",
        "SPL",
        "collisions",
        "speed",
        "failure",
    )
    clock = StageClock.total([o.stages for o in outcomes])
    busy = sum(clock.seconds.values())
    stages = tuple(
        (
            name, str(clock.calls[name]), f"{1e3 * seconds / clock.calls[name]:.2f}",
            f"{100 * seconds / busy:.1f}",
        )
        for name, seconds in sorted(clock.seconds.items(), key=lambda item: -item[1])
    )  # fmt: skip
    return Result(
        metrics=metrics,
        bars=(
            Bar("sr", metrics["sr"], _SUCCESS_BOUND),
            Bar("speed", metrics["speed"], _SPEED_BOUND),
        ),
        tables=(
            Table("Episodes", columns, rows),
            Table("Processor time by stage", ("stage", "calls", "ms per call", "% of all"), stages),
        ),
        plots=(
            Plot("episodes.png", "Way driven against the shortest way, success over time, and time by stage"),
            *(Plot(f"maps/seed_{o.seed:03d}.png", f"Seed {o.seed}: {o.directive}") for o in outcomes),
        ),
        notes=(
            "Intervals are 95 % bootstrap percentiles over episodes. `speed` is simulated seconds per second "
            "of processor time (all threads) of the episode itself; `speed_with_setup` adds making the "
            "building, compiling and loading the text model. Stages are the main thread's processor time.",
        ),
        config={"settings": repr(settings), "jobs": jobs},
    )


def _write_rows(outcomes: list[EpisodeOutcome], folder: Path) -> None:
    """episodes.csv and episodes_runs.json: one row per episode."""
    rows = [outcome.row() for outcome in outcomes]
    with (folder / "episodes.csv").open("w", newline="", encoding="utf-8") as file:
        names = dict.fromkeys(name for row in rows for name in row)
        writer = csv.DictWriter(file, fieldnames=list(names), restval=0)
        writer.writeheader()
        writer.writerows(rows)
    (folder / "episodes_runs.json").write_text(
        json.dumps(rows, indent=1, default=str) + "\n", encoding="utf-8"
    )


BENCHMARK = Benchmark(
    "episodes",
    "Find something in buildings nobody mapped: success, SPL, time, cost per stage.",
    _add_options,
    _run,
)

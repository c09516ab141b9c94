"""Benchmark: searches for an object seen only in a former session, with and without the memory of that session."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from lodestar_eval.metrics import bootstrap_interval, defined, mean
from lodestar_eval.options import add_search_options
from lodestar_eval.registry import BadOptions, Bar, Benchmark, Result, Table
from lodestar_eval.report import write_csv
from lodestar_eval.trials import run_jobs

if TYPE_CHECKING:
    from lodestar_eval.last_seen import SearchOutcome

_KEYS = {True: "memory", False: "no_memory"}
_CASES = {"still there": "there", "carried away": "gone"}
_BELOW_ZERO = -1e-6  # metres, bound on the difference: the path must be shorter with memory


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--world", default="apartment", help="kind of building (default apartment)")
    add_search_options(parser, "601-610", "mild", 300.0, 0.06)


def _run(options: argparse.Namespace, folder: Path, progress: Callable[[str], None]) -> Result:
    from lodestar_eval.last_seen import searches
    from lodestar_eval.settings import NOISES, EpisodeSettings, robot_config

    settings = EpisodeSettings(
        time_limit=options.limit_time, thinking=options.answer_time, robot=robot_config(NOISES[options.noise])
    )
    began, found = time.perf_counter(), []
    jobs = [(options.world, seed, settings) for seed in options.seeds.values]
    for done, outcomes in enumerate(run_jobs(searches, jobs, options.jobs), start=1):
        found += outcomes
        progress(_line(outcomes, done, len(jobs)))
    left_out = sorted({*options.seeds.values} - {one.outcome.seed for one in found})
    if not found:
        raise BadOptions(
            "in none of the buildings a former session saw a thing that can be carried; take other seeds"
        )
    found.sort(key=lambda s: (s.outcome.seed, s.case, not s.remembers))
    rows = [{"case": s.case, "memory": _KEYS[s.remembers], **s.outcome.row()} for s in found]
    write_csv(folder / "last_seen.csv", rows, missing=0)
    return result_of(found, time.perf_counter() - began, left_out)


def _line(outcomes: Sequence[SearchOutcome], place: int, count: int) -> str:
    if not outcomes:
        return f"[{place:3d}/{count}] left out: nothing can be carried, or the former session did not recognise it"
    said = ", ".join(
        f"{s.case} {_KEYS[s.remembers]} {s.outcome.path_length:.1f} m{'' if s.outcome.success else ' FAILED'}"
        for s in outcomes
    )
    return f"[{place:3d}/{count}] {outcomes[0].outcome.world} {outcomes[0].outcome.seed}: {said}"


def result_of(found: Sequence[SearchOutcome], wall: float, left_out: Sequence[int] = ()) -> Result:
    """Return metrics, pass thresholds and tables. Differences: memory minus none, paired over buildings."""
    metrics: dict[str, float] = {"wall_s": wall, "left_out": float(len(left_out))}
    rows = []
    for case, name in _CASES.items():
        for remembers, key in _KEYS.items():
            outcomes = [s.outcome for s in found if (s.case, s.remembers) == (case, remembers)]
            label = f"{name}.{key}"
            metrics |= {
                f"searches.{label}": float(len(outcomes)),
                f"sr.{label}": mean([float(o.success) for o in outcomes]),
                f"spl.{label}": mean(defined([o.spl for o in outcomes])),
                f"path_m.{label}": mean([o.path_length for o in outcomes]),
                f"time_s.{label}": mean([o.duration for o in outcomes]),
            }
            numbers = [metrics[f"{what}.{label}"] for what in ("sr", "spl", "path_m", "time_s")]
            rows.append(
                (case, key, str(len(outcomes)), *(f"{n:.{d}f}" for n, d in zip(numbers, (2, 3, 1, 0))))
            )
        metrics |= _difference(name, [s for s in found if s.case == case])
    bars = (Bar("path_m_high.there", metrics["path_m_high.there"], _BELOW_ZERO, at_least=False),)
    return Result(
        metrics,
        bars,
        (
            Table(
                "Searches",
                ("the thing is", "robot", "searches", "SR", "SPL", "path, m", "time, s"),
                tuple(rows),
            ),
            _by_building(found),
        ),
        (),
        (
            "The building was mapped before the thing came in. A former session loaded that map, stood before the "
            "thing for 8 s and saved nothing. The search loads the same map; its clock says nothing of the former "
            "session's, so that the age of the sight is unknown.",
            f"Differences are memory minus no memory, with 95 % bootstrap intervals over buildings. Left out: "
            f"{', '.join(map(str, left_out)) or 'none'}.",
        ),
    )


def _difference(name: str, found: Sequence[SearchOutcome]) -> dict[str, float]:
    """Return `path_m.NAME` and `time_s.NAME`, the differences memory minus no memory, with intervals."""
    pairs: dict[int, dict[bool, SearchOutcome]] = {}
    for one in found:
        pairs.setdefault(one.outcome.seed, {})[one.remembers] = one
    metrics: dict[str, float] = {}
    for what, of in (("path_m", "path_length"), ("time_s", "duration")):
        apart = [
            getattr(p[True].outcome, of) - getattr(p[False].outcome, of)
            for p in pairs.values()
            if len(p) == 2
        ]
        low, high = bootstrap_interval(apart, np.random.default_rng(0))
        metrics |= {f"{what}.{name}": mean(apart), f"{what}_low.{name}": low, f"{what}_high.{name}": high}
    return metrics


def _by_building(found: Sequence[SearchOutcome]) -> Table:
    rows = tuple(
        (
            str(s.outcome.seed), s.outcome.directive, s.case, _KEYS[s.remembers],
            f"{s.outcome.path_length:.1f}", f"{s.outcome.shortest:.1f}", f"{s.outcome.duration:.0f}",
            s.outcome.failure or "found",
        )
        for s in found
    )  # fmt: skip
    columns = ("seed", "asked", "the thing is", "robot", "path, m", "shortest, m", "time, s", "outcome")
    return Table("By building", columns, rows)


BENCHMARK = Benchmark(
    "last-seen",
    "A thing that only a former session saw: still there or carried away, with its memory and without.",
    _add_options,
    _run,
)

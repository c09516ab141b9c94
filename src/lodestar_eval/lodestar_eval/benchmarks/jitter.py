"""Spread of the outcomes of tests that run whole searches, when the start moves by a micrometre."""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from lodestar.agent.facts.errors import ErrorCode
from lodestar_eval.disturbance import Ended
from lodestar_eval.jitter_runs import RecordedTest, Request, read_runs
from lodestar_eval.options import positive_int
from lodestar_eval.processors import PROCESSORS, environment_of
from lodestar_eval.registry import BadOptions, Bar, Benchmark, Result, Table

_SUCCESS = "found"


@dataclass(frozen=True)
class Spread:
    """Runs of one search of a test. number: of the search in the test, from 1. searches: one per run that had it."""

    test: str
    number: int
    runs: int
    failed: int
    searches: tuple[Ended, ...]

    @property
    def codes(self) -> Counter[int]:
        """Return how often each code came."""
        return Counter(search.code for search in self.searches)

    @property
    def is_stable(self) -> bool:
        """Return whether the test passed, and the search ended with the same code, in every run."""
        return not self.failed and len(self.codes) == 1 and len(self.searches) == self.runs


def _metres(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0.0 < value <= 0.1:
        raise argparse.ArgumentTypeError(f"{text!r} is no disturbance; write metres, as 1e-6, at most 0.1")
    return value


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("tests", nargs="+", help="files, folders or tests, as for pytest")
    parser.add_argument("--times", type=positive_int, default=20, help="runs on each processor (default 20)")
    parser.add_argument(
        "--metres",
        type=_metres,
        default=1e-6,
        help="by which a start moves, and as many radians (default 1e-6)",
    )
    parser.add_argument("--noise", action="store_true", help="sensors and detector draw other noise as well")
    parser.add_argument(
        "--processors",
        type=_processors,
        default=("native",),
        help=f"of {', '.join(PROCESSORS)}, with commas between them (default native)",
    )


def _processors(text: str) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(part.strip() for part in text.split(",")))
    unknown = [name for name in names if name not in PROCESSORS]
    if unknown:
        raise argparse.ArgumentTypeError(f"{unknown[0]!r} is none of {', '.join(PROCESSORS)}")
    return names


def _run(options: argparse.Namespace, folder: Path, progress: Callable[[str], None]) -> Result:
    runs: list[RecordedTest] = []
    for processor in options.processors:
        progress(f"{processor}: {options.times} runs of {' '.join(options.tests)} ...")
        runs += _runs_on(processor, options, folder)
    return result_of(runs, options.times * len(options.processors))


def _runs_on(processor: str, options: argparse.Namespace, folder: Path) -> list[RecordedTest]:
    """Return the runs on a processor, which a process of its own makes."""
    request = Request(
        tuple(options.tests), tuple(range(options.times)), options.metres, options.noise, os.getcwd()
    )
    asked, records = (folder / f"{processor}.{kind}" for kind in ("request.json", "runs.jsonl"))
    asked.write_text(json.dumps(asdict(request)), encoding="utf-8")
    records.write_text("", encoding="utf-8")
    command = [sys.executable, "-m", "lodestar_eval.jitter_runs", str(asked), str(records)]
    with (folder / f"{processor}.log").open("w", encoding="utf-8") as log:
        ended = subprocess.run(
            command, env=os.environ | environment_of(processor, folder), stdout=log, stderr=subprocess.STDOUT
        )
    if ended.returncode != 0:
        raise BadOptions(f"the tests could not be run (status {ended.returncode}); read {log.name}")
    return read_runs(records.read_text(encoding="utf-8").splitlines())


def spreads_of(runs: Sequence[RecordedTest], times: int) -> list[Spread]:
    """Return the spread of every search, and of every test that failed without one; unstable ones first."""
    by_test: defaultdict[str, list[RecordedTest]] = defaultdict(list)
    for run in runs:
        by_test[run.test].append(run)
    spreads = []
    for test, made in by_test.items():
        failed = sum(not run.passed for run in made)
        for k in range(max(1, *(len(run.searches) for run in made))):
            searches = tuple(run.searches[k] for run in made if k < len(run.searches))
            spreads.append(Spread(test, k + 1, times, failed, searches))
    return sorted(spreads, key=lambda spread: (spread.is_stable, spread.test, spread.number))


def result_of(runs: Sequence[RecordedTest], times: int) -> Result:
    """Return the metrics, bars and tables of runs of tests, `times` of each."""
    spreads = spreads_of(runs, times)
    if not spreads:
        raise BadOptions("no test of these ran a search; name one that does, as pytest would take it")
    unstable = {spread.test for spread in spreads if not spread.is_stable}
    metrics = {
        "tests": float(len({spread.test for spread in spreads})),
        "searches": float(len(spreads)),
        "unstable_tests": float(len(unstable)),
        "failed_runs": float(sum(not run.passed for run in runs)),
    }
    columns = ("test", "search", "failed", "outcomes", "time, s", "path, m")
    rows = tuple(_row(spread) for spread in spreads)
    tables = [Table(f"Searches of {times} runs each: median (least to most)", columns, rows)]
    why = Counter((run.test, run.why) for run in runs if not run.passed)
    if why:
        failures = tuple((_short(test), str(count), text) for (test, text), count in why.most_common())
        tables.append(Table("Failures", ("test", "runs", "why"), failures))
    bars = (
        Bar("tests whose outcomes differ between runs", metrics["unstable_tests"], 0.0, at_least=False),
        Bar("runs of a test that failed", metrics["failed_runs"], 0.0, at_least=False),
    )
    return Result(metrics, bars, tuple(tables), (), _NOTES)


def _row(spread: Spread) -> tuple[str, ...]:
    codes = ", ".join(f"{count} {_code(code)}" for code, count in spread.codes.most_common())
    seconds, metres = ([getattr(s, name) for s in spread.searches] for name in ("seconds", "metres"))
    return (
        _short(spread.test),
        str(spread.number),
        f"{spread.failed} of {spread.runs}",
        codes or "no search",
        _range(seconds),
        _range(metres),
    )


def _code(code: int) -> str:
    return _SUCCESS if code == ErrorCode.NONE else ErrorCode(code).name


def _short(test: str) -> str:
    return test.rpartition("/")[2]


def _range(values: Sequence[float]) -> str:
    if not values:
        return ""
    return f"{statistics.median(values):.1f} ({min(values):.1f} to {max(values):.1f})"


_NOTES = (
    "Run 0 is undisturbed, and a number is the same disturbance on every processor. A search in a shared fixture "
    "stands with the test that came first.",
)

BENCHMARK = Benchmark(
    "jitter",
    "Spread of the outcomes of tests that run whole searches, when the start moves by a micrometre.",
    _add_options,
    _run,
)

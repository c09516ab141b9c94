"""Registry of benchmarks and their results."""

from __future__ import annotations

import argparse
import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lodestar_eval import benchmarks, studies


@dataclass(frozen=True)
class Bar:
    """Pass threshold of a metric. at_least: whether `bound` is a lower bound, else an upper one."""

    name: str
    value: float
    bound: float
    at_least: bool = True

    @property
    def holds(self) -> bool:
        """Return whether the value meets the threshold; NaN never does."""
        return self.value >= self.bound if self.at_least else self.value <= self.bound

    @property
    def rule(self) -> str:
        """Return the threshold as text."""
        return f"{'≥' if self.at_least else '≤'} {self.bound:g}"


@dataclass(frozen=True)
class Table:
    """A table of the report; every row has one text per column."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Plot:
    """Picture of the report, with its file name relative to the report's folder."""

    file: str
    caption: str


@dataclass(frozen=True)
class Result:
    """Result of a benchmark. metrics: flat name -> number, NaN = no value."""

    metrics: dict[str, float]
    bars: tuple[Bar, ...] = ()
    tables: tuple[Table, ...] = ()
    plots: tuple[Plot, ...] = ()
    notes: tuple[str, ...] = ()
    config: dict[str, Any] = field(default_factory=dict)  # default values that no option sets


@dataclass(frozen=True)
class Benchmark:
    """A benchmark. `run(options, folder, progress)` measures; it may write plots and raw data into `folder`."""

    name: str
    summary: str
    add_options: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace, Path, Callable[[str], None]], Result]


class BadOptions(ValueError):
    """Raised for options that parse but are inconsistent; the message says what to write instead."""


def all_benchmarks() -> dict[str, Benchmark]:
    """Return every benchmark of `lodestar_eval.benchmarks` and `.studies` by name, in alphabetical order."""
    found: dict[str, Benchmark] = {}
    for package in (benchmarks, studies):
        for info in pkgutil.iter_modules(package.__path__):
            one = importlib.import_module(f"{package.__name__}.{info.name}").BENCHMARK
            found[one.name] = one
    return dict(sorted(found.items()))

"""Registry of benchmarks and their results."""

from __future__ import annotations

import argparse
import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lodestar_eval import benchmarks


@dataclass(frozen=True)
class Bar:
    """A bound of a metric. `at_least`: lower bound, otherwise upper."""

    name: str
    value: float
    bound: float
    at_least: bool = True

    @property
    def holds(self) -> bool:
        """Return whether the value keeps the bound; NaN never does."""
        return self.value >= self.bound if self.at_least else self.value <= self.bound

    @property
    def rule(self) -> str:
        """Return the bound as text."""
        return f"{'≥' if self.at_least else '≤'} {self.bound:g}"


@dataclass(frozen=True)
class Table:
    """A table of the report; every row has one text per column."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Plot:
    """A picture of the report, named relative to its folder."""

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
    config: dict[str, Any] = field(default_factory=dict)  # values of defaults that no option sets


@dataclass(frozen=True)
class Benchmark:
    """`run(options, folder, progress)` measures; it may write plots and raw data into `folder`."""

    name: str
    summary: str
    add_options: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace, Path, Callable[[str], None]], Result]


class BadOptions(ValueError):
    """Options that parse but are inconsistent; the message says what to write instead."""


def all_benchmarks() -> dict[str, Benchmark]:
    """Return every benchmark of `lodestar_eval.benchmarks` by name, in alphabetical order."""
    found: dict[str, Benchmark] = {}
    for info in sorted(pkgutil.iter_modules(benchmarks.__path__), key=lambda module: module.name):
        if info.name.startswith("_"):
            continue
        module = importlib.import_module(f"{benchmarks.__name__}.{info.name}")
        found[module.BENCHMARK.name] = module.BENCHMARK
    return found

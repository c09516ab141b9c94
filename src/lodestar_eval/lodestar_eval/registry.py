"""Which benchmarks there are and what each hands back."""

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
    """A bound that a metric has to keep; `at_least` says on which side."""

    name: str
    value: float
    bound: float
    at_least: bool = True

    @property
    def holds(self) -> bool:
        """Whether the value keeps the bound; NaN never does."""
        return self.value >= self.bound if self.at_least else self.value <= self.bound

    @property
    def rule(self) -> str:
        """The bound as a person reads it."""
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
    """What a benchmark measured. metrics: flat name -> number, NaN where there is none."""

    metrics: dict[str, float]
    bars: tuple[Bar, ...] = ()
    tables: tuple[Table, ...] = ()
    plots: tuple[Plot, ...] = ()
    notes: tuple[str, ...] = ()
    config: dict[str, Any] = field(default_factory=dict)  # what the options left to defaults


@dataclass(frozen=True)
class Benchmark:
    """`run(options, folder, progress)` measures; it may write plots and raw data into `folder`."""

    name: str
    summary: str
    add_options: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace, Path, Callable[[str], None]], Result]


class BadOptions(ValueError):
    """Options that parse but make no sense together; the message says what to write instead."""


def all_benchmarks() -> dict[str, Benchmark]:
    """Every benchmark of `lodestar_eval.benchmarks` by name, in alphabetical order."""
    found: dict[str, Benchmark] = {}
    for info in sorted(pkgutil.iter_modules(benchmarks.__path__), key=lambda module: module.name):
        if info.name.startswith("_"):
            continue
        module = importlib.import_module(f"{benchmarks.__name__}.{info.name}")
        found[module.BENCHMARK.name] = module.BENCHMARK
    return found

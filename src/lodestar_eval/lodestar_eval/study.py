"""Harness of benchmarks: a `Study` declares cases, one measurement per case, and what is computed from its rows."""

from __future__ import annotations

import argparse
import ctypes
import hashlib
import json
import multiprocessing
import os
import re
import signal
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

import lodestar
import lodestar_eval
import lodestar_sim
from lodestar.storage.files import append_line
from lodestar_bringup.places import config_folder
from lodestar_eval.metrics import (
    bootstrap_interval,
    cluster_interval,
    defined,
    mean,
    paired_difference,
    share_interval,
)
from lodestar_eval.registry import BadOptions, Bar, Plot, Result, Table
from lodestar_eval.report import number, write_csv

Row = dict[str, Any]  # column -> value that JSON can hold; names that begin with "_" stay out of the CSV
Rows = Sequence[Row]
EACH = "*"  # stands for every numeric column
_HEAD = '{"case": '  # of a line in the file of measured cases


@dataclass(frozen=True)
class Number:
    """Metric: a statistic of a column over rows.

    of: column (by default NAME), or function of a row; a list counts as several values, None as no value. over:
    statistic of the values. where: selects rows, besides those with the column; without any the number is left out.
    by: columns that split the rows; their values end the name, or fill the braces of a name like "{kind}.right".
    digits: decimals in the page's table. A name that begins with "_" is no metric of the report: it serves
    tables and bars.
    """

    name: str
    of: str | Callable[[Row], Any] = ""
    over: Callable[[Sequence[float]], float] = mean
    where: Callable[[Row], Any] | None = None
    by: tuple[str, ...] = ()
    digits: int = 3
    interval: bool = (
        False  # adds the 95 % interval NAME_low and NAME_high: exact for shares, else by bootstrap
    )
    cluster: tuple[str, ...] = ()  # columns; the interval is by bootstrap over the groups that they split


@dataclass(frozen=True)
class Whole:
    """Metrics computed from all rows of a group at once. of(rows): metrics by name. by: as of `Number`.

    shown: whether they are in the page's table of groups, as numbers are.
    """

    of: Callable[[Rows], Mapping[str, float]]
    by: tuple[str, ...] = ()
    shown: bool = False


@dataclass(frozen=True)
class Paired:
    """Mean difference of a column between two values of the column `arm`, with NAME_low and NAME_high.

    Rows are paired by `pair`. The 95 % interval is Newcombe's for shares, else a bootstrap over pairs.
    """

    name: str
    of: str
    arm: str
    values: tuple[str, str]
    by: tuple[str, ...] = ()
    pair: str = "seed"


@dataclass(frozen=True)
class Limit:
    """Bar on a metric; none if the metric is missing. {first} and {last} in texts: first value of these cases."""

    metric: str
    bound: float
    at_least: bool = True
    name: str = ""  # in the report; the metric by default


@dataclass(frozen=True)
class Study:
    """Benchmark by declaration; it has the attributes of `registry.Benchmark`.

    options: adds the options. cases(options): arguments of `measure`, one tuple per case; its repr identifies the
    case in the results. measure(*case): rows of the case, in another process if `options.jobs` is above 1; a
    WorldError ends them.
    columns: of the page's table of rows, none = no table. left_out: reason for which a case may have no row; adds
    the metrics `left_out` and `wall_s`. plots(rows, folder), notes(rows): what else the page has.
    """

    name: str
    summary: str
    options: Callable[[argparse.ArgumentParser], None]
    cases: Callable[[argparse.Namespace], Iterable[tuple[Any, ...]]]
    measure: Callable[..., Iterable[Row]]
    numbers: Sequence[Number | Whole | Paired]
    bars: Sequence[Limit] | Callable[[Rows], Sequence[Limit]] = ()
    columns: Sequence[str] = ()
    notes: Sequence[str] | Callable[[Rows], Sequence[str]] = ()
    left_out: str = ""
    missing: object = ""  # in the CSV, of a column that a row lacks
    plots: Callable[[Rows, Path], Sequence[Plot]] = lambda rows, folder: ()
    tables: Callable[[Rows], Sequence[Table]] = lambda rows: ()
    config: Mapping[str, Any] = field(
        default_factory=dict
    )  # default values that no option sets, for the report

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the options of the study and `--anew`."""
        self.options(parser)
        parser.add_argument("--anew", action="store_true", help="measures again what the folder has already")

    def run(self, options: argparse.Namespace, folder: Path, progress: Callable[[str], None]) -> Result:
        """Measure the cases that the folder does not have yet, write NAME.csv and return the result.

        Raises BadOptions without cases, without rows, and if the results cannot be read or written.
        """
        options.out = folder
        cases = list(self.cases(options))
        if not cases:
            raise BadOptions("there is nothing to measure with these options")
        kept = Kept(folder / f"{self.name}.cases.jsonl", (self.name, self.measure.__qualname__), options.anew)
        began, notes = time.perf_counter(), []
        keys = [kept.key(case) for case in cases]
        waiting = {key: case for key, case in zip(keys, cases) if key not in kept.rows}
        count, done = len(cases), len(cases) - len(waiting)
        if done:
            notes.append(f"{done} of {count} cases were measured by an earlier run of the same code.")
            progress(notes[-1])
        try:
            for at, (key, text) in enumerate(self._measured(waiting, getattr(options, "jobs", 1)), start=1):
                label = _label(waiting[key])
                if text is None:
                    notes.append(f"The process that measured {label} died; the case has no result.")
                    progress(notes[-1])
                    continue
                kept.add(key, text)
                left = (time.perf_counter() - began) / at * (len(waiting) - at)
                progress(f"[{done + at}/{count}, {left:.0f} s left] {label}: {self._said(kept.rows[key])}")
        except KeyboardInterrupt:
            raise KeyboardInterrupt(f"{len(kept.rows)} cases are kept; the same command goes on") from None
        rows = [row for key in keys for row in kept.rows.get(key, ())]
        if not rows:
            raise BadOptions(f"no case has a result{self.left_out and ': ' + self.left_out}; take other ones")
        public = [{name: value for name, value in row.items() if name[0] != "_"} for row in rows]
        try:
            write_csv(folder / f"{self.name.replace('-', '_')}.csv", public, self.missing)
        except OSError as error:
            raise BadOptions(f"the CSV cannot be written, the cases are kept: {error}") from error
        empty = [_label(case) for key, case in zip(keys, cases) if not kept.rows.get(key)]
        if self.left_out:
            notes.append(f"Left out, {self.left_out}: {', '.join(empty) or 'none'}.")
        result = self.result(rows, folder, str(cases[0][0]), str(cases[-1][0]))
        if self.left_out:
            result.metrics.update(wall_s=time.perf_counter() - began, left_out=float(len(empty)))
        return replace(result, notes=(*result.notes, *notes))

    def result(self, rows: Rows, folder: Path = Path(), first: str = "", last: str = "") -> Result:
        """Return metrics, bars, tables and plots of rows. first, last: see `Limit`."""
        metrics: dict[str, float] = {}
        for one in self.numbers:
            metrics |= {name: value for _, _, name, value in _values(one, rows)}
        ends = {"first": first, "last": last}
        bars = [
            Bar((bar.name or bar.metric).format(**ends), metrics[name], bar.bound, bar.at_least)
            for bar in (self.bars(rows) if callable(self.bars) else self.bars)
            if (name := bar.metric.format(**ends)) in metrics
        ]
        each = tuple(tuple(self._texts(row)) for row in rows)
        tables = [*_summaries(self.numbers, rows), *self.tables(rows)]
        if self.columns:
            tables.append(Table("Rows", tuple(self.columns), each))
        notes = self.notes(rows) if callable(self.notes) else self.notes
        told = {name: value for name, value in metrics.items() if name[0] != "_"}
        plots = tuple(self.plots(rows, folder))
        return Result(told, tuple(bars), tuple(tables), plots, tuple(notes), {**self.config})

    def _said(self, rows: Rows) -> str:
        if self.columns and 0 < len(rows) <= 6:
            return "; ".join(", ".join(self._texts(row)) for row in rows)
        return f"{len(rows)} rows" if rows else "left out"

    def _texts(self, row: Row) -> list[str]:
        return [_text(row.get(column, "")) for column in self.columns]

    def _measured(
        self, waiting: Mapping[str, tuple[Any, ...]], jobs: int
    ) -> Iterator[tuple[str, str | None]]:
        """Yield the key and rows (JSON) of each case as it finishes; None if its process died.

        When a process dies, nobody knows its case: the unfinished ones go on in one process, until it dies again.
        """
        if jobs == 1:
            yield from ((key, _rows_text(self.measure, case)) for key, case in waiting.items())
            return
        left, workers = dict(waiting), jobs
        while left:
            with worker_pool(workers) as pool:
                futures = {pool.submit(_rows_text, self.measure, case): key for key, case in left.items()}
                for future in as_completed(futures):
                    if not isinstance(future.exception(), BrokenProcessPool):
                        del left[futures[future]]
                        yield futures[future], future.result()
            if left and workers == 1:
                key = next(iter(left))
                del left[key]
                yield key, None
            workers = 1 if workers > 1 else jobs


class Kept:
    """Rows of measured cases in a file with a line per case, which later runs of the same code read.

    made_of: what the rows depend on besides the case and the code. anew: ignores what the file has.
    """

    def __init__(self, file: Path, made_of: tuple[str, ...], anew: bool = False) -> None:
        """Read the file; a case whose line was cut short is measured again.

        Raises BadOptions if it cannot be read or has another form.
        """
        self.rows: dict[str, list[Row]] = {}
        self._file, self._made_of = file, made_of
        try:
            for line in file.read_text(encoding="utf-8").splitlines() if file.exists() and not anew else ():
                try:
                    found = json.loads(line)
                except ValueError:
                    if line.startswith(_HEAD) or _HEAD.startswith(line):
                        continue
                    raise
                self.rows[found["case"]] = list(found["rows"])
        except (OSError, ValueError, TypeError, KeyError) as error:
            raise BadOptions(f"{file} has results of another form; name another folder by --out") from error

    def key(self, case: tuple[Any, ...]) -> str:
        """Return the name of a case, which depends on the code and on the files that the case names."""
        values = [_stamped(value, self._file.parent) for value in case]
        return hashlib.sha256(repr((self._made_of, values, code_digest())).encode()).hexdigest()[:16]

    def add(self, key: str, rows: str) -> None:
        """Append the rows (JSON) of a case to the file. Raises BadOptions if that fails."""
        try:
            append_line(self._file, f'{_HEAD}"{key}", "rows": {rows}}}'.encode())
        except OSError as error:
            raise BadOptions(f"{self._file} cannot be written, earlier cases are kept: {error}") from error
        self.rows[key] = json.loads(rows)


@contextmanager
def worker_pool(jobs: int) -> Iterator[ProcessPoolExecutor]:
    """Provide worker processes that end with this one; an error in the block cancels jobs that have not begun."""
    # spawn, because threads of Open3D and torch do not survive a fork
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, context, initializer=_end_with_parent) as pool:
        try:
            yield pool
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _end_with_parent() -> None:
    """End this worker when the benchmark is killed; otherwise it would wait for jobs for ever."""
    pr_set_pdeathsig = 1  # option PR_SET_PDEATHSIG of prctl(2)
    ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGKILL)


def buildings(options: argparse.Namespace) -> Iterator[tuple[Any, ...]]:
    """Yield world, seed and settings by the options of `add_search_options`, as cases of a study."""
    from lodestar_eval.settings import settings_of

    for seed in options.seeds.values:
        yield getattr(options, "world", ""), seed, settings_of(options)


def percentile(q: float) -> Callable[[Sequence[float]], float]:
    """Return a statistic for `Number.over`: the q-th percentile, NaN of no values."""
    return lambda values: float(np.percentile(values, q)) if len(values) else float("nan")


def count(values: Sequence[float]) -> float:
    """Return the number of values, for `Number.over`."""
    return float(len(values))


def titled_tables(rows: Rows) -> list[Table]:
    """Return a table per title in the column `_table`, for `Study.tables`; it has the columns of its first row."""
    tables = []
    for (title,), own in _groups(rows, ("_table",)).items():
        names = tuple(name for name in own[0] if name[0] != "_")
        tables.append(Table(title, names, tuple(tuple(_text(row[name]) for name in names) for row in own)))
    return tables


def _rows_text(measure: Callable[..., Iterable[Row]], case: tuple[Any, ...]) -> str:
    """Measure a case and return its rows as JSON, in the process that measures."""
    from lodestar_sim.worlds import WorldError  # slow to import

    rows: list[Row] = []
    with suppress(WorldError):
        rows.extend(measure(*case))
    return json.dumps(rows, default=lambda value: value.tolist())


@lru_cache(maxsize=1)
def code_digest() -> str:
    """Return the digest of the sources, their data and the profiles that rows depend on."""
    packages = [Path(package.__path__[0]) for package in (lodestar, lodestar_sim, lodestar_eval)]
    made_of = hashlib.sha256()
    for folder in (*packages, config_folder()):
        for file in sorted(folder.rglob("*")):
            if file.is_file() and "__pycache__" not in file.parts:
                made_of.update(f"{file.relative_to(folder)}\n".encode() + file.read_bytes())
    return made_of.hexdigest()


def _stamped(value: Any, out: Path) -> Any:
    """Return a value of a case; for a file or folder its files with size and time, for the folder of results ""."""
    if isinstance(value, tuple):
        return [_stamped(one, out) for one in value]
    if value == out or not (isinstance(value, Path) or (isinstance(value, str) and os.path.isfile(value))):
        return "" if value == out else value
    path = Path(value)
    files = sorted(path.rglob("*")) if path.is_dir() else [path]
    return [
        (str(one), one.stat().st_size, one.stat().st_mtime_ns)
        for one in files
        if one.is_file() and out not in one.parents
    ]


def _label(case: tuple[Any, ...]) -> str:
    told = [str(v) for v in case if isinstance(v, (str, int, float)) and not isinstance(v, bool)]
    return " ".join(told).strip()


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return number(value) if isinstance(value, (int, float)) else str(value)


def _groups(rows: Rows, by: tuple[str, ...]) -> dict[tuple[Any, ...], list[Row]]:
    """Return rows by their values in columns; rows without these columns are in no group."""
    found: dict[tuple[Any, ...], list[Row]] = {} if by else {(): []}
    for row in rows:
        if all(column in row for column in by):
            found.setdefault(tuple(row[column] for column in by), []).append(row)
    return found


def _chosen(one: Number, rows: Rows) -> list[Row]:
    return [
        row
        for row in rows
        if (callable(one.of) or (one.of or one.name) in row) and (one.where is None or one.where(row))
    ]


def _flat(one: Number, rows: Rows) -> list[float]:
    """Return the values of a number in rows, without None."""
    cells = [one.of(row) if callable(one.of) else row[one.of or one.name] for row in _chosen(one, rows)]
    flat = [value for cell in cells for value in (cell if isinstance(cell, (list, tuple)) else (cell,))]
    return [float(value) for value in flat if value not in (None, "")]


def _values(one: Number | Whole | Paired, rows: Rows) -> Iterator[tuple[tuple[Any, ...], str, str, float]]:
    """Yield group, plain name, metric and value."""
    if isinstance(one, Number) and one.name == EACH:
        for column, value in rows[0].items():
            if isinstance(value, (int, float)) and column[0] != "_" and column not in one.by:
                yield from _values(replace(one, name=column, of=column), rows)
        return
    chosen = _chosen(one, rows) if isinstance(one, Number) else rows
    for key, own in _groups(chosen, one.by).items() if chosen else ():
        for name, value in _of_group(one, own).items():
            full = name.format(**dict(zip(one.by, key))) if "{" in name else ".".join([name, *map(str, key)])
            yield key, name, full, value


def _of_group(one: Number | Whole | Paired, rows: Rows) -> Mapping[str, float]:
    if isinstance(one, Whole):
        return one.of(rows)
    if isinstance(one, Number):
        values = _flat(one, rows)
        ends = zip(("_low", "_high"), _interval(one, rows) if one.interval else ())
        return {one.name: float(one.over(values))} | {one.name + end: bound for end, bound in ends}
    pairs: dict[Any, dict[Any, float]] = {}
    for row in rows:
        if {one.pair, one.arm, one.of} <= row.keys():
            pairs.setdefault(row[one.pair], {})[row[one.arm]] = row[one.of]
    both = [[pair[value] for value in one.values] for pair in pairs.values() if {*one.values} <= pair.keys()]
    ours, theirs = ([pair[k] for pair in both] for k in (0, 1))
    apart, low, high = paired_difference(ours, theirs, np.random.default_rng(0))
    return {one.name: apart, f"{one.name}_low": low, f"{one.name}_high": high}


def _summaries(numbers: Sequence[Number | Whole | Paired], rows: Rows) -> Iterator[Table]:
    """Yield a table per set of columns that split numbers, with a row per group; shares have their interval."""
    shown = [one for one in numbers if isinstance(one, Number) or (isinstance(one, Whole) and one.shown)]
    for by in dict.fromkeys(one.by for one in shown if one.by):
        cells: dict[tuple[Any, ...], dict[str, str]] = {}
        for one in shown:
            if one.by == by:
                for key, name, _, value in _values(one, rows):
                    if isinstance(one, Whole) or name == one.name or not one.interval:
                        cells.setdefault(key, {})[name] = _cell(one, rows, key, value)
        heads = list(dict.fromkeys(name for row in cells.values() for name in row))
        lines = [(*map(str, key), *(row.get(name, "–") for name in heads)) for key, row in cells.items()]
        titles = tuple(re.sub(r"^({\w+}\.)+|[{}]|^_", "", head) for head in (*by, *heads))
        if lines:
            yield Table("By " + ", ".join(titles[: len(by)]), titles, tuple(lines))


def _is_share(values: Sequence[float]) -> bool:
    return len(values) > 0 and set(values) <= {0.0, 1.0}


def _interval(one: Number, rows: Rows) -> tuple[float, float]:
    """Return the 95 % interval of a mean: over groups if the number names any, exact for shares, else by bootstrap."""
    values, rng = defined(_flat(one, rows)), np.random.default_rng(0)
    if one.cluster:
        return cluster_interval(
            [defined(_flat(one, own)) for own in _groups(rows, one.cluster).values()], rng
        )
    if _is_share(values):
        return share_interval(int(sum(values)), len(values))
    return bootstrap_interval(values, rng)


def _cell(one: Number | Whole, rows: Rows, key: tuple[Any, ...], value: float) -> str:
    """Return a value of a group as text, with the 95 % interval of a share, and where the number asks for one."""
    if isinstance(one, Whole):
        return number(value)
    text = f"{value:.{one.digits}f}"
    if one.over is not mean or one.name == EACH:
        return text
    own = _groups(rows, one.by)[key]
    told = one.interval or _is_share(defined(_flat(one, own)))
    return text + (" ({:.2f} to {:.2f})".format(*_interval(one, own)) if told else "")

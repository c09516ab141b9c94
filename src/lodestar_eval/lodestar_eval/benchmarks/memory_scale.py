"""Benchmark: the memory's store at the size of one day and of 30 days.

Measures insertion, flush, retrieval and size, records lost when the process that owns the store is killed,
and remains of erased texts in its files.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

from lodestar_eval.options import positive_int
from lodestar_eval.registry import Bar, Benchmark, Result, Table

_DAY = 86_400.0
_SEGMENT = 3.0  # seconds per memory segment (STaR IV-A)
_BACKENDS = ("sqlite", "milvus_lite", "milvus")
# ms, p95 of text queries with time and place
_BOUND_DAY = {"sqlite": 250.0, "milvus_lite": 250.0, "milvus": 100.0}
_BOUND_OPEN = 3.0  # seconds to open the store
_BOUND_PEAK = 500.0  # MiB of the whole process, text model included, while the store is filled and queried
_BOUND_MONTH = 500.0  # ms, p95 of the same queries at 30 days
_MONTH = 100_000  # records kept by retention (issue 16)
_SURPLUS = 1.05  # records before retention, as a multiple of `_MONTH`
_KINDS = ("text", "time", "place", "entity", "text_place", "all", "evidence")


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--queries", type=positive_int, default=60, metavar="N", help="per kind of request")
    parser.add_argument(
        "--kills", type=positive_int, default=20, metavar="N", help="of the owner in mid-write"
    )
    parser.add_argument(
        "--erasures", type=positive_int, default=20, metavar="N", help="interleavings of forgetting and kills"
    )
    parser.add_argument(
        "--forgotten", type=positive_int, default=1000, metavar="N", help="texts in each of them"
    )
    parser.add_argument("--seed", type=positive_int, default=1)
    parser.add_argument("--records", type=positive_int, default=int(_DAY / _SEGMENT), help="of the day")
    parser.add_argument("--only", choices=_BACKENDS, default=None, help="one of the back ends")
    parser.add_argument("--without-month", action="store_true", help="leave the 30 days out")


def _run(options: argparse.Namespace, folder: Path, progress: Callable[[str], None]) -> Result:
    from lodestar_eval.milvus_server import NoServer, milvus_server, server_python

    found = Result({})
    notes: list[str] = []
    rows: list[tuple[str, ...]] = []
    with ExitStack() as stack:
        scratch = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=folder)))
        for kind in _BACKENDS if options.only is None else (options.only,):
            uri = ""
            if kind == "milvus":
                try:
                    python = server_python(Path.cwd())
                    uri, _ = stack.enter_context(milvus_server(python, scratch / "server-files"))
                except NoServer as error:
                    notes.append(f"Without the real server: {error}")
                    progress(notes[-1])
                    continue
            metrics, bars, measured = _measured(kind, uri, scratch, options, progress)
            found = replace(found, metrics={**found.metrics, **metrics}, bars=(*found.bars, *bars))
            rows += measured
    columns = (
        "back end", "time", "records", "add/s", "add p99 ms", "flush s",
        *(f"{kind} p50/p95 ms (CPU)" for kind in _KINDS),
        "forget s", "database MiB", "Milvus MiB", "RSS MiB", "peak MiB", "open s",
    )  # fmt: skip
    notes.append(
        "Wall time, and processor time in parentheses, in one process with one thread of BLAS, as every node has. "
        "Words are embedded within (a model on the CPU), with evidence the question and its cues once. "
        "Vectors of the records are given: "
        "those of 200 captions with noise, cosine 0.94. evidence: `all` and the selection by the Information "
        "Bottleneck from what it finds. RSS: what the store adds to a process that has imported the text model and "
        "what of Milvus the back end needs (import_mib); peak: of the whole process. A server's own memory is in "
        "neither. forget: until one memory is erased from every file. The 30 days begin as what retention leaves, "
        "spread over them, and 5 % more, which is thinned out."
    )
    return Result(
        found.metrics, found.bars, (Table("Store of the memory", columns, tuple(rows)),), notes=tuple(notes)
    )


def _measured(
    kind: str, uri: str, scratch: Path, options: argparse.Namespace, progress: Callable[[str], None]
) -> tuple[dict[str, float], list[Bar], list[tuple[str, ...]]]:
    """Return metrics, pass thresholds and table rows of one back end."""
    from lodestar_eval.erasure_trial import erasure
    from lodestar_eval.memory_trial import Trial, kill_owner, measure

    data = os.environ.get("LODESTAR_DATA", "")
    metrics, bars, rows = {}, [], []
    deaths = kill_owner(scratch / f"{kind}-killed", kind, uri, options.kills, options.seed, progress)
    for name in ("acknowledged", "lost", "doubled", "milvus_wrong"):
        metrics[f"{name}.{kind}"] = float(getattr(deaths, name))
    for name in ("lost", "doubled", "milvus_wrong"):
        told = f"{name} in {options.kills} kills, {kind}"
        bars.append(Bar(told, metrics[f"{name}.{kind}"], 0.0, at_least=False))
    _drop(uri)
    if kind != "milvus":  # the files of a Milvus server cannot be searched
        done = erasure(
            scratch / f"{kind}-erased", kind, options.forgotten, options.erasures, options.seed, progress
        )
        metrics |= {f"{name}.{kind}": float(getattr(done, name)) for name in ("forgotten", "found")}
        told = f"of {done.forgotten} forgotten texts found in files, {options.erasures} interleavings, {kind}"
        bars.append(Bar(told, float(done.found), 0.0, at_least=False))
    for size, span, records, most in _sizes(options):
        at = str(scratch / f"{kind}-{size}")
        found = measure(Trial(at, kind, uri, records, span, most, options.queries, options.seed, data))
        _drop(uri)
        metrics.update({f"{name}.{size}.{kind}": value for name, value in found.items()})
        bound = _BOUND_DAY[kind] if size == "day" else _BOUND_MONTH
        p95 = found["evidence_ms_p95"]
        bars.append(
            Bar(f"p95 ms of words, time and place with evidence, {size}, {kind}", p95, bound, at_least=False)
        )
        if kind == "sqlite":
            bars.append(Bar(f"s to open, {size}, {kind}", found["open_s"], _BOUND_OPEN, at_least=False))
            peak = found["peak_mib"]
            bars.append(Bar(f"peak MiB of the process, {size}, {kind}", peak, _BOUND_PEAK, at_least=False))
        rows.append((kind, size, *_row(found)))
        progress(f"{kind}, {size}: words, time and place with evidence p95 {p95:.0f} ms")
    return metrics, bars, rows


def _sizes(options: argparse.Namespace) -> list[tuple[str, float, int, int]]:
    """Return per size: name, span in seconds, records, and the most records that retention keeps (0 = all)."""
    day = [("day", _DAY, options.records, 0)]
    return day if options.without_month else [*day, ("month", 30 * _DAY, int(_MONTH * _SURPLUS), _MONTH)]


def _row(found: dict[str, float]) -> tuple[str, ...]:
    asked = (
        f"{found[f'{kind}_ms_p50']:.0f} / {found[f'{kind}_ms_p95']:.0f} "
        f"({found[f'{kind}_cpu_ms_p50']:.0f} / {found[f'{kind}_cpu_ms_p95']:.0f})"
        for kind in _KINDS
    )
    rest = (f"{found[name]:.0f}" for name in ("forget_s", "store_mib", "milvus_mib", "rss_mib", "peak_mib"))
    inserted = (f"{found['records']:.0f}", f"{found['insert_per_s']:.0f}", f"{found['add_ms_p99']:.1f}")
    return (*inserted, f"{found['flush_s']:.0f}", *asked, *rest, f"{found['open_s']:.1f}")


def _drop(uri: str) -> None:
    """Drop the collection on the Milvus server, so that the next measurement starts with an empty store."""
    if not uri:
        return
    from lodestar.memory.config import StoreConfig
    from lodestar.memory.milvus_index import MilvusIndex

    index: Any = MilvusIndex(StoreConfig(backend="milvus", uri=uri), Path())
    index.connect()
    index.drop()
    index.close()


BENCHMARK = Benchmark(
    "memory-scale",
    "What the memory's store costs over a day and 30 days, and what a killed owner loses.",
    _add_options,
    _run,
)

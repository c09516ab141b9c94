"""Study: the memory's store at the size of one day and of 30 days.

Measures insertion, flush, retrieval and size, records lost when the process that owns the store is killed,
and remains of erased texts in its files.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from lodestar_eval.options import positive_int
from lodestar_eval.study import Limit, Number, Row, Rows, Study, Whole

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
_DEATHS = ("lost", "doubled", "milvus_wrong")


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


def _cases(options: argparse.Namespace) -> Iterator[tuple[Any, ...]]:
    names = ("queries", "kills", "erasures", "forgotten", "seed", "records", "without_month")
    for kind in _BACKENDS if options.only is None else (options.only,):
        yield kind, {name: getattr(options, name) for name in names}, options.out


def _measure(kind: str, options: dict[str, int], out: Path) -> Iterator[Row]:
    """Yield the rows of a back end; one with a note if its server is not installed."""
    from lodestar_eval.milvus_server import NoServer, milvus_server, server_python

    with ExitStack() as stack:
        scratch, uri = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=out))), ""
        if kind == "milvus":
            try:
                python = server_python(Path.cwd())
                uri, _ = stack.enter_context(milvus_server(python, scratch / "server-files"))
            except NoServer as error:
                yield {"_note": f"Without the real server: {error}"}
                return
        for row in _measured(kind, uri, scratch, SimpleNamespace(**options)):
            yield {"back_end": kind} | row


def _measured(kind: str, uri: str, scratch: Path, options: Any) -> Iterator[Row]:
    """Yield rows of a back end: of killed owners, of erased texts, and of each size."""
    from lodestar_eval.erasure_trial import erasure
    from lodestar_eval.memory_trial import Trial, kill_owner, measure

    deaths = kill_owner(scratch / f"{kind}-killed", kind, uri, options.kills, options.seed)
    yield deaths | {"_kills": options.kills}
    _drop(uri)
    if kind != "milvus":  # the files of a Milvus server cannot be searched
        erased = scratch / f"{kind}-erased"
        done = erasure(erased, kind, options.forgotten, options.erasures, options.seed)
        yield {"forgotten": done.forgotten, "found": done.found, "_erasures": options.erasures}
    for size, span, records, most in _sizes(options):
        at, data = str(scratch / f"{kind}-{size}"), os.environ.get("LODESTAR_DATA", "")
        found = measure(Trial(at, kind, uri, records, span, most, options.queries, options.seed, data))
        _drop(uri)
        yield {"time": size, "_all": found}


def _sizes(options: Any) -> list[tuple[str, float, int, int]]:
    """Return per size: name, span in seconds, records, and the most records that retention keeps (0 = all)."""
    day = [("day", _DAY, options.records, 0)]
    return day if options.without_month else [*day, ("month", 30 * _DAY, int(_MONTH * _SURPLUS), _MONTH)]


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


def _bars(rows: Rows) -> Iterator[Limit]:
    for row in rows:
        kind, size = row.get("back_end"), row.get("time")
        if "_kills" in row:
            yield from (
                Limit(f"{name}.{kind}", 0.0, False, f"{name} in {row['_kills']} kills, {kind}")
                for name in _DEATHS
            )
        if "_erasures" in row:
            told = f"of {row['forgotten']} forgotten texts found in files, {row['_erasures']} interleavings, {kind}"
            yield Limit(f"found.{kind}", 0.0, False, told)
        if size:
            bound = _BOUND_DAY[kind or ""] if size == "day" else _BOUND_MONTH
            told = f"p95 ms of words, time and place with evidence, {size}, {kind}"
            yield Limit(f"evidence_ms_p95.{size}.{kind}", bound, False, told)
        if size and kind == "sqlite":
            yield Limit(f"open_s.{size}.{kind}", _BOUND_OPEN, False, f"s to open, {size}, {kind}")
            yield Limit(
                f"peak_mib.{size}.{kind}", _BOUND_PEAK, False, f"peak MiB of the process, {size}, {kind}"
            )


def _notes(rows: Rows) -> tuple[str, ...]:
    return (*(row["_note"] for row in rows if "_note" in row), _NOTE)


_NOTE = (
    "Wall time, and processor time in parentheses, in one process with one thread of BLAS, as every node has. "
    "Words are embedded within (a model on the CPU), with evidence the question and its cues once. "
    "Vectors of the records are given: "
    "those of 200 captions with noise, cosine 0.94. evidence: `all` and the selection by the Information "
    "Bottleneck from what it finds. RSS: what the store adds to a process that has imported the text model and "
    "what of Milvus the back end needs (import_mib); peak: of the whole process. A server's own memory is in "
    "neither. forget: until one memory is erased from every file. The 30 days begin as what retention leaves, "
    "spread over them, and 5 % more, which is thinned out."
)

BENCHMARK = Study(
    "memory-scale",
    "What the memory's store costs over a day and 30 days, and what a killed owner loses.",
    _add_options,
    _cases,
    _measure,
    numbers=(
        *(
            Number(name, by=("back_end",), digits=0)
            for name in ("acknowledged", *_DEATHS, "forgotten", "found")
        ),
        Whole(lambda rows: rows[0]["_all"], ("time", "back_end")),
    ),
    bars=lambda rows: list(_bars(rows)),
    notes=_notes,
)

"""Study: signs read in simulated buildings, and rooms found by their numbers."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from lodestar_eval.options import add_jobs_option, seed_list
from lodestar_eval.registry import BadOptions
from lodestar_eval.study import Limit, Number, Row, Rows, Study, Whole, count, percentile

if TYPE_CHECKING:
    from lodestar.perception.signs import SignReader

KINDS = ("number", "exit", "room", "name", "warning")
_BARS = {"number": "room numbers of 50 mm", "exit": "EXIT of 150 mm"}
_BY = ("kind",)


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--seeds", type=seed_list, default=seed_list("421-430"), help="offices (default 421-430)"
    )
    parser.add_argument(
        "--skip-rooms", action="store_true", help="read signs only; no robot searches for a room"
    )
    parser.add_argument(
        "--kinds", default="all", help="of signs that are read: number,exit,... (default all)"
    )
    parser.add_argument("--skip-reading", action="store_true", help="search for rooms only")
    add_jobs_option(parser)


def _cases(options: argparse.Namespace) -> list[tuple[Any, ...]]:
    kinds = KINDS if options.kinds == "all" else tuple(options.kinds.split(","))
    if unknown := set(kinds) - set(KINDS):
        raise BadOptions(f"--kinds: there is no {', '.join(sorted(unknown))}; there are {', '.join(KINDS)}")
    _reader()
    read = () if options.skip_reading else kinds
    return [(seed, read, not options.skip_rooms) for seed in options.seeds.values]


@lru_cache(maxsize=1)
def _reader() -> SignReader:
    """Return the reader of signs, loaded. Raises BadOptions if it is not installed."""
    from lodestar.assembly import parts
    from lodestar.perception.config import SignConfig
    from lodestar.perception.frames import DetectorUnavailable

    try:
        reader = parts.sign_reader(SignConfig(reader="rapidocr"))
        assert reader is not None
        reader.read(np.full((64, 64, 3), 200, np.uint8))  # the first call loads the model
    except DetectorUnavailable as error:
        raise BadOptions(str(error)) from error
    return reader


def _measure(seed: int, kinds: tuple[str, ...], rooms: bool) -> Iterator[Row]:
    from lodestar_eval.phrase_book import phrase_book
    from lodestar_eval.sign_trials import room_trial, sign_trials
    from lodestar_sim.worlds import world_from_spec

    world = world_from_spec("office?signs=1", seed)
    if kinds:
        yield from sign_trials(world, seed, _reader(), kinds)
    if rooms:
        yield from room_trial(world, seed, phrase_book())


def _is_barred(row: Row) -> bool:
    return row.get("kind") in _BARS


def _frame_ms(rows: Rows) -> dict[str, float]:
    found = [row for row in rows if "frames" in row]
    frames = max(sum(row["frames"] for row in found), 1)
    return {"frame_ms.mean": 1e3 * sum(row["read_seconds"] for row in found) / frames} if found else {}


BENCHMARK = Study(
    "signs",
    "Signs that are read from three views, and rooms that are found by their numbers.",
    _add_options,
    _cases,
    _measure,
    numbers=(
        Number("{kind}.right", "right", where=_is_barred, by=_BY),
        Number("{kind}.wrong", "_wrong", where=_is_barred, by=_BY),
        Number("_signs", "right", count, by=_BY, digits=0),
        Number("_right", "right", by=_BY, digits=2),
        Number("_wrong", "_wrong", by=_BY, digits=2),
        Number("view_ms.mean", "_ms"),
        Number("view_ms.p95", "_ms", percentile(95)),
        Number("rooms.reached", "reached"),
        Whole(_frame_ms),
    ),
    bars=(
        *(
            bar
            for kind, name in _BARS.items()
            for bar in (
                Limit(f"{kind}.right", 0.90, name=f"{name}: right after three views"),
                Limit(f"{kind}.wrong", 0.02, False, f"{name}: wrong"),
            )
        ),
        Limit("rooms.reached", 0.8, name="rooms by number: reached"),
    ),
    columns=(
        "seed",
        "kind",
        "text",
        "right",
        "wrong",
        "number",
        "reached",
        "metres",
        "duration",
        "reads",
        "said",
    ),
)

"""Study: search in two-storey buildings with one flight of stairs; targets and starts on either storey."""

from __future__ import annotations

import argparse
from typing import Any

from lodestar_eval.options import add_search_options
from lodestar_eval.study import Limit, Number, Row, Study, buildings, count

_OF = "of buildings; of four in a row two have start and target on two storeys"
_BY = ("_storey",)


def _add_options(parser: argparse.ArgumentParser) -> None:
    add_search_options(parser, "1-20", "mild", 900.0, of=_OF)


def _measure(_: str, seed: int, settings: Any) -> list[Row]:
    from lodestar_eval.floor_trials import run_floors

    return [run_floors(seed, settings)]


BENCHMARK = Study(
    "floors",
    "searches in buildings of two storeys, joined by one flight of stairs",
    _add_options,
    buildings,
    _measure,
    numbers=(
        Number("searches", "seed", count),
        Number("sr", "success"),
        Number("spl", "_spl"),
        Number("named"),
        Number("falls", over=sum),
        Number("collisions", over=sum),
        Number("_searches", "seed", count, by=_BY, digits=0),
        Number("_found", "success", by=_BY, digits=2),
        Number("_spl", by=_BY),
        Number("_s", "duration", by=_BY, digits=0),
        Number("_crossings", "crossings", by=_BY, digits=1),
        Number("_floor named", "named", by=_BY, digits=2),
    ),
    bars=(
        Limit("sr", 0.90, name="success rate"),
        Limit("falls", 0.0, at_least=False),
        Limit("named", 1.0, name="reports that name the right floor"),
    ),
    columns=(
        "world", "seed", "start", "target", "directive", "success", "named", "crossings", "falls", "collisions",
        "duration", "path", "shortest", "message",
    ),
)  # fmt: skip

"""Study: searches for an object seen only in a former session, with and without the memory of that session."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

from lodestar_eval.options import add_search_options
from lodestar_eval.study import Limit, Number, Paired, Row, Study, buildings, count

_FATES = {"still there": "there", "carried away": "gone"}
_BY = ("_fate", "policy")
_ARMS = ("policy", ("memory", "no_memory"), ("_fate",))


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--world", default="apartment", help="kind of building (default apartment)")
    add_search_options(parser, "601-610", "mild", 300.0, 0.06)


def _measure(world: str, seed: int, settings: Any) -> Iterator[Row]:
    from lodestar_eval.last_seen import searches

    for one in searches(world, seed, settings):
        hidden = {"_fate": _FATES[one.setting], "_spl": one.spl}
        yield {"case": one.setting, "memory": one.policy, **one.row(), **hidden}


BENCHMARK = Study(
    "last-seen",
    "A thing that only a former session saw: still there or carried away, with its memory and without.",
    _add_options,
    buildings,
    _measure,
    numbers=(
        Number("searches", "seed", count, by=_BY, digits=0),
        Number("sr", "success", by=_BY, digits=2),
        Number("spl", "_spl", by=_BY),
        Number("path_m", "path_length", by=_BY, digits=1),
        Number("time_s", "duration", by=_BY, digits=0),
        Paired("path_m", "path_length", *_ARMS),
        Paired("time_s", "duration", *_ARMS),
    ),
    bars=(Limit("path_m_high.there", -1e-6, at_least=False),),
    columns=("seed", "directive", "case", "memory", "path_length", "shortest", "duration", "failure"),
    notes=(
        "The building was mapped before the thing came in. A former session loaded that map, stood before the "
        "thing for 8 s and saved nothing. The search loads the same map; its clock says nothing of the former "
        "session's, so that the age of the sight is unknown.",
        "Differences are memory minus no memory, with 95 % bootstrap intervals over buildings.",
    ),
    left_out="because nothing can be carried, or the former session did not recognise it",
    missing=0,
)

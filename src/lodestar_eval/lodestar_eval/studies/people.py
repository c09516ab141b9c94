"""Study: robots among walkers: traces of walkers in the map, contacts, and the effect of the comfort distance."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

from lodestar_eval.options import add_jobs_option, seed_list
from lodestar_eval.study import Limit, Number, Row, Rows, Study, Whole

KINDS = ("apartment", "office")
_ARM = ("arm",)  # "kept": with the comfort distance; "plain": without
_SUMS = ("contacts", "own", "their", "touched")


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--seeds",
        type=seed_list,
        default=seed_list("501-510"),
        help="buildings, by turns of each kind (501-510)",
    )
    parser.add_argument("--walkers", type=int, default=3, help="people who walk to and fro (default 3)")
    parser.add_argument(
        "--wait",
        type=float,
        default=0.0,
        help="s for which they wait before the robot; 0 = they walk through it (default 0)",
    )
    parser.add_argument("--comfort", type=float, default=1.2, help="m that the robot keeps (default 1.2)")
    add_jobs_option(parser)


def _cases(options: argparse.Namespace) -> Iterator[tuple[Any, ...]]:
    for index, seed in enumerate(options.seeds.values):
        for arm in ("kept", "plain"):
            yield KINDS[index % len(KINDS)], seed, arm, options.comfort, options.walkers, options.wait


def _measure(kind: str, seed: int, arm: str, comfort: float, walkers: int, wait: float) -> Iterator[Row]:
    from lodestar_eval.people_trials import people_trial
    from lodestar_eval.phrase_book import phrase_book
    from lodestar_sim.worlds import world_from_spec

    kept = comfort if arm == "kept" else 0.0
    row = people_trial(world_from_spec(kind, seed), seed, phrase_book(), kept, comfort, walkers, wait)
    yield {"seed": seed, "arm": arm, **row}


def _is_kept(row: Row) -> bool:
    return bool(row["arm"] == "kept")


def _shares(rows: Rows) -> dict[str, float]:
    """Return the shares of the robot's motion near walkers."""
    moving = max(sum(row["moving_s"] for row in rows), 1e-9)
    names = ("near", "roomy")
    return {f"{{arm}}.{name}_share": sum(row[f"{name}_s"] for row in rows) / moving for name in names}


BENCHMARK = Study(
    "people",
    "Robots among walkers: what stays in the map, contacts, and the comfort distance.",
    _add_options,
    _cases,
    _measure,
    numbers=(
        Number("fused", "in_map", sum),
        Number("surfaces", where=_is_kept),
        Number("met", where=_is_kept),
        *(Number(f"{{arm}}.{name}", name, sum, by=_ARM, digits=0) for name in _SUMS),
        Number("{arm}.nearest", "nearest_m", min, by=_ARM, digits=2),
        Whole(_shares, _ARM, shown=True),
        Number("{arm}.metres", "metres", by=_ARM, digits=0),
    ),
    bars=(
        Limit("met", 0.9, name="share of runs in which it met somebody"),
        Limit("fused", 0.0, False, "people in the map 30 s after they left"),
        Limit("kept.contacts", 0.0, False, "contacts"),
        Limit("kept.roomy_share", 0.02, False, "share of its motion nearer by itself though there was room"),
    ),
    columns=(
        "seed", "arm", "tracks", "in_map", "surfaces", "cells", *_SUMS, "nearest_m", "moving_s", "near_s", "roomy_s",
        "metres",
    ),
)  # fmt: skip

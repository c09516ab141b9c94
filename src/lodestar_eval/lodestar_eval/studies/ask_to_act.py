"""Study: check questions answered by searching unexplored buildings; half are about absent objects."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np

from lodestar_eval.metrics import cluster_interval, mean, paired_difference, share, share_interval
from lodestar_eval.options import add_search_options
from lodestar_eval.registry import BadOptions, Table
from lodestar_eval.study import Limit, Number, Row, Rows, Study, Whole, buildings, count

_GROUPS: dict[str, Callable[[Row], bool]] = {
    "all": lambda row: row["_group"] != "visual",
    "there": lambda row: row["_group"] == "there",
    "absent": lambda row: row["_group"] == "absent",
}
_BY = ("case", "eyes")


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--world", default="apartment", help="kind of building (default apartment)")
    add_search_options(parser, "721-730", "mild", 600.0, 0.06, of="of buildings, six questions each")
    parser.add_argument(
        "--eyes", action="store_true",
        help="asks three questions more that need a picture, each without and with a model that looks",
    )  # fmt: skip
    parser.add_argument("--only-visual", action="store_true", help="with --eyes: asks these three alone")


def _cases(options: argparse.Namespace) -> Iterator[tuple[Any, ...]]:
    from lodestar_eval.ask_to_act import CASES, VISUAL_COUNT

    if options.only_visual and not options.eyes:
        raise BadOptions("--only-visual is of the questions of --eyes; give both")
    for world, seed, settings in buildings(options):
        for number in range(len(CASES) if not options.only_visual else 0):
            yield world, seed, settings, False, number, False
        for number in range(VISUAL_COUNT if options.eyes else 0):
            for eyes in (False, True):
                yield world, seed, settings, True, number, eyes


def _measure(*case: Any) -> Iterator[Row]:
    """Yield the row of a question; none if a kind of question cannot be made in the building."""
    from lodestar_eval.ask_to_act import VISUAL, run

    one = run(*case)
    group = "there" if one.question.is_there else "absent"
    yield one.row() | {
        "_right": one.is_right, "_unanswered": one.said is None, "_spl": one.spl,
        "_path": one.path_length, "_duration": one.duration,
        "_sct": one.sct, "_seconds": dict(one.seconds), "_seen_after": one.seen_after,
        "_group": "visual" if one.question.case == VISUAL else group,
    }  # fmt: skip


def _intervals(rows: Rows) -> dict[str, float]:
    """Return 95 % intervals of right answers, over buildings, and the times of questions about present things."""
    metrics: dict[str, float] = {}
    for name, belongs in _GROUPS.items():
        clusters: dict[int, list[float]] = {}
        for row in filter(belongs, rows):
            clusters.setdefault(row["seed"], []).append(float(row["_right"]))
        ends = cluster_interval([clusters[seed] for seed in sorted(clusters)], np.random.default_rng(0))
        metrics |= dict(zip((f"right_low.{name}", f"right_high.{name}"), ends))
    plain = [row for row in rows if _GROUPS["all"](row)]
    driven = sum(row["_path"] for row in plain)
    right = sum(row["_right"] for row in plain)
    return metrics | {"right_per_100m": 100.0 * right / driven if driven > 0.0 else float("nan")}


def _timed(rows: Rows, group: str) -> list[Any]:
    """Return outcomes as `time_tables.Timed`."""
    return [
        SimpleNamespace(
            success=row["_right"], sct=row["_sct"], duration=row["_duration"], seconds=row["_seconds"],
            seen_after=row["_seen_after"],
        )
        for row in rows
        if row["_group"] == group
    ]  # fmt: skip


def _times(rows: Rows) -> dict[str, float]:
    from lodestar_eval.time_tables import time_metrics

    return {f"{name}.there": value for name, value in time_metrics(_timed(rows, "there")).items()}


def _tables(rows: Rows) -> list[Table]:
    from lodestar_eval.time_tables import time_table

    groups = {("ask-to-act", name): _timed(rows, name) for name in ("there", "absent")}
    return [time_table({key: found for key, found in groups.items() if found})]


def _visual(rows: Rows) -> dict[str, float]:
    """Return metrics of visual questions: right answers without and with a model, and its wrong answers."""
    pairs: dict[tuple[Any, ...], dict[bool, Any]] = {}
    for row in rows:
        if row["_group"] == "visual":
            pairs.setdefault((row["world"], row["seed"], row["question"]), {})[row["eyes"]] = row
    both = [pair for pair in pairs.values() if len(pair) == 2]  # a case whose process died has no row
    seen = [row for pair in both for row in pair.values()]
    right = {eyes: [float(pair[eyes]["_right"]) for pair in both] for eyes in (False, True)}
    if not both:
        return {}
    said = [row for row in seen if row["eyes"] and not row["_unanswered"]]
    gain, low, high = paired_difference(right[True], right[False], np.random.default_rng(0))
    wrong = sum(not row["_right"] for row in said)
    wrong_low, wrong_high = share_interval(wrong, len(said))
    return {
        "visual.questions": float(len(right[True])), "visual.right": mean(right[False]),
        "visual.right_with_eyes": mean(right[True]), "visual.gain": gain, "visual.gain_low": low,
        "visual.gain_high": high, "visual.answers": float(len(said)), "visual.wrong": share(wrong, len(said)),
        "visual.wrong_low": wrong_low, "visual.wrong_high": wrong_high,
    }  # fmt: skip


BENCHMARK = Study(
    "ask-to-act",
    "Questions about an unexplored building that are answered by going and looking; half are about absent things.",
    _add_options,
    _cases,
    _measure,
    numbers=(
        Number("questions", "_right", count, _GROUPS["all"]),
        Number("questions_absent", "_right", count, _GROUPS["absent"]),
        *(
            Number(f"{name}.{group}", of, where=where)
            for group, where in _GROUPS.items()
            for name, of in (
                ("right", "_right"), ("unanswered", "_unanswered"), ("path_m", "_path"), ("time_s", "_duration"),
            )
        ),
        Number("spl.there", "_spl", where=_GROUPS["there"]),
        Whole(_intervals),
        Whole(_times),
        Whole(_visual),
        Number("_questions", "_right", count, by=_BY, digits=0),
        *(Number(name, by=_BY) for name in ("_right", "_unanswered", "_spl")),
        *(Number(name, by=_BY, digits=1) for name in ("_path", "_duration")),
    ),
    bars=(
        Limit("right.all", 0.80),
        Limit("right.absent", 0.90),
        Limit("visual.gain", 0.30),  # in right answers, by a vision model
        Limit("visual.wrong", 0.05, at_least=False),  # share of its answers
    ),
    columns=("seed", "question", "case", "eyes", "right", "said", "path_m", "seconds", "words"),
    tables=_tables,
    notes=(
        "Each question begins at the building's start with an empty map and no memory. SPL weighs a right yes by the "
        "shortest way to a view of the thing (A-EQA); for what is absent there is no shortest way.",
    ),
    left_out="because a case had no question",
)  # fmt: skip

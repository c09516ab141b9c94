"""Study: beliefs about objects out of view while some of them move, vanish and appear."""

from __future__ import annotations

import argparse
from typing import Any

from lodestar_eval.metrics import mean, share
from lodestar_eval.options import add_search_options
from lodestar_eval.study import Limit, Number, Paired, Row, Rows, Study, Whole, buildings, count, percentile

_OURS, *_RIVALS = "lodestar", "dictionary", "last_seen"
_BY = ("row",)


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--world", default="apartment", help="kind of building (default apartment)")
    add_search_options(parser, "731-740", "mild")


def _measure(spec: str, seed: int, settings: Any) -> list[Row]:
    from lodestar_eval.phrase_book import phrase_book
    from lodestar_eval.state_tracking import track

    found = track(spec, seed, settings, phrase_book())
    return [
        {
            "seed": seed, "row": row, "changes": found.fates, "sta": mean(one.right), "told": one.told,
            "told_right": one.told_right, "found": one.found, "_delays": one.delays,
            "_answers": [(asked.difficulty, asked.changed, right) for asked, right in one.answers],
        }
        for row, one in found.tracks.items()
    ]  # fmt: skip


def _is_ours(row: Row) -> bool:
    return row["row"] == _OURS


def _reports(rows: Rows) -> dict[str, float]:
    """Return precision and recall of the reported changes."""
    told, right, found, changes = (
        sum(row[name] for row in rows if _is_ours(row)) for name in ("told", "told_right", "found", "changes")
    )
    return {"precision": share(right, told), "recall": share(found, changes)}


def _settled(rows: Rows) -> dict[str, float]:
    return {"settled": share(sum(len(row["_delays"]) for row in rows), sum(row["changes"] for row in rows))}


def _questions(rows: Rows) -> dict[str, float]:
    """Return the query success rate (VLM-DEWM table 4) by difficulty."""
    from lodestar_eval.state_questions import COUNTS

    metrics: dict[str, float] = {}
    for kind in ("all", "changed", *COUNTS):
        right = [
            right
            for row in rows
            for difficulty, changed, right in row["_answers"]
            if kind in ("all", difficulty) or (kind == "changed" and changed)
        ]
        metrics["qsr.{row}." + kind] = share(sum(right), len(right))
        metrics["questions{row:.0}." + kind] = float(len(right))  # the same for every row
    return metrics


BENCHMARK = Study(
    "state-tracking",
    "Tours in which things move, vanish and appear out of view: what is believed of them, and what is reported.",
    _add_options,
    buildings,
    _measure,
    numbers=(
        Number("tours", "seed", count, _is_ours),
        Number("changes", over=sum, where=_is_ours),
        Number("sta", by=_BY),
        Number("delay_s", "_delays", percentile(50), by=_BY, digits=0),
        Whole(_settled, _BY),
        *(Paired(f"better_than_{rival}", "sta", "row", (_OURS, rival)) for rival in _RIVALS),
        Whole(_reports),
        Whole(_questions, _BY),
    ),
    bars=(Limit("sta.lodestar", 0.93), *(Limit(f"better_than_{rival}_low", 1e-6) for rival in _RIVALS)),
    columns=("seed", "row", "changes", "sta", "told", "told_right", "found"),
    notes=(
        "STA (VLM-DEWM eq. 14): share of out-of-view things believed right, mean over visits after the first round. "
        "A thing is right where a belief of its kind is, and wrong while a belief stays where it was.",
        "The robot is set from station to station and turns there with exact poses. A fifth of the movable things "
        "change, at moments at which neither place is in view. Delay: from the first visit that shows either place "
        "until the belief is right. precision, recall: of the changes reported at the end, with both places.",
        "Spatial questions (VLM-DEWM table 3): 'is there ...?' of things, of one relation, and of several or of the "
        "nearest and the farthest, after each round. A yes has to show the thing where it is. changed: the answer is "
        "another than at the beginning. Table 3's daily scenarios are left to `memory-qa`.",
    ),
    left_out="because too little can change",
)

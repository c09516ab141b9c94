"""Rows of judged answers, and the metrics and plot that compare methods."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from lodestar_eval.memory_qa.questions import NUMBER, VISUAL, Answer, Question
from lodestar_eval.memory_qa.rows import EYES, FULL, OURS
from lodestar_eval.memory_qa.scoring import area_under_risk, judge, risk_coverage
from lodestar_eval.metrics import paired_difference, share, share_interval
from lodestar_eval.study import Row, Rows


def judged(
    method: str, world: str, seed: int, questions: Sequence[Question], answers: Sequence[Answer]
) -> list[Row]:
    """Return a row per answer, with its score.

    Raises ValueError unless questions and answers correspond in order.
    """
    if [a.question_id for a in answers] != [q.asked.id for q in questions]:
        raise ValueError(
            f"{method}: every question needs one answer with its id, in the order of the questions"
        )
    rows = []
    for q, a in zip(questions, answers):
        s = judge(q, a)
        rows.append({
            "row": method, "world": world, "seed": seed, "id": q.asked.id, "kind": q.kind, "form": q.form,
            "wording": q.wording, "look_alike": int(q.look_alike), "value": q.gold.value, "text": q.asked.text,
            "right": int(s.right), "error": s.error, "recalled": "" if s.recalled is None else int(s.recalled),
            "redundancy": s.redundancy, "known": int(a.known), "confidence": a.confidence, "answer": a.text,
            "_seen": a.seen, "_number": a.number,
        })  # fmt: skip
    return rows


def _by_method(rows: Rows) -> dict[str, list[Row]]:
    methods: dict[str, list[Row]] = {}
    for row in rows:
        methods.setdefault(row["row"], []).append(row)
    return methods


def _difference(name: str, pairs: Sequence[tuple[float, float]]) -> dict[str, float]:
    """Return the mean difference of pairs, with its 95 % interval."""
    ours, theirs = ([pair[k] for pair in pairs] for k in (0, 1))
    found = paired_difference(ours, theirs, np.random.default_rng(0))
    return {f"{name}.{key}": value for key, value in zip(("difference", "low", "high"), found)}


def differences(rows: Rows) -> dict[str, float]:
    """Return the differences of `ours` to the other methods in success and recall, over the same questions."""
    methods = _by_method(rows)
    metrics: dict[str, float] = {}
    for name in [name for name in methods if OURS in methods and name != OURS]:
        for key, column in (("sr", "right"), ("recall", "recalled")):
            pairs = [(a[column], b[column]) for a, b in zip(methods[OURS], methods[name], strict=True)]
            metrics |= _difference(f"{key}.ours_over_{name}", [pair for pair in pairs if "" not in pair])
    return metrics


def gain_by_eyes(rows: Rows) -> dict[str, float]:
    """Return the paired gain by a vision model on visual questions, the share of its claims about pictures
    that are wrong, and the number of numeric answers that pictures changed.
    """
    methods = _by_method(rows)
    if not {EYES, FULL} <= methods.keys():
        return {}
    pairs = list(zip(methods[EYES], methods[FULL], strict=True))
    claims = [row for row in methods[EYES] if row["_seen"] and row["known"]]
    wrong = sum(not row["right"] for row in claims)
    low, high = share_interval(wrong, len(claims))
    changed = [a["_number"] != b["_number"] for a, b in pairs if a["value"] == NUMBER and b["known"]]
    return {
        **_difference(
            "visual.eyes_over_full", [(a["right"], b["right"]) for a, b in pairs if a["kind"] == VISUAL]
        ),
        "visual.claims": float(len(claims)),
        "visual.wrong_claims": share(wrong, len(claims)),
        "visual.wrong_claims.low": low,
        "visual.wrong_claims.high": high,
        "visual.numbers_changed": float(sum(changed)),
    }


def curve_of(rows: Rows) -> np.ndarray:
    """Return N points (N, 2) of one method's risk-coverage curve; see `risk_coverage`."""
    return risk_coverage(*([row[column] for row in rows] for column in ("confidence", "right", "known")))


def risk_area(rows: Rows) -> dict[str, float]:
    """Return the mean risk of one method."""
    return {"risk_area": area_under_risk(curve_of(rows))}


def save_curves(rows: Rows, file: Path) -> None:
    """Write a PNG with the share of wrong answers over the share of questions answered, a line per method."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 4.2), dpi=110, facecolor="white", layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    for name, own in _by_method(rows).items():
        curve = curve_of(own)
        axes.step(curve[:, 0], curve[:, 1], where="post", label=name)
    axes.set(
        xlim=(0, 1), ylim=(0, 1), xlabel="share of questions answered", ylabel="share of these that is wrong"
    )
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize=8)
    figure.savefig(file)

"""Metrics, tables, pass thresholds and files of the judged answers of all compared methods ("rows")."""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from lodestar_eval.memory_qa.questions import DURATION, KINDS, NUMBER, PLACE, TIME, VISUAL, Answer, Question
from lodestar_eval.memory_qa.rows import COSINE, EYES, FULL, OBJECT_CAPTIONS, OURS
from lodestar_eval.memory_qa.scoring import Score, area_under_risk, judge, risk_coverage
from lodestar_eval.metrics import mean, paired_difference, share_interval
from lodestar_eval.registry import Bar, Table
from lodestar_eval.report import number

#: Bars of `full` on the share of right answers, by kind (issue 16).
BOUNDS = {"spatial": 0.80, "yes_no": 0.85, "descriptive": 0.75, "temporal": 0.85, "picture": 0.70}
RIVALS = (COSINE, OBJECT_CAPTIONS)  # rows that `ours` must beat
ALL = "all"
_ABOVE_ZERO = 1e-9


@dataclass(frozen=True)
class Judged:
    """One answer with its score. row: name of the method that gave it."""

    row: str
    world: str
    seed: int
    question: Question
    answer: Answer
    score: Score


def judged(
    row: str, world: str, seed: int, questions: Sequence[Question], answers: Sequence[Answer]
) -> list[Judged]:
    """Return the answers with their scores. Raises ValueError unless questions and answers correspond in order."""
    if [a.question_id for a in answers] != [q.asked.id for q in questions]:
        raise ValueError(f"{row}: every question needs one answer with its id, in the order of the questions")
    return [Judged(row, world, seed, q, a, judge(q, a)) for q, a in zip(questions, answers)]


def metrics_of(results: Sequence[Judged], rng: np.random.Generator) -> dict[str, float]:
    """Return the metrics of every method by kind of question, and the differences of `ours` to the others."""
    rows = _by_row(results)
    metrics: dict[str, float] = {}
    for name, own in rows.items():
        for kind in (ALL, *KINDS, VISUAL):
            some = [j for j in own if kind in (ALL, j.question.kind)]
            if some:
                metrics[f"sr.{kind}.{name}"] = mean([float(j.score.right) for j in some])
                metrics[f"recall.{kind}.{name}"] = mean(_recalls(some))
        metrics[f"sr.look_alikes.{name}"] = mean([float(j.score.right) for j in own if j.question.look_alike])
        metrics[f"error_m.{name}"] = mean([j.score.error for j in own if j.question.gold.value == PLACE])
        times = (TIME, DURATION)
        metrics[f"error_s.{name}"] = mean([j.score.error for j in own if j.question.gold.value in times])
        metrics[f"redundancy.{name}"] = mean([j.score.redundancy for j in own])
        metrics[f"answered.{name}"] = mean([float(j.answer.known) for j in own])
        metrics[f"risk_area.{name}"] = area_under_risk(curve_of(own))
    if FULL in rows and EYES in rows:
        metrics.update(_seen(rows[EYES], rows[FULL], rng))
    for name in rows:
        if OURS in rows and name != OURS:
            metrics.update(_paired(rows[OURS], rows[name], name, rng))
    return metrics


def _by_row(results: Sequence[Judged]) -> dict[str, list[Judged]]:
    rows: dict[str, list[Judged]] = {}
    for one in results:
        rows.setdefault(one.row, []).append(one)
    return rows


def _recalls(results: Sequence[Judged]) -> list[float]:
    return [float(j.score.recalled) for j in results if j.score.recalled is not None]


def _paired(
    ours: Sequence[Judged], theirs: Sequence[Judged], name: str, rng: np.random.Generator
) -> dict[str, float]:
    """Return the differences in success and recall over the same questions, with 95 % bootstrap intervals."""
    metrics = {}
    values: dict[str, Callable[[Judged], float]] = {
        "sr": lambda j: float(j.score.right),
        "recall": lambda j: np.nan if j.score.recalled is None else float(j.score.recalled),
    }
    for what, value in values.items():
        pairs = np.array([(value(a), value(b)) for a, b in zip(ours, theirs, strict=True)]).reshape(-1, 2)
        pairs = pairs[np.all(np.isfinite(pairs), axis=1)]
        keys = ("difference", "low", "high")
        found = paired_difference(pairs[:, 0].tolist(), pairs[:, 1].tolist(), rng)
        metrics.update({f"{what}.ours_over_{name}.{key}": v for key, v in zip(keys, found)})
    return metrics


def _seen(eyes: Sequence[Judged], text: Sequence[Judged], rng: np.random.Generator) -> dict[str, float]:
    """Return the paired gain by a vision model on visual questions, the share of its claims about pictures
    that are wrong, and the number of numeric answers that pictures changed. eyes, text: answers with and
    without the model.
    """
    pairs = [(a, b) for a, b in zip(eyes, text, strict=True) if a.question.kind == VISUAL]
    found = paired_difference(
        [float(a.score.right) for a, _ in pairs], [float(b.score.right) for _, b in pairs], rng
    )
    claims = [j for j in eyes if j.answer.details.get("seen") and j.answer.known]
    wrong = sum(not j.score.right for j in claims)
    low, high = share_interval(wrong, len(claims))
    numbers = [
        (a, b) for a, b in zip(eyes, text, strict=True) if a.question.gold.value == NUMBER and b.answer.known
    ]
    return {
        **{f"visual.eyes_over_full.{key}": v for key, v in zip(("difference", "low", "high"), found)},
        "visual.claims": float(len(claims)),
        "visual.wrong_claims": wrong / len(claims) if claims else float("nan"),
        "visual.wrong_claims.low": low,
        "visual.wrong_claims.high": high,
        "visual.numbers_changed": float(sum(a.answer.number != b.answer.number for a, b in numbers)),
    }


def curve_of(results: Sequence[Judged]) -> np.ndarray:
    """Return N points (N, 2) of one method's risk-coverage curve; see `risk_coverage`."""
    return risk_coverage(
        [j.answer.confidence for j in results],
        [j.score.right for j in results],
        [j.answer.known for j in results],
    )


def bars_of(metrics: dict[str, float]) -> tuple[Bar, ...]:
    """Return the pass thresholds that apply to the methods in the results."""
    bars = [
        Bar(f"full: {kind}", metrics[f"sr.{kind}.{FULL}"], bound)
        for kind, bound in BOUNDS.items()
        if f"sr.{kind}.{FULL}" in metrics
    ]
    if "visual.claims" in metrics:
        bars += [
            Bar("pictures over text, visual questions", metrics["visual.eyes_over_full.difference"], 0.30),
            Bar("wrong claims about pictures", metrics["visual.wrong_claims"], 0.05, at_least=False),
            Bar(
                "numbers of the store that pictures changed",
                metrics["visual.numbers_changed"],
                0.0,
                at_least=False,
            ),
        ]
    for name in RIVALS:
        for what in ("sr", "recall"):
            low = metrics.get(f"{what}.ours_over_{name}.low")
            if low is not None:
                bars.append(Bar(f"ours over {name}, {what}, lower end", low, _ABOVE_ZERO))
    return tuple(bars)


def tables_of(metrics: dict[str, float], rows: Sequence[str]) -> tuple[Table, ...]:
    """Return the tables of success and recall by kind of question, and of errors, with a row per method."""
    kinds = (*KINDS, *((VISUAL,) if f"sr.{VISUAL}.{rows[0]}" in metrics else ()), ALL)
    success = [(row, *(number(metrics.get(f"sr.{kind}.{row}", np.nan)) for kind in kinds)) for row in rows]
    recall = [(row, *(number(metrics.get(f"recall.{kind}.{row}", np.nan)) for kind in kinds)) for row in rows]
    names = ("error_m", "error_s", "redundancy", "answered", "risk_area", "sr.look_alikes")
    errors = [(row, *(number(metrics[f"{name}.{row}"]) for name in names)) for row in rows]
    heads = ("row", "error m", "error s", "redundancy", "answered", "mean risk", "SR of look-alikes")
    return (
        Table("Share of right answers", ("row", *kinds), tuple(success)),
        Table("Recall at 6", ("row", *kinds), tuple(recall)),
        Table("Errors, evidence and confidence", heads, tuple(errors)),
    )


def save_csv(results: Sequence[Judged], file: Path) -> None:
    """Write a CSV line per question and method."""
    heads = ("row", "world", "seed", "id", "kind", "form", "wording", "look_alike", "value", "text", "right",
             "error", "recalled", "redundancy", "known", "confidence", "answer")  # fmt: skip
    with open(file, "w", newline="", encoding="utf-8") as out:
        writer = csv.writer(out)
        writer.writerow(heads)
        for j in results:
            q, a, s = j.question, j.answer, j.score
            writer.writerow(
                (j.row, j.world, j.seed, q.asked.id, q.kind, q.form, q.wording, int(q.look_alike), q.gold.value,
                 q.asked.text, int(s.right), s.error, "" if s.recalled is None else int(s.recalled),
                 s.redundancy, int(a.known), a.confidence, a.text)
            )  # fmt: skip


def save_curves(results: Sequence[Judged], file: Path) -> None:
    """Write a PNG with the share of wrong answers over the share of questions answered, a line per method."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 4.2), dpi=110, facecolor="white", layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    for name, own in _by_row(results).items():
        curve = curve_of(own)
        axes.step(curve[:, 0], curve[:, 1], where="post", label=name)
    axes.set(
        xlim=(0, 1), ylim=(0, 1), xlabel="share of questions answered", ylabel="share of these that is wrong"
    )
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize=8)
    figure.savefig(file)

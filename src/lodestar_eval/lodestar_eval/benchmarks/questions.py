"""Benchmark: share of questions whose expected kind of answer (such as place or time) is recognised."""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from lodestar_eval.benchmarks.directives import read_lines
from lodestar_eval.registry import BadOptions, Bar, Benchmark, Result, Table

if TYPE_CHECKING:
    from lodestar.language.likely_questions import LikelyQuestions
    from lodestar.language.question import Question

_PARTS = ("all", "seen", "heldback")
_LEAST_RIGHT = 0.95
#: Ways in which a question is read: completely, by the nearest plain question in meaning, in part, not at all.
_READINGS = ("whole", "likely", "in part", "refused")
#: Kind of answer by its name in the data sets: NaVQA has five, OpenEQA four (short and long text are one).
_KINDS = {
    "binary": "yes_no",
    "position": "place",
    "time": "time",
    "duration": "duration",
    "text": "text",
    "yes_no": "yes_no",
    "place": "place",
    "number": "number",
    "short_text": "text",
    "long_text": "text",
}
_YES_NO = frozenset(
    ["is", "are", "was", "were", "do", "does", "did", "has", "have", "had", "can", "could", "will", "would"]
)


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--data",
        type=Path,
        nargs="+",
        metavar="FOLDER",
        help="folders with questions.jsonl and gold.jsonl, such as navqa_dev and openeqa_dev",
    )
    parser.add_argument(
        "--part", choices=_PARTS, default="all", help="heldback: sha1(id) // 3 divisible by 3"
    )
    parser.add_argument("--rules-only", action="store_true", help="without the nearest question in meaning")
    parser.add_argument("--show", action="store_true", help="print every question that is read wrong")


def first_words(question: str) -> str:
    """Return the kind of answer that a question's first words suggest, as a baseline."""
    words = question.casefold().split()
    first, two = words[0] if words else "", " ".join(words[:2])
    if first == "where" or question.casefold().startswith(("can you take me", "can you go")):
        return "place"
    if first == "when" or two in ("how long", "how many"):
        return {"when": "time", "how long": "duration", "how many": "number"}[
            first if first == "when" else two
        ]
    return "yes_no" if first in _YES_NO else "text"


def _run(options: argparse.Namespace, folder: Path, progress: Callable[[str], None]) -> Result:
    from lodestar.language.directive_errors import DirectiveError
    from lodestar.language.question_reader import load_questions, read_question

    if not options.data:
        raise BadOptions("name the questions with --data FOLDER")
    load_questions()
    likely = None if options.rules_only else _likely()
    metrics: dict[str, float] = {}
    bars: list[Bar] = []
    tables: list[Table] = []
    taken: dict[str, list[float]] = {name: [] for name in _READINGS}
    for data in options.data:
        kinds = _gold(data)
        lines = [line for line in read_lines(data / "questions.jsonl", options.part) if line["id"] in kinds]
        if not lines:
            raise BadOptions(f"{data} has no question of part {options.part!r}")
        ours: Counter[str] = Counter()
        trivial: Counter[str] = Counter()
        whole: Counter[str] = Counter()
        readings: Counter[str] = Counter()
        for line in lines:
            gold, text = kinds[line["id"]], line["question"]
            began, how = time.perf_counter(), "refused"
            try:
                question = read_question(text, likely=likely)
                kind, how = question.answer.name.lower(), _reading(question)
            except DirectiveError as error:
                kind = f"refused: {error}"
            taken[how].append(1e3 * (time.perf_counter() - began))
            readings[how] += 1
            whole[gold] += 1
            ours[gold] += _among(kind, kinds) == gold
            trivial[gold] += _among(first_words(text), kinds) == gold
            if options.show and _among(kind, kinds) != gold:
                progress(f"{gold:9} read as {kind:9} {line['id']}: {text}")
        share, rule = (sum(counts.values()) / len(lines) for counts in (ours, trivial))
        name = f"{data.name}.{options.part}"
        metrics |= {f"right.{name}": share, f"first_words.{name}": rule, f"questions.{name}": len(lines)}
        metrics |= {f"right.{name}.{kind}": ours[kind] / count for kind, count in sorted(whole.items())}
        bars.append(Bar(f"kind of answer, {data.name}", share, _LEAST_RIGHT))
        rows = [
            (kind, str(count), f"{ours[kind] / count:.3f}", f"{trivial[kind] / count:.3f}")
            for kind, count in sorted(whole.items())
        ]
        rows.append(("all", str(len(lines)), f"{share:.3f}", f"{rule:.3f}"))
        tables.append(
            Table(f"Kind of answer, {data.name}", ("kind", "questions", "right", "first words"), tuple(rows))
        )
        metrics |= {f"{how}.{name}": readings[how] / len(lines) for how in _READINGS}
        progress(
            f"{data.name}: {len(lines)} questions, right {share:.3f}, first-words rule {rule:.3f}; "
            + ", ".join(f"{how} {readings[how]}" for how in _READINGS)
        )
    for how, times in taken.items():
        if times:
            metrics |= {f"read_p{p}_ms.{how}": float(np.percentile(times, p)) for p in (50, 95)}
    return Result(metrics=metrics, bars=tuple(bars), tables=tuple(tables))


def _likely() -> LikelyQuestions:
    """Return the classifier of questions by text embeddings, with its vectors computed."""
    from lodestar.language.likely_questions import LikelyQuestions
    from lodestar_eval.phrase_book import phrase_book

    found = LikelyQuestions(phrase_book().vectors)
    found.load()
    return found


def _reading(question: Question) -> str:
    return "in part" if question.is_partial else "likely" if question.is_likely else "whole"


def _gold(folder: Path) -> dict[str, str]:
    """Return the true kind of answer by question id. Raises BadOptions for an unknown kind."""
    found = {}
    for line in read_lines(folder / "gold.jsonl"):
        name = line.get("type") or line.get("answer_kind")
        if name not in _KINDS:
            raise BadOptions(f"{folder}/gold.jsonl has a kind of answer that is not known: {name!r}")
        found[line["id"]] = _KINDS[name]
    return found


def _among(kind: str, kinds: dict[str, str]) -> str:
    """Return `kind` if it is one of the data set's kinds or a refusal, else "text"."""
    return kind if kind in kinds.values() else "text" if not kind.startswith("refused") else kind


BENCHMARK = Benchmark("questions", "What kind of answer a question is read to want.", _add_options, _run)

"""Study: share of questions whose expected kind of answer (such as place or time) is recognised."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lodestar_eval.registry import BadOptions
from lodestar_eval.studies.directives import read_lines
from lodestar_eval.study import Limit, Number, Row, Rows, Study, count, percentile

if TYPE_CHECKING:
    from lodestar.language.likely_questions import LikelyQuestions
    from lodestar.language.question import Question

_PARTS = ("all", "seen", "heldback")
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


def _cases(options: argparse.Namespace) -> list[tuple[Any, ...]]:
    if not options.data:
        raise BadOptions("name the questions with --data FOLDER")
    return [(data, options.part, options.rules_only, options.show) for data in options.data]


def _measure(data: Path, part: str, rules_only: bool, show: bool) -> Iterator[Row]:
    """Yield a row per question of a data set."""
    from lodestar.language.directive_errors import DirectiveError
    from lodestar.language.question_reader import load_questions, read_question

    load_questions()
    likely = None if rules_only else _likely()
    kinds = _gold(data)
    lines = [line for line in read_lines(data / "questions.jsonl", part) if line["id"] in kinds]
    if not lines:
        raise BadOptions(f"{data} has no question of part {part!r}")
    for line in lines:
        gold, text = kinds[line["id"]], line["question"]
        began, how = time.perf_counter(), "refused"
        try:
            question = read_question(text, likely=likely)
            kind, how = question.answer.name.lower(), _reading(question)
        except DirectiveError as error:
            kind = f"refused: {error}"
        taken = 1e3 * (time.perf_counter() - began)
        right = _among(kind, kinds) == gold
        if show and not right:
            print(f"{gold:9} read as {kind:9} {line['id']}: {text}", flush=True)
        yield {
            "set": f"{data.name}.{part}", "id": line["id"], "kind": gold, "read_as": kind, "how": how, "right": right,
            "first_words": _among(first_words(text), kinds) == gold, "_ms": taken,
            **{f"_{name}": name == how for name in _READINGS},
        }  # fmt: skip


@lru_cache(maxsize=1)
def _likely() -> LikelyQuestions:
    """Return the classifier of questions by text embeddings, with its vectors computed."""
    from lodestar.language.likely_questions import LikelyQuestions
    from lodestar_eval.phrase_book import phrase_book

    found = LikelyQuestions(phrase_book().vectors)
    found.load()
    return found


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


def _bars(rows: Rows) -> list[Limit]:
    sets = dict.fromkeys(row["set"] for row in rows)
    return [Limit(f"right.{one}", 0.95, name=f"kind of answer, {one.rpartition('.')[0]}") for one in sets]


_BY, _EACH = ("set",), ("set", "kind")

BENCHMARK = Study(
    "questions",
    "What kind of answer a question is read to want.",
    _add_options,
    _cases,
    _measure,
    numbers=(
        Number("questions", "right", count, by=_BY, digits=0),
        *(Number(name, by=_BY) for name in ("right", "first_words")),
        *(Number(how, f"_{how}", by=_BY) for how in _READINGS),
        Number("_questions", "right", count, by=_EACH, digits=0),
        Number("right", by=_EACH),
        Number("_first_words", "first_words", by=_EACH),
        *(Number(f"read_p{q}_ms", "_ms", percentile(q), by=("how",)) for q in (50, 95)),
    ),
    bars=_bars,
)

"""Study: share of people's sentences to robots that a parser reads as they were meant."""

from __future__ import annotations

import argparse
import hashlib
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from lodestar.models.chat_key import KEY_VARIABLE
from lodestar.models.config import ChatConfig
from lodestar_eval.registry import BadOptions
from lodestar_eval.study import Limit, Number, Row, Rows, Study, Whole, count

_PARTS = ("all", "seen", "heldback")
_OUTCOMES = ("exact", "partial", "refused", "misread")  # those of directive_scores.py
_LONG = (
    "go to the kitchen and find the red mug next to the sink then look for a chair or a stool in the living room "
    "and come back but avoid the wet floor please"
)


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--data",
        type=Path,
        metavar="FILE",
        help="sentences with their meaning: lines of JSON, or a .yaml in shorthand (see meant_sentences.py)",
    )
    parser.add_argument(
        "--parser",
        choices=("asking", "grammar", "model"),
        default="asking",
        help="asking: the grammar, which asks back in doubt, as the robot reads; grammar: it takes doubtful readings "
        "too (default %(default)s)",
    )
    parser.add_argument("--model", default=ChatConfig.model, help="of --parser model (default %(default)s)")
    parser.add_argument("--base-url", default="", help="of the model's endpoint (default OpenAI's)")
    parser.add_argument(
        "--key-variable", default=KEY_VARIABLE, help="environment variable that holds the key"
    )
    parser.add_argument(
        "--part",
        choices=_PARTS,
        default="all",
        help="heldback: sha1(id) // 3 divisible by 3, in shorthand sha1(text) odd",
    )
    parser.add_argument("--show", action="store_true", help="print every sentence that is not exact")


def _cases(options: argparse.Namespace) -> list[tuple[Any, ...]]:
    if options.data is None:
        raise BadOptions("name the sentences with --data FILE.jsonl")
    try:
        chat = ChatConfig(options.model, options.base_url, key_variable=options.key_variable)
    except ValueError as error:
        raise BadOptions(str(error)) from error
    return [(options.parser, options.data, options.part, chat, options.show)]


def _measure(parser: str, data: Path, part: str, chat: ChatConfig, show: bool) -> Iterator[Row]:
    """Yield a row per sentence, and one of the parsing times."""
    from lodestar.language.grammar import parse_directive
    from lodestar_eval.meant_sentences import score_line

    lines = read_lines(data, part)
    if not lines:
        raise BadOptions(f"{data} has no sentence of part {part!r}")
    parse = _parser(parser, chat)
    parse("find the chair")
    taken = []
    for line in lines:
        began = time.perf_counter()
        score = score_line(line, parse)
        taken.append(1e3 * (time.perf_counter() - began))
        if show and score.outcome != "exact":
            print(f"{score.outcome:8} {line['id']:14} {line['text']}\n         {score.detail}", flush=True)
        row = {"source": line["source"], "id": line["id"], "text": line["text"], "outcome": score.outcome}
        row |= {"lost": score.lost, "asked_back": score.is_asked_back, "_part": part}
        if parser == "asking":  # the baseline is the grammar, which accepts doubtful readings
            row["_lost_exact"] = score.is_asked_back and score_line(line, parse_directive).outcome == "exact"
        yield row | {f"_{name}": name == score.outcome for name in _OUTCOMES}
    by_model = parser == "model"  # a model may charge for every request
    times = {"p95_sentence": float(np.percentile(taken, 95))} if by_model else _times(parse)
    yield {"_times": {f"parse_{name}_ms": value for name, value in times.items()}}


def is_held_back(sentence: str) -> bool:
    """Return whether the sentence with this id is held back from the developers of a parser."""
    return int(hashlib.sha1(sentence.encode()).hexdigest(), 16) // 3 % 3 == 0


def read_lines(path: Path, part: str = "all") -> list[dict[str, Any]]:
    """Return the sentences of a file as dictionaries. Raises BadOptions if it cannot be read."""
    from lodestar_eval.meant_sentences import is_kept as is_kept_half
    from lodestar_eval.meant_sentences import read_sentences

    shorthand = path.suffix == ".yaml"
    try:
        if shorthand:
            lines = read_sentences(path)
        else:
            lines = [
                json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()
            ]
    except (OSError, ValueError) as error:
        raise BadOptions(f"{path} cannot be read as lines of JSON, or as a .yaml: {error}") from error
    if part == "all":
        return lines
    is_kept = is_kept_half if shorthand else is_held_back
    return [line for line in lines if is_kept(line["id"]) == (part == "heldback")]


def _parser(name: str, chat: ChatConfig) -> Callable[[str], Any]:
    from lodestar.assembly import parts
    from lodestar.assembly.config import GoalSelectorConfig
    from lodestar.language.config import ParserConfig

    if name == "asking":
        return parts.directive_parser()
    if name == "grammar":
        from lodestar.language.grammar import parse_directive

        return parse_directive
    model = parts.directive_model(GoalSelectorConfig(parser=ParserConfig(True, chat)), print)
    assert model is not None
    return model[0]


def _times(parse: Callable[[str], Any]) -> dict[str, float]:
    """Return the parsing times, milliseconds, of sentences of 30 and of 200 words."""
    words = _LONG.split()
    thirty = " ".join(words[:30])
    long = " then ".join([_LONG] * 7)
    found = {}
    for name, text in (("30_words", thirty), ("200_words", " ".join(long.split()[:200]))):
        taken = []
        for _ in range(40 if name == "30_words" else 5):
            began = time.perf_counter()
            try:
                parse(text)
            except ValueError:
                continue
            taken.append(1e3 * (time.perf_counter() - began))
        found[f"p95_{name}"] = float(np.percentile(taken, 95)) if taken else float("nan")
    return found


def _asked(rows: Rows) -> dict[str, float]:
    """Return the share of exactly read sentences that the robot asks back about, for the parser that asks."""
    lost = [row["_lost_exact"] for row in rows if "_lost_exact" in row]
    exact = sum(row["outcome"] == "exact" for row in rows if "outcome" in row) + sum(lost)
    return {"asked_back_of_exact": sum(lost) / max(exact, 1)} if lost else {}


BENCHMARK = Study(
    "directives",
    "What a parser makes of sentences that people gave to robots.",
    _add_options,
    _cases,
    _measure,
    numbers=(
        *(Number(name, f"_{name}", by=("_part",)) for name in _OUTCOMES),
        Number("sentences", "lost", count),
        Number("lost_constraints", "lost", sum),
        Number("asked_back"),
        Whole(_asked),
        Whole(lambda rows: rows[-1]["_times"]),
        Number("_exact"),
        Number(
            "_right", lambda row: row["outcome"] in ("exact", "partial"), where=lambda row: "outcome" in row
        ),
        Number("_misread"),
        Number("_sentences", "lost", count, by=("source",), digits=0),
        *(Number(f"_{name}", by=("source",), digits=2) for name in _OUTCOMES),
    ),
    bars=(
        Limit("_exact", 0.60, name="exact"),
        Limit("_right", 0.72, name="exact or partial"),
        Limit("_misread", 0.08, False, "misread"),
        Limit("lost_constraints", 0.0, False, "lost constraints"),
        Limit("asked_back_of_exact", 0.10, False, "asked back of exact"),
    ),
)

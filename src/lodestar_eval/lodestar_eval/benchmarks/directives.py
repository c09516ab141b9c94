"""Benchmark: share of people's sentences to robots that a parser reads as they were meant."""

from __future__ import annotations

import argparse
import hashlib
import json
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from lodestar.models.chat_key import KEY_VARIABLE
from lodestar.models.config import ChatConfig
from lodestar_eval.registry import BadOptions, Bar, Benchmark, Result, Table

_PARTS = ("all", "seen", "heldback")
_LEAST_EXACT, _LEAST_RIGHT, _MOST_MISREAD, _MOST_ASKED = 0.60, 0.72, 0.08, 0.10
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


def _run(options: argparse.Namespace, folder: Path, progress: Callable[[str], None]) -> Result:
    from lodestar_eval.directive_scores import EXACT, MISREAD, OUTCOMES, PARTIAL
    from lodestar_eval.meant_sentences import score_line

    if options.data is None:
        raise BadOptions("name the sentences with --data FILE.jsonl")
    lines = read_lines(options.data, options.part)
    if not lines:
        raise BadOptions(f"{options.data} has no sentence of part {options.part!r}")
    parse = _parser(options, progress)
    parse("find the chair")
    outcomes: dict[str, Counter[str]] = {}
    lost, taken, asked, asked_exact = 0, [], 0, 0
    alone = _grammar_alone(options)
    for line in lines:
        began = time.perf_counter()
        score = score_line(line, parse)
        taken.append(1e3 * (time.perf_counter() - began))
        outcomes.setdefault(line["source"], Counter())[score.outcome] += 1
        lost += score.lost
        if score.is_asked_back:
            asked += 1
            asked_exact += alone is not None and score_line(line, alone).outcome == EXACT
        if options.show and score.outcome != EXACT:
            progress(f"{score.outcome:8} {line['id']:14} {line['text']}\n         {score.detail}")
    total: Counter[str] = sum(outcomes.values(), Counter())
    share = {name: total[name] / len(lines) for name in OUTCOMES}
    right = share[EXACT] + share[PARTIAL]
    metrics = {f"{name}.{options.part}": value for name, value in share.items()}
    metrics |= {"sentences": len(lines), "lost_constraints": lost, "asked_back": asked / len(lines)}
    if alone is not None:
        exact_alone = total[EXACT] + asked_exact
        metrics["asked_back_of_exact"] = asked_exact / max(exact_alone, 1)
    by_model = options.parser == "model"  # a model may charge for every request
    times = {"p95_sentence": float(np.percentile(taken, 95))} if by_model else _times(parse)
    metrics |= {f"parse_{name}_ms": value for name, value in times.items()}
    rows = [
        (source, *(str(counts[name]) for name in OUTCOMES), f"{counts[EXACT] / sum(counts.values()):.2f}")
        for source, counts in sorted(outcomes.items())
    ]
    rows.append(("all", *(str(total[name]) for name in OUTCOMES), f"{share[EXACT]:.2f}"))
    progress(
        f"{len(lines)} sentences: "
        + ", ".join(f"{name} {share[name]:.3f}" for name in OUTCOMES)
        + f", lost {lost}, asked back {asked / len(lines):.3f}"
        + (f" ({asked_exact} that the grammar alone reads exactly)" if alone is not None else "")
    )
    return Result(
        metrics=metrics,
        bars=(
            Bar("exact", share[EXACT], _LEAST_EXACT),
            Bar("exact or partial", right, _LEAST_RIGHT),
            Bar("misread", share[MISREAD], _MOST_MISREAD, at_least=False),
            Bar("lost constraints", float(lost), 0.0, at_least=False),
            *(
                [Bar("asked back of exact", metrics["asked_back_of_exact"], _MOST_ASKED, at_least=False)]
                if alone is not None
                else []
            ),
        ),
        tables=(Table("Sentences by source", ("source", *OUTCOMES, "exact share"), tuple(rows)),),
    )


def _parser(options: argparse.Namespace, progress: Callable[[str], None]) -> Callable[[str], Any]:
    from lodestar.assembly import parts
    from lodestar.assembly.config import GoalSelectorConfig
    from lodestar.language.config import ParserConfig

    if options.parser == "asking":
        return parts.directive_parser()
    if options.parser == "grammar":
        from lodestar.language.grammar import parse_directive

        return parse_directive
    try:
        chat = ChatConfig(options.model, options.base_url, key_variable=options.key_variable)
    except ValueError as error:
        raise BadOptions(str(error)) from error
    model = parts.directive_model(GoalSelectorConfig(parser=ParserConfig(True, chat)), progress)
    assert model is not None
    return model[0]


def _grammar_alone(options: argparse.Namespace) -> Callable[[str], Any] | None:
    """Return the baseline of parser "asking": the grammar, which accepts doubtful readings; else None."""

    from lodestar.language.grammar import parse_directive

    return parse_directive if options.parser == "asking" else None


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


BENCHMARK = Benchmark(
    "directives", "What a parser makes of sentences that people gave to robots.", _add_options, _run
)

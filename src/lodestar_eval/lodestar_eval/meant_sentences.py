"""Sentences of a YAML file with their meaning in shorthand, as lines that `directive_scores` compares.

A file maps a text to its meaning: steps in order, then prohibitions after "!"; "|" separates readings that are
equally right; "-" means that nothing is requested. "go hall; find mug ! lab" goes to the hall, finds the mug and
avoids the lab; "go red room/blue room" goes to either. Only kinds, heads and constraints are compared, no
relations.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from lodestar.language.directive import Directive
from lodestar_eval.directive_scores import OUTCOMES, Score, score_sentence

_PLACES = frozenset({"GO", "EXPLORE", "PATROL"})  # kinds of steps whose head is a room


def is_kept(text: str) -> bool:
    """Return whether the sentence belongs to the held-back half, which developers of a parser do not read."""
    return int(hashlib.sha1(text.encode()).hexdigest(), 16) % 2 == 1


def read_sentences(path: Path) -> list[dict[str, Any]]:
    """Return the sentences of a YAML file. Raises OSError or ValueError for a file of another form."""
    try:
        data = yaml.safe_load(path.read_text(encoding="utf-8"))
    except yaml.YAMLError as error:
        raise ValueError(f"{path} is no YAML: {error}") from error
    if not isinstance(data, dict):
        raise ValueError(f"{path} does not map texts to meanings")
    return [_line(str(text), str(meaning), path.stem) for text, meaning in data.items()]


def score_line(line: Mapping[str, Any], parse: Callable[[str], Directive]) -> Score:
    """Return the best score of a line over its equally right readings."""
    scores = [score_sentence(one, parse) for one in (line, *line.get("others", ()))]
    return min(scores, key=lambda score: OUTCOMES.index(score.outcome))


def _line(text: str, meaning: str, source: str) -> dict[str, Any]:
    readings = [
        {"id": text, "source": source, "text": text, "unable": [], "note": "", **_meaning(one.strip())}
        for one in meaning.split("|")
    ]
    return {**readings[0], "others": readings[1:]}


def _meaning(said: str) -> dict[str, Any]:
    steps, *forbidden = said.split("!")
    avoid = [{"target": one.strip(), "metres": None} for part in forbidden for one in part.split(";")]
    return {"steps": list(_steps(steps)), "avoid": avoid}


def _steps(said: str) -> Iterator[dict[str, Any]]:
    room = None
    for one in said.split(";"):
        kind, _, about = one.strip().partition(" ")
        if kind in ("", "-"):
            continue
        options = [option.strip() for option in about.split("/")] if "/" in about else []
        is_place = kind.upper() in _PLACES or (kind == "return" and about)
        if is_place:
            room = about or None
        yield {
            "kind": kind.upper(),
            "target": None if is_place or options else about or None,
            "count": 1,
            "any_of": options,
            "relations": [],
            "region": None if options else room,
            "seconds": None,
        }

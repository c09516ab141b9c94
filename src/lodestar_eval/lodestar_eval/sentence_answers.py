"""Answers to human sentences, and the causes of wrong ones."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from math import comb

import numpy as np

from lodestar.language.directive import DirectiveError
from lodestar.language.grammar import parse_query
from lodestar.language.query_graph import VIEWED, QueryGraph
from lodestar.models.phrases import PhraseBook
from lodestar.query.table import PredicateTable
from lodestar.query.verdict import Candidate, QueryConfig, prepare, score_pool
from lodestar_eval.referit import Rooms, Sentence

#: FARM D.2: geometric mean of predicate scores; w = 0.5, 0.3 for objects outside the class.
PAPER_CONFIG = QueryConfig(relation_weight=0.5, least_share=0.0, class_factor=0.3)
CAUSES = ("parse", "label mismatch", "missing relation", "wrong viewpoint", "wrong relation")
_TIE = 1e-6
_OF_CLASS = 0.5


@dataclass(frozen=True)
class SentenceAnswer:
    """One sentence with its answer. cause: "" if it is right."""

    sentence: Sentence
    answer: int | None
    graph: QueryGraph | None
    is_right: bool
    chance: float  # probability that a guess among objects of the target's class is right
    cause: str


def solve_rooms(
    rooms: Rooms, phrases: PhraseBook, table: PredicateTable | None = None, config: QueryConfig | None = None
) -> list[SentenceAnswer]:
    """Return the answer to every sentence of the rooms, from its text and the objects of its room."""
    pools = {
        scan: prepare(entities, phrases, config, table=table) for scan, entities in rooms.entities.items()
    }
    solved = []
    for sentence in rooms.sentences:
        graphs: tuple[QueryGraph, ...] = ()
        with suppress(DirectiveError):
            graphs = parse_query(sentence.text)
        candidates = score_pool(graphs, pools[sentence.scan])
        like = sum(e.label == sentence.kind for e in rooms.entities[sentence.scan].values())
        answer = candidates[0].entity_id if candidates else None
        right = answer == sentence.target
        cause = "" if right else _cause(sentence, graphs, candidates)
        solved.append(
            SentenceAnswer(sentence, answer, graphs[0] if graphs else None, right, 1.0 / max(like, 1), cause)
        )
    return solved


def _cause(sentence: Sentence, graphs: Sequence[QueryGraph], candidates: Sequence[Candidate]) -> str:
    """Return the cause of a wrong answer, the first that applies.

    Causes: no parse; the target is not of the class that was read; no predicate separates target and answer;
    the predicate that favours the answer most depends on the viewpoint, or does not.
    """
    if not graphs:
        return "parse"
    target = next((c for c in candidates if c.entity_id == sentence.target), None)
    best = candidates[0] if candidates else None
    if target is None or best is None or target.semantic_score < _OF_CLASS * best.semantic_score:
        return "label mismatch"
    if best.score - target.score < _TIE or not target.predicate_scores:
        return "missing relation"
    worst = max(
        target.predicate_scores,
        key=lambda name: best.predicate_scores.get(name, 0.0) - target.predicate_scores[name],
    )
    name = worst.removeprefix("not ").split(" ")[0].rstrip("^")
    return "wrong viewpoint" if name in VIEWED else "wrong relation"


def mcnemar(one: Sequence[bool], other: Sequence[bool]) -> tuple[int, int, float]:
    """Return the counts right in `one` only and in `other` only, and the exact two-sided p-value."""
    first, second = np.asarray(one, bool), np.asarray(other, bool)
    gained, lost = int((first & ~second).sum()), int((~first & second).sum())
    count, fewer = gained + lost, min(gained, lost)
    tail = sum(comb(count, k) for k in range(fewer + 1)) / 2**count
    return gained, lost, min(1.0, 2.0 * tail)

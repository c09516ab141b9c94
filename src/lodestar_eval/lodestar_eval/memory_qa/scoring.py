"""Scores of answers: success, recall, error, redundancy of the evidence, and risk over coverage."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from lodestar.models.lexicon import load_lexicon
from lodestar_eval.memory_qa.questions import (
    DURATION,
    NUMBER,
    PLACE,
    TIME,
    WORDS,
    YES_NO,
    Answer,
    Evidence,
    Gold,
    Question,
)

SCORE_DURATION_SHARE = 0.5  # largest error as a share of a duration; chosen: else 0 s would be right
SCORE_RECALLED = 6  # pieces of evidence that count for recall (STaR V)
SCORE_SLACK = 5.0  # seconds between a memory and a gold timestamp (STaR V)
SCORE_SAME_PLACE = 3.0  # metres between redundant pieces of evidence; chosen
SCORE_SAME_THINGS = 0.5  # Jaccard index of the entities of redundant pieces of evidence, at least; chosen


@dataclass(frozen=True)
class ScoreConfig:
    """Tolerances of a right answer and of a right memory."""

    place: float = 5.0  # metres (STaR V)
    time: float = 120.0  # seconds (STaR V)
    words: float = 2.0 / 3.0  # least F1 of the set; chosen: one of two things may be missing


@dataclass(frozen=True)
class Score:
    """Judgement of one answer. error: metres or seconds, NaN if undefined. recalled: whether the evidence
    contains a right memory; None without gold timestamps.

    redundancy: share of the pairs of evidence with the same content; NaN with fewer than two pieces.
    """

    right: bool
    error: float
    recalled: bool | None
    redundancy: float


def judge(question: Question, answer: Answer, config: ScoreConfig = ScoreConfig()) -> Score:
    """Return the score of an answer. "I do not know" and answers of another kind count as not right."""
    gold, evidence = question.gold, answer.evidence[:SCORE_RECALLED]
    answers = answer.known and answer.value == gold.value
    right, error = _judged(gold, answer, config) if answers else (False, math.nan)
    recalled = any(_is_gold(e, gold, SCORE_SLACK) for e in evidence) if gold.seen else None
    return Score(right, error, recalled, redundancy(evidence))


def _judged(gold: Gold, answer: Answer, config: ScoreConfig) -> tuple[bool, float]:
    if gold.value == PLACE:
        if answer.place is None or not np.all(np.isfinite(answer.place)):
            return False, math.nan
        error = min(float(np.linalg.norm(answer.place - place)) for place in gold.places)
        return error <= config.place, error
    if gold.value == TIME:
        if answer.time is None or not math.isfinite(answer.time):
            return False, math.nan
        error = min(max(a - answer.time, answer.time - b, 0.0) for a, b in gold.times)
        return error <= config.time, error
    if gold.value == DURATION:
        if answer.number is None or not math.isfinite(answer.number):
            return False, math.nan
        error = abs(answer.number - gold.number)
        return error <= min(config.time, SCORE_DURATION_SHARE * gold.number), error
    if gold.value == NUMBER:
        return answer.number == gold.number, math.nan
    if gold.value == YES_NO:
        return answer.yes is gold.yes, math.nan
    if gold.value == WORDS:
        return set_f1(answer.words, gold.words) >= config.words, math.nan
    raise ValueError(f"{gold.value!r} is no kind of gold")


def set_f1(said: frozenset[str], true: frozenset[str]) -> float:
    """Return the F1 of a set of words, with the lexicon's synonyms merged; 0 for an empty answer."""
    own, gold = {_canonical(w) for w in said}, {_canonical(w) for w in true}
    return 2.0 * len(own & gold) / (len(own) + len(gold)) if own and gold else 0.0


def _canonical(word: str) -> str:
    lexicon = load_lexicon()
    folded = word.casefold().strip()
    return lexicon.room(folded) or lexicon.attribute(folded) or lexicon.canonical(folded) or folded


def _is_gold(evidence: Evidence, gold: Gold, slack: float) -> bool:
    return any(evidence.start - slack <= b and evidence.end + slack >= a for a, b in gold.seen)


def redundancy(evidence: Sequence[Evidence]) -> float:
    """Return the share of pairs of evidence about the same place and objects; NaN for fewer than two."""
    pairs = list(combinations(evidence, 2))
    if not pairs:
        return math.nan
    return sum(_say_the_same(a, b) for a, b in pairs) / len(pairs)


def _say_the_same(a: Evidence, b: Evidence) -> bool:
    near = float(np.linalg.norm(a.position[:2] - b.position[:2])) <= SCORE_SAME_PLACE
    union = a.entity_ids | b.entity_ids
    shared = len(a.entity_ids & b.entity_ids) / len(union) if union else 1.0
    return near and shared >= SCORE_SAME_THINGS


def risk_coverage(confidences: Sequence[float], right: Sequence[bool], known: Sequence[bool]) -> np.ndarray:
    """Return the risk-coverage curve (N, 2): share of questions answered, and share of wrong answers among these,
    as the confidence threshold falls. "I do not know" counts as unanswered; equal confidences enter together.
    """
    total = len(confidences)
    order = sorted((k for k in range(total) if known[k]), key=lambda k: -confidences[k])
    points, wrong = [], 0
    for place, k in enumerate(order, start=1):
        wrong += not right[k]
        if place == len(order) or confidences[order[place]] < confidences[k]:
            points.append((place / total, wrong / place))
    return np.array(points).reshape(-1, 2)


def area_under_risk(curve: np.ndarray) -> float:
    """Return the mean risk over the coverage that a curve reaches; NaN for an empty one."""
    if not len(curve):
        return math.nan
    widths = np.diff(np.concatenate([[0.0], curve[:, 0]]))
    return float((widths * curve[:, 1]).sum() / curve[-1, 0])

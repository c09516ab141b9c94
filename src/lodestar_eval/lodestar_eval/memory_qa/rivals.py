"""Rivals of the robot's selection of evidence, with its signature: a row of the table changes nothing but that."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from lodestar.memory.config import BottleneckConfig
from lodestar.memory.evidence.induction import Embed, above_threshold, best_first, induce, similarities
from lodestar.memory.evidence.selection import Evidence, Piece, Selection, evidence_of
from lodestar.memory.requests import Hit

_DIVERSITY = 0.5  # weight of redundancy in MMR; the usual lambda


def cosine_evidence(
    hits: Sequence[Hit], cues: np.ndarray, embed: Embed, config: BottleneckConfig
) -> Evidence:
    """ReMEmbR's way: the captions with the highest scores."""
    return evidence_of([_whole(hit) for hit in best_first(hits)[: config.evidence]], config)


def object_caption_evidence(
    hits: Sequence[Hit], cues: np.ndarray, embed: Embed, config: BottleneckConfig
) -> Evidence:
    """OpenGraph's way: the objects whose captions are nearest to a cue, each in the memory that shows it largest."""
    induced = induce(hits, _unbounded(config))
    best = similarities(induced, cues, embed).max(axis=1, initial=-1.0)
    order = np.lexsort((induced.owners, -induced.pixels, induced.rows))
    firsts = np.unique(induced.rows[order], return_index=True)[1]
    largest = induced.owners[order][firsts]  # by row
    pieces: dict[int, Piece] = {}
    for row in np.argsort(-best, kind="stable"):
        owner = int(largest[row])
        if owner not in pieces and len(pieces) < config.evidence:
            pieces[owner] = Piece(induced.hits[owner], (induced.primitives[row],))
    return evidence_of(list(pieces.values()), config, len(induced.primitives))


def _unbounded(config: BottleneckConfig) -> BottleneckConfig:
    """Every caption counts: objects are ranked by their own words alone."""
    return replace(config, threshold=-np.inf, max_primitives=10 * config.max_primitives)


def mmr_evidence(hits: Sequence[Hit], cues: np.ndarray, embed: Embed, config: BottleneckConfig) -> Evidence:
    """Maximal marginal relevance (Carbonell and Goldstein 1998) over the captions' vectors."""
    ranked = best_first(hits)
    if not ranked:
        return Evidence()
    scores = np.array([hit.score for hit in ranked])
    width = max((len(hit.vector) for hit in ranked if hit.vector is not None), default=1)
    vectors = np.stack([np.zeros(width) if hit.vector is None else hit.vector for hit in ranked])
    chosen: list[int] = []
    likeness = np.zeros(len(ranked))
    for _ in range(min(config.evidence, len(ranked))):
        value = (1.0 - _DIVERSITY) * scores - _DIVERSITY * likeness
        value[chosen] = -np.inf
        best = int(np.argmax(value))
        chosen.append(best)
        likeness = (
            np.maximum(likeness, vectors @ vectors[best]) if len(chosen) > 1 else vectors @ vectors[best]
        )
    return evidence_of([_whole(ranked[i]) for i in chosen], config)


def stratified_evidence(
    hits: Sequence[Hit], cues: np.ndarray, embed: Embed, config: BottleneckConfig
) -> Evidence:
    """The best caption above the threshold from each of `evidence` equal parts of the time that the hits span."""
    ranked = above_threshold(hits, config.threshold)
    if not ranked:
        return Evidence()
    starts = np.array([hit.memory.start for hit in ranked])
    span = max(float(np.ptp(starts)), 1e-9)
    part = np.minimum((starts - starts.min()) / span * config.evidence, config.evidence - 1).astype(int)
    firsts = sorted(np.unique(part, return_index=True)[1])
    return evidence_of([_whole(ranked[i]) for i in firsts], config)


def _whole(hit: Hit) -> Piece:
    return Piece(hit, hit.memory.primitives)


#: Rivals by the name of their rule.
RIVALS: dict[str, Selection] = {
    "cosine": cosine_evidence,
    "object_captions": object_caption_evidence,
    "mmr": mmr_evidence,
    "time_stratified": stratified_evidence,
}

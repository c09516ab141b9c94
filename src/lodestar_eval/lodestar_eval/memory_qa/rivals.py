"""Baselines for the robot's selection of evidence; each function has the signature of the robot's own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from lodestar.memory.config import BottleneckConfig
from lodestar.memory.evidence.induction import Embed, above_threshold, best_first, induce, similarities
from lodestar.memory.evidence.selection import BOTTLENECK_EVIDENCE, Evidence, Piece, Selection, evidence_of
from lodestar.memory.requests import Hit

_DIVERSITY = 0.5  # weight of redundancy in MMR; the usual lambda


def cosine_evidence(
    hits: Sequence[Hit], cues: np.ndarray, embed: Embed, config: BottleneckConfig
) -> Evidence:
    """Return the captions with the highest scores as evidence, like ReMEmbR."""
    return evidence_of([_whole(hit) for hit in best_first(hits)[:BOTTLENECK_EVIDENCE]])


def object_caption_evidence(
    hits: Sequence[Hit], cues: np.ndarray, embed: Embed, config: BottleneckConfig
) -> Evidence:
    """Return the object captions nearest to a cue, each with the memory of its largest view (OpenGraph)."""
    induced = induce(hits, _unbounded(config))
    best = similarities(induced, cues, embed).max(axis=1, initial=-1.0)
    order = np.lexsort((induced.owners, -induced.pixels, induced.rows))
    firsts = np.unique(induced.rows[order], return_index=True)[1]
    largest = induced.owners[order][firsts]  # per caption the memory with the largest view
    pieces: dict[int, Piece] = {}
    for row in np.argsort(-best, kind="stable"):
        owner = int(largest[row])
        if owner not in pieces and len(pieces) < BOTTLENECK_EVIDENCE:
            pieces[owner] = Piece(induced.hits[owner], (induced.primitives[row],))
    return evidence_of(list(pieces.values()), len(induced.primitives))


def _unbounded(config: BottleneckConfig) -> BottleneckConfig:
    """Return a configuration without limits, so that objects are ranked by their own captions alone."""
    return replace(config, threshold=-np.inf, max_primitives=10 * config.max_primitives)


def mmr_evidence(hits: Sequence[Hit], cues: np.ndarray, embed: Embed, config: BottleneckConfig) -> Evidence:
    """Return evidence by maximal marginal relevance (Carbonell and Goldstein 1998) over the captions' vectors."""
    ranked = best_first(hits)
    if not ranked:
        return Evidence()
    scores = np.array([hit.score for hit in ranked])
    width = max((len(hit.vector) for hit in ranked if hit.vector is not None), default=1)
    vectors = np.stack([np.zeros(width) if hit.vector is None else hit.vector for hit in ranked])
    chosen: list[int] = []
    likeness = np.zeros(len(ranked))
    for _ in range(min(BOTTLENECK_EVIDENCE, len(ranked))):
        value = (1.0 - _DIVERSITY) * scores - _DIVERSITY * likeness
        value[chosen] = -np.inf
        best = int(np.argmax(value))
        chosen.append(best)
        likeness = (
            np.maximum(likeness, vectors @ vectors[best]) if len(chosen) > 1 else vectors @ vectors[best]
        )
    return evidence_of([_whole(ranked[i]) for i in chosen])


def stratified_evidence(
    hits: Sequence[Hit], cues: np.ndarray, embed: Embed, config: BottleneckConfig
) -> Evidence:
    """Return the best caption above the threshold from each of `evidence` equal parts of the hits' time span."""
    ranked = above_threshold(hits, config.threshold)
    if not ranked:
        return Evidence()
    starts = np.array([hit.memory.start for hit in ranked])
    span = max(float(np.ptp(starts)), 1e-9)
    part = np.minimum((starts - starts.min()) / span * BOTTLENECK_EVIDENCE, BOTTLENECK_EVIDENCE - 1).astype(
        int
    )
    firsts = sorted(np.unique(part, return_index=True)[1])
    return evidence_of([_whole(ranked[i]) for i in firsts])


def _whole(hit: Hit) -> Piece:
    return Piece(hit, hit.memory.primitives)


#: Baselines by the name of their rule.
RIVALS: dict[str, Selection] = {
    "cosine": cosine_evidence,
    "object_captions": object_caption_evidence,
    "mmr": mmr_evidence,
    "time_stratified": stratified_evidence,
}

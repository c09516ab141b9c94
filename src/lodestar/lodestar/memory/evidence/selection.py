"""Selection of evidence for an answer: few memories that are relevant and not redundant (STaR eq. 8 to 11)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from lodestar.memory.config import BottleneckConfig
from lodestar.memory.evidence.bottleneck import information, merge, neighbours, task_conditional
from lodestar.memory.evidence.induction import Embed, InducedPrimitives, induce, similarities
from lodestar.memory.records import Memory, Primitive
from lodestar.memory.requests import Hit

BOTTLENECK_EVIDENCE = 6  # pieces of evidence, K of eq. 10 (ReMEmbR's window, STaR VI-2)
# largest extent of a cluster in plan, metres: else a chain of similar objects merges a whole aisle into one
# cluster. The paper has no such bound; chosen: the distance at which an answer counts as right (STaR V-3)
BOTTLENECK_MAX_SPAN = 5.0
BOTTLENECK_ALPHA = 0.35  # of eq. 6: cosine below which a thing has nothing to do with a cue; chosen
BOTTLENECK_TOP_TASKS = 2  # k of eq. 7; as in Clio, which introduced the formula
BOTTLENECK_MAX_LOSS = 0.02  # delta bar: share of the task information that one merge may lose; chosen
BOTTLENECK_REACH = 1.0  # metres between the boxes of neighbours; chosen, ADR 0039
BOTTLENECK_MAX_NEIGHBORS = 16  # most neighbours of a primitive, the nearest; bounds the graph
# 0..1, weight of the objects' names in a caption's relevance phi of eq. 9 and 10; 0 = only the caption, as in
# the paper. Chosen: a long caption dilutes the one object that is asked for
BOTTLENECK_THINGS_SHARE = 0.5
# 0..1, share of the best caption's relevance from which captions are ordered by time, see `_by_time`; chosen
BOTTLENECK_SAME_WORTH = 0.8
BOTTLENECK_KEYFRAMES = 6  # most images of the evidence; one per piece


@dataclass(frozen=True)
class Piece:
    """One memory of the evidence. primitives: objects that it stands for, most relevant first, or none."""

    hit: Hit
    primitives: tuple[Primitive, ...] = ()


@dataclass(frozen=True)
class Evidence:
    """Evidence for an answer: memories by falling relevance, each at most with one keyframe.

    induced: number of primitives (objects at a place) considered. clusters: number of relevant clusters.
    """

    pieces: tuple[Piece, ...] = ()
    keyframe_ids: tuple[int, ...] = ()
    induced: int = 0
    clusters: int = 0


#: Rule that selects at most BOTTLENECK_EVIDENCE pieces for hits by (m, D) float32 unit rows of the phrases.
#: Raises the errors of embed (MissingPhrases).
Selection = Callable[[Sequence[Hit], np.ndarray, Embed, BottleneckConfig], Evidence]


# --- STaR -----------------------------------------------------------------------------------------------------------


def bottleneck_evidence(
    hits: Sequence[Hit], cues: np.ndarray, embed: Embed, config: BottleneckConfig
) -> Evidence:
    """Return the evidence by STaR's rule: the best caption of each cluster of primitives.

    At most BOTTLENECK_EVIDENCE captions are returned. cues: (m, D) unit vectors of the question's search
    phrases.
    """
    return _by_groups(hits, cues, embed, config, _clustered)


def unclustered_evidence(
    hits: Sequence[Hit], cues: np.ndarray, embed: Embed, config: BottleneckConfig
) -> Evidence:
    """Return the evidence by STaR's rule without the bottleneck: each relevant primitive is its own cluster."""
    return _by_groups(hits, cues, embed, config, _alone)


def _clustered(induced: InducedPrimitives, conditional: np.ndarray, relevant: np.ndarray) -> np.ndarray:
    """Return (R,) int, the cluster of each of R relevant primitives.

    conditional: p(y | x) of all primitives. relevant: indices of primitives that belong to a cue, not to the
    null task.
    """
    every = len(conditional)
    total = information(conditional, np.full(every, 1.0 / every))
    boxes = induced.low[relevant], induced.high[relevant]
    pairs = neighbours(*boxes, BOTTLENECK_REACH, BOTTLENECK_MAX_NEIGHBORS)
    clusters = merge(
        conditional[relevant], pairs, BOTTLENECK_MAX_LOSS,
        boxes=boxes, max_span=BOTTLENECK_MAX_SPAN, total=total, count=every,
    )  # fmt: skip
    return clusters.labels


def _alone(induced: InducedPrimitives, conditional: np.ndarray, relevant: np.ndarray) -> np.ndarray:
    return np.arange(len(relevant))


def _by_groups(
    hits: Sequence[Hit],
    cues: np.ndarray,
    embed: Embed,
    config: BottleneckConfig,
    grouping: Callable[[InducedPrimitives, np.ndarray, np.ndarray], np.ndarray],
) -> Evidence:
    induced = induce(hits, config)
    if not induced.hits:
        return Evidence()
    cosines = similarities(induced, cues, embed)
    conditional = task_conditional(cosines, BOTTLENECK_ALPHA, BOTTLENECK_TOP_TASKS)
    relevant = np.flatnonzero(conditional[:, 0] < 1.0)
    labels = np.full(len(conditional), -1, np.int64)
    if len(relevant):
        labels[relevant] = grouping(induced, conditional, relevant)
    worth = _worth(induced, cosines, BOTTLENECK_THINGS_SHARE)
    order = np.argsort(-worth, kind="stable")
    best = cosines.max(axis=1, initial=0.0)
    chosen = {*_representatives(induced, labels, worth), *_silent(induced)}
    ranked = [int(i) for i in order if int(i) in chosen][:BOTTLENECK_EVIDENCE]  # eq. 10
    ranked = _in_time(ranked, induced, labels, best, config)
    ranked = _filled(ranked, induced, labels, _by_time(order, worth, induced, config), BOTTLENECK_EVIDENCE)
    pieces = [Piece(induced.hits[i], _shown(induced, i, labels, best)) for i in ranked]
    return evidence_of(pieces, len(induced.primitives), int(labels.max(initial=-1)) + 1)


def _worth(induced: InducedPrimitives, cosines: np.ndarray, share: float) -> np.ndarray:
    """Return the relevance phi (H,) of eq. 9 for H captions.

    It is (1 - share) * caption score + share * mean over the cues of the best object's cosine. So a caption
    whose objects match all cues of "the mug on the desk" scores higher than one with mugs only.
    """
    scores = np.array([hit.score for hit in induced.hits])
    best = np.full((len(scores), cosines.shape[1]), -np.inf)
    if len(induced.owners):  # ascending
        firsts = np.flatnonzero(np.diff(induced.owners, prepend=-1))
        best[induced.owners[firsts]] = np.maximum.reduceat(cosines[induced.rows], firsts)
    shows = np.isfinite(best).all(axis=1)
    worth = scores.copy()
    worth[shows] = (1.0 - share) * scores[shows] + share * best[shows].mean(axis=1)
    return worth


def _representatives(induced: InducedPrimitives, labels: np.ndarray, worth: np.ndarray) -> list[int]:
    """Return the index of the most relevant hit of each cluster (eq. 8, 9).

    Of equally relevant hits, the one that shows the largest part of the cluster is chosen.
    """
    group = labels[induced.rows]
    inside = group >= 0
    group, owner, pixels = group[inside], induced.owners[inside], induced.pixels[inside]
    order = np.lexsort((owner, -pixels, -worth[owner], group))
    firsts = np.unique(group[order], return_index=True)[1]
    return [int(i) for i in owner[order][firsts]]


def _in_time(
    ranked: list[int],
    induced: InducedPrimitives,
    labels: np.ndarray,
    relevance: np.ndarray,
    config: BottleneckConfig,
) -> list[int]:
    """Return the chosen hits, each followed by the first or last hit that shows its most relevant primitive.

    The chosen hit identifies the object, the added one gives the time. So only half as many clusters fit for
    a question about a time. The clusters and their order stay those of eq. 8 to 10. relevance: (P,) of the
    primitives.
    """
    if config.representative == "relevant":
        return ranked
    times = np.array([hit.memory.start for hit in induced.hits])
    pick = np.argmax if config.representative == "last" else np.argmin
    found: dict[int, None] = {}
    for i in ranked:
        own = induced.rows[induced.owners == i]
        own = own[labels[own] >= 0]
        pair = {i: None}
        if len(own):
            showing = induced.owners[induced.rows == own[np.argmax(relevance[own])]]
            pair[int(showing[pick(times[showing])])] = None
        if len(found | pair) <= BOTTLENECK_EVIDENCE:
            found |= pair
    return list(found)


def _by_time(
    order: np.ndarray, worth: np.ndarray, induced: InducedPrimitives, config: BottleneckConfig
) -> np.ndarray:
    """Return the indices of the hits in the order in which they fill up the evidence (see `_filled`).

    For questions about a time, hits that are nearly as relevant as the best are sorted by time.
    """
    if config.representative == "relevant" or not len(order):
        return order
    times = np.array([hit.memory.start for hit in induced.hits])
    near = worth >= BOTTLENECK_SAME_WORTH * worth[order[0]]
    early = times if config.representative == "first" else -times
    return np.concatenate(
        [order[near[order]][np.argsort(early[order[near[order]]], kind="stable")], order[~near[order]]]
    )


def _silent(induced: InducedPrimitives) -> list[int]:
    """Return indices of the hits that show no entity, such as operators' statements, one hit per text.

    Eq. 8 leaves such hits out.
    """
    once: dict[str, int] = {}
    for i, hit in enumerate(induced.hits):
        if not hit.memory.primitives:
            once.setdefault(hit.memory.text.casefold(), i)
    return list(once.values())


def _filled(
    ranked: list[int], induced: InducedPrimitives, labels: np.ndarray, order: np.ndarray, most: int
) -> list[int]:
    """Return the ranked hits, filled up to `most` with others, in the order of `order`.

    Hits that show new relevant primitives are added first, then the most relevant ones. The paper leaves
    these places empty. order: (H,) hits, most relevant first.
    """
    if len(ranked) >= most:
        return ranked
    shown: list[set[int]] = [set() for _ in induced.hits]
    for row, owner in zip(induced.rows.tolist(), induced.owners.tolist()):
        if labels[row] >= 0:
            shown[owner].add(row)
    kept = list(ranked)
    seen: set[int] = set().union(*(shown[i] for i in kept))
    for i in order.tolist():
        if len(kept) < most and i not in kept and shown[i] - seen:
            kept.append(i)
            seen |= shown[i]
    spare = [i for i in order.tolist() if i not in kept]
    kept += spare[: most - len(kept)]
    return [i for i in order.tolist() if i in kept]


def _shown(
    induced: InducedPrimitives, owner: int, labels: np.ndarray, relevance: np.ndarray
) -> tuple[Primitive, ...]:
    """Return the relevant primitives of a hit, in their state at its time, most relevant first."""
    rows = induced.rows[induced.owners == owner]
    sound = {int(row): p for row, p in zip(rows, _sound(induced.hits[owner].memory))}
    kept = sorted((row for row in sound if labels[row] >= 0), key=lambda row: (-relevance[row], row))
    return tuple(sound[row] for row in kept)


def _sound(memory: Memory) -> list[Primitive]:
    return [p for p in memory.primitives if np.isfinite(p.centre).all() and np.isfinite(p.size).all()]


def evidence_of(pieces: Sequence[Piece], induced: int = 0, clusters: int = 0) -> Evidence:
    """Return the pieces as evidence; each piece's image is the keyframe in the middle of its memory."""
    memories = [piece.hit.memory for piece in pieces]
    ids = [memory.keyframe_ids[len(memory.keyframe_ids) // 2] for memory in memories if memory.keyframe_ids]
    return Evidence(tuple(pieces), tuple(dict.fromkeys(ids))[:BOTTLENECK_KEYFRAMES], induced, clusters)


#: Rules that select evidence, by name.
SELECTIONS: dict[str, Selection] = {"ours": bottleneck_evidence, "without_ib": unclustered_evidence}

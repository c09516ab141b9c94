"""Evidence for an answer: few memories that say much and not the same (STaR eq. 8 to 11)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from lodestar.memory.config import BottleneckConfig
from lodestar.memory.evidence.bottleneck import information, merge, neighbours, task_conditional
from lodestar.memory.evidence.induction import Embed, InducedPrimitives, induce, similarities
from lodestar.memory.records import Memory, Primitive
from lodestar.memory.requests import Hit


@dataclass(frozen=True)
class Piece:
    """One memory of the evidence. primitives: those for which it stands, the most relevant first; may be empty."""

    hit: Hit
    primitives: tuple[Primitive, ...] = ()


@dataclass(frozen=True)
class Evidence:
    """Pieces by falling relevance. induced: primitives that were looked at. clusters: relevant ones."""

    pieces: tuple[Piece, ...] = ()
    keyframe_ids: tuple[int, ...] = ()
    induced: int = 0
    clusters: int = 0


class Selection(Protocol):
    """A way to select evidence; a benchmark has others. cues: (m, D) float32 unit rows of the question's phrases."""

    def __call__(
        self, hits: Sequence[Hit], cues: np.ndarray, embed: Embed, config: BottleneckConfig
    ) -> Evidence:
        """Return at most `config.evidence` pieces. Raises what embed raises (MissingPhrases)."""
        ...


# --- STaR -----------------------------------------------------------------------------------------------------------


def bottleneck_evidence(
    hits: Sequence[Hit], cues: np.ndarray, embed: Embed, config: BottleneckConfig
) -> Evidence:
    """STaR: the best caption of every cluster of the induced primitives, the best `evidence` of them."""
    return _by_groups(hits, cues, embed, config, _clustered)


def unclustered_evidence(
    hits: Sequence[Hit], cues: np.ndarray, embed: Embed, config: BottleneckConfig
) -> Evidence:
    """The same without the bottleneck: every relevant primitive is a cluster of its own."""
    return _by_groups(hits, cues, embed, config, _alone)


def _clustered(
    induced: InducedPrimitives, conditional: np.ndarray, relevant: np.ndarray, config: BottleneckConfig
) -> np.ndarray:
    """Return (R,) int, the cluster of each relevant primitive. What has nothing to do with the task is masked."""
    every = len(conditional)
    total = information(conditional, np.full(every, 1.0 / every))
    boxes = induced.low[relevant], induced.high[relevant]
    pairs = neighbours(*boxes, config.reach, config.max_neighbors)
    clusters = merge(
        conditional[relevant], pairs, config.max_loss,
        boxes=boxes, max_span=config.max_span, total=total, count=every,
    )  # fmt: skip
    return clusters.labels


def _alone(
    induced: InducedPrimitives, conditional: np.ndarray, relevant: np.ndarray, config: BottleneckConfig
) -> np.ndarray:
    return np.arange(len(relevant))


def _by_groups(
    hits: Sequence[Hit],
    cues: np.ndarray,
    embed: Embed,
    config: BottleneckConfig,
    grouping: Callable[[InducedPrimitives, np.ndarray, np.ndarray, BottleneckConfig], np.ndarray],
) -> Evidence:
    induced = induce(hits, config)
    if not induced.hits:
        return Evidence()
    cosines = similarities(induced, cues, embed)
    conditional = task_conditional(cosines, config.alpha, config.top_tasks)
    relevant = np.flatnonzero(conditional[:, 0] < 1.0)
    labels = np.full(len(conditional), -1, np.int64)
    if len(relevant):
        labels[relevant] = grouping(induced, conditional, relevant, config)
    worth = _worth(induced, cosines, config.things_share)
    order = np.argsort(-worth, kind="stable")
    best = cosines.max(axis=1, initial=0.0)
    chosen = {*_representatives(induced, labels, worth), *_silent(induced)}
    ranked = [int(i) for i in order if int(i) in chosen][: config.evidence]  # eq. 10
    ranked = _in_time(ranked, induced, labels, best, config)
    ranked = _filled(ranked, induced, labels, _by_time(order, worth, induced, config), config.evidence)
    pieces = [Piece(induced.hits[i], _shown(induced, i, labels, best)) for i in ranked]
    return evidence_of(pieces, config, len(induced.primitives), int(labels.max(initial=-1)) + 1)


def _worth(induced: InducedPrimitives, cosines: np.ndarray, share: float) -> np.ndarray:
    """Return phi (H,) of eq. 9: the caption's score, and the mean over the cues of the best thing in it for each.

    A caption whose things answer all cues of "the mug on the desk" is worth more than one with mugs alone.
    """
    scores = np.array([hit.score for hit in induced.hits])
    best = np.full((len(scores), cosines.shape[1]), -np.inf)
    if len(induced.owners):  # rising
        firsts = np.flatnonzero(np.diff(induced.owners, prepend=-1))
        best[induced.owners[firsts]] = np.maximum.reduceat(cosines[induced.rows], firsts)
    shows = np.isfinite(best).all(axis=1)
    worth = scores.copy()
    worth[shows] = (1.0 - share) * scores[shows] + share * best[shows].mean(axis=1)
    return worth


def _representatives(induced: InducedPrimitives, labels: np.ndarray, worth: np.ndarray) -> list[int]:
    """Return the most relevant hit of every cluster (eq. 8, 9); the one that shows most of it among equals."""
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
    """Return the hits, and beside each the first or last that shows the same most relevant primitive.

    Clusters and their order stay those of eq. 8 to 10; the representative tells which thing is meant, the other when
    it was seen. Where a time is asked for, half as many clusters have room. relevance: (P,) of the primitives.
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
        if len(found | pair) <= config.evidence:
            found |= pair
    return list(found)


def _by_time(
    order: np.ndarray, worth: np.ndarray, induced: InducedPrimitives, config: BottleneckConfig
) -> np.ndarray:
    """Return the hits in the order in which room is filled: where a time is asked for, those that are nearly as
    relevant as the best come in the order of time.
    """
    if config.representative == "relevant" or not len(order):
        return order
    times = np.array([hit.memory.start for hit in induced.hits])
    near = worth >= config.same_worth * worth[order[0]]
    early = times if config.representative == "first" else -times
    return np.concatenate(
        [order[near[order]][np.argsort(early[order[near[order]]], kind="stable")], order[~near[order]]]
    )


def _silent(induced: InducedPrimitives) -> list[int]:
    """Return hits that show no entity, such as an operator's word: one for each text; eq. 8 has no place for them."""
    once: dict[str, int] = {}
    for i, hit in enumerate(induced.hits):
        if not hit.memory.primitives:
            once.setdefault(hit.memory.text.casefold(), i)
    return list(once.values())


def _filled(
    ranked: list[int], induced: InducedPrimitives, labels: np.ndarray, order: np.ndarray, most: int
) -> list[int]:
    """Return the hits, with others added while there is room: first those that show a relevant primitive that none
    of them shows, then the best. The paper leaves the room empty. order: (H,) hits, most relevant first.
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
    """Return the relevant primitives of a hit, as they were when it was made, most relevant first."""
    rows = induced.rows[induced.owners == owner]
    sound = {int(row): p for row, p in zip(rows, _sound(induced.hits[owner].memory))}
    kept = sorted((row for row in sound if labels[row] >= 0), key=lambda row: (-relevance[row], row))
    return tuple(sound[row] for row in kept)


def _sound(memory: Memory) -> list[Primitive]:
    return [p for p in memory.primitives if np.isfinite(p.centre).all() and np.isfinite(p.size).all()]


def evidence_of(
    pieces: Sequence[Piece], config: BottleneckConfig, induced: int = 0, clusters: int = 0
) -> Evidence:
    """Return the pieces with an image of each: the keyframe in its middle."""
    memories = [piece.hit.memory for piece in pieces]
    ids = [memory.keyframe_ids[len(memory.keyframe_ids) // 2] for memory in memories if memory.keyframe_ids]
    return Evidence(tuple(pieces), tuple(dict.fromkeys(ids))[: config.keyframes], induced, clusters)


#: The rules by name, as `AnsweringConfig.selection` has them.
SELECTIONS: dict[str, Selection] = {"ours": bottleneck_evidence, "without_ib": unclustered_evidence}

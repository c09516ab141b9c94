"""Clusters of primitives with the same meaning for a question (STaR eq. 3 to 7, agglomerative Information Bottleneck).

Eq. 4 as printed is negative, because a merge never gains information: the loss is I(k-1) - I(k). With the priors of
the two clusters as weights of the Jensen-Shannon divergence, d_ij of eq. 3 is exactly that loss (Slonim and Tishby).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lodestar.memory.evidence.bottleneck_kernels import among_nearest, merge_greedily, near_pairs

_NOTHING = 1e-12  # nats; smaller losses are rounding errors


@dataclass(frozen=True)
class Clusters:
    """Clustering of P primitives (objects in captions) into C clusters.

    y = the null task (column 0) and m cues (search phrases of the question). labels: (P,) int, cluster of
    each primitive, numbered from 0 in the order of their first primitives. conditional: (C, m + 1), p(y |
    cluster). prior: (C,). losses: (merges,), each as a share of the information at the start.
    """

    labels: np.ndarray
    conditional: np.ndarray
    prior: np.ndarray
    losses: np.ndarray


def task_conditional(similarity: np.ndarray, alpha: float, top: int) -> np.ndarray:
    """Return p(y | x), (P, m + 1), of eq. 6 and 7 for P primitives, the null task (column 0) and m cues.

    similarity: cosines (P, m) of the primitives and cues. A row whose cosines are all below alpha belongs to
    the null task. In the others the sum over l = 1..k of gamma_l keeps the k = `top` best scores with weights
    k, k - 1, ..., 1. A cosine that is not finite counts as 0.
    """
    similarity = np.asarray(similarity, np.float64)
    scores = np.clip(np.nan_to_num(similarity, nan=0.0, posinf=0.0, neginf=0.0), 0.0, 1.0)
    theta = np.concatenate([np.full((len(scores), 1), alpha), scores], axis=1)
    order = np.argsort(-theta, axis=1, kind="stable")
    rank = np.empty_like(order)
    np.put_along_axis(rank, order, np.broadcast_to(np.arange(theta.shape[1]), theta.shape), axis=1)
    kept = theta * np.maximum(top - rank, 0)
    irrelevant = scores.max(axis=1, initial=0.0) < alpha
    kept[irrelevant] = 0.0
    kept[irrelevant, 0] = 1.0
    total = kept.sum(axis=1, keepdims=True)
    empty = total[:, 0] <= 0.0  # alpha is 0 and no cosine is above 0
    kept[empty, 0] = total[empty] = 1.0
    return kept / total


def information(conditional: np.ndarray, prior: np.ndarray) -> float:
    """Return I(X; Y) of eq. 5, nats, from p(y | x) (P, m) and p(x) (P,) of P primitives and m tasks."""
    if not len(conditional):
        return 0.0
    marginal = prior @ conditional
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(conditional > 0.0, conditional * np.log(conditional / marginal), 0.0)
    return max(float(prior @ terms.sum(axis=1)), 0.0)


def neighbours(low: np.ndarray, high: np.ndarray, reach: float, most: int) -> np.ndarray:
    """Return index pairs (E, 2) of P boxes at most `reach` metres apart.

    Of each box, pairs with its `most` nearest boxes by centre are kept. low, high: (P, 3) corners, metres.
    Boxes are swept along the axis of the largest spread, so that boxes far apart on it are never compared.
    """
    count = len(low)
    if count < 2 or most < 1:
        return np.zeros((0, 2), np.int64)
    low, high = np.ascontiguousarray(low, np.float64), np.ascontiguousarray(high, np.float64)
    axis = int(np.argmax(np.ptp(low + high, axis=0)))
    order = np.argsort(low[:, axis], kind="stable")
    pairs = np.empty((16 * count, 2), np.int64)
    found = near_pairs(low, high, order, axis, reach, pairs)
    if found > len(pairs):
        pairs = np.empty((found, 2), np.int64)
        near_pairs(low, high, order, axis, reach, pairs)
    pairs = pairs[:found]
    if found > count * most // 2:
        apart = np.linalg.norm((low + high)[pairs[:, 0]] - (low + high)[pairs[:, 1]], axis=1)
        kept = np.zeros(found, np.bool_)
        among_nearest(pairs, np.argsort(apart, kind="stable"), most, kept)
        pairs = pairs[kept]
    return pairs[np.argsort(pairs[:, 0] * count + pairs[:, 1])]


def merge(
    conditional: np.ndarray,
    pairs: np.ndarray,
    max_loss: float,
    *,
    boxes: tuple[np.ndarray, np.ndarray] | None = None,
    max_span: float = np.inf,
    total: float | None = None,
    count: int = 0,
) -> Clusters:
    """Merge neighbours greedily by the least d_ij of eq. 3 until a merge would lose more than `max_loss` (eq. 4).

    conditional: (P, m + 1), p(y | x). pairs: (E, 2) neighbours. boxes: corners (P, 3); no cluster becomes wider in
    plan than max_span metres. If these primitives are part of a larger set, total is its information in nats and count
    its size. O(P^2 + E log E) time, P^2 bytes.
    """
    size = len(conditional)
    mass = np.full(size, 1.0 / max(count, size, 1))
    if total is None:
        total = information(conditional, mass)
    joint = conditional * mass[:, None]
    root, losses = np.arange(size), np.zeros(size)
    corners = (np.zeros((size, 2)), np.zeros((size, 2))) if boxes is None else boxes
    low, high = (np.array(corner[:, :2], np.float64) for corner in corners)
    bound = max_loss * total + _NOTHING
    merges = merge_greedily(joint, mass, low, high, pairs, max_span, bound, _NOTHING, root, losses)
    while not np.array_equal(root, root[root]):
        root = root[root]
    firsts, first_rows, labels = np.unique(root, return_index=True, return_inverse=True)
    order = np.argsort(first_rows, kind="stable")
    number = np.argsort(order, kind="stable")
    kept = firsts[order]
    shares = losses[:merges] / total if total > 0.0 else np.zeros(merges)
    return Clusters(number[labels], joint[kept] / mass[kept, None], mass[kept], shares)

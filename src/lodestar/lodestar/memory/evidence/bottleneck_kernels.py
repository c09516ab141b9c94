"""Compiled loops of the Information Bottleneck: pairs of near boxes, and greedy merges with a heap."""

from __future__ import annotations

import heapq
import math
from typing import Any

import numpy as np
from numba import njit


@njit(cache=True)
def near_pairs(low, high, order, axis, reach, pairs):
    """Write index pairs of P boxes at most `reach` metres apart into `pairs`; return their number.

    low, high: (P, 3) corners. order: (P,) boxes sorted by the lower corner on `axis`. pairs: (capacity, 2);
    the number may exceed the capacity, but nothing is written beyond it.
    """
    count = 0
    size = len(order)
    for k in range(size):
        a = order[k]
        limit = high[a, axis] + reach
        for n in range(k + 1, size):
            b = order[n]
            if low[b, axis] > limit:
                break
            gap2 = 0.0
            for i in range(3):
                gap = max(low[a, i] - high[b, i], low[b, i] - high[a, i])
                if gap > 0.0:
                    gap2 += gap * gap
            if gap2 <= reach * reach:
                if count < len(pairs):
                    pairs[count, 0] = min(a, b)
                    pairs[count, 1] = max(a, b)
                count += 1
    return count


@njit(cache=True)
def among_nearest(pairs, by_distance, most, kept):
    """Mark in kept (E,) bool the pairs that are among the `most` nearest pairs of either member.

    by_distance: (E,) indices of the E pairs, nearest first. kept: all False at the start.
    """
    met = np.zeros(pairs.max() + 1, np.int64)
    for row in by_distance:
        a, b = pairs[row, 0], pairs[row, 1]
        kept[row] = met[a] < most or met[b] < most
        met[a] += 1
        met[b] += 1


@njit(cache=True)
def own_term(joint, mass):
    """Return the entropy term F(q) = sum q log q - |q| log |q| of p(x, y) (m,) with p(x) = |q| = mass."""
    total = -mass * math.log(mass)
    for q in joint:
        if q > 0.0:
            total += q * math.log(q)
    return total


@njit(cache=True)
def _loss(joint, mass, own, i, j, nothing):
    """Return the information lost by merging clusters i and j: (p_i + p_j) JS(i, j) = F_i + F_j - F_ij.

    own: F of each cluster. A loss below `nothing` is returned as 0.
    """
    both = mass[i] + mass[j]
    total = own[i] + own[j] + both * math.log(both)
    for y in range(joint.shape[1]):
        q = joint[i, y] + joint[j, y]
        if q > 0.0:
            total -= q * math.log(q)
    return total if total >= nothing else 0.0


@njit(cache=True)
def _too_wide(low, high, i, j, span):
    for axis in range(low.shape[1]):
        if max(high[i, axis], high[j, axis]) - min(low[i, axis], low[j, axis]) > span:
            return True
    return False


@njit(cache=True)
def merge_greedily(joint, mass, low, high, pairs, span, bound, nothing, root, losses):
    """Merge clusters in place, the pair with the least loss first; return the number of merges.

    joint: (P, m + 1), p(x, y) of P primitives and m cues. mass: (P,), p(x). low, high: (P, d) extents of the
    clusters, metres; a merged cluster may not be wider than `span` on an axis. bound: largest loss of a
    merge. root: (P,), the cluster into which each was merged; itself at the start. losses: (P,) out. A
    cluster that changes gets a new age; heap entries with an old age are void. A pair above the bound is not
    queued: its loss changes only if a member changes, and then it is computed anew.
    """
    size = len(mass)
    own = np.empty(size)
    for i in range(size):
        own[i] = own_term(joint[i], mass[i])
    beside = np.zeros((size, size), np.bool_)
    age = np.zeros(size, np.int64)
    heap: list[Any] = [(0.0, np.int64(0), np.int64(0), np.int64(-1))]
    for k in range(len(pairs)):
        i, j = pairs[k, 0], pairs[k, 1]
        beside[i, j] = beside[j, i] = True
        loss = _loss(joint, mass, own, i, j, nothing)
        if loss <= bound:
            heap.append((loss, i, j, np.int64(0)))
    heapq.heapify(heap)
    merges = 0
    while len(heap) > 0:
        loss, i, j, of_age = heapq.heappop(heap)
        if of_age < 0 or root[i] != i or root[j] != j or age[i] + age[j] != of_age:
            continue
        if _too_wide(low, high, i, j, span):
            beside[i, j] = beside[j, i] = False
            continue
        losses[merges] = loss
        merges += 1
        root[j] = i
        joint[i] += joint[j]
        mass[i] += mass[j]
        own[i] = own_term(joint[i], mass[i])
        age[i] += age[j] + 1
        for axis in range(low.shape[1]):
            low[i, axis] = min(low[i, axis], low[j, axis])
            high[i, axis] = max(high[i, axis], high[j, axis])
        beside[i, j] = beside[j, i] = False
        for other in range(size):
            if beside[j, other]:
                beside[j, other] = beside[other, j] = False
                beside[i, other] = beside[other, i] = True
            if not beside[i, other]:
                continue
            if _too_wide(low, high, i, other, span):  # never possible later, because extents only grow
                beside[i, other] = beside[other, i] = False
                continue
            loss = _loss(joint, mass, own, i, other, nothing)
            if loss <= bound:
                first, second = min(i, other), max(i, other)
                heapq.heappush(heap, (loss, first, second, age[i] + age[other]))
    return merges

"""Dirichlet posterior of a voxel over instance ids, truncated to K candidates; it decides the voxel's owner.

Votes are counted with integer weights by Space-Saving (Metwally et al. 2005). A candidate has an estimate
`weight` of its votes and an `error`: its true votes lie in [weight - error, weight]. An id that is not a
candidate has at most `bound` votes, and bound <= votes of the voxel / K. `rest` is the mass of votes of
former candidates, so that the sum over candidates of (weight - error), plus rest, is the number of all votes.
If a count would exceed 255, all counts are halved first, so that older votes count half, to within one vote.
"""

from __future__ import annotations

import numpy as np
from numba import njit

CANDIDATES = 4  # K: instances stored per voxel (DESIGN section 4)
TOP = 255  # largest count
BACKGROUND, REST, BOUND = range(3)  # columns of `other`


@njit(cache=True, nogil=True, inline="always")
def _halve(weights, errors, other, i):
    for k in range(CANDIDATES):
        weights[i, k] = (weights[i, k] + 1) >> 1
        errors[i, k] = (errors[i, k] + 1) >> 1
    for k in range(3):
        other[i, k] = (other[i, k] + 1) >> 1


@njit(cache=True, nogil=True, inline="always")
def certain(weights, errors, i, k):
    """Return the certain votes, weight - error, of candidate k of voxel i."""
    return np.int64(weights[i, k]) - np.int64(errors[i, k])


@njit(cache=True, nogil=True, inline="always")
def map_id(ids, weights, errors, other, i):
    """Return the id with the most certain votes; 0 if the background has more."""
    owner, best = np.int64(0), np.int64(0)
    for k in range(CANDIDATES):
        votes = certain(weights, errors, i, k)
        if votes > best:
            owner, best = np.int64(ids[i, k]), votes
    return 0 if other[i, BACKGROUND] > best else owner


@njit(cache=True, nogil=True)
def clear(ids, weights, errors, other, i):
    """Remove all votes of voxel i."""
    for k in range(CANDIDATES):
        ids[i, k] = weights[i, k] = errors[i, k] = 0
    for k in range(3):
        other[i, k] = 0


@njit(cache=True, nogil=True)
def add_vote(ids, weights, errors, other, i, voter, weight):
    """Add `weight` (1..127) votes of one voter to voxel i; return the owner afterwards (0 = background)."""
    if voter == 0:
        if np.int64(other[i, BACKGROUND]) + weight > TOP:
            _halve(weights, errors, other, i)
        other[i, BACKGROUND] += weight
        return map_id(ids, weights, errors, other, i)
    chosen, least, free = -1, 0, -1
    for k in range(CANDIDATES):
        if weights[i, k] == 0:
            free = k if free < 0 else free
        elif ids[i, k] == voter:
            chosen = k
        if weights[i, k] < weights[i, least]:
            least = k
    if chosen < 0:
        if free >= 0:
            chosen = free
        else:
            if np.int64(other[i, REST]) + certain(weights, errors, i, least) > TOP:
                _halve(weights, errors, other, i)
            other[i, REST] += certain(weights, errors, i, least)
            other[i, BOUND] = weights[i, least]
            chosen = least
        ids[i, chosen] = voter
        weights[i, chosen] = errors[i, chosen] = other[i, BOUND]
    if np.int64(weights[i, chosen]) + weight > TOP:
        _halve(weights, errors, other, i)
    weights[i, chosen] += weight
    return map_id(ids, weights, errors, other, i)


@njit(cache=True, nogil=True)
def move_votes(ids, weights, errors, other, i, old, new):
    """Turn votes for `old` into votes for `new` (0 = background); return whether `old` was a candidate.

    The true votes of an id that absorbed n others exceed its weight by at most n x bound, because the votes
    for an absorbed id that was not a candidate are not stored by id.
    """
    source = target = -1
    for k in range(CANDIDATES):
        if weights[i, k] > 0 and ids[i, k] == old:
            source = k
        elif weights[i, k] > 0 and ids[i, k] == new:
            target = k
    if source < 0:
        return False
    if new == 0:
        if np.int64(other[i, BACKGROUND]) + certain(weights, errors, i, source) > TOP:
            _halve(weights, errors, other, i)
        other[i, BACKGROUND] += certain(weights, errors, i, source)
    elif target < 0:
        ids[i, source] = new
        return True
    else:
        if np.int64(weights[i, target]) + np.int64(weights[i, source]) > TOP:
            _halve(weights, errors, other, i)
        weights[i, target] = min(TOP, np.int64(weights[i, target]) + np.int64(weights[i, source]))
        errors[i, target] = min(TOP, np.int64(errors[i, target]) + np.int64(errors[i, source]))
    ids[i, source] = weights[i, source] = errors[i, source] = 0
    return True


@njit(cache=True, nogil=True)
def read(ids, weights, errors, other, i, prior, out_ids, out_probability):
    """Write the candidates of voxel i by falling probability, (4,) each, and return the remaining mass.

    A probability is the mean of the posterior: certain votes divided by all votes plus the mass of the prior.
    The remaining mass belongs to the background, to ids that are not candidates, and to the prior.
    """
    total = float(prior) + other[i, BACKGROUND] + other[i, REST]
    for k in range(CANDIDATES):
        total += certain(weights, errors, i, k)
    remaining = 1.0
    for k in range(CANDIDATES):
        share = certain(weights, errors, i, k) / total
        remaining -= share
        place = k
        while place > 0 and out_probability[place - 1] < share:
            out_ids[place], out_probability[place] = out_ids[place - 1], out_probability[place - 1]
            place -= 1
        out_ids[place] = ids[i, k] if share > 0.0 else 0
        out_probability[place] = share
    return max(remaining, 0.0)

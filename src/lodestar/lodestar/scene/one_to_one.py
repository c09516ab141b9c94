"""One-to-one assignment over sparse pairs: the best assignment, and the probability of each pair."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

_ROUNDS = 200
_CLOSE = 1e-6
_LIMIT = 50.0  # limit of the logarithm of a weight


@dataclass(frozen=True)
class Pairs:
    """Pairs of a row object and a column object that may be the same.

    rows, columns: (E,) int. weights: (E,), > 0: likelihood ratio of one object against two. shape: numbers of
    row and column objects.
    """

    rows: np.ndarray
    columns: np.ndarray
    weights: np.ndarray
    shape: tuple[int, int]

    @property
    def logs(self) -> np.ndarray:
        """Return the logarithms (E,) of the weights, limited in magnitude."""
        with np.errstate(divide="ignore"):
            return np.clip(np.log(self.weights), -_LIMIT, _LIMIT)


def best_pairs(pairs: Pairs, least: float = 1.0) -> np.ndarray:
    """Return (E,) bool: the pairs in the likeliest one-to-one assignment (Hungarian method, VLM-DEWM B.1.4).

    A pair with a weight below `least` is never taken. Each connected group is solved separately.
    """
    chosen = np.zeros(len(pairs.rows), bool)
    gains = pairs.logs - np.log(least)
    useful = np.flatnonzero(gains > 0.0)
    if not len(useful):
        return chosen
    rows, columns = pairs.rows[useful], pairs.columns[useful]
    count, size = pairs.shape[0], sum(pairs.shape)
    graph = coo_array((np.ones(len(useful)), (rows, columns + count)), shape=(size, size))
    _, group = connected_components(graph, directed=False)
    order = np.argsort(group[rows], kind="stable")
    for edges in np.split(useful[order], np.flatnonzero(np.diff(group[rows][order])) + 1):
        names_a, a = np.unique(pairs.rows[edges], return_inverse=True)
        names_b, b = np.unique(pairs.columns[edges], return_inverse=True)
        gain = np.zeros((len(names_a), len(names_b) + len(names_a)))  # the extra columns mean "unassigned"
        gain[a, b] = gains[edges]
        index = np.full(gain.shape, -1)
        index[a, b] = edges
        taken = index[linear_sum_assignment(gain, maximize=True)]
        chosen[taken[taken >= 0]] = True
    return chosen


def pair_probabilities(pairs: Pairs) -> np.ndarray:
    """Return the probability (E,) of every pair, over all one-to-one assignments.

    Belief propagation (Williams and Lau 2014, "Approximate evaluation of marginal association
    probabilities"); exact if the graph of pairs has no cycle.
    """
    rows, columns = pairs.rows, pairs.columns
    weights = np.exp(pairs.logs)
    to_row = np.ones(len(weights))
    for _ in range(_ROUNDS):
        said = weights * to_row
        of_row = np.bincount(rows, said, pairs.shape[0])[rows]
        to_column = weights / (1.0 + np.maximum(of_row - said, 0.0))
        of_column = np.bincount(columns, to_column, pairs.shape[1])[columns]
        before, to_row = to_row, 1.0 / (1.0 + np.maximum(of_column - to_column, 0.0))
        if np.max(np.abs(to_row - before), initial=0.0) < _CLOSE:
            break
    said = weights * to_row
    return said / (1.0 + np.bincount(rows, said, pairs.shape[0])[rows])

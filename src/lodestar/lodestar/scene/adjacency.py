"""Edges between entities: seen together in one frame, and near each other (FARM 2.2, D.1 step 7)."""

from __future__ import annotations

import numpy as np

from lodestar.geometry.gaussians import hellinger_distance


def nearest_by_hellinger(
    mean: np.ndarray,
    covariance: np.ndarray,
    ids: np.ndarray,
    means: np.ndarray,
    covariances: np.ndarray,
    count: int,
    radius: float,
) -> dict[int, float]:
    """Return the weights, 1 - Hellinger distance, of the entities nearest to one entity, by id.

    At most `count` entities within `radius` metres of its mean are returned. mean: (3,), covariance: (3, 3),
    of the one entity; ids: (N,), means: (N, 3), covariances: (N, 3, 3), of the others.
    """
    if len(ids) == 0:
        return {}
    gaps = np.linalg.norm(means - mean, axis=1)
    close = np.flatnonzero(gaps <= radius)
    if len(close) > 4 * count:
        close = close[np.argsort(gaps[close], kind="stable")[: 4 * count]]
    if len(close) == 0:
        return {}
    distance = hellinger_distance(mean, covariance, means[close], covariances[close])
    order = np.argsort(distance, kind="stable")[:count]
    return {int(ids[close[i]]): float(1.0 - distance[i]) for i in order}


class Covisibility:
    """Decaying weights in [0, 1] between entities that were seen together."""

    def __init__(self, gain: float, half_life: float, limit: int) -> None:
        self._gain = gain
        self._half_life = half_life
        self._limit = limit
        self._edges: dict[int, dict[int, tuple[float, float]]] = {}  # a -> b -> weight, stamp

    def _weight(self, edge: tuple[float, float], stamp: float) -> float:
        return edge[0] * 0.5 ** (max(stamp - edge[1], 0.0) / self._half_life)

    def _weights(self, edges: dict[int, tuple[float, float]], stamp: float) -> list[tuple[int, float]]:
        return [(other, self._weight(edge, stamp)) for other, edge in edges.items()]

    def seen_together(self, a: int, b: int, stamp: float) -> None:
        """Strengthen the edge between two different entities."""
        weight = self._weight(self._edges.get(a, {}).get(b, (0.0, stamp)), stamp)
        edge = (weight + self._gain * (1.0 - weight), stamp)
        for one, other in ((a, b), (b, a)):
            edges = self._edges.setdefault(one, {})
            edges[other] = edge
            if len(edges) > 2 * self._limit:
                weakest = min((w, key) for key, w in self._weights(edges, stamp) if key != other)[1]
                self._edges.get(weakest, {}).pop(one, None)
                del edges[weakest]

    def of(self, identity: int, stamp: float) -> dict[int, float]:
        """Return the entities with the strongest edges to this one, with their weights at `stamp`.

        At most as many as the limit per entity.
        """
        edges = self._edges.get(identity, {})
        ranked = sorted(((self._weight(edge, stamp), other) for other, edge in edges.items()), reverse=True)
        return {other: weight for weight, other in ranked[: self._limit] if weight >= 0.01}

    def to_array(self) -> np.ndarray:
        """Return (E, 4) float64, one row per edge: entity ids a < b, weight, and stamp in seconds."""
        edges = [(a, b, *edge) for a, others in self._edges.items() for b, edge in others.items() if a < b]
        return np.array(sorted(edges), np.float64).reshape(-1, 4)

    def from_array(self, edges: np.ndarray, shift: float) -> None:
        """Restore the edges (E, 4) of `to_array`, with their stamps moved by `shift` seconds."""
        for a, b, weight, stamp in edges.tolist():
            edge = (weight, stamp + shift)
            self._edges.setdefault(int(a), {})[int(b)] = edge
            self._edges.setdefault(int(b), {})[int(a)] = edge

    def remove(self, identity: int) -> None:
        """Remove all edges of an entity."""
        for other in self._edges.pop(identity, {}):
            self._edges.get(other, {}).pop(identity, None)

    def merge(self, loser: int, winner: int) -> None:
        """Move the edges of `loser` to `winner`; of two edges to the same entity the stronger is kept."""
        for other, edge in self._edges.pop(loser, {}).items():
            self._edges.get(other, {}).pop(loser, None)
            if other == winner:
                continue
            kept = self._edges.get(winner, {}).get(other)
            strongest = edge if kept is None or edge[0] > kept[0] else kept
            self._edges.setdefault(winner, {})[other] = strongest
            self._edges.setdefault(other, {})[winner] = strongest

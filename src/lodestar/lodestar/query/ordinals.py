"""Scores of superlatives and ordinals: "the closest", "the second from the left", "the middle one"."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from lodestar.language.query_graph import VIEWED, Predicate, QueryGraph
from lodestar.models.lexicon import load_lexicon
from lodestar.query import superlatives
from lodestar.query.anchors import mean_distance, nearest_distance
from lodestar.query.config import QUERY_ANCHORS_FIRST, QUERY_DEFAULT_VIEW
from lodestar.query.frames import ordered_from, viewer
from lodestar.query.pool import UNDECIDED, UNVERIFIED, Pool
from lodestar.query.rows import meant
from lodestar.query.speaker_pose import viewer_of


@dataclass(frozen=True)
class Ranking:
    """Scores superlatives and ordinals for one variable of a query graph, by comparing the entities of a
    group (G,).

    scored: variable index -> scores (N,) of the variables already scored.
    """

    graph: QueryGraph
    index: int
    scored: Mapping[int, np.ndarray]
    pool: Pool

    def scores(self, predicate: Predicate, group: np.ndarray) -> np.ndarray:
        """Return scores (N,) of a predicate that compares the entities of a group."""
        bare = len(predicate.arguments) == 1
        if predicate.name == "HasAttribute":
            return superlatives.attribute(self.pool, predicate.value, group)
        if predicate.name in ("Closest", "Farthest"):
            return self._by_distance(predicate, group)
        if predicate.name == "Between" and bare:
            return superlatives.amid(self.pool, group, by_height=predicate.value == "rows")
        if predicate.name in (*VIEWED, "Above", "Below") and bare:
            return self._from_side(predicate, group)
        return np.full(len(self.pool), UNDECIDED)

    def _by_distance(self, predicate: Predicate, group: np.ndarray) -> np.ndarray:
        """Score Closest and Farthest: 1 / (1 + rank) by distance to the nearest anchor or the observer (FARM D.2)."""
        pool = self.pool
        others = [a for a in predicate.arguments if a != self.index]
        farthest = predicate.name == "Farthest"
        scores = np.zeros(len(pool))
        if predicate.value == "peers":
            return superlatives.apart(pool, group, farthest)
        worth = 1.0
        if others:
            category = self.graph.variables[others[0]].category
            part = category.split(" of ")[0]
            if part in load_lexicon().structure and category not in pool.kinds.labels:
                near = superlatives.structure(pool, "Near", part, group)
                return 1.0 - near if farthest else near
            anchors = meant(self.scored[others[0]])
            if not len(anchors):
                return scores
            worth = float(self.scored[others[0]][anchors].max())
            share = pool.table.center_share
            if farthest:  # "farthest from the windows" means from all of them
                away = mean_distance(group, anchors, pool.boxes, share)
            else:
                away = nearest_distance(group, anchors, pool.boxes, share, QUERY_ANCHORS_FIRST)
        elif pool.observer is not None:
            point = np.asarray(pool.observer, float)[:2]
            away = np.linalg.norm(pool.boxes.center[group, :2] - point, axis=1)
        else:
            return np.full(len(pool), UNVERIFIED)  # the sentence does not state the reference
        keys = -away if farthest else away
        scores[group] = worth * superlatives.by_rank(keys, pool.table.rank_power, predicate.side.rank - 1)
        return scores

    def _from_side(self, predicate: Predicate, group: np.ndarray) -> np.ndarray:
        """Score "the second from the left": the order within the group as seen by the viewer."""
        pool, side = self.pool, predicate.side
        scores = np.zeros(len(pool))
        if not len(group):
            return scores
        stated = viewer_of(side, self.scored, pool)
        middle = pool.middles[group].mean(axis=0)
        eye = stated or viewer(middle, pool.boxes.center[group, :2].mean(axis=0))
        keys, in_view = ordered_from(predicate.name, pool.boxes.center[group], group, eye)
        keys = np.where(in_view, keys, keys.max() + 1.0 + keys)
        ranked = superlatives.by_rank(keys, pool.table.single_power, side.rank - 1)
        if stated is None and predicate.name in VIEWED:
            ranked = ranked * QUERY_DEFAULT_VIEW
        scores[group] = ranked
        return scores

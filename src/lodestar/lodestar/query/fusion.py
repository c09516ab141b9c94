"""Reciprocal-rank fusion of scores from words with similarities of stored vectors (FARM 2.3, D.2)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lodestar.models.phrases import MissingPhrases
from lodestar.query.config import QUERY_MIN_CANDIDATE
from lodestar.query.pool import Pool
from lodestar.query.rows import likeliest
from lodestar.scene.enrichment import CHANNEL
from lodestar.scene.lifecycle import APPEARANCE

# most candidates admitted by image if no entity matches by words; needs a text encoder; chosen
QUERY_ADMITTED = 5

OFFSET = 5.0  # mu of FARM D.2
WEIGHTS = (1.0, 1.0)  # weights of word scores and of the caption vector's similarity (FARM D.2: 1.0)


def fused_ranks(channels: Sequence[tuple[np.ndarray, float]]) -> np.ndarray:
    """Return (N,) in (0, 1] from channels of scores (N,) and weights: 1 for the first in all channels; ties are equal.

    A NaN score is ignored for that entity; if all are NaN, the result is 1.
    """
    count = len(channels[0][0]) if channels else 0
    total, most = np.zeros(count), np.zeros(count)
    for scores, weight in channels:
        known = np.flatnonzero(~np.isnan(scores))
        descending = -scores[known]
        rank = np.searchsorted(np.sort(descending), descending, side="left")
        total[known] += weight / (OFFSET + 1.0 + rank)
        most[known] += weight / (OFFSET + 1.0)
    return np.where(most > 0.0, total / np.maximum(most, 1e-12), 1.0)


def fused(scores: np.ndarray, phrase: str, pool: Pool) -> np.ndarray:
    """Return scores (N,) of a description, reduced for entities that caption vectors rank lower.

    The reduction is at most `fusion_share`. It orders entities with equal scores; the entity with the best
    fused rank keeps its score. Scores stay unchanged if no entity has a vector of the book's model, or the
    description has none yet.
    """
    share = pool.config.fusion_share
    if share <= 0.0 or not pool.is_described:
        return scores
    rows = likeliest(scores, QUERY_MIN_CANDIDATE)
    likeness = _by_caption(rows, phrase, pool)
    if len(rows) < 2 or likeness is None:
        return scores
    ranks = fused_ranks(((scores[rows], WEIGHTS[0]), (likeness, WEIGHTS[1])))
    drawn = scores.copy()
    drawn[rows] *= 1.0 - share + share * ranks / ranks.max()
    return drawn


def admitted(phrase: str, category: np.ndarray, pool: Pool) -> np.ndarray:
    """Return the indices (R,) of entities that match a description by image although none matches by name,
    best first.

    They are the nearest entities whose appearance vector is nearer to the description than to their own
    label. Empty if an entity is accepted by its category score (`category` (N,)), or if the text encoder of
    the appearance channel is missing or fails.
    """
    book, nobody = pool.phrases.of_images, np.zeros(0, int)
    if book is None or not len(category) or category.max() >= pool.config.accept:
        return nobody
    stored = [entity.embeddings.get(APPEARANCE) for entity in pool.entities]
    labels = [entity.label or "object" for entity in pool.entities]
    try:
        asked, *named = book.vectors([phrase, *labels])
    except (MissingPhrases, RuntimeError):  # without vectors, words alone decide
        return nobody
    gain, cosine = np.full((2, len(pool)), -np.inf)
    for row, (own, label) in enumerate(zip(stored, named)):
        if own is not None and own.model == book.model and own.vector.shape == asked.shape:
            cosine[row] = own.vector @ asked
            gain[row] = cosine[row] - own.vector @ label
    rows = np.flatnonzero(gain > 0.0)
    return rows[np.argsort(-cosine[rows], kind="stable")][:QUERY_ADMITTED]


def _by_caption(rows: np.ndarray, phrase: str, pool: Pool) -> np.ndarray | None:
    """Return cosines (R,) of a description and the captions' stored vectors, NaN if missing; None if all are
    missing.
    """
    if pool.phrases.missing((phrase,)):
        return None
    try:
        asked = pool.phrases.vectors((phrase,))[0]
    except MissingPhrases:
        return None
    found = np.full(len(rows), np.nan)
    for place, row in enumerate(rows):
        stored = pool.entities[row].embeddings.get(CHANNEL)
        if stored is not None and stored.model == pool.phrases.model and len(stored.vector) == len(asked):
            found[place] = float(stored.vector @ asked)
    return None if np.isnan(found).all() else found

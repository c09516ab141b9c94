"""The primitives that the captions of a request induce (STaR IV-B, first stage)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from lodestar.memory.config import BottleneckConfig
from lodestar.memory.records import Primitive
from lodestar.memory.requests import Hit

#: Unit vectors (N, D) float32 of N phrases, as models.phrases.PhraseBook.vectors.
Embed = Callable[[Sequence[str]], np.ndarray]


@dataclass(frozen=True)
class InducedPrimitives:
    """Primitives of the captions above the threshold, each entity once per place.

    low, high: (P, 3) corners in map, metres. hits: best first. rows, owners: (L,) int, "hit `owners[i]` has primitive
    `rows[i]`". pixels: (L,) area of the primitive in that hit.
    """

    primitives: tuple[Primitive, ...]
    low: np.ndarray
    high: np.ndarray
    hits: tuple[Hit, ...]
    rows: np.ndarray
    owners: np.ndarray
    pixels: np.ndarray

    @property
    def words(self) -> list[str]:
        """What each primitive is called."""
        return [primitive.caption or primitive.label for primitive in self.primitives]


def best_first(hits: Sequence[Hit]) -> list[Hit]:
    """Return the hits by falling score, each memory once; the newest first among equals. NaN scores are dropped."""
    once: dict[int, Hit] = {}
    for hit in hits:
        if np.isfinite(hit.score) and (hit.memory.id not in once or hit.score > once[hit.memory.id].score):
            once[hit.memory.id] = hit
    return sorted(once.values(), key=lambda hit: (-hit.score, -hit.memory.end, hit.memory.id))


def above_threshold(hits: Sequence[Hit], threshold: float) -> list[Hit]:
    """Return the hits whose score is at least `threshold` of the best one's, best first; all without any score."""
    ranked = best_first(hits)
    if not ranked or ranked[0].score <= 0.0:
        return ranked
    least = threshold * ranked[0].score
    return [hit for hit in ranked if hit.score >= least]


def induce(hits: Sequence[Hit], config: BottleneckConfig) -> InducedPrimitives:
    """Return the primitives of the captions above the threshold.

    Captions are taken best first until the next would bring the number above `max_primitives`; one at least is taken.
    """
    ranked = above_threshold(hits, config.threshold)
    flat = [primitive for hit in ranked for primitive in hit.memory.primitives]
    centre, size = _geometry_of(flat)
    sound = (np.isfinite(centre) & np.isfinite(size)).all(axis=1).tolist()
    cells = np.round(np.nan_to_num(centre) / config.same_place).astype(np.int64).tolist()
    index: dict[
        tuple[int, ...], int
    ] = {}  # entity and place: of one that moved, each place is a primitive of its own
    places: list[int] = []  # in flat, of each row
    rows: list[int] = []
    owners: list[int] = []
    pixels: list[int] = []
    taken, first = 0, 0
    for hit in ranked:
        own = [n for n in range(first, first + len(hit.memory.primitives)) if sound[n]]
        first += len(hit.memory.primitives)
        keys = [(flat[n].entity_id, *cells[n]) for n in own]
        if taken and len(index) + len(set(keys) - index.keys()) > config.max_primitives:
            break
        for n, key in zip(own, keys):
            if key not in index:
                index[key] = len(places)
                places.append(n)
            rows.append(index[key])
            owners.append(taken)
            pixels.append(flat[n].pixels)
        taken += 1
    half = size[places] / 2.0
    return InducedPrimitives(
        tuple(flat[n] for n in places),
        centre[places] - half,
        centre[places] + half,
        tuple(ranked[:taken]),
        np.array(rows, np.int64),
        np.array(owners, np.int64),
        np.array(pixels, np.int64),
    )


def _geometry_of(primitives: Sequence[Primitive]) -> tuple[np.ndarray, np.ndarray]:
    """Return centres and sizes (P, 3), metres."""
    centre = np.array([primitive.centre for primitive in primitives], float).reshape(-1, 3)
    return centre, np.array([primitive.size for primitive in primitives], float).reshape(-1, 3)


def similarities(induced: InducedPrimitives, cues: np.ndarray, embed: Embed) -> np.ndarray:
    """Return the cosines (P, m) of the primitives' words and the cues (m, D), unit rows. Raises what embed raises."""
    cues = np.atleast_2d(np.asarray(cues, np.float32))
    words = induced.words
    if not words:
        return np.zeros((0, len(cues)))
    once = list(dict.fromkeys(words))
    number = {word: i for i, word in enumerate(once)}
    return (embed(once) @ cues.T)[[number[word] for word in words]]

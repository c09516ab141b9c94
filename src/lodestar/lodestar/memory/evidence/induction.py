"""Selection of the objects (primitives) in the captions that a request found (STaR IV-B, first stage)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from lodestar.memory.config import BottleneckConfig
from lodestar.memory.records import Primitive
from lodestar.memory.requests import Hit

BOTTLENECK_SAME_PLACE = 0.5  # metres; the same entity further away is another primitive; as EVENT_MOVED

#: Returns unit vectors (N, D) float32 of N phrases, as models.phrases.PhraseBook.vectors does.
Embed = Callable[[Sequence[str]], np.ndarray]


@dataclass(frozen=True)
class InducedPrimitives:
    """P different primitives (objects at a place), and the most similar captions, which show them.

    low, high: (P, 3) corners in map, metres. hits: the captions, best first. rows, owners: (L,) int, "hit
    `owners[i]` shows primitive `rows[i]`". pixels: (L,) area of the primitive in that hit.
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
        """Return the name of each primitive, in order."""
        return [primitive.caption or primitive.label for primitive in self.primitives]


def best_first(hits: Sequence[Hit]) -> list[Hit]:
    """Return the hits by falling score, each memory once; the newest first among equals. NaN scores are dropped."""
    once: dict[int, Hit] = {}
    for hit in hits:
        if np.isfinite(hit.score) and (hit.memory.id not in once or hit.score > once[hit.memory.id].score):
            once[hit.memory.id] = hit
    return sorted(once.values(), key=lambda hit: (-hit.score, -hit.memory.end, hit.memory.id))


def above_threshold(hits: Sequence[Hit], threshold: float) -> list[Hit]:
    """Return the hits whose score is at least `threshold` of the best score, best first.

    Returns all hits if the best score is not above 0.
    """
    ranked = best_first(hits)
    if not ranked or ranked[0].score <= 0.0:
        return ranked
    least = threshold * ranked[0].score
    return [hit for hit in ranked if hit.score >= least]


def induce(hits: Sequence[Hit], config: BottleneckConfig) -> InducedPrimitives:
    """Return the primitives of the captions whose score is at least `config.threshold` of the best score.

    Captions are taken best first, at least one, until the next would exceed `max_primitives`.
    """
    ranked = above_threshold(hits, config.threshold)
    flat = [primitive for hit in ranked for primitive in hit.memory.primitives]
    centre, size = _geometry_of(flat)
    sound = np.flatnonzero((np.isfinite(centre) & np.isfinite(size)).all(axis=1))
    owners = np.repeat(np.arange(len(ranked)), [len(hit.memory.primitives) for hit in ranked])[sound]
    cells = np.round(centre[sound] / BOTTLENECK_SAME_PLACE).astype(np.int64)
    ids = [flat[n].entity_id for n in sound.tolist()]
    numbers: dict[
        tuple[int, ...], int
    ] = {}  # (entity, cell) -> number: an object that moved is one primitive per place
    keys = zip(ids, *cells.T.tolist())
    rows = np.array([numbers.setdefault(key, len(numbers)) for key in keys], np.int64)
    known = np.maximum.accumulate(rows) + 1  # number of different primitives up to each entry
    taken = len(ranked)
    if len(numbers) > config.max_primitives:
        taken = max(1, int(owners[np.argmax(known > config.max_primitives)]))
    rows, owners, sound = rows[owners < taken], owners[owners < taken], sound[owners < taken]
    # index in `flat` of each primitive
    places = sound[np.flatnonzero(np.diff(known[: len(rows)], prepend=0))]
    half = size[places] / 2.0
    return InducedPrimitives(
        tuple(flat[n] for n in places.tolist()),
        centre[places] - half,
        centre[places] + half,
        tuple(ranked[:taken]),
        rows,
        owners,
        np.array([flat[n].pixels for n in sound.tolist()], np.int64),
    )


def _geometry_of(primitives: Sequence[Primitive]) -> tuple[np.ndarray, np.ndarray]:
    """Return centres and sizes (P, 3), metres."""
    if not primitives:
        return np.zeros((0, 3)), np.zeros((0, 3))
    centre = np.concatenate([primitive.centre for primitive in primitives]).astype(float)
    size = np.concatenate([primitive.size for primitive in primitives]).astype(float)
    return centre.reshape(-1, 3), size.reshape(-1, 3)


def similarities(induced: InducedPrimitives, cues: np.ndarray, embed: Embed) -> np.ndarray:
    """Return the cosines (P, m) of the names of P primitives with m cues.

    cues: (m, D) unit vectors of the question's search phrases. embed: phrases -> unit vectors; its errors are
    raised.
    """
    cues = np.atleast_2d(np.asarray(cues, np.float32))
    words = induced.words
    if not words:
        return np.zeros((0, len(cues)))
    once = list(dict.fromkeys(words))
    number = {word: i for i, word in enumerate(once)}
    return (embed(once) @ cues.T)[[number[word] for word in words]]

"""Prior probabilities of an unseen object's place: near which objects and in which room it usually is, by
the lexicon and by similarity of text embeddings.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from lodestar.models.lexicon import Lexicon, load_lexicon
from lodestar.models.phrases import PhraseBook

# cosine, temperature of the softmax over rooms; chosen: related rooms differ by about 0.1 in all-MiniLM-L6-v2
PRIOR_TEMPERATURE = 0.05
PRIOR_UNSURE = 1.0  # weight of the softmax over rooms, in the units of the lexicon; chosen
# share of an object's score that comes from the rooms that both belong to, the rest from the words; chosen
PRIOR_ROOM_SHARE = 0.6
# cosines of two words between which the likeness of the words goes from 0 to 1; chosen
PRIOR_LIKENESS = (0.30, 0.60)

_SETS = 64  # label sets whose scores are cached; chosen: new kinds of objects are rare


@lru_cache(maxsize=1)
def _room_names() -> tuple[str, ...]:
    return tuple(sorted(set(load_lexicon().rooms.values())))


def everyday_words() -> tuple[str, ...]:
    """Return the room names and the lexicon's nouns, to be embedded before the first question."""
    return (*_room_names(), *sorted(load_lexicon().nouns))


class CoOccurrence:
    """Scores in [0, 1] of how likely a target is near an object or in a room. Deterministic; cached per word
    in the phrase book, which maps phrases to text embeddings.

    Methods raise MissingPhrases if the book cannot supply an embedding.
    """

    def __init__(self, phrases: PhraseBook) -> None:
        self._phrases = phrases
        self._rooms_of: dict[tuple[str, str], np.ndarray]
        self._near: dict[tuple[str, str, tuple[str, ...]], np.ndarray]
        self._rooms_of, self._near = phrases.derived.setdefault(CoOccurrence, ({}, {}))

    @property
    def rooms(self) -> tuple[str, ...]:
        """Return the rooms that `room_shares` distinguishes."""
        return _room_names()

    def room_shares(self, phrase: str) -> np.ndarray:
        """Return (R,) float64: the probability that an object of this name stands in each of the R
        `rooms`.
        """
        key = (self._phrases.model, phrase)
        known = self._rooms_of.get(key)
        if known is not None:
            return known
        vectors = self._phrases.vectors((phrase, *self.rooms))
        cosines = vectors[1:] @ vectors[0]
        shares = np.exp((cosines - cosines.max()) / PRIOR_TEMPERATURE)
        shares *= PRIOR_UNSURE / shares.sum()
        for room, weight in _evidence(phrase).items():
            if room in self.rooms:
                shares[self.rooms.index(room)] += weight
        shares /= shares.sum()
        if len(self._rooms_of) > 4096:
            self._rooms_of.clear()
        self._rooms_of[self._phrases.model, phrase] = shares
        return shares

    def near(self, target: str, labels: Sequence[str]) -> np.ndarray:
        """Return (N,) float64 scores of how likely the target is near an object of each label."""
        if not labels:
            return np.zeros(0)
        places = {label: place for place, label in enumerate(sorted(set(labels)))}
        index = [places[label] for label in labels]
        unique = tuple(places)
        known = self._near.get((self._phrases.model, target, unique))
        if known is not None:
            return known[index]
        # first, so that all words are embedded in one batch
        vectors = self._phrases.vectors((target, *unique))
        own = np.sqrt(self.room_shares(target))
        # Bhattacharyya coefficient
        shared = np.array([float(own @ np.sqrt(self.room_shares(label))) for label in unique])
        low, high = PRIOR_LIKENESS
        like = np.clip((vectors[1:] @ vectors[0] - low) / (high - low), 0.0, 1.0)
        scores = PRIOR_ROOM_SHARE * shared + (1.0 - PRIOR_ROOM_SHARE) * like
        if len(self._near) > _SETS:
            self._near.clear()
        self._near[self._phrases.model, target, unique] = scores
        return np.asarray(scores[index])


def _evidence(phrase: str) -> dict[str, float]:
    """Return room -> weight by the lexicon: rooms where the object is found, else rooms that it indicates."""
    lexicon: Lexicon = load_lexicon()
    words = phrase.split()
    length = lexicon.known_suffix(words)
    name = lexicon.canonical(" ".join(words[-length:])) if length else None
    for candidate in (name, *sorted(lexicon.wider(name or ""))):
        weights = lexicon.found_in.get(candidate or "") or lexicon.room_evidence.get(candidate or "")
        if weights:
            return weights
    return {}

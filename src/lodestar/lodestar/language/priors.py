"""Likely places of a thing that was not seen yet: near what, in which room (common sense of the text model)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from lodestar.language.config import PriorConfig
from lodestar.models.lexicon import Lexicon, load_lexicon
from lodestar.models.phrases import PhraseBook

_SETS = 64  # of labels whose scores are kept; chosen: a scene gains a kind of thing now and then


@lru_cache(maxsize=1)
def _room_names() -> tuple[str, ...]:
    return tuple(sorted(set(load_lexicon().rooms.values())))


def everyday_words() -> tuple[str, ...]:
    """Rooms and the nouns of the lexicon: to have their vectors before the first question keeps it quick."""
    return (*_room_names(), *sorted(load_lexicon().nouns))


class CoOccurrence:
    """Scores in [0, 1] of how likely a target is near a thing or in a room. Deterministic; cached per word, for all
    with the same phrase book.

    Methods raise MissingPhrases where a vector is needed that the book cannot give.
    """

    def __init__(self, phrases: PhraseBook, config: PriorConfig = PriorConfig()) -> None:
        self._phrases = phrases
        self._config = config
        self._rooms_of: dict[tuple[str, str], np.ndarray]
        self._near: dict[tuple[str, str, tuple[str, ...]], np.ndarray]
        self._rooms_of, self._near = phrases.derived.setdefault((CoOccurrence, config), ({}, {}))

    @property
    def rooms(self) -> tuple[str, ...]:
        """Rooms that are told apart."""
        return _room_names()

    def room_shares(self, phrase: str) -> np.ndarray:
        """Probability (R,) that a thing so called stands in each of `rooms`."""
        key = (self._phrases.model, phrase)
        known = self._rooms_of.get(key)
        if known is not None:
            return known
        vectors = self._phrases.vectors((phrase, *self.rooms))
        cosines = vectors[1:] @ vectors[0]
        shares = np.exp((cosines - cosines.max()) / self._config.temperature)
        shares *= self._config.unsure / shares.sum()
        for room, weight in _evidence(phrase).items():
            if room in self.rooms:
                shares[self.rooms.index(room)] += weight
        shares /= shares.sum()
        if len(self._rooms_of) > 4096:
            self._rooms_of.clear()
        self._rooms_of[self._phrases.model, phrase] = shares
        return shares

    def near(self, target: str, labels: Sequence[str]) -> np.ndarray:
        """(N,): how likely the target is near a thing of each label."""
        if not labels:
            return np.zeros(0)
        places = {label: place for place, label in enumerate(sorted(set(labels)))}
        index = [places[label] for label in labels]
        unique = tuple(places)
        known = self._near.get((self._phrases.model, target, unique))
        if known is not None:
            return known[index]
        vectors = self._phrases.vectors((target, *unique))  # first, so that all are embedded in one batch
        own = np.sqrt(self.room_shares(target))
        shared = np.array(
            [float(own @ np.sqrt(self.room_shares(label))) for label in unique]
        )  # Bhattacharyya
        low, high = self._config.likeness
        like = np.clip((vectors[1:] @ vectors[0] - low) / (high - low), 0.0, 1.0)
        share = self._config.room_share
        scores = share * shared + (1.0 - share) * like
        if len(self._near) > _SETS:
            self._near.clear()
        self._near[self._phrases.model, target, unique] = scores
        return np.asarray(scores[index])


def _evidence(phrase: str) -> dict[str, float]:
    """Return the lexicon's rooms of a thing: where it is found, else of which room it tells."""
    lexicon: Lexicon = load_lexicon()
    words = phrase.split()
    length = lexicon.known_suffix(words)
    name = lexicon.canonical(" ".join(words[-length:])) if length else None
    for candidate in (name, *sorted(lexicon.wider(name or ""))):
        weights = lexicon.found_in.get(candidate or "") or lexicon.room_evidence.get(candidate or "")
        if weights:
            return weights
    return {}

"""A cache of phrase vectors."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable, Iterable, Sequence
from typing import Any, Protocol

import numpy as np

DEFAULT_CAPACITY = 20_000  # phrases; 1.5 kB each at 384 dimensions


class PhraseEmbedder(Protocol):
    """Interface of a model that converts phrases into vectors."""

    @property
    def model(self) -> str:
        """Return the name of the model."""

    def embed(self, phrases: Sequence[str]) -> np.ndarray:
        """Return unit vectors (N, D) float32 of N phrases."""


class MissingPhrases(LookupError):
    """Error: vectors of `phrases` are missing; the caller must fetch and `add` them first."""

    def __init__(self, phrases: tuple[str, ...]) -> None:
        shown = ", ".join(repr(p) for p in phrases[:5])
        more = f" and {len(phrases) - 5} more" if len(phrases) > 5 else ""
        super().__init__(f"no vector yet for {shown}{more}")
        self.phrases = phrases


def normal_phrase(phrase: str) -> str:
    """Return the cache key of a phrase: case-folded, with single spaces."""
    return " ".join(phrase.casefold().split())


class PhraseBook:
    """A thread-safe LRU cache of phrase -> unit vector.

    With an embedder it computes missing vectors, outside its lock; without one it raises MissingPhrases.
    of_images: cache of the text encoder whose vectors can be compared with those of images; None = there is
    none.
    """

    def __init__(
        self,
        embedder: PhraseEmbedder | None = None,
        capacity: int = DEFAULT_CAPACITY,
        of_images: PhraseBook | None = None,
    ) -> None:
        if capacity < 1:
            raise ValueError(f"capacity must be at least 1, not {capacity}")
        self._embedder = embedder
        self.of_images = of_images
        self._capacity = capacity
        self._lock = threading.Lock()
        self._vectors: OrderedDict[str, np.ndarray] = OrderedDict()
        self._model = ""
        # Results derived from its vectors, shared by all users; a key names the producer and its settings.
        self.derived: dict[Hashable, Any] = {}

    def __len__(self) -> int:
        with self._lock:
            return len(self._vectors)

    @property
    def model(self) -> str:
        """Return the name of the model of the vectors, "" while there are none."""
        return self._model

    def missing(self, phrases: Iterable[str]) -> tuple[str, ...]:
        """Return the phrases without a vector, in order, without duplicates."""
        with self._lock:
            keys = dict.fromkeys(normal_phrase(p) for p in phrases)
            return tuple(key for key in keys if key not in self._vectors)

    def add(self, phrases: Sequence[str], vectors: np.ndarray, model: str) -> None:
        """Store vectors (N, D) of N phrases; vectors of a previous model are dropped first.

        Raises ValueError if shapes do not match or a vector has zero or non-finite length.
        """
        vectors = np.asarray(vectors, dtype=np.float32)
        if vectors.ndim != 2 or len(vectors) != len(phrases):
            raise ValueError(f"{len(phrases)} phrases need ({len(phrases)}, D) vectors, not {vectors.shape}")
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        if not np.all(np.isfinite(norms)) or np.any(norms < 1e-9):
            raise ValueError("a phrase vector has zero or non-finite length")
        unit = vectors / norms
        with self._lock:
            known = next(iter(self._vectors.values()), None)
            if self._model != model or (known is not None and unit.shape[1] != known.shape[0]):
                self._vectors.clear()
                self._model = model
            for phrase, vector in zip(phrases, unit):
                key = normal_phrase(phrase)
                self._vectors[key] = vector.copy()
                self._vectors.move_to_end(key)
            while len(self._vectors) > self._capacity:
                self._vectors.popitem(last=False)

    def vectors(self, phrases: Sequence[str]) -> np.ndarray:
        """Return unit vectors (N, D) float32 of N phrases.

        Raises MissingPhrases if one is unknown and there is no embedder, or if more are requested than the cache holds.
        """
        keys = [normal_phrase(p) for p in phrases]
        missing = self.missing(keys)
        if missing:
            if self._embedder is None:
                raise MissingPhrases(missing)
            self.add(missing, self._embedder.embed(list(missing)), self._embedder.model)
        with self._lock:
            absent = tuple(key for key in dict.fromkeys(keys) if key not in self._vectors)
            if absent:
                raise MissingPhrases(absent)
            for key in keys:
                self._vectors.move_to_end(key)
            if not keys:
                return np.zeros((0, 0), np.float32)
            return np.stack([self._vectors[key] for key in keys])

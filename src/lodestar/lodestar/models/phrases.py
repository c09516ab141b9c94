"""Vectors of phrases, computed once each."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable, Sequence

import numpy as np

from lodestar.models.embedder import TextEmbedder

DEFAULT_CAPACITY = 20_000  # phrases; 1.5 kB each at 384 dimensions


class MissingPhrases(LookupError):
    """Vectors of `phrases` are needed, and whoever asks must first fetch and `add` them."""

    def __init__(self, phrases: tuple[str, ...]) -> None:
        shown = ", ".join(repr(p) for p in phrases[:5])
        more = f" and {len(phrases) - 5} more" if len(phrases) > 5 else ""
        super().__init__(f"no vector yet for {shown}{more}")
        self.phrases = phrases


def normal_phrase(phrase: str) -> str:
    """The key of a phrase: without case and superfluous space."""
    return " ".join(phrase.casefold().split())


class PhraseBook:
    """A thread-safe cache of phrase -> unit vector; the least recently used goes first.

    With an embedder it computes what it lacks, outside its lock; without one it raises MissingPhrases.
    """

    def __init__(self, embedder: TextEmbedder | None = None, capacity: int = DEFAULT_CAPACITY) -> None:
        if capacity < 1:
            raise ValueError(f"capacity must be at least 1, not {capacity}")
        self._embedder = embedder
        self._capacity = capacity
        self._lock = threading.Lock()
        self._vectors: OrderedDict[str, np.ndarray] = OrderedDict()
        self._model = ""

    def __len__(self) -> int:
        with self._lock:
            return len(self._vectors)

    @property
    def model(self) -> str:
        """The model that the vectors come from, "" while there are none."""
        return self._model

    def missing(self, phrases: Iterable[str]) -> tuple[str, ...]:
        """Those phrases that have no vector, without duplicates, in their order."""
        with self._lock:
            keys = dict.fromkeys(normal_phrase(p) for p in phrases)
            return tuple(key for key in keys if key not in self._vectors)

    def add(self, phrases: Sequence[str], vectors: np.ndarray, model: str) -> None:
        """Keep vectors (N, D) of N phrases; those of another model than before are forgotten first.

        Raises ValueError where shapes do not match or a vector has no direction.
        """
        vectors = np.asarray(vectors, dtype=np.float32)
        if vectors.ndim != 2 or len(vectors) != len(phrases):
            raise ValueError(f"{len(phrases)} phrases need ({len(phrases)}, D) vectors, not {vectors.shape}")
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        if not np.all(np.isfinite(norms)) or np.any(norms < 1e-9):
            raise ValueError("a phrase vector has no direction")
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
        """Unit vectors (N, D) float32 of N phrases.

        Raises MissingPhrases where one is unknown and there is no embedder, or where more are asked for than
        the book holds.
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

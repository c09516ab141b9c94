"""Phrase book with precomputed vectors for a benchmark's process."""

from __future__ import annotations

from functools import lru_cache

from lodestar.language.priors import everyday_words
from lodestar.models.embedder import SentenceTransformerEmbedder
from lodestar.models.phrases import PhraseBook


@lru_cache(maxsize=1)
def phrase_book() -> PhraseBook:
    """Return this process's cache of text vectors, with the packaged text model.

    It already holds the vectors of common words, because a robot's text embedder sends these before the first
    request, so that they cost no decision time.
    """
    book = PhraseBook(SentenceTransformerEmbedder())
    book.vectors(everyday_words())
    return book

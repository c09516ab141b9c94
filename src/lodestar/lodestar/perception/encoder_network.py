"""Image or text encoder in an ONNX file, with the choice of the output that holds the vectors."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from lodestar.perception.config import EncoderConfig
from lodestar.perception.frames import DetectorUnavailable
from lodestar.perception.onnx_sessions import first_line, open_session

#: Outputs that hold one vector per input, best first. If none of these names exists, the shape decides.
_NAMES = ("image_embeds", "text_embeds", "sentence_embedding", "pooler_output")


class EncoderNetwork:
    """An encoder network that returns one vector per input, whichever output holds it.

    inputs: names of the network's inputs; shapes, types: of each input, by its name.
    """

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
        """Return `count` vectors (count, D) float32, from an output with a known name if there is one.

        Otherwise the first output of a fitting shape is used; of (count, tokens, D) its first token, as for
        DINO. Raises DetectorUnavailable.
        """
        names = [one.name for one in self._session.get_outputs()]
        try:
            values = self._session.run(None, {k: v.astype(self.types[k]) for k, v in inputs.items()})
        except Exception as error:  # exceptions of ONNX Runtime have no other common class
            raise DetectorUnavailable(f"{self._path} does not run: {first_line(error)}") from error
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

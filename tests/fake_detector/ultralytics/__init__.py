"""Fake Ultralytics: weights are JSON files, calls are recorded, and invalid calls are refused as by the real package.

Weights: {"kind": "prompt" | "world" | "free" | "closed", "names": [...], "encoding": seconds}.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

CALLS: list[tuple[str, Any]] = []  # (name, argument) of all calls, in order
BROKEN: list[str] = []  # reasons why the text model is missing; empty = available


class Tensor:
    """Fake tensor with the methods in use."""

    def __init__(self, values: Any) -> None:
        self._values = np.asarray(values)
        self.ndim, self.shape = self._values.ndim, self._values.shape

    def __getitem__(self, index: Any) -> Tensor:
        return Tensor(self._values[index])

    def __gt__(self, other: float) -> Any:
        return self._values > other

    def detach(self) -> Tensor:
        return self

    cpu = float = detach

    def new_tensor(self, values: Any) -> Tensor:
        return Tensor(values)

    def numpy(self) -> np.ndarray:
        return self._values


class Detect:
    """Fake head of weights with a fixed vocabulary."""

    nc = 80


class YOLOEDetect(Detect):
    """Fake head of weights with prompts."""


class WorldDetect(Detect):
    """Fake head of YOLO-World."""


class Inner:
    """Fake network inside a model."""

    def __init__(self, weights: dict[str, Any]) -> None:
        kind = weights["kind"]
        head = {"prompt": YOLOEDetect, "free": YOLOEDetect, "world": WorldDetect}.get(kind, Detect)()
        if kind == "free":
            head.lrpc = object()
        self.model = [object(), head]
        self.names = dict(enumerate(weights.get("names", [])))
        self._weights = weights
        if kind == "world":
            self.txt_feats = None

    def parameters(self) -> Iterator[Tensor]:
        yield Tensor(0.0)

    def get_text_pe(self, texts: list[str]) -> Tensor:
        """Return embeddings (1, N, 3), one distinct vector per phrase, after the delay given by the weights."""
        CALLS.append(("encode", tuple(texts)))
        time.sleep(self._weights.get("encoding", 0.0))
        if BROKEN:
            raise ConnectionError(BROKEN[0])
        return Tensor([[[float(len(text)), float(ord(text[0])), 1.0] for text in texts]])


class YOLO:
    """Fake base class of all models."""

    def __init__(self, source: str) -> None:
        self._weights = json.loads(Path(source).read_text())
        kind = "closed" if Path(source).suffix == ".onnx" else self._weights["kind"]
        self.__class__ = {"prompt": YOLOE, "free": YOLOE, "world": YOLOWorld}.get(kind, YOLO)
        CALLS.append(("open", type(self).__name__))
        self.model = Inner({**self._weights, "kind": kind})
        self.predictor = None

    @property
    def names(self) -> Any:
        names = self.model.names
        return dict(enumerate(names)) if isinstance(names, list) else names

    def predict(self, image: np.ndarray, **options: Any) -> list[Any]:
        """Return one box per name, each in its own column."""
        assert image.ndim == 3 and options["conf"] > 0
        CALLS.append(("predict", tuple(self.names.values())))
        return [_Result(self.names, image.shape)]


class YOLOWorld(YOLO):
    """Fake model that takes words."""

    def set_classes(self, classes: list[str]) -> None:
        self.model.names = list(classes)


class YOLOE(YOLO):
    """Fake model that takes words with embeddings, before its first prediction."""

    def set_classes(self, classes: list[str], embeddings: Tensor | None = None) -> None:
        assert self._weights["kind"] == "prompt", "Prompt-free model does not support setting classes."
        embeddings = self.model.get_text_pe(classes) if embeddings is None else embeddings
        assert embeddings.ndim == 3 and embeddings.shape[:2] == (1, len(classes))
        CALLS.append(("classes", tuple(classes)))
        self.model.names = dict(enumerate(classes))


class _Result:
    masks = None

    def __init__(self, names: dict[int, str], shape: tuple[int, ...]) -> None:
        height, width = shape[:2]
        shown = list(names)[: width // 4]
        self.names, step = names, max(width / max(len(shown), 1), 1.0)
        self.boxes = _Boxes([[i * step, 0.0, (i + 1) * step, height] for i in range(len(shown))], shown)


class _Boxes:
    def __init__(self, boxes: list[list[float]], kinds: list[int]) -> None:
        self.xyxy = Tensor(np.array(boxes).reshape(-1, 4))
        self.conf, self.cls = Tensor(np.full(len(kinds), 0.9)), Tensor(np.array(kinds, float))

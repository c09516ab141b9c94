"""Untrained Ultralytics models whose scores, boxes and masks differ from place to place, and their exports."""

from __future__ import annotations

import os
import tempfile
from importlib import import_module
from pathlib import Path
from types import ModuleType

import cv2
import numpy as np
import torch

from lodestar.perception.ultralytics import UltralyticsDetector

SIZE = (192, 256)  # (height, width) of a network's input; RT-DETR takes squares


def load_package() -> ModuleType:
    """Import torchvision and Ultralytics as the adapter does; return the latter."""
    os.environ.setdefault("YOLO_CONFIG_DIR", tempfile.mkdtemp(prefix="ultralytics"))
    UltralyticsDetector("yolo11n.yaml").check()
    return import_module("ultralytics")


def picture(seed: int = 3) -> np.ndarray:
    """Return a colour image (240, 320, 3) uint8 of rectangles."""
    rng = np.random.default_rng(seed)
    image = np.full((240, 320, 3), 90, np.uint8)
    for _ in range(40):
        (x, y), (width, height) = rng.integers(0, (300, 220)), rng.integers(8, 120, 2)
        color = tuple(int(value) for value in rng.integers(0, 255, 3))
        cv2.rectangle(image, (int(x), int(y)), (int(x + width), int(y + height)), color, -1)
    return image


def embeddings(words: list[str]) -> torch.Tensor:
    """Return embeddings (1, N, 512) float32 of length 1, the same for the same word, in place of a text model's."""
    drawn = [np.random.default_rng([*word.encode()]).normal(size=512) for word in words]
    return torch.nn.functional.normalize(torch.from_numpy(np.array(drawn, np.float32)), dim=-1)[None]


def untrained(definition: str, words: list[str] | None = None):
    """Return a model of the package with random weights, and with the words as prompts if it takes any.

    Its batch norms are set by one image, or else all places would have the same score.
    """
    from ultralytics import RTDETR, YOLO

    torch.manual_seed(0)
    model = (RTDETR if "rtdetr" in definition else YOLO)(definition)
    inner = model.model
    for layer in inner.modules():
        if isinstance(layer, torch.nn.BatchNorm2d):
            layer.momentum = 1.0
            layer.train()
    image = torch.from_numpy(cv2.resize(picture(), (256, 256))).permute(2, 0, 1)[None] / 255.0
    with torch.no_grad():
        inner(torch.cat([image, image.flip(3)]))
    inner.eval()
    if type(inner.model[-1]).__name__.startswith(("Detect", "Segment")):
        for branch in [*inner.model[-1].cv3, *getattr(inner.model[-1], "one2one_cv3", [])]:
            branch[-1].weight.data *= 0.3  # scores that are all 1 could not be told apart
    if words and hasattr(inner, "txt_feats"):
        inner.txt_feats, inner.names = embeddings(words), words
        inner.model[-1].nc = len(words)
    elif words:
        model.set_classes(words, embeddings(words))
    return model


def exported(definition: str, folder: Path, words: list[str] | None = None, **options) -> Path:
    """Return the path of the model in an ONNX file; options as `Model.export` takes them."""
    model = untrained(definition, words)
    model.save(folder / f"{Path(definition).stem}.pt")
    reread = type(model)(folder / f"{Path(definition).stem}.pt")
    size = SIZE[0] if "rtdetr" in definition else SIZE
    return Path(reread.export(format="onnx", imgsz=size, simplify=False, verbose=False, **options))

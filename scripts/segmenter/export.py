"""Write a trained network as an ONNX file that the robot reads."""

from __future__ import annotations

import json
import logging
import warnings
from collections.abc import Sequence
from pathlib import Path

import onnx
import torch

from segmenter.data import COLORS
from segmenter.network import Exported, Segmenter

OPSET = 17
MOST_BYTES = 5_000_000


def export(
    network: Segmenter, names: Sequence[str], size: tuple[int, int], path: Path, about: dict[str, str]
) -> None:
    """Write the file for images of `size` (height, width), with class names and normalisation in its metadata.

    Raises ValueError for a file of more than MOST_BYTES.
    """
    model = Exported(network).cpu().float().eval()
    logging.getLogger("torch.onnx").setLevel(logging.ERROR)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(
            model, (torch.zeros(1, 3, *size),), str(path), dynamo=False, opset_version=OPSET,
            input_names=["image"], output_names=["kinds", "center", "offset", "attributes"],
        )  # fmt: skip
    written = onnx.load(str(path))
    metadata = {"names": repr(dict(enumerate(names))), "mean": "[0, 0, 0]", "std": "[255, 255, 255]", **about}
    metadata["attributes"] = repr(list(COLORS))
    onnx.helper.set_model_props(written, metadata)
    onnx.checker.check_model(written)
    onnx.save(written, str(path))
    if (size_of := path.stat().st_size) > MOST_BYTES:
        raise ValueError(f"{path} has {size_of} bytes, more than {MOST_BYTES}: make the network smaller")


def about(**values: object) -> dict[str, str]:
    """Return the values as strings for the metadata."""
    return {name: value if isinstance(value, str) else json.dumps(value) for name, value in values.items()}

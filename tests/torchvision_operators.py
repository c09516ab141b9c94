"""Pytest plugin of the second test environment: makes a torchvision built for CUDA usable beside a torch for the CPU.

Such a torchvision loads none of its operators, so it cannot be imported, and sentence-transformers and Ultralytics
need it. Here non-maximum suppression is Ultralytics' own, which gives the same boxes; the other operators are missing.
A torchvision that fits is left alone.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any


def _suppressed(boxes: Any, scores: Any, iou: float) -> Any:
    from ultralytics.utils.nms import TorchNMS

    return TorchNMS.nms(boxes, scores, iou)


def replace_operators() -> None:
    """Import torchvision, with the replaced operator if its own do not load."""
    import torch

    try:
        torch.ops.load_library(str(Path(find_spec("torchvision").origin).with_name("_C.so")))
    except OSError:
        for name in ("nms", "qnms"):  # declared before the import, which looks both up
            torch.library.define(
                f"torchvision::{name}", "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor"
            )
        torch.library.impl("torchvision::nms", "CPU", _suppressed)
        import torchvision

        torchvision.ops.nms = torch.ops.torchvision.nms


if find_spec("torchvision") is not None:
    replace_operators()

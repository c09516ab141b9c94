"""Chooses the device that holds the cells of the signed distance field."""

from __future__ import annotations

from lodestar.mapping.cells import Cells, ProcessorCells
from lodestar.mapping.config import GeometryConfig


def make_cells(config: GeometryConfig) -> Cells:
    """Return cells on the configured device. Raises ValueError for an unknown or missing device.

    Torch, which takes seconds and 200 MB, is imported for a CUDA device alone.
    """
    if config.device == "cpu":
        return ProcessorCells(config)
    if config.device != "cuda":
        raise ValueError(f"device is {config.device!r}; it is cpu or cuda")
    from lodestar.mapping.cells_torch import TorchCells, has_cuda

    try:
        if has_cuda():
            return TorchCells(config, "cuda")
    except ImportError as error:
        raise ValueError("device is cuda, and torch is not installed: make setup EXTRAS=torch") from error
    raise ValueError("device is cuda, and torch finds none")

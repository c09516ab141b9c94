"""Chooses the device that holds the cells of the signed distance field."""

from __future__ import annotations

from lodestar.mapping.cells import Cells, ProcessorCells
from lodestar.mapping.config import GeometryConfig


def make_cells(config: GeometryConfig) -> Cells:
    """Return cells on the configured device. Raises ValueError for an unknown or missing device."""
    if config.device not in ("auto", "cpu", "cuda"):
        raise ValueError(f"device is {config.device!r}; it is auto, cpu or cuda")
    if config.device == "cpu" or (config.device == "auto" and not _has_driver()):
        return ProcessorCells(config)
    from lodestar.mapping.cells_torch import TorchCells, has_cuda

    try:
        if has_cuda():
            return TorchCells(config, "cuda")
    except ImportError as error:
        if config.device == "auto":
            return ProcessorCells(config)
        raise ValueError("device is cuda, and torch is not installed: make setup EXTRAS=torch") from error
    if config.device == "auto":
        return ProcessorCells(config)
    raise ValueError("device is cuda, and torch finds none")


def _has_driver() -> bool:
    """Return whether CUDA's driver is installed, without importing torch, which takes seconds and 200 MB."""
    import ctypes

    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError:
        return False
    return True

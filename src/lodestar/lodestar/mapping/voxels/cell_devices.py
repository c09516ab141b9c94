"""Choice of the device (CPU or CUDA) that stores the cells of the signed distance field."""

from __future__ import annotations

from lodestar.mapping.config import GeometryConfig
from lodestar.mapping.voxels.cells import Cells, ProcessorCells


def make_cells(config: GeometryConfig) -> Cells:
    """Return cells on the configured device. Raises ValueError for an unknown or missing device.

    Torch, which takes seconds to load and 200 MB, is imported only for a CUDA device.
    """
    if config.device == "cpu":
        return ProcessorCells(config)
    if config.device != "cuda":
        raise ValueError(f"device is {config.device!r}; it is cpu or cuda")
    from lodestar.mapping.voxels.cells_torch import TorchCells, has_cuda

    try:
        if has_cuda():
            return TorchCells(config, "cuda")
    except ImportError as error:
        raise ValueError("device is cuda, and torch is not installed: make setup EXTRAS=torch") from error
    raise ValueError("device is cuda, and torch finds none")

"""Contents of the signed distance field's blocks, in NumPy arrays; `cells_torch` keeps them on other devices."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from lodestar.mapping import tsdf_kernels as kernels
from lodestar.mapping.blocks import CELLS, reserve
from lodestar.mapping.config import GeometryConfig


@dataclass(frozen=True)
class View:
    """A depth image and its camera. depth: (H, W) float32, metres. rgb: (H, W, 3) uint8, or (0, 0, 3).

    lens: (fx, fy, cx, cy). rotation (3, 3), offset (3,): camera <- volume.
    """

    depth: np.ndarray
    rgb: np.ndarray
    lens: tuple[float, float, float, float]
    rotation: np.ndarray
    offset: np.ndarray


class Cells(Protocol):
    """Distance (int16, over truncation / SCALE), weight and colour of the cells of blocks, by place in the pool."""

    def integrate(self, places: np.ndarray, coords: np.ndarray, view: View) -> np.ndarray:
        """Fuse a view into the blocks at places (B,) with coords (B, 3); return the places of those without a
        surface.
        """
        ...

    def clear(self, places: np.ndarray) -> None:
        """Reset these blocks to unseen."""
        ...

    def read(self, places: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return copies of distance (B, 512) int16, weight (B, 512) uint8 and colour (B, 512, 3) uint8."""
        ...

    def write(self, places: np.ndarray, distance: np.ndarray, weight: np.ndarray, color: np.ndarray) -> None:
        """Set the contents of blocks, in the form of `read`."""
        ...


class ProcessorCells:
    """Cells in NumPy arrays that are reserved once; the system commits their pages as blocks are first written."""

    def __init__(self, config: GeometryConfig):
        self._config = config
        shape = (config.capacity, CELLS)
        self._distance = reserve(shape, np.int16)
        self._weight = reserve(shape, np.uint8)
        self._color = reserve((*shape, 3), np.uint8)

    def integrate(self, places: np.ndarray, coords: np.ndarray, view: View) -> np.ndarray:
        c = self._config
        empty = np.empty(len(places), np.int32)
        gone = kernels.integrate(
            places, coords, self._distance, self._weight, self._color, view.depth, view.rgb, view.lens, view.rotation,
            view.offset, c.voxel, c.near, c.far, c.truncation, c.top, (c.clear_margin, c.clear_per_metre), empty,
        )  # fmt: skip
        return empty[:gone]

    def clear(self, places: np.ndarray) -> None:
        kernels.clear(self._distance, self._weight, self._color, places)

    def read(self, places: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return self._distance[places], self._weight[places], self._color[places]

    def write(self, places: np.ndarray, distance: np.ndarray, weight: np.ndarray, color: np.ndarray) -> None:
        self._distance[places], self._weight[places], self._color[places] = distance, weight, color

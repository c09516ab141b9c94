"""Contents of the signed distance field's blocks, in NumPy arrays; `cells_torch` stores them on other devices."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from lodestar.mapping.config import (
    GEOMETRY_CLEAR_MARGIN,
    GEOMETRY_CLEAR_PER_METRE,
    GEOMETRY_TOP,
    GeometryConfig,
)
from lodestar.mapping.voxels import tsdf_kernels as kernels
from lodestar.mapping.voxels.blocks import CELLS, reserve


@dataclass(frozen=True)
class View:
    """A depth image and its camera.

    depth: (H, W) float32, metres. rgb: (H, W, 3) uint8, or (0, 0, 3) without colour. lens: (fx, fy, cx, cy).
    rotation (3, 3), offset (3,): camera <- volume.
    """

    depth: np.ndarray
    rgb: np.ndarray
    lens: tuple[float, float, float, float]
    rotation: np.ndarray
    offset: np.ndarray


class Cells(Protocol):
    """Distance, weight and colour of the cells of blocks, addressed by pool index.

    Distances are int16, in units of truncation / SCALE.
    """

    def integrate(self, places: np.ndarray, coords: np.ndarray, view: View) -> np.ndarray:
        """Fuse a view into the blocks at pool indices `places` (B,) with coords (B, 3).

        Returns the pool indices of the blocks among them that have no surface.
        """

    def clear(self, places: np.ndarray) -> None:
        """Reset these blocks to unseen."""

    def read(self, places: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return copies of distance (B, 512) int16, weight (B, 512) uint8 and colour (B, 512, 3) uint8."""

    def write(self, places: np.ndarray, distance: np.ndarray, weight: np.ndarray, color: np.ndarray) -> None:
        """Set the contents of blocks; arguments as returned by `read`."""


class ProcessorCells:
    """Cells in NumPy arrays that are reserved once; the system commits pages when blocks are first written."""

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
            view.offset, c.voxel, c.near, c.far, c.truncation, GEOMETRY_TOP,
            (GEOMETRY_CLEAR_MARGIN, GEOMETRY_CLEAR_PER_METRE), empty,
        )  # fmt: skip
        return empty[:gone]

    def clear(self, places: np.ndarray) -> None:
        kernels.clear(self._distance, self._weight, self._color, places)

    def read(self, places: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return self._distance[places], self._weight[places], self._color[places]

    def write(self, places: np.ndarray, distance: np.ndarray, weight: np.ndarray, color: np.ndarray) -> None:
        self._distance[places], self._weight[places], self._color[places] = distance, weight, color

"""Contents of the signed distance field's blocks, in NumPy arrays; `cells_torch` keeps them on other devices."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from lodestar.geometry.camera import DEPTH_RANGE
from lodestar.mapping import tsdf_kernels as kernels
from lodestar.mapping.blocks import CELLS


@dataclass(frozen=True)
class GeometryConfig:
    """Signed distance field: resolution, fusion and memory."""

    voxel: float = 0.05  # metres; DESIGN section 4
    truncation: float = 0.20  # metres on either side of a surface; DESIGN section 4: 4-5 voxels
    near: float = 0.1  # metres of depth; DESIGN section 4
    # metres of depth; a larger depth shows free space up to here
    far: float = field(default=DEPTH_RANGE, metadata={"shared": "depth_range"})
    top: int = 64  # weight from which a voxel is a running mean; chosen
    # metres, and metres per metre of range, by which all depth around a surface voxel must exceed it to show it
    # empty; each such view halves its weight; chosen
    clear_margin: float = 0.10
    clear_per_metre: float = 0.02
    capacity: int = (
        1 << 17
    )  # blocks of 8 x 8 x 8 voxels, 3 KiB each when used; further ones are counted; chosen
    device: str = "auto"  # cpu, cuda (through torch), or auto: cuda if torch finds a device, else cpu


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
        self._distance = np.zeros(shape, np.int16)
        self._weight = np.zeros(shape, np.uint8)
        self._color = np.zeros((*shape, 3), np.uint8)

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
